"""Packets that a TCP session with SACK sends at given losses: a Markov chain of its window and its token bucket.

The formulas of `response` count every lost packet as the end of a period of equal periods, and 3/W of them as timeouts.
Here losses are random, those of one window are one event, and a timeout is what SACK leaves of them: a lost
retransmission. Nothing in it is fitted.

| symbol | argument or name | unit |
| --- | --- | --- |
| p_in, p_out | `loss_in`, `loss_out` | probability that an *in*, an *out* packet is lost |
| RTT, RTO - RTT | `rtt`, `rto_margin` | s |
| r, sigma | `reserved`, `burst` | tokens/s, packets |
| a | `access` | packets/s of the session's access link |
| w, b | the state: window, and tokens in the bucket | packets |
| d(w) | `_Session.round_s`: max(RTT, w/a), as what the access link does not carry waits before it | s |

A period begins with the round of recovery, in which w packets are sent and the window stays. Then it grows by a
packet a round: dw/dt = 1/d. Packets are *in* as long as there are tokens. Each is lost with the probability of its
class. With the first loss at window w,

* w more packets are sent in the round trip that it takes to notice: 1 + p_in n_in + p_out n_out are lost in all, and
  they are one event (PFTK 1998, §II.A, where the rest of the window is lost);
* the window is halved, and the next period begins with what the bucket holds; or
* one of the retransmissions is lost too, or there is no packet behind the lost ones to acknowledge: a timeout. The
  pipe lets w/2 packets a round trip go on until then, after which slow start leads to w/4.

Losses depend on the state at the start of a period and on nothing before, so that the chain of starts (w, b) has a
stationary distribution, and rates are packets over time of its mean period. One loss rate and no bucket give
1.31/(RTT sqrt(p)) for small p (Ott, Kemperman & Mathis 1996), where periods of equal length give 1.22.

Numbers: windows on `_STEPS` steps up to 2.5 W of the formulas (a period gets there with a probability below 1e-3) or
the receiver's window, buckets on `_LEVELS` levels, both interpolated linearly, so that means are kept. Doubling both
moves rates by less than 0.5 %. Sessions that differ in nothing but their RTT are computed for `_NODES` RTTs and
interpolated between them (Chebyshev points of the logarithm).

Assumes: losses of a class are independent of each other and of the window; one ACK a packet. Losses that come in
bursts make fewer events of as many packets: rates are then above the computed ones.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002; T. Ott, J. Kemperman, M.
Mathis, The stationary behavior of ideal TCP congestion avoidance, 1996; J. Padhye et al., SIGCOMM 1998; RFC 6675.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall_studies.diffserv.response import LEAST_LOSS, TABLES, SessionRates, backoff, rates

_STEPS = 32
_LEVELS = 4
_NODES = 9
_STARTS = _STEPS // 2 + 1
"""Windows at which a period may begin: half of those at which one may end."""
_MOST_LOSS = 0.999
_WHOLE_BURST = 1e-9
"""Packets: the bucket of a session without one."""

Where = tuple[slice, slice]


def chain_rates(
    loss_in: FloatArray,
    loss_out: FloatArray,
    rtt: FloatArray,
    *,
    rto_margin: FloatArray,
    reserved: FloatArray,
    burst: FloatArray,
    access: FloatArray,
    window_limit: FloatArray,
) -> SessionRates:
    """Rates of sessions; all arguments of two axes, rows and sessions, and known to be good.

    Its `window_packets` is the mean window at a loss; there is no other one after a timeout.
    """
    fields = (loss_in, loss_out, rtt, rto_margin, reserved, burst, access, window_limit)
    shape = np.broadcast_shapes(*(field.shape for field in fields))
    alike = shape[1] > _NODES and all(
        field.shape[1] == 1 or np.all(field == field[:, :1]) for field in _but_rtt(fields)
    )
    if not alike:
        flat = [np.broadcast_to(field, shape).ravel() for field in fields]
        within, beyond, window = (each.reshape(shape) for each in _solved(flat))
        return SessionRates(within, beyond, window, np.zeros(shape))
    log_rtt = np.log(rtt)
    points = _points(log_rtt)
    few = (points.shape[0] if points.shape[0] > 1 else shape[0], _NODES)
    at = [np.broadcast_to(field[:, :1], few) for field in fields]
    at[2] = np.broadcast_to(np.exp(points), few)
    rates = [each.reshape(few) for each in _solved([field.ravel() for field in at])]
    weights = _barycentric(log_rtt, points)
    spread = [np.broadcast_to((weights @ each[:, :, None])[:, :, 0], shape) for each in rates]
    return SessionRates(np.maximum(spread[0], 0.0), np.maximum(spread[1], 0.0), spread[2], np.zeros(shape))


def _but_rtt(fields: tuple[FloatArray, ...]) -> tuple[FloatArray, ...]:
    return fields[:2] + fields[3:]


def _points(log_rtt: FloatArray) -> FloatArray:
    """Chebyshev points between the shortest and the longest RTT of each row."""
    low, high = log_rtt.min(axis=1, keepdims=True), log_rtt.max(axis=1, keepdims=True)
    cosines = np.cos(np.pi * np.arange(_NODES) / (_NODES - 1))
    half = np.maximum(0.5 * (high - low), 1e-9)
    return np.asarray(0.5 * (low + high) + half * cosines)


def _barycentric(x: FloatArray, points: FloatArray) -> FloatArray:
    """Weights of the values at the points in the polynomial at x; shape (rows, x, points)."""
    signs = np.where(np.arange(_NODES) % 2, -1.0, 1.0)
    signs[[0, -1]] *= 0.5
    apart = x[:, :, None] - points[:, None, :]
    weights = signs / np.where(np.abs(apart) < 1e-14, 1e-14, apart)
    return np.asarray(weights / weights.sum(axis=2, keepdims=True))


@dataclass(frozen=True, slots=True)
class _Session:
    """Sessions, as arrays of shape (sessions, 1, 1): axes of the state's window and bucket are behind."""

    p_in: FloatArray
    p_out: FloatArray
    rtt: FloatArray
    timeout_s: FloatArray
    reserved: FloatArray
    burst: FloatArray
    access: FloatArray
    step: FloatArray
    """Between neighbouring windows."""

    def round_s(self, window: FloatArray) -> FloatArray:
        """d(w)."""
        return np.maximum(self.rtt, window / self.access)

    def marked(self, tokens: FloatArray, packets: FloatArray, time_s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the number of *in* packets among those of a time, and the tokens after it."""
        had = tokens + self.reserved * time_s
        within = np.minimum(packets, had)
        return within, np.minimum(self.burst, had - within)

    def survival(self, within: FloatArray, beyond: FloatArray) -> FloatArray:
        """The probability that none of these packets is lost."""
        return np.asarray(np.exp(np.log1p(-self.p_in) * within + np.log1p(-self.p_out) * beyond))

    def levels(self, tokens: FloatArray) -> FloatArray:
        """Weights of the levels between which a bucket's content lies, on an axis behind the others."""
        at = tokens / self.burst * (_LEVELS - 1)
        return np.maximum(0.0, 1.0 - np.abs(at[..., None] - np.arange(_LEVELS)))


class _Periods:
    """Mean periods from each start (window, tokens): what they send, how long they last, and where the next begins."""

    def __init__(self, session: _Session) -> None:
        count = session.rtt.shape[0]
        self.session = session
        self.time, self.within, self.beyond, self.last = (np.zeros((count, _STARTS, _LEVELS)) for _ in range(4))
        self.next = np.zeros((count, _STARTS, _LEVELS, _STARTS, _LEVELS))

    def spend(
        self, where: Where, share: FloatArray, time_s: FloatArray, within: FloatArray, beyond: FloatArray
    ) -> None:
        """Count packets and time in a share of the periods of some starts."""
        self.time[where] += share * time_s
        self.within[where] += share * within
        self.beyond[where] += share * beyond

    def lose(
        self, where: Where, share: FloatArray, window: FloatArray, tokens: FloatArray, step: float | NDArray[np.float64]
    ) -> None:
        """End a share of the periods of some starts with a loss at a window, `step` steps from 0."""
        session = self.session
        time_s = session.round_s(window)
        within, tokens = session.marked(tokens, window, time_s)
        beyond = window - within
        self.spend(where, share, time_s, within, beyond)
        self.last[where] += share * window
        half = np.maximum(0.5 * window, 1.0)
        half_s = session.round_s(half)
        share_in = np.minimum(1.0, (tokens + session.reserved * half_s) / half)
        again = share_in * session.p_in + (1.0 - share_in) * session.p_out
        lost = 1.0 + session.p_in * within + session.p_out * beyond
        silent = ((lost - 1.0) / window) ** np.maximum(window - 1.0, 0.0)
        timeout = np.minimum(1.0, 1.0 - (1.0 - again) ** lost + silent)
        self._begin(where, share * (1.0 - timeout), tokens, step, 0.5)

        share = share * timeout
        sent = half * session.timeout_s / half_s
        within, tokens = session.marked(tokens, sent, session.timeout_s)
        self.spend(where, share, session.timeout_s, within, sent - within)
        slow_s, sent = session.rtt * np.log2(np.maximum(0.25 * window, 1.0)), half
        within, tokens = session.marked(tokens, sent, slow_s)
        self.spend(where, share, slow_s, within, sent - within)
        self._begin(where, share, tokens, step, 0.25)

    def _begin(
        self, where: Where, share: FloatArray, tokens: FloatArray, step: float | NDArray[np.float64], left: float
    ) -> None:
        """Begin the next period at a part of the window: between two starts, by their distances."""
        at = np.minimum(np.asarray(step) * left, _STARTS - 1.0)
        low = np.minimum(at.astype(np.intp), _STARTS - 2)
        onto = np.maximum(0.0, 1.0 - np.abs(at[..., None] - np.arange(_STARTS)))
        by_level = share[..., None] * self.session.levels(tokens)
        if at.ndim == 0:
            for start in (int(low), int(low) + 1):
                self.next[where[0], where[1], :, start] += onto[start] * by_level
        else:
            self.next += np.einsum("njmk,jl->njmlk", by_level, onto)

    def means(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rates *in* and *out*, and the window at a loss, over the stationary distribution of the starts."""
        count, size = self.time.shape[0], _STARTS * _LEVELS
        balance = np.swapaxes(self.next.reshape(count, size, size), 1, 2) - np.eye(size)
        balance[:, -1, :] = 1.0
        total = np.zeros((count, size, 1))
        total[:, -1] = 1.0
        start = np.linalg.solve(balance, total)[:, :, 0]
        within, beyond, last, time = (
            np.einsum("ns,ns->n", start, each.reshape(count, size))
            for each in (self.within, self.beyond, self.last, self.time)
        )
        return within / time, beyond / time, last


def _solved(fields: list[FloatArray]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rates and windows of sessions, each field of shape (sessions,)."""
    loss_in, loss_out = (np.clip(loss, LEAST_LOSS, _MOST_LOSS) for loss in fields[:2])
    rtt, margin, reserved, burst, access, limit = fields[2:]
    about = rates(loss_in, loss_out, rtt, rto=rtt + margin, reserved=reserved, burst=burst, formulas=TABLES)
    most = np.minimum(limit, 2.5 * about.window_packets)
    timeout_s = (rtt + margin) * backoff(loss_in)
    session = _Session(
        *(
            np.ascontiguousarray(field)[:, None, None]
            for field in (
                loss_in,
                loss_out,
                rtt,
                timeout_s,
                reserved,
                np.maximum(burst, _WHOLE_BURST),
                access,
                most / _STEPS,
            )
        )
    )
    periods = _Periods(session)
    every: Where = (slice(None), slice(None))

    # The round of recovery.
    starts = np.arange(_STARTS, dtype=np.float64)
    window = np.maximum(starts[:, None] * session.step, 1.0)
    tokens = session.burst * (np.arange(_LEVELS) / (_LEVELS - 1)) + np.zeros_like(window)
    time_s = session.round_s(window)
    within, tokens = session.marked(tokens, window, time_s)
    periods.spend(every, np.ones_like(tokens), time_s, within, window - within)
    alive = session.survival(within, window - within)
    periods.lose(every, 1.0 - alive, window, tokens, starts)

    # The window grows, a step at a time; starts above it have not begun.
    for step in range(_STEPS):
        begun: Where = (slice(None), slice(0, min(step + 1, _STARTS)))
        window = np.maximum((step + 0.5) * session.step, 1.0)
        packets, time_s = window * session.step, session.round_s(window) * session.step
        within, left = session.marked(tokens[begun], packets, time_s)
        kept = session.survival(within, packets - within)
        periods.spend(begun, 0.5 * alive[begun] * (1.0 + kept), time_s, within, packets - within)
        periods.lose(begun, alive[begun] * (1.0 - kept), window, left, step + 0.5)
        alive[begun] *= kept
        tokens[begun] = left

    # At the largest window it stays until a loss.
    window = np.maximum(_STEPS * session.step, 1.0)
    per_s = window / session.round_s(window)
    in_per_s = np.minimum(per_s, session.reserved)
    until_s = 1.0 / (session.p_in * in_per_s + session.p_out * (per_s - in_per_s))
    periods.spend(every, alive, until_s, in_per_s * until_s, (per_s - in_per_s) * until_s)
    tokens = np.broadcast_to(np.where(per_s > session.reserved, 0.0, session.burst), alive.shape)
    periods.lose(every, alive, window, tokens, float(_STEPS))
    return periods.means()
