"""Loss functions p(w): the probability that a round trip with window w loses at least one packet.

| symbol | argument | unit |
| --- | --- | --- |
| w | `window` | packets |
| p(w) | value of the function | probability |
| p_pkt | `packet_loss` | probability |
| C | `capacity_bps` | bit/s |
| mu_UDP, sigma | `cross_mean_bps`, `cross_std_bps` | bit/s, cross traffic averaged over the buffer's drain time |
| mu_TCP(w) | w `packet_bytes` 8 / `rtt_s` | bit/s |

A loss function is anything that maps an array of windows to probabilities. The classes here also know log(1 - p(w)),
which a long climb multiplies: where p(w) is 1 in double precision, e.g. after 2000 packets at 2 % loss, climbing on
is still possible, and only its logarithm can tell.

Range: losses of different round trips are independent given the window. Cross traffic must therefore forget itself
within an RTT. `p_of_w` of a record is `chains.measured_loss.Measured`.

References: P. Loiseau, P. Gonçalves, J. Barral, P. Vicat-Blanc Primet, Modeling TCP throughput: an elaborated
large-deviations-based model and its empirical validation, Performance Evaluation 67, 2010, §3.1, §4.2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import scipy
from numpy.typing import ArrayLike

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive, probability


@runtime_checkable
class LossFunction(Protocol):
    """p(w), and log(1 - p(w)) without cancellation."""

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w), the shape of `window`."""
        ...

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w)), the shape of `window`; minus infinity where a loss is certain."""
        ...


@dataclass(frozen=True, slots=True)
class Bernoulli:
    """Each packet is lost with the same probability: p(w) = 1 - (1 - p_pkt)^w.

    Source: Loiseau 2010, §4.1.

    Raises
    ------
    ModelInputError
        If `packet_loss` is not in (0, 1).

    Examples
    --------
    >>> Bernoulli(0.02)([1, 2]).round(6).tolist()
    [0.02, 0.0396]
    """

    packet_loss: float

    def __post_init__(self) -> None:
        probability("packet_loss", self.packet_loss)

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        return np.asarray(-np.expm1(self.log_survival(window)))

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w)) = w log(1 - p_pkt)."""
        return np.asarray(np.asarray(window, dtype=np.float64) * np.log1p(-self.packet_loss))


@dataclass(frozen=True, slots=True)
class GaussianCrossTraffic:
    """Loss where normal cross traffic and the flow's own rate exceed the link: eq. (11) of the source.

    p(w) = P(X + mu_TCP(w) > C), X normal with mean `cross_mean_bps` and standard deviation `cross_std_bps`, both of
    the cross traffic averaged over the time in which the buffer drains.

    Source: Loiseau 2010, eq. (11).

    Raises
    ------
    ModelInputError
        If a rate or the RTT is not positive (the mean may be 0).

    Examples
    --------
    >>> loss = GaussianCrossTraffic(1e9, cross_mean_bps=580e6, cross_std_bps=108e6, rtt_s=0.012)
    >>> loss([100, 420]).round(4).tolist()
    [0.0015, 0.5]
    """

    capacity_bps: float
    cross_mean_bps: float
    cross_std_bps: float
    rtt_s: float
    packet_bytes: float = 1500

    def __post_init__(self) -> None:
        for name in ("capacity_bps", "cross_std_bps", "rtt_s", "packet_bytes"):
            positive(name, getattr(self, name))
        if not (np.isfinite(self.cross_mean_bps) and self.cross_mean_bps >= 0):
            raise ModelInputError(f"cross_mean_bps: found {self.cross_mean_bps}, accepted is a finite number from 0")

    def _margin(self, window: ArrayLike) -> FloatArray:
        """(C - mu_UDP - mu_TCP(w))/sigma."""
        own = own_rate_bps(window, self.packet_bytes, self.rtt_s)
        return np.asarray((self.capacity_bps - self.cross_mean_bps - own) / self.cross_std_bps)

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        return np.asarray(scipy.special.ndtr(-self._margin(window)))

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w))."""
        return np.asarray(scipy.special.log_ndtr(self._margin(window)))


@dataclass(frozen=True, slots=True)
class CrossTraffic:
    """Loss where cross traffic of any distribution and the flow's own rate exceed the link.

    Parameters
    ----------
    exceeds
        P(X > x) of the cross traffic X, bit/s, at the buffer's time scale: the `sf` of a distribution of
        `scipy.stats`, or `empirical(samples_bps)`.

    Source: Loiseau 2010, §4.2, after eq. (11).

    Raises
    ------
    ModelInputError
        If a rate or the RTT is not positive.

    Examples
    --------
    >>> from scipy.stats import gamma
    >>> loss = CrossTraffic(gamma(4, scale=1e6).sf, capacity_bps=10e6, rtt_s=0.1)
    >>> loss([1, 50]).round(3).tolist()
    [0.011, 0.433]
    """

    exceeds: Callable[[FloatArray], ArrayLike]
    capacity_bps: float
    rtt_s: float
    packet_bytes: float = 1500

    def __post_init__(self) -> None:
        for name in ("capacity_bps", "rtt_s", "packet_bytes"):
            positive(name, getattr(self, name))

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        left = self.capacity_bps - own_rate_bps(window, self.packet_bytes, self.rtt_s)
        return np.asarray(self.exceeds(left), dtype=np.float64)

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w))."""
        return _log_one_minus(self(window))


def empirical(samples_bps: ArrayLike) -> Callable[[FloatArray], FloatArray]:
    """P(X > x) of measured rates: the share of samples above x.

    Raises
    ------
    ModelInputError
        If there is no sample, or one is not a finite number.

    Examples
    --------
    >>> empirical([1e6, 2e6, 3e6, 4e6])(np.array([0, 2e6, 9e6])).tolist()
    [1.0, 0.5, 0.0]
    """
    ordered = np.sort(np.asarray(samples_bps, dtype=np.float64).ravel())
    if ordered.size == 0 or not np.all(np.isfinite(ordered)):
        raise ModelInputError("samples_bps: accepted are finite numbers, at least one")

    def exceeds(x: FloatArray) -> FloatArray:
        return np.asarray(1.0 - np.searchsorted(ordered, x, side="right") / ordered.size)

    return exceeds


@dataclass(frozen=True, slots=True)
class Deterministic:
    """No loss below a window of `limit` packets, certain loss from there: a constant available bandwidth.

    Source: Loiseau 2010, §4.2 (constant cross traffic).

    Raises
    ------
    ModelInputError
        If `limit` is not above 0.

    Examples
    --------
    >>> Deterministic(147)([146, 147]).tolist()
    [0.0, 1.0]
    """

    limit: float

    def __post_init__(self) -> None:
        positive("limit", self.limit)

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        return np.asarray(np.asarray(window, dtype=np.float64) >= self.limit, dtype=np.float64)

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w)): 0 or minus infinity."""
        return _log_one_minus(self(window))


@dataclass(frozen=True, slots=True)
class GivenLossFunction:
    """Any function of the window as a loss function; `as_loss` makes them."""

    function: Callable[[FloatArray], ArrayLike]

    def __call__(self, window: ArrayLike) -> FloatArray:
        """p(w)."""
        w = np.asarray(window, dtype=np.float64)
        return np.broadcast_to(np.asarray(self.function(w), dtype=np.float64), w.shape)

    def log_survival(self, window: ArrayLike) -> FloatArray:
        """log(1 - p(w))."""
        return _log_one_minus(self(window))


def as_loss(loss: LossFunction | Callable[[FloatArray], ArrayLike] | float) -> LossFunction:
    """`loss` as a loss function: one of this module's, any function of the window, or a packet loss probability.

    Raises
    ------
    ModelInputError
        If it is neither, or a number that is not in (0, 1).

    Examples
    --------
    >>> as_loss(0.02)
    Bernoulli(packet_loss=0.02)
    >>> as_loss(lambda w: w / 100)([50]).tolist()
    [0.5]
    """
    if isinstance(loss, LossFunction):
        return loss
    if callable(loss):
        return GivenLossFunction(loss)
    if isinstance(loss, (int, float, np.number)):
        return Bernoulli(float(loss))
    raise ModelInputError(f"loss: found {loss!r}, accepted are a loss function p(w) or a packet loss probability")


def own_rate_bps(window: ArrayLike, packet_bytes: float, rtt_s: float) -> FloatArray:
    """mu_TCP(w): the rate of a window's packets when they are spread over the round trip.

    Source: Loiseau 2010, §4.2.

    Examples
    --------
    >>> float(own_rate_bps(100, 1500, 0.012))
    100000000.0
    """
    return np.asarray(np.asarray(window, dtype=np.float64) * (8 * packet_bytes / rtt_s))


def _log_one_minus(p: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log1p(-p))
