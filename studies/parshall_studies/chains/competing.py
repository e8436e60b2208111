"""Two Reno flows on one bottleneck as a Markov chain, and how fair they are at each time scale.

| symbol | name | unit |
| --- | --- | --- |
| W_1, W_2 | windows, equal RTTs | packets |
| p(W_1 + W_2) | `loss`: probability that one flow loses a packet in an RTT, given both windows | probability |
| p_pkt(W_1 + W_2) | `loss` with `by_packets`: of a packet; flow i has 1 - (1 - p_pkt)^W_i | probability |
| D_n | mean over n RTTs of W_1 - W_2 | packets |
| J(n) | Jain's index of two means over n RTTs, to first order 1/(1 + Var(D_n)/E[W_1 + W_2]^2) | |

Each flow moves by eq. (2); given the windows, the flows lose independently. Two windows have the index
1/(1 + (W_1 - W_2)^2/(W_1 + W_2)^2), which gives J(n) where the sum varies little; Var(D_n) is exact, from the
autocovariance of the chain.

Range: w_max up to a few hundred, since states are pairs. The first order is too low by up to 4 (1 - J)^2: against
realisations of the example below, 0.03 at n = 10 and 0.004 at n = 100. Losses of both flows at the same time are as
frequent as chance makes them; a full queue synchronises more. Against the packet simulator at a RED queue: the study
`large_deviations` states the error.

References: Loiseau 2010, §6 (where it is future work); R. Jain, D. Chiu, W. Hawe, 1984 (DEC TR-301, 1984).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.loss import LossFunction, as_loss

_MOST = 400


@dataclass(frozen=True, slots=True)
class Pair:
    """The chain of two windows; `pair` builds it.

    Attributes
    ----------
    windows
        W_1 and W_2 of each state, shape (2, m).
    transitions
        P, sparse, shape (m, m).
    stationary
        Shape (m,).
    """

    windows: FloatArray
    transitions: scipy.sparse.csr_array
    stationary: FloatArray

    @property
    def mean(self) -> float:
        """Mean window of one flow, packets."""
        return float(self.stationary @ self.windows[0])

    def difference_variance(self, scales: ArrayLike) -> FloatArray:
        """Var(D_n) at each scale n, RTTs; shape of `scales`, packets squared."""
        wanted = np.asarray(scales, dtype=np.int64)
        if wanted.size == 0 or np.any(wanted < 1):
            raise ModelInputError("scales: accepted are whole numbers from 1")
        reward = self.windows[0] - self.windows[1]
        ahead, covariance = reward.copy(), np.empty(int(wanted.max()))
        for lag in range(covariance.size):
            covariance[lag] = self.stationary @ (reward * ahead)
            ahead = self.transitions @ ahead
        lags = np.arange(covariance.size)
        first, second = np.cumsum(covariance), np.cumsum(lags * covariance)
        at = wanted - 1
        sums = wanted * covariance[0] + 2 * (wanted * (first[at] - covariance[0]) - second[at])
        return np.asarray(sums / wanted.astype(np.float64) ** 2)

    def fairness(self, scales: ArrayLike) -> FloatArray:
        """J(n) at each scale n, RTTs; shape of `scales`.

        Examples
        --------
        >>> flows = pair(lambda total: np.minimum(1, total / 200), w_max=60)
        >>> flows.fairness([10, 100, 1000]).round(3).tolist()
        [0.877, 0.963, 0.996]
        """
        return np.asarray(1 / (1 + self.difference_variance(scales) / (2 * self.mean) ** 2))


def pair(loss: LossFunction | Callable[[FloatArray], ArrayLike], w_max: int = 100, *, by_packets: bool = False) -> Pair:
    """The chain of two Reno flows whose loss probability depends on the sum of their windows.

    Parameters
    ----------
    loss
        p(W_1 + W_2) that one flow loses a packet in an RTT; above 0 and below 1 somewhere, so that windows meet.
    w_max
        Largest window of each flow, packets.
    by_packets
        `loss` is the probability that a packet is lost, as at a RED queue: a flow loses in proportion to its window.

    Raises
    ------
    ModelInputError
        If `w_max` is not from 2 to 400, p no probability, or the stationary distribution is not reached.
    """
    if not 2 <= w_max <= _MOST:
        raise ModelInputError(f"w_max: found {w_max}, accepted is 2 to {_MOST}")
    first, second = (each.ravel() for each in np.meshgrid(np.arange(w_max), np.arange(w_max), indexing="ij"))
    p = np.asarray(as_loss(loss)(first + second + 2.0), dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ModelInputError("loss: accepted are probabilities, from 0 to 1")
    own_p = [1 - (1 - p) ** (index + 1.0) if by_packets else p for index in (first, second)]
    up = np.minimum(np.arange(w_max) + 1, w_max - 1)
    down = np.maximum((np.arange(w_max) + 1) // 2, 1) - 1
    own = np.arange(first.size)
    rows, columns, weights = [], [], []
    for lose_1 in (False, True):
        for lose_2 in (False, True):
            rows.append(own)
            columns.append((down if lose_1 else up)[first] * w_max + (down if lose_2 else up)[second])
            p_1, p_2 = own_p
            weights.append((p_1 if lose_1 else 1 - p_1) * (p_2 if lose_2 else 1 - p_2))
    entries = (np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns)))
    transitions = scipy.sparse.csr_array(entries, shape=(first.size, first.size))
    pi, backwards = np.full(first.size, 1 / first.size), transitions.T.tocsr()
    for _ in range(20_000):
        after = backwards @ pi
        if np.abs(after - pi).sum() < 1e-12:
            return Pair(np.array([first + 1.0, second + 1.0]), transitions, after / after.sum())
        pi = after
    raise ModelInputError("loss: the windows' distribution does not settle; accepted has chance in it")
