"""The utilisation of a link that long-lived flows share behind a drop-tail buffer.

| symbol | argument | unit |
| --- | --- | --- |
| b | `buffer`: the buffer's size over the bandwidth-delay product | 1 |
| n | `flows` | 1 |
| beta | `kept`: factor of the window kept at a loss; Reno's is 1/2 | 1 |
| W | the window at a loss, (1 + b) bandwidth-delay products | BDP |
| K | how many bursts the buffer holds | 1 |
| p | `loss`: share of packets that are lost | 1 |

*One flow*, or flows whose losses come at the same time: the window grows from beta W to W by as much a round trip.
While it is below one BDP, a round trip takes the propagation delay and the link is not full; from then on the link is
full and the queue grows. A period sends (1 - beta^2) W^2 / 2 and takes (1 - beta W) + (W^2 - 1)/2 round trips' worth
of the link, so that

    utilisation = (1 - beta^2) (1 + b)^2 / (2 (1 - beta (1 + b)) + (1 + b)^2 - 1),  beta (1 + b) <= 1,

which is (1 + beta)/2 without a buffer, for Reno 3/4, and 1 from b = (1 - beta)/beta on, for Reno a whole BDP: the rule
of thumb.

*Many flows* that are not in step: the sum of their windows is nearly normal, and

    utilisation = erf( (3 sqrt(3) / (2 sqrt(2))) b sqrt(n) / (1 + b) ),

a lower bound (Appenzeller et al., section 3). It goes to 0 with b, where not even flows in step lose so much; so the
larger one of both answers is given.

*Small buffers.* Both take packets as a fluid, which is lost where a window is larger than path and buffer. In a buffer
of few packets it is bursts that are lost, of flows that know nothing of each other, however few packets are on the
path. The link is then as busy as a queue of Poisson bursts (M/M/1/K) that loses the p at which the flows send so much:

    p = (1 - rho) rho^K / (1 - rho^(K + 1)),  utilisation = rho (1 - p).

A burst is two packets (`BURST`): so many follow each ACK in slow start, and each delayed ACK later. Paced flows send
single packets.

Assumed: all flows are long, have similar round trips, and lose packets in this buffer alone; *many flows*: the window
is halved.

References: G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM 2004, sections 2 and 3; G. Raina,
D. Wischik, Buffer sizes for large multiplexers: TCP queueing theory and instability analysis, EuroNGI 2005 (small
buffers); M. Enachescu, Y. Ganjali, A. Goel, N. McKeown, T. Roughgarden, Routers with very small buffers, INFOCOM 2006
(pacing); RFC 5681, sections 3.1 and 4.2 (two packets an ACK).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive, probability
from parshall.analysis.models.roots import find_root

BURST = 2.0
"""Packets that follow one ACK in slow start, and a delayed ACK at any time."""

_erf = np.vectorize(math.erf, otypes=[np.float64])  # SciPy's takes as long to import as a prediction takes


def utilisation(buffer: ArrayLike, flows: ArrayLike = 1) -> FloatArray:
    """The share of the link's capacity that Reno flows use.

    Parameters
    ----------
    buffer
        Size of the buffer, bandwidth-delay products.
    flows
        How many flows there are.

    Raises
    ------
    ModelInputError
        A buffer is negative, or there is less than one flow.

    Source: Appenzeller et al. 2004, sections 2 and 3.

    Examples
    --------
    The source's table: a hundredth of the bandwidth-delay product for 10,000 flows gives 98.99 %.

    >>> utilisation([0.0, 1.0]).tolist(), round(float(utilisation(0.01, 10_000)), 4)
    ([0.75, 1.0], 0.9899)
    """
    size, number = _not_negative(buffer), positive("flows", flows)
    if np.any(number < 1):
        raise ModelInputError(f"flows: found {float(np.min(number)):g}, accepted is 1 or more")
    together = in_step(size)
    apart = _erf(3 * np.sqrt(3) / (2 * np.sqrt(2)) * size * np.sqrt(number) / (1 + size))
    return np.asarray(np.where(number == 1, together, np.maximum(together, apart)))


def in_step(buffer: ArrayLike, kept: ArrayLike = 0.5) -> FloatArray:
    """The share of the link's capacity that one flow uses, or many that lose packets at the same time.

    Parameters
    ----------
    buffer
        Size of the buffer, bandwidth-delay products.
    kept
        Factor of the window kept at a loss.

    Raises
    ------
    ModelInputError
        A buffer is negative, or a factor is not between 0 and 1.

    Source: Appenzeller et al. 2004, section 2, for any factor.

    Examples
    --------
    >>> in_step([0.0, 1.0, 3.0]).tolist(), in_step([0.0, 3 / 7], 0.7).round(6).tolist()
    ([0.75, 1.0, 1.0], [0.85, 1.0])
    """
    beta = probability("kept", kept)
    window = np.minimum(1 + _not_negative(buffer), 1 / beta)
    return np.asarray((1 - beta**2) * window**2 / (2 * (1 - beta * window) + window**2 - 1))


def of_bursts(bursts: float, loss: float) -> float:
    """The share of the link's capacity that many flows use whose bursts come independently of each other.

    Parameters
    ----------
    bursts
        How many the buffer holds, with the one in transmission; less than one counts as one.
    loss
        Share of packets lost at which the flows would fill the link.

    Raises
    ------
    ModelInputError
        `bursts` is not positive, or the loss is not in (0, 1).

    Source: Raina & Wischik 2005, small buffers.

    Examples
    --------
    Flows with windows of 40 packets, for which one packet in a thousand may be lost:

    >>> [round(of_bursts(bursts, 1e-3), 2) for bursts in (1, 5, 50, 500)]
    [0.0, 0.27, 0.91, 1.0]
    """
    held = max(1.0, float(positive("bursts", bursts)))
    p = float(probability("loss", loss))

    def excess(load: float) -> float:
        return math.log(_lost(load, held) / p)

    # A queue with a load of 1 loses 1/(K + 1); one that never empties loses what exceeds its rate.
    low, high = (p / 2, 1.0) if p < 1 / (held + 1) else (1.0, 1 / (1 - p) + _STEP)
    load = find_root(excess, (low, excess(low)), (high, excess(high)), _STEP)
    return min(1.0, load * (1 - p))


_STEP = 1e-9


def _lost(load: float, held: float) -> float:
    """Share of the bursts that find M/M/1/K full; never 0."""
    if abs(load - 1) < _STEP:
        return 1 / (held + 1)
    if load > 1:
        return (load - 1) / (load - math.pow(load, -held))
    return max(1e-300, (1 - load) * math.pow(load, held) / (1 - math.pow(load, held + 1)))


def _not_negative(buffer: ArrayLike) -> FloatArray:
    size = np.asarray(buffer, dtype=np.float64)
    if not np.all(size >= 0):
        raise ModelInputError(f"buffer: found {float(np.min(size)):g}, accepted is 0 or more")
    return size
