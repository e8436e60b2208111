"""CUBIC (RFC 9438): the larger of its cubic and its Reno-friendly window.

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | loss events a packet |
| RTT | `rtt_s` | s |
| C | `c` | packets/s^3 |
| beta_cubic | `beta` | factor of the window kept at a loss event |
| alpha_cubic | 3 (1-beta)/(1+beta) | packets a round trip, increase of the Reno-friendly window |

*Periodic* losses (RFC 9438 §5): W = (C (3+beta)/(4 (1-beta)))^(1/4) (RTT/p)^(3/4), and in the Reno-friendly
region Reno's sqrt(3/(2p)), which alpha_cubic is chosen to give for any beta.

*Independent* losses: W = k (C/0.4)^(1/4) (RTT/p)^(3/4). k = 1.3004 is Poojary & Sharma's for beta = 0.7
without fast convergence. With fast convergence k = 1.196, and the Reno-friendly region has W = 1.413/sqrt(p),
since alpha becomes 1 where the window passes that of the last loss; these two constants are ours, from the
same limiting Markov chain (`limit_constants`).

Deviations: where both regions are about as large, the window switches between them within one epoch and is
somewhat above the larger mean; the maximum of the two means leaves that out. RFC 9438's tables take 1.2 for
Reno's sqrt(3/2) = 1.2247, after RFC 3649.

References: L. Xu et al., RFC 9438, 2023; S. Poojary, V. Sharma, An asymptotic approximation for TCP CUBIC,
Queueing Systems 91, 2019 (arXiv 1510.08496).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Conditions, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, positive, probability
from parshall.analysis.models.square_root import RARE_TIMEOUTS, aimd_window

C = 0.4
BETA = 0.7

INDEPENDENT = 1.3004
"""k, beta = 0.7, without fast convergence (Poojary & Sharma 2019)."""
INDEPENDENT_FAST_CONVERGENCE = 1.196
"""k, beta = 0.7, with fast convergence (`limit_constants`)."""
INDEPENDENT_FRIENDLY = 1.413
"""W sqrt(p) of the Reno-friendly region, beta = 0.7 (`limit_constants`)."""


def cubic_window(
    loss: ArrayLike, rtt_s: ArrayLike, *, c: float = C, beta: float = BETA, reno_friendly: bool = True
) -> FloatArray:
    """Mean window under periodic losses, packets.

    Source: RFC 9438 §5.

    Raises
    ------
    ModelInputError
        If a loss or `beta` is not in (0, 1), or an RTT or `c` not positive.

    Examples
    --------
    >>> cubic_window([1e-3, 1e-4, 1e-6], 0.1).round().tolist()
    [39.0, 187.0, 5926.0]
    """
    p, rtt = probability("loss", loss), positive("rtt_s", rtt_s)
    kept = probability("beta", beta)
    scale = (positive("c", c) * (3 + kept) / (4 * (1 - kept))) ** 0.25
    cubic = scale * (rtt / p) ** 0.75
    if not reno_friendly:
        return np.asarray(cubic)
    alpha = float(3 * (1 - kept) / (1 + kept))
    return np.maximum(cubic, aimd_window(p, increase=alpha, decrease=float(kept)))


def cubic_independent_window(
    loss: ArrayLike,
    rtt_s: ArrayLike,
    *,
    c: float = C,
    fast_convergence: bool = True,
    reno_friendly: bool = True,
) -> FloatArray:
    """Mean window under independent losses for beta = 0.7, packets.

    Source: Poojary & Sharma 2019; with fast convergence and in the Reno-friendly region, our constants.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), or an RTT or `c` not positive.

    Examples
    --------
    >>> round(float(cubic_independent_window(1e-4, 0.1, fast_convergence=False)), 1)
    231.2
    """
    p, rtt = probability("loss", loss), positive("rtt_s", rtt_s)
    k = INDEPENDENT_FAST_CONVERGENCE if fast_convergence else INDEPENDENT
    cubic = k * (positive("c", c) / C) ** 0.25 * (rtt / p) ** 0.75
    return np.maximum(cubic, INDEPENDENT_FRIENDLY / np.sqrt(p)) if reno_friendly else np.asarray(cubic)


_rare = loss_between(
    1e-12,
    RARE_TIMEOUTS,
    "the window would exceed 10 million packets",
    "timeouts, which the formula leaves out, are no longer rare",
)


def _periodic_rate(c: Conditions) -> FloatArray:
    window = cubic_window(
        c.loss,
        c.rtt_s,
        c=c.number("c"),
        beta=c.number("beta"),
        reno_friendly=c.flag("reno_friendly"),
    )
    return window / c.rtt_s


def _independent_rate(c: Conditions) -> FloatArray:
    window = cubic_independent_window(
        c.loss,
        c.rtt_s,
        c=c.number("c"),
        fast_convergence=c.flag("fast_convergence"),
        reno_friendly=c.flag("reno_friendly"),
    )
    return window / c.rtt_s


def _independent(conditions: Conditions) -> str | None:
    if conditions.independent_losses is False:
        return "the losses are a full queue's, which depend on the window; the formula takes them as independent"
    if conditions.number("beta") != BETA:
        return f"beta is {conditions.number('beta'):g}: the constants are known for 0.7 only"
    return _rare(conditions)


MODELS = (
    ThroughputModel(
        entry=entry("cubic"),
        rate=_periodic_rate,
        check=_rare,
    ),
    ThroughputModel(
        entry=entry("cubic_independent"),
        rate=_independent_rate,
        check=_independent,
    ),
)
