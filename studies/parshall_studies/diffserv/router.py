"""A RIO router fed with Poisson traffic: the birth-death queue of Malouch & Liu.

| symbol | argument or field | unit |
| --- | --- | --- |
| C | `capacity_per_s` | packets/s |
| min_in, max_in, p_in^max | `in_min`, `in_max`, `in_probability` | packets, packets, - |
| min_out, max_out, p_out^max | `out_min`, `out_max`, `out_probability` | packets, packets, - |
| T_in, T_out | `in_per_s`, `out_per_s` | packets/s offered |
| pi(i) | `state_probabilities` | probability of i packets in the system, the one in service included |
| p_in, p_out | `loss_in`, `loss_out` | |
| q | `queue_packets` | packets in the system, mean over time |

An arrival that finds i packets is dropped with p_in(i) or p_out(i): 0 up to min, linear up to p^max at max, 1 from
max on. Service times are exponential. A queue of max = min is tail drop, as is p^max = 0 whatever min is.

Deviations: eq. (3) is printed with (T/C)^(i-1) where a birth-death queue has (T/C)^i; the tables need the latter.

Range: thresholds on the number in the whole system, not averaged; offered traffic near Poisson; packet sizes near
exponential, which makes queues of equal packets shorter than computed.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §3.2.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive

MOST_STATES = 1_000_000


@dataclass(frozen=True)
class Router:
    """A link and the RIO queue before it; each field a number, or an array over a batch of parameter sets.

    Raises
    ------
    ModelInputError
        If a threshold is negative or not finite, a min above its max, a probability not in [0, 1], or max_out above
        max_in, which would prefer *out* packets.

    Examples
    --------
    >>> Router(6000, in_min=60, in_max=100, in_probability=0.01, out_min=20, out_max=60, out_probability=0.06).in_max
    array(100.)
    """

    capacity_per_s: ArrayLike
    in_min: ArrayLike
    in_max: ArrayLike
    in_probability: ArrayLike
    out_min: ArrayLike
    out_max: ArrayLike
    out_probability: ArrayLike

    def __post_init__(self) -> None:
        arrays = {each.name: np.asarray(getattr(self, each.name), dtype=np.float64) for each in fields(self)}
        arrays["capacity_per_s"] = positive("capacity_per_s", self.capacity_per_s)
        for name, array in arrays.items():
            if name.endswith("probability"):
                _check(name, array, (array >= 0) & (array <= 1), "a probability from 0 to 1")
            elif name != "capacity_per_s":
                least = 1 if name.endswith("max") else 0
                good = np.isfinite(array) & (array >= least) & (array <= MOST_STATES)
                _check(name, array, good, f"packets, from {least} to {MOST_STATES:,}")
            object.__setattr__(self, name, array)
        try:
            np.broadcast_shapes(*(array.shape for array in arrays.values()))
        except ValueError:
            shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
            raise ModelInputError(
                f"a router's fields: found shapes {shapes}, accepted are shapes that broadcast"
            ) from None
        for low, high, why in (
            ("in_min", "in_max", "a curve rises from min to max"),
            ("out_min", "out_max", "a curve rises from min to max"),
            ("out_max", "in_max", "*in* packets are preferred: max_out <= max_in"),
        ):
            crossed = arrays[low] > arrays[high]
            if np.any(crossed):
                a, b = (float(np.broadcast_to(arrays[name], crossed.shape)[crossed].flat[0]) for name in (low, high))
                raise ModelInputError(f"{low}, {high}: found {a:g} above {b:g}, accepted is {low} <= {high} ({why})")

    @classmethod
    def tail_drop(cls, capacity_per_s: ArrayLike, limit_packets: ArrayLike) -> Router:
        """A router that drops what finds `limit_packets`, whatever its class."""
        limit, none = limit_packets, 0.0
        return cls(capacity_per_s, limit, limit, none, limit, limit, none)

    @property
    def shape(self) -> tuple[int, ...]:
        """The batch's shape; () for one parameter set."""
        return np.broadcast_shapes(*(np.shape(getattr(self, each.name)) for each in fields(self)))

    def with_(self, **changes: Any) -> Router:
        """The same router, changed."""
        return replace(self, **changes)


@dataclass(frozen=True)
class RouterState:
    """A router in its steady state; each field has the batch's shape."""

    loss_in: FloatArray
    loss_out: FloatArray
    queue_packets: FloatArray
    state_probabilities: FloatArray
    """Shape (..., states): of 0, 1, ... packets in the system."""

    @property
    def utilisation(self) -> FloatArray:
        """Share of the time in which the link transmits."""
        return np.asarray(1.0 - self.state_probabilities[..., 0])

    @property
    def queue_sd_packets(self) -> FloatArray:
        """Standard deviation over time of the packets in the system."""
        states = np.arange(self.state_probabilities.shape[-1], dtype=np.float64)
        square = self.state_probabilities @ (states * states)
        return np.asarray(np.sqrt(np.maximum(square - self.queue_packets**2, 0.0)))


def router_state(router: Router, in_per_s: ArrayLike, out_per_s: ArrayLike) -> RouterState:
    """The queue of a RIO router that is offered Poisson traffic of two classes.

    Parameters
    ----------
    in_per_s, out_per_s
        Packets/s offered; of the batch's shape, or broadcasting with it.

    Source: Malouch & Liu 2002, eq. (3) to (7).

    Raises
    ------
    ModelInputError
        If a rate is negative, or not finite.

    Examples
    --------
    Tail drop is M/M/1/K:

    >>> state = router_state(Router.tail_drop(100, 4), 60, 40)
    >>> round(float(state.loss_in), 12), round(float(state.queue_packets), 12)
    (0.2, 2.0)
    """
    rates = []
    for name, value in (("in_per_s", in_per_s), ("out_per_s", out_per_s)):
        array = np.asarray(value, dtype=np.float64)
        _check(name, array, np.isfinite(array) & (array >= 0), "a finite number from 0")
        rates.append(array)
    shape = np.broadcast_shapes(router.shape, rates[0].shape, rates[1].shape)
    flat = [np.broadcast_to(array, shape).reshape(-1) for array in (*columns(router), *rates)]
    total = flat[-2] + flat[-1]
    mix = np.divide(flat[-2], total, out=np.zeros_like(total), where=total > 0)
    curves = Curves.of(flat[1:7])
    weights = curves.weights(np.log(np.maximum(total / flat[0], 1e-300)), mix)
    loss_in, loss_out, queue = curves.means(weights)
    return RouterState(
        loss_in.reshape(shape), loss_out.reshape(shape), queue.reshape(shape), weights.reshape(*shape, -1)
    )


def columns(router: Router) -> tuple[FloatArray, ...]:
    """A router's fields in their order."""
    return tuple(np.asarray(getattr(router, each.name)) for each in fields(router))


@dataclass(frozen=True, slots=True)
class Curves:
    """Drop probabilities by state: arrays of shape (rows, states)."""

    states: FloatArray
    drop_in: FloatArray
    drop_out: FloatArray

    @classmethod
    def of(cls, thresholds: list[FloatArray]) -> Curves:
        """Tabulate the curves of rows of in_min, in_max, p_in^max, out_min, out_max, p_out^max."""
        in_min, in_max, in_p, out_min, out_max, out_p = (column[:, None] for column in thresholds)
        states = np.arange(int(np.ceil(in_max.max())) + 1, dtype=np.float64)
        return cls(states, _curve(states, in_min, in_max, in_p), _curve(states, out_min, out_max, out_p))

    def weights(self, log_load: FloatArray, mix: FloatArray) -> FloatArray:
        """pi(i) at loads T/C and shares T_in/T; shape (rows, states). Source: eq. (3)."""
        drop = mix[:, None] * self.drop_in[:, :-1] + (1.0 - mix[:, None]) * self.drop_out[:, :-1]
        steps = np.empty((log_load.size, self.states.size))
        steps[:, 0] = 0.0
        with np.errstate(divide="ignore"):
            np.log1p(-drop, out=steps[:, 1:])
        steps[:, 1:] += log_load[:, None]
        np.cumsum(steps, axis=1, out=steps)
        steps -= steps.max(axis=1, keepdims=True)
        np.exp(steps, out=steps)
        steps /= steps.sum(axis=1, keepdims=True)
        return steps

    def means(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """p_in, p_out, q. Source: eq. (4), (6)."""
        loss_in = np.einsum("ij,ij->i", weights, self.drop_in)
        loss_out = np.einsum("ij,ij->i", weights, self.drop_out)
        return loss_in, loss_out, weights @ self.states

    def rows(self, chosen: NDArray[np.intp]) -> Curves:
        """The curves of some rows."""
        return Curves(self.states, self.drop_in[chosen], self.drop_out[chosen])


def _curve(states: FloatArray, low: FloatArray, high: FloatArray, most: FloatArray) -> FloatArray:
    """0 up to `low`, linear up to `most` at `high`, 1 from there on. Source: §2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = np.where(high > low, most / (high - low), 0.0)
    return np.asarray(np.where(states >= high, 1.0, slope * np.maximum(states - low, 0.0)))


def _check(name: str, array: FloatArray, good: NDArray[np.bool_], accepted: str) -> None:
    if array.size == 0:
        raise ModelInputError(f"{name}: found nothing, accepted is {accepted}")
    if not np.all(good):
        raise ModelInputError(f"{name}: found {float(array[~good].flat[0]):g}, accepted is {accepted}")
