"""Vegas in equilibrium: a few packets of each flow in the bottleneck's queue.

| symbol | argument | unit |
| --- | --- | --- |
| alpha, beta | `alpha`, `beta` | packets of its own that a flow keeps queued: at least, at most |
| q | `queueing_delay_s` | s, the same for all flows of one bottleneck |
| BaseRTT | `base_rtt_s` | s, RTT without queueing |
| x | result | packets/s |

By Little's law a flow with a packets in the queue sends x = a/q and has a window x BaseRTT + a. Flows that
share one full link of capacity C therefore share it in proportion to their a, whatever their RTTs, and n of
them queue n a packets: q = n a / C. a settles somewhere in [alpha, beta], so the model gives a bracket, or
its middle.

Assumes: every flow knows its BaseRTT (a flow that starts in a standing queue overestimates it and gets more);
only Vegas flows share the link; the buffer holds n beta packets; nothing is lost elsewhere.

References: L. Brakmo, L. Peterson, TCP Vegas, IEEE JSAC 13(8), 1995; S. Low, L. Peterson, L. Wang,
Understanding TCP Vegas: a duality model, J. ACM 49(2), 2002.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.answer import Conditions, ThroughputModel
from parshall.analysis.models.entry import entry
from parshall.analysis.models.inputs import FloatArray, positive


def vegas_rate(queueing_delay_s: ArrayLike, queued_packets: ArrayLike) -> FloatArray:
    """Packets a second of a flow with `queued_packets` in the queue: a/q.

    Source: Low, Peterson & Wang 2002, §2.

    Raises
    ------
    ModelInputError
        If an argument is not positive.

    Examples
    --------
    >>> float(vegas_rate(0.01, 3))
    300.0
    """
    return np.asarray(positive("queued_packets", queued_packets) / positive("queueing_delay_s", queueing_delay_s))


def vegas_window(rate_packets_per_s: ArrayLike, base_rtt_s: ArrayLike, queued_packets: ArrayLike) -> FloatArray:
    """Window in equilibrium, packets: x BaseRTT + a.

    Source: Brakmo & Peterson 1995, §4 (Diff = cwnd - x BaseRTT).

    Raises
    ------
    ModelInputError
        If an argument is not positive.

    Examples
    --------
    >>> float(vegas_window(1000, 0.1, 3))
    103.0
    """
    rate, base = positive("rate_packets_per_s", rate_packets_per_s), positive("base_rtt_s", base_rtt_s)
    return np.asarray(rate * base + positive("queued_packets", queued_packets))


def _rate(conditions: Conditions) -> FloatArray:
    delay = conditions.queueing_delay_s
    if delay is None:
        return np.full(conditions.rtt_s.shape, np.nan)
    queued = (conditions.number("alpha") + conditions.number("beta")) / 2
    delay = np.broadcast_to(delay, np.broadcast_shapes(delay.shape, conditions.rtt_s.shape))
    unqueued = np.full(delay.shape, np.inf if queued > 0 else 0.0)
    return np.asarray(np.divide(queued, delay, out=unqueued, where=delay > 0))


def _check(conditions: Conditions) -> str | None:
    delay = conditions.queueing_delay_s
    if delay is None or not np.all(np.isfinite(delay)):
        return "the queueing delay is not known"
    if np.any(delay <= 0):
        return "there is no queueing delay: Vegas has not filled the link"
    if conditions.number("alpha") + conditions.number("beta") <= 0:
        return "alpha and beta are 0: Vegas keeps no packet queued"
    # Every 1/p packets the window is halved and takes W/2 round trips, 3/8 W^2 packets, to come back.
    window = _rate(conditions) * conditions.rtt_s
    recovering = float(np.max(conditions.loss * 3 / 8 * window**2))
    if recovering > 0.1:
        loss, packets = float(np.max(conditions.loss)), float(np.max(window))
        return (
            f"loss {loss:.3g}: with a window of {packets:.4g} packets the flow spends more than a tenth "
            "of them recovering, and is then not in equilibrium"
        )
    return None


MODELS = (
    ThroughputModel(
        entry=entry("vegas"),
        rate=_rate,
        check=_check,
        needs_loss=False,
        delivery_rate=_rate,  # a/q is what leaves the queue
    ),
)
