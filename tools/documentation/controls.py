"""Figures of docs/controls.md: ``python -m tools.documentation.controls [FOLDER]``.

| figure | what |
| --- | --- |
| `response-FAMILY.svg` | mean goodput of one flow against independent losses, every control of a family |
| `trajectory-FAMILY.svg` | the window of one flow alone on a link, every control of a family |

Controls that are not in `FAMILIES` are drawn with "others", so a new one shows without a change here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from parshall.analysis.models.response import RENO
from parshall.instruments.simulation import Run, run
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Points, Style
from parshall.report.writing import write_plots
from parshall.scenario import Scenario
from parshall.scenario.schema.catalog import family

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "usual": ("reno", "reno_linux", "cubic", "cubic_linux", "cubic_2005", "bic"),
    "fast": ("highspeed", "scalable", "htcp"),
    "delay": ("vegas", "fast", "dctcp"),
    "delay_and_loss": ("illinois", "yeah", "compound"),
    "radio": ("westwood", "veno", "hybla"),
    "low_latency": ("prague", "nv"),
    "rate": ("tfrc", "gcc", "scream"),
    "background": ("lp", "ledbat++", "copa"),
    "model": ("bbr", "bbr_linux", "bbr2", "bbr3"),
    "time_scale": ("tcp_rate", "rate_based", "multiple_time_scale"),
}
LOSSES = (1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
RTT_S = 0.1
RESPONSE_BPS, TRAJECTORY_BPS = 1e9, 1e8
PACKET_BITS = 12_000.0
RESPONSE_S, TRAJECTORY_S = 60.0, 60.0
_MARKED: Mapping[str, Mapping[str, Any]] = {"dctcp": {"ecn": True, "accurate_ecn": True}, "prague": {}}
"""What a control needs of TCP, and of the queue, to be itself."""


def controls() -> list[str]:
    """Every control of the catalog."""
    return [entry.name for entry in family("congestion_controls")]


def families() -> dict[str, list[str]]:
    """Every control by family; what no family has is with "others"."""
    known = {name for names in FAMILIES.values() for name in names}
    others = [name for name in controls() if name not in known]
    found = {title: [name for name in names if name in controls()] for title, names in FAMILIES.items()}
    return {**found, **({"others": others} if others else {})}


def response_plot(names: Sequence[str], losses: Sequence[float] = LOSSES, seconds: float = RESPONSE_S) -> Plot:
    """Mean goodput in packets a round trip against the loss rate."""
    bdp = RESPONSE_BPS * RTT_S / PACKET_BITS
    points = [(name, p) for name in names for p in losses]
    runs = _runs([_lossy(name, p, seconds) for name, p in points])
    per_rtt = {
        point: float(done.flows["goodput_bps"][0]) * 1500 / 1460 * RTT_S / PACKET_BITS
        for point, done in zip(points, runs, strict=True)
    }
    p = np.geomspace(min(losses), max(losses), 40)
    marks: list[Line | Points | Guide] = [Line(p, np.minimum(RENO.window(p), bdp), "1.22/sqrt(p)", Style(muted=True))]
    for number, name in enumerate(names):
        marks.append(Line(losses, [per_rtt[name, each] for each in losses], name, Style(series=number)))
    marks.append(Guide(bdp, "the link"))
    x, y = Axis("loss rate", log=True), Axis("packets a round trip", log=True)
    return Plot([Panel(marks, x, y)], "One flow, RTT 100 ms, 1 Gbit/s, independent losses, a minute from the start.")


def trajectory_plot(names: Sequence[str], seconds: float = TRAJECTORY_S) -> Plot:
    """Windows over time, a panel a control."""
    panels = []
    for number, (name, done) in enumerate(zip(names, _runs([_alone(name, seconds) for name in names]), strict=True)):
        samples = done.flow_samples
        assert samples is not None, "the probe is on"  # noqa: S101
        known = samples.drop_nulls("cwnd_packets")
        line = Line(known["time_s"].to_numpy(), known["cwnd_packets"].to_numpy(), "", Style(series=number))
        marks: list[Line | Guide] = [line, Guide(TRAJECTORY_BPS * RTT_S / PACKET_BITS, "1 BDP")]
        panels.append(Panel(marks, Axis("time", "s"), Axis(name, "packets", minimum=0)))
    return Plot(panels, "Congestion windows of one flow each, alone on 100 Mbit/s, RTT 100 ms, buffer half a BDP.")


def plots() -> dict[str, Plot]:
    """All figures, by their names."""
    drawn = {f"response-{title}": response_plot(names) for title, names in families().items()}
    return {**drawn, **{f"trajectory-{title}": trajectory_plot(names) for title, names in families().items()}}


def _lossy(name: str, p: float, seconds: float) -> Scenario:
    return _scenario(name, RESPONSE_BPS, "1 BDP", seconds, loss={"name": "bernoulli", "probability": p}, samples=False)


def _alone(name: str, seconds: float) -> Scenario:
    return _scenario(name, TRAJECTORY_BPS, "0.5 BDP", seconds, loss="none", samples=f"{seconds / 400:g} s")


def _scenario(name: str, rate: float, limit: str, seconds: float, *, loss: Any, samples: Any) -> Scenario:
    queue: dict[str, Any] = {"name": "drop_tail", "limit": limit}
    if name in _MARKED:
        queue = {"name": "step", "limit": limit, "threshold": "140 packets"}
    return Scenario.from_document(
        {
            "duration": f"{seconds:g} s",
            "processing_time": "0 s",  # curves are compared with closed forms
            "bottleneck": {"rate": f"{rate:.0f} bit/s", "queue": queue, "loss": loss},
            "flows": [{"rtt": f"{RTT_S:g} s", "congestion_control": name, **_MARKED.get(name, {})}],
            "probes": {"flow_samples": samples, "link_samples": False},
        }
    )


def _runs(scenarios: Sequence[Scenario]) -> list[Run]:
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(pool.map(lambda scenario: run(scenario, workers=1), scenarios))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("docs") / "figures"
    for written in write_plots(plots(), folder, ("svg",)):
        sys.stderr.write(f"{written}\n")
