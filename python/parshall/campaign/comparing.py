"""Two sweeps over the same parameters, held against each other point by point.

Points are matched by their parameters. Sweeps of one seed with common random numbers draw the same numbers wherever
their scenarios agree: their repetitions are pairs, and what is tested is the mean of the differences. Otherwise
repetitions are independent samples (Welch).

All differences are one family (`parshall.analysis.stats.families`): *significant* are those that hold at its false
discovery rate.

References: A. Law, Simulation Modeling and Analysis, 5th ed., 2015, §10.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import polars as pl

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.verdict import AT_LEAST, Judgement, Verdict, why_none, without_value
from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.report.comparing import verdict_text
from parshall.report.comparison import relevance
from parshall.report.uncertainty import interval_text, no_value
from parshall.results.quantities.measuring import busiest_of_all
from parshall.results.quantities.naming import named


@dataclass(frozen=True)
class Difference:
    """One metric at one point of both sweeps.

    Parameters
    ----------
    point
        The parameters, as text.
    a, b
        Means and 95 % intervals over the repetitions; None where too few transfers ended.
    difference
        B - A with its interval; None unless both have a value.
    relative
        The difference over A's mean; None if that is 0.
    p_value
        That of no difference in the mean; None where it says nothing of chance: of one repetition, without spread.
    significant
        Whether it is among the differences found; None without a p-value.
    resolution
        What the difference is known to at best: the widths of both histograms' bins, else 0.
    verdict
        What can be said of B against A.
    matters
        Whether it is shown and reaches the threshold of practical importance.
    why
        Why there is no interval, or no value; empty where there is one.
    lacking
        Of A and of B: why it has no value; None where it has one.
    """

    metric: str
    point: Mapping[str, str]
    a: Interval | None
    b: Interval | None
    difference: Interval | None = None
    relative: float | None = None
    p_value: float | None = None
    significant: bool | None = None
    resolution: float = 0.0
    verdict: Verdict = Verdict.UNKNOWN
    matters: bool = False
    why: str = ""
    lacking: tuple[NoValue | None, NoValue | None] = (None, None)


@dataclass(frozen=True)
class SweepComparison:
    """All differences: first those that are shown and matter, the largest first; the rest in the order of points."""

    a: str
    b: str
    paired: bool
    differences: tuple[Difference, ...]
    only_a: int
    """Points that B does not have."""
    only_b: int
    link: str | None = None
    """That of which metrics without one in their name speak, in both sweeps."""
    at_least: float = AT_LEAST

    @property
    def tested(self) -> int:
        """Number of differences that are judged together: those with a p-value."""
        return sum(each.p_value is not None for each in self.differences)

    @property
    def alone(self) -> list[tuple[str, int]]:
        """The sweeps of which the other lacks points, and how many."""
        return [(name, number) for name, number in ((self.a, self.only_a), (self.b, self.only_b)) if number]

    def cells(self, each: Difference) -> tuple[str, ...]:
        """A difference in words: the metric, A, B and B - A with their intervals, and what can be said."""
        metric = named(each.metric)
        texts = [
            interval_text(interval, metric.unit) if lacking is None else no_value(lacking, metric.unit)
            for lacking, interval in zip((*each.lacking, None), (each.a, each.b, each.difference), strict=True)
        ]
        return (metric.label(self.link), *texts, verdict_text(each, metric.unit, self.at_least))

    @property
    def frame(self) -> pl.DataFrame:
        """One row a difference: the parameters, the metric, means and intervals, p-value, verdict."""
        rows = []
        for each in self.differences:
            ends = {
                f"{name}{end}": value
                for name, of in (("a", each.a), ("b", each.b), ("difference", each.difference))
                for end, value in zip(
                    ("", "_low", "_high"), (None,) * 3 if of is None else (of.mean, of.low, of.high), strict=True
                )
            }
            tested = {"relative": each.relative, "p_value": each.p_value, "significant": each.significant}
            verdict = {"verdict": str(each.verdict), "matters": each.matters, "why": each.why}
            rows.append({**each.point, "metric": each.metric, **ends, **tested, **verdict})
        return pl.DataFrame(rows, infer_schema_length=None)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: a row a difference."""
        columns = ("point", "metric", self.a, self.b, f"{self.b} - {self.a}", "")
        rows = (
            [", ".join(f"{k} = {v}" for k, v in each.point.items()), *self.cells(each)] for each in self.differences
        )
        lacking = "; ".join(f"{name} has {count} point(s) that the other lacks" for name, count in self.alone)
        return notebook.fragment("Comparison", lacking, notebook.table(columns, rows))

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return asdict(self)


def compare(a: Sweep, b: Sweep, metrics: Sequence[str] = (), at_least: float = AT_LEAST) -> SweepComparison:
    """Compare two sweeps.

    Parameters
    ----------
    metrics
        Which; without any those that A's page shows first.
    at_least
        Share of A's value below which a difference does not matter.

    Raises
    ------
    InputError
        They have different parameters, no point in common, or no run with such a metric.
    """
    names_a, names_b = ([parameter.key for parameter in sweep.record.parameters] for sweep in (a, b))
    if sorted(names_a) != sorted(names_b):
        listed = " and ".join(f"{sweep.name} has {', '.join(names)}" for sweep, names in ((a, names_a), (b, names_b)))
        raise InputError(f"compare: found sweeps over different parameters ({listed}); accepted are the same ones")
    link = busiest_of_all(sweep.table("links") for sweep in (a, b))
    a, b = a.speaking_of(link), b.speaking_of(link)
    places_a, places_b = _places(a), _places(b)
    common = [key for key in places_a if key in places_b]
    if not common:
        raise InputError(f"compare: {a.name} and {b.name} have no point in common")
    paired = a.record.seed == b.record.seed and {a.record.random_numbers, b.record.random_numbers} == {"common"}
    pairs = {
        (metric, key): Pair(one, two, paired)
        for metric in metrics or a.record.metrics
        for key in common
        if (one := a.estimate(metric, places_a[key])) and (two := b.estimate(metric, places_b[key]))
    }
    if not pairs:
        raise InputError(f"compare: no run of both sweeps has {', '.join(metrics or a.record.metrics)}")
    only_a, only_b = len(places_a) - len(common), len(places_b) - len(common)
    differences = [
        _difference(metric, _point(a, places_a[key]), pairs[metric, key], found)
        for (metric, key), found in judged(pairs, at_least=at_least).items()
    ]
    differences += [
        without
        for metric in metrics or a.record.metrics
        for key in common
        if (without := _without_value(a, b, metric, (places_a[key], places_b[key]), at_least)) is not None
    ]
    ordered = sorted(differences, key=lambda each: _relevance(each, at_least))
    return SweepComparison(a.name, b.name, paired, tuple(ordered), only_a, only_b, link, at_least)


def _relevance(each: Difference, at_least: float) -> tuple[int, float]:
    """The place of a difference; what is known without a value of both, and matters, is among the first."""
    shown = each.matters and each.difference is None
    return (0, 0.0) if shown else relevance(each.verdict, each.a, each.b, at_least)


def _places(sweep: Sweep) -> dict[tuple[Any, ...], int]:
    """Return the number of each point by its parameters, in the order of names; "10 ms" equals "0.01 s"."""
    order = sorted(range(len(sweep.record.parameters)), key=lambda i: sweep.record.parameters[i].key)
    return {tuple(_same(point.values[i]) for i in order): number for number, point in enumerate(sweep.record.points)}


def _same(value: Any) -> Any:
    quantity = measured(value)
    return label(value) if quantity is None else (quantity.kind, quantity.number)


def _point(sweep: Sweep, number: int) -> dict[str, str]:
    """The parameters of a point, as text."""
    values = zip(sweep.record.parameters, sweep.record.points[number].values, strict=True)
    return {parameter.key: label(value) for parameter, value in values}


def _difference(metric: str, point: Mapping[str, str], pair: Pair, found: Judgement) -> Difference:
    difference = cast("Interval", found.difference)  # neither is stated by a model
    return Difference(
        metric,
        point,
        pair.a.interval,
        pair.b.interval,
        difference,
        found.relative,
        found.p_value,
        found.significant,
        pair.a.resolution + pair.b.resolution,
        found.verdict,
        found.matters,
        why_none(difference),
    )


def _without_value(a: Sweep, b: Sweep, metric: str, places: tuple[int, int], at_least: float) -> Difference | None:
    """The difference where too few transfers ended on one side at least; None where both have a value or nothing."""
    lacking = a.lacking(metric, places[0]), b.lacking(metric, places[1])
    one, two = a.interval(metric, places[0]), b.interval(metric, places[1])
    sides = lacking[0] or one, lacking[1] or two
    if not any(lacking) or sides[0] is None or sides[1] is None:
        return None
    found = without_value(sides[0], sides[1], at_least=at_least)
    return Difference(
        metric,
        _point(a, places[0]),
        one,
        two,
        verdict=found.verdict,
        matters=found.matters,
        why=found.reason,
        lacking=lacking,
    )
