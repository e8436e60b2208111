"""A model of a full link asks whether the link is full: its bracket holds what is simulated, or it gives no number."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import parshall as ps
from parshall.analysis.models.buffers import in_step, of_bursts, utilisation
from parshall.analysis.models.inputs import ModelInputError
from parshall.analysis.models.queues import mm1k
from parshall.instruments.prediction.predict import Predicted, Reading, Throughput, predict
from parshall.scenario import Scenario

QUIET = {"flow_samples": False, "link_samples": False, "latency": False, "transfers": False}
RTTS: dict[str, Any] = {"alike": "40 ms", "apart": {"uniform": ["24 ms", "56 ms"]}}


def network(control: str, count: int, rtt: Any, packets: int, **flow: Any) -> Scenario:
    """Flows that would fill 100 Mbit/s behind a buffer of so many packets; the path of 40 ms holds 333."""
    group = {"name": "all", "count": count, "rtt": rtt, "congestion_control": control, "start": {"uniform": "1 s"}}
    return Scenario.from_document(
        {
            "duration": "60 s",
            "warm_up": "20 s",
            "repetitions": 2,
            "bottleneck": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{packets} packets"}},
            "flows": [{**group, **flow}],
            "probes": QUIET,
        }
    )


def brackets(predicted: Predicted) -> dict[str, list[Throughput]]:
    """The answers from the scenario alone, by model."""
    answers = [row for row in predicted.throughput if not row.reading.value.startswith("measured")]
    return {name: [row for row in answers if row.model == name] for name in {str(row.model) for row in answers}}


@pytest.mark.parametrize(
    ("control", "count", "rtt", "packets"),
    [*product(("reno", "cubic"), (1, 3, 10), RTTS, (3, 10, 30, 100, 300))],
)
def test_what_is_simulated_is_in_the_bracket_or_the_model_is_silent(
    control: str, count: int, rtt: str, packets: int
) -> None:
    scenario = network(control, count, RTTS[rtt], packets)
    got = ps.run(scenario, workers=1).quantity("goodput_bps").interval.mean
    for model, rows in brackets(predict(scenario)).items():
        known = [row.goodput_bps for row in rows if row.goodput_bps is not None]
        assert known or all(row.reason for row in rows)
        if known:
            assert 0.995 * min(known) <= got <= 1.005 * max(known), model


@pytest.mark.parametrize("packets", [3, 10])
def test_a_buffer_of_few_packets_has_a_reason_with_its_size(packets: int) -> None:
    predicted = predict(network("reno", 3, {"first": "30 ms", "step": "10 ms"}, packets))
    (reason,) = {row.reason for row in predicted.throughput}
    assert reason is not None
    assert reason.startswith(f"the buffer of {packets} packets of link 'bottleneck' is {packets / 333:.2g} of the ")
    assert all(row.goodput_bps is None for row in predicted.throughput)


def test_one_flow_uses_what_its_sawtooth_leaves() -> None:
    """The formula to 1 %, simulated: a quarter of a bandwidth-delay product, of 100 packets, for ten sawteeth."""
    for control, kept in (("reno", 0.5), ("cubic", 0.7)):
        scenario = network(control, 1, "40 ms", 25).with_values({"bottleneck.rate": "30 Mbit/s", "duration": "120 s"})
        used = ps.run(scenario, workers=1).quantity("utilisation").interval.mean
        least = float(in_step(0.25, kept))
        assert used >= 0.99 * least
        if control == "reno":  # CUBIC is longer near its largest window than a straight sawtooth
            assert used == pytest.approx(least, rel=0.01)


def test_paced_flows_need_half_the_buffer() -> None:
    wide = {"first": "30 ms", "step": "4 ms"}
    assert not any(row.in_range for row in predict(network("reno", 10, wide, 20)).throughput)
    paced = network("reno", 10, wide, 20, pacing=True)
    known = [row.goodput_bps or 0.0 for row in brackets(predict(paced))["pftk"] if row.in_range]
    got = ps.run(paced, workers=1).quantity("goodput_bps").interval.mean
    assert min(known) <= got <= max(known)


def test_a_buffer_that_holds_the_sawtooth_is_not_asked() -> None:
    """A whole bandwidth-delay product for Reno, three sevenths for CUBIC: no reading is added."""
    for control, packets, more in (
        ("reno", 320, True),
        ("reno", 336, False),
        ("cubic", 136, True),
        ("cubic", 145, False),
    ):
        answers = predict(network(control, 10, "40 ms", packets)).throughput
        assert (Reading.LOSSES_TOGETHER in {row.reading for row in answers}) == more


@settings(max_examples=60, deadline=None)
@given(load=st.floats(0.05, 1.5), held=st.integers(1, 300))
def test_the_queue_of_bursts_is_that_of_the_queueing_models(load: float, held: int) -> None:
    known = mm1k(load, 1.0, held)
    if known.loss is not None and 1e-12 < known.loss < 0.99:
        assert of_bursts(held, known.loss) == pytest.approx(load * (1 - known.loss), rel=1e-5)


@settings(max_examples=60, deadline=None)
@given(held=st.floats(1, 1e6), loss=st.floats(1e-12, 0.9))
def test_a_larger_buffer_is_never_less_busy(held: float, loss: float) -> None:
    shares = [of_bursts(held * factor, loss) for factor in (1, 1.5, 4)]
    assert shares == sorted(shares)
    assert all(0 <= share <= 1 for share in shares)


def test_flows_in_step_are_the_formula_of_the_source() -> None:
    b = np.linspace(0, 1, 11)
    assert in_step(b) == pytest.approx(0.75 * (1 + b) ** 2 / (1 + b + b**2))
    assert utilisation(b, 1) == pytest.approx(in_step(b))
    with pytest.raises(ModelInputError, match=r"kept: found 1\.0"):
        in_step(0.5, kept=1.0)
