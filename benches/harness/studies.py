"""Bars of the studies: a run of multiple time scale TCP and what steering costs; bulk transfers at 10 Gbit/s."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from harness import ours
from harness.ours import OwnMeasurement
from harness.record import Bar, Record, Row
from parshall.scenario.schema.writing import toml
from parshall_studies.benchmark import applications, building
from parshall_studies.benchmark.classes import classes
from parshall_studies.benchmark.scale import SCALES
from parshall_studies.multiple_time_scale import network

RUN_BAR_S = 3.0
"""CPU seconds for 10,000 s of the source's bottleneck of 10 Mbit/s."""
STEERING_BAR = 1.03
"""A steered run over a plain one, CPU time, where both send the same packets."""
STEERING_TURNS = 15
BULK_BAR_S, BULK_BAR_BYTES = 180.0, 300e6
"""CPU seconds and memory of 20 files of 30 GB at 200 ms, with or without 8 endless flows the other way."""


def measure(record: Record, fewest: Path) -> None:
    """What takes seconds; `fewest`: the scenario whose flows are steered."""
    background = network.Background(tail_index=1.05, mean_packets=45.0, seed=1)
    connection = network.Connections(network.steered("reno", aggressiveness=3.0), rtt_ms=90)
    run = _run(network.scenario(background, connection, 10_000.0).document())
    record.add(Row("multiple-time-scale", "Parshall", [run]))
    record.judge(Bar("10,000 s of multiple time scale TCP: CPU s", run.cpu_s, RUN_BAR_S, at_least=False))
    ratio = steering(fewest)
    record.judge(Bar("a packet of a steered flow costs times a plain one", ratio, STEERING_BAR, at_least=False))


def steering(path: Path) -> float:
    """Steered with A = a, which changes no packet, over plain: best of several turns each, as other work only adds."""
    controls = ('"reno"', '{ name = "multiple_time_scale", control = "reno", aggressiveness = 1.0 }')
    turns = [
        [ours.run(path, "duration=1500 s", f"flows.0.congestion_control={control}") for control in controls]
        for _ in range(STEERING_TURNS)
    ]
    assert len({run.packets for turn in turns for run in turn}) == 1, "steering changed what is sent"
    before, after = (min(turn[which].cpu_s for turn in turns) for which in (0, 1))
    return after / before


def measure_bulk(record: Record) -> None:
    """BU in class H of the benchmark, CUBIC: its 400 million packets alone, and with the class's reverse flows."""
    (application,), (itb_class,) = applications.find("BU"), classes("H")
    for name, changes in (("itb-bu-h-forward", ["R=0"]), ("itb-bu-h", [])):
        run = _run(building.case(application, itb_class, SCALES["paper"], changes).document("cubic"))
        record.add(Row(name, "Parshall", [run]))
        record.judge(Bar(f"{name}: CPU s", run.cpu_s, BULK_BAR_S, at_least=False))
        record.judge(Bar(f"{name}: memory, bytes", run.high_water_bytes, BULK_BAR_BYTES, at_least=False))


def _run(document: dict[str, Any]) -> OwnMeasurement:
    with tempfile.TemporaryDirectory(prefix="parshall-bench-") as folder:
        path = Path(folder) / "scenario.toml"
        path.write_text(toml(document), encoding="utf-8")
        return ours.run(path)
