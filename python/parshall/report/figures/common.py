"""Functions that several figures share: the repetition that is drawn, the flows, the words for both."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from parshall.foundations.numbers import counted, given
from parshall.report import description
from parshall.report.palette import SERIES
from parshall.report.plot import Band, Guide, Line, Mark, Points, Style
from parshall.report.thinning import Spread
from parshall.results.records import Result
from parshall.scenario.schema.quantities import Duration


def repetitions(table: pl.DataFrame) -> list[int]:
    """The repetitions in a table, in order."""
    return sorted(table["repetition"].unique().to_list())


OTHERS = 4
"""The most repetitions that are drawn, thin and grey, behind the first one."""


def first_and_others(table: pl.DataFrame) -> tuple[pl.DataFrame, list[pl.DataFrame], str]:
    """The rows of the first repetition, those of some others, and the sentence that says which is which."""
    present = repetitions(table)
    parts = [table.filter(pl.col("repetition") == number) for number in present[: 1 + OTHERS]]
    if len(present) == 1:
        return parts[0], [], ""
    which = f"{counted(len(parts) - 1, 'other')} of {len(present)}" if len(parts) < len(present) else "the others"
    return parts[0], parts[1:], f"In colour repetition {present[0]}; grey: {which}."


def first_repetition(table: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """The rows of the first repetition, and the sentence that says so when there are more."""
    present = repetitions(table)
    rows = table.filter(pl.col("repetition") == present[0])
    if len(present) == 1:
        return rows, ""
    return rows, f"Shown: repetition {present[0]}, the first of {len(present)}."


def pooled(table: pl.DataFrame) -> str:
    """The sentence that says over how many repetitions a figure pools."""
    number = len(repetitions(table))
    return "" if number == 1 else f"Pooled over {number} repetitions."


def warm_up_s(run: Result) -> float:
    """Return the start of measurements, in seconds."""
    return _duration_s(run, "warm_up") or 0.0


def end_s(run: Result, last_s: float) -> float:
    """Return the end of the run in seconds; `last_s`, the last recorded time, if the scenario does not say."""
    early = description.document(run).get("ends_with")
    return last_s if early else _duration_s(run, "duration") or last_s


def _duration_s(run: Result, key: str) -> float | None:
    text = description.document(run).get(key)
    return None if text is None else Duration(str(text)).seconds


def sentences(*parts: str) -> str:
    """A caption of those parts that have something to say."""
    return " ".join(part for part in parts if part)


def across_ranks(values: Mapping[str, float], noun: str) -> tuple[list[str], str]:
    """The names that a panel has colours for, and the sentence that says which these are, if not all.

    Of more names, those at equal distances in the order of their values, from the largest to the smallest: the extremes
    and the middle are among them. They come in the order that `values` has.
    """
    names = list(values)
    if len(names) <= SERIES:
        return names, ""
    ranked = sorted(names, key=lambda name: (-values[name], names.index(name)))
    chosen = {ranked[round(rank)] for rank in np.linspace(0, len(ranked) - 1, SERIES)}
    note = f"Drawn are {SERIES} of {len(names)} {noun}s, from the largest to the smallest value at equal steps of rank."
    return [name for name in names if name in chosen], note


def flow_label(group: str, flow: int, control: str, rtt_s: float | None) -> str:
    """Return the name of one flow: ``bulk, flow 3 (cubic, RTT 100 ms)``."""
    parts = [control or "datagrams"]
    if rtt_s is not None:
        parts.append(f"RTT {given(rtt_s, 's', 4)}")
    return f"{group}, flow {flow} ({', '.join(parts)})"


def measured_from(start_s: float) -> list[Mark]:
    """The end of the warm-up, as a line across a panel; nothing if there is none."""
    return [Guide(start_s, "measured →", along="x")] if start_s > 0 else []


def spread_marks(spread: Spread, name: str, style: Style) -> list[Mark]:
    """Median, band of percentiles, and the points between which there are too few others."""
    marks: list[Mark] = []
    if len(spread.x) == 1:
        marks.append(Points(spread.x, spread.median, name, style, spread.low, spread.high))
    elif len(spread.x):
        marks.append(Band(spread.x, spread.low, spread.high, "", style))
        marks.append(Line(spread.x, spread.median, name, style))
    if len(spread.sparse_x):
        marks.append(Points(spread.sparse_x, spread.sparse_y, "" if len(spread.x) else name, style))
    return marks
