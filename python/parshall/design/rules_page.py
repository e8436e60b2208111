"""The page of `parshall ask rules`: the answer, and of each quantity what every rule does to it."""

from __future__ import annotations

from collections.abc import Sequence

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.verdict import Judgement
from parshall.design.rules_answer import RulesAnswer, amount
from parshall.design.rules_found import WHOLE, RulesOfQuantity
from parshall.foundations.numbers import counted, quantity
from parshall.foundations.version import __version__
from parshall.report.document import Block, Chart, Document, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot, Points, Style
from parshall.report.uncertainty import interval_text
from parshall.scenario.schema.catalog import policies

ALL = "all rules"
_COLUMNS = (("together", "with the others"), ("alone", "alone"))
_PER_CENT = 100.0


def rules_page(found: RulesAnswer) -> Document:
    """The page of an answer."""
    first, *others = found.sentences()
    scenario = found.scenario
    sections = [
        Section("The answer", [*others, *_how(found)], tables=[_values(found)] if found.asked else []),
        *(_of_quantity(found, each, number) for number, each in enumerate(found.asked)),
        Section("The rules", tables=[_policies()]),
        _taken_away(found),
    ]
    byline = (scenario.name, counted(found.repetitions, "repetition"), f"Parshall {__version__}")
    return Document("design", "Which of Linux's rules?", scenario.description, byline, sections, finding=first)


def _how(found: RulesAnswer) -> list[str]:
    if not found.asked:
        return []
    return [
        "Differences are those with Linux's form of a rule less with the RFCs' form: while all others are Linux's "
        "(“with the others”), and while all others are the RFCs' (“alone”). All variants have the same random numbers, "
        f"and repetitions are compared in pairs. {counted(found.compared, 'difference')} are judged together, at a "
        "false discovery rate of 5 %. Shares are of the value with all rules of the RFCs."
    ]


def _values(found: RulesAnswer) -> Table:
    """Each quantity with the rules of Linux, with those of the RFCs, and on the kernel."""
    kernel = any(each.kernel is not None for each in found.asked)
    usual = ("Quantity", "RFCs", "Linux", "Difference", "Share", "Verdict")
    level = "" if found.validity is None else found.validity.level
    rows = [
        (
            each.label,
            interval_text(each.rfc, each.unit),
            interval_text(each.linux, each.unit),
            *cells(each, each.whole, found.at_least),
            *((quantity(each.kernel, each.unit),) if kernel else ()),
        )
        for each in found.asked
    ]
    header = (*usual, f"Kernel ({level}), one run") if kernel else usual
    return Table("All rules together", header, rows, (1, 2, 3, 4, *((6,) if kernel else ())))


def cells(asked: RulesOfQuantity, found: Judgement | None, at_least: float) -> tuple[str, str, str]:
    """A difference, its share of the value with the rules of the RFCs, and its verdict, as text."""
    if found is None:
        return "", "", "no value"
    text = interval_text(found.difference, asked.unit)
    why = found.difference.how if isinstance(found.difference, Interval) else ""
    return text, amount(asked, found, signed=True), found.verdict.text(at_least, why)


def _of_quantity(found: RulesAnswer, asked: RulesOfQuantity, number: int) -> Section:
    """A quantity: a figure and a table of its rules."""
    rows = [
        (f"`{name}`", *(text for key, _ in _COLUMNS for text in cells(asked, getattr(effect, key), found.at_least)))
        for name, effect in ((name, asked.effects[name]) for name in found.names)
    ]
    header = ("Rule", *(text for _, title in _COLUMNS for text in (f"Difference, {title}", "Share", "Verdict")))
    heading = f"{asked.label[:1].upper()}{asked.label[1:]}"
    drawn = [] if asked.rfc.mean == 0 else [_figure(found, asked, number)]
    return Section(heading, figures=drawn, tables=[Table("", header, rows, (1, 2, 4, 5))])


def _figure(found: RulesAnswer, asked: RulesOfQuantity, number: int) -> Chart:
    """A row a rule: its difference with the others and alone, with intervals, as shares."""
    names = (WHOLE, *found.names)
    marks: list[Mark] = [Guide(0.0, "no difference", along="x")]
    for place, (key, title) in enumerate(_COLUMNS):
        known = [
            (len(names) - 1 - row + 0.12 - 0.24 * place, bar)
            for row, name in enumerate(names)
            if (bar := _bar(asked, getattr(asked.effects[name], key))) is not None
        ]
        if known:
            y, bars = [each for each, _ in known], [bar for _, bar in known]
            x, low, high = zip(*bars, strict=True)
            marks.append(Points(x, y, title, Style(place, place), low, high, along="x"))
    labels = tuple(reversed((ALL, *found.names)))
    panel = Panel(
        marks,
        Axis(f"difference, share of the {asked.label}", "%"),
        Axis("", names=labels, minimum=-0.6, maximum=len(labels) - 0.4),
        height=0.35 + 0.09 * len(labels),
    )
    return Chart(f"rules-{number}", f"What rules do to the {asked.label}", Plot([panel], "Bars are 95 % intervals."))


def _bar(asked: RulesOfQuantity, effect: Judgement | None) -> tuple[float, float, float] | None:
    """A difference and the ends of its interval as shares, in percent."""
    if effect is None:
        return None
    interval, scale = effect.difference, _PER_CENT / abs(asked.rfc.mean)
    low = interval.value if interval.low is None else interval.low
    high = interval.value if interval.high is None else interval.high
    return interval.value * scale, low * scale, high * scale


def _policies() -> Table:
    rows = [(f"`{each.name}`", each.rfc, each.linux) for each in policies()]
    return Table("", ("Rule", "RFCs", "Linux"), rows)


def _taken_away(found: RulesAnswer) -> Section:
    command = {"text": "parshall ask rules scenario.toml", "scenario": found.scenario.toml()}
    return Section("Take it away", blocks=[Block("command", command)], name="take-away")


def shown_rows(found: RulesAnswer) -> Sequence[tuple[str, ...]]:
    """Return the lines of the terminal: the whole difference of each quantity, and the rules shown to change it."""
    rows: list[tuple[str, ...]] = []
    for asked in found.asked:
        rows.append((asked.label, ALL, *cells(asked, asked.whole, found.at_least)))
        for name in found.names:
            effect = asked.effects[name]
            for key, title in _COLUMNS:
                each = getattr(effect, key)
                if asked.matters(each):
                    rows.append(("", f"{name}, {title}", *cells(asked, each, found.at_least)))
    return rows
