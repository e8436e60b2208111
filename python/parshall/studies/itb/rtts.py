"""Figs 5, 6, 7: what the RTT does to throughput and fairness, and flows that join one after the other.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Fig. 5 | up to 20 ms all variants are alike and excellent | lowest over highest, mean over fair share |
| Fig. 5 | above 100 ms goodput falls fast | how many variants lose goodput from 100 to 200 ms |
| Fig. 6 | the same ranges for fairness | Jain's index at short RTTs, and whether it falls |
| Fig. 7 | at 100 ms Reno and CUBIC (of 2005) do not fill the link | use of the link, against the other variants' |

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.runs import Run
from parshall.stats.fairness import jain
from parshall.studies.check import Check
from parshall.studies.itb.network import ACCESS_BPS, CAPACITY_BPS, PAYLOAD_SHARE, VARIANTS, Size, hosts, simulated
from parshall.studies.study import Progress

COUNTS = (5, 12)
STEPS_MS = (11.0, 100.0)
_SHORT_MS, _LONG_MS = 20.0, 100.0


@dataclass(frozen=True)
class Point:
    """Mean goodput over the fair share, and Jain's index."""

    goodput: float
    jain: float


def found(size: Size, progress: Progress) -> tuple[list[Check], Section]:
    """The three figures."""
    progress("Figs 5 and 6: RTT")
    keys = [(name, count, rtt) for name in VARIANTS for count in COUNTS for rtt in size.rtts_ms]
    runs = simulated([hosts(name, count, rtt, duration_s=size.flow_s) for name, count, rtt in keys], size)
    points = {key: _point(run, key[1]) for key, run in zip(keys, runs, strict=True)}
    progress("Fig. 7: flows that join one after the other")
    steps = [(name, rtt) for name in VARIANTS for rtt in STEPS_MS]
    scenarios = [
        hosts(
            name, 12, rtt, duration_s=13 * size.step_s, start={"staggered": f"{size.step_s:g} s"},
            bins_s=size.step_s / 10,
        )
        for name, rtt in steps
    ]  # fmt: skip
    joined = dict(zip(steps, simulated(scenarios, size), strict=True))
    used = {key: utilisation(run, 11 * size.step_s) for key, run in joined.items()}
    rows = [(f"`{name}`", *(f"{used[name, rtt]:.3f}" for rtt in STEPS_MS)) for name in VARIANTS]
    header = ("control", *(f"{rtt:g} ms" for rtt in STEPS_MS))
    table = Table("Fig. 7: use of the link while all 12 flows are there", header, rows, numbers=(1, 2))
    text = f"Flows of {size.flow_s:g} s (Figs 5 and 6); one flow more each {size.step_s:g} s (Fig. 7)."
    figures = [*_figures(points, size), Drawn("fig7", "Fig. 7: flows that join", _joined(joined, size))]
    section = Section("Figs 5, 6, 7: the RTT", (text,), [table], figures)
    return [*_checks(points, size), *_fig7(used)], section


def utilisation(run: Run, since_s: float) -> float:
    """Share of the bottleneck that is used from a time on."""
    assert run.link_samples is not None, "the probe is on"  # noqa: S101
    rows = run.link_samples.filter((run.link_samples["link"] == "bottleneck") & (run.link_samples["time_s"] >= since_s))
    sent_bits, seconds = 8.0 * float(rows["forwarded_bytes"].sum()), float(rows["bin_s"].sum())
    return sent_bits / seconds / CAPACITY_BPS


def _point(run: Run, count: int) -> Point:
    goodput = run.flows["goodput_bps"].to_numpy()
    fair = min(ACCESS_BPS, CAPACITY_BPS / count) * PAYLOAD_SHARE
    return Point(float(goodput.mean() / fair), jain(goodput) or 0.0)


def _checks(points: dict[tuple[str, int, float], Point], size: Size) -> list[Check]:
    checks = []
    longest = size.rtts_ms[-1]
    for count in COUNTS:
        short = [[points[name, count, rtt] for name in VARIANTS] for rtt in size.rtts_ms if rtt <= _SHORT_MS]
        goodputs = np.array([[each.goodput for each in row] for row in short])
        fairness = np.array([[each.jain for each in row] for row in short])
        long = np.array([points[name, count, longest].goodput for name in VARIANTS])
        middle = np.array([points[name, count, _LONG_MS].goodput for name in VARIANTS])
        where = f"{count} flows"
        alike = float((goodputs.min(axis=1) / goodputs.max(axis=1)).min())
        checks += [
            Check("fig5", f"lowest over highest goodput up to 20 ms, {where}", 1.0, alike, None, None, 0.1),
            Check(
                "fig5",
                f"mean goodput over the fair share up to 20 ms, {where}",
                1.0,
                float(goodputs.mean()),
                None,
                None,
                0.1,
            ),
            _claim(
                "fig5", f"variants that lose goodput from 100 to {longest:g} ms, {where}", int((long < middle).sum())
            ),
            Check("fig6", f"mean Jain's index up to 20 ms, {where}", 1.0, float(fairness.mean()), None, None, 0.05),
        ]
        worse = sum(
            points[name, count, longest].jain < min(each.jain for each in (row[index] for row in short)) + 1e-6
            for index, name in enumerate(VARIANTS)
        )
        checks.append(_claim("fig6", f"variants less fair at {longest:g} ms than up to 20 ms, {where}", worse))
    return checks


def _claim(artefact: str, words: str, count: int) -> Check:
    return Check(artefact, words, float(len(VARIANTS)), float(count), None, None, 0.0)


def _fig7(used: dict[tuple[str, float], float]) -> list[Check]:
    others = [name for name in VARIANTS if name not in ("reno", "cubic_2005")]
    checks = []
    for name in ("reno", "cubic_2005"):
        below = sum(used[name, 100.0] < used[other, 100.0] for other in others)
        words = f"variants that use the link better than {name} at 100 ms"
        checks.append(Check("fig7", words, float(len(others)), float(below), None, None, 0.0))
        fell = used[name, 100.0] < used[name, 11.0]
        checks.append(
            Check("fig7", f"{name} uses less at 100 ms than at 11 ms", 1.0, float(fell), None, None, 0.0, "1: it is so")
        )
    return checks


def _figures(points: dict[tuple[str, int, float], Point], size: Size) -> list[Drawn]:
    figures = []
    for count in COUNTS:
        for name, title, axis in (
            ("goodput", f"Fig. 5: goodput, {count} flows", Axis("mean goodput over the fair share", minimum=0)),
            ("jain", f"Fig. 6: fairness, {count} flows", Axis("Jain's index", minimum=0)),
        ):
            marks: list[Line | Guide] = [
                Line(
                    size.rtts_ms,
                    [getattr(points[variant, count, rtt], name) for rtt in size.rtts_ms],
                    variant,
                    Style(series=number),
                )
                for number, variant in enumerate(VARIANTS)
            ]
            marks += [Guide(each, f"{each:g} ms", along="x") for each in (_SHORT_MS, _LONG_MS)]
            figures.append(Drawn(f"{name}-{count}", title, Plot([Panel(marks, Axis("RTT", "ms"), axis)], "")))
    return figures


def _joined(runs: dict[tuple[str, float], Run], size: Size) -> Plot:
    panels = []
    for rtt in STEPS_MS:
        marks = []
        for number, name in enumerate(VARIANTS):
            samples = runs[name, rtt].link_samples
            assert samples is not None, "the probe is on"  # noqa: S101
            rows = samples.filter(samples["link"] == "bottleneck")
            rate = 8 * rows["forwarded_bytes"].to_numpy() / rows["bin_s"].to_numpy() / 1e9
            marks.append(Line(rows["time_s"].to_numpy(), rate, name, Style(series=number)))
        panels.append(Panel(marks, Axis("time", "s"), Axis(f"throughput, {rtt:g} ms", "Gbit/s", minimum=0)))
    return Plot(panels, f"Throughput of the bottleneck; a flow more each {size.step_s:g} s.")
