"""Code as users write it: `make types` checks it by plain mypy and pyright, and tests/python/test_typing.py runs it.

A line that must be refused says so (`type: ignore[...]`); where the type checker accepts it, the comment is an error.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import polars as pl

import parshall as ps


def scenario() -> ps.Scenario:
    """Return a scenario of typed parts."""
    return ps.Scenario(
        name="mine",
        duration="2 s",
        warm_up=timedelta(seconds=0.5),
        bottleneck=ps.Bottleneck(rate="5 Mbit/s", queue={"name": "drop_tail", "limit": "1 BDP"}),
        flows=[
            ps.FlowGroup(rtt="50 ms", count=3),
            ps.FlowGroup(
                name="web",
                rtt={"uniform": ["20 ms", "80 ms"]},
                congestion_control={"name": "cubic", "c": 0.5},
                delayed_ack=True,
                min_rto="1 s",
            ),
        ],
        probes=ps.Probes(flow_samples=False),
    )


def of_tables() -> ps.Scenario:
    """Return a scenario of plain tables."""
    return ps.Scenario(duration="2 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"rtt": "50 ms", "count": 2}])


def refused() -> None:
    """Call what a type checker refuses."""
    ps.FlowGroup(rtt=50)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    ps.FlowGroup(count=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    ps.FlowGroup(rtt="50 ms", cuont=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def quantities_of_fields(made: ps.Scenario) -> tuple[float, float]:
    """Return the duration in s and the smallest timeout of the first group in s."""
    return made.duration.seconds, made.flows[0].min_rto.seconds


def results(made: ps.Scenario, folder: Path) -> pl.DataFrame:
    """Return the goodput of each flow of a run, in bit/s."""
    run = ps.run(made, folder / "run", overwrite=True, workers=1)
    again: ps.Run = ps.Run.load(folder / "run")
    predicted: ps.Predicted = ps.predict(made)
    comparison = ps.compare(run, again, names=["first", "second"])
    goodput = run.quantity("goodput_bps").interval
    assert goodput is None or goodput.mean > 0
    assert comparison.of("goodput_bps").label
    assert predicted.throughput
    return run.flows.select("group", "goodput_bps")


def sweep(made: ps.Scenario, folder: Path) -> list[float | None]:
    """Return the mean goodput of each point of a sweep, in bit/s."""
    plan = ps.Plan(
        scenario=made,
        parameters={"bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"]},
        repetitions=2,
        budget={"time": "10 min"},
    )
    swept: ps.Sweep = ps.sweep(plan, folder / "store", workers=1)
    intervals = [swept.interval("goodput_bps", number) for number in range(len(swept.points))]
    return [None if each is None else each.mean for each in intervals]
