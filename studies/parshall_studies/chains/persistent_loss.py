"""Losses that follow each other: p(w, k), which depends on the window and on the time since the last loss.

| symbol | name | unit |
| --- | --- | --- |
| w | window | packets |
| k | round trips since the last loss, from 1 | RTTs |
| m | `memory`: beyond m round trips the last loss does not matter | RTTs |
| p(w, k) | `since` | probability |

Cross traffic that lasts for several round trips makes losses come in groups: the loss probability is then larger
just after a loss, at small windows, than the window alone says (source, Fig. 4(c)). The source names the m-dependent
chain as the remedy. `chains.variants.spectrum("reno", persistent)` is that chain.

References: Loiseau 2010, §4.2 (discussion of Fig. 5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.loss import LossFunction
from parshall_studies.chains.measured_loss import Smoothing, measured


@dataclass(frozen=True, slots=True)
class Persistent:
    """P(w, k): `after[k-1]` for k up to m, `otherwise` beyond.

    Examples
    --------
    >>> from parshall_studies.chains.loss import Bernoulli
    >>> losses = Persistent((Bernoulli(0.1),), Bernoulli(0.01))
    >>> [round(float(losses.since(1, k)), 3) for k in (1, 2)]
    [0.1, 0.01]
    """

    after: tuple[LossFunction, ...]
    otherwise: LossFunction

    @property
    def memory(self) -> int:
        """M."""
        return len(self.after)

    def since(self, window: ArrayLike, round_trips: int) -> FloatArray:
        """p(w, k)."""
        chosen = self.after[round_trips - 1] if round_trips <= self.memory else self.otherwise
        return np.asarray(chosen(window), dtype=np.float64)


def measured_persistent(
    windows: ArrayLike,
    losses: ArrayLike,
    memory: int,
    *,
    smoothing: Smoothing = "pooled",
    least: int = 50,
    ceiling: bool = False,
) -> Persistent:
    """Estimate p(w, k) from the window of each RTT and whether it lost a packet.

    Parameters
    ----------
    windows, losses, smoothing, least
        As `measured_loss.measured`.
    memory
        m, from 1.
    ceiling
        Whether a loss is certain from the largest window seen on, beyond m round trips after a loss.

    Raises
    ------
    ModelInputError
        As `measured`; or if the record has no round trip for some k.

    Examples
    --------
    >>> p = measured_persistent([4, 2, 3, 4, 2, 1], [1, 0, 0, 1, 1, 0], memory=1, smoothing="none")
    >>> [float(p.since(2, k)) for k in (1, 2)]
    [0.5, 0.0]
    """
    w, lost = np.asarray(windows, dtype=np.float64).ravel(), np.asarray(losses).ravel().astype(bool)
    if memory < 1 or w.shape != lost.shape:
        raise ModelInputError(f"memory: found {memory} for {w.size} windows, accepted is from 1, with as many losses")
    places = np.arange(w.size)
    before = np.maximum.accumulate(np.where(lost, places, -1))
    since = np.where(before[:-1] >= 0, places[1:] - before[:-1], memory + 1)
    later, hit = w[1:], lost[1:]
    functions = []
    for k in range(1, memory + 2):
        here = since == k if k <= memory else since > memory
        if not here.any():
            raise ModelInputError(f"losses: no round trip is {k} after a loss; accepted are longer records")
        last = ceiling and k > memory
        functions.append(measured(later[here], hit[here], smoothing=smoothing, least=least, ceiling=last))
    return Persistent(tuple(functions[:-1]), functions[-1])
