"""The variation of a TCP flow's throughput: the large-deviations spectrum of its window.

| symbol | name | unit |
| --- | --- | --- |
| W_i | window in the i-th RTT: throughput | packets per RTT |
| n | `scale`: RTTs over which throughput is averaged | RTTs |
| N | `n_rtts`: length of a realisation | RTTs |
| k_n = floor(N/n) | intervals of that length | |
| P | `chain.transitions()` | probability |
| Lambda(q) | `log_moment`: log of the spectral radius of exp(q j) P_ij | 1/RTT |
| f(alpha) = inf_q Lambda(q) - alpha q | `f` | 1/RTT |
| alpha_min(n), alpha_max(n) | `bounds` | packets per RTT |

The share of intervals of n RTTs whose mean window is about alpha is exp(n f(alpha)) (eq. (9)); a realisation has none
where that is less than 1/k_n (eq. (10)). f is 0 at the almost-sure mean and negative elsewhere, whatever the scale.

Range: n above several loss cycles (`least_scale`); the source finds about 100 RTTs. Factors that do not grow
exponentially with n are left out, in `probability_below` to leading order only.

Deviations: windows that never recur are left out; a periodic chain has the same Lambda, and a deterministic one the
degenerate spectrum of a single point. A second branch of Lambda (staying at w_max) that takes over at some q leaves f
straight between the means on its two sides: `linear_parts`.

References: Loiseau 2010, §3; J. Barral, P. Loiseau, Large deviations for the local fluctuations of random walks, 2010
(arXiv 1004.3713); Dembo & Zeitouni 1998; R. Lugannani, S. Rice, Saddle point approximation for the distribution of
the sum of independent random variables, 1980.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive
from parshall.foundations.extras import extra
from parshall_studies.chains.legendre import Nodes, Tilting, interpolated, reaching, solved, transform
from parshall_studies.chains.loss import LossFunction
from parshall_studies.chains.markov import RENO, Rule, WindowChain
from parshall_studies.chains.markov import chain as window_chain
from parshall_studies.chains.skip_free import SkipFree, Tilted
from parshall_studies.chains.sparse_tilt import SparseTilt

_CENTRE = 0.3
"""Standard deviations from the mean within which probabilities are interpolated."""

_LONG = 100_000
"""RTTs beyond which what is interpolated covers more of them: f is too flat there for double precision."""

MANY = 16
"""Costly chains interpolate f, where it is wanted at more throughputs than that."""


@dataclass(frozen=True, slots=True)
class LinearPart:
    """A straight part of f: from `low` to `high` packets, slope -`q`, and what the window does beyond it."""

    low: float
    high: float
    q: float
    why: str


@dataclass(frozen=True, slots=True)
class Probability:
    """A probability, the exponential estimate of the theory, and whether the scale is in its range."""

    value: float
    exponential: float
    in_range: bool
    reason: str | None


class Spectrum:
    """The spectrum of a chain; `spectrum` builds it.

    Attributes
    ----------
    mean
        Almost-sure mean, packets per RTT: the apex, where f is 0.
    lowest, highest
        Means outside which f is minus infinity (or, for chains that are not skip-free, not known).
    cycle_rtts
        Mean time between losses, RTTs.
    loss_rate
        Share of the RTTs that lose a packet.
    """

    def __init__(self, tilting: Tilting, mean: float, loss_rate: float, top: float | None = None) -> None:
        self.mean, self.loss_rate = mean, loss_rate
        self.lowest, self.highest = tilting.lowest, tilting.highest
        self.cycle_rtts = 1 / loss_rate if loss_rate > 0 else np.inf
        self._tilting, self._top = tilting, top
        self._filled: dict[tuple[float, float], Nodes] = {}
        self.large = tilting.costly
        self.exact_everywhere = tilting.limits is None

    @property
    def degenerate(self) -> bool:
        """True if the spectrum is a single point: every cycle has the same mean."""
        return self.highest - self.lowest <= 1e-12 * abs(self.mean)

    def log_moment(self, q: ArrayLike) -> FloatArray:
        """Lambda(q), at any finite q, per packet.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> spectrum(Bernoulli(0.02)).log_moment([0.01, 1e6]).round(3).tolist()
        [0.095, 999999979.797]
        """
        return self._at(q)[0]

    def tilted_mean(self, q: ArrayLike) -> FloatArray:
        """Alpha = Lambda'(q), packets per RTT."""
        return self._at(q)[1]

    def f(self, alpha: ArrayLike) -> FloatArray:
        """The spectrum at mean throughputs `alpha`, packets per RTT; any shape; minus infinity where none is possible.

        Source: Loiseau 2010, footnote 1.

        Raises
        ------
        ModelInputError
            If a throughput is not a number, or outside the known part of a chain that is not skip-free.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> spectrum(Bernoulli(0.02)).f([5, 7, 9, 11, 12]).round(5).tolist()
        [-0.08429, -0.01169, -0.00055, -0.01589, -0.0289]
        """
        wanted = np.asarray(alpha, dtype=np.float64)
        return self._legendre(wanted.ravel())[0].reshape(wanted.shape)

    def at_scale(self, alpha: ArrayLike, scale: int) -> FloatArray:
        """Return the spectrum expected of a record at a finite scale: f(alpha) - log(V(alpha)/V(mean))/(2n).

        V(alpha) = Lambda''(q) is the variance, times n, of means around alpha: the saddle-point density is
        exp(n f) sqrt(n/(2 pi V)), and records are held against its value at the mean (`parshall_studies.spectrum`).

        Source: H. Daniels, Saddlepoint approximations in statistics, 1954; the eigenvectors' factor is left out.

        Raises
        ------
        ModelInputError
            As `f`, or if `scale` is below 1.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> s = spectrum(Bernoulli(0.02))
        >>> s.f([7, 11]).round(5).tolist(), s.at_scale([7, 11], 100).round(5).tolist()
        ([-0.01169, -0.01589], [-0.00838, -0.02017])
        """
        if scale < 1:
            raise ModelInputError(f"scale: found {scale}, accepted are whole numbers from 1")
        wanted = np.asarray(alpha, dtype=np.float64)
        f = self.f(wanted)
        if self.degenerate:
            return f
        inside = (wanted > self.lowest) & (wanted < self.highest)
        change = np.zeros(wanted.shape)
        change[inside] = np.log(self._variance(wanted[inside]) / self._variance(np.array([self.mean])))
        return np.asarray(f - np.nan_to_num(change) / (2 * scale))

    def _variance(self, alpha: FloatArray) -> FloatArray:
        """V(alpha) = d alpha/d q, over a little of the mean on both sides; not a number on straight parts."""
        step = 0.003 * self.mean
        low, high = np.maximum(alpha - step, self.lowest), np.minimum(alpha + step, self.highest)
        q = self._legendre(np.concatenate([low, high]))[1]
        before, after = q[: alpha.size], q[alpha.size :]
        with np.errstate(invalid="ignore"):
            known = np.isfinite(after - before) & (after - before > 1e-6 * np.abs(after))
            return np.where(known, (high - low) / np.where(known, after - before, 1.0), np.nan)

    def curve(self, points: int = 200, deepest: float | None = None) -> tuple[FloatArray, FloatArray]:
        """(alpha, f) at `points` throughputs between those where f is `deepest` (default: minus one loss cycle's rate).

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> alpha, f = spectrum(Bernoulli(0.02)).curve(5)
        >>> bool(f.max() <= 0), alpha.size
        (True, 5)
        """
        if self.degenerate:
            return np.array([self.mean]), np.array([0.0])
        level = -self.loss_rate if deepest is None else float(deepest)
        low, nodes = self._located(level, False, self._nodes)
        high, nodes = self._located(level, True, nodes)
        alpha = np.linspace(low, high, points)
        return alpha, self._legendre(alpha, nodes)[0]

    def bounds(self, n_rtts: int, scale: int) -> tuple[float, float]:
        """(alpha_min, alpha_max): means over `scale` RTTs that a realisation of `n_rtts` RTTs can show.

        Source: Loiseau 2010, eq. (10).

        Raises
        ------
        ModelInputError
            If `scale` is below 1 or above `n_rtts`.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> [round(bound, 3) for bound in spectrum(Bernoulli(0.02)).bounds(2**18, 500)]
        [6.95, 10.697]
        """
        level = float(-np.log(_intervals(n_rtts, scale)) / scale)
        return float(self._where(level, False)), float(self._where(level, True))

    def scale_for(self, low: float, high: float, n_rtts: int) -> int | None:
        """Smallest scale, RTTs, at which all means of a realisation of `n_rtts` RTTs are between `low` and `high`.

        `None` if no scale up to `n_rtts` is enough.

        Source: Loiseau 2010, §3.2.3.

        Raises
        ------
        ModelInputError
            If the range does not contain the almost-sure mean.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> s = spectrum(Bernoulli(0.02))
        >>> n = s.scale_for(7, 11, n_rtts=2**18)
        >>> n, [round(b, 2) for b in s.bounds(2**18, n)]
        (531, [7.0, 10.62])
        """
        if not low < self.mean < high:
            raise ModelInputError(
                f"range: found {low:g} to {high:g}, accepted contains the mean, {self.mean:.6g} packets"
            )
        rate = -max(self._deep(low), self._deep(high))
        least, most = 1, int(n_rtts)
        if most < 1:
            raise ModelInputError(f"n_rtts: found {n_rtts}, accepted are whole numbers from 1")
        while least < most:
            middle = (least + most) // 2
            if middle * rate >= np.log(most_intervals(n_rtts, middle)):
                most = middle
            else:
                least = middle + 1
        # With a single interval nothing varies, which is no answer.
        return least if most_intervals(n_rtts, least) >= 2 else None

    def starvation_buffer(self, demand: float, interval: int, n_rtts: int) -> float:
        """Packets a client must hold so that draining `demand` packets per RTT does not empty it between services.

        Services are `interval` RTTs apart; the worst interval of a realisation of `n_rtts` RTTs brings
        n alpha_min(n) packets, and the rest must be there: max(0, n (demand - alpha_min(n))).

        Source: Loiseau 2010, §1.1 and eq. (10).

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> round(spectrum(Bernoulli(0.02)).starvation_buffer(8.0, interval=500, n_rtts=2**18))
        525
        """
        positive("demand", demand)
        return max(0.0, interval * (demand - self.bounds(n_rtts, interval)[0]))

    @property
    def least_scale(self) -> int:
        """RTTs from which the theory's limit is taken as reached: ten loss cycles."""
        return int(np.ceil(10 * self.cycle_rtts)) if np.isfinite(self.cycle_rtts) else 1

    def probability_below(self, x: float, scale: int) -> Probability:
        """P(mean over `scale` RTTs < `x`), by the saddle-point approximation of Lugannani and Rice.

        Rises with `x`, and is continuous. `exponential` is the bare exp(n f(x)) (above the mean: 1 minus it). In range
        from `least_scale` RTTs; probabilities of 5, 1 and 0.1 % on either side are within 10 % of the exact ones from
        15, 25 and 40 loss cycles on. `parshall_studies.finite_scale` has the exact ones of small windows and
        scales.

        Source: Loiseau 2010, eq. (6); Lugannani & Rice 1980, with n Lambda(q) as cumulant generating function.

        Raises
        ------
        ModelInputError
            If `scale` is below 1, or `x` outside the known part of a chain that is not skip-free.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> answer = spectrum(Bernoulli(0.02)).probability_below(7, scale=200)
        >>> round(answer.value, 4), round(answer.exponential, 3), answer.in_range
        (0.0172, 0.096, True)
        """
        if scale < 1:
            raise ModelInputError(f"scale: found {scale}, accepted are whole numbers from 1")
        short = scale < self.least_scale
        reason = f"scale {scale} is below {self.least_scale} RTTs, ten loss cycles" if short else None
        f = float(self.f(x))
        if self.degenerate or not self.lowest < x < self.highest:
            sure = float(x > self.mean)
            return Probability(sure, sure, not short, reason)
        exponential = float(np.exp(scale * f))
        below = x < self.mean
        value = self._near_mean(x, scale)
        if value is None:
            beyond = float(np.exp(self._log_beyond(np.array([float(x)]), scale)[0]))
            value = beyond if below else 1 - beyond
        return Probability(value, exponential if below else 1 - exponential, not short, reason)

    def _near_mean(self, x: float, scale: int) -> float | None:
        """`probability_below` within `_CENTRE` standard deviations of the mean, where 1/r - 1/u is 0/0; None elsewhere.

        The normal quantile of the probability is nearly linear in x: it is the cubic through four points of it.
        """
        deviation = np.sqrt(float(self._variance(np.array([self.mean]))[0]) / min(scale, _LONG))
        half = min(_CENTRE * deviation, (self.mean - self.lowest) / 3, (self.highest - self.mean) / 3)
        if not abs(x - self.mean) < half:
            return None
        at = np.array([-2.0, -1.0, 1.0, 2.0])
        quantiles = -np.sign(at) * scipy.special.ndtri_exp(self._log_beyond(self.mean + half * at, scale))
        return float(scipy.special.ndtr(np.polyval(np.polyfit(at, quantiles, 3), (x - self.mean) / half)))

    def extremes(self, n_rtts: int, scale: int, level: float = 0.95) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the intervals of the smallest and the largest mean of a record with probability `level`.

        `bounds` are limits for long scales; this is for a finite one: of k = `n_rtts` // `scale` intervals, each
        below x with probability P (Lugannani & Rice), none is with (1 - P)^k. Intervals count as independent, which
        those of some loss cycles nearly are. Both ends are the mean where the spectrum is one point.

        Raises
        ------
        ModelInputError
            If `n_rtts` is not at least five times `scale`, or `level` is not between 0 and 1.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> low, high = spectrum(Bernoulli(0.02)).extremes(2**18, 500)
        >>> [round(end, 2) for end in (*low, *high)]
        [6.79, 7.4, 9.98, 10.91]
        """
        if scale < 1 or n_rtts < 5 * scale or not 0 < level < 1:
            raise ModelInputError(
                f"n_rtts, scale, level: found {n_rtts}, {scale}, {level}; accepted are five scales, from 1, 0 to 1"
            )
        if self.degenerate:
            return (self.mean, self.mean), (self.mean, self.mean)
        count = n_rtts // scale
        wanted = np.log(-np.expm1(np.log([(1 + level) / 2, (1 - level) / 2]) / count))
        ends = []
        for above in (False, True):
            far = self._where((float(wanted[0]) - 6.0) / scale, above)
            # Where the spectrum is only known up to an end, that end has no tilt, and so no density.
            x = far + (self.mean - far) * np.linspace(0.0 if self.exact_everywhere else 1e-3, 0.97, 20)
            log = self._log_beyond(x, scale)
            known = np.isfinite(log)
            if not known.any():  # no mean but those at the end is possible
                ends.append(np.array([far, far]))
                continue
            ends.append(np.interp(wanted, np.maximum.accumulate(log[known]), x[known]))
        low, high = ends
        return (float(low[0]), float(low[1])), (float(high[1]), float(high[0]))

    def _log_beyond(self, x: FloatArray, scale: int) -> FloatArray:
        """Log of P(mean over `scale` RTTs is beyond x, seen from the mean), Lugannani & Rice; shape of `x`, (k,).

        On straight parts of f, where Lambda has no second derivative, n f (eq. (6) of the source) and a factor between
        those of both ends.
        """
        log, exponent = self._saddle(x, scale)
        unknown = np.isnan(log)
        if unknown.any():
            log[unknown] = exponent[unknown]
            for part in self.linear_parts:
                width = 3e-4 * self.loss_rate / self.mean
                ends = self.tilted_mean([part.q - width, part.q + width])
                inside = (x > ends[0]) & (x < ends[1])
                if inside.any() and (ends[0] > self.mean or ends[1] < self.mean):
                    factor = np.subtract(*self._saddle(ends, scale))
                    log[inside] = exponent[inside] + np.interp(x[inside], ends, np.nan_to_num(factor))
        return np.asarray(np.minimum(log, exponent))

    def _saddle(self, x: FloatArray, scale: int) -> tuple[FloatArray, FloatArray]:
        """Lugannani & Rice's log of the probability beyond x, not a number where there is none, and n f."""
        value, at = self._legendre(x)[:2]
        r = np.sqrt(np.maximum(-2 * scale * value, 0.0))
        width = 1e-4 * self.loss_rate / self.mean
        inside = np.isfinite(at)  # at the ends of the spectrum the tilt is not
        slopes = self.tilted_mean(np.concatenate([at[inside] - width, at[inside] + width]))
        curvature = np.zeros(x.shape)
        curvature[inside] = (slopes[slopes.size // 2 :] - slopes[: slopes.size // 2]) / (2 * width)
        with np.errstate(divide="ignore", invalid="ignore"):
            u = np.abs(at) * np.sqrt(scale * curvature)
            # phi(r) taken out: both terms are tiny far from the mean.
            ratio = np.exp(scipy.special.log_ndtr(-r) + r * r / 2) * np.sqrt(2 * np.pi) + 1 / u - 1 / r
            log = np.log(np.where(ratio > 0, ratio, np.nan)) - r * r / 2 - np.log(2 * np.pi) / 2
        return np.asarray(log), np.asarray(scale * value)

    @cached_property
    def linear_parts(self) -> tuple[LinearPart, ...]:
        """Straight parts of f, where two branches of Lambda cross within double precision.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli
        >>> part = spectrum(Bernoulli(0.02), w_max=1000).linear_parts[0]
        >>> round(part.low, 1), round(part.q, 5), part.why
        (17.8, 0.02043, 'staying at w_max')
        """
        if self.degenerate or not self.exact_everywhere:
            return ()
        nodes = self._nodes
        jumps = np.flatnonzero(np.diff(nodes.at.mean) > 0.02 * (self.highest - self.lowest))
        corners = (self._corner(float(nodes.q[left]), float(nodes.q[left + 1])) for left in jumps)
        return tuple(part for part in corners if part is not None)

    def plot(self, axes: Any = None, **curve: Any) -> Any:
        """Draw f with matplotlib; returns the axes. Keywords go to `curve`."""
        with extra("figures", "plot"):
            from matplotlib import pyplot as plt  # noqa: PLC0415 - a second to import

        axes = plt.subplots()[1] if axes is None else axes
        alpha, f = self.curve(**curve)
        axes.plot(alpha, f, "o" if self.degenerate else "-", label="theory")
        axes.axvline(self.mean, linestyle=":", color="grey", label="almost-sure mean")
        axes.set(xlabel="mean throughput (packets per RTT)", ylabel="f (1/RTT)")
        axes.legend()
        return axes

    def _at(self, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
        wanted = np.asarray(q, dtype=np.float64)
        if not np.all(np.isfinite(wanted)):
            raise ModelInputError("q: accepted are finite numbers")
        if self.degenerate:
            return np.asarray(wanted * self.mean), np.full(wanted.shape, self.mean)
        at = self._tilting.solve(wanted.ravel())
        return at.log_radius.reshape(wanted.shape), at.mean.reshape(wanted.shape)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        """F at the lowest and the highest mean."""
        return self._tilting.end(False), self._tilting.end(True)

    @cached_property
    def _nodes(self) -> Nodes:
        """Solutions on both sides of 0, in steps that grow with q: 100 times the loss rate is where few RTTs matter."""
        unit = self.loss_rate / self.mean
        below = above = unit * np.geomspace(0.05, 30, 24)
        if self._tilting.limits is not None:
            below, above = (np.geomspace(0.02 * unit, abs(limit), 24) for limit in self._tilting.limits)
        return solved(self._tilting, np.concatenate([-below[::-1], [0.0], above]))

    def _reaching(self, alpha: FloatArray, nodes: Nodes) -> Nodes:
        """Nodes around all of `alpha`, which are within the spectrum."""
        if not self.exact_everywhere:
            return nodes
        for _ in range(400):
            more = [
                10 * nodes.q[place]
                for place, beyond in ((0, alpha.min() < nodes.at.mean[0]), (-1, alpha.max() > nodes.at.mean[-1]))
                if beyond and abs(nodes.q[place]) < 1e300
            ]
            if not more:
                break
            nodes = nodes.joined(solved(self._tilting, np.sort(np.array(more))))
        return nodes

    def _legendre(self, alpha: FloatArray, nodes: Nodes | None = None) -> tuple[FloatArray, FloatArray]:
        """F and q at `alpha`, from `nodes` if there are more than the usual ones."""
        if np.any(np.isnan(alpha)):
            raise ModelInputError("alpha: accepted are numbers")
        f, at = np.full(alpha.shape, -np.inf), np.full(alpha.shape, np.nan)
        if self.degenerate:
            here = np.abs(alpha - self.mean) <= 1e-9 * abs(self.mean)
            f[here], at[here] = 0.0, 0.0
            return f, at
        span = self.highest - self.lowest
        if not self.exact_everywhere:
            # The ends are solutions themselves, to some 1e-7.
            alpha = np.where(np.abs(alpha - self.lowest) < 1e-6 * span, self.lowest, alpha)
            alpha = np.where(np.abs(alpha - self.highest) < 1e-6 * span, self.highest, alpha)
        outside = (alpha < self.lowest - 1e-12 * span) | (alpha > self.highest + 1e-12 * span)
        if np.any(outside) and not self.exact_everywhere:
            raise ModelInputError(
                f"alpha: accepted is {self.lowest:.6g} to {self.highest:.6g} packets, where f is known"
            )
        for highest, end in ((False, self.lowest), (True, self.highest)):
            here = np.abs(alpha - end) <= 1e-12 * span
            if here.any():
                f[here], at[here] = self._ends[highest], np.inf if highest else -np.inf
        inside = ~outside & np.isneginf(f)
        if inside.any():
            nodes = self._reaching(alpha[inside], self._nodes if nodes is None else nodes)
            if self.large and inside.sum() > MANY:
                f[inside], at[inside] = interpolated(self._closer(nodes, alpha[inside]), alpha[inside])
            else:
                f[inside], at[inside] = transform(self._tilting, nodes, alpha[inside], 1e-10 * self.loss_rate)
        return f, at

    def _closer(self, nodes: Nodes, alpha: FloatArray) -> Nodes:
        """Nodes with the gaps around `alpha` filled: cubics between them are exact to about 1e-6 of f."""
        right = np.clip(np.searchsorted(nodes.at.mean, alpha, side="left"), 1, nodes.q.size - 1)
        gaps = [(float(nodes.q[place - 1]), float(nodes.q[place])) for place in np.unique(right)]
        empty = np.array([gap for gap in gaps if gap not in self._filled]).reshape(-1, 2)
        if empty.size:
            added = (empty[:, :1] + np.diff(empty, axis=1) * np.array([0.25, 0.5, 0.75])).ravel()
            tilts = self._tilting.solve(added, nodes.expected(added))
            fields = [getattr(tilts, name).reshape(-1, 3) for name in ("reduced", "reference", "log_radius", "mean")]
            for place, (low, high) in enumerate(empty.tolist()):
                self._filled[low, high] = Nodes(added[3 * place : 3 * place + 3], Tilted(*(f[place] for f in fields)))
        for gap in gaps:
            nodes = nodes.joined(self._filled[gap])
        return nodes

    def _deep(self, alpha: float) -> float:
        """f, minus infinity at and beyond the ends."""
        return -np.inf if alpha <= self.lowest or alpha >= self.highest else float(self.f(alpha))

    def _where(self, level: float, above: bool) -> float:
        """The throughput on one side of the mean where f is `level`; the end of the spectrum if f stays above."""
        return self.mean if level >= 0 or self.degenerate else self._located(level, above, self._nodes)[0]

    def _located(self, level: float, above: bool, nodes: Nodes) -> tuple[float, Nodes]:
        """`_where` for levels below 0, and the nodes with those that were needed."""
        end = self.highest if above else self.lowest
        if self._ends[above] >= level:
            return end, nodes
        if self.large and not self.exact_everywhere:
            return self._where_interpolated(level, above), nodes
        place = np.array([-1 if above else 0])
        for _ in range(400):
            f = nodes.value(place, nodes.at.mean[place])[0]
            if f < level or abs(nodes.q[place[0]]) > 1e300:
                break
            nodes = nodes.joined(solved(self._tilting, 10 * nodes.q[place]))
        return reaching(self._tilting, nodes, level, above) if f < level else (end, nodes)

    def _where_interpolated(self, level: float, above: bool) -> float:
        """`_where` for chains whose solutions are costly, between the nodes that are there."""
        nodes = self._nodes
        alpha = nodes.at.mean
        f = nodes.value(np.arange(alpha.size), alpha)
        side = np.flatnonzero((f >= level) & (nodes.q >= 0 if above else nodes.q <= 0))
        inner = side[-1] if above else side[0]
        outer = inner + 1 if above else inner - 1
        near, far = float(alpha[inner]), float(alpha[outer])
        # f is concave: Newton's method from outside never passes the root. A straight part takes one step.
        guess = far
        for _ in range(50):
            value, at = (float(each[0]) for each in interpolated(nodes, np.array([guess])))
            if not np.isfinite(at) or at == 0:
                guess = (near + guess) / 2
                continue
            after = guess + (value - level) / at
            if not min(near, far) <= after <= max(near, far):
                after = (near + guess) / 2
            if abs(after - guess) <= 1e-12 * max(1.0, abs(guess)):
                break
            guess = after
        return guess

    def _corner(self, low: float, high: float) -> LinearPart | None:
        """The jump of alpha between two tilts, if it stays when they close in on each other."""
        ends = self._tilting.solve(np.array([low, high]))
        a, b = ends.mean
        for _ in range(200):
            if high - low <= 1e-8 * max(abs(low), abs(high)):
                break
            middle = (low + high) / 2
            mean = float(self._tilting.solve(np.array([middle])).mean[0])
            if mean - a < b - mean:
                low, a = middle, mean
            else:
                high, b = middle, mean
            if b - a < 0.02 * (self.highest - self.lowest):
                return None
        stays = self._top is not None and b > 0.5 * self._top and self.highest == self._top
        below, above = self._tilting.solve(np.array([low, high])).log_radius
        q = low + (above - below - b * (high - low)) / (a - b)  # where the tangents meet
        return LinearPart(float(a), float(b), float(q), "staying at w_max" if stays else "another cycle")


def spectrum(
    loss: LossFunction | Callable[[FloatArray], ArrayLike] | float | WindowChain,
    w_max: int = 1000,
    rule: Rule = RENO,
) -> Spectrum:
    """The large-deviations spectrum of the window under a loss function.

    Parameters
    ----------
    loss
        p(w): a loss function of `chains.loss`, any function of the window, a packet loss probability; or a chain.
    w_max
        Largest window, packets.
    rule
        Increase and decrease; Reno's by default.

    Raises
    ------
    ModelInputError
        As `markov.chain`.

    Examples
    --------
    >>> from parshall_studies.chains.loss import Bernoulli, Deterministic
    >>> round(spectrum(Bernoulli(0.02), w_max=1000).mean, 5)
    8.60124
    >>> constant = spectrum(Deterministic(147))
    >>> constant.degenerate, round(constant.mean, 9), constant.f([109, 110]).tolist()
    (True, 110.0, [-inf, 0.0])
    """
    chain = loss if isinstance(loss, WindowChain) else window_chain(loss, w_max, rule)
    tilting: Tilting
    if chain.skip_free:
        tilting = SkipFree(chain.windows, chain.log_loss, chain.log_climb, chain.down)
    else:
        tilting = SparseTilt(chain.transitions(), chain.windows)
    top = float(chain.windows[-1]) if np.isfinite(chain.log_climb[-1]) else None
    return Spectrum(tilting, chain.mean, chain.loss_rate, top)


def most_intervals(n_rtts: int, scale: int) -> int:
    """k_n = floor(N/n), at least 1."""
    return max(1, int(n_rtts) // int(scale))


def _intervals(n_rtts: int, scale: int) -> int:
    if not 1 <= scale <= n_rtts:
        raise ModelInputError(f"scale: found {scale}, accepted are whole numbers from 1 to the length, {n_rtts} RTTs")
    return most_intervals(n_rtts, scale)
