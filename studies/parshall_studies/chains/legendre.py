"""The Legendre transform f(alpha) = inf_q Lambda(q) - alpha q of a convex Lambda that is costly to evaluate.

Lambda comes with its derivative, so that each evaluation gives a tangent: f lies between the lowest value seen and
where the tangents around the minimum meet. The search ends when these agree; a corner of Lambda, where a second
branch takes over, is found as their crossing. All alphas are looked for at once and share the evaluations: those of a
straight part of f have the same corner, and smooth parts are known well before the last alpha is.

| symbol | name | unit |
| --- | --- | --- |
| q | tilt | 1/packet |
| Lambda(q), alpha = Lambda'(q) | `Tilted.log_radius`, `.mean` | 1/RTT, packets |
| h(q) | Lambda(q) - alpha q, from nu + q (reference - alpha): no cancellation at large q | 1/RTT |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall_studies.chains.skip_free import IntArray, Tilted

_STEPS = 60
"""Most rounds of evaluations: brackets that are halved each time then have the width of rounding."""
_AROUND = 6
"""Nodes that a guess of q is made from."""
_JUMP = 0.1
"""Share of the nodes' range of alpha between two of them that makes a corner likely."""
_FEW = 3
"""Tilts tried between two nodes in the first round, however many alphas are there."""


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

    def expected(self, q: FloatArray) -> FloatArray:
        """Lambda at `q` between nodes, by the cubic with Lambda and its slope at both; shape of `q`, (m,)."""
        right = np.clip(np.searchsorted(self.q, q), 1, self.q.size - 1)
        left, at = right - 1, self.at
        radii, means = (at.log_radius[left], at.log_radius[right]), (at.mean[left], at.mean[right])
        return _hermite(q, self.q[left], self.q[right], *radii, *means)

    def value(self, index: IntArray, alpha: FloatArray) -> FloatArray:
        """H of the nodes `index` at `alpha`."""
        return np.asarray(self.at.reduced[index] + self.q[index] * (self.at.reference[index] - alpha))


def solved(tilting: Tilting, q: FloatArray, guess: FloatArray | None = None) -> Nodes:
    """Nodes at `q`."""
    return Nodes(q, tilting.solve(q, guess))


def transform(tilting: Tilting, nodes: Nodes, alpha: FloatArray, tolerance: float) -> tuple[FloatArray, FloatArray]:
    """F and the q where it is attained, at each `alpha` between the nodes' means; both shape (k,)."""
    f, at = np.empty(alpha.shape), np.empty(alpha.shape)
    open_, before, sharp = np.arange(alpha.size), np.full(alpha.shape, np.inf), np.zeros(alpha.shape, dtype=bool)
    for step in range(_STEPS):
        wanted = alpha[open_]
        ends = _around(nodes, wanted)
        low, high, h_low, h_high = ends.low, ends.high, ends.h_low, ends.h_high
        crossing, floor = _crossing(ends)
        least = np.minimum(h_low, h_high)
        gap = np.maximum(least - floor, 0.0)
        done = (gap <= tolerance) | (high - low <= 1e-15 * np.maximum(np.abs(low), np.abs(high)))
        done |= step == _STEPS - 1
        # At a corner the value between the tangents is the crossing itself.
        f[open_[done]] = (least - gap / 2)[done]
        at[open_[done]] = np.where(h_low < h_high, low, high)[done]
        if done.all():
            break
        trial = _near(nodes, ends)
        guess = _between(trial, ends) + trial * wanted
        # Where that does not help Lambda may have a corner: the tangents' crossing, one for all alphas around it. If
        # Lambda is smooth after all, the crossing is about the middle, and leaves a quarter of the gap.
        part = gap / before[open_]
        sharp[open_] = np.where(sharp[open_], part < 0.1, part > 0.2)
        tried = ~done & (~sharp[open_] if step else _few(ends.right, trial))
        before[open_] = np.where(tried | sharp[open_], gap, np.inf)
        jump = (ends.g_high - ends.g_low > _JUMP * np.ptp(nodes.at.mean)) & (step == 0)
        corners = np.flatnonzero(~done & (sharp[open_] | jump))
        corners = corners[np.unique(ends.right[corners], return_index=True)[1]]
        q = np.concatenate([trial[tried], crossing[corners]])
        guess = np.concatenate([guess[tried], floor[corners] + crossing[corners] * wanted[corners]])
        q, first = np.unique(q, return_index=True)
        nodes = nodes.joined(solved(tilting, q, guess[first]))
        open_ = open_[~done]
    return np.minimum(f, 0.0), at


def reaching(tilting: Tilting, nodes: Nodes, level: float, above: bool) -> tuple[float, Nodes]:
    """The alpha on one side of the mean where f is `level`, which is between those of two nodes; and all nodes then.

    f is concave, above its chords and below its tangents: alpha is between where these are at the level.
    """
    before, sharp = np.inf, False
    wide = _JUMP * float(np.ptp(nodes.at.mean))
    for step in range(_STEPS):
        f = nodes.value(np.arange(nodes.q.size), nodes.at.mean)
        beyond = np.flatnonzero((f < level) & ((nodes.q > 0) if above else (nodes.q < 0)))
        outer = int(beyond[0] if above else beyond[-1])
        inner = outer - 1 if above else outer + 1
        a, b = float(nodes.at.mean[inner]), float(nodes.at.mean[outer])
        over, under = float(f[inner]) - level, level - float(f[outer])
        chord = a + (b - a) * over / (over + under)
        q_inner, q_outer = float(nodes.q[inner]), float(nodes.q[outer])
        tangent = b - under / q_outer
        if q_inner != 0:
            tangent = min(tangent, a + over / q_inner) if above else max(tangent, a + over / q_inner)
        gap, rounding = abs(tangent - chord), 1e-13 * max(1.0, abs(b))
        at_level = min(over / abs(q_inner) if q_inner else np.inf, under / abs(q_outer)) <= rounding
        if at_level or gap <= 10 * rounding or abs(q_outer - q_inner) <= 1e-15 * abs(q_outer):
            break
        part = gap / before
        sharp, before = (part < 0.1 if sharp else part > 0.2 or (step == 0 and abs(b - a) > wide)), gap
        cubic = _hermite_between(a, b, over, -under, -q_inner, -q_outer)
        wanted = (
            scipy.optimize.brentq(cubic, chord, tangent) if cubic(chord) * cubic(tangent) < 0 else (chord + tangent) / 2
        )
        ends = _around(nodes, np.array([wanted]))
        trial, guess = _crossing(ends)
        if not sharp:
            trial = _near(nodes, ends)
            guess = _between(trial, ends)
        nodes = nodes.joined(solved(tilting, trial, guess + trial * ends.alpha))
    return tangent, nodes


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


@dataclass(frozen=True, slots=True)
class _Ends:
    """The nodes around each alpha: index of the right one, q, h and its slope at both; shape (k,)."""

    alpha: FloatArray
    right: IntArray
    low: FloatArray
    high: FloatArray
    h_low: FloatArray
    h_high: FloatArray
    g_low: FloatArray
    g_high: FloatArray


def _around(nodes: Nodes, alpha: FloatArray) -> _Ends:
    right = np.clip(np.searchsorted(nodes.at.mean, alpha, side="left"), 1, nodes.q.size - 1)
    left = right - 1
    return _Ends(
        alpha,
        right,
        nodes.q[left],
        nodes.q[right],
        nodes.value(left, alpha),
        nodes.value(right, alpha),
        np.minimum(nodes.at.mean[left] - alpha, 0),
        np.maximum(nodes.at.mean[right] - alpha, 0),
    )


def _few(group: IntArray, values: FloatArray) -> NDArray[np.bool_]:
    """Some of each group, from its smallest value to its largest: `_FEW`, or all if there are fewer."""
    order = np.lexsort((values, group))
    _, first, count = np.unique(group[order], return_index=True, return_counts=True)
    rank = np.arange(group.size) - np.repeat(first, count)
    part = np.repeat(np.minimum(_FEW / count, 1.0), count)
    kept = np.empty(group.size, dtype=bool)
    kept[order] = np.floor((rank + 1) * part + 1e-9) > np.floor(rank * part + 1e-9)
    return kept


def _crossing(ends: _Ends) -> tuple[FloatArray, FloatArray]:
    """Return the point where the tangents at the ends meet, and their value there: no h between is lower."""
    bend, width = ends.g_high - ends.g_low, ends.high - ends.low
    with np.errstate(divide="ignore", invalid="ignore"):
        along = np.where(bend > 0, (ends.h_low - ends.h_high + ends.g_high * width) / bend, 0.0)
    along = np.clip(along, 0, width)
    return ends.low + along, ends.h_low + ends.g_low * along


def _inside(q: FloatArray, ends: _Ends) -> FloatArray:
    """Q, or the middle where it is not between the ends."""
    return np.where((q > ends.low) & (q < ends.high), q, (ends.low + ends.high) / 2)


def _near(nodes: Nodes, ends: _Ends) -> FloatArray:
    """Return the q at which the mean should be alpha: by a polynomial of the nodes' means, or the cubic's minimum."""
    count = min(_AROUND, nodes.q.size)
    start, stop = ends.right - 1, ends.right + 1
    padded = np.concatenate([[-np.inf], nodes.at.mean, [np.inf]])
    for _ in range(count - 2):
        # The nearer node joins, so that what is beyond a corner does not.
        before = ends.alpha - padded[start] < padded[stop + 1] - ends.alpha
        start, stop = start - before, stop + ~before
    places = start[:, None] + np.arange(count)
    means, table = nodes.at.mean[places], nodes.q[places]
    # Neville's scheme.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for width in range(1, count):
            left, right = means[:, :-width], means[:, width:]
            part = (ends.alpha[:, None] - left) / (right - left)
            table = table[:, :-1] + (table[:, 1:] - table[:, :-1]) * part
    q = table[:, 0]
    return np.where((q > ends.low) & (q < ends.high), q, _inside(_cubic(ends), ends))


def _between(q: FloatArray, ends: _Ends) -> FloatArray:
    """Return the expected h at q: the cubic, but no less than the tangents and no more than the chord."""
    low, high, h_low, h_high, g_low, g_high = (ends.low, ends.high, ends.h_low, ends.h_high, ends.g_low, ends.g_high)
    cubic = _hermite(q, low, high, h_low, h_high, g_low, g_high)
    least = np.maximum(h_low + g_low * (q - low), h_high - g_high * (high - q))
    most = h_low + (h_high - h_low) * (q - low) / (high - low)
    return np.clip(cubic, least, np.maximum(most, least))


def _hermite(  # noqa: PLR0917 - two ends, three values each
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


def _hermite_between(  # noqa: PLR0917 - as `_hermite`
    low: float, high: float, h_low: float, h_high: float, g_low: float, g_high: float
) -> Callable[[float], float]:
    """`_hermite` as a function of one number."""
    width, chord = high - low, (h_high - h_low) / (high - low)

    def cubic(q: float) -> float:
        t = (q - low) / width
        return h_low + (h_high - h_low) * t + t * (1 - t) * width * ((1 - t) * (g_low - chord) - t * (g_high - chord))

    return cubic


def _cubic(ends: _Ends) -> FloatArray:
    """The minimum of the cubic with these values and slopes."""
    low, high, g_low, g_high = ends.low, ends.high, ends.g_low, ends.g_high
    with np.errstate(divide="ignore", invalid="ignore"):
        d = g_low + g_high - 3 * (ends.h_low - ends.h_high) / (low - high)
        root = np.sqrt(np.maximum(d * d - g_low * g_high, 0))
        return np.asarray(high - (high - low) * (g_high + root - d) / (g_high - g_low + 2 * root))
