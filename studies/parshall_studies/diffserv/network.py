"""One round of the fixed point: from the routers' offered loads to losses, rates, and the loads these offer.

Everything here works on rows: a batch flattened to its first axis. A field that all rows share has one row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.diffserv.chain import chain_rates
from parshall_studies.diffserv.response import Formulas, SessionRates, rates
from parshall_studies.diffserv.router import Curves, Router, columns
from parshall_studies.diffserv.traffic import Datagrams, Sessions

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Round:
    """Consequences of offered loads; shapes (rows, routers) and (rows, sessions)."""

    loss_in: FloatArray
    loss_out: FloatArray
    queue: FloatArray
    path_loss_in: FloatArray
    path_loss_out: FloatArray
    rtt: FloatArray
    in_per_s: FloatArray
    out_per_s: FloatArray
    window: FloatArray
    load_in: FloatArray
    load_out: FloatArray


@dataclass(frozen=True, slots=True)
class RouterNetwork:
    """Sessions, datagrams and routers as rows."""

    capacity: FloatArray
    curves: tuple[Curves, ...]
    base_rtt: FloatArray
    margin: FloatArray
    reserved: FloatArray
    burst: FloatArray
    access: FloatArray
    window_limit: FloatArray
    routes: NDArray[np.bool_]
    udp_in: FloatArray
    udp_out: FloatArray
    udp_routes: NDArray[np.bool_]
    formulas: Formulas

    @classmethod
    def of(
        cls,
        sessions: Sessions,
        routers: Sequence[Router],
        datagrams: Datagrams | None,
        *,
        batch: tuple[int, ...],
        rows: Rows,
        formulas: Formulas,
    ) -> RouterNetwork:
        """Take some rows of a batch; what does not vary over the batch keeps one row."""

        def each(value: object, width: int) -> FloatArray:
            array = np.asarray(value, dtype=np.float64)
            if array.ndim <= 1:  # the same for all rows
                return np.ascontiguousarray(np.broadcast_to(array, (1, width)))
            spread = np.broadcast_to(array, (*batch, width))
            return np.ascontiguousarray(spread[np.unravel_index(rows, batch)])

        def of_router(value: FloatArray) -> FloatArray:
            if value.ndim == 0:
                return np.full(1, float(value))
            return np.broadcast_to(value, batch)[np.unravel_index(rows, batch)]

        n, r = sessions.count, len(routers)
        fields = [[of_router(field) for field in columns(router)] for router in routers]
        none = sessions.reserved_per_s is None
        udp = datagrams or Datagrams(0.0, 0.0)
        m = np.broadcast_shapes(np.shape(udp.in_per_s), np.shape(udp.out_per_s))[-1]
        return cls(
            capacity=np.stack(np.broadcast_arrays(*(field[0] for field in fields)), axis=-1),
            curves=tuple(Curves.of(_together(field[1:])) for field in fields),
            base_rtt=each(np.add(sessions.rtt_s, sessions.access_delay_s), n),
            margin=each(sessions.rto_margin_s, n),
            reserved=each(0.0 if none else sessions.reserved_per_s, n),
            burst=each(0.0 if none else sessions.burst_packets, n),
            access=each(sessions.access_per_s, n),
            window_limit=each(sessions.window_limit_packets, n),
            routes=np.ones((n, r), dtype=np.bool_) if sessions.crosses is None else np.asarray(sessions.crosses),
            udp_in=each(udp.in_per_s, m),
            udp_out=each(udp.out_per_s, m),
            udp_routes=np.ones((m, r), dtype=np.bool_) if udp.crosses is None else np.asarray(udp.crosses),
            formulas=formulas,
        )

    def rows(self, chosen: Rows) -> RouterNetwork:
        """Some rows, of those that there are; a row may be taken several times."""

        def of(array: FloatArray) -> FloatArray:
            return array if array.shape[0] == 1 else array[chosen]

        curves = tuple(curve if curve.drop_in.shape[0] == 1 else curve.rows(chosen) for curve in self.curves)
        return RouterNetwork(
            of(self.capacity),
            curves,
            of(self.base_rtt),
            of(self.margin),
            of(self.reserved),
            of(self.burst),
            of(self.access),
            of(self.window_limit),
            self.routes,
            of(self.udp_in),
            of(self.udp_out),
            self.udp_routes,
            self.formulas,
        )

    def round(self, log_load: FloatArray, mix: FloatArray) -> Round:
        """Return the state at loads T/C and shares T_in/T; shapes (rows, routers). Source: figure 3."""
        states = []
        for r, curve in enumerate(self.curves):
            states.append(curve.means(curve.weights(log_load[:, r], mix[:, r])))
        loss_in, loss_out, queue = (np.stack(column, axis=-1) for column in zip(*states, strict=True))
        waits = (queue + 1.0) / self.capacity  # eq. (8)
        if len(self.curves) == 1:
            path_in, path_out, rtt = loss_in, loss_out, self.base_rtt + waits
        else:
            crossed = self.routes[None, :, :]
            path_in, path_out = (
                1.0 - np.where(crossed, 1.0 - loss[:, None, :], 1.0).prod(axis=2) for loss in (loss_in, loss_out)
            )
            rtt = self.base_rtt + waits @ self.routes.T.astype(np.float64)
        sent = self._sent(np.minimum(path_in, _MOST_LOSS), np.minimum(path_out, _MOST_LOSS), rtt)
        most = np.minimum(self.access, self.window_limit / rtt)
        in_per_s = np.minimum(sent.in_per_s, most)
        out_per_s = np.minimum(sent.out_per_s, most - in_per_s)
        load_in = _offered(in_per_s, self.routes, loss_in) + _offered(self.udp_in, self.udp_routes, loss_in)
        load_out = _offered(out_per_s, self.routes, loss_out) + _offered(self.udp_out, self.udp_routes, loss_out)
        return Round(
            loss_in,
            loss_out,
            queue,
            path_in,
            path_out,
            rtt,
            in_per_s,
            out_per_s,
            sent.window_packets,
            load_in,
            load_out,
        )

    def _sent(self, loss_in: FloatArray, loss_out: FloatArray, rtt: FloatArray) -> SessionRates:
        """Return the rates at which sessions send at the losses of their paths."""
        if self.formulas.random:
            return chain_rates(
                loss_in,
                loss_out,
                rtt,
                rto_margin=self.margin,
                reserved=self.reserved,
                burst=self.burst,
                access=self.access,
                window_limit=self.window_limit,
            )
        return rates(
            loss_in,
            loss_out,
            rtt,
            rto=rtt + self.margin,
            reserved=self.reserved,
            burst=self.burst,
            formulas=self.formulas,
        )


_MOST_LOSS = 1.0 - 1e-9


def _together(fields: list[FloatArray]) -> list[FloatArray]:
    return list(np.broadcast_arrays(*fields))


def _offered(sent: FloatArray, routes: NDArray[np.bool_], loss: FloatArray) -> FloatArray:
    """Return the part of the sent traffic that reaches each router, after losses on the way; shape (rows, routers)."""
    if loss.shape[1] == 1:
        return np.broadcast_to(sent.sum(axis=1, keepdims=True), loss.shape)
    left = np.broadcast_to(sent, (loss.shape[0], sent.shape[1]))
    loads = np.empty_like(loss)
    for r in range(loss.shape[1]):
        here = routes[:, r]
        loads[:, r] = left[:, here].sum(axis=1)
        left = np.where(here, left * (1.0 - loss[:, r : r + 1]), left)
    return loads


def batch_shape(sessions: Sessions, routers: Sequence[Router], datagrams: Datagrams | None) -> tuple[int, ...]:
    """The shape of the batch of parameter sets.

    Raises
    ------
    ModelInputError
        If the shapes do not broadcast, there is no router, or routes name other routers.
    """
    if not routers:
        raise ModelInputError("routers: found none, accepted is one and more")
    for name, flows in (("sessions", sessions), ("datagrams", datagrams)):
        routes = None if flows is None else flows.crosses
        if routes is not None and np.shape(routes)[1] != len(routers):
            raise ModelInputError(
                f"{name}.crosses: found {np.shape(routes)[1]} columns, accepted is one a router: {len(routers)}"
            )
    shapes = [sessions.shape[:-1], *(router.shape for router in routers)]
    if datagrams is not None:
        shapes.append(np.broadcast_shapes(np.shape(datagrams.in_per_s), np.shape(datagrams.out_per_s))[:-1])
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise ModelInputError(f"found batches of shapes {shapes}, accepted are shapes that broadcast") from None
