"""Completion time of a transfer: slow start, first loss, then the steady state (Cardwell, Savage & Anderson).

| symbol | argument or field | unit |
| --- | --- | --- |
| d | `packets` | packets of data |
| p | `loss` | probability that a packet is lost |
| w_1 | `initial_window` | packets |
| gamma | 1 + 1/b | growth of the window a round trip in slow start |
| W_max | `window_limit_packets` | packets |
| T_s | `initial_rto_s` | s, timeout of a lost SYN |
| E[L_h] | `handshake_s` | s, from the first SYN to the first data packet |
| E[T_ss] | `slow_start_s` | s |
| E[T_loss] | `first_loss_s` | s, recovery at the end of slow start |
| E[T_ca] | `steady_s` | s, the rest at the steady-state rate |
| E[T_delack] | `delayed_ack_s` | s, the ACK of a lone first packet |

Assumes: rounds longer than it takes to send a window (the path does not limit); losses as in PFTK; the time
is until the last ACK.

Deviations: slow start takes whole rounds, unless the receiver's window limits it; the source counts a
fraction of a round for a window partly used, and so less than an RTT for a few packets. E[d_ss], which the
source lets reach d + 1 as p -> 0, is at most d. E[T_delack] is the delay itself, not the half of it that
BSD's 200 ms clock gives on average, and only where the first window is one packet.

References: N. Cardwell, S. Savage, T. Anderson, Modeling TCP latency, INFOCOM 2000.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models import pftk
from parshall.analysis.models.inputs import FloatArray, ModelInputError, limit, positive, probability_or_zero


@dataclass(frozen=True, slots=True)
class Latency:
    """Mean times, s; each field has the shape of `packets` and `loss` broadcast together."""

    handshake_s: FloatArray
    slow_start_s: FloatArray
    first_loss_s: FloatArray
    steady_s: FloatArray
    delayed_ack_s: FloatArray
    window_packets: FloatArray
    """Window at the end of slow start, packets."""

    @property
    def total_s(self) -> FloatArray:
        """From the first packet to the last ACK, s. Source: eq. (25)."""
        return np.asarray(self.handshake_s + self.slow_start_s + self.first_loss_s + self.steady_s + self.delayed_ack_s)


def transfer_latency(
    packets: ArrayLike,
    loss: ArrayLike,
    rtt_s: float,
    rto_s: float,
    *,
    initial_window: float = 10.0,
    packets_per_ack: float = 1.0,
    window_limit_packets: float = inf,
    handshake: bool = False,
    initial_rto_s: float = 1.0,
    delayed_ack_s: float = 0.0,
) -> Latency:
    """Mean completion time of transfers of `packets` packets.

    Source: Cardwell, Savage & Anderson 2000.

    Raises
    ------
    ModelInputError
        If `packets` is below 1, a loss not in [0, 1), a time or window not positive; with a handshake, if a
        loss is 0.5 or more (its mean is then infinite).

    Examples
    --------
    Ten packets in a window of ten take one round trip, 1270 packets seven more than that:

    >>> transfer_latency([10, 1270], 0, rtt_s=0.1, rto_s=0.2).total_s.round(3).tolist()
    [0.1, 0.7]
    """
    d = positive("packets", packets)
    if np.any(d < 1):
        raise ModelInputError(f"packets: found {float(np.min(d))}, accepted is 1 and more")
    p = probability_or_zero("loss", loss)
    rtt, rto = float(positive("rtt_s", rtt_s)), float(positive("rto_s", rto_s))
    d, p = np.broadcast_arrays(d, p)
    w_max = float(limit("window_limit_packets", window_limit_packets))
    w1 = min(float(positive("initial_window", initial_window)), w_max)
    growth = 1 + 1 / float(positive("packets_per_ack", packets_per_ack))

    in_slow_start = _slow_start_packets(d, p)
    window = in_slow_start * (growth - 1) / growth + w1 / growth  # eq. (11)
    return Latency(
        handshake_s=_handshake(p, rtt, initial_rto_s) if handshake else np.zeros_like(p),
        slow_start_s=rtt * _rounds(in_slow_start, window, w1=w1, growth=growth, w_max=w_max),
        first_loss_s=_first_loss(d, p, window, rtt, rto),
        steady_s=_steady(d - in_slow_start, p, rtt_s=rtt, rto_s=rto, packets_per_ack=packets_per_ack, w_max=w_max),
        delayed_ack_s=np.full_like(p, delayed_ack_s if w1 <= 1 else 0.0),
        window_packets=np.minimum(window, w_max),
    )


def _slow_start_packets(d: FloatArray, p: FloatArray) -> FloatArray:
    """E[d_ss], packets sent before slow start ends. Source: eq. (5)."""
    safe = np.where(p == 0, 0.5, p)
    expected = -np.expm1(d * np.log1p(-safe)) * (1 - safe) / safe + 1
    return np.asarray(np.where(p == 0, d, np.minimum(expected, d)))


def _rounds(sent: FloatArray, window: FloatArray, *, w1: float, growth: float, w_max: float) -> FloatArray:
    """E[T_ss] in round trips. Source: eq. (15), but for whole rounds."""
    rounds = np.log1p(sent * (growth - 1) / w1) / np.log(growth)
    unlimited = np.maximum(1, np.ceil(rounds * (1 - 1e-12)))
    if np.isinf(w_max):
        return np.asarray(unlimited)
    climb = np.log(w_max / w1) / np.log(growth) + 1
    limited = climb + (sent - (growth * w_max - w1) / (growth - 1)) / w_max
    return np.asarray(np.where(window > w_max, limited, unlimited))


def _first_loss(d: FloatArray, p: FloatArray, window: FloatArray, rtt_s: float, rto_s: float) -> FloatArray:
    """E[T_loss]: a timeout or a fast recovery, if there is a loss at all. Source: eq. (16) to (20)."""
    safe = np.where(p == 0, 0.5, p)
    timeout = pftk.timeout_probability(safe, window)
    cost = timeout * pftk.backoff_factor(safe) * rto_s / (1 - safe) + (1 - timeout) * rtt_s
    return np.asarray(np.where(p == 0, 0, -np.expm1(d * np.log1p(-safe)) * cost))


def _steady(
    left: FloatArray, p: FloatArray, *, rtt_s: float, rto_s: float, packets_per_ack: float, w_max: float
) -> FloatArray:
    """E[T_ca]: what slow start left, at PFTK's rate. Source: eq. (21) to (24)."""
    safe = np.where(p == 0, 0.5, p)
    rate = pftk.delivery_rate(safe, rtt_s, rto_s, packets_per_ack=packets_per_ack, window_limit_packets=w_max)
    return np.asarray(np.where(p == 0, 0, left / rate))


def _handshake(p: FloatArray, rtt_s: float, initial_rto_s: float) -> FloatArray:
    """E[L_h], the same loss both ways. Source: eq. (4)."""
    if np.any(p >= 0.5):
        raise ModelInputError(f"loss: found {float(np.max(p))}, accepted with a handshake is below 0.5")
    return np.asarray(rtt_s + initial_rto_s * 2 * ((1 - p) / (1 - 2 * p) - 1))
