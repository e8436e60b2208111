"""The large time scale in scenarios: what is refused, and that a slope of one changes no byte."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl
import pytest

from parshall.foundations.errors import ScenarioError
from parshall.instruments.simulation import run
from parshall.scenario import Scenario


def scenario(control: Any, sampled: str = "1 s", **flow: Any) -> Scenario:
    return Scenario.from_document(
        {
            "duration": "30 s",
            "probes": {"flow_samples": sampled},
            "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "50 packets"}},
            "flows": [
                {"name": "measured", "rtt": "100 ms", "congestion_control": control, **flow},
                {
                    "name": "others",
                    "count": 4,
                    "rtt": "30 ms",
                    "congestion_control": "reno",
                    "workload": {
                        "name": "on_off",
                        "size": {"name": "pareto", "mean": "50 kB", "tail_index": 1.2},
                        "off": {"name": "exponential", "mean": "0.2 s"},
                    },
                },
            ],
        }
    )


def steered(control: Any = "reno", **parameters: Any) -> dict[str, Any]:
    return {"name": "multiple_time_scale", "control": control, **parameters}


@pytest.mark.parametrize("control", ["reno", "cubic", "vegas", "fast", "dctcp", {"name": "reno", "increase": 2.0}])
@pytest.mark.parametrize("nothing", [{"aggressiveness": 1}, {"interval": "1000 s"}])
def test_with_nothing_to_gain_no_byte_changes(control: Any, nothing: dict[str, Any]) -> None:
    plain, wrapped = (
        run(scenario(each), workers=1).flows.drop("congestion_control")
        for each in (control, steered(control, **nothing))
    )
    assert plain.equals(wrapped)


def test_a_steeper_slope_takes_more() -> None:
    goodput = [
        run(scenario(each), workers=1).flows.filter(pl.col("group") == "measured")["goodput_bps"].item()
        for each in ("reno", steered(schedule="threshold", threshold=8))
    ]
    assert goodput[1] > 1.1 * goodput[0]


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (
            steered("bbr"),
            'control: found "bbr", which is not the name of a congestion control that can be steered '
            "(what is steered is an increase: bbr and bbr3 have none",
        ),
        (steered(steered()), 'found "multiple_time_scale"'),
        (steered({"name": "reno", "increase": -1}), "control.increase: found -1; accepted: 1e-06 or more"),
        (steered(interval="50 ms"), "congestion_control.interval: found 50 ms; write the longest RTT, 100 ms, or more"),
        (steered(shared="yes"), 'congestion_control.shared: found "yes"'),
        (steered(levels=1), "congestion_control.levels: found 1; accepted: 2 or more"),
        (steered(adjustment=0), "congestion_control.adjustment: found 0; accepted: 1e-06 or more"),
        (steered(aggressiveness=0.5), "congestion_control.aggressiveness: found 0.5; accepted: 1 or more"),
        (steered(quantiser="fixed_range"), "congestion_control.peak: found 0"),
        (steered(schedule="linear"), "congestion_control.schedule: found"),
        (steered(schedule="threshold", threshold=9), "8, the number of levels, or less"),
        (steered(schedule="generalised", slopes=[1, 2, 2, 2, 2, 2, 2, 2]), "do not grow with contention"),
        (steered(schedule="generalised", slopes=[2, 1]), "one slope for each of the 8 levels"),
        (steered(schedule="generalised", slopes=[2, "x"]), "slopes"),
        (steered(schedule="inverse", metacontrol=True), "congestion_control.metacontrol"),
        (steered(prior=[1.0] * 64), "congestion_control.prior"),
        (steered(shift=10), 'congestion_control.shift: found 10; write 0, or coupling = "level"'),
        (steered("rate_based", coupling="level"), "congestion_control.shift: found 0; write the packets/s"),
        (steered(coupling="level", shift=10), "congestion_control.control: found reno; write tcp_rate or rate_based"),
    ],
)
def test_what_is_refused(control: Any, message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        scenario(control).resolve()
    assert message in str(caught.value)
    assert "flows.0.congestion_control" in str(caught.value)


def test_parameters_of_the_steered_control_arrive() -> None:
    resolved = scenario(steered({"name": "cubic", "c": 0.7}, slopes=[])).resolve()
    control = resolved["flows"][0]["congestion_control"]
    assert control["control"]["name"] == "cubic"
    assert control["control"]["c"] == 0.7
    assert control["interval"] == 2 * 10**12
    assert scenario(steered()).resolve()["flows"][0]["congestion_control"]["control"]["increase"] == 1.0


@pytest.mark.parametrize(
    "rtt", [{"list": ["50 ms", "150 ms"]}, {"first": "50 ms", "step": "100 ms"}, {"uniform": ["50 ms", "150 ms"]}]
)
def test_the_longest_rtt_of_a_group_decides(rtt: Any) -> None:
    with pytest.raises(ScenarioError, match="found 120 ms; write the longest RTT, 150 ms, or more"):
        scenario(steered(interval="120 ms"), rtt=rtt, count=2)
    assert scenario(steered(interval="150 ms"), rtt=rtt, count=2).resolve()


def test_the_longest_rtt_that_is_drawn_decides() -> None:
    rtt = {"distribution": {"name": "uniform", "low": "50 ms", "high": "150 ms"}}
    with pytest.raises(ScenarioError, match=r"found 60 ms; write the longest RTT, 1[0-9.]+ ns, or more"):
        scenario(steered(interval="60 ms"), rtt=rtt, count=20)


def short_connections(control: Any) -> pl.DataFrame:
    """Transfers of about 7 s with pauses, one connection each."""
    size = {"name": "constant", "value": "2000 packets"}
    off = {"name": "constant", "value": "0.3 s"}
    workload = {"name": "on_off", "size": size, "off": off}
    return run(scenario(control, workload=workload, initial_ssthresh="20 packets"), workers=1).flows


def test_connections_share_their_table_only_if_told() -> None:
    """With A = a nothing can differ; with a larger one, connections after the first do."""
    plain, nothing = (
        short_connections(each).drop("congestion_control")
        for each in ("reno", steered(shared="flow", aggressiveness=1))
    )
    assert plain.equals(nothing)
    apart, heirs, together = (
        short_connections(steered(interval="1 s", shared=each)) for each in ("none", "flow", "group")
    )
    assert not apart.equals(heirs)
    assert not apart.equals(together)
    assert not heirs.equals(together)


def test_flows_of_a_group_share_one_table() -> None:
    """Who opens connections late finds what the others of its group have learnt; and nobody else does."""

    def late(shared: str, together: bool, **control: Any) -> list[tuple[Any, ...]]:
        learnt = steered(interval="1 s", shared=shared, quantiser="fixed_range", peak=400, **control)
        starts = ["1 s", "101 s"]
        groups = [{"count": 2, "start": {"list": starts}}] if together else [{"start": start} for start in starts]
        size = {"name": "constant", "value": "2000 packets"}
        off = {"name": "constant", "value": "3 s"}
        keys = {
            "rtt": "100 ms",
            "congestion_control": learnt,
            "initial_ssthresh": "20 packets",
            "workload": {"name": "on_off", "size": size, "off": off},
        }
        document = scenario("reno").document()
        document["duration"] = "110 s"
        # The random processing times of a host follow from its group and place in it.
        document["processing_time"] = "0 s"
        flows = [*({"name": f"group{number}", **keys, **group} for number, group in enumerate(groups))]
        made = Scenario.from_document({**document, "flows": [*flows, document["flows"][1]]})
        transfers = run(made, workers=1).transfers.filter(pl.col("flow") < 2).drop("group")
        return transfers.sort("flow", "transfer").rows()

    together, apart = late("group", True), late("group", False)
    assert together != apart
    assert late("none", True) == late("none", False), "where nothing is shared, groups are names"
    assert late("group", True) == together
    assert late("group", True, aggressiveness=1) == late("none", True, aggressiveness=1), "nothing can differ"


def datagrams(control: Any, sampled: str | bool = False, **flow: Any) -> Scenario:
    document = {
        "duration": "60 s",
        "probes": {"flow_samples": sampled},
        "warm_up": "20 s",
        "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "64 packets"}},
        "flows": [
            {
                "rtt": "100 ms",
                "packet_size": "1000 B",
                "workload": "rate_controlled",
                "congestion_control": control,
                **flow,
            }
        ],
    }
    return Scenario.from_document(document)


def test_datagrams_fill_the_link_at_the_rate_of_their_control() -> None:
    made = run(datagrams("rate_based"), workers=1)
    flow, link = made.flows.row(0, named=True), made.links.row(0, named=True)
    # Each overshoot costs 10 % of the rate, which comes back within about a second: a mean near 95 %.
    assert 0.9 < link["utilisation"] <= 1
    assert flow["retransmissions"] == 0
    assert flow["loss_events"] > 0
    assert flow["packets_dropped"] == link["dropped_packets"] > 0
    # Propagation, the packet's own transmission of 0.8 ms, and what the queue holds at most.
    assert 0.1008 <= flow["min_rtt_s"] <= flow["mean_rtt_s"] <= 0.1008 + 64 * 0.0008
    again = run(datagrams("rate_based"), workers=1)
    assert again.flows.equals(made.flows)


def test_an_unloaded_path_sees_linear_growth() -> None:
    """From 20 packets/s (2 a round trip) by 100 packets/s each second."""
    made = datagrams("rate_based", packet_size="100 B")
    flow = run(made, workers=1).flows.row(0, named=True)
    assert flow["packets_sent"] == pytest.approx(100 * (60**2 - 20**2) / 2 + 20 * 40, rel=0.01)
    assert flow["packets_dropped"] == 0


def test_level_control_moves_the_rate_of_datagrams() -> None:
    plain, steep, shifted = (
        run(datagrams(each), workers=1).flows["throughput_bps"].item()
        for each in ("rate_based", steered("rate_based"), steered("rate_based", coupling="level", shift=200))
    )
    assert len({plain, steep, shifted}) == 3


@pytest.mark.parametrize(
    ("control", "flow", "message"),
    [
        (
            "cubic",
            {},
            "congestion_control.name: found cubic; write rate_based, tfrc, gcc, scream, or "
            "multiple_time_scale around rate_based",
        ),
        (steered("reno"), {}, "congestion_control.name: found reno; write rate_based"),
        ("rate_based", {"recovery": "sack"}, '"rate_controlled" sends datagrams, without TCP: leave out'),
        (steered("rate_based", interval="50 ms"), {}, "write the longest RTT, 100 ms, or more"),
    ],
)
def test_what_cannot_steer_datagrams_is_refused(control: Any, flow: dict[str, Any], message: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        datagrams(control, **flow).resolve()
    assert message in str(caught.value)


def test_samples_say_how_steep_the_large_time_scale_may_be() -> None:
    def largest(control: Any) -> list[Any]:
        samples = run(scenario(control, sampled="2 s"), workers=1).flow_samples
        assert samples is not None
        return samples.filter(pl.col("flow") == 0)["largest_slope"].to_list()

    assert set(largest("reno")) == {None}
    assert set(largest(steered(aggressiveness=4))) == {4.0}
    found = largest(steered(metacontrol=True, adjustment=0.25))
    assert found[0] == 1.0
    assert {round(abs(after - before), 9) for before, after in pairwise(found)} <= {0.0, 0.25}


@pytest.mark.parametrize("control", ["reno", "htcp", "fast", "dctcp"])
def test_whatever_has_an_increase_climbs_faster(control: str) -> None:
    """Alone on a path that it does not fill, where steeper can only be better."""

    def goodput(steering: Any) -> float:
        made = {
            "duration": "20 s",
            "bottleneck": {"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "4000 packets"}},
            "flows": [{"rtt": "200 ms", "congestion_control": steering, "initial_ssthresh": "20 packets"}],
        }
        return float(run(Scenario.from_document(made), workers=1).flows["goodput_bps"].item())

    plain, climbing = goodput(control), goodput(steered(control, interval="1 s"))
    assert climbing > 1.1 * plain


def sampled_datagrams(control: Any, **flow: Any) -> tuple[pl.DataFrame, dict[str, Any]]:
    made = run(datagrams(control, sampled="0.25 s", **flow), workers=1)
    assert made.flow_samples is not None
    return made.flow_samples, made.flows.row(0, named=True)


def test_samples_of_datagrams_say_their_rate_and_what_arrived() -> None:
    """On an empty path the rate grows by 10 packets/s at each report, from the second on, heard after 0.2 s."""
    samples, flow = sampled_datagrams("rate_based", packet_size="100 B", start="2 s")
    assert samples["time_s"].to_list() == [0.25 * number for number in range(240)]
    assert samples["cwnd_packets"].null_count() == samples["in_flight_packets"].null_count() == 240
    before = samples.filter(pl.col("time_s") < 2)
    assert before["rate_pps"].null_count() == 8
    assert before["delivered_bytes"].max() == 0
    rates = samples.filter(pl.col("time_s") >= 3).with_columns(since=pl.col("time_s") - 2)
    # Between two reports, and as long after the growth began.
    expected = 20 + 100 * (rates["since"] - 0.2)
    assert ((rates["rate_pps"] - expected).abs() <= 20).all()
    delivered = samples["delivered_bytes"].to_numpy()
    assert (delivered[1:] >= delivered[:-1]).all()
    # 20 s to 60 s, less what arrives in the last quarter of a second: less than 6000 packets/s, 60 bytes of payload.
    measured = flow["goodput_bps"] * 40 / 8
    assert 0 <= measured - (delivered[-1] - delivered[80]) <= 0.25 * 6000 * 60
    # What arrives is what was sent half a round trip before, at the rate sampled then.
    arrived = (delivered[-1] - delivered[160]) / 60
    assert arrived == pytest.approx(samples["rate_pps"][160:].mean() * 19.75, rel=0.02)
    assert samples["srtt_s"].drop_nulls().min() == pytest.approx(0.1, rel=0.01)


def test_samples_of_steered_datagrams() -> None:
    samples, flow = sampled_datagrams(steered("rate_based", aggressiveness=4))
    assert set(samples["largest_slope"]) == {4.0}
    assert flow["loss_events"] > 0
    rates = samples.filter(pl.col("time_s") >= 20)["rate_pps"]
    # The mean of regular samples of a sawtooth, against what was sent.
    assert rates.mean() == pytest.approx(flow["packets_sent"] / 40, rel=0.02)
    plain, _ = sampled_datagrams("rate_based")
    assert plain["largest_slope"].null_count() == plain.height


def test_controls_of_tcp_that_set_a_rate_say_so_in_samples() -> None:
    for control, known in (("tcp_rate", True), ("bbr", True), ("reno", False)):
        samples = run(scenario(control), workers=1).flow_samples
        assert samples is not None
        mine = samples.filter(pl.col("flow") == 0)
        assert (mine["rate_pps"].null_count() == 0) == known
        assert mine["cwnd_packets"].null_count() == 0
