"""The queue of the scenario `sawtooth` over time: simulated now, and as Linux's own TCP filled it.

``python -m tools.documentation.beside_linux`` draws docs/figures/sawtooth.svg for the README. With the folder of an
emulation (``parshall emulate sawtooth -o FOLDER``) behind it, it stores that first.

What Linux did is stored in docs/figures/sawtooth-linux.json, with the machine and the date, since a site is built where
nothing can be emulated. What is simulated is simulated each time.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from parshall.instruments.simulation import Run, run
from parshall.report.plot import Axis, Line, Panel, Plot, Style
from parshall.report.svg import svg
from parshall.scenario import Scenario
from tools.documentation.tables import ROOT

NAME = "sawtooth"
STORED = ROOT / "docs" / "figures" / f"{NAME}-linux.json"
PICTURE = ROOT / "docs" / "figures" / f"{NAME}.svg"


@dataclass(frozen=True)
class Queue:
    """The queue at the bottleneck over time, and what it did to the flows."""

    system: str
    processor: str
    cores: int
    date: str
    verdict: str
    bin_s: float
    mean_queue_packets: list[float]
    """In each bin, from the start."""
    goodput_bps: float
    loss_rate: float
    """Share of the packets that the queue dropped."""

    @property
    def mean_packets(self) -> float:
        """Mean length of the queue, in packets."""
        return float(np.mean(self.mean_queue_packets))


def simulated() -> Queue:
    """The queue as simulated in this process."""
    return _queue(run(Scenario.load(NAME)))


def on_linux() -> Queue:
    """The queue as Linux filled it, from docs/figures/sawtooth-linux.json."""
    return Queue(**json.loads(STORED.read_text(encoding="utf-8")))


def plot() -> Plot:
    """Both queues over time, in one panel."""
    lines = [
        _line(on_linux(), "Linux", Style(series=1, thin=True)),
        _line(simulated(), "simulated", Style(series=0, thin=True)),
    ]
    caption = "One run each. Nothing was fitted."
    return Plot([Panel(lines, Axis("Time", "s"), Axis("Queue", "packets", minimum=0.0))], caption)


def description() -> str:
    """Two sentences: what was emulated where and when, and how near the simulated values are."""
    ours, kernels = simulated(), on_linux()
    return (
        f"{kernels.system} on {kernels.processor}, {kernels.cores} cores, {kernels.date}: goodput "
        f"{kernels.goodput_bps / 1e6:.2f} Mbit/s ({ours.goodput_bps / 1e6:.2f} simulated), mean queue "
        f"{kernels.mean_packets:.1f} packets ({ours.mean_packets:.1f}), loss {kernels.loss_rate:.2%} "
        f"({ours.loss_rate:.2%}). The emulation is {kernels.verdict}; each side is a single run."
    )


def store(folder: str | Path) -> None:
    """Store the queue of an emulation.

    Raises
    ------
    ValueError
        The folder has no emulation of the scenario that can be believed.
    """
    made = Run.load(folder)
    if made.instrument != "emulate" or made.name != NAME or made.metadata["emulation"]["level"] != "valid":
        raise ValueError(f"{folder}: found {made!r}; accepted: a valid emulation of {NAME}")
    STORED.write_text(json.dumps(asdict(_queue(made))) + "\n", encoding="utf-8")


def _queue(made: Run) -> Queue:
    """The queue of a run's first repetition."""
    samples = made.link_samples
    if samples is None:
        raise ValueError(f"{made!r} has no samples of its links")
    host = made.metadata["host"]
    return Queue(
        system=host["system"].partition("-")[0],
        processor=host["processor"],
        cores=host["cores"],
        date=made.metadata["started"][:10],
        verdict=made.metadata["emulation"]["level"] if made.instrument == "emulate" else "",
        bin_s=float(samples["bin_s"][0]),
        mean_queue_packets=[round(each, 1) for each in samples["mean_queue_packets"]],
        goodput_bps=float(made.summary["goodput_bps"]),
        loss_rate=float(made.summary["loss_rate"]),
    )


def _line(queue: Queue, name: str, style: Style) -> Line:
    middles_s = (np.arange(len(queue.mean_queue_packets)) + 0.5) * queue.bin_s
    return Line(middles_s, queue.mean_queue_packets, name, style)


if __name__ == "__main__":
    for each in sys.argv[1:]:
        store(each)
    PICTURE.write_text(svg(plot())[0], encoding="utf-8")
