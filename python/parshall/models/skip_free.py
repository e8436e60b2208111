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

States between which no loss leads into the same block are done at once (`_blocks`): halving makes log2(m) blocks.

The same chain's elementary cycles are these, and no others: a path that climbs by one passes through each state between
where it is and where it goes. The extreme means over them are the ends of the spectrum.

References: Loiseau 2010, footnote 1; A. Dembo, O. Zeitouni, Large Deviations Techniques and Applications, 1998, §3.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.models.inputs import FloatArray

IntArray = NDArray[np.int64]

_CHUNK = 200_000
"""States times values of q that are worked on at a time: what fits the processor's cache."""
_COSTLY = 5000
"""States from which a solution takes some 0.1 s."""
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
        reduced, _ = self._root(log_weight[None, :], np.zeros_like(log_weight), np.array([stay]), 0.0, None)
        return float(reduced[0])

    def _solve(self, q: FloatArray, reference: float, first: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        over = self._collected - self._length * reference
        weights = self._log_weight[None, :] + q[:, None] * over[None, :]
        stay = self._stay + q * (self._top - reference)
        return self._root(weights, over, stay, self._top - reference, first)

    def _root(
        self, weights: FloatArray, over: FloatArray, stay: FloatArray, stay_over: float, first: FloatArray | None
    ) -> tuple[FloatArray, FloatArray]:
        """Nu where F = 0, and d nu/d q there.

        Newton's method for log(1 - F) = 0, which one cycle alone makes linear in nu, within a bracket.
        """
        low = np.maximum(np.max(weights / self._length, axis=1), stay)
        reach = _reach(weights, self._length, low)
        weights, length = weights[:, :reach], self._length[:reach]
        last = over.size - 1 if reach == over.size else None
        nu, open_ = np.empty_like(low), np.arange(low.size)
        if first is not None:
            nu, found = self._from(first, weights, length, stay, last)
            open_ = open_[~found]
        high = low.copy()
        if open_.size:
            high[open_] = _above(weights[open_], length, stay[open_], low[open_])
            nu[open_] = high[open_]
        for _ in range(200 if open_.size else 0):
            valid, value, slope = self._value(weights[open_], length, stay[open_], nu[open_], last)
            here = nu[open_]
            low[open_] = np.where(valid, low[open_], np.maximum(low[open_], here))
            high[open_] = np.where(valid, np.minimum(high[open_], here), high[open_])
            with np.errstate(divide="ignore", invalid="ignore"):
                step = here + np.log1p(-value) * (1 - value) / slope
            tiny = 4e-16 * (np.abs(here) + np.minimum(1.0, 30 / np.maximum(np.abs(slope), 1.0)))
            # Below the spectral radius F has the roots of other eigenvalues: from there only small steps count.
            near = (slope > 0) & (valid | (np.abs(value) < 1e-3)) & (step > low[open_]) & (step < high[open_])
            after = np.where(near, step, (low[open_] + high[open_]) / 2)
            still = near & (np.abs(after - here) <= tiny)
            after = np.where(still & ~valid, here + 32 * tiny, after)
            done = (still & valid) | (high[open_] - low[open_] <= 64 * tiny)
            nu[open_] = np.where(done & ~valid, here, after)
            open_ = open_[~done]
            if open_.size == 0:
                break
        return nu, self._slope(weights, length, over[:reach], stay, stay_over, nu, last)

    def _from(
        self, first: FloatArray, weights: FloatArray, length: FloatArray, stay: FloatArray, last: int | None
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """Newton's method from a guess: nu, and where it is known to be the root."""
        nu = first.copy()
        found, proven = np.zeros(nu.size, dtype=bool), np.zeros(nu.size, dtype=bool)
        for _ in range(6):
            at = np.flatnonzero(~found)
            valid, value, slope = self._value(weights[at], length, stay[at], nu[at], last)
            good = (slope > 0) & (np.abs(value) < 0.2)
            with np.errstate(divide="ignore", invalid="ignore"):
                step = np.where(good, np.log1p(-value) * (1 - value) / slope, 0.0)
            nu[at] += step
            proven[at] |= valid & good
            tiny = 4e-15 * (np.abs(nu[at]) + np.minimum(1.0, 30 / np.maximum(np.abs(slope), 1.0)))
            found[at] = good & (np.abs(step) <= tiny)
            if found.all():
                break
        at = np.flatnonzero(found & ~proven)
        if at.size:
            nearby = nu[at] + 1e-12 * (np.abs(nu[at]) + 1e-3)
            proven[at] = self._value(weights[at], length, stay[at], nearby, last)[0]
        return nu, found & proven

    def _value(
        self, log_weights: FloatArray, length: FloatArray, stay: FloatArray, nu: FloatArray, last: int | None
    ) -> tuple[NDArray[np.bool_], FloatArray, FloatArray]:
        """Whether all y are positive, F, and dF/d nu."""
        weights = np.exp(np.minimum(log_weights - nu[:, None] * length[None, :], 1.0))
        y = self._climb(weights, None, weights.shape[1], last)
        d = self._climb(weights, length[None, :] * y[:, self._down[: weights.shape[1]]], weights.shape[1], last)
        loop = np.exp(np.minimum(stay - nu, 1.0))
        value, slope = (1 - loop) * y[:, -1], (1 - loop) * d[:, -1] + loop * y[:, -1]
        if last is not None:
            at = self._down[last]
            value = value - weights[:, last] * y[:, at]
            slope = slope - weights[:, last] * (d[:, at] - length[last] * y[:, at])
        return (y.min(axis=1) > 0) & (value > 0), value, slope

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
        weights = np.exp(np.minimum(log_weights - nu[:, None] * length[None, :], 1.0))
        size = weights.shape[1]
        y = self._climb(weights, None, size, last)
        before = y[:, self._down[:size]]
        d = self._climb(weights, length[None, :] * before, size, last)
        e = self._climb(weights, -over[None, :] * before, size, last)
        loop = np.exp(np.minimum(stay - nu, 1.0))
        slope = (1 - loop) * d[:, -1] + loop * y[:, -1]
        tilt = (1 - loop) * e[:, -1] - stay_over * loop * y[:, -1]
        if last is not None:
            at = self._down[last]
            slope = slope - weights[:, last] * (d[:, at] - length[last] * y[:, at])
            tilt = tilt - weights[:, last] * (e[:, at] + over[last] * y[:, at])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(slope != 0, -tilt / slope, 0.0)

    def _climb(self, weights: FloatArray, source: FloatArray | None, size: int, last: int | None) -> FloatArray:
        """y, or a derivative of it: x_{i+1} = x_i - c_i (x_{d_i} - source_i), from 1, or from 0 with a source."""
        steps = size if last is None else size - 1
        x = np.empty((weights.shape[0], steps + 1))
        x[:, 0] = 1.0 if source is None else 0.0
        for start, stop in self._blocks:
            end = min(stop, steps)
            if start >= end:
                break
            before = x[:, self._down[start:end]]
            if source is not None:
                before = before - source[:, start:end]
            change = np.cumsum(weights[:, start:end] * before, axis=1)
            x[:, start + 1 : end + 1] = x[:, start : start + 1] - change
        return x


def _blocks(down: IntArray) -> list[tuple[int, int]]:
    """Ranges of states whose losses all lead to the range's first state or below it."""
    blocks, start = [], 0
    highest = np.maximum.accumulate(down)
    while start < down.size:
        stop = int(np.searchsorted(highest, start, side="right"))
        blocks.append((start, stop))
        start = stop
    return blocks


def _reach(weights: FloatArray, length: FloatArray, low: FloatArray) -> int:
    """How many states have cycles that count at nu >= `low`."""
    counts = np.any(weights - low[:, None] * length[None, :] > _NEGLIGIBLE, axis=0)
    return min(length.size, int(np.flatnonzero(counts)[-1]) + 2) if counts.any() else 1


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
