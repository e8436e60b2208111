"""p(w) from a record: how often a window of w packets lost one, with binomial intervals and a stated smoothing.

| symbol | name | unit |
| --- | --- | --- |
| W_i | `windows`: the window of each RTT | packets |
| | `losses`: whether a packet of that window was lost | |
| n(w), l(w) | `rounds`, `lossy`: RTTs with window w, and those of them with a loss | RTTs |

Smoothing: "none" takes l(w)/n(w) as it is, as the source does; "pooled" (the default) joins neighbouring windows
until a class has at least `least` RTTs, and takes the share in the class; "isotonic" is the non-decreasing function
that is closest to l(w)/n(w), weighted by n(w). A window that was not seen has the value of the nearest smaller one
that was; below the smallest, of the smallest. Above the largest window seen a loss is certain if `ceiling` is set,
since the record knows of nothing there; by default the last value continues.

Range: "isotonic" is for losses that grow with the window; after a loss, cross traffic that lasts makes small windows
lose more (source, Fig. 4(c)), which it cannot show.

References: Loiseau 2010, §4.2, §5.2; C. Clopper, E. Pearson, The use of confidence or fiducial limits, 1934.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError

Smoothing = Literal["none", "pooled", "isotonic"]


@dataclass(frozen=True, slots=True)
class Measured:
    """A measured loss function; `measured` makes it.

    Attributes
    ----------
    window
        Windows seen, whole packets, ascending; shape (c,).
    rounds, lossy
        n(w), l(w); shape (c,).
    probability
        p(w) after smoothing; shape (c,).
    low, high
        Clopper-Pearson interval of p(w) from the counts that went into it; shape (c,).
    """

    window: FloatArray
    rounds: NDArray[np.int64]
    lossy: NDArray[np.int64]
    probability: FloatArray
    low: FloatArray
    high: FloatArray
    smoothing: Smoothing
    ceiling: bool = False

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        w = np.asarray(window, dtype=np.float64)
        place = np.clip(np.searchsorted(self.window, w, side="right") - 1, 0, self.window.size - 1)
        p = self.probability[place]
        return np.where(w >= self.window[-1], 1.0, p) if self.ceiling else np.asarray(p)

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w))."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log1p(-self(window)))


def measured(
    windows: ArrayLike,
    losses: ArrayLike,
    *,
    smoothing: Smoothing = "pooled",
    least: int = 50,
    level: float = 0.95,
    ceiling: bool = False,
) -> Measured:
    """Estimate p(w) from the window of each RTT and whether it lost a packet.

    Parameters
    ----------
    windows
        W_i, packets, shape (N,); fractions are rounded down, values below 1 count as 1.
    losses
        Shape (N,), true or not 0 where a packet of that window was lost.
    smoothing, least, level, ceiling
        See the module.

    Raises
    ------
    ModelInputError
        If the shapes differ, nothing is given, or an option is not known.

    Examples
    --------
    >>> p = measured([1, 2, 2, 4], [0, 0, 1, 1], smoothing="none")
    >>> p([1, 2, 3, 4, 9]).tolist()
    [0.0, 0.5, 0.5, 1.0, 1.0]
    """
    w, lost = np.asarray(windows, dtype=np.float64).ravel(), np.asarray(losses).ravel().astype(bool)
    if w.size == 0 or w.shape != lost.shape or not np.all(np.isfinite(w)):
        raise ModelInputError(f"windows: found {w.size} windows and {lost.size} losses, accepted is as many of each")
    if smoothing not in get_args(Smoothing):
        raise ModelInputError(f'smoothing: found "{smoothing}", accepted are "none", "pooled", "isotonic"')
    if least < 1 or not 0 < level < 1:
        raise ModelInputError("least, level: accepted are a whole number from 1, and a number between 0 and 1")
    seen, which = np.unique(np.maximum(np.floor(w), 1.0), return_inverse=True)
    rounds = np.bincount(which, minlength=seen.size)
    lossy = np.bincount(which, weights=lost, minlength=seen.size).astype(np.int64)
    pool = _pools(rounds, least) if smoothing == "pooled" else np.arange(seen.size)
    all_, bad = np.bincount(pool, weights=rounds)[pool], np.bincount(pool, weights=lossy)[pool]
    p = bad / all_
    if smoothing == "isotonic":
        p = scipy.optimize.isotonic_regression(p, weights=rounds).x
    tail = (1 - level) / 2
    low = np.where(bad == 0, 0.0, scipy.special.betaincinv(np.maximum(bad, 1), all_ - bad + 1, tail))
    high = np.where(bad == all_, 1.0, scipy.special.betaincinv(bad + 1, np.maximum(all_ - bad, 1), 1 - tail))
    return Measured(seen, rounds, lossy, np.clip(p, 0, 1), low, high, smoothing, ceiling)


def _pools(rounds: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Classes of neighbouring windows with at least `least` RTTs; what is left over joins the last."""
    pool, inside, current = np.empty(rounds.size, dtype=np.int64), 0, 0
    for place, count in enumerate(rounds):
        pool[place] = current
        inside += int(count)
        if inside >= least:
            current, inside = current + 1, 0
    if inside and current:
        pool[pool == current] = current - 1
    return pool
