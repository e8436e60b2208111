"""Ranges: what a model states of a quantity where it leaves a condition open. A range is no confidence interval.

A model that does not know how full a buffer is has a value for the empty one, for the full one, and for those in
between. The true value is expected between both, but with no probability: nothing was drawn, and no repetition makes
the range smaller. A `Range` therefore has no level and no number of values.

The difference of two ranges, or of a range and an interval, is a range as well (interval arithmetic; R. Moore,
R. Kearfott, M. Cloud, Introduction to Interval Analysis, 2009, §2.1): from the smallest to the largest difference of
what is in both.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, cast

from parshall.analysis.stats.confidence import Interval, StatisticsError

ENDS_OF_BOTH = "the ends of both"


@dataclass(frozen=True, slots=True)
class Range:
    """A value that a model states, and the least and the largest one that its open conditions allow.

    Parameters
    ----------
    value
        Under the middle condition, e.g. half full buffers.
    low, high
        The least and the largest; both are `value` where the model leaves nothing open.
    between
        The model and the conditions that both ends belong to: ``cubic, from empty to full buffers``; of a value without
        a range, the model.
    kind
        ``range``: tells it from an interval in JSON.

    Raises
    ------
    StatisticsError
        If `low` <= `value` <= `high` does not hold.

    Examples
    --------
    >>> Range(3.0, 2.0, 3.5, "cubic, from empty to full buffers").has_width
    True
    """

    value: float
    low: float
    high: float
    between: str
    kind: Literal["range"] = field(default="range", init=False)

    def __post_init__(self) -> None:
        if not self.low <= self.value <= self.high:
            raise StatisticsError(f"range: found {self.value} from {self.low} to {self.high}, accepted is low to high")

    @property
    def has_width(self) -> bool:
        """True if the model leaves a range of values open."""
        return self.low < self.high

    def times(self, factor: float) -> Range:
        """The range of `factor` times the quantity; `factor` is not negative.

        Examples
        --------
        >>> Range(3.0, 2.0, 3.5, "cubic, from empty to full buffers").times(2).high
        7.0
        """
        return Range(factor * self.value, factor * self.low, factor * self.high, self.between)


Number = Interval | Range
"""An interval or a range: both have `value`, `low` and `high`; the ends of an interval may be `None`."""


def difference_of_ranges(after: Number, before: Number) -> Number:
    """`after` - `before`, of which one at least is a range: from the least to the largest difference.

    Of an estimate and a range, the difference to each value of the range is between these ends with the level of the
    estimate's interval at least. Where the estimate has no interval, neither has the difference.

    Examples
    --------
    >>> difference_of_ranges(
    ...     Interval(3.0, 2.5, 3.5, n=4), Range(1.0, 0.5, 2.0, "cubic, from empty to full buffers")
    ... ).low
    0.5
    """
    value = after.value - before.value
    if after.low is None or after.high is None or before.low is None or before.high is None:
        estimate = cast("Interval", before if before.low is None else after)  # a range has both ends
        return Interval(value, None, None, estimate.n, estimate.level, estimate.how)
    return Range(value, after.low - before.high, after.high - before.low, ENDS_OF_BOTH)
