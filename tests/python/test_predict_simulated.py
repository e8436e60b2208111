"""Predictions beside the simulator: where a model says that it holds, it does."""

from __future__ import annotations

from typing import Any

import pytest

from parshall.instruments.prediction.predict import Predicted, Reading, predict

pytest.importorskip("parshall._core")

QUIET = {"flow_samples": False, "link_samples": False}


def beside_a_run(**scenario: Any) -> Predicted:
    import parshall as ps

    run = ps.run(ps.Scenario(**{"probes": QUIET, **scenario}))
    return predict(run.scenario, run)


def ratio(predicted: Predicted, model: str, reading: Reading) -> float:
    row = next(row for row in predicted.throughput if (row.model, row.reading) == (model, reading))
    assert row.in_range, row.reason
    assert row.ratio is not None
    return row.ratio


def lossy(control: str, probability: float) -> Predicted:
    return beside_a_run(
        duration="600 s",
        warm_up="100 s",
        bottleneck={"rate": "10 Gbit/s", "loss": {"name": "bernoulli", "probability": probability}},
        flows=[{"count": 10, "rtt": "100 ms", "congestion_control": control}],
    )


@pytest.mark.parametrize("probability", [1e-4, 1e-3])
def test_reno_under_independent_losses(probability: float) -> None:
    predicted = lossy("reno", probability)
    assert ratio(predicted, "independent_losses", Reading.UNCONGESTED) == pytest.approx(1, abs=0.07)
    # Losses are not evenly spaced: the square-root law has 1.22/1.31 = 0.93 of that.
    assert ratio(predicted, "square_root", Reading.UNCONGESTED) == pytest.approx(0.93, abs=0.07)


@pytest.mark.parametrize("probability", [1e-4, 1e-3])
def test_cubic_under_independent_losses(probability: float) -> None:
    predicted = lossy("cubic", probability)
    assert ratio(predicted, "cubic_independent", Reading.UNCONGESTED) == pytest.approx(1, abs=0.07)
    assert ratio(predicted, "cubic", Reading.UNCONGESTED) < 0.92


def test_pftk_at_the_loss_events_of_a_full_link() -> None:
    predicted = beside_a_run(
        duration="120 s",
        warm_up="30 s",
        bottleneck={"rate": "48 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}},
        flows=[
            {
                "count": 100,
                "rtt": {"first": "100 ms", "step": "2 ms"},
                "start": {"uniform": "5 s"},
                "congestion_control": "reno",
                "recovery": "newreno",
                "packet_size": "1000 B",
            }
        ],
    )
    assert ratio(predicted, "pftk", Reading.MEASURED_EVENTS) == pytest.approx(1, abs=0.12)
    events = {row.reading: row.loss for row in predicted.throughput if row.model == "pftk"}
    assert events[Reading.MIDDLE_QUEUE] == pytest.approx(events[Reading.MEASURED_EVENTS], rel=0.25)


@pytest.mark.parametrize(("processing_time", "off"), [("0 s", 0.1), ("1 packet", 1 / 3)])
def test_vegas_shares_equally(processing_time: str, off: float) -> None:
    """Five times the RTT, and no fifth of the rate, as Reno's would be.

    A flow rests wherever in alpha .. beta its packets in the queue come to be, so the model has shares of
    2 alpha/(alpha + beta) to 2 beta/(alpha + beta) = 1 -+ 1/3 of the mean. In a strictly periodic network all come
    near its middle.
    """
    groups = [
        {"name": name, "count": 5, "rtt": rtt, "congestion_control": "vegas"}
        for name, rtt in (("near", "20 ms"), ("far", "100 ms"))
    ]
    predicted = beside_a_run(
        duration="200 s",
        warm_up="100 s",
        processing_time=processing_time,
        bottleneck={"rate": "48 Mbit/s", "queue": {"name": "drop_tail", "limit": "200 packets"}},
        flows=groups,
    )
    for row in predicted.throughput:
        if row.reading == Reading.MIDDLE_QUEUE:
            assert row.ratio == pytest.approx(1, abs=off)


def test_lossless_transfers_take_their_rounds() -> None:
    predicted = beside_a_run(
        duration="30 s",
        bottleneck={"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "10000 packets"}},
        flows=[{"rtt": "100 ms", "workload": {"name": "transfer", "sizes": ["10 kB", "100 kB", "1 MB", "10 MB"]}}],
    )
    answers = [row for row in predicted.completion if row.reading == Reading.UNCONGESTED]
    assert [row.ratio for row in answers] == pytest.approx([1, 1, 1, 1], abs=0.15)


@pytest.mark.parametrize(("buffer", "model"), [(1000, "md1"), (4, "md1k")])
def test_poisson_queues(buffer: int, model: str) -> None:
    workload = {"name": "poisson", "rate": "8 Mbit/s", "size": {"name": "constant", "value": "1000 B"}}
    predicted = beside_a_run(
        duration="1000 s",
        warm_up="10 s",
        bottleneck={"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{buffer} packets"}},
        flows=[{"rtt": "10 ms", "packet_size": "1000 B", "workload": workload}],
    )
    row = next(row for row in predicted.queues if row.model == model)
    assert row.ratio == pytest.approx(1, abs=0.03)
    assert predicted.datagrams[0].ratio == pytest.approx(1, abs=0.01)
