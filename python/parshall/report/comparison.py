"""Two runs held against each other, metric by metric.

Runs with the same seed draw the same random numbers wherever their scenarios agree, so their repetitions are pairs, and
the interval is that of the differences. Otherwise the repetitions are independent samples (Welch).
`parshall.stats.verdict` decides what an interval shows. What differs most and matters comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from parshall.quantities.definition import Better
from parshall.quantities.measuring import Metric, busiest_of_both
from parshall.records import Result
from parshall.stats.confidence import Interval, compared, paired_difference, welch_difference
from parshall.stats.verdict import AT_LEAST, DIFFERENT, Verdict, judged, matters, reaches

__all__ = ["MetricComparison", "Verdict", "compare", "shown"]


@dataclass(frozen=True)
class MetricComparison:
    """One metric of both runs; `difference` is B - A.

    Parameters
    ----------
    key, label, unit
        As in `parshall.quantities.catalog`.
    a, b
        Estimates and intervals over the repetitions; ``None`` if that run does not have the metric.
    difference
        B - A with its interval; ``None`` unless both have it.
    relative
        The difference over A's value; ``None`` if that is 0.
    paired
        Whether repetitions were compared one by one.
    better
        Which run the difference speaks for, where one direction is better: ``a``, ``b`` or ``None``.
    matters
        Whether a difference is shown and reaches the threshold of practical importance.
    """

    key: str
    label: str
    unit: str
    a: Interval | None
    b: Interval | None
    difference: Interval | None
    relative: float | None
    paired: bool
    verdict: Verdict
    better: str | None
    matters: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return asdict(self)


def compare(run_a: Result, run_b: Result, at_least: float = AT_LEAST) -> list[MetricComparison]:
    """Every metric that one of the runs has; first what differs and matters, the largest relative difference first.

    Groups and links are matched by their names. What names no link is of the one that is busiest over both runs, of
    those that both have.

    Parameters
    ----------
    at_least
        Share of A's value below which a difference does not matter.
    """
    link = busiest_of_both(run.tables.get("links") for run in (run_a, run_b))
    of_a, of_b = run_a.quantities(link), run_b.quantities(link)
    same_seed = _seed(run_a) is not None and _seed(run_a) == _seed(run_b)
    found = [_compared(metric, of_b.get(key), same_seed, at_least) for key, metric in of_a.items()]
    found += [_alone(metric, Verdict.ONLY_B) for key, metric in of_b.items() if key not in of_a]
    return sorted(found, key=lambda each: relevance(each.verdict, each.a, each.b, at_least))


def relevance(verdict: Verdict, a: Interval | None, b: Interval | None, at_least: float) -> tuple[int, float]:
    """The place of a difference in a list: what is shown and matters, what has no spread but is large, the rest.

    Within them the largest change is first: the difference over the larger value, so that twice and half are alike.
    """
    if a is None or b is None or a.mean == b.mean:
        return 2, 0.0
    difference = b.mean - a.mean
    size = abs(difference) / max(abs(a.mean), abs(b.mean))
    if matters(verdict, difference / a.mean if a.mean else None, at_least):
        return 0, -size
    return (1, -size) if verdict is Verdict.NO_SPREAD and reaches(a.mean, b.mean, at_least) else (2, 0.0)


def shown(comparisons: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Those whose difference is shown by its interval."""
    return [comparison for comparison in comparisons if comparison.verdict in DIFFERENT]


def _seed(run: Result) -> Any:
    return run.metadata.get("seed")


def _alone(metric: Metric, verdict: Verdict) -> MetricComparison:
    return MetricComparison(
        key=metric.key,
        label=metric.label,
        unit=metric.unit,
        a=metric.interval if verdict is Verdict.ONLY_A else None,
        b=metric.interval if verdict is Verdict.ONLY_B else None,
        difference=None,
        relative=None,
        paired=False,
        verdict=verdict,
        better=None,
    )


def _compared(a: Metric, b: Metric | None, same_seed: bool, at_least: float) -> MetricComparison:
    if b is None:
        return _alone(a, Verdict.ONLY_A)
    difference, paired = differed(a.values, b.values, common_numbers=same_seed)
    mean, other = a.interval.mean, b.interval.mean
    if difference is None:  # a quantile without an interval
        difference = Interval(other - mean, None, None, min(a.interval.n, b.interval.n), how=a.interval.how)
    resolution = a.resolution + b.resolution
    verdict = judged(difference, mean, other, at_least=at_least, resolution=resolution)
    relative = difference.mean / abs(mean) if mean else None
    return MetricComparison(
        key=a.key,
        label=a.label,
        unit=a.unit,
        a=a.interval,
        b=b.interval,
        difference=difference,
        relative=relative,
        paired=paired,
        verdict=verdict,
        better=_better(verdict, a.better),
        matters=matters(verdict, relative, at_least),
    )


def differed(a: Mapping[int, float], b: Mapping[int, float], *, common_numbers: bool) -> tuple[Interval | None, bool]:
    """B - A of values by repetition with its interval, None without values; and whether they were compared in pairs."""
    if not a or not b:
        return None, False
    after, before, paired = compared(b, a, common_numbers=common_numbers)
    return (paired_difference(after, before) if paired else welch_difference(after, before)), paired


def _better(verdict: Verdict, better: Better | None) -> str | None:
    if better is None or verdict not in DIFFERENT:
        return None
    return "b" if verdict.value == better else "a"
