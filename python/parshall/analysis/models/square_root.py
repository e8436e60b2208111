"""The square-root law: additive increase, multiplicative decrease, and nothing else.

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | loss events a packet |
| a | `increase` | packets added a round trip |
| beta | `decrease` | factor of the window kept at a loss event |
| b | `packets_per_ack` | packets whose ACKs grow the window by one step |
| W | result | packets, mean over time |

Two readings of "a fraction p is lost". *Periodic*: exactly 1/p packets between losses, every cycle alike: W =
sqrt(a (1+beta) / (2 (1-beta) b p)), for Reno sqrt(3/(2bp)) = 1.22/sqrt(bp) (Mathis, Semke, Mahdavi & Ott
1997), which Padhye et al. (1998) write as a rate 1/(RTT sqrt(2bp/3)). *Independent*: each packet is lost with
probability p whatever happened before: for Reno 1.31/sqrt(bp) (Ott, Kemperman & Mathis 1996), larger because
most cycles are short and a few very long.

Range: as p -> 0; the window is a smooth fluid, timeouts and the window's limit are left out.

References: M. Mathis, J. Semke, J. Mahdavi, T. Ott, The macroscopic behavior of the TCP congestion avoidance
algorithm, CCR 27(3), 1997. J. Padhye, V. Firoiu, D. Towsley, J. Kurose, Modeling TCP throughput, SIGCOMM
1998. T. Ott, J. Kemperman, M. Mathis, The stationary behavior of ideal TCP congestion avoidance, 1996.
"""

from __future__ import annotations

from functools import cache
from math import gamma

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Conditions, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, positive, probability


def square_root_window(loss: ArrayLike, *, packets_per_ack: float = 1.0) -> FloatArray:
    """Reno's mean window under periodic losses, packets: sqrt(3/(2bp)).

    Source: Mathis et al. 1997 (C = sqrt(3/2)); Padhye et al. 1998 §2.1.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1).

    Examples
    --------
    >>> square_root_window([0.015, 1.5e-4]).round(6).tolist()
    [10.0, 100.0]
    """
    return aimd_window(loss, packets_per_ack=packets_per_ack)


def independent_losses_window(
    loss: ArrayLike, *, increase: float = 1.0, decrease: float = 0.5, packets_per_ack: float = 1.0
) -> FloatArray:
    """Mean window of any AIMD under independent losses, packets: for Reno 1.31/sqrt(bp).

    Source: Ott, Kemperman & Mathis 1996.

    Raises
    ------
    ModelInputError
        If a loss or `decrease` is not in (0, 1), or `increase` not positive.

    Examples
    --------
    >>> round(float(independent_losses_window(1e-4)), 2)
    130.98
    """
    p = probability("loss", loss)
    a, b = positive("increase", increase), positive("packets_per_ack", packets_per_ack)
    return np.asarray(independent_losses_constant(decrease) * np.sqrt(a / (b * p)))


def aimd_window(
    loss: ArrayLike, *, increase: float = 1.0, decrease: float = 0.5, packets_per_ack: float = 1.0
) -> FloatArray:
    """Mean window of any AIMD under periodic losses, packets.

    Source: RFC 9438 §4.3 (with b = 1).

    Raises
    ------
    ModelInputError
        If a loss or `decrease` is not in (0, 1), or `increase` not positive.

    Examples
    --------
    >>> round(float(aimd_window(1e-4, increase=3 * 0.3 / 1.7, decrease=0.7)), 2)
    122.47
    """
    p = probability("loss", loss)
    a, b = positive("increase", increase), positive("packets_per_ack", packets_per_ack)
    beta = probability("decrease", decrease)
    return np.asarray(np.sqrt(a * (1 + beta) / (2 * (1 - beta) * b * p)))


@cache
def independent_losses_constant(decrease: float = 0.5) -> float:
    """W sqrt(p) as p -> 0, when each packet is lost independently: 1.3098 for `decrease` 1/2.

    In packets sent, X = p W^2/2 grows at rate 1 and is multiplied by beta^2 at the points of a Poisson
    process of rate 1. Its moments obey E[X^s] (1 - beta^(2s)) = s E[X^(s-1)], whence E[X^(-1/2)] as the
    product below; the mean over time is the harmonic mean over packets, sqrt(2)/E[X^(-1/2)].

    Examples
    --------
    >>> round(independent_losses_constant(), 4)
    1.3098
    """
    beta = float(probability("decrease", decrease))
    powers = np.exp(np.arange(1, _terms(beta) + 1) * np.log(beta))
    odd = powers[::2]
    even = powers[1::2]
    log_moment = np.log(gamma(0.5)) + np.log1p(-odd).sum() - np.log1p(-even).sum()
    return float(np.sqrt(2) / np.exp(log_moment))


def _terms(beta: float) -> int:
    """Return an even number of factors after which 1 - beta^k is 1."""
    return 2 * (int(np.ceil(-40 / np.log(beta))) // 2 + 1)


RARE_TIMEOUTS = 0.02
"""Loss above which formulas without timeouts are out of range.

Reno's window is then below 9 packets, so that one loss in three finds too few other packets in flight for
three duplicate ACKs (`pftk.timeout_probability`).
"""

_TIMEOUTS = "timeouts, which the formula leaves out, are no longer rare"
_FLOOR = "the window would exceed 10 million packets"


def _periodic_rate(c: Conditions) -> FloatArray:
    window = aimd_window(
        c.loss,
        increase=c.number("increase"),
        decrease=c.number("decrease"),
        packets_per_ack=c.packets_per_ack,
    )
    return window / c.rtt_s


def _independent_rate(c: Conditions) -> FloatArray:
    window = independent_losses_window(
        c.loss,
        increase=c.number("increase"),
        decrease=c.number("decrease"),
        packets_per_ack=c.packets_per_ack,
    )
    return window / c.rtt_s


def is_reno(conditions: Conditions) -> str | None:
    """Say why the window is not Reno's, which adds 1 packet a round trip and halves; `None` if it is."""
    increase, decrease = conditions.number("increase"), conditions.number("decrease")
    at_mark = conditions.number("ecn_decrease")
    if at_mark > decrease:
        return f"a mark keeps {at_mark:g} of the window; the formula has 0.5 for losses and marks"
    if (increase, decrease) == (1.0, 0.5):
        return None
    return f"the window grows by {increase:g} a round trip and keeps {decrease:g}; the formula has 1 and 0.5"


def _independent(conditions: Conditions) -> str | None:
    if conditions.independent_losses is False:
        return "the losses are a full queue's, which depend on the window; the formula takes them as independent"
    return _rare(conditions)


_rare = loss_between(1e-14, RARE_TIMEOUTS, _FLOOR, _TIMEOUTS)

SQUARE_ROOT = ThroughputModel(
    entry=entry("square_root"),
    rate=_periodic_rate,
    check=_rare,
)

INDEPENDENT_LOSSES = ThroughputModel(
    entry=entry("independent_losses"),
    rate=_independent_rate,
    check=_independent,
)

MODELS = (SQUARE_ROOT, INDEPENDENT_LOSSES)
