"""Figs 3, 8, 9, 10: files from many hosts at once.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Fig. 3 | starting together: larger spread (83 to 28 s), smaller mean (409 to 425 s) | sd over mean, signs |
| Fig. 8 | the mean completion time is linear in the congestion level | R^2 of a straight line over C_g of 1 and more |
| Fig. 9 | only reverse traffic that congests matters | mean at R = 0.8 and 1.5 over that without |
| Fig. 10 | Scalable's spread is well above CUBIC's, 294 to 114 s at C_g = 2.1 | ratio of both |

At quick scale files are smaller: times are over the file's own time at 1 Gbit/s, and starts are as much closer
together as files are smaller. Slow start is not scaled, so it is a larger part.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.3, §5.5.2, §5.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.stats.confidence import Interval, mean_interval
from parshall.studies.check import Check
from parshall.studies.itb.network import PAYLOAD_SHARE, Size, hosts, simulated
from parshall.studies.itb.published import FIG3, FIG10_SD
from parshall.studies.study import Progress

RTT_MS = 19.8
FIG8 = ("reno", "bic", "cubic_2005", "highspeed", "htcp", "scalable")
REVERSE = (0.0, 0.8, 1.5)
_LEAST = 3
_APART_S = 4.0
"""Between two starts of Fig. 3."""


def found(size: Size, progress: Progress) -> tuple[list[Check], Section]:
    """All four figures."""
    progress("Fig. 3: starts together and apart")
    fig3, figure3 = _fig3(size)
    progress("Figs 8 and 10: congestion level")
    fig8, figure8 = _fig8(size)
    progress("Fig. 9: reverse traffic")
    fig9, table9 = _fig9(size)
    text = (
        f"Files of {size.fig3_gb:g} GB (Fig. 3) and {size.bulk_gb:g} GB, RTT {RTT_MS:g} ms. Times are over what the "
        "file takes at 1 Gbit/s."
    )
    section = Section("Figs 3, 8, 9, 10: bulk transfers", (text,), [table9], [figure3, *figure8])
    return [*fig3, *fig8, *fig9], section


def times(run: Run) -> list[np.ndarray]:
    """Completion times of the files, by repetition, s; those that did not end count to the end."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    end = run.scenario.duration_s
    rows = run.transfers.filter(run.transfers["group"] == "forward")
    taken = rows.with_columns(taken=rows["completion_s"].fill_null(end) - rows["start_s"])
    return [part["taken"].to_numpy() for part in taken.partition_by("repetition", maintain_order=True)]


def alone_s(gigabytes: float) -> float:
    """What a file takes at 1 Gbit/s, headers included."""
    return 8 * gigabytes / PAYLOAD_SHARE


def starts(gigabytes: float) -> dict[str, dict[str, str]]:
    """The two ways of Fig. 3: within a second, and 4 s apart; closer together as files are smaller than 30 GB."""
    apart_s = _APART_S * gigabytes / 30.0
    return {"together": {"uniform": f"{min(1.0, apart_s):g} s"}, "staggered": {"staggered": f"{apart_s:g} s"}}


def _fig3(size: Size) -> tuple[list[Check], Drawn]:
    ideal = alone_s(size.fig3_gb)
    apart_s = _APART_S * size.fig3_gb / 30.0
    begun = starts(size.fig3_gb)
    scenarios = [
        hosts(
            "bic", 17, RTT_MS, duration_s=4 * ideal + 17 * apart_s, file_gb=size.fig3_gb, start=start,
            repetitions=size.repetitions,
        )
        for start in begun.values()
    ]  # fmt: skip
    runs = dict(zip(begun, simulated(scenarios, size), strict=True))
    spreads = {name: _over(run, lambda each: np.std(each) / np.mean(each)) for name, run in runs.items()}
    means = {name: _over(run, lambda each: np.mean(each) / ideal) for name, run in runs.items()}
    longest = {name: _over(run, lambda each: np.max(each) / ideal) for name, run in runs.items()}
    checks = []
    for name, (mean, sd) in FIG3.items():
        published = sd / mean
        checks.append(_check("fig3", f"sd over mean, starts {name}", published, spreads[name], 0.25 * published))
        checks.append(_check("fig3", f"mean over 30 GB at 1 Gbit/s, {name}", mean / alone_s(30), means[name], 0.15))
    checks.append(
        _claim("fig3", "larger spread when starts are together", spreads["together"].mean > spreads["staggered"].mean)
    )
    checks.append(
        _claim("fig3", "smaller mean when starts are together", means["together"].mean < means["staggered"].mean)
    )
    worse = longest["together"].mean > longest["staggered"].mean
    checks.append(_claim("fig3", "worse maximum when starts are together", worse))
    marks = [
        Line(np.sort(times(run)[0]) / ideal, np.arange(1, 18) / 17, name, Style(series=number), steps=True)
        for number, (name, run) in enumerate(runs.items())
    ]
    axes = Axis("completion time over that at 1 Gbit/s"), Axis("share of the files", minimum=0, maximum=1)
    return checks, Drawn("fig3", "Fig. 3: BIC, 17 files", Plot([Panel(marks, *axes)], "One repetition of each."))


def files(size: Size, control: str, level: float, factor: float = 1.0) -> Scenario:
    """Files of `factor` times the study's size, from as many hosts as make the congestion level.

    Repeated where Fig. 10 asks for their spread.
    """
    gigabytes = factor * size.bulk_gb
    ideal = alone_s(gigabytes)
    repeated = factor == 1.0 and level == size.levels[-1] and control in FIG10_SD
    return hosts(
        control, round(10 * level), RTT_MS, duration_s=6 * ideal * max(1.0, level), file_gb=gigabytes,
        start={"uniform": f"{ideal / 240:g} s"}, repetitions=size.repetitions if repeated else 1,
    )  # fmt: skip


def _fig8(size: Size) -> tuple[list[Check], list[Drawn]]:
    ideal = alone_s(size.bulk_gb)
    points = [(name, level) for name in FIG8 for level in size.levels]
    runs = dict(zip(points, simulated([files(size, *point) for point in points], size), strict=True))
    checks, marks = [], []
    for number, name in enumerate(FIG8):
        means = np.array([_over(runs[name, level], np.mean).mean / ideal for level in size.levels])
        levels = np.array(size.levels)
        congested = levels >= 1
        fit = float(np.corrcoef(levels[congested], means[congested])[0, 1] ** 2)
        checks.append(Check("fig8", f"R^2 of a line over C_g, {name}", 1.0, fit, None, None, 0.05))
        marks.append(Points(levels, means, name, Style(series=number)))
    marks_line = Line([1.0, size.levels[-1]], [1.0, size.levels[-1]], "C_g itself")
    axes = Axis("C_g"), Axis("mean completion time over that at 1 Gbit/s")
    figures = [
        Drawn("fig8", "Fig. 8: congestion level", Plot([Panel([marks_line, *marks], *axes)], "Means over the files."))
    ]
    last = size.levels[-1]
    spread = {name: _over(runs[name, last], np.std) for name in FIG10_SD}
    ratio = _paired(runs["scalable", last], runs["cubic_2005", last])
    published = FIG10_SD["scalable"] / FIG10_SD["cubic_2005"]
    checks.append(_check("fig10", "sd of Scalable over that of CUBIC", published, ratio, 0.25 * published))
    larger = spread["scalable"].mean > spread["cubic_2005"].mean
    checks.append(_claim("fig10", "Scalable's completion times spread more than CUBIC's", larger))
    curves = [
        Line(np.sort(every) / ideal, np.arange(1, len(every) + 1) / len(every), name, Style(series=number), steps=True)
        for number, name in enumerate(FIG10_SD)
        for every in [np.concatenate(times(runs[name, last]))]
    ]
    y = Axis("share of the files", minimum=0, maximum=1)
    plot = Plot([Panel(curves, Axis("completion time over that at 1 Gbit/s"), y)], f"All repetitions, C_g = {last:g}.")
    return checks, [*figures, Drawn("fig10", "Fig. 10: spread of completion times", plot)]


def _fig9(size: Size) -> tuple[list[Check], Table]:
    ideal = alone_s(size.bulk_gb)
    levels = (0.8, 1.2)
    points = [(level, reverse) for level in levels for reverse in REVERSE]
    scenarios = [
        hosts(
            "cubic_2005", round(10 * level), RTT_MS, duration_s=1.8 * ideal, file_gb=size.bulk_gb,
            start={"uniform": "200 ms"}, reverse=round(10 * reverse), repetitions=min(2, size.repetitions),
        )
        for level, reverse in points
    ]  # fmt: skip
    runs = dict(zip(points, simulated(scenarios, size), strict=True))
    means = {point: _over(run, np.mean).mean / ideal for point, run in runs.items()}
    checks = []
    for level in levels:
        _, half, full = (means[level, reverse] / means[level, 0.0] for reverse in REVERSE)
        checks.append(
            Check(
                "fig9",
                f"completion time at R = 0.8 over that without, C_g = {level:g}",
                1.0,
                half,
                None,
                None,
                0.05,
            )
        )
        checks.append(_claim("fig9", f"R = 1.5 costs more than R = 0.8, C_g = {level:g}", full > 1.05 * half))
    rows = [(f"{level:g}", *(f"{means[level, reverse]:.3f}" for reverse in REVERSE)) for level in levels]
    header = ("C_g", *(f"R = {reverse:g}" for reverse in REVERSE))
    return checks, Table("Fig. 9: CUBIC, mean completion time over that at 1 Gbit/s", header, rows, numbers=(1, 2, 3))


def _over(run: Run, statistic: object) -> Interval:
    """A statistic of the completion times, over repetitions."""
    return mean_interval([float(statistic(each)) for each in times(run)])  # type: ignore[operator]


def _paired(after: Run, before: Run) -> Interval:
    ratios: Sequence[float] = [float(np.std(a) / np.std(b)) for a, b in zip(times(after), times(before), strict=True)]
    return mean_interval(ratios)


def _check(artefact: str, quantity: str, published: float, ours: Interval, tolerance: float) -> Check:
    """An interval of fewer than three repetitions holds nearly every value: then the mean alone is compared."""
    low, high = (None, None) if ours.n < _LEAST else (ours.low, ours.high)
    return Check(artefact, quantity, published, ours.mean, low, high, tolerance)


def _claim(artefact: str, words: str, holds: bool) -> Check:
    return Check(artefact, words, 1.0, float(holds), None, None, 0.0, "1: it is so")
