"""What the sources of some controls claim, on one bottleneck, beside Reno.

They are Westwood+, Hybla, Veno, Illinois, YeAH, Compound TCP, TCP-LP, LEDBAT++, Copa, TCP-NV, TFRC, GCC, SCReAM and
alternative backoff with ECN. Margins are those that the claims leave; where a claim has a number (an equal rate, a
target), it is in the test.
"""

from __future__ import annotations

from typing import Any

import pytest

from parshall.analysis.models import throughput as models

PAYLOAD = 1460 / 1500
PAYLOAD_BITS = 8 * 1460


def flow(control: str, **keys: Any) -> dict[str, Any]:
    return {"rtt": "50 ms", "congestion_control": control, **keys}


def scenario(*flows: dict[str, Any], rate: str = "20 Mbit/s", limit: str = "1 BDP", **values: Any) -> dict[str, Any]:
    queue = {"name": "drop_tail", "limit": limit}
    bottleneck = {"rate": rate, "queue": queue, "loss": values.pop("loss", "none")}
    return {"duration": "120 s", "warm_up": "40 s", **values, "bottleneck": bottleneck, "flows": list(flows)}


def rates(run: Any) -> list[float]:
    """Goodput of each flow, bit/s."""
    return [float(value) for value in run.flows["goodput_bps"]]


def lossy(probability: float) -> dict[str, Any]:
    return {"name": "bernoulli", "probability": probability}


def against_reno(simulate: Any, control: str, limit: str = "1 BDP", count: int = 1) -> float:
    """What one half of the flows have beside as many of Reno, of all."""
    flows = [flow(control, count=count), flow("reno", count=count)]
    made = scenario(*flows, limit=limit, duration="300 s", warm_up="60 s", processing_time="600 us")
    found = rates(simulate(made))
    return sum(found[:count]) / sum(found)


# Westwood+ (Grieco & Mascolo 2004)


def test_westwood_keeps_its_rate_where_losses_say_nothing(simulate: Any) -> None:
    made = {
        (control, p): rates(simulate(scenario(flow(control, rtt="100 ms"), rate="10 Mbit/s", loss=lossy(p))))[0]
        for control in ("westwood", "reno")
        for p in (1e-2, 1e-3)
    }
    # 3.3 times; losses of no congestion take half of Reno's window each time.
    assert made["westwood", 1e-2] > 3 * made["reno", 1e-2]
    assert made["westwood", 1e-3] > 0.95 * 10e6 * PAYLOAD > 1.5 * made["reno", 1e-3]


def test_westwood_empties_the_queue_at_a_loss_and_no_more(simulate: Any) -> None:
    made = scenario(flow("westwood"), limit="0.25 BDP", duration="200 s", warm_up="50 s")
    assert rates(simulate(made))[0] > 0.998 * 20e6 * PAYLOAD
    made["flows"] = [flow("reno")]
    assert rates(simulate(made))[0] < 0.92 * 20e6 * PAYLOAD


@pytest.mark.parametrize(
    ("control", "least", "most"), [("westwood", 0.45, 0.6), ("veno", 0.35, 0.55), ("yeah", 0.45, 0.55)]
)
def test_in_a_queue_reno_gets_its_share(simulate: Any, control: str, least: float, most: float) -> None:
    assert least < against_reno(simulate, control, count=2) < most


# Hybla (Caini & Firrincieli 2004)


def test_the_rate_of_hybla_does_not_depend_on_the_rtt(simulate: Any) -> None:
    p, rtts = 1e-3, ("25 ms", "100 ms", "300 ms")

    def by_rtt(control: str) -> list[float]:
        flows = [flow(control, rtt=rtt) for rtt in rtts]
        made = scenario(*flows, rate="1 Gbit/s", limit="5000 packets", loss=lossy(p))
        return rates(simulate({**made, "duration": "300 s"}))

    at_reference = float(models.independent_losses_window(p)) / 0.025 * PAYLOAD_BITS
    assert by_rtt("hybla") == pytest.approx([at_reference] * 3, rel=0.12)
    reno = by_rtt("reno")
    assert reno[0] > 3 * reno[1] > 8 * reno[2]


# Veno (Fu & Liew 2003)


def test_veno_keeps_four_fifths_at_random_losses(simulate: Any) -> None:
    veno, reno = (
        rates(simulate(scenario(flow(control), rate="100 Mbit/s", loss=lossy(3e-3), duration="300 s")))[0]
        for control in ("veno", "reno")
    )
    expected = models.independent_losses_window(1e-3, decrease=0.8) / models.independent_losses_window(1e-3)
    assert veno / reno == pytest.approx(float(expected), rel=0.1)


# Illinois (Liu, Basar & Srikant 2008), Compound TCP (Tan et al. 2006), YeAH (Baiocchi et al. 2007)


@pytest.mark.parametrize("control", ["illinois", "compound", "yeah"])
def test_a_fast_path_with_a_short_buffer_is_full(simulate: Any, control: str) -> None:
    def share(name: str) -> float:
        made = scenario(flow(name, rtt="100 ms"), rate="1 Gbit/s", limit="0.2 BDP", duration="100 s", warm_up="50 s")
        return rates(simulate(made))[0] / (1e9 * PAYLOAD)

    assert share(control) > 0.99
    assert share("reno") < 0.75


def test_illinois_is_near_the_largest_window_for_longer(simulate: Any) -> None:
    queues = {
        control: simulate(scenario(flow(control), rate="100 Mbit/s", duration="200 s", warm_up="60 s")).link
        for control in ("illinois", "reno")
    }
    # Reno's window is a straight line: 0.55 of a buffer of a BDP on average. That of Illinois is concave.
    assert queues["illinois"]["mean_queue_packets"] > 1.2 * queues["reno"]["mean_queue_packets"]
    assert queues["illinois"]["dropped_packets"] < queues["reno"]["dropped_packets"]


def test_compound_is_reno_where_the_queue_is_long(simulate: Any) -> None:
    mean = {
        control: simulate(scenario(flow(control), rate="100 Mbit/s", duration="200 s", warm_up="60 s")).link[
            "mean_queue_packets"
        ]
        for control in ("compound", "reno")
    }
    assert mean["compound"] == pytest.approx(mean["reno"], rel=0.03)


def test_yeah_queues_80_packets_at_most_and_loses_none(simulate: Any) -> None:
    run = simulate(scenario(flow("yeah"), rate="100 Mbit/s", duration="200 s", warm_up="60 s"))
    assert run.link["dropped_packets"] == 0
    assert 30 < run.link["mean_queue_packets"] < 80
    assert rates(run)[0] > 0.999 * 100e6 * PAYLOAD


# TCP-LP (Kuzmanovic & Knightly 2006) and LEDBAT++ (draft-irtf-iccrg-ledbat-plus-plus-01)


@pytest.mark.parametrize(
    ("control", "limit", "most"),
    [
        ("lp", "100 packets", 0.02),
        ("lp", "400 packets", 0.02),
        ("ledbat++", "200 packets", 0.1),
        ("ledbat++", "400 packets", 0.02),
    ],
)
def test_low_priority_yields_to_reno(simulate: Any, control: str, limit: str, most: float) -> None:
    assert against_reno(simulate, control, limit) < most


@pytest.mark.parametrize(("control", "least"), [("lp", 0.75), ("ledbat++", 0.9)])
def test_low_priority_uses_what_nobody_else_does(simulate: Any, control: str, least: float) -> None:
    run = simulate(scenario(flow(control), limit="600 packets"))
    assert rates(run)[0] > least * 20e6 * PAYLOAD
    assert run.link["mean_queueing_delay_s"] < 0.060


def test_a_late_ledbat_gets_its_share(simulate: Any) -> None:
    flows = [flow("ledbat++"), flow("ledbat++", start="20 s")]
    early, late = rates(simulate(scenario(*flows, limit="600 packets", duration="200 s", warm_up="60 s")))
    assert 0.4 < late / (early + late) < 0.6


def test_slowdowns_of_ledbat_cost_a_tenth_at_most(simulate: Any) -> None:
    without = {"name": "ledbat++", "slowdown_interval": 1e6}
    made = [
        rates(simulate(scenario({**flow("reno"), "congestion_control": control}, limit="600 packets")))[0]
        for control in ("ledbat++", without)
    ]
    assert 0.9 < made[0] / made[1] < 1


def test_where_the_buffer_is_below_its_target_ledbat_sees_losses_only(simulate: Any) -> None:
    # 60 packets are 36 ms: the target of 60 ms is never reached, and GAIN = 1/3 is what yields.
    assert 0.15 < against_reno(simulate, "ledbat++", "60 packets") < 0.45


# Copa (Arun & Balakrishnan 2018)


@pytest.mark.parametrize("count", [1, 2, 4, 10])
def test_copa_keeps_two_packets_a_flow_queued_and_shares_equally(simulate: Any, count: int) -> None:
    alone = {"name": "copa", "mode_switching": False}
    flows = [{"rtt": "50 ms", "congestion_control": alone, "start": f"{0.5 * i} s"} for i in range(count)]
    run = simulate(scenario(*flows, rate="40 Mbit/s", limit="600 packets"))
    found = rates(run)
    assert run.link["mean_queue_packets"] / count == pytest.approx(2, rel=0.35)
    assert sum(found) > 0.995 * 40e6 * PAYLOAD
    assert max(found) < 1.05 * min(found)


def test_copa_does_not_mind_losses_that_say_nothing(simulate: Any) -> None:
    assert rates(simulate(scenario(flow("copa"), loss=lossy(0.01))))[0] > 0.9 * 20e6 * PAYLOAD


def test_copa_competes_with_those_who_fill_the_queue(simulate: Any) -> None:
    shares = {}
    for switching in (True, False):
        copa = {"rtt": "50 ms", "congestion_control": {"name": "copa", "mode_switching": switching}}
        found = rates(simulate(scenario(copa, flow("reno"), limit="2 BDP")))
        shares[switching] = found[0] / sum(found)
    assert 0.3 < shares[True] < 0.7
    assert shares[False] < 0.1


# TCP-NV (Linux' tcp_nv.c)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_nv_fills_a_link_of_a_data_centre_with_little_more_queued_than_its_pad(simulate: Any, count: int) -> None:
    flows = flow("nv", rtt="2 ms", count=count)
    run = simulate(scenario(flows, rate="1 Gbit/s", limit="400 packets", duration="10 s", warm_up="4 s"))
    assert sum(rates(run)) > 0.995 * 1e9 * PAYLOAD
    assert run.link["dropped_packets"] == 0
    # 10 packets each, and what the window gains before the next decision, of 60 samples at least.
    assert 5 < run.link["mean_queue_packets"] / count < 20
    assert min(rates(run)) > 0.6 * max(rates(run))


# TCP-friendly rate control (RFC 5348)


def datagrams(**keys: Any) -> dict[str, Any]:
    return flow("tfrc", workload="rate_controlled", **keys)


@pytest.mark.parametrize("p", [1e-2, 1e-3])
def test_tfrc_has_the_rate_of_its_equation(simulate: Any, p: float) -> None:
    every = {"name": "periodic", "every": f"{1 / p:.0f} packets"}
    run = simulate(scenario(datagrams(rtt="100 ms"), rate="1 Gbit/s", loss=every))
    expected = float(models.pftk_approximate_rate(p, 0.1, 0.4)) * PAYLOAD_BITS
    assert rates(run)[0] == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("limit", ["0.5 BDP", "1 BDP"])
def test_tfrc_and_reno_share_equally(simulate: Any, limit: str) -> None:
    flows = [datagrams(count=4), flow("reno", count=4)]
    made = scenario(*flows, rate="40 Mbit/s", limit=limit, duration="200 s", processing_time="300 us")
    found = rates(simulate(made))
    assert 0.4 < sum(found[:4]) / sum(found) < 0.6


# Google congestion control (draft-ietf-rmcat-gcc-02; Carlucci et al. 2016)
# and SCReAM (draft-ietf-ccwg-rfc8298bis-screamv2-01)


def media(control: Any, **keys: Any) -> dict[str, Any]:
    return {"rtt": "50 ms", "congestion_control": control, "workload": "rate_controlled", **keys}


@pytest.mark.parametrize(
    ("control", "rate", "least", "most_s"),
    [
        *(("gcc", rate, 0.85, 0.012) for rate in (1, 2, 4)),
        *(("scream", rate, 0.80, 0.060) for rate in (2, 10)),
    ],
)
def test_media_use_a_constant_link_and_hardly_wait(
    simulate: Any, control: str, rate: int, least: float, most_s: float
) -> None:
    # The target of SCReAM is 60 ms. GCC has none: it backs off once delays grow.
    run = simulate(scenario(media(control), rate=f"{rate} Mbit/s", limit="100 packets"))
    assert rates(run)[0] > least * rate * 1e6 * PAYLOAD
    assert run.link["mean_queueing_delay_s"] < most_s
    assert run.link["dropped_packets"] == 0


def share_beside_reno(simulate: Any, control: dict[str, Any], rate: str) -> float:
    flows = [media(control), flow("reno", start="10 s")]
    found = rates(simulate(scenario(*flows, rate=rate, limit="2 BDP", duration="200 s", warm_up="60 s")))
    return found[0] / sum(found)


def test_the_adaptive_threshold_keeps_gcc_from_being_starved(simulate: Any) -> None:
    shares = {
        gain: share_beside_reno(
            simulate,
            {"name": "gcc", "initial_rate": 160, "threshold_up": gain, "threshold_down": 0.018 * gain},
            "4 Mbit/s",
        )
        for gain in (0.01, 0.0)
    }
    assert 0.25 < shares[0.01] < 0.75
    assert shares[0.0] < 0.05


def test_two_flows_of_gcc_share_equally(simulate: Any) -> None:
    flows = [media("gcc"), media("gcc", start="10 s")]
    made = scenario(*flows, rate="2 Mbit/s", limit="100 packets", duration="300 s", warm_up="100 s")
    found = rates(simulate(made))
    assert 0.4 < found[0] / sum(found) < 0.6


# Alternative backoff with ECN (RFC 8511)


@pytest.mark.parametrize(("control", "key", "kept"), [("reno", "ecn_decrease", 0.8), ("cubic", "beta_ecn", 0.85)])
def test_abe_uses_more_of_a_link_whose_queue_is_kept_short(simulate: Any, control: str, key: str, kept: float) -> None:
    def made(abe: dict[str, float], *, ecn: bool) -> tuple[float, float]:
        one = {"rtt": "100 ms", "congestion_control": {"name": control, **abe}, "ecn": ecn}
        table = scenario(one, duration="100 s", warm_up="20 s")
        table["bottleneck"]["queue"] = {"name": "codel", "ecn": ecn}
        run = simulate(table)
        return rates(run)[0] / (20e6 * PAYLOAD), run.link["mean_queueing_delay_s"]

    plain, with_abe = made({}, ecn=True), made({key: kept}, ecn=True)
    assert with_abe[0] > plain[0] + 0.05
    assert with_abe[1] < plain[1] + 0.001, "the queue is still short"
    assert made({}, ecn=False) == made({key: kept}, ecn=False), "losses are answered as before"
