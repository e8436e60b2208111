"""Pages of `parshall design buffer`, `aqm` and `repetitions`: dials, what was tried, and what to paste."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parshall.design import aqm, buffer, repetitions, tc
from parshall.design.buffer import BufferDesign
from parshall.design.judging import Judged
from parshall.design.queueing import DELAY, LATE, LOSS, UTILISATION, QueueDesign
from parshall.design.repetitions import RepetitionsDesign
from parshall.foundations.numbers import counted
from parshall.foundations.version import __version__
from parshall.report.dials import Dial, dials
from parshall.report.document import Block, Chart, Document, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Points, Style
from parshall.report.uncertainty import interval_text
from parshall.scenario import Scenario
from parshall.scenario.properties import title
from parshall.scenario.schema import writing

_SHOWN: Mapping[str, tuple[str, str]] = {
    "goodput_bps": ("goodput, all flows", "bit/s"),
    UTILISATION: ("utilisation", "ratio"),
    DELAY: ("mean queueing delay", "s"),
    LATE: ("99th percentile", "s"),
    LOSS: ("loss rate", "ratio"),
}
_PER_CENT, _MS = 100.0, 1e3


def buffer_page(design: BufferDesign) -> Document:
    """The page of a buffer."""
    text = buffer.sentences(design)
    name = "Reno flows' model" if design.flows is not None else "Model"
    shown = [
        _dial(each, name if each.asked.key == UTILISATION else "If the buffer is full")
        for each in design.nearest.judged
    ]
    asked = Section("What was asked", [*text[1:], _about_buffer(design)], blocks=[dials(shown)])
    drawn = Section("Over the size of the buffer", figures=[_over_limits(design)])
    return _queue_page("Drop-tail buffer for what is asked", text[0], design, [asked, drawn])


def aqm_page(design: QueueDesign) -> Document:
    """The page of a queue."""
    text = aqm.sentences(design)
    shown = [_dial(each, "The queue's own target") for each in design.nearest.judged]
    about = (
        "Each queue has the defaults of the catalog. Of those that keep all that is asked, the one with the most "
        "goodput is recommended; of those within 1 % of that, the one where packets wait least."
    )
    asked = Section("What was asked", [*text[1:], about], blocks=[dials(shown)])
    drawn = Section("All queues", figures=[_candidates(design)])
    return _queue_page("Queue for what is asked", text[0], design, [asked, drawn])


def _queue_page(heading: str, finding: str, design: QueueDesign, sections: Sequence[Section]) -> Document:
    """The page of any queue: what was tried, and what to paste, follow its own sections."""
    return _document(heading, design.place.scenario, finding, [*sections, _tried(design), _paste(design)])


def repetitions_page(design: RepetitionsDesign) -> Document:
    """The page of a number of repetitions."""
    summary = repetitions.sentences(design)
    looks = [(f"{look.repetitions}", interval_text(look.interval, design.unit)) for look in design.looks]
    about = (
        "The model is Student's: the half width that was to be expected of so many, from the repetitions before. An "
        "interval that was looked at several times holds a little less often than 95 %."
    )
    scenario = design.scenario.with_values({"repetitions": design.repetitions})
    text = f"repetitions = {design.repetitions}"
    source = design.scenario.source or "scenario.toml"
    snippets = [
        {"title": "In the scenario", "text": text, "note": ""},
        {
            "title": "On the command line",
            "text": f"parshall run {source} --set repetitions={design.repetitions}",
            "note": "",
        },
    ]
    sections = [
        Section("What was asked", [about], blocks=[dials([_dial(design.judged, "Student's t")])]),
        Section("How the interval shrinks", figures=[_shrinking(design)]),
        Section(
            "What was simulated",
            tables=[Table("", ("Repetitions", f"{design.label[0].upper()}{design.label[1:]}"), looks, (0, 1))],
        ),
        _taken_away(scenario, snippets),
    ]
    return _document("Repetitions for an interval", design.scenario, summary[0], sections)


def _document(heading: str, scenario: Scenario, finding: str, sections: Sequence[Section]) -> Document:
    byline = (scenario.name, f"Parshall {__version__}")
    return Document("design", heading, scenario.description, byline, sections, finding=finding)


def _dial(each: Judged, model_name: str) -> Dial:
    asked = each.asked
    label = f"{asked.label[0].upper()}{asked.label[1:]}"
    return Dial(label, asked.unit, asked.bound, asked.at_least, each.model, model_name, each.simulated, each.verdict)


def _about_buffer(design: BufferDesign) -> str:
    product = f"The bandwidth-delay product is {counted(design.place.bdp_packets, 'packet')}."
    if design.flows is None:
        return f"{product} The model of the utilisation is for long Reno flows over one link, and does not hold here."
    return f"{product} The model is that of {counted(design.flows, 'long Reno flow')}, {_MODELS}."


_MODELS = "in step (one, or few) or not (many: Appenzeller, Keslassy & McKeown 2004)"


def _over_limits(design: BufferDesign) -> Chart:
    """Utilisation, delay and loss over the limit."""
    trials = sorted(design.trials, key=design.limit)
    x = Axis("limit of the queue", "packets", log=True)
    limits = [design.limit(each) for each in trials]
    bounds = {each.key: each.bound for each in design.demand.asked}
    panels = []
    for key, label, unit, factor in (
        (UTILISATION, "utilisation", "%", _PER_CENT),
        (DELAY, "mean queueing delay", "ms", _MS),
        (LOSS, "loss rate", "%", _PER_CENT),
    ):
        marks: list[Line | Points | Guide] = [
            Points(limits, [factor * each.measured[key].mean for each in trials], "simulated", Style(0))
        ]
        if key == UTILISATION and design.flows is not None:
            modelled = [factor * (buffer.modelled(design.place, limit, design.flows) or 0.0) for limit in limits]
            marks.append(Line(limits, modelled, "model", Style(1, 1)))
        if key in bounds:
            marks.append(Guide(factor * bounds[key], "asked"))
        marks.append(Guide(design.limit(design.nearest), "answer" if design.kept else "nearest", along="x"))
        panels.append(Panel(marks, x, Axis(label, unit)))
    return Chart("limits", "What the limit does", Plot(panels, "Means over all repetitions of each limit."))


def _candidates(design: QueueDesign) -> Chart:
    """Goodput against the mean wait, a point a queue."""
    marks: list[Points | Guide] = [
        Points(
            [_MS * each.measured[DELAY].mean],
            [each.measured["goodput_bps"].mean / 1e6],
            f"{aqm.named(each)} ({each.verdict})",
            Style(number, number),
        )
        for number, each in enumerate(design.trials)
    ]
    bound = design.demand.delay_s
    if bound is not None:
        marks.append(Guide(_MS * bound, "asked", along="x"))
    panel = Panel(marks, Axis("mean queueing delay", "ms", log=True), Axis("goodput, all flows", "Mbit/s"))
    return Chart("candidates", "Goodput against delay", Plot([panel], "Best is the upper left corner."))


def _shrinking(design: RepetitionsDesign) -> Chart:
    """Half widths of the first n repetitions, and what Student's t says from the first look on."""
    marks: list[Line | Points | Guide] = []
    seen = repetitions.widths(design.values)
    if seen:
        marks.append(Points([n for n, _ in seen], [half for _, half in seen], "simulated", Style(0)))
    first = design.looks[0]
    if first.interval.half_width is not None:
        last = max(design.repetitions, first.repetitions + 1)
        numbers = sorted({*range(3, min(last, 40) + 1), *range(40, last + 1, max(1, last // 60)), last})
        modelled = [repetitions.expected(first.interval.half_width, first.repetitions, n) for n in numbers]
        marks.append(Line(numbers, modelled, f"expected from the first {first.repetitions}", Style(1, 1)))
    marks.append(Guide(design.judged.asked.bound, "asked"))
    x, y = Axis("repetitions"), Axis("half width", design.unit, minimum=0.0)
    return Chart(
        "shrinking", "Half width of the 95 % interval", Plot([Panel(marks, x, y)], "Of the first n repetitions.")
    )


def _tried(design: QueueDesign) -> Section:
    """Everything that was simulated."""
    rows = [
        (
            f"{title(str(each.queue['name']))}{_parameters(each.queue)}"
            f"{' (the answer)' if each is design.kept else ''}",
            *(interval_text(each.measured[key], unit) for key, (_, unit) in _SHOWN.items()),
            each.verdict,
        )
        for each in design.trials
    ]
    header = ("Queue", *(label for label, _ in _SHOWN.values()), "Verdict")
    text = (
        f"All have the same random numbers. Link: {design.place.link}. What is asked holds, or fails, where the "
        "whole 95 % interval is on one side of the bound; else it is compatible or undecided, and longer or more "
        "repetitions would tell."
    )
    return Section("What was simulated, in order", [text], tables=[Table("", header, rows, tuple(range(1, 6)))])


def _parameters(queue: Mapping[str, Any]) -> str:
    others = [f"{key} {value}" for key, value in queue.items() if key != "name"]
    return f", {', '.join(others)}" if others else ""


def _paste(design: QueueDesign) -> Section:
    """The queue to paste: into a scenario, and into the shell of a Linux router."""
    where, answer = design.place, design.nearest
    typed = tc.commands(where.resolved(answer.queue), where.packet_bytes)
    about = (
        "For a Linux router; `eth0` is the device of the link. It works where the queue is this router's own: if a "
        "modem behind it is slower, shape to a little below the line's rate first."
    )
    text = f"queue = {writing.value_text(dict(answer.queue))}"
    of_links = where.scenario.links is not None
    table = where.path.removesuffix(".queue")
    note = f"In the table of the link `{where.link}`." if of_links else f"In the table `[{table}]`."
    snippets = [
        {"title": "In a scenario", "text": text, "note": note},
        {
            "title": "On Linux",
            "text": "\n".join(typed.lines),
            "note": " ".join(each for each in (about if typed.lines else "", typed.note) if each),
        },
    ]
    return _taken_away(where.having(dict(answer.queue)), snippets)


def _taken_away(scenario: Scenario, snippets: Sequence[Mapping[str, str]]) -> Section:
    command = {"text": "parshall run scenario.toml", "scenario": scenario.toml()}
    return Section("Take it away", blocks=[Block("snippets", snippets), Block("command", command)], name="take-away")
