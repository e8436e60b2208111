"""Controls that answer to losses and to delay: Westwood+, Hybla, Veno, Illinois, YeAH, Compound TCP.

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | loss events a packet |
| RTT | `rtt_s` | s |
| T_q | `queueing_delay_s` | s, the queueing part of the RTT |
| RTT_0 | `reference_rtt_s` | s: Hybla's reference |
| g(W) | `growth` | packets that a round trip adds at a window of W |
| beta | `kept` | factor of the window kept at a loss event |
| W | result | packets, mean over time |

*Westwood+* keeps BWE RTT_min at a loss, W (1 - T_q/RTT) in the mean. What an RTT adds, 1, is what its losses take,
p W * W T_q/RTT, where W = sqrt((1-p)/p RTT/T_q): the rate is sqrt((1-p)/p)/sqrt(RTT T_q). Variances are left out, which
make it up to 9 % smaller where T_q is a third of the RTT or less, and 11 % where it is half.

*Hybla* is AIMD with rho^2 packets a round trip, rho = max(RTT/RTT_0, 1): the rate does not depend on RTTs above RTT_0.

*Without a queue* Veno is AIMD with (1, 4/5), Illinois with (10, 7/8) above 15 packets, YeAH adds max(1, W/100) a
round trip and keeps 7/8, Compound TCP adds max(1, alpha W^k) and halves. `growing_window` has the mean window of a
cycle between two losses of any such g, from its 1/p packets: the integral of w/g(w) over [beta W, W]. Where g = alpha
W^k it is a power of p, W ~ p^(-1/(2-k)).

Assumes periodic losses; the round trips of recovery are left out.

References: L. Grieco, S. Mascolo, CCR 34(2), 2004; C. Caini, R. Firrincieli, IJSCN 22(5), 2004; C. Fu, S. Liew, IEEE
JSAC 21(2), 2003; S. Liu, T. Basar, R. Srikant, Performance Evaluation 65(6-7), 2008; A. Baiocchi, A. Castellani, F.
Vacirca, PFLDnet 2007; K. Tan, J. Song, Q. Zhang, M. Sridharan, INFOCOM 2006.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Check, Conditions, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, positive, probability
from parshall.analysis.models.square_root import RARE_TIMEOUTS, aimd_window

REFERENCE_RTT_S = 0.025
_POINTS = 20_001
_PS_PER_S = 1e12
"""Durations among a control's parameters are in ps, as in a resolved scenario."""


def westwood_window(loss: ArrayLike, rtt_s: ArrayLike, queueing_delay_s: ArrayLike) -> FloatArray:
    """Mean window of Westwood+ behind a queueing delay that does not depend on it, packets.

    Source: Grieco & Mascolo 2004.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), or a time not positive.

    Examples
    --------
    >>> westwood_window(1e-3, 0.15, [0.05, 0.01]).round(1).tolist()
    [54.7, 122.4]
    """
    p = probability("loss", loss)
    delay = positive("queueing_delay_s", queueing_delay_s)
    return np.asarray(np.sqrt((1 - p) / p * positive("rtt_s", rtt_s) / delay))


def hybla_window(loss: ArrayLike, rtt_s: ArrayLike, *, reference_rtt_s: float = REFERENCE_RTT_S) -> FloatArray:
    """Mean window of Hybla under periodic losses, packets: rho sqrt(3/(2p)).

    Source: Caini & Firrincieli 2004.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), or an RTT not positive.

    Examples
    --------
    >>> (hybla_window(1e-3, [0.1, 0.2]) / [0.1, 0.2]).round(1).tolist()
    [1549.2, 1549.2]
    """
    rho = np.maximum(positive("rtt_s", rtt_s) / positive("reference_rtt_s", reference_rtt_s), 1.0)
    return np.asarray(rho * aimd_window(loss))


def compound_window(loss: ArrayLike, *, alpha: float = 0.125, k: float = 0.75, kept: float = 0.5) -> FloatArray:
    """Mean window of Compound TCP under periodic losses, where fewer than gamma packets are queued.

    Source: Tan, Song, Zhang & Sridharan 2006, integrated over a cycle.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1), or `alpha` not positive.

    Examples
    --------
    >>> compound_window([1e-2, 1e-4, 1e-6]).round(1).tolist()
    [12.2, 404.6, 16107.4]
    """
    scale = float(positive("alpha", alpha))
    return growing_window(loss, lambda w: np.maximum(scale * w**k, 1.0), kept)


def yeah_window(loss: ArrayLike, *, increase: float = 0.01, kept: float = 0.875) -> FloatArray:
    """Mean window of YeAH under periodic losses, where it queues too little to be Reno.

    Source: Baiocchi, Castellani & Vacirca 2007, as Linux has it, integrated over a cycle.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1), or `increase` not positive.

    Examples
    --------
    >>> yeah_window([1e-3, 1e-5]).round(1).tolist()
    [86.6, 7488.9]
    """
    scale = float(positive("increase", increase))
    return growing_window(loss, lambda w: np.maximum(scale * w, 1.0), kept)


def growing_window(loss: ArrayLike, growth: Callable[[FloatArray], FloatArray], kept: float) -> FloatArray:
    """Mean window of a control that adds `growth` of its window a round trip, under periodic losses, packets.

    Parameters
    ----------
    loss
        Loss events a packet.
    growth
        Packets that a round trip adds at a window, for windows of any shape; above 0.
    kept
        Factor of the window kept at a loss.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1).

    Examples
    --------
    >>> float(growing_window(1e-4, np.ones_like, 0.5).round(1))
    122.5
    """
    p, beta = probability("loss", loss), float(probability("kept", kept))
    window = np.geomspace(1.0, 1e9, _POINTS)
    low = np.log(window)
    # Integrals over ln w, from the smallest window on: of w/g for round trips, of w^2/g for packets.
    rounds, packets = (_integral(window**power / growth(window), low) for power in (1, 2))
    since = np.log(beta * window)
    trips = rounds - np.interp(since, low, rounds)
    sent = packets - np.interp(since, low, packets)
    inside = since >= 0
    sent, trips = sent[inside], trips[inside]
    return cast("FloatArray", np.exp(np.interp(-np.log(p), np.log(sent), np.log(sent / trips))))


def _integral(values: FloatArray, at: FloatArray) -> FloatArray:
    steps = np.diff(at) * (values[1:] + values[:-1]) / 2
    return np.concatenate(([0.0], np.cumsum(steps)))


_TIMEOUTS = "timeouts, which the formula leaves out, are no longer rare"
_FLOOR = "the window would exceed 10 million packets"
_rare = loss_between(1e-13, RARE_TIMEOUTS, _FLOOR, _TIMEOUTS)


def _westwood_rate(c: Conditions) -> FloatArray:
    delay = c.queueing_delay_s
    if delay is None:
        return np.full(c.rtt_s.shape, np.nan)
    shape = np.broadcast_shapes(delay.shape, c.rtt_s.shape, c.loss.shape)
    delay = np.broadcast_to(delay, shape)
    squared = np.divide((1 - c.loss) / c.loss, c.rtt_s * delay, out=np.full(shape, np.inf), where=delay > 0)
    return np.asarray(np.sqrt(squared))


def _westwood_check(c: Conditions) -> str | None:
    delay = c.queueing_delay_s
    if delay is None or not np.all(np.isfinite(delay)):
        return "the queueing delay is not known"
    if np.any(delay <= 0):
        return "there is no queueing delay, and the window grows at any loss rate until there is one"
    return _rare(c)


def _hybla_rate(c: Conditions) -> FloatArray:
    reference_s = c.number("reference_rtt") / _PS_PER_S
    rho = np.maximum(c.rtt_s / reference_s, 1.0)
    return rho * aimd_window(c.loss) / c.rtt_s


def _on_medium(check: Check) -> Check:
    def checked(conditions: Conditions) -> str | None:
        if conditions.independent_losses is False:
            return "the losses are a full queue's, whose delay changes what the control adds and keeps"
        return check(conditions)

    return checked


def _veno_rate(c: Conditions) -> FloatArray:
    return aimd_window(c.loss, decrease=c.number("random_decrease")) / c.rtt_s


def _illinois_rate(c: Conditions) -> FloatArray:
    window = aimd_window(c.loss, increase=c.number("max_increase"), decrease=1 - c.number("min_decrease"))
    return window / c.rtt_s


def _yeah_rate(c: Conditions) -> FloatArray:
    kept = 1 - c.number("min_decrease")
    return yeah_window(c.loss, increase=c.number("increase"), kept=kept) / c.rtt_s


def _compound_rate(c: Conditions) -> FloatArray:
    window = compound_window(c.loss, alpha=c.number("increase"), k=c.number("k"), kept=c.number("decrease"))
    return window / c.rtt_s


MODELS = (
    ThroughputModel(entry("westwood"), _westwood_rate, _westwood_check),
    ThroughputModel(entry("hybla"), _hybla_rate, _rare),
    ThroughputModel(entry("veno"), _veno_rate, _on_medium(_rare)),
    ThroughputModel(
        entry("illinois"),
        _illinois_rate,
        _on_medium(loss_between(1e-12, 0.01, _FLOOR, "windows come below W_thresh, where Illinois is Reno")),
    ),
    ThroughputModel(entry("yeah"), _yeah_rate, _on_medium(loss_between(1e-8, RARE_TIMEOUTS, _FLOOR, _TIMEOUTS))),
    ThroughputModel(
        entry("compound"), _compound_rate, _on_medium(loss_between(1e-9, RARE_TIMEOUTS, _FLOOR, _TIMEOUTS))
    ),
)
