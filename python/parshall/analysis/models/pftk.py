"""PFTK: TCP Reno with timeouts and a window limit (Padhye, Firoiu, Towsley & Kurose).

| symbol | argument | unit |
| --- | --- | --- |
| p | `loss` | probability of loss of a packet whose predecessor in its round arrived |
| RTT, T_0 | `rtt_s`, `rto_s` | s |
| b | `packets_per_ack` | packets an ACK acknowledges |
| W_max | `window_limit_packets` | packets |
| Q^(w) | `timeout_probability` | probability that a loss at window w ends in a timeout |
| f(p) | `backoff_factor` | mean length of a timeout sequence: f(p)/(1-p) in units of T_0 |
| B(p), T(p) | `send_rate`, `delivery_rate` | packets/s |

Assumes: rounds as long as an RTT that does not depend on the window; once a packet is lost, so are the others
behind it in the same round; Reno recovery; no slow start after a timeout. Its p counts loss events, not lost
packets.

*Sent and delivered.* B(p) and its approximation count packets sent, T(p) those that arrive, of which the model `pftk`
speaks. The sources have no approximation of T(p): the model `pftk_approximate` takes (1 - p) of the packets sent, as
if losses were single. That is more than T(p), which takes half of the last round as lost with the first packet: 38.1
against 34.9 packets/s at p = 0.05, RTT 0.1 s and T_0 0.3 s, of 40.1 and 41.0 sent.

Deviations: none.

References: J. Padhye, V. Firoiu, D. Towsley, J. Kurose, Modeling TCP throughput: a simple model and its
empirical validation, SIGCOMM 1998; Modeling TCP Reno performance: a simple model and its empirical
validation, IEEE/ACM ToN 8(2), 2000.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Conditions, Rate, ThroughputModel, loss_between
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, limit, positive, probability
from parshall.analysis.models.square_root import is_reno


def send_rate(
    loss: ArrayLike,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    *,
    packets_per_ack: float = 1.0,
    window_limit_packets: ArrayLike = inf,
) -> FloatArray:
    """Packets sent a second, B(p), retransmissions included.

    Source: SIGCOMM 1998 §2.2 and, with the window limit, §2.3: "the full model".

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), a time or the window limit not positive.

    Examples
    --------
    >>> round(float(send_rate(0.01, 0.1, 0.4, packets_per_ack=2)), 2)
    77.85
    """
    return _rate(loss, rtt_s, rto_s, packets_per_ack, window_limit_packets, delivered=False)


def delivery_rate(
    loss: ArrayLike,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    *,
    packets_per_ack: float = 1.0,
    window_limit_packets: ArrayLike = inf,
) -> FloatArray:
    """Packets delivered a second, T(p): what goodput is compared with.

    Source: ToN 2000, throughput T(p) of the receiver; Cardwell, Savage & Anderson, INFOCOM 2000, eq. (22).

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), a time or the window limit not positive.

    Examples
    --------
    >>> bool(delivery_rate(0.05, 0.1, 0.4) < send_rate(0.05, 0.1, 0.4))
    True
    """
    return _rate(loss, rtt_s, rto_s, packets_per_ack, window_limit_packets, delivered=True)


def approximate_rate(
    loss: ArrayLike,
    rtt_s: ArrayLike,
    rto_s: ArrayLike,
    *,
    packets_per_ack: float = 1.0,
    window_limit_packets: ArrayLike = inf,
) -> FloatArray:
    """Packets sent a second by the source's closed-form approximation.

    Source: SIGCOMM 1998 §2.3; RFC 5348 §3.1 uses it without the window limit.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1), a time or the window limit not positive.

    Examples
    --------
    >>> round(float(approximate_rate(0.01, 0.1, 0.4, packets_per_ack=2)), 2)
    79.43
    """
    p, rtt, rto = probability("loss", loss), positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    b, w_max = (
        positive("packets_per_ack", packets_per_ack),
        limit("window_limit_packets", window_limit_packets),
    )
    timeouts = np.minimum(1, 3 * np.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    return np.asarray(np.minimum(w_max / rtt, 1 / (rtt * np.sqrt(2 * b * p / 3) + rto * timeouts)))


def timeout_probability(loss: ArrayLike, window_packets: ArrayLike) -> FloatArray:
    """Q^(w): probability that a loss in a window of w packets ends in a timeout.

    Close to min(1, 3/w) for small p. Source: SIGCOMM 1998 §2.2.

    Raises
    ------
    ModelInputError
        If a loss is not in (0, 1) or a window not positive.

    Examples
    --------
    >>> timeout_probability(1e-6, [2, 30]).round(4).tolist()
    [1.0, 0.1]
    """
    p, w = probability("loss", loss), positive("window_packets", window_packets)
    survive = np.log1p(-p)
    in_three = -np.expm1(3 * survive)
    at_least_three = 1 + np.exp(3 * survive) * -np.expm1((w - 3) * survive)
    return np.asarray(np.minimum(1, in_three * at_least_three / -np.expm1(w * survive)))


def backoff_factor(loss: ArrayLike) -> FloatArray:
    """f(p) = 1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6, doubling up to 64 T_0.

    Source: SIGCOMM 1998 §2.2.

    Examples
    --------
    >>> float(backoff_factor(0.5))
    4.0
    """
    p = probability("loss", loss)
    return np.asarray(1 + p * (1 + 2 * p * (1 + 2 * p * (1 + 2 * p * (1 + 2 * p * (1 + 2 * p))))))


def unlimited_window(loss: ArrayLike, *, packets_per_ack: float = 1.0) -> FloatArray:
    """E[W_u]: mean window at the end of a loss-free period, packets, without a window limit.

    Source: SIGCOMM 1998 §2.1.

    Examples
    --------
    >>> round(float(unlimited_window(0.01, packets_per_ack=2)), 2)
    12.18
    """
    p, b = probability("loss", loss), positive("packets_per_ack", packets_per_ack)
    half = (2 + b) / (3 * b)
    return np.asarray(half + np.sqrt(8 * (1 - p) / (3 * b * p) + half**2))


def _rate(
    loss: ArrayLike, rtt_s: ArrayLike, rto_s: ArrayLike, b_: float, limit_: ArrayLike, *, delivered: bool
) -> FloatArray:
    p, rtt, rto = probability("loss", loss), positive("rtt_s", rtt_s), positive("rto_s", rto_s)
    b, w_max = positive("packets_per_ack", b_), limit("window_limit_packets", limit_)
    unlimited = unlimited_window(p, packets_per_ack=float(b))
    limited = unlimited >= w_max
    window = np.minimum(unlimited, w_max)
    timeout = timeout_probability(p, window)

    # Rounds between loss events: climbing to W_u, or climbing to W_max and staying there.
    rounds = np.where(limited, b / 8 * window + (1 - p) / (p * window) + 2, b / 2 * window + 1)
    seconds = rtt * rounds + timeout * backoff_factor(p) * rto / (1 - p)
    # Of the last round, half arrives; of a timeout sequence, one packet.
    last, after_timeout = (window / 2, timeout) if delivered else (window, timeout / (1 - p))
    return np.asarray(((1 - p) / p + last + after_timeout) / seconds)


_measured = loss_between(
    1e-14, 0.3, "the window would exceed 10 million packets", "beyond the losses the model was validated at"
)


def _check(conditions: Conditions) -> str | None:
    return is_reno(conditions) or _measured(conditions)


def _of(formula: Callable[..., FloatArray]) -> Rate:
    """A formula of this module as one of conditions."""
    return lambda c: formula(
        c.loss, c.rtt_s, c.rto_s, packets_per_ack=c.packets_per_ack, window_limit_packets=c.window_limit_packets
    )


PFTK = ThroughputModel(
    entry=entry("pftk"),
    rate=_of(send_rate),
    check=_check,
    limits_window=True,
    delivery_rate=_of(delivery_rate),
)

PFTK_APPROXIMATE = ThroughputModel(
    entry=entry("pftk_approximate"),
    rate=_of(approximate_rate),
    check=_check,
    limits_window=True,
)

MODELS = (PFTK, PFTK_APPROXIMATE)
