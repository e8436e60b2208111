"""What the RIO model says of a scenario: beside the simulator, and where it says nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.instruments.prediction.predict import Predicted, Reading, predict
from parshall.report import page_html

SCENARIOS = Path(__file__).parents[2] / "scenarios"
RIO = {
    "name": "rio",
    "in_min": "20 packets",
    "in_probability": 0.01,
    "out_probability": 0.06,
    "in_length": "total",
}
SESSIONS = {
    "name": "sessions",
    "count": 20,
    "rtt": {"first": "100 ms", "step": "10 ms"},
    "access_rate": "2 Mbit/s",
    "congestion_control": "reno",
    "packet_size": "1000 B",
    "marker": {"name": "token_bucket", "rate": "320 kbit/s", "burst": "20 packets"},
}


ON_OFF = {
    "name": "on_off",
    "size": {"name": "constant", "value": "100 kB"},
    "off": {"name": "exponential", "mean": "1 s"},
}


def asked(queue: dict[str, Any] | None = None, *groups: dict[str, Any], **bottleneck: Any) -> Predicted:
    link = {"rate": "10 Mbit/s", "queue": {**RIO, **(queue or {})}, **bottleneck}
    flows = list(groups) or [SESSIONS]
    return predict(ps.Scenario(duration="60 s", bottleneck=link, flows=flows))


def test_beside_the_simulator() -> None:
    """Two groups of round-trip times and a marked datagram flow share the queue of the shipped scenario."""
    run = ps.run(ps.Scenario.load(SCENARIOS / "rio.toml"))
    predicted = predict(run.scenario, run)
    rates = {row.group: row.ratio for row in predicted.throughput if row.model == "diffserv"}
    # The model's accuracy on random networks: a session's rate within 6 % in the median, 10 % at the 90th percentile.
    assert rates == {"near": pytest.approx(1, abs=0.06), "far": pytest.approx(1, abs=0.06)}
    assert predicted.datagrams[0].ratio == pytest.approx(1, abs=0.04)
    (queue,) = predicted.queues
    assert queue.loss_in is not None
    assert queue.loss_out is not None
    assert queue.loss_in < 0.001
    assert queue.loss_out > 0.05
    page = page_html(run)
    assert "diffserv" in page
    assert "Loss out of profile" in page


def test_half_the_capacity_reserved_is_kept() -> None:
    """Every session gets what it reserved, the near ones more; the bottleneck is full."""
    predicted = asked()
    (row,) = [row for row in predicted.throughput if row.model == "diffserv"]
    assert row.reading == Reading.STEADY_STATE
    assert row.flow_goodput_bps is not None
    assert row.flow_goodput_bps > 320e3 * 960 / 1000
    assert predicted.queues[0].utilisation == pytest.approx(1, abs=0.03)


def test_sessions_without_a_bucket_get_what_is_left() -> None:
    plain = {key: value for key, value in SESSIONS.items() if key != "marker"} | {"name": "plain"}
    predicted = asked(None, SESSIONS, plain)
    rate = {row.group: row.goodput_bps for row in predicted.throughput if row.model == "diffserv"}
    assert rate["sessions"] is not None
    assert rate["plain"] is not None
    assert 0.05 * rate["sessions"] < rate["plain"] < 0.7 * rate["sessions"]


def test_routers_in_series() -> None:
    """A second router that is wider than the first changes next to nothing; a narrower one is the bottleneck."""

    def rates(second: str) -> tuple[float, float]:
        links = [
            {"name": "first", "rate": "10 Mbit/s", "delay": "1 ms", "queue": RIO},
            {"name": "second", "rate": second, "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "100 packets"}},
        ]
        flows = [{**SESSIONS, "path": ["first", "second"]}]
        predicted = predict(ps.Scenario(duration="60 s", links=links, flows=flows))
        (row,) = [row for row in predicted.throughput if row.model == "diffserv"]
        assert row.goodput_bps is not None, row.reason
        assert predicted.queues[1].utilisation is not None
        return row.goodput_bps, predicted.queues[1].utilisation

    wide, narrow = rates("100 Mbit/s"), rates("5 Mbit/s")
    assert wide[0] == pytest.approx(10e6 * 0.96, rel=0.04)
    assert wide[1] < 0.11
    assert narrow[0] == pytest.approx(5e6 * 0.96, rel=0.06)
    assert narrow[1] > 0.9


@pytest.mark.parametrize(
    ("queue", "flows", "bottleneck", "reason"),
    [
        ({"averaging": 0.01}, {}, {}, "is averaged"),
        ({"in_length": "in"}, {}, {}, "counts in-packets alone"),
        ({"coin": "spaced"}, {}, {}, "spaces its drops"),
        ({}, {"congestion_control": "cubic"}, {}, "runs cubic"),
        ({}, {"delayed_ack": "40 ms", "byte_counting": False}, {}, "delays its ACKs"),
        ({}, {"workload": ON_OFF}, {}, "no long transfer"),
        ({}, {}, {"loss": {"name": "bernoulli", "probability": 0.01}}, "loses packets by itself"),
    ],
)
def test_out_of_its_range(queue: Any, flows: Any, bottleneck: Any, reason: str) -> None:
    predicted = asked(queue, {**SESSIONS, **flows}, **bottleneck)
    found = [row for row in (*predicted.throughput, *predicted.queues) if row.model == "diffserv"]
    assert len(found) == 2
    assert all(not row.in_range and reason in str(row.reason) for row in found)


def test_several_sizes() -> None:
    predicted = asked(None, SESSIONS, {**SESSIONS, "name": "small", "packet_size": "500 B"})
    assert {row.reason for row in predicted.throughput if row.model == "diffserv"} == {
        "packets have several sizes; the model counts packets of one"
    }


def test_networks_without_rio_are_not_asked() -> None:
    predicted = predict(ps.Scenario.load(SCENARIOS / "quickstart.toml"))
    assert not any(row.model == "diffserv" for row in (*predicted.throughput, *predicted.queues))
