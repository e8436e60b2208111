"""The steady state of TCP sessions and RIO routers: each is what the other leads to (Malouch & Liu).

| symbol | field of `FixedPoint` | unit |
| --- | --- | --- |
| T^i, T_in^i, T_out^i | `session_per_s`, `session_in_per_s`, `session_out_per_s` | packets/s offered by a session |
| T, T_in | `load_per_s`, `load_in_per_s` | packets/s offered to a router |
| p_in, p_out | `loss_in`, `loss_out` | of a router |
| q | `queue_packets` | packets in a router, the one in service included |
| RTT^i | `session_rtt_s` | s: D + access delay + (q + 1)/C of each router, eq. (8) |

Assumes: what is offered to a router is Poisson, of exponential sizes, whoever sends it and whatever happened to it
before; RTTs and losses are their means; sessions are in congestion avoidance for ever.

Range: `FixedPoint.reasons`. Some tens of sessions and more, none of which notices its own window in the queue.

Deviations: the source updates one session at a time until nothing changes, which diverges from many starts;
`solver` solves for two numbers a router. Several routers, datagrams and access limits are the source's announced
extensions, in the obvious form: a packet of a session is lost if one of its routers drops it, a router's load is what
the routers before it have let pass.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §3.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.diffserv.network import Round, RouterNetwork, Rows, batch_shape
from parshall_studies.diffserv.response import TABLES, Formulas
from parshall_studies.diffserv.router import Router
from parshall_studies.diffserv.solver import SolverPoint, solve
from parshall_studies.diffserv.traffic import Datagrams, Sessions

_CHUNK = 1 << 17
"""Numbers of one field that are worked on at a time: what the caches hold."""


@dataclass(frozen=True)
class FixedPoint:
    """A steady state, with how well it was found.

    Sessions' fields have the shape (..., sessions), routers' (..., routers), the last three (...), where ... is the
    batch. Where `converged` is false the numbers are the best that was found, and no steady state.
    """

    session_in_per_s: FloatArray
    session_out_per_s: FloatArray
    session_rtt_s: FloatArray
    session_loss_in: FloatArray
    session_loss_out: FloatArray
    session_window_packets: FloatArray
    """W: at the end of a period without loss."""
    load_in_per_s: FloatArray
    load_out_per_s: FloatArray
    loss_in: FloatArray
    loss_out: FloatArray
    queue_packets: FloatArray
    capacity_per_s: FloatArray
    residual: FloatArray
    """Largest of |log(T'/T)| and |T_in'/T' - T_in/T| over the routers, one round after the other."""
    iterations: NDArray[np.int64]
    converged: NDArray[np.bool_]

    @property
    def session_per_s(self) -> FloatArray:
        """T^i: offered by each session."""
        return np.asarray(self.session_in_per_s + self.session_out_per_s)

    @property
    def session_delivered_per_s(self) -> FloatArray:
        """Return the packets of the sessions that arrive, 1/s."""
        arriving_in = self.session_in_per_s * (1.0 - self.session_loss_in)
        return np.asarray(arriving_in + self.session_out_per_s * (1.0 - self.session_loss_out))

    @property
    def load_per_s(self) -> FloatArray:
        """T: offered to each router."""
        return np.asarray(self.load_in_per_s + self.load_out_per_s)

    @property
    def carried_per_s(self) -> FloatArray:
        """Return the traffic that each router lets pass."""
        arriving_in = self.load_in_per_s * (1.0 - self.loss_in)
        return np.asarray(arriving_in + self.load_out_per_s * (1.0 - self.loss_out))

    @property
    def utilisation(self) -> FloatArray:
        """Share of each router's capacity that is used."""
        return np.asarray(self.carried_per_s / self.capacity_per_s)

    @property
    def delay_s(self) -> FloatArray:
        """Mean time in each router, by its share of eq. (8)."""
        return np.asarray((self.queue_packets + 1.0) / self.capacity_per_s)

    def reasons(self) -> NDArray[np.object_]:
        """Return the reason why each parameter set is out of range, '' where it is in range; shape (...)."""
        smallest = self.session_window_packets.min(axis=-1)
        most = self.session_window_packets.max(axis=-1)
        ways = np.select(
            [~self.converged, smallest < 3.0, most > 0.5 * self.capacity_per_s.min(axis=-1) * 1e6],
            [
                "no fixed point was found",
                "some session's window is below 3 packets: each loss is a timeout, and losses are no longer rare",
                "nothing is lost and no access link or window limits",
            ],
            "",
        )
        return np.asarray(ways, dtype=object)


def fixed_point(
    sessions: Sessions,
    routers: Router | Sequence[Router],
    *,
    datagrams: Datagrams | None = None,
    formulas: Formulas = TABLES,
    start: tuple[ArrayLike, ArrayLike] | None = None,
    tolerance: float = 1e-9,
    most_iterations: int = 60,
) -> FixedPoint:
    """Find the steady state of sessions that share RIO routers.

    Parameters
    ----------
    sessions, datagrams
        What is sent; their arrays may have the axes of a batch of parameter sets before their last one.
    routers
        In the order in which sessions cross them; their fields may be arrays over the batch.
    formulas
        Which reading of the printed formulas: `TABLES` or `PRINTED`.
    start
        Offered loads T_in, T_out of each router to start from, packets/s, shape (..., routers) or broadcasting to it.
        The answer does not depend on it.
    tolerance
        Largest residual of what counts as converged.

    Source: Malouch & Liu 2002, §3.

    Raises
    ------
    ModelInputError
        If shapes do not fit, a router is crossed by nobody, or the start is not positive.

    Examples
    --------
    Table 1 of the source, whose printed values are T = 5927.97, T_in = 3764.09 and a queue of 33.79 packets:

    >>> sessions = Sessions(
    ...     rtt_s=(100 + 2 * np.arange(100)) / 1000, reserved_per_s=40, burst_packets=20, access_delay_s=0.016
    ... )
    >>> router = Router(6000, in_min=20, in_max=100, in_probability=0.01, out_min=20, out_max=100, out_probability=0.06)
    >>> found = fixed_point(sessions, router)
    >>> print(
    ...     bool(found.converged), found.load_per_s.round(1), found.load_in_per_s.round(1), found.queue_packets.round(2)
    ... )
    True [5928.1] [3767.6] [33.81]
    """
    listed = [routers] if isinstance(routers, Router) else list(routers)
    batch = batch_shape(sessions, listed, datagrams)
    _all_crossed(sessions, datagrams, len(listed))
    begin = None if start is None else _given(start, batch, len(listed))
    parts = []
    for rows in _chunks(prod(batch), _width(sessions, listed)):
        network = RouterNetwork.of(sessions, listed, datagrams, batch=batch, rows=rows, formulas=formulas)
        first = (
            _first(network, rows.size, len(listed)) if begin is None else _unknowns(network, *(b[rows] for b in begin))
        )
        point = solve(network, first, tolerance=tolerance, most_iterations=most_iterations)
        parts.append((point, network, network.round(point.unknowns[:, 0::2], point.unknowns[:, 1::2])))
    return _assembled(parts, batch, tolerance)


def _chunks(rows: int, width: int) -> Iterator[Rows]:
    size = max(1, _CHUNK // width)
    for first in range(0, rows, size):
        yield np.arange(first, min(first + size, rows))


def _width(sessions: Sessions, routers: list[Router]) -> int:
    """Numbers a row takes in the widest field."""
    return max(sessions.count * len(routers), *(int(np.max(router.in_max)) + 1 for router in routers))


def _first(network: RouterNetwork, rows: int, routers: int) -> FloatArray:
    """Begin a little below the capacity, with all reservations used; or with what the access links let pass."""
    booked = np.minimum(network.reserved, network.access).sum(axis=1) + network.udp_in.sum(axis=1)
    given = network.udp_in.sum(axis=1) + network.udp_out.sum(axis=1)
    log_load = np.log(np.clip((network.access.sum(axis=1) + given)[:, None] / network.capacity, 0.01, 0.98))
    share = np.clip(0.95 * booked[:, None] / (np.exp(log_load) * network.capacity), 0.01, 0.98)
    unknowns = np.empty((rows, 2 * routers))
    unknowns[:, 0::2], unknowns[:, 1::2] = log_load, share
    return unknowns


def _given(start: tuple[ArrayLike, ArrayLike], batch: tuple[int, ...], routers: int) -> tuple[FloatArray, FloatArray]:
    arrays = []
    for name, value in zip(("T_in", "T_out"), start, strict=True):
        array = np.asarray(value, dtype=np.float64)
        if not np.all(np.isfinite(array) & (array >= 0)):
            raise ModelInputError(f"start: found {name} of {array}, accepted are finite numbers from 0")
        try:
            arrays.append(np.broadcast_to(array, (*batch, routers)).reshape(-1, routers))
        except ValueError:
            raise ModelInputError(
                f"start: found {name} of shape {array.shape}, accepted is what broadcasts to {(*batch, routers)}"
            ) from None
    if not np.all(arrays[0] + arrays[1] > 0):
        raise ModelInputError("start: found loads of 0, accepted are loads above 0")
    return arrays[0], arrays[1]


def _unknowns(network: RouterNetwork, in_per_s: FloatArray, out_per_s: FloatArray) -> FloatArray:
    total = in_per_s + out_per_s
    unknowns = np.empty((total.shape[0], 2 * total.shape[1]))
    unknowns[:, 0::2], unknowns[:, 1::2] = np.log(total / network.capacity), in_per_s / total
    return unknowns


def _all_crossed(sessions: Sessions, datagrams: Datagrams | None, routers: int) -> None:
    crossed = np.zeros(routers, dtype=np.bool_)
    for flows in (sessions, datagrams):
        if flows is not None:
            crossed |= True if flows.crosses is None else np.asarray(flows.crosses).any(axis=0)
    if not np.all(crossed):
        raise ModelInputError(f"routers: nobody crosses router {int(np.flatnonzero(~crossed)[0])}")


def _assembled(
    parts: list[tuple[SolverPoint, RouterNetwork, Round]], batch: tuple[int, ...], tolerance: float
) -> FixedPoint:
    rows = [point.iterations.size for point, _, _ in parts]

    def joined(arrays: list[FloatArray]) -> FloatArray:
        full = [np.broadcast_to(array, (size, *array.shape[1:])) for array, size in zip(arrays, rows, strict=True)]
        together = np.concatenate(full)
        return together.reshape((*batch, *together.shape[1:]))

    def of(name: str) -> FloatArray:
        return joined([getattr(solution, name) for _, _, solution in parts])

    residual = joined([point.residual for point, _, _ in parts])
    return FixedPoint(
        session_in_per_s=of("in_per_s"),
        session_out_per_s=of("out_per_s"),
        session_rtt_s=of("rtt"),
        session_loss_in=_by_session(of("path_loss_in"), of("rtt")),
        session_loss_out=_by_session(of("path_loss_out"), of("rtt")),
        session_window_packets=of("window"),
        load_in_per_s=of("load_in"),
        load_out_per_s=of("load_out"),
        loss_in=of("loss_in"),
        loss_out=of("loss_out"),
        queue_packets=of("queue"),
        capacity_per_s=joined([network.capacity for _, network, _ in parts]),
        residual=residual,
        iterations=joined([point.iterations for point, _, _ in parts]).astype(np.int64),
        converged=residual <= tolerance,
    )


def _by_session(loss: FloatArray, like: FloatArray) -> FloatArray:
    return np.ascontiguousarray(np.broadcast_to(loss, like.shape))
