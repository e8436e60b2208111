"""The rate of a TCP session with a token bucket at given losses: the annexe of Malouch & Liu.

| symbol | argument or field | unit |
| --- | --- | --- |
| p_in, p_out | `loss_in`, `loss_out` | probability that an *in*, an *out* packet is lost |
| RTT, RTO | `rtt_s`, `rto_s` | s |
| r, sigma | `reserved_per_s`, `burst_packets` | tokens/s, packets: the token bucket |
| rho | r RTT | tokens a round trip |
| delta | p_out - p_in | |
| W, W^sigma | `window_packets`, `window_after_timeout_packets` | packets at the end of a period without loss |
| S_in, S_out | | packets sent in such a period, by class |
| p_TO | min(1, 3/W) | probability that a loss ends in a timeout |
| T_in, T_out | `in_per_s`, `out_per_s` | packets/s offered to the network |

A period of congestion avoidance grows the window from W/2 to W, one packet a round trip, and ends with one loss:
p_in S_in + p_out S_out = 1, whatever the case. The cases differ in S_in only: the bucket runs empty, or has
overflowed before the window passed rho, or never runs empty.

Range: RTTs that do not depend on the session's own window; losses small enough for windows of a few packets, since
W < 3 makes each loss a timeout. Losses below 1e-12 count as 1e-12.

Deviations (`Formulas` chooses; the tables of the source tell which its authors computed):

* The printed W^sigma falls back to W "elsewhere". That is W of a period that begins with an empty bucket where the
  bucket is full: rates jump at rho = rho_1^sigma. `TABLES` uses the case of the overflowed bucket there, which is
  continuous, so that a fixed point always exists.
* p_TO R, the packets that are sent during a timeout, count as throughput in the printed eq. (12) and not in `TABLES`.
  With both, T_in of the source's tables 1 to 3 comes out within 0.1 % and without within 0.5 %.
* S_out^sigma has (W^sigma)^2 where W^2 is printed, p_TO is cut at 1, and quadratics are solved without cancellation.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, annexe.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive

LEAST_LOSS = 1e-12


@dataclass(frozen=True, slots=True)
class Formulas:
    """The reading of the printed formulas that is computed.

    Parameters
    ----------
    continuous
        Whether W^sigma has the case of the overflowed bucket, where the printed one jumps to W.
    count_timeouts
        Whether the packets that are sent during a timeout, p_TO R, count as throughput.
    random
        Whether sessions are the Markov chain of `chain` instead: random losses, those of a window one event, SACK.
        The other two are then without effect.
    """

    continuous: bool = True
    count_timeouts: bool = False
    random: bool = False


TABLES = Formulas()
"""Formulas that reproduce the source's tables."""

PRINTED = Formulas(continuous=False, count_timeouts=True)
"""Formulas as the source prints them."""

REFINED = Formulas(random=True)
"""Not the source's: what SACK senders do with random losses, see `chain`."""


@dataclass(frozen=True, slots=True)
class SessionRates:
    """Rates at which sessions send; each field has the shape of the arguments broadcast together."""

    in_per_s: FloatArray
    out_per_s: FloatArray
    window_packets: FloatArray
    window_after_timeout_packets: FloatArray


@dataclass(frozen=True, slots=True)
class _Period:
    """A period that ends with one loss: its window and what it sends."""

    window: FloatArray
    sent_in: FloatArray
    sent_out: FloatArray


def session_rates(
    loss_in: ArrayLike,
    loss_out: ArrayLike,
    rtt_s: ArrayLike,
    reserved_per_s: ArrayLike,
    burst_packets: ArrayLike,
    *,
    rto_s: ArrayLike | None = None,
    formulas: Formulas = TABLES,
) -> SessionRates:
    """Rates of TCP sessions, without regard to their access links.

    Parameters
    ----------
    rto_s
        Default: RTT + 1 s, eq. (9).

    Source: Malouch & Liu 2002, eq. (10) to (13).

    Raises
    ------
    ModelInputError
        If a loss is not in [0, 1), a time not positive, a token bucket negative.

    Examples
    --------
    A session that reserves 40 packets/s, and gets more:

    >>> rates = session_rates(0.004134, 0.015095, rtt_s=0.2, reserved_per_s=40, burst_packets=20)
    >>> round(float(rates.in_per_s), 2), round(float(rates.out_per_s), 2)
    (37.59, 22.84)
    """
    losses = []
    for name, value in (("loss_in", loss_in), ("loss_out", loss_out)):
        array = np.asarray(value, dtype=np.float64)
        if not np.all((array >= 0) & (array < 1)):
            raise ModelInputError(f"{name}: found {array}, accepted are numbers from 0 to below 1")
        losses.append(array)
    rtt = positive("rtt_s", rtt_s)
    rto = rtt + 1.0 if rto_s is None else positive("rto_s", rto_s)
    bucket = []
    for name, value in (("reserved_per_s", reserved_per_s), ("burst_packets", burst_packets)):
        array = np.asarray(value, dtype=np.float64)
        if not np.all(np.isfinite(array) & (array >= 0)):
            raise ModelInputError(f"{name}: found {array}, accepted are finite numbers from 0")
        bucket.append(array)
    return rates(losses[0], losses[1], rtt, rto=rto, reserved=bucket[0], burst=bucket[1], formulas=formulas)


def rates(
    loss_in: FloatArray,
    loss_out: FloatArray,
    rtt: FloatArray,
    *,
    rto: FloatArray,
    reserved: FloatArray,
    burst: FloatArray,
    formulas: Formulas,
) -> SessionRates:
    """`session_rates` of arguments that are known to be good. Source: eq. (12), (13)."""
    p_in, p_out = np.maximum(loss_in, LEAST_LOSS), np.maximum(loss_out, LEAST_LOSS)
    rho = reserved * rtt
    steady, full = _periods(p_in, p_out, rho, burst, formulas)
    p_to = np.minimum(1.0, 3.0 / steady.window)
    stay = 1.0 - p_to
    duration = (stay * steady.window + p_to * full.window) * (0.5 * rtt) + p_to * rto * backoff(p_in)
    sent_in = stay * steady.sent_in + p_to * full.sent_in
    if formulas.count_timeouts:
        sent_in = sent_in + p_to / (1.0 - p_in)
    sent_out = stay * steady.sent_out + p_to * full.sent_out
    return SessionRates(sent_in / duration, sent_out / duration, steady.window, full.window)


def _periods(
    p_in: FloatArray, p_out: FloatArray, rho: FloatArray, burst: FloatArray, formulas: Formulas
) -> tuple[_Period, _Period]:
    """A period after a period, and one after a timeout, which finds the bucket full. Source: eq. (10), (11)."""
    delta = p_out - p_in
    rho_delta = rho * delta
    step = np.sqrt(2.0 * burst)
    mixed = 2.0 * p_in + p_out
    unspent = np.sqrt(8.0 / (3.0 * p_in))  # W if all packets are *in*
    overflowed = _root(  # W if the bucket overflows before it is used
        (4.0 * p_out - p_in) / 8.0, -rho_delta, -(burst - rho * rho / 2.0) * delta - 1.0
    )
    in_overflowed = -overflowed * overflowed / 8.0 + rho * overflowed + burst - rho * rho / 2.0
    rho_2, rho_3 = unspent - step, 0.75 * unspent

    # After a period: the bucket is empty.
    emptied = _root(0.375 * p_out, -0.5 * rho_delta, -np.ones_like(rho_delta))
    rho_1 = (step * (p_out + mixed - p_in) + np.sqrt(step * step * delta * delta + 2.0 * mixed)) / mixed
    steady = _chosen(
        rho <= np.minimum(rho_1, rho_3),
        rho >= np.maximum(rho_2, rho_3),
        (emptied, rho * emptied / 2.0),
        unspent,
        (overflowed, in_overflowed),
    )

    # After a timeout: the bucket is full.
    full = _least(burst * delta + 1.0)
    first = _root(0.375 * p_out, -0.5 * rho_delta, -full)
    rho_1_full, rho_3_full = np.sqrt(2.0 * full / mixed), rho_3 * (1.0 - p_in * burst)
    spent = rho <= np.minimum(rho_1_full, rho_3_full)
    spent_period = (first, rho * first / 2.0 + burst)
    if not formulas.continuous:
        window = np.where(spent, first, steady.window)
        sent_in = np.where(spent, spent_period[1], steady.sent_in)
        return steady, _Period(window, sent_in, _rest(window, sent_in))
    never = (rho >= rho_2) | ((rho > rho_3_full) & (unspent >= 2.0 * rho))
    return steady, _chosen(spent, never, spent_period, unspent, (overflowed, in_overflowed))


def _chosen(
    spent: NDArray[np.bool_],
    never: NDArray[np.bool_],
    if_spent: tuple[FloatArray, FloatArray],
    if_never: FloatArray,
    otherwise: tuple[FloatArray, FloatArray],
) -> _Period:
    window = np.where(spent, if_spent[0], np.where(never, if_never, otherwise[0]))
    sent_in = np.where(spent, if_spent[1], np.where(never, 0.375 * window * window, otherwise[1]))
    return _Period(window, sent_in, _rest(window, sent_in))


def _rest(window: FloatArray, sent_in: FloatArray) -> FloatArray:
    """Return the packets sent *out*, of the 3 W^2/8 packets of a period."""
    return np.maximum(0.375 * window * window - sent_in, 0.0)


def _root(a: FloatArray, b: FloatArray, c: FloatArray) -> FloatArray:
    """The root of a x^2 + b x + c at which the sum grows, without cancellation."""
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    grows = b > 0.0
    return np.asarray(np.where(grows, -2.0 * c, root - b) / np.where(grows, b + root, 2.0 * a))


def _least(lost: FloatArray) -> FloatArray:
    """A full bucket of packets alone may lose more than one packet: W^sigma is then next to nothing, not negative."""
    return np.maximum(lost, LEAST_LOSS)


def backoff(p_in: FloatArray) -> FloatArray:
    """Z over RTO: the timeouts until a retransmission arrives, doubled six times. Source: annexe."""
    doubled = 1.0 + p_in * (1.0 + p_in * (2.0 + p_in * (4.0 + p_in * (8.0 + p_in * (16.0 + p_in * 32.0)))))
    return np.asarray(doubled / (1.0 - p_in))
