"""Two runs held against each other, metric by metric.

Runs with the same seed draw the same random numbers wherever their scenarios agree, so their repetitions are pairs, and
the interval is that of the differences. Otherwise the repetitions are independent samples (Welch). A difference is
*shown* where its 95 % interval leaves out 0; with one repetition there is no interval, and nothing is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from parshall.report.metrics import Better, Metric, all_metrics
from parshall.report.numbers import negligible
from parshall.report.source import RunLike
from parshall.stats.confidence import Interval, compared, paired_difference, welch_difference


class Verdict(StrEnum):
    """What can be said of B against A."""

    HIGHER = "higher"
    LOWER = "lower"
    NOT_SHOWN = "no difference shown"
    EQUAL = "equal"
    UNKNOWN = "one repetition: unknown"
    ONLY_A = "only in A"
    ONLY_B = "only in B"


@dataclass(frozen=True)
class MetricComparison:
    """One metric of both runs; `difference` is B - A.

    Parameters
    ----------
    key, label, unit
        As in `parshall.report.metrics`.
    a, b
        Means and intervals over the repetitions; ``None`` if that run does not have the metric.
    difference
        B - A with its interval; ``None`` unless both have it.
    relative
        The difference over A's mean; ``None`` if that is 0.
    paired
        Whether repetitions were compared one by one.
    better
        Which run the difference speaks for, where one direction is better: ``a``, ``b`` or ``None``.
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

    def to_json(self) -> dict[str, Any]:
        """Plain values, under the names of the fields."""
        return asdict(self)


def compare(run_a: RunLike, run_b: RunLike) -> list[MetricComparison]:
    """Every metric that one of the runs has, in the order of the page.

    Groups and links are matched by their names.
    """
    of_a, of_b = all_metrics(run_a), all_metrics(run_b)
    same_seed = _seed(run_a) is not None and _seed(run_a) == _seed(run_b)
    found = []
    for key, metric in of_a.items():
        other = of_b.get(key)
        found.append(_alone(metric, Verdict.ONLY_A) if other is None else _compared(metric, other, same_seed))
    return found + [_alone(metric, Verdict.ONLY_B) for key, metric in of_b.items() if key not in of_a]


def shown(comparisons: Sequence[MetricComparison]) -> list[MetricComparison]:
    """Those whose difference is shown by its interval."""
    return [comparison for comparison in comparisons if comparison.verdict in (Verdict.HIGHER, Verdict.LOWER)]


def _seed(run: RunLike) -> Any:
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


def _compared(a: Metric, b: Metric, same_seed: bool) -> MetricComparison:
    after, before, paired = compared(b.values, a.values, common_numbers=same_seed)
    difference = paired_difference(after, before) if paired else welch_difference(after, before)
    verdict = _verdict(difference, max(abs(a.interval.mean), abs(b.interval.mean)), paired=paired)
    mean = a.interval.mean
    return MetricComparison(
        key=a.key,
        label=a.label,
        unit=a.unit,
        a=a.interval,
        b=b.interval,
        difference=difference,
        relative=difference.mean / abs(mean) if mean else None,
        paired=paired,
        verdict=verdict,
        better=_better(verdict, a.better),
    )


def _verdict(difference: Interval, magnitude: float, *, paired: bool) -> Verdict:
    none = negligible(difference.mean, magnitude)
    if difference.low is None or difference.high is None:
        return Verdict.EQUAL if paired and none else Verdict.UNKNOWN
    if none and negligible(difference.high - difference.low, magnitude):
        return Verdict.EQUAL
    if difference.low > 0.0:
        return Verdict.HIGHER
    return Verdict.LOWER if difference.high < 0.0 else Verdict.NOT_SHOWN


def _better(verdict: Verdict, better: Better | None) -> str | None:
    if better is None or verdict not in (Verdict.HIGHER, Verdict.LOWER):
        return None
    return "b" if verdict.value == better else "a"
