"""The congestion window as a Markov chain: one step a round-trip time.

| symbol | name | unit |
| --- | --- | --- |
| W_i | window in the i-th RTT | packets |
| E | `windows`: the windows that recur, ascending | packets |
| p(w) | `loss` | probability |
| P | `transitions()` | probability |
| pi | `stationary` | probability |

From w the chain goes to `increase(w)` with probability 1 - p(w), at most w_max, and to `decrease(w)` with probability
p(w), at least 1. A connection starts at window 1; the windows from which it can never come back are left out, so that
the chain is irreducible. It may be periodic, even deterministic (constant cross traffic): time averages exist all the
same.

Deviations: none; eq. (2) is the default `RENO`. Range: p(w) in [0, 1], w_max from 1; rules on the grid of whole
packets.

References: Loiseau 2010, §3.1 eq. (2), (3); L. Breiman, Probability, 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import gcd

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.loss import LossFunction, as_loss

IntArray = NDArray[np.int64]

MOST = 10_000_000
"""Largest w_max: beyond, a chain does not fit the memory of usual machines."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The window after a round trip without a loss, and after one with a loss.

    Parameters
    ----------
    increase, decrease
        Map windows, shape (n,), to windows; fractions are rounded down.
    name
        For messages and pages.
    """

    increase: Callable[[FloatArray], ArrayLike]
    decrease: Callable[[FloatArray], ArrayLike]
    name: str = "rule"


def aimd(increase: int = 1, decrease: float = 0.5) -> Rule:
    """Additive increase by whole packets, multiplicative decrease to floor(`decrease` w).

    Raises
    ------
    ModelInputError
        If `increase` is below 1, or `decrease` not in (0, 1).

    Examples
    --------
    >>> rule = aimd(2, 0.7)
    >>> rule.increase(np.array([10.0])).tolist(), rule.decrease(np.array([10.0])).tolist()
    ([12.0], [7.0])
    """
    if increase < 1 or int(increase) != increase:
        raise ModelInputError(f"increase: found {increase}, accepted are whole numbers from 1")
    if not 0 < decrease < 1:
        raise ModelInputError(f"decrease: found {decrease}, accepted is a number between 0 and 1 (both excluded)")
    return Rule(lambda w: w + increase, lambda w: np.floor(decrease * w + 1e-9), f"aimd({increase}, {decrease:g})")


RENO = Rule(lambda w: w + 1, lambda w: np.floor(w / 2), "reno")
"""Source: Loiseau 2010, eq. (2)."""


class WindowChain:
    """The recurrent part of the window's chain; `chain` builds it.

    Attributes
    ----------
    windows
        Windows that recur, packets, shape (m,), ascending.
    loss, log_loss, log_climb
        p(w), log p(w), log(1 - p(w)) there, shape (m,).
    up, down
        Indices into `windows` after a round trip without and with a loss, shape (m,).
    """

    def __init__(self, loss: LossFunction, w_max: int, rule: Rule) -> None:
        every = np.arange(1, w_max + 1, dtype=np.float64)
        p = np.asarray(loss(every), dtype=np.float64)
        if p.shape != every.shape or not np.all((p >= 0) & (p <= 1)):
            bad = every[~((p >= 0) & (p <= 1))] if p.shape == every.shape else every
            raise ModelInputError(f"loss: p({bad[0]:g}) is no probability; accepted is a number from 0 to 1")
        climb = np.asarray(loss.log_survival(every), dtype=np.float64)
        up = _next("increase", rule.increase(every), every, w_max)
        down = _next("decrease", rule.decrease(every), every, w_max)
        if np.any((up <= np.arange(w_max)) & (every < w_max)) or np.any(down > np.arange(w_max)):
            raise ModelInputError(f"{rule.name}: increase must lead above w, decrease not above it, in whole packets")
        with np.errstate(divide="ignore"):
            log_loss = np.log(p)
        kept = _recurrent(up, down, np.isfinite(climb), np.isfinite(log_loss))
        place = np.full(w_max, -1)
        place[kept] = np.arange(kept.size)
        self.w_max, self.rule = w_max, rule
        self.windows, self.loss = every[kept], p[kept]
        self.log_loss, self.log_climb = log_loss[kept], climb[kept]
        own = np.arange(kept.size)
        self.up = np.where(np.isfinite(self.log_climb), place[up[kept]], own)
        self.down = np.where(np.isfinite(self.log_loss), place[down[kept]], own)

    @property
    def skip_free(self) -> bool:
        """True if the window climbs one state at a time: the spectrum is then exact at any tilt."""
        climbs = np.isfinite(self.log_climb[:-1])
        return bool(np.all(climbs) and np.all(self.up[:-1] == np.arange(1, self.windows.size)))

    def transitions(self) -> scipy.sparse.csr_array:
        """P, sparse, shape (m, m).

        Examples
        --------
        >>> chain(lambda w: w / 4, w_max=3).transitions().toarray().tolist()
        [[0.25, 0.75, 0.0], [0.5, 0.0, 0.5], [0.75, 0.0, 0.25]]
        """
        own = np.arange(self.windows.size)
        rows, columns = np.concatenate([own, own]), np.concatenate([self.up, self.down])
        weights = np.concatenate([np.exp(self.log_climb), np.where(np.isfinite(self.log_loss), self.loss, 0.0)])
        made = scipy.sparse.csr_array((weights, (rows, columns)), shape=(own.size, own.size))
        made.eliminate_zeros()
        return made

    @cached_property
    def stationary(self) -> FloatArray:
        """pi, shape (m,).

        Source: Loiseau 2010, eq. (3).
        """
        return _stationary(self)

    @property
    def mean(self) -> float:
        """Almost-sure mean window, packets.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Bernoulli, Deterministic
        >>> round(chain(Bernoulli(0.02), w_max=1000).mean, 5)
        8.60124
        >>> round(chain(Deterministic(147), w_max=1000).mean, 9)
        110.0
        """
        return float(self.stationary @ self.windows)

    @property
    def loss_rate(self) -> float:
        """Share of the round trips that lose a packet."""
        return float(self.stationary @ self.loss)

    @cached_property
    def period(self) -> int:
        """1: aperiodic.

        Examples
        --------
        >>> from parshall_studies.chains.loss import Deterministic
        >>> chain(Deterministic(147), w_max=1000).period
        75
        """
        graph = _graph(self.up, self.down, np.isfinite(self.log_climb), np.isfinite(self.log_loss))
        order, before = scipy.sparse.csgraph.breadth_first_order(graph, 0)
        level = np.zeros(self.windows.size, dtype=np.int64)
        for state in order[1:]:
            level[state] = level[before[state]] + 1
        divisor = 0
        for after, possible in ((self.up, np.isfinite(self.log_climb)), (self.down, np.isfinite(self.log_loss))):
            surplus = np.abs(level + 1 - level[after])[possible]
            divisor = gcd(divisor, int(np.gcd.reduce(surplus)) if surplus.size else 0)
        return divisor

    def sample(self, rtts: int, random: np.random.Generator) -> FloatArray:
        """A stationary realisation W_1 ... W_N, packets, shape (`rtts`,)."""
        state = int(random.choice(self.windows.size, p=self.stationary))
        up, down, loss = self.up.tolist(), self.down.tolist(), self.loss.tolist()
        visited = [0] * rtts
        for step, drawn in enumerate(random.random(rtts).tolist()):
            visited[step] = state
            state = down[state] if drawn < loss[state] else up[state]
        return self.windows[visited]


def chain(
    loss: LossFunction | Callable[[FloatArray], ArrayLike] | float, w_max: int = 1000, rule: Rule = RENO
) -> WindowChain:
    """The window's chain.

    Parameters
    ----------
    loss
        p(w): a loss function of `chains.loss`, any function of the window, or a packet loss probability.
    w_max
        Largest window, packets.
    rule
        What a round trip makes of the window.

    Raises
    ------
    ModelInputError
        If `w_max` is no whole number from 1 to ten million, p(w) no probability, or the rule leads nowhere.

    Examples
    --------
    >>> chain(0.1, w_max=4).windows.tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    if isinstance(w_max, bool) or not np.isfinite(w_max) or int(w_max) != w_max or not 1 <= w_max <= MOST:
        raise ModelInputError(f"w_max: found {w_max}, accepted are whole numbers from 1 to {MOST}")
    return WindowChain(as_loss(loss), int(w_max), rule)


def _next(name: str, after: ArrayLike, windows: FloatArray, w_max: int) -> IntArray:
    values = np.broadcast_to(np.asarray(after, dtype=np.float64), windows.shape)
    if not np.all(np.isfinite(values)):
        raise ModelInputError(f"{name}: accepted are finite windows")
    return np.clip(np.floor(values), 1, w_max).astype(np.int64) - 1


def _graph(up: IntArray, down: IntArray, climbs: NDArray[np.bool_], loses: NDArray[np.bool_]) -> scipy.sparse.csr_array:
    own = np.arange(up.size)
    rows, columns = np.concatenate([own[climbs], own[loses]]), np.concatenate([up[climbs], down[loses]])
    made = scipy.sparse.csr_array((np.ones(rows.size), (rows, columns)), shape=(up.size, up.size))
    made.sum_duplicates()
    return made


def _recurrent(up: IntArray, down: IntArray, climbs: NDArray[np.bool_], loses: NDArray[np.bool_]) -> IntArray:
    """The closed class that is reached from window 1.

    Raises
    ------
    ModelInputError
        If there are several: what the window does then depends on chance at the start.
    """
    graph = _graph(up, down, climbs, loses)
    reached = np.zeros(up.size, dtype=bool)
    reached[scipy.sparse.csgraph.breadth_first_order(graph, 0, return_predecessors=False)] = True
    _, label = scipy.sparse.csgraph.connected_components(graph, connection="strong")
    source, target = graph.nonzero()
    leaves = np.unique(label[source[label[source] != label[target]]])
    closed = np.setdiff1d(np.unique(label[reached]), leaves)
    if closed.size != 1:
        raise ModelInputError(f"loss: the window can end in {closed.size} separate sets of windows; accepted is one")
    return np.flatnonzero(label == closed[0])


def _stationary(chain: WindowChain) -> FloatArray:
    """Solve pi P = pi by sweeps: where losses lead gives how often each window is climbed to, and so on.

    One sweep solves pi = s + pi U for climbs U without losses, with s what the last sweep's losses bring; all terms are
    positive. The loss epochs' chain forgets fast, so that few sweeps are needed even where a climb takes thousands of
    RTTs.
    """
    states = chain.windows.size
    own = np.arange(states)
    climb = np.exp(chain.log_climb)
    lose = -np.expm1(chain.log_climb)
    lost = np.isfinite(chain.log_loss)
    lose = np.where(lost, np.where(lose > 0, lose, chain.loss), 0.0)
    if not lost.any():
        return np.full(states, 1.0 / states)
    stays = chain.up == own
    diagonal = np.where(stays, np.where(lost, lose, 1.0), 1.0)
    moving = ~stays
    system = scipy.sparse.csr_array(
        (
            np.concatenate([diagonal, -climb[moving]]),
            (np.concatenate([own, chain.up[moving]]), np.concatenate([own, own[moving]])),
        ),
        shape=(states, states),
    ).tocsc()
    solver = scipy.sparse.linalg.splu(
        system, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    pi = np.full(states, 1.0 / states)
    for _ in range(2000):
        arriving = np.bincount(chain.down, weights=pi * lose, minlength=states)
        after = solver.solve(arriving)
        after = np.maximum(after, 0.0)
        after /= after.sum()
        if np.abs(after - pi).sum() < 1e-15:
            break
        pi = after
    return np.asarray(after)
