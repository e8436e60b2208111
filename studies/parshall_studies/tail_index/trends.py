"""Signs of trends and their significance.

| symbol | name here |
| --- | --- |
| 1/alpha | how heavy the tail is |
| y | a metric, a value a repetition and tail index |

y is regressed on 1/alpha, with a level for each repetition: repetitions share their random numbers at all tail indices,
and what they have in common is no noise of the trend. The change is that of the line from the lightest to the heaviest
tail over the mean of y; its t-test gives the significance. The sign is that of the change if p < 0.05 and the change is
at least 3 % (else it is invisible in a figure), and 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from parshall.analysis.stats.confidence import Interval
from parshall_studies.tail_index.measure import METRICS
from parshall_studies.tail_index.runs import Rows
from parshall_studies.tail_index.setting import HEAVIEST, PAPER, Curve, Setting

VISIBLE = PAPER.within("visible").value
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Change:
    """Relative change of a metric from the lightest to the heaviest tail, its 95 % interval, p-value and sample."""

    relative: float
    low: float
    high: float
    p_value: float
    values: int = 0

    @property
    def sign(self) -> int:
        """1, -1, or 0 where the change is not significant or not visible."""
        seen = self.p_value < SIGNIFICANCE and abs(self.relative) >= VISIBLE
        return int(np.sign(self.relative)) if seen else 0

    def told(self) -> str:
        """The change with its interval, in words."""
        return f"{self.relative:+.1%} ({self.low:+.1%} to {self.high:+.1%})"

    @property
    def interval(self) -> Interval:
        """The change and its interval."""
        return Interval(self.relative, self.low, self.high, self.values)


Trends = dict[tuple[Curve, str], Change]
"""By curve and metric (`measure.METRICS`)."""


def trends(rows: Rows, setting: Setting) -> Trends:
    """The change of every metric of every curve."""
    return {
        (curve, metric): change(list(row), [each.values(metric) for each in row.values()], setting.heaviest)
        for curve, row in rows.items()
        for metric in METRICS
    }


def change(tail_indices: Sequence[float], values: Sequence[ArrayLike], heaviest: float = HEAVIEST) -> Change:
    """Change of `values`, one vector of repetitions a tail index, over tail indices from `heaviest` on.

    Examples
    --------
    >>> found = change([1.5, 2.0, 4.0], [[1.30, 1.31], [1.20, 1.21], [1.05, 1.06]])
    >>> found.sign, round(found.relative, 2)
    (1, 0.21)
    """
    used = [(1 / alpha, np.asarray(ys, np.float64)) for alpha, ys in zip(tail_indices, values, strict=True)]
    used = [(x, ys) for x, ys in used if x <= 1 / heaviest + 1e-12]
    y = np.stack([ys for _, ys in used])
    x = np.array([x for x, _ in used])[:, np.newaxis]
    scale = float(np.ptp(x) / max(abs(y.mean()), np.finfo(float).tiny))
    own = y - y.mean(axis=0)
    centred = x - x.mean()
    spread = float((centred**2).sum() * y.shape[1])
    slope = float((centred * own).sum() / spread)
    freedom = y.size - y.shape[1] - 1
    error = float(np.sqrt(((own - slope * centred) ** 2).sum() / freedom / spread))
    half = float(t.ppf(0.975, freedom)) * error
    p_value = float(2 * t.sf(abs(slope) / error, freedom)) if error > 0 else float(slope == 0)
    return Change(slope * scale, (slope - half) * scale, (slope + half) * scale, p_value, y.size)
