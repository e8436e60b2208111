"""The place of an interval beside a region of accepted values: the logic of all verdicts (`.claims`).

| outcome | when |
| --- | --- |
| ``holds`` | the whole interval is within the region |
| ``fails`` | the whole interval is outside |
| ``compatible`` | it is partly within: the record is too short to say more |
| ``undecided`` | the region is uncertain, and an exact value amid ours would not decide; or ours is missing |
| | or a single value outside |
| ``reported`` | there is no region |

An interval that lies within another one, as that of a longer record does, never turns ``fails`` into ``holds``, nor the
reverse: the region is tested for equivalence (D. Schuirmann, J. Pharmacokinet. Biopharm. 15, 1987).

A value that is computed exactly (a model, a formula, a simulation without random numbers) is a point, `exactly`. A
single value whose spread is unknown, `single`, is no point: within the region it is ``compatible``, outside it is
``undecided``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from parshall.analysis.stats.confidence import ONE_VALUE, Interval

Outcome = Literal["holds", "compatible", "fails", "undecided", "reported"]

_EXACT = "exact"
_ROUNDING = 1e-9


def exactly(value: float) -> Interval:
    """A value that is computed and has no spread: a point.

    >>> exactly(2.0).half_width
    0.0
    """
    return Interval(value, value, value, 1, 1.0, _EXACT)


def single(value: float) -> Interval:
    """A single value whose spread is unknown: one run."""
    return Interval(value, None, None, 1, how=ONE_VALUE)


@dataclass(frozen=True)
class Region:
    """Values that a rule accepts: from `low` to `high`, without the ends if `is_open`."""

    low: float
    high: float
    is_open: bool = False

    def outcome(self, value: Interval | None, uncertain: float = 0.0) -> Outcome:
        """Return the place of a value beside the region, as an outcome.

        Parameters
        ----------
        uncertain
            How far the region itself may lie on either side: the half-width of the source's own value.

        Examples
        --------
        >>> [Region(1.0, 2.0).outcome(Interval(1.5, low, 1.6, n=4)) for low in (1.4, 0.9)]
        ['holds', 'compatible']
        >>> Region(1.0, 2.0).outcome(Interval(2.5, 2.4, 2.6, n=4)), Region(1.0, 2.0).outcome(single(2.5))
        ('fails', 'undecided')
        """
        if value is None:
            return "undecided"
        if value.low is None or value.high is None:
            return "compatible" if self._moved(-uncertain).holds(value.mean, value.mean) else "undecided"
        sure, possible = self._moved(-uncertain), self._moved(uncertain)
        if sure.holds(value.low, value.high):
            return "holds"
        if possible.misses(value.low, value.high):
            return "fails"
        if sure.holds(value.mean, value.mean) or possible.misses(value.mean, value.mean) or uncertain == 0:
            return "compatible"
        return "undecided"

    def _moved(self, outwards: float) -> Region:
        return replace(self, low=self.low - outwards, high=self.high + outwards)

    @property
    def _slack(self) -> float:
        """Rounding, of the magnitude of the ends."""
        return 0.0 if self.is_open else _ROUNDING * max(abs(x) for x in (self.low, self.high) if math.isfinite(x))

    def holds(self, low: float, high: float) -> bool:
        """True if all values from `low` to `high` are within."""
        if self.is_open:
            return self.low < low and high < self.high
        return self.low - self._slack <= low and high <= self.high + self._slack

    def misses(self, low: float, high: float) -> bool:
        """True if no value from `low` to `high` is within."""
        if self.is_open:
            return high <= self.low or low >= self.high
        return high < self.low - self._slack or low > self.high + self._slack
