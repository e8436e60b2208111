"""Two sweeps over the same parameters, held against each other point by point.

Points are matched by their parameters. Sweeps of one seed with common random numbers draw the same numbers wherever
their scenarios agree: their repetitions are pairs, and what is tested is the mean of the differences. Otherwise
repetitions are independent samples (Welch).

Many differences are tested at once, and one in twenty would be shown by chance. So a difference is called
*significant* if it is among those that Benjamini & Hochberg's procedure finds at 5 %: of all that it finds, one in
twenty is expected to be none.

References: Y. Benjamini, Y. Hochberg, J. R. Stat. Soc. B 57(1), 1995; A. Law, Simulation Modeling and Analysis,
5th ed., 2015, §10.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import false_discovery_control, ttest_1samp, ttest_ind

from parshall import notebook
from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.errors import InputError
from parshall.quantities.measuring import busiest_of_all
from parshall.quantities.naming import named
from parshall.report.comparison import relevance
from parshall.report.uncertainty import interval_text, no_value
from parshall.stats.confidence import Interval, compared
from parshall.stats.quantiles import NoValue
from parshall.stats.verdict import (
    AT_LEAST,
    Verdict,
    WithoutValue,
    differed,
    matters,
    verdict_of,
    without_value,
)

LEVEL = 0.05
"""Expected share of wrong ones among the differences that are called significant."""


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
        That of no difference in the mean; None where one repetition leaves the spread unknown.
    resolution
        What the difference is known to at best: the widths of both histograms' bins, else 0.
    at_least
        Share of A's value below which a difference does not matter.
    significant
        Whether it is among the differences found; None without a p-value.
    lacking
        Of A and of B: why it has no value; None where it has one.
    """

    metric: str
    point: Mapping[str, str]
    a: Interval | None
    b: Interval | None
    difference: Interval | None
    relative: float | None
    p_value: float | None
    resolution: float = 0.0
    at_least: float = AT_LEAST
    significant: bool | None = None
    lacking: tuple[NoValue | None, NoValue | None] = (None, None)

    @property
    def verdict(self) -> Verdict:
        """What can be said of B against A."""
        if self.a is None or self.b is None or self.difference is None:
            return self._without_value.verdict
        return verdict_of(
            self.difference,
            self.a.mean,
            self.b.mean,
            at_least=self.at_least,
            resolution=self.resolution,
            significant=self.significant,
        )

    @property
    def matters(self) -> bool:
        """Whether it is shown and reaches the threshold of practical importance."""
        if self.difference is None:
            return self._without_value.matters
        return matters(self.verdict, self.relative, self.at_least)

    @property
    def why(self) -> str:
        """Why there is no interval, or no value; empty where there is one."""
        if self.difference is None:
            return self._without_value.reason
        return self.difference.how if self.difference.low is None else ""

    @property
    def _without_value(self) -> WithoutValue:
        sides = [lacking or value for lacking, value in zip(self.lacking, (self.a, self.b), strict=True)]
        if sides[0] is None or sides[1] is None:
            raise ValueError(f"{self.metric}: a side without a value does not say why")
        return without_value(sides[0], sides[1], at_least=self.at_least)


@dataclass(frozen=True)
class Comparison:
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
        # Why there is no value stands where the value would.
        why = "" if each.difference is None else each.why
        return (metric.label(self.link), *texts, each.verdict.text(self.at_least, why))

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
        """What a notebook shows: a row a difference."""
        columns = ("point", "metric", self.a, self.b, f"{self.b} - {self.a}", "")
        rows = (
            [", ".join(f"{k} = {v}" for k, v in each.point.items()), *self.cells(each)] for each in self.differences
        )
        lacking = "; ".join(f"{name} has {count} point(s) that the other lacks" for name, count in self.alone)
        return notebook.fragment("Comparison", lacking, notebook.table(columns, rows))

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return {
            **{key: value for key, value in asdict(self).items() if key != "differences"},
            "differences": [
                {**asdict(each), "verdict": each.verdict, "matters": each.matters, "why": each.why}
                for each in self.differences
            ],
        }


def compare(a: Sweep, b: Sweep, metrics: Sequence[str] = (), at_least: float = AT_LEAST) -> Comparison:
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
    differences = [
        difference
        for metric in metrics or a.record.metrics
        for key in common
        if (difference := _difference(a, b, metric, (places_a[key], places_b[key]), paired=paired, at_least=at_least))
        is not None
    ]
    if not differences:
        raise InputError(f"compare: no run of both sweeps has {', '.join(metrics or a.record.metrics)}")
    only_a, only_b = len(places_a) - len(common), len(places_b) - len(common)
    ordered = sorted(controlled(differences), key=lambda each: _relevance(each, at_least))
    return Comparison(a.name, b.name, paired, tuple(ordered), only_a, only_b, link, at_least)


def _relevance(each: Difference, at_least: float) -> tuple[int, float]:
    """The place of a difference; what is known without a value of both, and matters, is among the first."""
    shown = each.matters and each.difference is None
    return (0, 0.0) if shown else relevance(each.verdict, each.a, each.b, at_least)


def _places(sweep: Sweep) -> dict[tuple[Any, ...], int]:
    """Where each point is, by its parameters in the order of their names; "10 ms" and "0.01 s" are the same."""
    order = sorted(range(len(sweep.record.parameters)), key=lambda i: sweep.record.parameters[i].key)
    return {tuple(_same(point.values[i]) for i in order): number for number, point in enumerate(sweep.record.points)}


def _same(value: Any) -> Any:
    quantity = measured(value)
    return label(value) if quantity is None else (quantity.kind, quantity.number)


def _difference(
    a: Sweep, b: Sweep, metric: str, places: tuple[int, int], *, paired: bool, at_least: float
) -> Difference | None:
    one, two = a.estimate(metric, places[0]), b.estimate(metric, places[1])
    values = zip(a.record.parameters, a.record.points[places[0]].values, strict=True)
    point = {parameter.key: label(value) for parameter, value in values}
    lacking = a.lacking(metric, places[0]), b.lacking(metric, places[1])
    if any(lacking) and all(each or found for each, found in zip(lacking, (one, two), strict=True)):
        return Difference(
            metric,
            point,
            a=None if one is None else one.interval,
            b=None if two is None else two.interval,
            difference=None,
            relative=None,
            p_value=None,
            at_least=at_least,
            lacking=lacking,
        )
    if one is None or two is None:
        return None
    difference, pairs = differed(one, two, common_numbers=paired)
    mean = one.interval.mean
    after, before, _ = compared(two.by_repetition, one.by_repetition, common_numbers=paired)
    return Difference(
        metric,
        point,
        one.interval,
        two.interval,
        difference,
        difference.mean / abs(mean) if mean else None,
        _p_value(np.asarray(after), np.asarray(before), pairs),
        one.resolution + two.resolution,
        at_least,
    )


def _p_value(after: np.ndarray[Any, Any], before: np.ndarray[Any, Any], paired: bool) -> float | None:
    if min(after.size, before.size) < 2:
        return None
    spread = np.ptp(after - before) if paired else max(np.ptp(after), np.ptp(before))
    if spread == 0:
        return 1.0 if after[0] == before[0] else None  # the same difference every time says nothing of chance
    tested = ttest_1samp(after - before, 0.0) if paired else ttest_ind(after, before, equal_var=False)
    return float(tested.pvalue)


def controlled(differences: Sequence[Difference]) -> list[Difference]:
    """Say of each difference whether it is among those found (Benjamini & Hochberg 1995, §3.1)."""
    known = [each.p_value for each in differences if each.p_value is not None]
    adjusted = iter(false_discovery_control(known) if known else ())
    return [
        each if each.p_value is None else replace(each, significant=bool(next(adjusted) <= LEVEL))
        for each in differences
    ]
