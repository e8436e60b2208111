"""Traffic that enters the network: TCP sessions with token buckets, and datagrams of given rate.

| symbol | field | unit |
| --- | --- | --- |
| D^i | `rtt_s` | s, round-trip propagation delay |
| r^i, sigma^i | `reserved_per_s`, `burst_packets` | packets/s, packets: the token bucket |
| alpha^i | `rto_margin_s` | s: RTO = RTT + alpha, eq. (9) |
| | `access_per_s` | packets/s, the session's access link |
| | `window_limit_packets` | packets, the receiver's window |
| | `access_delay_s` | s, added to each round trip |

`access_delay_s` is the time a packet takes onto and off the access links, which is no part of D. The source's tables
come out with 16 ms, twice the transmission of 1000 bytes at 1 Mbit/s, and its section 5 with none.

A session sends at most what its access link carries and its receiver's window allows a round trip; what is too much
is cut from its *out* packets first.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §2, §4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError


@dataclass(frozen=True)
class Sessions:
    """TCP sessions; each field a number, or an array of shape (..., sessions) with a batch's axes in front.

    `crosses` says which session crosses which router: a boolean array of shape (sessions, routers). `None`: all do,
    in order. A session without a reservation has no token bucket: a rate and burst of `None`.

    Raises
    ------
    ModelInputError
        If a time, rate or burst is out of its bounds, a bucket without tokens, a reservation above the access rate.

    Examples
    --------
    >>> Sessions(rtt_s=[0.1, 0.2], reserved_per_s=40, burst_packets=20).count
    2
    >>> Sessions(rtt_s=[0.1, 0.2], reserved_per_s=400, burst_packets=20, access_per_s=125)
    Traceback (most recent call last):
    parshall.analysis.models.inputs.ModelInputError: reserved_per_s: found 400 packets/s above the session's access
    rate...
    """

    rtt_s: ArrayLike
    reserved_per_s: ArrayLike | None = None
    burst_packets: ArrayLike | None = None
    access_per_s: ArrayLike = inf
    window_limit_packets: ArrayLike = inf
    rto_margin_s: ArrayLike = 1.0
    access_delay_s: ArrayLike = 0.0
    crosses: ArrayLike | None = None

    def __post_init__(self) -> None:
        if (self.reserved_per_s is None) != (self.burst_packets is None):
            raise ModelInputError("reserved_per_s, burst_packets: a token bucket has both, or there is none")
        set_ = object.__setattr__
        checked = {
            "rtt_s": _array("rtt_s", self.rtt_s, above=0.0),
            "access_per_s": _array("access_per_s", self.access_per_s, above=0.0, infinite=True),
            "window_limit_packets": _array("window_limit_packets", self.window_limit_packets, least=1.0, infinite=True),
            "rto_margin_s": _array("rto_margin_s", self.rto_margin_s, least=0.0),
            "access_delay_s": _array("access_delay_s", self.access_delay_s, least=0.0),
        }
        if self.reserved_per_s is not None and self.burst_packets is not None:
            tokens = "; for sessions without a reservation leave reserved_per_s and burst_packets out"
            checked["reserved_per_s"] = _array("reserved_per_s", self.reserved_per_s, above=0.0, more=tokens)
            checked["burst_packets"] = _array(
                "burst_packets", self.burst_packets, least=1.0, more=": a smaller bucket never holds a packet's token"
            )
        for name, array in checked.items():
            set_(self, name, array)
        try:
            shape = np.broadcast_shapes(*(array.shape for array in checked.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in checked.items())
            raise ModelInputError(f"sessions: found shapes {shapes}, accepted are shapes that broadcast") from None
        if not shape:
            set_(self, "rtt_s", checked["rtt_s"].reshape(1))
        if "reserved_per_s" in checked:
            over = checked["reserved_per_s"] > checked["access_per_s"]
            if np.any(over):
                pair = (
                    np.broadcast_to(checked[name], over.shape)[over].flat[0]
                    for name in ("reserved_per_s", "access_per_s")
                )
                value, most = pair
                raise ModelInputError(
                    f"reserved_per_s: found {value:g} packets/s above the session's access rate of {most:g} packets/s, "
                    "accepted is at most the access rate"
                )
        if self.crosses is not None:
            set_(self, "crosses", _routes("crosses", self.crosses, self.count))

    @property
    def shape(self) -> tuple[int, ...]:
        """(..., sessions)."""
        given = (self.rtt_s, self.reserved_per_s, self.burst_packets, self.access_per_s, self.window_limit_packets)
        arrays = [np.shape(each) for each in (*given, self.rto_margin_s, self.access_delay_s) if each is not None]
        return np.broadcast_shapes(*arrays)

    @property
    def count(self) -> int:
        """Number of sessions."""
        return self.shape[-1]

    @property
    def reservations_per_s(self) -> FloatArray:
        """Reserved rates, 0 without a reservation; of a shape that broadcasts to `shape`."""
        return np.zeros(1) if self.reserved_per_s is None else np.asarray(self.reserved_per_s)


@dataclass(frozen=True)
class Datagrams:
    """Loads that do not react: packets/s of each class, shape (..., flows); `crosses` as in `Sessions`.

    Examples
    --------
    >>> Datagrams.marked(rate_per_s=[100, 30], reserved_per_s=40).out_per_s
    array([60.,  0.])
    """

    in_per_s: ArrayLike
    out_per_s: ArrayLike
    crosses: ArrayLike | None = None

    def __post_init__(self) -> None:
        for name in ("in_per_s", "out_per_s"):
            array = _array(name, getattr(self, name), least=0.0)
            object.__setattr__(self, name, array.reshape(1) if array.ndim == 0 else array)
        try:
            shape = np.broadcast_shapes(np.shape(self.in_per_s), np.shape(self.out_per_s))
        except ValueError:
            raise ModelInputError(
                f"in_per_s, out_per_s: found shapes {np.shape(self.in_per_s)} and {np.shape(self.out_per_s)}, "
                "accepted are shapes that broadcast"
            ) from None
        if self.crosses is not None:
            object.__setattr__(self, "crosses", _routes("crosses", self.crosses, shape[-1]))

    @classmethod
    def marked(cls, rate_per_s: ArrayLike, reserved_per_s: ArrayLike, crosses: ArrayLike | None = None) -> Datagrams:
        """Constant-rate flows behind token buckets: what is above the reservation is *out*."""
        rate = _array("rate_per_s", rate_per_s, least=0.0)
        within = np.minimum(rate, _array("reserved_per_s", reserved_per_s, least=0.0))
        return cls(within, rate - within, crosses)


def _array(
    name: str,
    value: ArrayLike,
    *,
    least: float | None = None,
    above: float | None = None,
    infinite: bool = False,
    more: str = "",
) -> FloatArray:
    array = np.asarray(value, dtype=np.float64)
    good = ~np.isnan(array) if infinite else np.isfinite(array)
    good &= array > above if above is not None else array >= (least or 0.0)
    bound = f"above {above:g}" if above is not None else f"from {least or 0.0:g}"
    accepted = f"a {'' if infinite else 'finite '}number {bound}{', infinity for no limit' if infinite else ''}{more}"
    if array.size == 0:
        raise ModelInputError(f"{name}: found nothing, accepted is {accepted}")
    if not np.all(good):
        raise ModelInputError(f"{name}: found {float(array[~good].flat[0]):g}, accepted is {accepted}")
    return array


def _routes(name: str, value: ArrayLike, count: int) -> NDArray[np.bool_]:
    routes = np.asarray(value)
    if routes.dtype != np.bool_ or routes.ndim != 2 or routes.shape[0] != count:
        raise ModelInputError(
            f"{name}: found an array of {routes.dtype} of shape {routes.shape}, accepted is one of booleans of shape "
            f"({count}, routers)"
        )
    if not np.all(routes.any(axis=1)):
        flow = int(np.flatnonzero(~routes.any(axis=1))[0])
        raise ModelInputError(f"{name}: flow {flow} crosses no router, accepted is at least one")
    return routes
