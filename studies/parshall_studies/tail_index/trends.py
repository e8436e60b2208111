"""Signs of trends and their significance, and the published signs beside them.

| symbol | name here |
| --- | --- |
| 1/alpha | how heavy the tail is |
| y | a metric, a value a repetition and tail index |

y is regressed on 1/alpha over alpha >= 1.3 (at 1.1, the source says, the mean of the sizes could not be imposed),
with a level for each repetition: repetitions share their random numbers at all tail indices, and what they have in
common is no noise of the trend. The change is that of the line from the lightest to the heaviest tail over the mean of
y; its t-test gives the significance. The sign is that of the change if p < 0.05 and the change is at least 3 % (else
it is invisible in a figure), and 0 otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t

from parshall.analysis.stats.claim_rules import sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import Outcome
from parshall_studies.tail_index.measure import METRICS, WORDS
from parshall_studies.tail_index.settings import PAPER, Setting, published_sign

HEAVIEST = 1.3
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


Trends = dict[tuple[Setting, str], Change]
"""By setting and metric (`measure.METRICS`)."""


def checks(trends: Trends, load: str) -> list[Claim]:
    """A check for each published sign.

    Parameters
    ----------
    load
        How the load came about: part of the reading.
    """
    listed = (_check(setting, metric, each, load) for (setting, metric), each in trends.items() if setting.own_stack)
    return [each for each in listed if each is not None]


def outcome(setting: Setting, metric: str, change: Change) -> Outcome | None:
    """What a change says of the published sign, whosever TCP it is; None if none was published."""
    check = _check(setting, metric, change, "")
    return None if check is None else check.outcome


def _check(setting: Setting, metric: str, change: Change, load: str) -> Claim | None:
    published = published_sign(setting, metric)
    if published is None:
        return None
    return sign(
        setting.figure,
        f"{WORDS[metric]} with heavier tails, {setting.name}",
        published,
        change.interval,
        f"{change.told()}, p = {change.p_value:.2g}",
        negligible=PAPER.within("visible"),
        reading=_reading(setting, load),
    )


def _reading(setting: Setting, load: str) -> str:
    return "; ".join(part for part in (setting.reading, load) if part)


def sensitive(trends: Trends, setting: Setting, load: str) -> Claim:
    """Whether any metric of a setting changes, where the source says that they do and not how."""
    changes = [trends[setting, metric] for metric in METRICS]
    largest = max(changes, key=lambda each: abs(each.relative))
    sizes = [(max(0.0, each.low, -each.high), max(abs(each.low), abs(each.high))) for each in changes]
    low, high = (max(ends) for ends in zip(*sizes, strict=True))
    return sign(
        setting.figure,
        f"largest change of a metric with heavier tails, {setting.name}",
        1,
        Interval(abs(largest.relative), low, high, largest.values),
        "; ".join(f"{WORDS[metric]} {trends[setting, metric].told()}" for metric in METRICS),
        negligible=PAPER.within("visible"),
        reading=_reading(setting, load),
    )


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
