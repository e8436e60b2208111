"""The page of the benchmark: the scoreboard of each application, the ranking of each class, then the pictures."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import metadata

import numpy as np

from parshall.itb import score
from parshall.itb.benchmark import RIVALS, CaseResult, Result
from parshall.itb.estimate import duration
from parshall.itb.score import HARMS, MEASURES, Measure
from parshall.report.document import Document, Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Points, Style
from parshall.stats.confidence import Interval

_REFERENCE = "Guillier, Hablot & Vicat-Blanc Primet, INRIA RR-6244, 2007"
_OVERALL = ("unpredictability", "jain", "start_up_s", "convergence_s", "queueing_delay_s", "loss_rate")
_BY_CLASS = (
    "completion_sd_s",
    "completion_max_s",
    "unpredictability",
    "jain",
    "goodput_bps",
    "efficiency",
    "queueing_delay_s",
    "loss_rate",
    "start_up_s",
    "convergence_s",
)
_BY_KEY: dict[str, Measure] = {measure.key: measure for measure in (*MEASURES, *HARMS)}


def page(result: Result) -> Document:
    """The page of a result."""
    sections = [_about(result)]
    for name in dict.fromkeys(each.case.application.name for each in result.cases):
        cases = [each for each in result.cases if each.case.application.name == name]
        sections += [_application(result, cases), _classes(result, cases), _pictures(result, cases)]
    byline = (
        f"scale {result.scale}",
        f"{result.repetitions} repetitions",
        duration(result.wall_s),
        f"Parshall {metadata.version('parshall')}",
        _REFERENCE,
    )
    controls = ", ".join(result.controls)
    return Document("itb", "ITB: transport benchmark", f"Congestion controls compared: {controls}.", byline, sections)


def _about(result: Result) -> Section:
    scale = result.cases[0].case.scale
    k, access = scale.aggregation, scale.access_bps
    size = (
        f"Scale {scale.name}: K = 10 with C_a = {access[10.0] / 1e6:g} Mbit/s; for the source's K = 1000, "
        f"K = {k[1000.0]:g} with C_a = {access[1000.0] / 1e6:g} Mbit/s. A bulk file takes {scale.bulk_s:g} s at C_a, "
        f"PA sends {scale.messages} messages, of WM and PP the first {scale.rounds} files of each source are timed."
    )
    small = (
        "Quick sizes are scaled down: windows are a hundredth of those at 10 Gbit/s, so what only shows at high "
        "bandwidth-delay products (Reno's slow growth) is weaker here than at paper scale. C_g, R and the RTTs are "
        "those of the source."
    )
    pairs = len(result.cases) * len(result.controls) * (len(result.controls) - 1) // 2
    paired = (
        "Every comparison is paired: all controls had the same random numbers in each repetition. A control is as good "
        "as the best (=) where the 95 % interval of the difference holds zero. Of the "
        f"{pairs} comparisons of completion times below, about {pairs // 20} would be called different by chance if "
        "all controls were equal."
    )
    paragraphs = [size, *([small] if scale.name == "quick" else []), paired]
    odd = {each.case.name: each.case.odd for each in result.cases if each.case.odd}
    tables = []
    if odd:
        paragraphs.append(
            "Not standard: these factors are outside Table 5 of the source, and results with them cannot be held "
            "against those of others."
        )
        listed: dict[str, list[str]] = {}
        for name, factors in odd.items():
            listed.setdefault(", ".join(factors), []).append(name)
        tables.append(
            Table("Factors that are not standard", ("factors", "cases"), [(f, ", ".join(n)) for f, n in listed.items()])
        )
    return Section("What was run", paragraphs, tables)


def _application(result: Result, cases: Sequence[CaseResult]) -> Section:
    application = cases[0].case.application
    index = score.relative(cases, result.controls)
    order = sorted(index, key=lambda control: index[control].mean)
    measures = [_BY_KEY[key] for key in _OVERALL]
    header = [
        "control",
        "completion time",
        *(_title(measure) for measure in measures),
        *(
            f"{_BY_KEY[key].label}, {rival}"
            for rival in RIVALS
            for key in ("throughput_harm", "delay_harm", "loss_harm")
        ),
        "finished",
    ]
    rows = [
        [
            f"`{control}`",
            _cell(index[control]),
            *(_cell(score.average(cases, control, measure)) for measure in measures),
            *(
                _cell(score.average(cases, control, _BY_KEY[key], rival))
                for rival in RIVALS
                for key in ("throughput_harm", "delay_harm", "loss_harm")
            ),
            f"{100 * _finished(cases, control):.1f} %",
        ]
        for control in order
    ]
    won = score.wins(cases, result.controls)
    faster = Table(
        "In how many classes the control of the row is faster than that of the column",
        ("", *result.controls),
        [[f"`{a}`", *("" if a == b else str(won[a, b]) for b in result.controls)] for a in result.controls],
        numbers=range(1, len(result.controls) + 1),
    )
    text = (
        f"{len(cases)} classes together. Completion time is relative to the mean of all controls: 1 is average. Harm "
        "is the share of its throughput that a competing flow loses beside this control, compared with its own kind; "
        "for delay and loss, the share that the neighbour causes. Files that were not complete at the end count with "
        "the time they had: where less than 100 % finished, completion times are lower bounds.",
    )
    overall = Table("Score", header, rows, numbers=range(1, len(header)))
    return Section(f"{application.name}: {application.title}", text, [overall, faster])


def _classes(result: Result, cases: Sequence[CaseResult]) -> Section:
    measures = [_BY_KEY[key] for key in _BY_CLASS]
    tables = []
    for case in cases:
        header = [
            "rank",
            "control",
            "completion time (s)",
            "to the best",
            *(_title(each) for each in measures),
            "finished",
        ]
        rows = [
            [
                f"{each.rank}{'=' if each.rank > 1 and each.as_good else ''}",
                f"`{each.control}`",
                _cell(each.value),
                "" if each.to_best is None else _cell(each.to_best),
                *(
                    _cell(score.interval(score.values(case, each.control, measure.key), measure.factor))
                    for measure in measures
                ),
                f"{100 * _finished([case], each.control):.1f} %",
            ]
            for each in score.ranking(case, result.controls)
        ]
        odd = f" Not standard: {', '.join(case.case.odd)}." if case.case.odd else ""
        caption = f"Class {case.case.itb_class.name}: {case.case.itb_class.meaning}.{odd}"
        tables.append(Table(caption, header, rows, numbers=(0, *range(2, len(header)))))
    name = cases[0].case.application.name
    return Section(f"{name}, class by class", ["Means with half the width of their 95 % intervals."], tables)


def _pictures(result: Result, cases: Sequence[CaseResult]) -> Section:
    name = cases[0].case.application.name
    figures = [
        Drawn(f"{name}-completion", f"{name}: completion time by class", _by_class(result, cases, "completion_s")),
        Drawn(f"{name}-delay", f"{name}: queueing delay by class", _by_class(result, cases, "queueing_delay_s")),
    ]
    harm = _harm(result, cases)
    if harm is not None:
        figures.append(Drawn(f"{name}-harm", f"{name}: harm to competing flows", harm))
    figures += [Drawn(f"{name}-times", f"{name}: distribution of completion times", _times(result, cases))]
    shares = _shares(result, cases)
    if shares is not None:
        figures.append(Drawn(f"{name}-goodput", f"{name}: distribution of goodput", shares))
    return Section(f"{name}, pictures", figures=figures)


def _by_class(result: Result, cases: Sequence[CaseResult], key: str) -> Plot:
    """A measure of every control by class; completion times over those of the average control."""
    measure = _BY_KEY[key]
    compared = key == "completion_s"
    known = [score.relative([case], result.controls, key) if compared else {} for case in cases]
    marks = []
    for number, control in enumerate(result.controls):
        found = [
            index.get(control) if compared else score.interval(score.values(case, control, key), measure.factor)
            for index, case in zip(known, cases, strict=True)
        ]
        at = [index + _offset(number, len(result.controls)) for index, each in enumerate(found) if each]
        means = [each.mean for each in found if each]
        if means:
            low = [each.mean if each.low is None else each.low for each in found if each]
            high = [each.mean if each.high is None else each.high for each in found if each]
            marks.append(Points(at, means, control, Style(series=number), low, high))
    letters = ", ".join(f"{index}: {case.case.itb_class.name}" for index, case in enumerate(cases))
    axis = Axis(f"{measure.label} over the average control's") if compared else Axis(measure.label, measure.unit)
    caption = f"Means and 95 % intervals. Classes along the abscissa: {letters}."
    return Plot([Panel(marks, _places("class", len(cases)), axis)], caption)


def _harm(result: Result, cases: Sequence[CaseResult]) -> Plot | None:
    panels = []
    for rival in RIVALS:
        marks: list[Points | Guide] = []
        for number, measure in enumerate(HARMS[:3]):
            found = [
                (index, score.average(cases, control, measure, rival)) for index, control in enumerate(result.controls)
            ]
            known = [(index, each) for index, each in found if each is not None]
            if known:
                at = [index + _offset(number, 3) for index, _ in known]
                low = [each.mean if each.low is None else each.low for _, each in known]
                high = [each.mean if each.high is None else each.high for _, each in known]
                means = [each.mean for _, each in known]
                marks.append(
                    Points(at, means, measure.label if rival == RIVALS[0] else "", Style(series=number), low, high)
                )
        if marks:
            panels.append(
                Panel(
                    [*marks, Guide(0.0, "as its own kind")],
                    _places("control", len(result.controls)),
                    Axis(f"harm to {rival}"),
                )
            )
    names = ", ".join(f"{index}: {control}" for index, control in enumerate(result.controls))
    caption = f"Mean over the classes, with 95 % intervals over the repetitions. Controls along the abscissa: {names}."
    return Plot(panels, caption) if panels else None


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
        found = [case.shares[control] for case in cases if control in case.shares]
        if found:
            marks.append(
                Line(np.arange(101), np.cumsum(np.mean(found, axis=0)), control, Style(series=number), steps=True)
            )
    if not marks:
        return None
    y = Axis("share of the time at this or less", minimum=0, maximum=1)
    caption = (
        "Goodput of a flow over time, in percent of C_a: the distribution of §4.2.2 summed up, mean over the classes."
    )
    return Plot([Panel(marks, Axis("goodput", "% of C_a"), y)], caption)


def _places(label: str, count: int) -> Axis:
    return Axis(label, minimum=-0.5, maximum=count - 0.5)


def _offset(number: int, count: int) -> float:
    return 0.6 * ((number + 0.5) / count - 0.5)


def _finished(cases: Sequence[CaseResult], control: str) -> float:
    found = [value for case in cases for value in score.values(case, control, "finished").values()]
    return sum(found) / len(found) if found else 0.0


def _title(measure: Measure) -> str:
    return f"{measure.label} ({measure.unit})" if measure.unit else measure.label


def _cell(value: Interval | None) -> str:
    if value is None:
        return ""
    half = value.half_width
    return f"{value.mean:.4g}" if half is None else f"{value.mean:.4g} ± {half:.2g}"
