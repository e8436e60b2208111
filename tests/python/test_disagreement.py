"""A model that says it holds, and is wrong about a run, is named; one that is near, or has no whole bracket, is not."""

from __future__ import annotations

from typing import Any

import pytest

import parshall as ps
from parshall.report.disagreement import FACTOR, sentence, wrong
from parshall.results.records import Result

QUEUES = ("shortest_queue", "middle_queue", "longest_queue")


@pytest.fixture(name="run", scope="module")
def _run() -> Result:
    flows = [{"name": "six", "count": 6, "rtt": "60 ms", "start": {"uniform": "1 s"}, "congestion_control": "vegas"}]
    return ps.run(
        {"duration": "20 s", "warm_up": "8 s", "repetitions": 3, "bottleneck": {"rate": "10 Mbit/s"}, "flows": flows}
    )


def answered(run: Result, readings: dict[str, dict[str, float]], **row: Any) -> Result:
    """The run, of which a model says these values under each reading."""
    common = {"subject": "six", "model": "vegas", "quantity": "goodput_bps", "in_range": True, "reason": None}
    empty = {"predicted": None, "measured": None, "ratio": None}
    rows = [{**common, **empty, "reading": reading, "details": values, **row} for reading, values in readings.items()]
    return Result(
        None, {**run.metadata, "predicted": rows}, {name: run.tables[name] for name in ("links", "flows", "groups")}
    )


def test_a_bracket_of_rtts_that_leaves_the_run_out(run: Result) -> None:
    measured = run.quantity("group/six/rtt_s").interval.mean
    rtts = dict(zip(QUEUES, ({"rtt_s": measured / each} for each in (2.2, 2.1, 2.0)), strict=True))
    said = sentence(answered(run, rtts))
    assert said is not None
    assert said.templates == ("model_wrong",)
    assert said.text.startswith("The model vegas is wrong here: it says that the RTT of six is ")
    assert f"simulated, it is {1e3 * measured:.3g}\xa0ms." in said.text
    (found,) = wrong(answered(run, rtts))
    assert found.factor == pytest.approx(2.0)


def test_what_is_near_or_within_is_not_named(run: Result) -> None:
    interval = run.quantity("group/six/rtt_s").interval
    measured, least = interval.mean, interval.low or 0.0
    around = dict(zip(QUEUES, ({"rtt_s": measured * each} for each in (0.5, 1.0, 2.0)), strict=True))
    assert wrong(answered(run, around)) == []
    near, far = ({"uncongested": {"rtt_s": least / (each * FACTOR)}} for each in (0.99, 1.01))
    assert wrong(answered(run, near)) == [], "a part of the measured interval is within a quarter"
    assert wrong(answered(run, far)) != []


def test_one_end_of_a_bracket_is_no_prediction(run: Result) -> None:
    far = {"rtt_s": run.quantity("group/six/rtt_s").interval.mean / 3}
    assert wrong(answered(run, {"shortest_queue": far})) == []
    assert wrong(answered(run, {"shortest_queue": far, "longest_queue": far})) != []


def test_what_is_out_of_range_or_read_from_the_run_is_none(run: Result) -> None:
    far = {"uncongested": {"rtt_s": 1e-3, "flow_goodput_bps": 1.0}}
    assert wrong(answered(run, far, in_range=False, reason="it does not hold")) == []
    assert wrong(answered(run, {"measured_events": far["uncongested"]})) == []
    assert sentence(answered(run, {})) is None


def test_a_queue_has_a_packet_of_room(run: Result) -> None:
    measured = run.quantity("link/bottleneck/queue_packets").interval.mean
    spread = run.quantity("link/bottleneck/queue_packets").interval.half_width or 0.0
    queue = {"subject": "bottleneck", "model": "md1", "quantity": "mean_queue_packets"}
    for off, number in ((0.9, 0), (2 * spread + 0.5 * measured + 2.0, 1)):
        assert len(wrong(answered(run, {"None": {}}, **queue, predicted=measured + off))) == number
