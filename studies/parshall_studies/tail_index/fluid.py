"""A closed-loop model of ON/OFF sources: what a source sends is a size over its transfer time and an idle time.

| symbol | name here | unit |
| --- | --- | --- |
| N, S, OFF | sources, size, idle time | -, packets, s |
| w(k) | the window in round trip k without loss: `_grown` | packets |
| T(S) | transfer time: a round trip of handshake, and those in which the sum of w reaches S | s |
| q, w* | the queue, packets; the window that losses leave a transfer, packets | |
| X = N E[S]/(E[T(S)] + OFF) | what all sources send | packets/s |

The loop is closed in three steps, of which the first that holds is the answer. (1) Without a queue or a loss X is less
than the capacity C. (2) A queue of less than the buffer makes round trips so long that X = C. (3) With a full buffer
losses hold windows at w*, so that X = C; a saw tooth of that mean window has a loss rate of 3/(2 w*^2).

Assumes: all of one RTT; sizes, not their order, matter; a window in excess of the pipe waits in the queue. Range: means
of some seconds. What is not in it: losses at the end of slow start, bursts, timeouts, and that sources are busy at
random. So it tells what the transient of a transfer alone does, which is the source's explanation (§3).

References: Goga, Loiseau & Gonçalves 2011, §3; M. Mathis and others, CCR 27(3), 1997 (the loss rate of a saw tooth).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

FloatArray = NDArray[np.float64]
_SIZES, _ROUNDS = 20_000, 20_000
_PACKET_BITS = 1500 * 8


@dataclass(frozen=True)
class Loop:
    """Sources and link.

    Parameters
    ----------
    sources, buffer
        How many, and packets.
    ssthresh
        Packets at which slow start ends; inf: only a loss ends it.
    initial_window
        Packets.
    acks_each
        An ACK for each packet: slow start doubles windows and congestion avoidance adds one a round trip; else half.
    """

    sources: int
    buffer: int
    ssthresh: float = float("inf")
    initial_window: float = 3.0
    acks_each: bool = False
    rtt_s: float = 0.01
    idle_s: float = 0.2
    capacity_bps: float = 1e9
    mean_packets: float = 1000.0

    @property
    def capacity_per_s(self) -> float:
        """C, packets/s."""
        return self.capacity_bps / _PACKET_BITS


@dataclass(frozen=True)
class Steady:
    """The closed loop.

    Parameters
    ----------
    loss, delay_ms, throughput_mbps
        As measured of the bottleneck.
    packets, mbps
        The mean rate of a transfer against its size, on a grid of sizes.
    """

    loss: float
    delay_ms: float
    throughput_mbps: float
    packets: FloatArray
    mbps: FloatArray


def sizes(tail_index: float, mean_packets: float) -> FloatArray:
    """Pareto sizes of equal probability, of exactly this mean."""
    drawn = ((np.arange(_SIZES) + 0.5) / _SIZES) ** (-1 / tail_index)
    return np.asarray(drawn * (mean_packets / drawn.mean()))


def _grown(loop: Loop, most: float) -> FloatArray:
    """w(k) of the first round trips."""
    factor, step = (2.0, 1.0) if loop.acks_each else (1.5, 0.5)
    ends = min(loop.ssthresh, most)
    early = loop.initial_window * factor ** np.arange(64.0)
    slow = early[early < ends]
    rest = ends + step * np.arange(_ROUNDS - slow.size)
    return np.asarray(np.minimum(np.concatenate([slow, rest]), most))


def transfer_s(loop: Loop, packets: FloatArray, rtt_s: float, most: float) -> FloatArray:
    """T(S), s, at a round trip and with windows of at most so many packets."""
    windows = np.maximum(_grown(loop, most), 1e-3)
    sent = np.concatenate([[0.0], np.cumsum(windows)])
    rounds = np.interp(packets, sent, np.arange(sent.size)) + np.maximum(packets - sent[-1], 0.0) / windows[-1]
    return np.asarray((1 + np.maximum(rounds, 1.0)) * rtt_s)


def closed(loop: Loop, tail_index: float) -> Steady:
    """The steady state at a tail index.

    Examples
    --------
    Without slow start a heavier tail gives more throughput, since most of a size is sent late in a transfer:

    >>> loop = Loop(45, 896, ssthresh=10.0)
    >>> [round(closed(loop, alpha).throughput_mbps) for alpha in (4.0, 2.0, 1.3)]
    [775, 806, 915]
    """
    drawn, capacity = sizes(tail_index, loop.mean_packets), loop.capacity_per_s

    def sent(queue: float, most: float) -> float:
        rtt_s = loop.rtt_s + queue / capacity
        times = transfer_s(loop, drawn, rtt_s, min(most, capacity * rtt_s))
        return loop.sources * float(drawn.mean()) / (float(times.mean()) + loop.idle_s)

    queue, most = 0.0, float("inf")
    if sent(0.0, most) > capacity:
        queue = _where(lambda q: sent(q, most) - capacity, 0.0, float(loop.buffer))
        if sent(queue, most) > capacity * (1 + 1e-9):
            most = _where(lambda w: sent(queue, w) - capacity, 1e-2, capacity * loop.rtt_s + loop.buffer)
    shown = np.geomspace(drawn[-1], drawn[0], 60)
    rtt_s = loop.rtt_s + queue / capacity
    times = transfer_s(loop, shown, rtt_s, min(most, capacity * rtt_s))
    to_mbps = _PACKET_BITS / 1e6
    through = min(capacity, sent(queue, most))
    loss = 0.0 if np.isinf(most) else min(1.0, 1.5 / most**2)
    return Steady(loss, 1e3 * queue / capacity, through * to_mbps, shown, shown / times * to_mbps)


def _where(excess: Callable[[float], float], low: float, high: float) -> float:
    """Where a function crosses zero; the upper end where it does not, or the lower one."""
    at_low, at_high = excess(low), excess(high)
    if at_low * at_high > 0:
        return high if abs(at_high) < abs(at_low) else low
    return float(brentq(excess, low, high, xtol=1e-6 * high))
