"""Predictions of whole scenarios: balance on full links, given losses, ranges, and measured tables."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parshall.analysis.models.buffers import in_step
from parshall.analysis.models.latency import transfer_latency
from parshall.analysis.models.throughput import evaluate
from parshall.foundations.errors import InputError
from parshall.instruments.prediction.network import read
from parshall.instruments.prediction.predict import ASSUMPTIONS, Predicted, Reading, Throughput, flatten, predict

# --- resolved scenarios, made by hand: models and ranges are tested without the schema ---

PS = 10**12


def link(rate_bps: float = 48e6, buffer: int = 100, loss: float = 0.0, name: str = "bottleneck") -> dict[str, Any]:
    """A link of 1 ms with a drop-tail buffer in packets."""
    return {
        "name": name,
        "rate": {"constant": int(rate_bps)},
        "delay_ps": PS // 1000,
        "queue": {"name": "drop_tail", "limit": {"packets": buffer}},
        "loss": {"name": "bernoulli", "probability": loss} if loss else {"name": "none"},
    }


def tcp(**changes: Any) -> dict[str, Any]:
    """A TCP endpoint without options."""
    return {
        "initial_window": 10,
        "initial_ssthresh": None,
        "receive_window": None,
        "initial_receive_buffer": 131_072,
        "recovery": "sack",
        "prr": True,
        "limited_transmit": True,
        "delayed_ack": None,
        "min_rto": PS // 5,
        "max_rto": 60 * PS,
        "initial_rto": PS,
        "rto_granularity": PS // 1000,
        "timer_tick": None,
        "timestamps": True,
        "ecn": False,
        "pacing": False,
        "handshake": False,
        "ssthresh_cached": "off",
        "persistent": False,
        "byte_counting": True,
        "ack_size": 40,
        **changes,
    }


PARAMETERS: dict[str, dict[str, Any]] = {
    "reno": {"increase": 1.0, "decrease": 0.5, "ecn_decrease": 0.0},
    "cubic": {"c": 0.4, "beta": 0.7, "beta_ecn": 0.0, "fast_convergence": True, "reno_friendly": True},
    "cubic_linux": {"tick": 4 * 10**9, "fast_convergence": True, "reno_friendly": True, "hystart": True},
    "vegas": {"alpha": 2.0, "beta": 4.0, "gamma": 1.0},
}


def flows(control: str = "reno", rtt_s: float = 0.1, name: str = "flows0", **changes: Any) -> dict[str, Any]:
    """A group of bulk flows of 1500-byte packets; other TCP parameters go into `tcp`."""
    return {
        "name": name,
        "count": 1,
        "path": [0],
        "reverse_path": [],
        "rtt_ps": {"constant": int(rtt_s * PS)},
        "access_bps": None,
        "start_ps": {"constant": 0},
        "packet_bytes": 1500,
        "header_bytes": 40,
        "tcp": tcp(),
        "congestion_control": {"name": control, **PARAMETERS.get(control, {})},
        "workload": {"name": "bulk"},
        "marker": {"name": "none"},
        **changes,
    }


def datagrams(workload: dict[str, Any], name: str = "datagrams", **changes: Any) -> dict[str, Any]:
    """A group of one datagram flow."""
    return flows(name=name, tcp=None, congestion_control=None, workload=workload, **changes)


def scenario(
    groups: list[dict[str, Any]],
    links: list[dict[str, Any]] | None = None,
    duration_s: float = 300,
    warm_up_s: float = 0,
) -> dict[str, Any]:
    """A dumbbell of one 48 Mbit/s link, or of `links`."""
    return {
        "seed": 1,
        "duration_ps": int(duration_s * PS),
        "warm_up_ps": int(warm_up_s * PS),
        "links": links or [link()],
        "flows": groups,
        "probes": {},
    }


PAYLOAD = 1460 / 1500
QUEUES = (Reading.SHORTEST_QUEUE, Reading.MIDDLE_QUEUE, Reading.LONGEST_QUEUE)


def rows(predicted: Predicted, model: str, group: str = "flows0") -> dict[Reading, Throughput]:
    return {row.reading: row for row in predicted.throughput if row.model == model and row.group == group}


def goodput(row: Throughput) -> float:
    assert row.in_range, row.reason
    assert row.goodput_bps is not None
    return row.goodput_bps


def reason(predicted: Predicted, group: str = "flows0") -> str:
    reasons = {row.reason for row in predicted.throughput if row.group == group}
    assert len(reasons) == 1, reasons
    return reasons.pop() or ""


# --- losses of the medium -----------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["pftk", "pftk_approximate", "square_root", "independent_losses", "response_reno"])
def test_a_lossy_medium_gives_the_formula_itself(model: str) -> None:
    predicted = predict(scenario([flows()], [link(rate_bps=1e9, loss=1e-3)]))
    rtt_s = 0.1 + 12_000 / 1e9
    answer = evaluate(model, loss=1e-3, rtt_s=rtt_s, rto_s=0.2, independent_losses=True)
    assert answer.value is not None
    (row,) = rows(predicted, model).values()
    assert row.reading == Reading.UNCONGESTED
    assert row.limited_by == "loss"
    assert goodput(row) == pytest.approx(float(answer.value) * 1460 * 8)
    assert answer.window_packets is not None
    assert row.window_packets == pytest.approx(float(answer.window_packets))


def test_the_kernels_own_controls_have_the_models_of_those_they_follow() -> None:
    for law, own in (("reno", "reno_linux"), ("cubic", "cubic_linux")):
        predicted, other = (predict(scenario([flows(name)], [link(rate_bps=1e9, loss=1e-4)])) for name in (law, own))
        assert other == predicted
        assert goodput(other.throughput[0]) > 0
    given = {"name": "cubic_linux", **PARAMETERS["cubic_linux"], "reno_friendly": False}
    (group,) = read(scenario([flows("cubic_linux", congestion_control=given)])).groups
    assert (group.control, group.parameters["reno_friendly"], group.parameters["c"]) == ("cubic", False, 0.4)


def test_both_readings_of_independent_cubic_losses_are_there() -> None:
    predicted = predict(scenario([flows("cubic")], [link(rate_bps=1e9, loss=1e-4)]))
    periodic = rows(predicted, "cubic")[Reading.UNCONGESTED]
    independent = rows(predicted, "cubic_independent")[Reading.UNCONGESTED]
    assert periodic.window_packets == pytest.approx(187.4, rel=1e-3)
    assert independent.window_packets == pytest.approx(1.196 / 1.0538 * 187.4, rel=1e-3)


def test_media_of_several_links_lose_one_after_the_other() -> None:
    links = [link(1e9, loss=1e-3, name="a"), link(1e9, loss=2e-3, name="b")]
    predicted = predict(scenario([flows(path=[0, 1])], links))
    assert rows(predicted, "pftk")[Reading.UNCONGESTED].loss == pytest.approx(1 - 0.999 * 0.998)


def test_delayed_acks_count_unless_bytes_do() -> None:
    def window(**changes: Any) -> float:
        predicted = predict(scenario([flows(tcp=tcp(**changes))], [link(1e9, loss=1e-3)]))
        row = rows(predicted, "square_root")[Reading.UNCONGESTED]
        return row.window_packets or math.nan

    every = window(delayed_ack=None)
    assert window(delayed_ack=PS // 25, byte_counting=False) == pytest.approx(every / math.sqrt(2))
    assert window(delayed_ack=PS // 25, byte_counting=True) == pytest.approx(every)


# --- full links ---------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    count=st.integers(1, 200),
    control=st.sampled_from(["reno", "cubic"]),
    rate_bps=st.floats(1e6, 1e9),
    rtt_s=st.floats(0.005, 0.5),
    buffer=st.integers(2, 500),
)
def test_flows_fill_the_link_that_limits_them(
    count: int, control: str, rate_bps: float, rtt_s: float, buffer: int
) -> None:
    predicted = predict(scenario([flows(control, rtt_s, count=count)], [link(rate_bps, buffer)], duration_s=100_000))
    full = [row for row in predicted.throughput if row.in_range]
    kept = {"reno": 0.5, "cubic": 0.7}[control]
    for row in full:
        assert row.limited_by == "bottleneck"
        used = goodput(row) / (rate_bps * PAYLOAD)
        if row.reading == Reading.LOSSES_TOGETHER:
            assert (1 + kept) / 2 - 1e-4 <= used < 1, "at least what flows in step use without a buffer"
        else:
            assert used == pytest.approx(1, rel=1e-4)
        assert row.loss is not None
        assert 0 < row.loss < 1


def test_the_bracket_of_queues_orders_loss_and_rtt() -> None:
    predicted = predict(scenario([flows(count=20)]))
    answers = rows(predicted, "pftk")
    losses = [answers[reading].loss or math.nan for reading in QUEUES]
    rtts = [answers[reading].rtt_s or math.nan for reading in QUEUES]
    assert losses[0] > losses[1] > losses[2]
    assert rtts == pytest.approx([0.1 + 12e3 / 48e6 * (1 + 99 * f) for f in (0, 0.5, 1)])


def test_the_fixed_point_is_where_the_formula_gives_the_share() -> None:
    predicted = predict(scenario([flows(count=20)]))
    for reading, row in rows(predicted, "pftk").items():
        queueing_s = (row.rtt_s or 0) - 0.1 - 12e3 / 48e6
        rto_s = max(0.2, (row.rtt_s or 0) + max(0.001, queueing_s))
        answer = evaluate("pftk", loss=row.loss or 0, rtt_s=row.rtt_s or 0, rto_s=rto_s)
        assert answer.value is not None
        used = float(in_step(0.25)) if reading == Reading.LOSSES_TOGETHER else 1.0
        assert float(answer.value) == pytest.approx(used * 48e6 / 12e3 / 20, rel=1e-3)


def test_more_flows_lose_more() -> None:
    losses = [
        rows(predict(scenario([flows(count=count)])), "pftk")[Reading.MIDDLE_QUEUE].loss or math.nan
        for count in (2, 5, 20, 100)
    ]
    assert losses == sorted(losses)


def test_ns2_dumbbell_a_loses_about_as_much_as_the_fixed_point() -> None:
    """100 NewReno flows, RTT 100 to 298 ms, 48 Mbit/s, 100 packets: ns-2 loses 1.8 % of the packets at load 0.949.

    The formulas count loss events; a full buffer loses about two packets an event.
    """
    group = flows(
        count=100,
        rtt_ps={"linear": {"first": PS // 10, "step": PS // 500}},
        packet_bytes=1000,
        access_bps=100_000_000,
    )
    answers = rows(predict(scenario([group])), "pftk")
    for reading in QUEUES:
        assert 1.2 < 0.018 / (answers[reading].loss or math.nan) < 3
    assert answers[Reading.MIDDLE_QUEUE].rtt_s == pytest.approx(0.199 + 50 * 8e3 / 48e6, rel=0.01)


def test_short_rtts_get_more() -> None:
    groups = [flows("reno", 0.05, "near", count=5), flows("reno", 0.2, "far", count=5)]
    predicted = predict(scenario(groups))
    near, far = (goodput(rows(predicted, "square_root", name)[Reading.SHORTEST_QUEUE]) for name in ("near", "far"))
    assert near / far == pytest.approx(0.20025 / 0.05025, rel=1e-3)
    assert near + far == pytest.approx(48e6 * PAYLOAD, rel=1e-4)


def test_limits_leave_the_rest_to_the_others() -> None:
    groups = [
        flows(name="free", count=5),
        flows(name="access", access_bps=2_000_000),
        flows(name="window", tcp=tcp(receive_window=4)),
        datagrams({"name": "cbr", "rate": 10_000_000}),
    ]
    predicted = predict(scenario(groups))
    for reading in QUEUES:
        answers = {name: rows(predicted, "pftk", name)[reading] for name in ("free", "access", "window")}
        assert [answers[name].limited_by for name in answers] == ["bottleneck", "access link", "window"]
        # The link carries 2 Mbit/s, of which the bottleneck loses its share.
        assert goodput(answers["access"]) == pytest.approx(2e6 * PAYLOAD * (1 - (answers["access"].loss or 0)))
        assert (answers["window"].window_packets or 99) <= 4
        loss = answers["free"].loss or 0
        total = sum(map(goodput, answers.values())) / PAYLOAD + 10e6 * (1 - loss)
        assert total == pytest.approx(48e6, rel=1e-4)


def test_window_limited_flows_fill_the_queue_only_as_far_as_their_windows_reach() -> None:
    # 10 windows of 50 packets: 400 fit the path of 0.1 s, about 100 are queued, and none is lost.
    predicted = predict(scenario([flows(count=10, tcp=tcp(receive_window=50))], [link(buffer=1000)]))
    row = rows(predicted, "pftk")[Reading.LONGEST_QUEUE]
    assert (row.loss, row.limited_by) == (0.0, "window")
    assert row.rtt_s == pytest.approx(500 * 12e3 / 48e6, rel=1e-3)
    assert goodput(row) == pytest.approx(48e6 * PAYLOAD, rel=1e-4)


def test_windows_that_fit_the_path_are_a_window_a_round_trip() -> None:
    predicted = predict(scenario([flows(tcp=tcp(receive_window=20))]))
    for model in ("pftk", "square_root"):
        row = rows(predicted, model)[Reading.UNCONGESTED]
        assert (row.loss, row.limited_by) == (0.0, "window")
        assert goodput(row) == pytest.approx(20 * 1460 * 8 / 0.10025)


def test_parking_lot_fills_every_link_and_holds_back_the_long_way() -> None:
    links = [link(10e6, 50, name=name) for name in "abc"]
    groups = [flows(name="long", path=[0, 1, 2]), *(flows(name=f"short{i}", path=[i]) for i in range(3))]
    predicted = predict(scenario(groups, links))
    for reading in QUEUES:
        long = goodput(rows(predicted, "pftk", "long")[reading])
        for i in range(3):
            short = goodput(rows(predicted, "pftk", f"short{i}")[reading])
            assert long + short == pytest.approx(10e6 * PAYLOAD, rel=1e-4)
            assert long < short


def test_only_the_narrower_of_two_links_is_full() -> None:
    links = [link(10e6, 50, name="narrow"), link(100e6, 50, name="wide")]
    predicted = predict(scenario([flows(path=[0, 1], count=3)], links))
    for reading in QUEUES:
        row = rows(predicted, "pftk")[reading]
        assert row.limited_by == "narrow"
        assert goodput(row) == pytest.approx(10e6 * PAYLOAD, rel=1e-4)


# --- Vegas --------------------------------------------------------------------------------------------


def test_vegas_flows_share_equally_whatever_their_rtts() -> None:
    groups = [flows("vegas", 0.02, "near", count=3), flows("vegas", 0.2, "far", count=3)]
    predicted = predict(scenario(groups))
    for reading, queued in zip(QUEUES, (2, 3, 4), strict=True):
        near, far = (rows(predicted, "vegas", name)[reading] for name in ("near", "far"))
        assert goodput(near) == pytest.approx(goodput(far), rel=1e-3)
        assert goodput(near) == pytest.approx(24e6 * PAYLOAD, rel=1e-3)
        assert near.rtt_s == pytest.approx(0.02025 + 6 * queued * 12e3 / 48e6, rel=1e-3)
        assert near.loss == 0


def test_vegas_needs_its_buffer_and_its_own_company() -> None:
    predicted = predict(scenario([flows("vegas", count=40)], [link(buffer=100)]))
    answers = rows(predicted, "vegas")
    assert answers[Reading.SHORTEST_QUEUE].in_range
    assert "does not hold" in (answers[Reading.LONGEST_QUEUE].reason or "")
    mixed = predict(scenario([flows("vegas"), flows("reno", name="other")]))
    assert "Vegas and a control that fills the queue" in reason(mixed)
    assert "Vegas and a control that fills the queue" in reason(mixed, "other")


# --- out of range -------------------------------------------------------------------------------------

BURSTS = {"name": "gilbert_elliott", "good_to_bad": 0.001, "bad_to_good": 0.1, "loss_good": 0.0, "loss_bad": 1.0}
SIZE = {"name": "pareto", "mean": 1e6, "tail_index": 1.5}
OFF = {"name": "exponential", "mean": 1.0}


@pytest.mark.parametrize(
    ("changes", "link_changes", "expected"),
    [
        ({"workload": {"name": "on_off", "size": SIZE, "off": OFF}}, {}, "'on_off' is no long transfer"),
        ({"access_bps": 10**7, "access_packets": 100}, {}, "hosts lose packets at their own access links"),
        ({"workload": {"name": "open_loop", "size": SIZE, "arrivals_per_s": 1.0}}, {}, "'open_loop' is no long"),
        ({"tcp": tcp(recovery="tahoe")}, {}, "Tahoe goes back to slow start"),
        ({"congestion_control": {"name": "bbr"}}, {}, "no model describes the congestion control 'bbr'"),
        ({"workload": {"name": "transfer", "sizes": [10_000_000]}}, {}, "its transfers would end after about"),
        ({}, {"rate": {"trace": [0, 1, 2, 3]}}, "follows a trace"),
        ({}, {"loss": BURSTS}, "come in bursts"),
    ],
)
def test_what_the_models_do_not_describe_gets_a_reason(
    changes: dict[str, Any], link_changes: dict[str, Any], expected: str
) -> None:
    predicted = predict(scenario([flows(**changes)], [{**link(), **link_changes}]))
    refused = [row for row in predicted.throughput if expected in (row.reason or "")]
    assert refused
    for row in predicted.throughput:
        assert not row.in_range
        assert row.goodput_bps is row.window_packets is row.flow_goodput_bps is None


def test_company_that_is_not_described_is_named() -> None:
    on_off = flows(name="web", workload={"name": "on_off", "size": SIZE, "off": OFF})
    assert "group 'web' (on_off)" in reason(predict(scenario([flows(), on_off])))
    bbr = flows("bbr", name="other")
    assert "no model describes group 'other' (bbr)" in reason(predict(scenario([flows(), bbr])))
    short = flows(name="short", workload={"name": "transfer", "sizes": [10_000_000]})
    texts = {row.reason or "" for row in predict(scenario([flows(), short])).throughput if row.group == "flows0"}
    assert any("transfers of group 'short' would end" in text for text in texts)


def test_what_is_in_no_catalog_is_refused() -> None:
    """A new distribution, queue or loss of the simulator is in its catalog, and needs no change here."""
    cauchy = {"distribution": {"of": {"name": "cauchy", "scale": 0.1}, "min_ps": 0}}
    with pytest.raises(InputError, match="'cauchy': unknown variant"):
        predict(scenario([flows(rtt_ps=cauchy)]))
    with pytest.raises(InputError, match="'fading': unknown variant"):
        predict(scenario([flows()], [{**link(), "loss": {"name": "fading"}}]))
    with pytest.raises(InputError, match="queue: found 'fq', accepted is one of drop_tail, "):
        predict(scenario([flows()], [{**link(), "queue": {"name": "fq"}}]))


def test_workloads_that_are_new_to_the_models_get_a_reason_and_break_nothing() -> None:
    noise = datagrams({"name": "on_off_cbr", "rate": 1000})
    predicted = predict(scenario([flows(), noise, datagrams({"name": "cbr", "rate": 1000}, "cbr")]))
    assert "'datagrams' (on_off_cbr) is not known beforehand" in reason(predicted)
    assert [row.group for row in predicted.datagrams] == ["cbr"]
    assert "(bulk)" in (predicted.datagrams[0].reason or "")
    predicted = predict(scenario([flows(count=20)], [{**link(), "queue": {"name": "drop_tail"}}]))
    assert list(rows(predicted, "pftk")) == [Reading.SHORTEST_QUEUE]  # it does not say what it holds


def test_open_loop_transfers_are_a_given_load() -> None:
    size = {"name": "constant", "value": 146_000.0}
    web = flows(name="web", workload={"name": "open_loop", "size": size, "arrivals_per_s": 10.0})
    predicted = predict(scenario([flows(count=10), web]))
    row = rows(predicted, "square_root")[Reading.SHORTEST_QUEUE]
    assert goodput(row) == pytest.approx((48e6 - 12e6 * (1 - (row.loss or 0))) * PAYLOAD, rel=1e-4)


def test_a_run_with_hardly_a_loss_is_no_steady_state() -> None:
    predicted = predict(scenario([flows("cubic")], [link(1e10, loss=1e-7)], duration_s=60))
    assert all("too few for a steady state" in (row.reason or "") for row in predicted.throughput)


@pytest.mark.parametrize(("rate_bps", "expected"), [(500e6, "above 0.3"), (50e9, "where TCP sends next to nothing")])
def test_a_link_full_of_datagrams_leaves_no_number(rate_bps: float, expected: str) -> None:
    predicted = predict(scenario([flows(), datagrams({"name": "cbr", "rate": int(rate_bps)})]))
    for row in rows(predicted, "pftk").values():
        assert expected in (row.reason or "")
        assert row.goodput_bps is None


def test_long_transfers_are_as_good_as_bulk() -> None:
    long = flows(workload={"name": "transfer", "sizes": [30_000_000_000]}, count=10)
    bulk = flows(count=10)
    one, other = predict(scenario([long])), predict(scenario([bulk]))
    assert goodput(rows(one, "pftk")[Reading.MIDDLE_QUEUE]) == goodput(rows(other, "pftk")[Reading.MIDDLE_QUEUE])


# --- measured -----------------------------------------------------------------------------------------


def measured_flows(**changes: Any) -> list[dict[str, Any]]:
    """Two repetitions of two flows: 3 loss events of 4 lost packets in 4000 sent, each."""
    row = {
        "group": "flows0",
        "goodput_bps": 4e6,
        "packets_sent": 4000,
        "packets_dropped": 4,
        "loss_events": 2,
        "timeouts": 1,
        "ecn_reductions": 0,
        "mean_rtt_s": 0.12,
        "rtt_base_s": 0.1,
        **changes,
    }
    return [{**row, "repetition": r, "flow": f} for r in (0, 1) for f in (0, 1)]


def test_formulas_at_what_was_measured() -> None:
    predicted = predict(scenario([flows(count=2)]), measured_flows())
    answers = rows(predicted, "pftk")
    for reading, loss in ((Reading.MEASURED_EVENTS, 3 / 4000), (Reading.MEASURED_PACKETS, 4 / 4000)):
        answer = evaluate("pftk", loss=loss, rtt_s=0.12, rto_s=0.2)
        assert answer.value is not None
        row = answers[reading]
        assert row.loss == loss
        assert row.rtt_s == pytest.approx(0.12)
        assert goodput(row) == pytest.approx(2 * float(answer.value) * 1460 * 8)
        assert row.measured_goodput_bps == 8e6
        assert row.ratio == pytest.approx(goodput(row) / 8e6)
    assert answers[Reading.MIDDLE_QUEUE].ratio == pytest.approx(48e6 * PAYLOAD / 8e6, rel=1e-4)


def test_rtts_are_each_flows_own() -> None:
    table = measured_flows()
    for row in table:
        row["mean_rtt_s"] = 0.1 if row["flow"] == 0 else None
    table[0]["mean_rtt_s"] = 0.2
    predicted = predict(scenario([flows(count=2)]), table)
    answer = rows(predicted, "square_root")[Reading.MEASURED_EVENTS]
    rtts, p = np.array([0.2, 0.15, 0.1, 0.15]), 3 / 4000  # a flow without a sample has the mean
    assert goodput(answer) == pytest.approx(float(np.sum(np.sqrt(1.5 / p) / rtts)) * (1 - 4 / 4000) * 1460 * 8 / 2)


def test_a_mark_is_a_loss_event_and_loses_nothing() -> None:
    """What is sent follows from loss events, what arrives from lost packets."""
    marked = {"packets_dropped": 0, "loss_events": 0, "timeouts": 0, "ecn_reductions": 40}
    lost = {"packets_dropped": 40, "loss_events": 40, "timeouts": 0}
    answers = [
        rows(predict(scenario([flows(count=2)]), measured_flows(**changes)), "square_root")[Reading.MEASURED_EVENTS]
        for changes in (marked, lost)
    ]
    assert answers[0].window_packets == answers[1].window_packets == pytest.approx(math.sqrt(1.5 / 0.01))
    assert goodput(answers[1]) == pytest.approx(0.99 * goodput(answers[0]))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"packets_sent": 0, "packets_dropped": 0, "loss_events": 0, "timeouts": 0}, "sent nothing"),
        ({"mean_rtt_s": None}, "no round-trip time was measured"),
        ({"packets_dropped": 0, "loss_events": 0, "timeouts": 0}, "nothing is lost and no window limits"),
        ({"loss_events": 3999, "packets_dropped": 4000}, "no probability"),
    ],
)
def test_measurements_that_give_no_rate_get_a_reason(changes: dict[str, Any], expected: str) -> None:
    predicted = predict(scenario([flows(count=2)]), measured_flows(**changes))
    at = [row for row in predicted.throughput if row.reading in (Reading.MEASURED_EVENTS, Reading.MEASURED_PACKETS)]
    assert at
    for row in at:
        assert expected in (row.reason or "")
        assert row.goodput_bps is row.ratio is None
        assert row.measured_goodput_bps == 8e6


def test_measured_flows_without_losses_have_the_rate_that_holds_them_back() -> None:
    table = measured_flows(packets_dropped=0, loss_events=0, timeouts=0)
    for changes, expected in (
        ({"tcp": tcp(receive_window=20)}, 20 * 1460 * 8 / 0.12),
        ({"access_bps": 2_000_000}, 2e6 * PAYLOAD),
    ):
        row = rows(predict(scenario([flows(count=2, **changes)]), table), "square_root")[Reading.MEASURED_EVENTS]
        assert row.flow_goodput_bps == pytest.approx(expected)


def test_a_measured_vegas_queue_gives_its_rate() -> None:
    table = measured_flows(packets_dropped=0, loss_events=0, timeouts=0, mean_rtt_s=0.106)
    predicted = predict(scenario([flows("vegas", count=2)]), table)
    row = rows(predicted, "vegas")[Reading.MEASURED_EVENTS]
    assert goodput(row) == pytest.approx(2 * 3 / 0.006 * 1460 * 8)


def test_finished_transfers_have_no_steady_state() -> None:
    group = flows(workload={"name": "transfer", "sizes": [100_000_000]}, count=2)
    seconds = 300
    table = measured_flows(goodput_bps=8e8 / seconds)
    predicted = predict(scenario([group], duration_s=seconds), table)
    row = rows(predicted, "pftk")[Reading.MEASURED_EVENTS]
    assert "ended within the run" in (row.reason or "")


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow", "columns", "run", "tables"])
def test_any_kind_of_table_will_do(kind: str) -> None:
    table = measured_flows(mean_rtt_s=0.12)
    table[0]["mean_rtt_s"] = None
    frame = pl.DataFrame(table)

    class Run:
        flows = frame
        transfers = None

    given: dict[str, Any] = {
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
        "columns": frame.to_dict(as_series=False),
        "run": Run(),
        "tables": {"flows": table},
    }
    asked = scenario([flows(count=2)])
    assert predict(asked, given[kind]) == predict(asked, table)


# --- transfers ----------------------------------------------------------------------------------------


def test_lone_transfers_take_their_slow_start() -> None:
    group = flows("cubic", workload={"name": "transfer", "sizes": [14_600, 146_000]})
    table = [
        {"group": "flows0", "size_bytes": 14_600, "start_s": 1.0, "completion_s": 1.11},
        {"group": "flows0", "size_bytes": 14_600, "start_s": 2.0, "completion_s": 2.09},
        {"group": "flows0", "size_bytes": 146_000, "start_s": 3.0, "completion_s": None},
        {"group": "other", "size_bytes": 146_000, "start_s": 0.0, "completion_s": 5.0},
    ]
    small, large = predict(scenario([group]), {"transfers": table}).completion
    assert small.completion_s == pytest.approx(0.10025)
    assert small.measured_completion_s == pytest.approx(0.1)
    assert small.ratio == pytest.approx(1.0025)
    assert large.completion_s == pytest.approx(4 * 0.10025)
    assert large.measured_completion_s is large.ratio is None


def test_the_share_of_the_link_limits_the_window_of_a_large_transfer() -> None:
    # 400 packets fit the path; a large buffer takes what slow start has too much.
    group = flows(workload={"name": "transfer", "sizes": [14_600_000]})
    (row,) = predict(scenario([group], [link(buffer=20_000)])).completion
    assert row.completion_s is not None
    at_rate = 14_600_000 / PAYLOAD * 8 / 48e6
    assert at_rate < row.completion_s < at_rate + 0.6
    (row,) = predict(scenario([group], [link(buffer=100)])).completion
    assert "slow start reaches a window" in (row.reason or "")
    assert row.completion_s is None


def test_losses_of_the_medium_lengthen_transfers() -> None:
    group = flows(workload={"name": "transfer", "sizes": [1_460_000]})
    (row,) = predict(scenario([group], [link(1e9, 10_000, loss=0.01)])).completion
    latency = transfer_latency(1000, 0.01, 0.100012, 0.2, window_limit_packets=1e9 / 12e3 * 0.100012)
    assert row.completion_s == pytest.approx(float(latency.total_s))
    assert row.loss == pytest.approx(0.01)


def test_transfers_at_what_was_measured() -> None:
    group = flows(workload={"name": "transfer", "sizes": [1_460_000]}, count=2)
    tables = {
        "flows": measured_flows(),
        "transfers": [{"group": "flows0", "size_bytes": 1_460_000, "start_s": 2.0, "completion_s": 5.0}],
    }
    row = next(row for row in predict(scenario([group]), tables).completion if row.reading == Reading.MEASURED_EVENTS)
    expected = float(transfer_latency(1000, 3 / 4000, 0.12, 0.2).total_s)
    assert row.completion_s == pytest.approx(expected)
    assert row.ratio == pytest.approx(expected / 3)


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([flows("vegas", workload={"name": "transfer", "sizes": [10_000]})], "slow start of 'vegas'"),
        ([flows("cubic_linux", workload={"name": "transfer", "sizes": [10_000]})], "slow start is hystart"),
        ([flows(workload={"name": "transfer", "sizes": [10_000]}), flows(name="b")], "depends on group 'b' (bulk)"),
        (
            [flows(workload={"name": "transfer", "sizes": [10_000]}, tcp=tcp(ssthresh_cached="lowest"))],
            "given threshold",
        ),
        (
            [flows(workload={"name": "transfer", "sizes": [10_000]}, tcp=tcp(persistent=True))],
            "the window of the one before",
        ),
    ],
)
def test_transfers_that_the_model_does_not_describe(groups: list[dict[str, Any]], expected: str) -> None:
    (row,) = predict(scenario(groups)).completion
    assert expected in (row.reason or "")
    assert row.completion_s is None


# --- datagrams ----------------------------------------------------------------------------------------


def test_datagrams_offer_their_rate() -> None:
    on, off = {"name": "exponential", "mean": 1.0}, {"name": "exponential", "mean": 3.0}
    groups = [
        datagrams({"name": "cbr", "rate": 1_000_000}, "cbr", count=3),
        datagrams({"name": "on_off_cbr", "rate": 4_000_000, "on": on, "off": off}, "bursts"),
        datagrams({"name": "cbr", "rate": 9_000_000}, "held", access_bps=2_000_000),
    ]
    predicted = predict(scenario(groups, [link(loss=0.1)]))
    assert [row.offered_bps for row in predicted.datagrams] == [3e6, 1e6, 2e6]
    for row in predicted.datagrams:
        assert row.in_range
        assert row.goodput_bps == pytest.approx(row.offered_bps * 0.9 * PAYLOAD)
        assert row.loss == pytest.approx(0.1)


def test_overload_is_lost() -> None:
    groups = [datagrams({"name": "cbr", "rate": 60_000_000}, "a"), datagrams({"name": "cbr", "rate": 36_000_000}, "b")]
    a, b = predict(scenario(groups)).datagrams
    assert a.goodput_bps == pytest.approx(30e6 * PAYLOAD)
    assert b.goodput_bps == pytest.approx(18e6 * PAYLOAD)
    assert a.loss == b.loss == pytest.approx(0.5)


def test_datagrams_that_find_a_full_buffer_are_lost() -> None:
    predicted = predict(scenario([poisson(EXPONENTIAL, 38_400_000)], [link(buffer=8)]))
    (row,) = predicted.datagrams
    finite = next(queue for queue in predicted.queues if queue.model == "mm1k")
    assert row.loss == pytest.approx(finite.loss)
    assert 0.01 < (row.loss or 0) < 0.1


def test_datagrams_beside_tcp_have_no_known_loss() -> None:
    (row,) = predict(scenario([flows(), datagrams({"name": "cbr", "rate": 1_000_000})])).datagrams
    assert row.offered_bps == 1e6
    assert row.goodput_bps is None
    assert "depend on what group 'flows0' (bulk) sends" in (row.reason or "")


def poisson(size: dict[str, Any], rate: int = 24_000_000, **changes: Any) -> dict[str, Any]:
    return datagrams({"name": "poisson", "rate": rate, "size": size}, **changes)


CONSTANT = {"name": "constant", "value": 1500.0}
EXPONENTIAL = {"name": "exponential", "mean": 1500.0}


def test_poisson_traffic_makes_the_textbook_queues() -> None:
    def waiting(*groups: dict[str, Any]) -> dict[str, float | None]:
        answers = predict(scenario(list(groups), [link(buffer=1000)])).queues
        return {row.model: row.mean_queue_packets for row in answers if row.in_range}

    half = waiting(poisson(EXPONENTIAL))
    assert half == {"mm1": pytest.approx(0.5), "mm1k": pytest.approx(0.5)}
    two = waiting(poisson(EXPONENTIAL, 12_000_000, name="a"), poisson(EXPONENTIAL, 6_000_000, name="b", count=2))
    assert two == {"mm1": pytest.approx(0.5), "mm1k": pytest.approx(0.5)}
    assert waiting(poisson(CONSTANT)) == {"md1": pytest.approx(0.25), "md1k": pytest.approx(0.25)}
    # Half of the packets of 300 and half of 1500 bytes: E[S^2]/E[S]^2 = 1.4444
    mixed = waiting(
        poisson({"name": "constant", "value": 300.0}, 4_000_000, name="small"), poisson(CONSTANT, 20_000_000)
    )
    assert mixed == {"mg1": pytest.approx(0.25 * (1.17e6 / 0.81e6) / (2 * 0.5))}


def test_measured_queues_stand_beside() -> None:
    tables = {"links": [{"link": "bottleneck", "mean_queue_packets": q} for q in (0.4, 0.6)]}
    row = predict(scenario([poisson(EXPONENTIAL)], [link(buffer=1000)]), tables).queues[0]
    assert row.measured_mean_queue_packets == pytest.approx(0.5)
    assert row.ratio == pytest.approx(1)


@pytest.mark.parametrize(
    ("groups", "links", "expected"),
    [
        ([poisson(EXPONENTIAL), flows()], [link()], "(bulk) is not Poisson"),
        ([poisson(EXPONENTIAL, path=[0, 1])], [link(name="a"), link(name="b")], "crossed another link"),
        ([poisson(EXPONENTIAL, access_bps=10**9)], [link()], "has an access link"),
        ([poisson(EXPONENTIAL)], [{**link(), "queue": {"name": "red", "limit": {"packets": 9}}}], "queue is RED"),
        ([poisson(EXPONENTIAL, 60_000_000)], [link()], "grows for ever"),
        ([poisson(EXPONENTIAL, 43_200_000)], [link(buffer=20)], "full for"),
        ([poisson({"name": "pareto", "mean": 1000.0, "tail_index": 1.5})], [link()], "no variance"),
    ],
)
def test_queues_that_the_models_do_not_describe(
    groups: list[dict[str, Any]], links: list[dict[str, Any]], expected: str
) -> None:
    answers = predict(scenario(groups, links)).queues
    refused = [row for row in answers if not row.in_range]
    assert any(expected in (row.reason or "") for row in refused)
    assert all(row.mean_queue_packets is None for row in refused)


# --- results ------------------------------------------------------------------------------------------


def test_flat_rows_have_the_same_keys_and_are_json() -> None:
    groups = [
        flows(count=2),
        flows("cubic", name="files", workload={"name": "transfer", "sizes": [10_000, 10**12]}),
        poisson(EXPONENTIAL, name="noise", path=[1]),
    ]
    predicted = predict(scenario(groups, [link(), link(name="other")]), measured_flows())
    flat = flatten(predicted)
    assert {tuple(row) for row in flat} == {
        ("subject", "model", "reading", "quantity", "in_range", "reason", "predicted", "measured", "ratio", "details")
    }
    assert {row["quantity"] for row in flat} == {"goodput_bps", "completion_s", "mean_queue_packets"}
    for row in flat:
        assert row["in_range"] == (row["reason"] is None)
        assert row["in_range"] == (row["predicted"] is not None)
    again = json.loads(json.dumps(flat, allow_nan=False))
    assert [row["predicted"] for row in again] == [row["predicted"] for row in flat]
    json.dumps(predicted.to_json(), allow_nan=False)
    assert predicted.assumptions == ASSUMPTIONS


def test_scenarios_of_the_schema_are_understood() -> None:
    pytest.importorskip("parshall._core")
    from parshall.scenario import Scenario

    asked = Scenario(
        duration="300 s",
        bottleneck={"rate": "48 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}, "delay": "1 ms"},
        flows=[{"rtt": "100 ms", "congestion_control": "reno", "count": 20}],
    )
    assert predict(asked) == predict(scenario([flows(count=20)]))
