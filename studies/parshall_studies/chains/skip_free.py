"""Spectral radius of a tilted chain that climbs one state at a time: exact, in one pass over the states.

| symbol | name | unit |
| --- | --- | --- |
| i | index of a state, 0 ... m-1 | |
| r_i | `rewards`: the window of state i | packets |
| d_i <= i | `down`: where a loss in state i leads | index |
| p_i, 1 - p_i | `log_loss`, `log_climb`: log of the probability of going to d_i, to i+1 (the top: of staying) | |
| c_i | weight of the cycle d_i, d_i + 1, ..., i, d_i | |
| n_i, s_i, a_i | its length, its sum of rewards, the logarithm of its probability | RTTs, packets, |
| Lambda(q) | log of the spectral radius of A(q), A_ij = exp(q r_i) P_ij | |
| reference | largest (q > 0) or smallest (q < 0) mean reward of a cycle | packets |
| nu | `reduced`: Lambda(q) - q reference | |

A v = lambda v, read from the bottom up, gives v_{i+1} from v_i and v_{d_i}, so the characteristic equation is a
recursion. Divided by what a climb without losses would make of v, it is

    y_0 = 1,   y_{i+1} = y_i - c_i y_{d_i},   c_i = exp(a_i + q s_i - n_i log lambda),

and with the top's loop, F = (1 - c_top) y_{m-1} - c_{m-1} y_{d_{m-1}} is det(1 - A/lambda). lambda is the spectral
radius where F = 0 and all y are positive; above it y falls from 1 and stays positive. So nothing can overflow: cycles
that weigh more than 1 are below the root, which is their only use. The rewards of a cycle are counted from the
reference, whence q (s_i - n_i reference) <= 0 at any q, however large.

States between which no loss leads into the same block are done at once (`_blocks`): halving makes log2(m) blocks. At
most tilts few states count, and only those are looked at (`_reach`).

The same chain's elementary cycles are these, and no others: a path that climbs by one passes through each state between
where it is and where it goes. The extreme means over them are the ends of the spectrum.

References: Loiseau 2010, footnote 1; A. Dembo, O. Zeitouni, Large Deviations Techniques and Applications, 1998, §3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray

IntArray = NDArray[np.int64]

_CHUNK = 200_000
"""States times values of q that are worked on at a time: what fits the processor's cache."""
_COSTLY = 200_000
"""States from which a solution takes some 0.1 s."""
_SIMPLE = 3
"""Steps before F's second derivative, which costs half as much again, is asked for: few roots need them."""
_SMALL = 128
"""Up to so many states that count, fewer make no difference to what an evaluation costs."""
_NEGLIGIBLE = -46.0
"""Cycles with a smaller log-weight (1e-20) change no y."""


@dataclass(frozen=True, slots=True)
class Tilted:
    """Solutions at several q: nu and its reference, Lambda, and its derivative alpha; shape (q,)."""

    reduced: FloatArray
    reference: FloatArray
    log_radius: FloatArray
    mean: FloatArray


class SkipFree:
    """The tilted chain.

    Parameters
    ----------
    rewards, log_loss, log_climb
        One a state, shape (m,); every state can be reached from every other.
    down
        d_i <= i, shape (m,).
    """

    def __init__(self, rewards: FloatArray, log_loss: FloatArray, log_climb: FloatArray, down: IntArray) -> None:
        states = self.states = rewards.size
        self.limits: tuple[float, float] | None = None
        self.costly = states > _COSTLY
        index = np.arange(states)
        climbed = _running(log_climb)
        collected = _running(rewards)
        loses = np.isfinite(log_loss)
        # Where no loss happens its target has no weight, and must not cut the blocks.
        self._down = np.where(loses, down, 0)
        self._loses = loses
        self._length = (index - down + 1).astype(np.float64)
        with np.errstate(invalid="ignore"):
            self._log_weight = np.where(
                loses, log_loss + (climbed[:-1] - climbed[:-1][down]).astype(np.float64), -np.inf
            )
        self._collected = (collected[1:] - collected[:-1][down]).astype(np.float64)
        self._stay = float(log_climb[-1])
        self._top = float(rewards[-1])
        means = np.where(loses, self._collected / self._length, np.nan)
        ends = np.append(means, self._top if np.isfinite(self._stay) else np.nan)
        self.lowest = float(np.nanmin(ends))
        self.highest = float(np.nanmax(ends))
        self._blocks = _blocks(self._down)

    def solve(self, q: FloatArray, guess: FloatArray | None = None) -> Tilted:
        """Lambda and alpha at each q.

        Parameters
        ----------
        q
            Shape (k,), any finite numbers, per packet.
        guess
            Of Lambda, shape (k,): saves steps.
        """
        q = np.asarray(q, dtype=np.float64)
        reference = np.where(q > 0, self.highest, self.lowest)
        reduced, slope = np.empty_like(q), np.empty_like(q)
        order = np.argsort(q, kind="stable")
        width = max(1, _CHUNK // self._down.size)
        for sign in (q[order] <= 0, q[order] > 0):
            part = order[sign]
            for start in range(0, part.size, width):
                chunk = part[start : start + width]
                first = None if guess is None else guess[chunk] - q[chunk] * reference[chunk]
                reduced[chunk], slope[chunk] = self._solve(q[chunk], float(reference[chunk[0]]), first)
        mean = np.clip(reference + slope, self.lowest, self.highest)
        return Tilted(reduced, reference, reduced + q * reference, mean)

    def end(self, highest: bool) -> float:
        """F at an end of the spectrum: log of the spectral radius of the cycles with that mean, and only those."""
        alpha = self.highest if highest else self.lowest
        off = self._collected - self._length * alpha
        kept = np.abs(off) <= 1e-9 * np.maximum(1.0, np.abs(self._collected))
        log_weight = np.where(kept & self._loses, self._log_weight, -np.inf)
        stay = self._stay if self._top == alpha else -np.inf
        reduced, _ = self._grouped(log_weight[None, :], np.zeros_like(log_weight), np.array([stay]), 0.0, None)
        return float(reduced[0])

    def _solve(self, q: FloatArray, reference: float, first: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        over = self._collected - self._length * reference
        weights = self._log_weight[None, :] + q[:, None] * over[None, :]
        stay = self._stay + q * (self._top - reference)
        return self._grouped(weights, over, stay, self._top - reference, first)

    def _grouped(
        self, weights: FloatArray, over: FloatArray, stay: FloatArray, stay_over: float, first: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """`_root` and `_slope`, those tilts together at which about as many states count: mostly few do."""
        low = np.maximum(np.max(weights / self._length, axis=1), stay)
        reach = _reach(weights, self._length, low)
        group = np.ceil(np.log2(np.maximum(reach, _SMALL)))
        nu, slope = np.empty_like(low), np.empty_like(low)
        for here in (np.flatnonzero(group == one) for one in np.unique(group)):
            size = int(reach[here].max())
            last = over.size - 1 if size == over.size else None
            part, length = weights[here, :size], self._length[:size]
            begun = None if first is None else first[here]
            nu[here] = self._root(part, length, stay[here], low[here], begun, last)
            slope[here] = self._slope(part, length, over[:size], stay[here], stay_over, nu[here], last)
        return nu, slope

    def _root(  # noqa: PLR0917 - the chain's weights, and where the root is looked for
        self,
        weights: FloatArray,
        length: FloatArray,
        stay: FloatArray,
        low: FloatArray,
        first: FloatArray | None,
        last: int | None,
    ) -> FloatArray:
        """Nu where F = 0: Newton's method (`_step`) within a bracket above `low`."""
        nu, open_ = np.empty_like(low), np.arange(low.size)
        if first is not None:
            nu, converged = self._from(first, weights, length, stay, last)
            open_ = open_[~converged]
        low, high = low.copy(), low.copy()
        if open_.size:
            high[open_] = _above(weights[open_], length, stay[open_], low[open_])
            nu[open_] = high[open_]
        for turn in range(200 if open_.size else 0):
            close = turn >= _SIMPLE
            valid, value, slope, bend = self._value(weights[open_], length, stay[open_], nu[open_], last, close)
            here = nu[open_]
            low[open_] = np.where(valid, low[open_], np.maximum(low[open_], here))
            high[open_] = np.where(valid, np.minimum(high[open_], here), high[open_])
            # Below the spectral radius F has the roots of other eigenvalues: from there only small steps count. A step
            # that rounding takes past the bracket ends at it.
            near = (slope > 0) & (valid | (np.abs(value) < 1e-3))
            near |= (bend > 0) & (value < 0) & (value > -1e-3)
            tiny = 4e-16 * (np.abs(here) + np.minimum(1.0, 30 / np.maximum(np.abs(slope), 1.0)))
            step = _step(value, slope, bend)
            near &= np.isfinite(step)
            after = np.where(near, np.clip(here + step, low[open_], high[open_]), (low[open_] + high[open_]) / 2)
            still = near & (np.abs(after - here) <= tiny)
            after = np.where(still & ~valid, here + 32 * tiny, after)
            done = (still & valid) | (high[open_] - low[open_] <= 64 * tiny)
            nu[open_] = np.where(done & ~valid, here, after)
            open_ = open_[~done]
            if open_.size == 0:
                break
        return nu

    def _from(
        self, first: FloatArray, weights: FloatArray, length: FloatArray, stay: FloatArray, last: int | None
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Newton's method from a guess: nu, and where it is known to be the root."""
        nu, at = first.copy(), np.arange(first.size)
        converged, proven = np.zeros(nu.size, dtype=bool), np.zeros(nu.size, dtype=bool)
        before = np.zeros(nu.size)
        for turn in range(6):
            valid, value, slope, bend = self._value(weights[at], length, stay[at], nu[at], last, turn > 0)
            close = np.abs(value) < 0.2
            good = close & ((slope > 0) | (bend > 0))
            step = np.where(good, _step(value, slope, bend), 0.0)
            nu[at] += step
            proven[at] |= valid & good
            tiny = 4e-15 * (np.abs(nu[at]) + np.minimum(1.0, 30 / np.maximum(np.abs(slope), 1.0)))
            # Errors are squared each time: what the next step would be.
            left = np.abs(step) * np.minimum(step**2 / np.maximum(before[at], 1e-300), 1.0)
            before[at] = step**2
            converged[at] = good & (left <= tiny)
            at = at[close & ~converged[at]]
            if at.size == 0:
                break
        at = np.flatnonzero(converged & ~proven)
        if at.size:
            nearby = nu[at] + 1e-12 * (np.abs(nu[at]) + 1e-3)
            proven[at] = self._value(weights[at], length, stay[at], nearby, last)[0]
        return nu, converged & proven

    def _value(  # noqa: PLR0917 - the chain's weights, where they are taken, and what is asked
        self,
        log_weights: FloatArray,
        length: FloatArray,
        stay: FloatArray,
        nu: FloatArray,
        last: int | None,
        bent: bool = False,
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray, FloatArray]:
        """Return a mask of positive y, F, dF/d nu, and the second derivative if `bent` (else 0)."""
        weights = _weights(log_weights, length, nu)
        x = self._climb(weights, length, None, 3 if bent else 2, last)
        y, d = x[0, :, -1], x[1, :, -1]
        loop = np.exp(np.minimum(stay - nu, 1.0))
        value, slope = (1 - loop) * y, (1 - loop) * d + loop * y
        bend = (1 - loop) * x[2, :, -1] + loop * (2 * d - y) if bent else np.zeros_like(value)
        if last is not None:
            final, n = weights[:, last] * x[:, :, self._down[last]], length[last]
            value, slope = value - final[0], slope - (final[1] - n * final[0])
            if bent:
                bend = bend - (final[2] - n * (2 * final[1] - n * final[0]))
        return (x[0].min(axis=1) > 0) & (value > 0), value, slope, bend

    def _slope(  # noqa: PLR0917 - what `_value` takes, and its derivative by q
        self,
        log_weights: FloatArray,
        length: FloatArray,
        over: FloatArray,
        stay: FloatArray,
        stay_over: float,
        nu: FloatArray,
        last: int | None,
    ) -> FloatArray:
        """D nu/d q = -F_q/F_nu at the root."""
        weights = _weights(log_weights, length, nu)
        x = self._climb(weights, length, over, 3, last)
        y, d, e = x[:, :, -1]
        loop = np.exp(np.minimum(stay - nu, 1.0))
        slope = (1 - loop) * d + loop * y
        tilt = (1 - loop) * e - stay_over * loop * y
        if last is not None:
            final = weights[:, last] * x[:, :, self._down[last]]
            slope = slope - (final[1] - length[last] * final[0])
            tilt = tilt - (final[2] + over[last] * final[0])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(slope != 0, -tilt / slope, 0.0)

    def _climb(
        self, weights: FloatArray, length: FloatArray, over: FloatArray | None, orders: int, last: int | None
    ) -> FloatArray:
        """y, dy/d nu, and the third of three: dy/d q with `over`, else the second derivative by nu.

        y_{i+1} = y_i - c_i y_{d_i}, where nu takes n_i from log c_i, and q adds `over`.
        """
        steps = length.size if last is None else length.size - 1
        x = np.zeros((orders, weights.shape[0], steps + 1))
        x[0, :, 0] = 1.0
        for start, end, down in self._blocks:
            if start >= steps:
                break
            stop = min(end, steps)
            before = x.take(down[: stop - start], axis=2)
            n = length[start:stop]
            if orders == 3 and over is not None:
                before[2] += over[start:stop] * before[0]
            elif orders == 3:
                before[2] -= n * (2 * before[1] - n * before[0])
            before[1] -= n * before[0]
            before *= weights[:, start:stop]
            np.subtract(x[:, :, start : start + 1], before.cumsum(axis=2), out=x[:, :, start + 1 : stop + 1])
        return x


def _weights(log_weights: FloatArray, length: FloatArray, nu: FloatArray) -> FloatArray:
    """C_i at nu; those above e, which say that nu is too small, as e."""
    c = nu[:, None] * length
    np.subtract(log_weights, c, out=c)
    np.minimum(c, 1.0, out=c)
    return np.exp(c, out=c)


def _blocks(down: IntArray) -> list[tuple[int, int, IntArray]]:
    """Ranges of states whose losses all lead to the range's first state or below it, and where they lead."""
    blocks, start = [], 0
    highest = np.maximum.accumulate(down)
    while start < down.size:
        stop = int(np.searchsorted(highest, start, side="right"))
        blocks.append((start, stop, down[start:stop]))
        start = stop
    return blocks


def _step(value: FloatArray, slope: FloatArray, bend: FloatArray) -> FloatArray:
    """From here to the root.

    Newton's for log(1 - F), which one cycle alone makes linear; the parabola's where F bends upwards: a second root is
    close.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        single = np.log1p(-value) * (1 - value) / slope
        root = np.sqrt(np.maximum(slope**2 - 2 * value * bend, 0.0))
        double = np.where(slope > 0, -2 * value / (slope + root), (root - slope) / bend)
        return np.where(bend > 0, double, single)


def _reach(weights: FloatArray, length: FloatArray, low: FloatArray) -> IntArray:
    """Return the number of states whose cycles count at nu >= `low`, shape (q,)."""
    counts = weights - low[:, None] * length[None, :] > _NEGLIGIBLE
    beyond = np.argmax(counts[:, ::-1], axis=1)
    reach = np.minimum(length.size, length.size - beyond + 1)
    return np.where(counts.any(axis=1), reach, 1)


def _above(log_weights: FloatArray, length: FloatArray, stay: FloatArray, low: FloatArray) -> FloatArray:
    """Nu at which all weights add up to 1, or a little more: no root is above it.

    log sum_i c_i is convex and falls with nu, so that Newton's method from `low` stays below; the last step is doubled.
    """
    nu = low.copy()
    step = np.ones_like(nu)
    for _ in range(12):
        with np.errstate(under="ignore"):
            terms = np.exp(log_weights - nu[:, None] * length[None, :])
            loop = np.exp(stay - nu)
        total = terms.sum(axis=1) + loop
        slope = terms @ length + loop
        step = np.log(total) * total / slope
        nu = nu + np.maximum(step, 0)
        if np.all(step * slope < 0.1 * total):
            break
    step = 4 * np.maximum(step, 0) + 1e-12 * (1 + np.abs(nu))
    for _ in range(60):
        sums = np.exp(log_weights - (nu + step)[:, None] * length[None, :]).sum(axis=1) + np.exp(stay - nu - step)
        if np.all(sums <= 1):
            break
        step = np.where(sums > 1, 2 * step, step)
    return np.asarray(nu + step)


def _running(values: FloatArray) -> NDArray[np.longdouble]:
    """0, x_0, x_0 + x_1, ...; in extended precision, since differences are taken."""
    return np.concatenate([[np.longdouble(0)], np.cumsum(values, dtype=np.longdouble)])
