"""Results held against each other, quantity by quantity, whatever gave them: each against the first.

Runs with the same seed draw the same random numbers wherever their scenarios agree, so their repetitions are pairs, and
the interval is that of the differences. Otherwise the repetitions are independent samples (Welch). What a model states
has no repetitions and no interval, but a range: so has the difference to it (`parshall.analysis.stats.ranges`).
`parshall.analysis.stats.verdict` decides what an interval shows, and all differences between measured quantities are
one family (`parshall.analysis.stats.families`). What differs most and matters comes first.

Groups and links are matched by their names. Where no group is common to all, as the flows of a trace have none, all
flows of each result are compared as one group.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isclose
from typing import Any

from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.ranges import Number, Range, difference_of_ranges
from parshall.analysis.stats.verdict import (
    AT_LEAST,
    DIFFERENT,
    Judgement,
    Verdict,
    matters,
    reaches,
    verdict_of,
    why_none,
    without_value,
)
from parshall.foundations.errors import InputError
from parshall.foundations.has_figures import HasFigures
from parshall.results.quantities.catalog import OURS
from parshall.results.quantities.definition import Better
from parshall.results.quantities.measuring import Metric, Metrics, busiest_of_all
from parshall.results.records import Result
from parshall.results.records.validity import Validity, believable, validity

__all__ = ["Comparison", "MetricComparison", "Row", "Verdict", "compare"]


Lacking = tuple[NoValue | None, NoValue | None]


@dataclass(frozen=True)
class MetricComparison:
    """One metric of two results; `difference` is B - A.

    Parameters
    ----------
    key, label, unit
        As in `parshall.results.quantities.catalog`.
    a, b
        Estimates and intervals over the repetitions, or ranges of predictions; ``None`` where there is none.
    difference
        B - A with its interval, or a range if one of both is; ``None`` unless both have it.
    relative
        The difference over A's value; ``None`` if that is 0.
    paired
        Whether repetitions were compared one by one.
    better
        Which result the difference speaks for, where one direction is better: ``a``, ``b`` or ``None``.
    matters
        Whether a difference is shown and reaches the threshold of practical importance.
    resolution
        What the difference is known to at best: the widths of both histograms' bins, else 0.
    p_value
        Where it is one of the differences that are judged together; else ``None``.
    """

    key: str
    label: str
    unit: str
    a: Number | None
    b: Number | None
    difference: Number | None
    relative: float | None
    paired: bool
    verdict: Verdict
    better: str | None
    matters: bool = False
    resolution: float = 0.0
    p_value: float | None = None
    lacking: Lacking = (None, None)
    """Of A and of B: why it has no value though something was measured; None where it has one, or nothing was."""
    reason: str = ""
    """The same in words, where one has no value."""

    @property
    def why(self) -> str:
        """Reason why there is no interval or no value; empty where there is one."""
        return self.reason or why_none(self.difference)

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return asdict(self)


@dataclass(frozen=True)
class Compared:
    """A result that is compared: how it is called, what gave it, where it comes from, and how far to believe it."""

    name: str
    instrument: str
    provenance: Mapping[str, Any]
    emulation: Validity | None = None
    """Of an emulation."""


@dataclass(frozen=True)
class Row:
    """One quantity of all results.

    Parameters
    ----------
    key, label, unit
        As in `parshall.results.quantities.catalog`.
    intervals
        Of each result an interval, or the range of a prediction; ``None`` where it does not have the quantity.
    differences
        Of each result but the first, against the first; ``None`` if neither has the quantity.
    lacking
        Of each result: why it has no value though something was measured; ``None`` where it has one, or nothing was.
    """

    key: str
    label: str
    unit: str
    intervals: Sequence[Number | None]
    differences: Sequence[MetricComparison | None]
    lacking: Sequence[NoValue | None]

    @property
    def missing(self) -> list[int]:
        """The results of which nothing was measured, by their places."""
        both = zip(self.intervals, self.lacking, strict=True)
        return [place for place, (interval, lacking) in enumerate(both) if interval is None and lacking is None]

    @property
    def told(self) -> list[MetricComparison]:
        """The differences that there are."""
        return [each for each in self.differences if each is not None]

    @property
    def matters(self) -> bool:
        """True if a difference is shown and reaches the threshold of practical importance."""
        return any(each is not None and each.matters for each in self.differences)


@dataclass(frozen=True)
class Comparison(HasFigures, page="parshall.report.comparison_page:document"):
    """Results against the first of them.

    Parameters
    ----------
    results
        In the order of columns: the first is what the others are compared with.
    rows
        First what differs and matters, the largest relative difference first.
    at_least
        Share of the first's value below which a difference does not matter.
    sources
        The results themselves, for figures.
    repeated
        Keys of rows that say again what others say: with the name of the link what those of the link that matters say
        without it, and of a flow what sums show where a group has as many flows in all results.
    """

    results: Sequence[Compared]
    rows: Sequence[Row]
    at_least: float
    sources: Sequence[Result] = field(default=(), repr=False, compare=False)
    repeated: Collection[str] = ()

    @property
    def shown(self) -> list[Row]:
        """The rows for people: each quantity once."""
        return [row for row in self.rows if row.key not in self.repeated]

    @property
    def differences(self) -> list[MetricComparison]:
        """All differences, in the order of the rows."""
        return [each for row in self.rows for each in row.differences if each is not None]

    @property
    def tested(self) -> int:
        """Number of differences that are judged together: those shown that have a p-value."""
        return sum(each is not None and each.p_value is not None for row in self.shown for each in row.differences)

    @property
    def instruments(self) -> set[str]:
        """Return the instruments of the results."""
        return {each.instrument for each in self.results}

    @property
    def paired(self) -> list[bool]:
        """Of each comparison of repetitions, not with predictions: whether they were compared one by one."""
        return [
            any((each := row.differences[place]) is not None and each.paired for row in self.rows)
            for place, other in enumerate(self.results[1:])
            if "predict" not in {self.results[0].instrument, other.instrument}
        ]

    def of(self, key: str) -> Row:
        """The row of a quantity.

        Raises
        ------
        InputError
            No result has it.
        """
        match = next((row for row in self.rows if row.key == key), None)
        if match is None:
            raise InputError(f'quantity: found "{key}"; accepted: {", ".join(row.key for row in self.rows)}')
        return match

    def to_json(self) -> dict[str, Any]:
        """Plain values: what ``parshall compare --json`` prints."""
        results = [asdict(each) for each in self.results]
        if len(results) == 2:
            named = {"a": self.results[0].name, "b": self.results[1].name}
            metrics = [each.to_json() for each in self.differences]
        else:
            named, metrics = {}, [asdict(row) for row in self.rows]
        return {**named, "results": results, "at_least": self.at_least, "metrics": metrics}

    def __repr__(self) -> str:
        """Return the names of the results and how many quantities differ and matter."""
        names = " and ".join([", ".join(each.name for each in self.results[:-1]), self.results[-1].name])
        differ = sum(row.matters for row in self.shown)
        return f"<Comparison of {names}: {differ} of {len(self.shown)} quantities differ and matter>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a row a quantity."""
        from parshall.report.comparing import fragment  # noqa: PLC0415 - it says this in words

        return fragment(self)


def compare(
    *results: Result,
    baseline: Result | str | None = None,
    at_least: float = AT_LEAST,
    names: Sequence[str] | None = None,
    accept_invalid: bool = False,
) -> Comparison:
    """Hold results of any instruments against the first, quantity by quantity.

    What names no link is of the one that is busiest over all results, of those that all have.

    Parameters
    ----------
    results
        Two or more.
    baseline
        One of them, or its name: what the others are compared with, in place of the first.
    at_least
        Share of the baseline's value below which a difference does not matter.
    names
        What the results are called; else by their directories or names.
    accept_invalid
        Whether to compare emulations that cannot be believed.

    Raises
    ------
    InputError
        There are fewer than two, or `baseline` is none of them.
    InvalidEmulationError
        One is an invalid emulation, and that is not accepted.
    """
    if len(results) < 2:
        raise InputError(f"results: found {len(results)}; accepted: two or more")
    labels = list(names or (each.place for each in results))
    first = _place(results, labels, baseline)
    believable(results, labels, accept_invalid=accept_invalid)
    order = [first, *(place for place in range(len(results)) if place != first)]
    ordered = [results[place] for place in order]
    link = busiest_of_all(each.tables.get("links") for each in ordered)
    metrics = _metrics(ordered, link)
    label = {key: metric for values in reversed(metrics) for key, metric in values.items()}
    keys = dict.fromkeys(key for values in metrics for key in values)
    repeated = _repeated(label.values(), link)
    pairs = {
        (key, place): Pair(a.pooled, b.pooled, _paired(ordered[0], ordered[place]))
        for key in keys
        for place, values in enumerate(metrics[1:], 1)
        if (a := metrics[0].get(key)) and (b := values.get(key)) and a.estimate and b.estimate
    }
    again = [(key, place) for key, place in pairs if key in repeated]
    judgements = judged(pairs, at_least=at_least, again=again)
    rows = [
        Row(
            key,
            label[key].label,
            label[key].unit,
            [_number(values.get(key)) for values in metrics],
            [
                _compared(metrics[0].get(key), values.get(key), judgements.get((key, place)), at_least)
                for place, values in enumerate(metrics[1:], 1)
            ],
            [_lacking(values.get(key)) for values in metrics],
        )
        for key in keys
    ]
    described = [
        Compared(labels[place], results[place].instrument, results[place].provenance, validity(results[place]))
        for place in order
    ]
    rows.sort(key=lambda row: _relevance(row, at_least))
    repeated |= _means_of_flows(label.values(), rows)
    return Comparison(described, rows, at_least, ordered, repeated)


def _repeated(metrics: Collection[Metric], link: str | None) -> set[str]:
    """The keys of what is said of `link` with its name, and without it too."""
    nameless = {each.named.quantity for each in metrics if each.named.of_busiest}
    return {each.key for each in metrics if each.named.place == link and each.named.quantity in nameless}


def _means_of_flows(metrics: Collection[Metric], rows: Sequence[Row]) -> set[str]:
    """The goodputs of a flow, of groups that have as many flows in all results: their sums show the same."""
    by_key = {row.key: row.intervals for row in rows}
    sums = {each.named.place: each.key for each in metrics if each.named.quantity is OURS["group", "goodput_bps"]}
    means = {each.named.place: each.key for each in metrics if each.named.quantity is OURS["group", "flow_goodput_bps"]}
    return {mean for place, mean in means.items() if place in sums and _proportional(by_key[mean], by_key[sums[place]])}


def _proportional(means: Sequence[Number | None], sums: Sequence[Number | None]) -> bool:
    """True if the ratio of both is one number in all results that have them."""
    pairs = [(one.value, other.value) for one, other in zip(means, sums, strict=True) if one and other]
    return bool(pairs) and all(isclose(mean * pairs[0][1], total * pairs[0][0]) for mean, total in pairs)


def _place(results: Sequence[Result], names: Sequence[str], baseline: Result | str | None) -> int:
    if baseline is None:
        return 0
    for place, (result, name) in enumerate(zip(results, names, strict=True)):
        if result is baseline or name == baseline:
            return place
    raise InputError(f'baseline: found "{baseline}"; accepted: {", ".join(names)}')


def _metrics(results: Sequence[Result], link: str | None) -> list[Metrics]:
    """The metrics of each result, with or without a value, nameless links being `link`; else all flows as one group."""
    groups = [set(each.group_names()) for each in results]
    every = []
    for place, (result, own) in enumerate(zip(results, groups, strict=True)):
        elsewhere = set[str]().union(*(other for n, other in enumerate(groups) if n != place))
        wanted = own & elsewhere if result.instrument == "observe" else own
        every.append(result.metrics(link, wanted) | result.lacking(link, wanted))
    if not set.intersection(*groups):
        return [metrics | result.of_all_flows() for metrics, result in zip(every, results, strict=True)]
    return every


def _relevance(row: Row, at_least: float) -> tuple[int, float]:
    """The place of a row: that of its most relevant difference, or of one that is known to be above the other."""
    return min(
        (0, 0.0) if each.matters and None in (each.a, each.b) else relevance(each.verdict, each.a, each.b, at_least)
        for each in row.differences
        if each is not None
    )


def relevance(verdict: Verdict, a: Number | None, b: Number | None, at_least: float) -> tuple[int, float]:
    """The place of a difference in a list: what is shown and matters, what has no spread but is large, the rest.

    What one side does not have comes last. Within them the largest change is first: the difference over the larger
    value, so that twice and half are alike.
    """
    if a is None or b is None:
        return 3, 0.0
    if a.value == b.value:
        return 2, 0.0
    difference = b.value - a.value
    size = abs(difference) / max(abs(a.value), abs(b.value))
    if matters(verdict, difference / a.value if a.value else None, at_least):
        return 0, -size
    return (1, -size) if verdict is Verdict.NO_SPREAD and reaches(a.value, b.value, at_least) else (2, 0.0)


def _paired(a: Result, b: Result) -> bool:
    """True if repetitions of the same number drew the same random numbers."""
    simulated = a.instrument == b.instrument == "simulate"
    return simulated and a.metadata.get("seed") is not None and a.metadata.get("seed") == b.metadata.get("seed")


def _number(metric: Metric | None) -> Number | None:
    return None if metric is None or metric.lacking else metric.number


def _lacking(metric: Metric | None) -> NoValue | None:
    return None if metric is None else metric.lacking


def _without_value(a: Metric | None, b: Metric | None, at_least: float) -> MetricComparison | None:
    """Return the comparison of a metric for which too few transfers ended in one or both; None: it has values."""
    known = a or b
    if known is None:
        return None
    one, other = (_lacking(each) or _number(each) for each in (a, b))
    if one is None or other is None or isinstance(one, Range) or isinstance(other, Range):
        reason = next(each.reason for each in (one, other) if isinstance(each, NoValue))
        alone = replace(_alone(known, Verdict.NO_VALUE), a=_number(a), b=_number(b), reason=reason)
        return replace(alone, lacking=(_lacking(a), _lacking(b)))
    found = without_value(one, other, at_least=at_least)
    return MetricComparison(
        key=known.key,
        label=known.label,
        unit=known.unit,
        a=_number(a),
        b=_number(b),
        difference=None,
        relative=None,
        paired=False,
        verdict=found.verdict,
        better=_better(found.verdict, known.better),
        matters=found.matters,
        lacking=(_lacking(a), _lacking(b)),
        reason=found.reason,
    )


def _alone(metric: Metric, verdict: Verdict) -> MetricComparison:
    return MetricComparison(
        key=metric.key,
        label=metric.label,
        unit=metric.unit,
        a=metric.number if verdict is Verdict.ONLY_A else None,
        b=metric.number if verdict is Verdict.ONLY_B else None,
        difference=None,
        relative=None,
        paired=False,
        verdict=verdict,
        better=None,
    )


def _compared(a: Metric | None, b: Metric | None, shown: Judgement | None, at_least: float) -> MetricComparison | None:
    if _lacking(a) or _lacking(b):
        return _without_value(a, b, at_least)
    if a is None or b is None:
        return _alone(a, Verdict.ONLY_A) if a else _alone(b, Verdict.ONLY_B) if b else None
    found = _to_range(a, b, at_least) if shown is None else shown
    return MetricComparison(
        key=a.key,
        label=a.label,
        unit=a.unit,
        a=a.number,
        b=b.number,
        difference=found.difference,
        relative=found.relative,
        paired=found.paired,
        verdict=found.verdict,
        better=_better(found.verdict, a.better),
        matters=found.matters,
        resolution=a.resolution + b.resolution,
        p_value=found.p_value,
    )


def _to_range(a: Metric, b: Metric, at_least: float) -> Judgement:
    """The judgement of B against A, where a model states one of both: a difference if it leaves out the whole range."""
    difference = difference_of_ranges(b.number, a.number)
    verdict = verdict_of(
        difference,
        a.value,
        b.value,
        at_least=at_least,
        resolution=a.resolution + b.resolution,
        exact=a.stated and b.stated,
    )
    relative = difference.value / abs(a.value) if a.value else None
    return Judgement(difference, relative, False, verdict, matters(verdict, relative, at_least))


def _better(verdict: Verdict, better: Better | None) -> str | None:
    if better is None or verdict not in DIFFERENT:
        return None
    return "b" if verdict.value == better else "a"
