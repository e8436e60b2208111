"""BIC, H-TCP and Scalable TCP where c/p^d does not fit: mean windows from the cycle between two losses.

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | loss events a packet |
| RTT | `rtt_s` | s |
| W | | packets, window at a loss |
| beta | `kept` | factor of the window kept at a loss event |
| S_max, S_min | `s_max`, `s_min` | packets a round trip: BIC's largest and smallest step |
| a | `increase` | packets an acknowledged packet (Scalable TCP) |

*BIC* (periodic losses): the way back from beta W to W takes (1-beta) W/S_max - 2 round trips of S_max packets and then
2 ln(S_max/S_min) of binary search: half of the way each, taken anew at every ACK, shrinks it by exp(-1/2) a round trip.
The packets of a cycle are 1/p, which gives W, and the mean window is the cycle's packets over its round trips. For
windows of 1e5 packets and more it is sqrt(S_max (1+beta)/(2 (1-beta) p)) = 15.5/sqrt(p).

*H-TCP* (periodic losses): the window grows by 2 (1-beta) f(t) a round trip, f = 1 for a second and then
1 + 10 (t-1) + ((t-1)/2)^2, so that W = 2/RTT times the integral of f. Where nothing queues, adaptive backoff keeps 0.8.

*Scalable TCP*, any losses: a window that is multiplied by 1 + a a round trip and by beta a loss stays where
p W ln(1/beta) = a, W = a/(p ln(1/beta)) = 0.0749/p; the 0.08/p of the usual table takes 1-beta for the logarithm.

Deviations: the round trips of loss recovery, in which the window does not grow, are left out; they are a 14th of
Scalable TCP's cycle at any loss rate.

References: L. Xu, K. Harfoush, I. Rhee, INFOCOM 2004; D. Leith, R. Shorten, PFLDnet 2004; T. Kelly, CCR 33(2), 2003.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Conditions, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, positive, probability
from parshall.analysis.models.square_root import RARE_TIMEOUTS

_POINTS = 20_001


def bic_window(loss: ArrayLike, *, s_max: float = 32.0, s_min: float = 0.01, kept: float = 0.875) -> FloatArray:
    """Mean window of BIC under periodic losses, packets; above 14 packets.

    Source: Xu, Harfoush & Rhee 2004, for a search in which each ACK takes half of the way.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1), or a step not positive.

    Examples
    --------
    >>> bic_window([1e-3, 1e-4, 1e-5]).round().tolist()
    [80.0, 605.0, 3525.0]
    """
    p = probability("loss", loss)
    beta, largest, smallest = (
        float(probability("kept", kept)),
        float(positive("s_max", s_max)),
        float(positive("s_min", s_min)),
    )
    window = np.geomspace(14.0, 1e9, _POINTS)
    way = (1 - beta) * window
    linear = np.maximum(way - 2 * largest, 0.0)
    searched = np.minimum(way, 2 * largest)
    rounds = 2 * np.log(np.maximum(searched / (2 * smallest), 1.0))
    packets = linear / largest * (beta * window + linear / 2) + window * rounds - 2 * (searched - 2 * smallest)
    trips = linear / largest + rounds
    # Where a loss takes less than S_min the search is over at once: the cycle is the round trip that loses.
    at_once = trips < 1
    packets, trips = np.where(at_once, window, packets), np.where(at_once, 1.0, trips)
    return _where(packets, packets / trips, p)


def htcp_window(loss: ArrayLike, rtt_s: ArrayLike, *, kept: float = 0.8) -> FloatArray:
    """Mean window of H-TCP under periodic losses on a path without queues, packets.

    Source: Leith & Shorten 2004 (draft-leith-tcp-htcp-06), integrated over a cycle. Without adaptive backoff
    `kept` is 0.5.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1), or an RTT not positive.

    Examples
    --------
    >>> htcp_window([1e-3, 1e-5], 0.1).round().tolist()
    [62.0, 1857.0]
    """
    p, rtt = np.broadcast_arrays(probability("loss", loss), positive("rtt_s", rtt_s))
    beta = float(probability("kept", kept))
    answer = np.empty(p.shape)
    for each in np.unique(rtt):
        seconds = np.geomspace(each / 10, 1e5, _POINTS)
        late = np.maximum(seconds - 1.0, 0.0)
        grown = seconds + 5 * late**2 + late**3 / 12  # integral of f
        area = seconds**2 / 2 + 5 * late**3 / 3 + late**4 / 48  # and of that
        window = 2 * grown / each
        packets = (beta * window * seconds + 2 * (1 - beta) * area / each) / each
        here = rtt == each
        answer[here] = _where(packets, packets * each / seconds, p[here])
    return answer


def scalable_window(loss: ArrayLike, *, increase: float = 0.01, kept: float = 0.875) -> FloatArray:
    """Mean window of Scalable TCP, packets; above 16 packets.

    Source: the balance of the window's logarithm, for the control of Kelly 2003.

    Raises
    ------
    ModelInputError
        If a loss or `kept` is not in (0, 1), or `increase` not positive.

    Examples
    --------
    >>> scalable_window(1e-4).round(1).tolist()
    748.9
    """
    p, beta = probability("loss", loss), float(probability("kept", kept))
    return np.asarray(float(positive("increase", increase)) / (p * np.log(1 / beta)))


def _where(packets: FloatArray, mean: FloatArray, loss: FloatArray) -> FloatArray:
    """Mean window of the cycle that has 1/p packets."""
    return cast("FloatArray", np.exp(np.interp(-np.log(loss), np.log(packets), np.log(mean))))


_TIMEOUTS = "timeouts, which the formula leaves out, are no longer rare"


def _bic_rate(c: Conditions) -> FloatArray:
    window = bic_window(c.loss, s_max=c.number("s_max"), s_min=c.number("s_min"), kept=c.number("decrease"))
    return window / c.rtt_s


def _htcp_rate(c: Conditions) -> FloatArray:
    kept = 0.8 if c.flag("adaptive_backoff") else 0.5
    return htcp_window(c.loss, c.rtt_s, kept=kept) / c.rtt_s


def _htcp_check(conditions: Conditions) -> str | None:
    if conditions.flag("rtt_scaling"):
        return "rtt_scaling is on, which the formula leaves out"
    if conditions.independent_losses is False and conditions.flag("adaptive_backoff"):
        return "the queue that loses the packets also delays them, and what is kept follows that delay"
    return loss_between(1e-9, RARE_TIMEOUTS, "the window would exceed 10 million packets", _TIMEOUTS)(conditions)


def _scalable_rate(c: Conditions) -> FloatArray:
    window = scalable_window(c.loss, increase=c.number("increase"), kept=c.number("decrease"))
    return window / c.rtt_s


MODELS = (
    ThroughputModel(
        entry=entry("bic"),
        rate=_bic_rate,
        check=loss_between(
            1e-10, 2e-3, "the window would exceed 10 million packets", "BIC is Reno below 14 packets, or about to be"
        ),
    ),
    ThroughputModel(
        entry=entry("htcp"),
        rate=_htcp_rate,
        check=_htcp_check,
    ),
    ThroughputModel(
        entry=entry("scalable"),
        rate=_scalable_rate,
        check=loss_between(
            1e-8,
            2e-3,
            "the window would exceed 8 million packets",
            "Scalable TCP is Reno up to 16 packets, or about to be",
        ),
    ),
)
