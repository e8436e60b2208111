"""The pictures of the benchmark's page: by class, harm, and distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parshall.analysis.stats.confidence import Interval
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style
from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import RIVALS, CaseResult, Result
from parshall_studies.benchmark.score import BY_KEY, HARMS


def pictures(result: Result, cases: Sequence[CaseResult]) -> Section:
    """All pictures of an application."""
    name = cases[0].case.application.name
    figures = [
        Chart(f"{name}-completion", f"{name}: completion time by class", _by_class(result, cases, "completion_s")),
        Chart(f"{name}-delay", f"{name}: queueing delay by class", _by_class(result, cases, "queueing_delay_s")),
    ]
    harm = _harm(result, cases)
    if harm is not None:
        figures.append(Chart(f"{name}-harm", f"{name}: harm to competing flows", harm))
    figures += [Chart(f"{name}-times", f"{name}: distribution of completion times", _times(result, cases))]
    shares = _shares(result, cases)
    if shares is not None:
        figures.append(Chart(f"{name}-goodput", f"{name}: distribution of goodput", shares))
    return Section(f"{name}, pictures", figures=figures)


def _by_class(result: Result, cases: Sequence[CaseResult], key: str) -> Plot:
    """A measure of every control by class; completion times over those of the average control."""
    measure = BY_KEY[key]
    compared = key == "completion_s"
    known = [score.relative([case], result.controls, key) if compared else {} for case in cases]
    marks = []
    for number, control in enumerate(result.controls):
        intervals = [
            index.get(control) if compared else score.interval(score.values(case, control, key), measure.factor)
            for index, case in zip(known, cases, strict=True)
        ]
        at = [index + _offset(number, len(result.controls)) for index, each in enumerate(intervals) if each]
        if at:
            marks.append(_points(at, [each for each in intervals if each], control, number))
    axis = Axis(f"{measure.label} over the average control's") if compared else Axis(measure.label, measure.unit)
    names = tuple(case.case.itb_class.name for case in cases)
    return Plot([Panel(marks, _places("class", names), axis)], "Means and 95 % intervals.")


def overview(result: Result, controls: Sequence[str], differences: score.Differences) -> Chart | None:
    """A map of controls and the classes of all applications, shaded where a control is slower than the best.

    Only where that is shown; None where it is of no control. Controls stand in the given order.
    """
    cases = list(reversed(result.cases))  # the first one on top
    z = np.full((len(cases), len(controls)), np.nan)
    for row, case in enumerate(cases):
        for each in score.ranking(case, controls, differences):
            if each.as_good is False and each.to_best is not None:
                z[row, controls.index(each.control)] = 100 * (each.to_best.mean - 1)
    if np.isnan(z).all():
        return None
    texts = [["" if np.isnan(value) else f"{value:.0f}" for value in row] for row in z]
    grid = Grid(np.arange(len(controls) + 1) - 0.5, np.arange(len(cases) + 1) - 0.5, z, "longer, %", texts=texts)
    named = tuple(f"{case.case.application.name} {case.case.itb_class.name}" for case in cases)
    caption = (
        "How much longer than the best control's files take on average, in percent; a row is a class of an "
        "application. Empty: the best, or not shown to differ from it."
    )
    panel = Panel(
        [grid], _places("", tuple(controls)), _places("application and class", named), height=_high(len(cases))
    )
    return Chart("slower", "How much slower than the best", Plot([panel], caption))


def _high(rows: int) -> float:
    """The height of a panel of so many rows of text."""
    return max(0.5, _ROW_HEIGHT * rows)


_ROW_HEIGHT = 0.08
"""Of a row of text, where a single panel is 1 high."""


def _harm(result: Result, cases: Sequence[CaseResult]) -> Plot | None:
    panels = []
    for rival in RIVALS:
        marks: list[Points | Guide] = []
        for number, measure in enumerate(HARMS[:3]):
            intervals = [
                (index, score.average(cases, control, measure, rival)) for index, control in enumerate(result.controls)
            ]
            known = [(index, each) for index, each in intervals if each is not None]
            if known:
                at = [index + _offset(number, 3) for index, _ in known]
                label = measure.label if rival == RIVALS[0] else ""
                marks.append(_points(at, [each for _, each in known], label, number))
        if marks:
            panels.append(
                Panel(
                    [*marks, Guide(0.0, "as its own kind")],
                    _places("control", result.controls),
                    Axis(f"harm to {rival}"),
                )
            )
    caption = "Mean over the classes, with 95 % intervals over the repetitions."
    return Plot(panels, caption) if panels else None


def _points(at: Sequence[float], intervals: Sequence[Interval], label: str, number: int) -> Points:
    """Means with their intervals; a mean that has none stands for its own ends."""
    low = [each.mean if each.low is None else each.low for each in intervals]
    high = [each.mean if each.high is None else each.high for each in intervals]
    return Points(at, [each.mean for each in intervals], label, Style(series=number), low, high)


def _times(result: Result, cases: Sequence[CaseResult]) -> Plot:
    """Distribution functions of slowdowns, all classes together."""
    marks = []
    probabilities = np.linspace(0.01, 0.99, 99)
    for number, control in enumerate(result.controls):
        slowdowns = np.concatenate(
            [case.files.filter(case.files["control"] == control)["slowdown"].to_numpy() for case in cases]
        )
        if slowdowns.size:
            marks.append(Line(np.quantile(slowdowns, probabilities), probabilities, control, Style(series=number)))
    x = Axis("completion time over that on an empty path", log=True)
    return Plot([Panel(marks, x, Axis("share of files", minimum=0, maximum=1))], "Timed files of all classes.")


def _shares(result: Result, cases: Sequence[CaseResult]) -> Plot | None:
    marks = []
    for number, control in enumerate(result.controls):
        shares = [case.shares[control] for case in cases if control in case.shares]
        if shares:
            marks.append(
                Line(np.arange(101), np.cumsum(np.mean(shares, axis=0)), control, Style(series=number), steps=True)
            )
    if not marks:
        return None
    y = Axis("share of the time at this or less", minimum=0, maximum=1)
    caption = (
        "Goodput of a flow over time, in percent of C_a: the distribution of §4.2.2 summed up, mean over the classes."
    )
    return Plot([Panel(marks, Axis("goodput", "% of C_a"), y)], caption)


def _places(label: str, names: tuple[str, ...]) -> Axis:
    return Axis(label, minimum=-0.5, maximum=len(names) - 0.5, names=names)


def _offset(number: int, count: int) -> float:
    return 0.6 * ((number + 0.5) / count - 0.5)
