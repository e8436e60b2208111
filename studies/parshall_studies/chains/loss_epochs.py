"""The tilted chain of a window with memory, looked at from loss to loss.

Between two losses the window is a function of the state x after the last one (`chains.growth`: the window W at
that loss, and whether it was early) and of the time since. The chain of (x, time since) is large, but all its
randomness is when the next loss comes. So it is enough to look at losses:

| symbol | name | unit |
| --- | --- | --- |
| x | a state after a loss: W of `windows`, early or not | packets |
| W_k(x) | window k round trips later | packets |
| s_k = (1 - p(W_0)) ... (1 - p(W_{k-1})) | log of s_k p(W_k), the loss comes in k: `_log_weight` | probability |
| G_k = floor(W_0) + ... + floor(W_k) | `_sent` | packets |
| K(q, nu) | sum over k of s_k p(W_k) exp(q (G_k - (k+1) r) - nu (k+1)) from x to the state after the loss | |
| Lambda(q) = nu + q r | where the spectral radius of K(q, nu) is 1 | 1/RTT |
| alpha(q) = Lambda'(q) | tilted packets over tilted round trips of an epoch | packets |

r is the mean. At q = 0 and nu = 0 K is the transition matrix of the states after losses.

W is on a grid of `windows`, in equal ratios; a loss between two of them goes to both, so that the mean window
is kept. Grids that hold every window that occurs (Reno's) are exact. Followed are `FOLLOWED` nats of survival: f is
known for tilts at which what comes later does not matter (`limits`). A window at w_max stays there.

With a `chains.recovery` an epoch also has its recovery: a loss in the k-th round trip is found there at the fraction
u of it, the epoch lasts k + u + D round trips, and what follows (fast recovery, a timeout) is drawn with the repairs'
shares, so that K has a term for each. Windows are then those of the sender, with their fractions, and a round trip
sends the mean of the windows at its ends, in whole packets.

m-dependent losses: a loss function with a method `since(window, round_trips)` has p depend on the time since the
last loss too (`chains.persistent_loss`).

References: Loiseau 2010, §5.3 (where these chains are future work), footnote 1; E. Seneta, Non-negative Matrices and
Markov Chains, 1981.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.growth import Growth
from parshall_studies.chains.loss import LossFunction
from parshall_studies.chains.recovery import FLOORED, Recovery
from parshall_studies.chains.skip_free import Tilted

IntArray = NDArray[np.int64]

FOLLOWED = 100.0
"""Windows are followed until the probability that no loss came is exp(-100)."""
TAIL = 20.0
"""At the largest tilt what is not followed weighs less than exp(-20) = 2e-9."""
MOST = 20_000
"""The longest epoch, round trips."""


@runtime_checkable
class PersistentLoss(Protocol):
    """p(w, k): the probability of a loss in the k-th round trip after one, k from 1."""

    def since(self, window: ArrayLike, round_trips: int) -> FloatArray:
        """p(w, k), the shape of `window`."""
        ...


class LossEpochs:
    """The epochs between losses of a window.

    Parameters
    ----------
    loss
        p(w), or p(w, k).
    growth
        What the control makes of the window.
    windows
        The grid of W, packets, ascending from 1 or more; the last one is w_max. Shape (m,).
    recovery
        What a loss takes beyond the smaller window; None: nothing, as in eq. (2).

    Raises
    ------
    ModelInputError
        If p is no probability, or losses are too rare to be followed.
    """

    def __init__(
        self,
        loss: LossFunction | PersistentLoss,
        growth: Growth,
        windows: FloatArray,
        recovery: Recovery | None = None,
    ) -> None:
        memories = 2 if growth.remembers else 1
        self.windows, self._growth, self._recovery = windows, growth, recovery
        start = np.tile(windows, memories)
        early = np.repeat(np.arange(memories) == 1, windows.size)
        self._aim = growth.aim(start, early)
        growth.begin(start, early)
        self._rows = _Rows()
        gone, total = np.zeros(start.size), np.zeros(start.size)
        if recovery is not None and recovery.by_packets:
            first = recovery.at_the_end(growth.window)
            lost, gone = _logs(loss, first, 1)
            self._add(lost, total, 0.0, growth.window)
        top = float(windows[-1])
        for since in range(1, MOST + 1):
            window = growth.window = np.minimum(growth.window, top)
            growth.advance()
            after = np.minimum(growth.window, top)
            packets, asked = _packets(window, after, recovery)
            lost, kept = _logs(loss, asked, since)
            last = bool(np.all(gone + kept < -FOLLOWED))
            found_at = 1.0 if recovery is None else recovery.found_at
            after_repair = window if recovery is None else window + found_at * (after - window)
            # What is left at the end is lost there: at q = 0 nothing is missing.
            weight = gone if last else gone + lost
            self._add(weight, total + found_at * packets, since - 1 + found_at, after_repair)
            total, gone = total + packets, gone + kept
            if last:
                break
        if np.any(gone > -TAIL):
            raise ModelInputError(
                f"loss: windows grow for {MOST} round trips without a loss; accepted are functions that lose sooner"
            )
        self._sent, self._trips, self._log_weight, self._place, self._share, self._from = self._rows.columns()
        self._gone, self._followed = gone, (total, float(since))
        self._target = self._from * start.size + self._place
        self._right = self._left = np.full(start.size, 1 / start.size)
        self.mean = 0.0
        rate, ratio = self._at(0.0, 0.0)[1:]
        self.mean, self.loss_rate = ratio, rate

    def _add(self, log_weight: FloatArray, sent: FloatArray, trips: float, window: FloatArray) -> None:
        """A loss that is found at these windows, with all that may follow."""
        if self._recovery is None:
            # The last round trip is whole, and the next one has the reduced window. Loiseau 2010, eq. (2)
            self._rows.add(log_weight, sent, np.full_like(sent, trips), *self._placed(window))
            return
        for repair in self._recovery.repairs(window, self._growth.reduced):
            with np.errstate(divide="ignore"):
                share = np.log(repair.share)
            self._rows.add(
                log_weight + share, sent + repair.packets, trips + repair.rtts, *self._placed(repair.lost_at)
            )

    def _placed(self, window: FloatArray) -> tuple[IntArray, FloatArray]:
        """The state of the grid's window below, and the share that goes to the one above."""
        right = np.clip(np.searchsorted(self.windows, window, side="right"), 1, self.windows.size - 1)
        low, high = self.windows[right - 1], self.windows[right]
        early = (window < self._aim - 1e-9) & self._growth.remembers
        return right - 1 + self.windows.size * early, np.clip((window - low) / (high - low), 0.0, 1.0)

    @property
    def states(self) -> int:
        """Number of states after a loss."""
        return int(self._gone.size)

    def largest_tilt(self) -> float:
        """Q up to which what is not followed does not matter, per packet."""
        sent, trips = self._followed
        over = sent - trips * self.mean
        room = -self._gone - TAIL
        limits = np.where(over > 0, room / np.maximum(over, 1e-300), np.inf)
        return float(limits.min())

    def solve(self, q: float, nu: float) -> tuple[float, float]:
        """Nu at which the spectral radius of K(q, nu) is 1, and alpha there; from a guess of nu."""
        for _ in range(60):
            log_radius, rate, mean = self._at(q, nu)
            step = log_radius * rate
            nu += step
            if abs(step) <= 1e-13 + 1e-7 * abs(nu):  # Newton's next step would be of the order of its square
                return nu, mean
        raise ModelInputError(f"q = {q:g}: no root was found")

    def _at(self, q: float, nu: float) -> tuple[float, float, float]:
        """Log of the spectral radius of K(q, nu), tilted losses a round trip, tilted mean."""
        weight = self._log_weight + q * self._sent
        weight -= (nu + q * self.mean) * self._trips
        np.minimum(weight, 300.0, out=weight)
        with np.errstate(under="ignore"):
            np.exp(weight, out=weight)
        states = self.states
        above = weight * self._share
        stays = np.bincount(self._target, weights=weight - above, minlength=states**2)
        kernel: FloatArray = np.asarray(stays, dtype=np.float64)
        kernel[1:] += np.bincount(self._target, weights=above, minlength=states**2)[:-1]
        radius, left, right = _perron(kernel.reshape(states, states), self._left, self._right)
        self._left, self._right = left, right
        # Derivatives of the radius: the weights with G_k or k+1, between the eigenvectors.
        low, high = right[self._place], right[self._place + 1]
        each = weight * left[self._from]
        each *= low + self._share * (high - low)
        trips, packets = float(each @ self._trips), float(each @ self._sent)
        return float(np.log(radius)), float(each.sum() / trips), packets / trips


class EpochTilt:
    """`LossEpochs` as a tilted chain of `chains.legendre`.

    Parameters
    ----------
    epochs
        The epochs.
    """

    costly = True

    def __init__(self, epochs: LossEpochs) -> None:
        self._epochs = epochs
        unit = epochs.loss_rate / epochs.mean
        # Beyond 60 loss cycles' rates a packet, an interval is shorter than a round trip.
        self.limits: tuple[float, float] | None = (-60 * unit, min(60 * unit, epochs.largest_tilt()))
        self.states = epochs.states
        (low, self.lowest), (high, self.highest) = (self._reached(limit) for limit in self.limits)
        self.limits = (low, high)

    def _reached(self, limit: float) -> tuple[float, float]:
        """A limit and the mean there; drawn in where K underflows, as it does if a cycle is a few RTTs."""
        self.limits = (min(limit, 0.0), max(limit, 0.0))
        for _ in range(6):
            try:
                return limit, float(self.solve(np.array([limit])).mean[0])
            except ModelInputError:
                limit /= 2
        raise ModelInputError(
            f"loss: found losses every {1 / self._epochs.loss_rate:.3g} RTTs, too often for this chain; accepted are "
            "losses at which windows grow for some round trips"
        )

    def solve(self, q: FloatArray, guess: FloatArray | None = None) -> Tilted:
        """Lambda and alpha at each q, shape (k,)."""
        q = np.asarray(q, dtype=np.float64)
        low, high = self.limits or (-np.inf, np.inf)
        if np.any((q < low * (1 + 1e-12)) | (q > high * (1 + 1e-12))):
            raise ModelInputError(f"q: accepted is {low:g} to {high:g} per packet")
        nu, mean = np.zeros_like(q), np.full_like(q, self._epochs.mean)
        # From 0 outwards: each solution is the next one's guess.
        for side in (q >= 0, q < 0):
            last, last_q, slope = 0.0, 0.0, 0.0
            for at in np.flatnonzero(side)[np.argsort(np.abs(q[side]), kind="stable")]:
                start = last + slope * (q[at] - last_q)
                if guess is not None:
                    start = float(guess[at] - q[at] * self._epochs.mean)
                nu[at], mean[at] = self._epochs.solve(float(q[at]), max(0.0, start))
                last, last_q, slope = float(nu[at]), float(q[at]), float(mean[at]) - self._epochs.mean
        reference = np.full(q.shape, self._epochs.mean)
        return Tilted(nu, reference, nu + q * reference, mean)

    def end(self, highest: bool) -> float:
        """F where the known part of the spectrum ends."""
        q = (self.limits or (0.0, 0.0))[int(highest)]
        solved = self.solve(np.array([q]))
        return float(solved.log_radius[0] - q * solved.mean[0])


class _Rows:
    """The outcomes of each state: weight, packets sent, duration, and next state."""

    def __init__(self) -> None:
        self._rows: list[tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray]] = []

    def add(
        self, log_weight: FloatArray, sent: FloatArray, trips: FloatArray, place: IntArray, share: FloatArray
    ) -> None:
        """Something that may come of the states where it has a weight; arrays of shape (states,)."""
        some = np.flatnonzero(np.isfinite(log_weight))
        self._rows.append((sent[some], trips[some], log_weight[some], place[some], share[some], some))

    def columns(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray, FloatArray, IntArray]:
        """Packets sent, round trips, log-weights, places, shares, and the states they are of; shape (cases,)."""
        sent, trips, log_weight, place, share, state = (
            np.concatenate(column) for column in zip(*self._rows, strict=True)
        )
        return sent, trips, log_weight, place, share, state


def _packets(window: FloatArray, after: FloatArray, recovery: Recovery | None) -> tuple[FloatArray, FloatArray]:
    """Return the packets sent in a round trip in which the window grows, and the window at which p is taken."""
    whole = np.maximum(np.floor(window), 1.0)
    if recovery is None:
        return whole, whole
    packets = np.maximum((window + after) / 2 - FLOORED, 1.0)
    return packets, packets if recovery.by_packets else whole


def _logs(loss: LossFunction | PersistentLoss, window: FloatArray, since: int) -> tuple[FloatArray, FloatArray]:
    """Log p and log(1 - p)."""
    if isinstance(loss, PersistentLoss):
        p = np.asarray(loss.since(window, since), dtype=np.float64)
        with np.errstate(divide="ignore"):
            kept = np.log1p(-p)
    else:
        p, kept = np.asarray(loss(window), dtype=np.float64), np.asarray(loss.log_survival(window), dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ModelInputError("loss: accepted are probabilities, from 0 to 1")
    with np.errstate(divide="ignore"):
        return np.log(p), kept


def _perron(matrix: FloatArray, left: FloatArray, right: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Spectral radius and both eigenvectors of a non-negative matrix, from guesses.

    Powers of K + rho/5: the shift makes a periodic matrix converge too.
    """
    radius, anew = 1.0, False
    for _ in range(20_000):
        after, before = matrix @ right, left @ matrix
        overlap = float(left @ right)
        eigenvalue = float(left @ after) / overlap if overlap > 0 else 0.0
        if not np.isfinite(eigenvalue) or eigenvalue <= 0:
            if anew:
                raise ModelInputError("loss: the window's states do not hang together at this tilt")
            # Guesses from another tilt may be orthogonal: each underflows where the other does not.
            left = right = np.full(right.size, 1 / right.size)
            anew = True
            continue
        after, before = after + 0.2 * eigenvalue * right, before + 0.2 * eigenvalue * left
        after, before = after / after.sum(), before / before.sum()
        moved = max(np.abs(after - right).sum(), np.abs(before - left).sum())
        still = abs(eigenvalue - radius) <= 1e-13 * eigenvalue and moved < 1e-8  # the radius' error is its square
        left, right, radius = before, after, eigenvalue
        if still:
            break
    return radius, left, right
