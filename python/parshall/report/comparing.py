"""A comparison of two runs in words and as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from parshall.records import Result
from parshall.report.comparison import MetricComparison, Verdict, compare
from parshall.report.html import template
from parshall.report.numbers import ABSENT, NO_BREAK, significant
from parshall.report.page import name_of
from parshall.report.uncertainty import interval_text
from parshall.stats.verdict import AT_LEAST

HEADINGS = ("Metric", "A", "B", "B - A", "")


def rows(comparisons: Sequence[MetricComparison], at_least: float = AT_LEAST) -> list[tuple[str, str, str, str, str]]:
    """Label, A, B, difference with its interval, and what can be said: printable text."""
    return [
        (
            comparison.label,
            interval_text(comparison.a, comparison.unit),
            interval_text(comparison.b, comparison.unit),
            _difference(comparison),
            _remark(comparison, at_least),
        )
        for comparison in comparisons
    ]


def note(comparisons: Sequence[MetricComparison], at_least: float = AT_LEAST) -> str:
    """How the differences are meant."""
    if not any(comparison.difference and comparison.difference.low is not None for comparison in comparisons):
        return "One repetition: there are no confidence intervals, so no difference can be shown."
    how = (
        "Same seed: repetitions are compared in pairs."
        if any(comparison.paired for comparison in comparisons)
        else "Different seeds: repetitions are compared as independent samples (Welch)."
    )
    first = f"First comes what differs and matters (by {100 * at_least:g}{NO_BREAK}% or more)."
    return (
        f"{first} ± is the half width of the 95 % confidence interval. {how} Each interval stands for itself: among 20 "
        "metrics without any difference, one is expected to show one."
    )


def compare_html(run_a: Result, run_b: Result, at_least: float = AT_LEAST) -> str:
    """The comparison as a fragment of HTML."""
    comparisons = compare(run_a, run_b, at_least)
    return template("compare.html.j2").render(
        name_a=name_of(run_a),
        name_b=name_of(run_b),
        rows=rows(comparisons, at_least),
        note=note(comparisons, at_least),
    )


def _difference(comparison: MetricComparison) -> str:
    difference = comparison.difference
    if difference is None:
        return ABSENT
    if comparison.verdict is Verdict.EQUAL:
        return "0"
    return ("+" if difference.mean > 0 else "") + interval_text(difference, comparison.unit)


def _remark(comparison: MetricComparison, at_least: float) -> str:
    verdict = comparison.verdict.text(at_least)
    if comparison.better is None or comparison.relative is None:
        return verdict
    percent = f"{significant(abs(100 * comparison.relative), 2)}{NO_BREAK}%"
    return f"{percent} {verdict}, better for {comparison.better.upper()}"
