"""The Legendre transform f(alpha) = inf_q Lambda(q) - alpha q of a convex Lambda that is costly to evaluate.

Lambda comes with its derivative, so that each evaluation gives a tangent: f lies between the lowest value seen and
where the tangents around the minimum meet. The search ends when these agree; a corner of Lambda, where a second
branch takes over, is found as their crossing.

| symbol | name | unit |
| --- | --- | --- |
| q | tilt | 1/packet |
| Lambda(q), alpha = Lambda'(q) | `Tilted.log_radius`, `.mean` | 1/RTT, packets |
| h(q) | Lambda(q) - alpha q, from nu + q (reference - alpha): no cancellation at large q | 1/RTT |
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from parshall.models.inputs import FloatArray
from parshall.models.skip_free import IntArray, Tilted


class Tilting(Protocol):
    """A chain whose tilted spectral radius can be computed.

    Attributes
    ----------
    lowest, highest
        The ends of the spectrum, or of its known part.
    limits
        The tilts between which it is known; None: all of them.
    costly
        Whether a solution takes so long (some 0.1 s) that f is better interpolated.
    """

    lowest: float
    highest: float
    limits: tuple[float, float] | None
    costly: bool

    def solve(self, q: FloatArray, guess: FloatArray | None = None) -> Tilted:
        """Lambda and its derivative at each q."""
        ...

    def end(self, highest: bool) -> float:
        """F at an end of the spectrum."""
        ...


@dataclass(frozen=True, slots=True)
class Nodes:
    """Solutions in ascending order of q, shape (k,)."""

    q: FloatArray
    at: Tilted

    def joined(self, other: Nodes) -> Nodes:
        """Both together."""
        q, first = np.unique(np.concatenate([self.q, other.q]), return_index=True)
        fields = ("reduced", "reference", "log_radius", "mean")
        both = [np.concatenate([getattr(self.at, f), getattr(other.at, f)])[first] for f in fields]
        both[3] = np.maximum.accumulate(both[3])
        return Nodes(q, Tilted(*both))

    def value(self, index: IntArray, alpha: FloatArray) -> FloatArray:
        """H of the nodes `index` at `alpha`."""
        return np.asarray(self.at.reduced[index] + self.q[index] * (self.at.reference[index] - alpha))


def solved(tilting: Tilting, q: FloatArray, guess: FloatArray | None = None) -> Nodes:
    """Nodes at `q`."""
    return Nodes(q, tilting.solve(q, guess))


def transform(tilting: Tilting, nodes: Nodes, alpha: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """F and the q where it is attained, at each `alpha` between the nodes' means; both shape (k,)."""
    right = np.clip(np.searchsorted(nodes.at.mean, alpha, side="left"), 1, nodes.q.size - 1)
    left = right - 1
    low, high = nodes.q[left], nodes.q[right]
    h_low, h_high = nodes.value(left, alpha), nodes.value(right, alpha)
    g_low, g_high = np.minimum(nodes.at.mean[left] - alpha, 0), np.maximum(nodes.at.mean[right] - alpha, 0)
    best, best_q = np.minimum(h_low, h_high), np.where(h_low < h_high, low, high)
    gap_before = np.full(alpha.shape, np.inf)
    open_ = np.arange(alpha.size)
    for _ in range(60):
        crossing, floor = _crossing(low, high, h_low, h_high, g_low, g_high)
        gap = best[open_] - np.minimum(floor, best[open_])
        accept = (gap <= tolerance) | (high - low <= 1e-15 * np.maximum(np.abs(low), np.abs(high)))
        # At a corner the value between the tangents is the crossing itself.
        best[open_] = np.where(accept & (gap > 0), np.minimum(best[open_], floor + gap / 2), best[open_])
        keep = ~accept
        if not keep.any():
            break
        smooth = _cubic(low, high, h_low, h_high, g_low, g_high)
        trial = np.where(gap < 0.2 * gap_before, smooth, crossing)
        trial = np.where((trial > low) & (trial < high), trial, (low + high) / 2)
        low, high, h_low, h_high, g_low, g_high, trial, gap = (
            each[keep] for each in (low, high, h_low, h_high, g_low, g_high, trial, gap)
        )
        open_, gap_before = open_[keep], gap
        chosen = alpha[open_]
        at = tilting.solve(trial, _hermite(trial, low, high, h_low, h_high, g_low, g_high) + trial * chosen)
        h, g = at.reduced + trial * (at.reference - chosen), at.mean - chosen
        better = h < best[open_]
        best[open_] = np.where(better, h, best[open_])
        best_q[open_] = np.where(better, trial, best_q[open_])
        above = g > 0
        low, h_low, g_low = (np.where(above, a, b) for a, b in ((low, trial), (h_low, h), (g_low, g)))
        high, h_high, g_high = (np.where(above, b, a) for a, b in ((high, trial), (h_high, h), (g_high, g)))
    return np.minimum(best, 0.0), best_q


def interpolated(nodes: Nodes, alpha: FloatArray) -> tuple[FloatArray, FloatArray]:
    """F and q between nodes by the cubic with f and its slope -q at both; for nodes that are close."""
    right = np.clip(np.searchsorted(nodes.at.mean, alpha, side="left"), 1, nodes.q.size - 1)
    left = right - 1
    a, b = nodes.at.mean[left], nodes.at.mean[right]
    f_a, f_b = nodes.value(left, a), nodes.value(right, b)
    apart = b > a
    width = np.where(apart, b - a, 1.0)
    f = _hermite(alpha, a, a + width, f_a, np.where(apart, f_b, f_a), -nodes.q[left], -nodes.q[right])
    q = nodes.q[left] + (nodes.q[right] - nodes.q[left]) * np.clip((alpha - a) / width, 0, 1)
    return np.minimum(np.where(apart, f, f_a), 0.0), q


def _crossing(  # noqa: PLR0917 - two ends, three values each
    low: FloatArray, high: FloatArray, h_low: FloatArray, h_high: FloatArray, g_low: FloatArray, g_high: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Where the tangents at the ends meet, and their value there: no h between is lower."""
    bend = g_high - g_low
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(bend > 0, (h_low - h_high + g_high * (high - low)) / bend, 0.0)
    along = np.clip(along, 0, high - low)
    return low + along, h_low + g_low * along


def _hermite(  # noqa: PLR0917 - as above
    q: FloatArray,
    low: FloatArray,
    high: FloatArray,
    h_low: FloatArray,
    h_high: FloatArray,
    g_low: FloatArray,
    g_high: FloatArray,
) -> FloatArray:
    """The cubic with these values and slopes at the ends, at q."""
    width = high - low
    t = (q - low) / width
    bump = t * (1 - t) * width
    straight = h_low + (h_high - h_low) * t
    chord = (h_high - h_low) / width
    return np.asarray(straight + bump * ((1 - t) * (g_low - chord) - t * (g_high - chord)))


def _cubic(  # noqa: PLR0917 - as above
    low: FloatArray, high: FloatArray, h_low: FloatArray, h_high: FloatArray, g_low: FloatArray, g_high: FloatArray
) -> FloatArray:
    """The minimum of the cubic with these values and slopes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        d = g_low + g_high - 3 * (h_low - h_high) / (low - high)
        root = np.sqrt(np.maximum(d * d - g_low * g_high, 0))
        return np.asarray(high - (high - low) * (g_high + root - d) / (g_high - g_low + 2 * root))
