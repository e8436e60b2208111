"""Queues of Poisson traffic: M/M/1, M/D/1, M/G/1, and the first two with a finite buffer.

| symbol | argument or field | unit |
| --- | --- | --- |
| lambda | `arrivals_per_s` | packets/s |
| mu | `services_per_s` | packets/s: the link's rate over the mean packet size |
| rho | `utilisation` | offered load, lambda/mu |
| c_s^2 | `service_cv2` | squared coefficient of variation of the packet size |
| K | `capacity_packets` | packets in the system, the one in service included |
| L_q | `mean_queue_packets` | packets waiting, without the one in service, mean over time |
| W_q | `mean_wait_s` | s, waiting, without the packet's own transmission |

A queue answers "out of range" where it has no steady state (rho >= 1 without a buffer limit).

References: L. Kleinrock, Queueing Systems I, 1975, §3.2, §3.6, §5.6 (Pollaczek-Khinchine); for the finite
M/D/1, the chain embedded at departures, H. Takagi, Queueing Analysis 2, 1993, §5.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue in its steady state; the numbers are `None` out of range."""

    utilisation: float
    mean_queue_packets: float | None
    mean_wait_s: float | None
    loss: float | None
    in_range: bool
    reason: str | None


def mm1(arrivals_per_s: float, services_per_s: float) -> Queue:
    """Exponential packet sizes, no buffer limit: L_q = rho^2/(1 - rho).

    Source: Kleinrock 1975, §3.2.

    Raises
    ------
    ModelInputError
        If a rate is not positive.

    Examples
    --------
    >>> round(mm1(80, 100).mean_queue_packets, 6)
    3.2
    """
    return mg1(arrivals_per_s, services_per_s, service_cv2=1.0)


def md1(arrivals_per_s: float, services_per_s: float) -> Queue:
    """Equal packet sizes, no buffer limit: L_q = rho^2/(2 (1 - rho)).

    Source: Kleinrock 1975, §5.6.

    Raises
    ------
    ModelInputError
        If a rate is not positive.

    Examples
    --------
    >>> round(md1(80, 100).mean_queue_packets, 6)
    1.6
    """
    return mg1(arrivals_per_s, services_per_s, service_cv2=0.0)


def mg1(arrivals_per_s: float, services_per_s: float, *, service_cv2: float) -> Queue:
    """Any packet sizes, no buffer limit: L_q = rho^2 (1 + c_s^2)/(2 (1 - rho)).

    Source: Pollaczek-Khinchine, Kleinrock 1975, §5.6.

    Raises
    ------
    ModelInputError
        If a rate is not positive or `service_cv2` negative.

    Examples
    --------
    >>> mg1(120, 100, service_cv2=4).reason
    'the offered load is 1.2 of the link: without a buffer limit the queue grows for ever'
    """
    rate, load = _load(arrivals_per_s, services_per_s)
    if not service_cv2 >= 0:
        raise ModelInputError(f"service_cv2: found {service_cv2}, accepted is 0 and more")
    if load >= 1:
        reason = f"the offered load is {load:.4g} of the link: without a buffer limit the queue grows for ever"
        return Queue(load, None, None, None, False, reason)
    if not np.isfinite(service_cv2):
        return Queue(load, None, None, None, False, "the packet sizes have no variance: the mean queue is infinite")
    waiting = load**2 * (1 + service_cv2) / (2 * (1 - load))
    return Queue(load, waiting, waiting / rate, 0.0, True, None)


def mm1k(arrivals_per_s: float, services_per_s: float, capacity_packets: int) -> Queue:
    """Exponential packet sizes, at most `capacity_packets` in the system; any load.

    Source: Kleinrock 1975, §3.6.

    Raises
    ------
    ModelInputError
        If a rate is not positive or the capacity below 1.

    Examples
    --------
    >>> mm1k(100, 100, 4).loss
    0.2
    """
    rate, load = _load(arrivals_per_s, services_per_s)
    n = np.arange(_capacity(capacity_packets) + 1)
    log_weight = n * np.log(load)
    weight = np.exp(log_weight - log_weight.max())
    return _finite(rate, load, np.asarray(weight / weight.sum()))


def md1k(arrivals_per_s: float, services_per_s: float, capacity_packets: int) -> Queue:
    """Equal packet sizes, at most `capacity_packets` in the system; any load.

    The chain embedded at departures is solved by its cuts, in which nothing cancels: pi_{j+1} P(A = 0) is the
    flow up through j | j+1, with A the Poisson arrivals in one service. Takes time and memory that grow as
    the square of the capacity, which is at most 20,000 packets.

    Source: Takagi 1993, §5.1.

    Raises
    ------
    ModelInputError
        If a rate is not positive, or the capacity not in [1, 20000].

    Examples
    --------
    A buffer of one packet in service only is Erlang's loss system:

    >>> round(md1k(100, 100, 1).loss, 12)
    0.5
    """
    rate, load = _load(arrivals_per_s, services_per_s)
    k = _capacity(capacity_packets)
    if k > LARGEST_MD1K:
        raise ModelInputError(f"capacity_packets: found {k}, accepted is at most {LARGEST_MD1K}")
    more_than = scipy.special.gammainc(np.arange(1, k + 1), load)  # P(A >= 1), P(A >= 2), ...
    log_none = -load
    departures = np.zeros(k)
    departures[0] = 1.0
    for j in range(k - 1):
        up = departures[0] * more_than[j] + departures[1 : j + 1] @ more_than[1 : j + 1][::-1]
        departures[j + 1] = up * np.exp(-log_none)
        if departures[j + 1] > HUGE:
            departures[: j + 2] /= HUGE
    departures /= departures.sum()
    total = departures[0] + load
    at_any_time = np.append(departures / total, max(0.0, 1 - 1 / total))
    return _finite(rate, load, at_any_time)


LARGEST_MD1K = 20_000
HUGE = 1e200


def _finite(arrivals_per_s: float, load: float, at_any_time: FloatArray) -> Queue:
    """Moments of the numbers in system; arrivals see them as they are at any time (PASTA)."""
    waiting = float(np.maximum(np.arange(at_any_time.size) - 1, 0) @ at_any_time)
    loss = float(at_any_time[-1])
    return Queue(load, waiting, waiting / (arrivals_per_s * (1 - loss)), loss, True, None)


def _load(arrivals_per_s: float, services_per_s: float) -> tuple[float, float]:
    arrivals = float(positive("arrivals_per_s", arrivals_per_s))
    return arrivals, arrivals / float(positive("services_per_s", services_per_s))


def _capacity(packets: int) -> int:
    if packets < 1:
        raise ModelInputError(f"capacity_packets: found {packets}, accepted is 1 and more")
    return int(packets)
