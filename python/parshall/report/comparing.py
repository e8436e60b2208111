"""A comparison in words: the rows of a table, and a fragment for notebooks."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Protocol

from parshall import notebook
from parshall.report.numbers import ABSENT, NO_BREAK, quantity, significant
from parshall.report.uncertainty import interval_text, no_value, range_text
from parshall.stats.confidence import ONE_VALUE
from parshall.stats.families import LEVEL
from parshall.stats.ranges import Number, Range
from parshall.stats.verdict import Verdict, is_unresolved, why_none

if TYPE_CHECKING:
    from parshall.report.comparison import Comparison, MetricComparison, Row


def letter(place: int) -> str:
    """How a result is called in the heading of a column: A, B, ..., and after Z by its number."""
    return string.ascii_uppercase[place] if place < len(string.ascii_uppercase) else str(place + 1)


def header(comparison: Comparison) -> list[str]:
    """The headings: of two results ``Metric, A, B, B - A`` and a remark; more have their three columns each."""
    columns = ["Metric", letter(0)]
    for place in range(1, len(comparison.results)):
        columns += [letter(place), f"{letter(place)} - {letter(0)}", ""]
    return columns


def cells(comparison: Comparison, row: Row) -> list[str]:
    """Label, the first result, and of each other: value, difference with its interval, and what can be said."""
    first, *others = values(row)
    texts = [row.label, first]
    for place, (value, difference) in enumerate(zip(others, row.differences, strict=True), 1):
        texts.append(value)
        texts += [difference_text(difference), remark(difference, comparison, letter(place))]
    return texts


def values(row: Row) -> list[str]:
    """Of each result the value with its interval, or why it has none; a dash where nothing was measured."""
    return [
        interval_text(interval, row.unit) if lacking is None else no_value(lacking, row.unit)
        for interval, lacking in zip(row.intervals, row.lacking, strict=True)
    ]


def remark(difference: MetricComparison | None, comparison: Comparison, name: str) -> str:
    """What a difference shows: ``2.8 % lower, better for A``."""
    if difference is None:
        return ""
    verdict = worded(difference, comparison, name)
    if difference.better is None or (difference.relative is None and difference.difference is not None):
        return verdict
    better = f"{verdict}, better for {letter(0) if difference.better == 'a' else name}"
    if difference.relative is None:
        return better
    return f"{significant(abs(100 * difference.relative), 2)}{NO_BREAK}% {better}"


def worded(difference: MetricComparison, comparison: Comparison, name: str) -> str:
    """The verdict on a result that is called by a letter; where there are more than two, one that lacks it is named."""
    lacking = {Verdict.ONLY_A: name, Verdict.ONLY_B: letter(0)}
    if difference.verdict in lacking and len(comparison.results) > 2:
        return f"not in {lacking[difference.verdict]}"
    return verdict_text(difference, difference.unit, comparison.at_least)


class Judged(Protocol):
    """A difference and what it shows."""

    @property
    def difference(self) -> Number | None:
        """With its interval."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the difference."""

    @property
    def resolution(self) -> float:
        """The smallest difference that can be told, in the unit of the values."""

    @property
    def why(self) -> str:
        """Why there is no interval or no value; empty where there is one."""


def verdict_text(judged: Judged, unit: str, at_least: float) -> str:
    """A verdict as it is printed; of a difference that the bins of histograms are too wide for, that they are."""
    if (
        judged.verdict is Verdict.NOT_SHOWN
        and judged.difference
        and is_unresolved(judged.difference, judged.resolution)
    ):
        return f"within the resolution ({quantity(judged.resolution, unit)})"
    # Why there is no value stands where the value would.
    return judged.verdict.text(at_least, "" if judged.difference is None else judged.why)


def pairing(*paired: bool) -> str:
    """How the repetitions of each of the others are compared with those of the first.

    >>> pairing(True, False)
    'paired by common random numbers, or else independent (Welch)'
    """
    pairs, samples = "paired by common random numbers", "independent (Welch)"
    return pairs if all(paired) else f"{pairs}, or else {samples}" if any(paired) else samples


def family(tested: int) -> str:
    r"""How sure it is of many differences that they are such.

    >>> family(43)
    '43 differences were compared, and those called different hold at a false discovery rate of 5\xa0%.'
    """
    rate = f"a false discovery rate of {100 * LEVEL:g}{NO_BREAK}%"
    were = "difference was" if tested == 1 else "differences were"
    return f"{tested} {were} compared, and those called different hold at {rate}."


def note(comparison: Comparison) -> str:
    """How the differences are meant."""
    first = f"First comes what differs and matters (by {100 * comparison.at_least:g}{NO_BREAK}% or more)."
    sentences = [first]
    if not any(each.difference and each.difference.low is not None for each in comparison.differences):
        sentences.append(f"{_why_none(comparison)}, so no difference can be shown.")
        return " ".join(sentences)
    sentences.append("± is the half width of the 95 % confidence interval.")
    if any(comparison.paired):
        sentences.append("Same seed: repetitions are compared in pairs.")
    if not all(comparison.paired):
        sentences.append("Without a common seed repetitions are compared as independent samples (Welch).")
    if "predict" in comparison.instruments:
        sentences.append(
            "A prediction has the range that its model states, from empty to full buffers of full links: no confidence "
            "interval. A difference to it is shown where the measured interval leaves out the whole range."
        )
    if comparison.tested:
        sentences.append(family(comparison.tested))
    return " ".join(sentences)


def _why_none(comparison: Comparison) -> str:
    """That there are no intervals, and why."""
    hows = dict.fromkeys(filter(None, (why_none(each.difference) for each in comparison.differences)))
    if set(hows) <= {ONE_VALUE}:
        return "One repetition: there are no confidence intervals"
    return f"There are no confidence intervals ({', '.join(hows)})"


def fragment(comparison: Comparison) -> str:
    """The comparison as a fragment of HTML."""
    named = ", ".join(f"{letter(place)}: {each.name}" for place, each in enumerate(comparison.results))
    rows = [cells(comparison, row) for row in comparison.shown]
    return notebook.fragment(named, note(comparison), notebook.table(header(comparison), rows))


def difference_text(comparison: MetricComparison | None) -> str:
    """A difference and its interval, with its sign; a dash where there is none."""
    if comparison is None or comparison.difference is None:
        return ABSENT
    if comparison.verdict is Verdict.EQUAL:
        return "0"
    if isinstance(comparison.difference, Range):
        return range_text(comparison.difference, comparison.unit, signed=True)
    sign = "+" if comparison.difference.mean > 0 else ""
    return sign + interval_text(comparison.difference, comparison.unit)
