"""Predicted beside simulated at a glance: the nearest model of each group or link in a row, and all models as dots."""

from __future__ import annotations

from parshall.foundations.numbers import ABSENT, MINUS, NO_BREAK, counted
from parshall.report.document import Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot, Points, Style, box
from parshall.report.predicted import PredictedRow, PredictedSection, View

_SPAN = 0.6
"""Of the room between two rows, what the models of a row take."""

_HEIGHT = 0.2
"""Half the height of the box of a range, of what a model of a row has."""

_SEEN = 1.01
"""Ratio of the ends of a range from which on it has a box."""


def nearest_table(view: View) -> Table | None:
    """A row a group or link: the model that came nearest, and how many said anything; None without a ratio."""
    if not view.has_ratios:
        return None
    rows = []
    for section in view.sections:
        held = _held(section)
        measured = section.simulated[0] if section.simulated else None
        value = ABSENT if measured is None else f"{measured.label}: {measured.text}"
        models = {_model(row) for part in section.parts for row in part.rows}
        number = f"{len({_model(row) for row, _ in held})} of {counted(len(models), 'model')}"
        if held:
            best = min(held, key=lambda each: max(each[1], 1.0 / each[1]))
            rows.append((section.title, value, best[0].name, _off(best[1]), number))
        else:
            rows.append((section.title, value, "none holds here", ABSENT, number))
    header = ("", view.did.capitalize(), "Nearest model", "Off by", "In range")
    return Table("", header, rows, numbers=(3, 4))


def dots(view: View) -> Plot | None:
    """A dot a model and reading: predicted over simulated, a row a group or link; None without a ratio."""
    sections = [section for section in view.sections if _held(section)]
    if not sections:
        return None
    models = [*dict.fromkeys(_model(row) for section in sections for row, _ in _held(section))]
    marks: list[Mark] = [Guide(1.0, f"as {view.did}", along="x")]
    for index, model in enumerate(models):
        style = Style(series=index)
        places = [
            (row, ratio, len(sections) - 1 - number + _SPAN * ((len(models) - 1) / 2 - index) / len(models))
            for number, section in enumerate(sections)
            for row, ratio in _held(section)
            if _model(row) == model
        ]
        marks += [
            box(y, min(row.ratios), max(row.ratios), style, _HEIGHT / len(models))
            for row, _, y in places
            if _has_range(row)
        ]
        marks.append(Points([ratio for _, ratio, _ in places], [y for *_, y in places], model, style))
    held = [(row, ratio) for section in sections for row, ratio in _held(section)]
    ratios = [each for row, ratio in held for each in (ratio, *row.ratios)]
    subjects = tuple(section.title.removeprefix("Throughput of ") for section in reversed(sections))
    least, most = min(0.5, 0.9 * min(ratios)), max(2.0, 1.1 * max(ratios))
    panel = Panel(
        marks,
        Axis(f"Predicted ÷ {view.did}", log=True, minimum=least, maximum=most),
        Axis("", names=subjects, minimum=-0.6, maximum=len(sections) - 0.4),
        height=0.25 + 0.16 * len(sections),
    )
    caption = (
        "Each dot is a model with one reading of the scenario: from it alone, or at the losses and RTTs that were "
        f"{view.did}. Models that do not hold here have none."
    )
    if any(_has_range(row) for row, _ in held):
        caption += " A box is the model's range, from empty to full buffers, and no confidence interval."
    return Plot([panel], caption)


def _held(section: PredictedSection) -> list[tuple[PredictedRow, float]]:
    """The rows that could be held against the simulation, with their ratios."""
    return [(row, row.ratio) for part in section.parts for row in part.rows if row.ratio]


def _has_range(row: PredictedRow) -> bool:
    """True if the filling of buffers changes the answer visibly."""
    return bool(row.ratios) and max(row.ratios) > _SEEN * min(row.ratios)


def _model(row: PredictedRow) -> str:
    return row.name.partition(",")[0]


def _off(ratio: float) -> str:
    percent = 100.0 * (ratio - 1.0)
    digits = 0 if abs(percent) >= 10 else 1
    return f"{percent:+.{digits}f}{NO_BREAK}%".replace("-", MINUS)
