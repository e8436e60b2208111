"""A comparison in words: the rows of a table, and a fragment for notebooks."""

from __future__ import annotations

import string
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from parshall.analysis.stats.confidence import ONE_VALUE
from parshall.analysis.stats.families import LEVEL
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.ranges import Number, Range
from parshall.analysis.stats.verdict import Verdict, is_unresolved, reaches, why_none
from parshall.foundations import notebook
from parshall.foundations.numbers import ABSENT, NO_BREAK, counted, quantity, significant
from parshall.report.description import listed
from parshall.report.sentences import Sentence, capital, say
from parshall.report.uncertainty import interval_text, no_value, range_text

if TYPE_CHECKING:
    from parshall.report.comparison import Comparison, MetricComparison, Row


def letter(place: int) -> str:
    """Return the name of a result in the heading of a column: A, B, ..., and after Z its number."""
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
    """Return a difference in words: ``2.8 % lower, better for A``."""
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


class JudgedDifference(Protocol):
    """A difference and what it shows."""

    @property
    def a(self) -> Number | None:
        """The value that it is compared with."""

    @property
    def b(self) -> Number | None:
        """The value that is compared."""

    @property
    def difference(self) -> Number | None:
        """With its interval."""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the difference."""

    @property
    def matters(self) -> bool:
        """True if it is shown and reaches the threshold of practical importance."""

    @property
    def lacking(self) -> tuple[NoValue | None, NoValue | None]:
        """Of both: why it has no value."""

    @property
    def resolution(self) -> float:
        """The smallest difference that can be told, in the unit of the values."""

    @property
    def why(self) -> str:
        """Reason why there is no interval or no value; empty where there is one."""


def summary(rows: Sequence[Sequence[JudgedDifference]], noun: tuple[str, str], at_least: float) -> list[Sentence]:
    """Return sentences that count the comparisons with a difference, and those without a verdict.

    Parameters
    ----------
    rows
        The differences of each quantity, or each difference.
    noun
        What a row is, in the singular and the plural.
    at_least
        The threshold of practical importance.
    """
    compared = [row for row in rows if any(each.verdict not in _ALONE for each in row)]
    if not compared:
        return [say("comparison.nothing")]
    number = counted(len(compared), *noun)
    matter = [row for row in compared if any(each.matters for each in row)]
    rest = [row for row in compared if not any(each.matters for each in row)]
    said = [_how_many(number, len(matter), [each for row in compared for each in row])]
    copies = sum(any(_alike(each, at_least) for each in row) for row in rest)
    if copies:
        differ = "differs" if copies == 1 else "differ"
        said.append(say("comparison.copies", number=f"{counted(copies, *noun)} {differ}"))
    lacking = [reasons for row in rest if (reasons := _reasons(row))]
    if lacking:
        why = listed([*dict.fromkeys(reason for reasons in lacking for reason in reasons)], "or")
        said.append(say("comparison.no_value", number=counted(len(lacking), *noun), why=why))
    return said


_ALONE = (Verdict.ONLY_A, Verdict.ONLY_B)


def _how_many(number: str, matter: int, every: Sequence[JudgedDifference]) -> Sentence:
    if matter:
        return say("comparison.some", number=number, are=f"{matter} {'is' if matter == 1 else 'are'}")
    hows = [each.difference for each in every if each.difference is not None]
    if hows and all(each.low is None for each in hows):
        return say("comparison.no_chance", number=number, why=_without_intervals(hows))
    return say("comparison.none", number=number)


def _alike(judged: JudgedDifference, at_least: float) -> bool:
    """True if a difference is the same in every repetition, and large."""
    if judged.verdict is not Verdict.NO_SPREAD or judged.a is None or judged.b is None:
        return False
    return reaches(judged.a.value, judged.b.value, at_least)


def _reasons(row: Sequence[JudgedDifference]) -> set[str]:
    """Return the reasons why a row has no values to compare, in words."""
    lacking = [why for each in row for why in each.lacking if why is not None]
    return {"too few values" if why.is_of_values else "too few transfers ended" for why in lacking}


def verdict_text(judged: JudgedDifference, unit: str, at_least: float) -> str:
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
    """Return the method by which repetitions of the others are compared with those of the first, in words.

    >>> pairing(True, False)
    'paired by common random numbers, or else independent (Welch)'
    """
    pairs, samples = "paired by common random numbers", "independent (Welch)"
    return pairs if all(paired) else f"{pairs}, or else {samples}" if any(paired) else samples


def meant(differences: Sequence[Number], template: str, *paired: bool) -> Sentence:
    """Return the sentence on the method of comparing, by a template; or that there are no intervals, and the reason."""
    if all(each.low is None for each in differences):
        return say("comparison.no_intervals", why=capital(_without_intervals(differences)))
    return say(template, how=pairing(*paired))


def family(tested: int) -> str:
    r"""Return the sentence on the false discovery rate of many differences.

    >>> family(43)
    '43 differences were compared, and those called different hold at a false discovery rate of 5\xa0%.'
    """
    rate = f"{100 * LEVEL:g}{NO_BREAK}%"
    were = f"{tested} {'difference was' if tested == 1 else 'differences were'}"
    return say("comparison.family", were=were, rate=rate).text


def bounds(rows: Sequence[Sequence[JudgedDifference]], noun: tuple[str, str]) -> list[Sentence]:
    """Return the sentence that counts differences shown by bounds alone; nothing where there is none."""
    number = sum(any(each.matters and any(each.lacking) for each in row) for row in rows)
    return [say("comparison.bounds", number=counted(number, *noun))] if number else []


def note(comparison: Comparison) -> str:
    """Return the note that explains the differences."""
    said = [say("comparison.first", least=f"{100 * comparison.at_least:g}{NO_BREAK}%")]
    every = [each.difference for each in comparison.differences if each.difference is not None]
    if all(each.low is None for each in every):
        said += [say("comparison.no_intervals", why=capital(_without_intervals(every)))] if every else []
        return " ".join(each.text for each in said)
    said.append(say("comparison.intervals"))
    if any(comparison.paired):
        said.append(say("comparison.pairs"))
    if not all(comparison.paired):
        said.append(say("comparison.independent"))
    if "predict" in comparison.instruments:
        said.append(say("comparison.range"))
    texts = [each.text for each in said]
    if comparison.tested:
        texts.append(family(comparison.tested))
    return " ".join([*texts, *(each.text for each in bounds([row.told for row in comparison.shown], QUANTITIES))])


QUANTITIES = ("quantity", "quantities")


def _without_intervals(differences: Sequence[Number]) -> str:
    """That there are no intervals, and why."""
    hows = [*dict.fromkeys(filter(None, map(why_none, differences)))]
    if set(hows) <= {ONE_VALUE}:
        return "of one repetition there are no confidence intervals"
    return f"there are no confidence intervals ({', '.join(hows)})"


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
