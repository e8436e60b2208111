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

from parshall.campaign.result import Sweep
from parshall.campaign.values import label, measured
from parshall.errors import InputError
from parshall.report.comparison import Verdict
from parshall.stats.confidence import Interval, compared, mean_interval, paired_difference, welch_difference

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
        Means and 95 % intervals over the repetitions.
    difference
        B - A with its interval.
    relative
        The difference over A's mean; None if that is 0.
    p_value
        That of no difference in the mean; None where one repetition leaves the spread unknown.
    significant
        Whether it is among the differences found; None without a p-value.
    """

    metric: str
    point: Mapping[str, str]
    a: Interval
    b: Interval
    difference: Interval
    relative: float | None
    p_value: float | None
    significant: bool | None = None

    @property
    def verdict(self) -> Verdict:
        """What can be said of B against A."""
        if self.significant is None:
            return Verdict.UNKNOWN
        if self.difference.mean == 0 and self.p_value == 1:
            return Verdict.EQUAL
        if not self.significant:
            return Verdict.NOT_SHOWN
        return Verdict.HIGHER if self.difference.mean > 0 else Verdict.LOWER


@dataclass(frozen=True)
class Comparison:
    """All differences, in the order of A's points, metric by metric."""

    a: str
    b: str
    paired: bool
    differences: tuple[Difference, ...]
    only_a: int
    """Points that B does not have."""
    only_b: int

    @property
    def frame(self) -> pl.DataFrame:
        """One row a difference: the parameters, the metric, means and intervals, p-value, verdict."""
        rows = []
        for each in self.differences:
            ends = {
                f"{name}{end}": value
                for name, of in (("a", each.a), ("b", each.b), ("difference", each.difference))
                for end, value in (("", of.mean), ("_low", of.low), ("_high", of.high))
            }
            tested = {"relative": each.relative, "p_value": each.p_value, "significant": each.significant}
            rows.append({**each.point, "metric": each.metric, **ends, **tested, "verdict": str(each.verdict)})
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return {
            **{key: value for key, value in asdict(self).items() if key != "differences"},
            "differences": [{**asdict(each), "verdict": each.verdict} for each in self.differences],
        }


def compare(a: Sweep, b: Sweep, metrics: Sequence[str] = ()) -> Comparison:
    """Compare two sweeps.

    Parameters
    ----------
    metrics
        Which; without any those that A's page shows first.

    Raises
    ------
    InputError
        They have different parameters, no point in common, or no run with such a metric.
    """
    names_a, names_b = ([parameter.key for parameter in sweep.record.parameters] for sweep in (a, b))
    if sorted(names_a) != sorted(names_b):
        listed = " and ".join(f"{sweep.name} has {', '.join(names)}" for sweep, names in ((a, names_a), (b, names_b)))
        raise InputError(f"compare: found sweeps over different parameters ({listed}); accepted are the same ones")
    places_a, places_b = _places(a), _places(b)
    common = [key for key in places_a if key in places_b]
    if not common:
        raise InputError(f"compare: {a.name} and {b.name} have no point in common")
    paired = a.record.seed == b.record.seed and {a.record.random_numbers, b.record.random_numbers} == {"common"}
    found = [
        difference
        for metric in metrics or a.record.metrics
        for key in common
        if (difference := _difference(a, b, metric, (places_a[key], places_b[key]), paired)) is not None
    ]
    if not found:
        raise InputError(f"compare: no run of both sweeps has {', '.join(metrics or a.record.metrics)}")
    only_a, only_b = len(places_a) - len(common), len(places_b) - len(common)
    return Comparison(a.name, b.name, paired, tuple(judged(found)), only_a, only_b)


def _places(sweep: Sweep) -> dict[tuple[Any, ...], int]:
    """Where each point is, by its parameters in the order of their names; "10 ms" and "0.01 s" are the same."""
    order = sorted(range(len(sweep.record.parameters)), key=lambda i: sweep.record.parameters[i].key)
    return {tuple(_same(point.values[i]) for i in order): number for number, point in enumerate(sweep.record.points)}


def _same(value: Any) -> Any:
    found = measured(value)
    return label(value) if found is None else (found.kind, found.number)


def _difference(a: Sweep, b: Sweep, metric: str, places: tuple[int, int], paired: bool) -> Difference | None:
    of_a, of_b = a.values(metric, places[0]), b.values(metric, places[1])
    if not of_a or not of_b:
        return None
    after, before, pairs = compared(of_b, of_a, common_numbers=paired)
    difference = paired_difference(after, before) if pairs else welch_difference(after, before)
    mean = mean_interval(list(of_a.values()))
    values = zip(a.record.parameters, a.record.points[places[0]].values, strict=True)
    return Difference(
        metric,
        {parameter.key: label(value) for parameter, value in values},
        mean,
        mean_interval(list(of_b.values())),
        difference,
        difference.mean / abs(mean.mean) if mean.mean else None,
        _p_value(np.asarray(after), np.asarray(before), pairs),
    )


def _p_value(after: np.ndarray[Any, Any], before: np.ndarray[Any, Any], paired: bool) -> float | None:
    if min(after.size, before.size) < 2:
        return None
    if np.ptp(after - before if paired else np.concatenate([after, before])) == 0:
        return 1.0 if after[0] == before[0] else 0.0  # the same difference every time
    tested = ttest_1samp(after - before, 0.0) if paired else ttest_ind(after, before, equal_var=False)
    return float(tested.pvalue)


def judged(found: Sequence[Difference]) -> list[Difference]:
    """Say of each difference whether it is among those found (Benjamini & Hochberg 1995, §3.1)."""
    known = [each.p_value for each in found if each.p_value is not None]
    adjusted = iter(false_discovery_control(known) if known else ())
    return [
        each if each.p_value is None else replace(each, significant=bool(next(adjusted) <= LEVEL)) for each in found
    ]
