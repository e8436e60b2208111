"""Signs of trends and their significance.

| symbol | name here |
| --- | --- |
| 1/alpha | how heavy the tail is |
| y | a metric, a value a repetition and tail index |

y is regressed on 1/alpha over alpha >= 1.3 (at 1.1, the source says, the mean of the sizes could not be imposed). The
change is that of the line from the lightest to the heaviest tail over the mean of y; its t-test gives the
significance. The sign is that of the change if p < 0.05 and the change is at least 3 % (else it is invisible in a
figure), and 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import linregress, t

HEAVIEST = 1.3
VISIBLE = 0.03
SIGNIFICANCE = 0.05


@dataclass(frozen=True)
class Change:
    """Relative change of a metric from the lightest to the heaviest tail, its 95 % interval and p-value."""

    relative: float
    low: float
    high: float
    p_value: float

    @property
    def sign(self) -> int:
        """1, -1, or 0 where the change is not significant or not visible."""
        seen = self.p_value < SIGNIFICANCE and abs(self.relative) >= VISIBLE
        return int(np.sign(self.relative)) if seen else 0


def change(tail_indices: Sequence[float], values: Sequence[ArrayLike]) -> Change:
    """Change of `values`, one vector of repetitions a tail index.

    Examples
    --------
    >>> found = change([1.5, 2.0, 4.0], [[1.30, 1.31], [1.20, 1.21], [1.05, 1.06]])
    >>> found.sign, round(found.relative, 2)
    (1, 0.21)
    """
    pairs = [
        (1 / alpha, float(y))
        for alpha, ys in zip(tail_indices, values, strict=True)
        if alpha >= HEAVIEST
        for y in np.asarray(ys)
    ]
    x, y = (np.array(each) for each in zip(*pairs, strict=True))
    line = linregress(x, y)
    scale = float(np.ptp(x) / max(abs(y.mean()), np.finfo(float).tiny))
    half = float(t.ppf(0.975, x.size - 2)) * float(line.stderr)
    p_value = float(line.pvalue) if np.isfinite(line.pvalue) else 1.0
    slope = float(line.slope)
    return Change(slope * scale, (slope - half) * scale, (slope + half) * scale, p_value)
