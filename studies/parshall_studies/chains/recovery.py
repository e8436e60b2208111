"""The cost of a loss beyond the smaller window: round trips of recovery, and the wait for a timeout.

The chain of eq. (2) of Loiseau 2010 halves in the next round trip and goes on. A sender needs a round trip to find the
loss, in which the window still grows, one or more to repair it, in which the window does not grow, and if a
retransmission is lost too, the retransmission timer. A `Recovery` says so for `chains.loss_epochs`: what may follow a
loss (`Repair`), how probable it is, how long it lasts, how much is sent meanwhile, and which window comes after it.

| symbol | name | unit |
| --- | --- | --- |
| p | `loss`: packet loss probability | |
| w, w_0 | window when the loss is found, window after it (of `chains.growth`) | packets |
| u | `found_at`: where in its round trip a loss is found, from 0 to 1 | RTTs |
| D | `Repair.rtts`: from then until the window grows again | RTTs |
| T_0 | `timeout_rtts`: the first retransmission timeout | RTTs |

`IndependentLosses` derives all of it for SACK (RFC 6675, RFC 6937) and RACK (RFC 8985) from p, for packets that leave
in bursts, one a round trip, as ACKs clock them on a path without a queue:

- A loss is found when the ACKs of its burst arrive, a round trip later (u = 1); the burst's other losses belong to
  the same event. The burst that is sent meanwhile has (w + w_0)/2 packets on average: w up to the loss, w_0 after it.
- Packets sent before the loss was found can be lost too, w/2 on average. Each such loss takes another round trip of the
  same recovery: D = 1 + 1 - (1-p)^(w/2).
- Of the packets sent after it was found, w_0/2 on average less a retransmission and the two of limited transmit
  (RFC 3042), a loss begins the next event at the end of the recovery (`at_the_end`).
- SACK finds no lost retransmission: it waits for the timer. Some 3w/2 packets belong to a recovery, of which one is
  lost for certain and the others with p; each is sent again and lost again with p. So a recovery ends in a timeout with
  probability 1 - (1-p) (1-p^2)^(3w/2 - 1). RACK sends again, a round trip later.
- The timer backs off: T = T_0 (1 + p + 2p^2 + 4p^3 + 8p^4 + 16p^5 + 32p^6)/(1-p) on average (Padhye et al., §2.2).
  While it waits the flow sends w_0 - 1 packets a round trip: the lost retransmission counts as under way. Then the
  window is reduced once more, and slow start reaches it in 1 + log2 of it round trips.

`measured_repairs` takes the same from a record instead, where losses are not independent.

Range: windows of some packets, at which three duplicate ACKs come. Deviation: durations count with their means.

References: J. Padhye, V. Firoiu, D. Towsley, J. Kurose, SIGCOMM 1998, §2.2; RFC 6675; RFC 6937; RFC 8985; RFC 3042;
Loiseau 2010, §2, §4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall_studies.chains.measured_loss import Measured, measured

Reduce = Callable[[FloatArray], FloatArray]
"""W_0 after a loss at these windows."""

FLOORED = 0.5
"""Difference between a window and its whole packets: between 0 and 1, 1/2 on average."""


@dataclass(frozen=True, slots=True)
class Repair:
    """One of the things that may follow a loss; arrays of the shape of the windows.

    Attributes
    ----------
    share
        How probable it is.
    rtts, packets
        How long it lasts from when the loss is found, and what is sent meanwhile.
    lost_at
        The window whose reduction the flow goes on with.
    """

    share: FloatArray
    rtts: FloatArray
    packets: FloatArray
    lost_at: FloatArray


@runtime_checkable
class Recovery(Protocol):
    """The cost of a loss.

    Attributes
    ----------
    found_at
        u.
    by_packets
        Whether p(w) is of the packets sent in a round trip; else of the window at its beginning, as it is measured.
    """

    @property
    def found_at(self) -> float:
        """u, RTTs."""
        ...

    @property
    def by_packets(self) -> bool:
        """True if p(w) is of packets sent."""
        ...

    def at_the_end(self, reduced: FloatArray) -> FloatArray:
        """Packets sent in a recovery whose loss begins the next event at its end."""
        ...

    def repairs(self, window: FloatArray, reduce: Reduce) -> Sequence[Repair]:
        """Return the events that may follow a loss which is found at these windows; the shares add up to 1."""
        ...


@dataclass(frozen=True)
class IndependentLosses:
    """Recovery and timeouts where each packet is lost with the same probability.

    Parameters
    ----------
    loss
        p, between 0 and 1.
    timeout_rtts
        T_0, RTTs; positive. None: no retransmission has to wait for the timer, as with RACK.

    Raises
    ------
    ModelInputError
        If an argument is out of bounds.

    Examples
    --------
    >>> fast, timeout = IndependentLosses(0.02, 16.7).repairs(np.array([12.0]), lambda w: w / 2)
    >>> timeout.share.round(3).tolist(), fast.rtts.round(2).tolist(), timeout.rtts.round(1).tolist()
    ([0.027], [1.11], [20.0])
    """

    loss: float
    timeout_rtts: float | None = None

    found_at = 1.0
    by_packets = True

    def __post_init__(self) -> None:
        if not 0 < self.loss < 1:
            raise ModelInputError(f"loss: found {self.loss}, accepted is a number between 0 and 1 (both excluded)")
        if self.timeout_rtts is not None and not (np.isfinite(self.timeout_rtts) and self.timeout_rtts > 0):
            raise ModelInputError(f"timeout_rtts: found {self.timeout_rtts}, accepted is a finite number above 0")

    def at_the_end(self, reduced: FloatArray) -> FloatArray:
        """w_0/2 - 3, at least 0."""
        return np.maximum(reduced / 2 - 3, 0.0)

    def lost_again(self, window: FloatArray) -> FloatArray:
        """The probability that a recovery loses a retransmission.

        Examples
        --------
        >>> IndependentLosses(0.02).lost_again(np.array([8.0])).round(4).tolist()
        [0.0243]
        """
        p = self.loss
        return np.asarray(1 - (1 - p) * (1 - p**2) ** np.maximum(1.5 * window - 1, 0.0))

    def repairs(self, window: FloatArray, reduce: Reduce) -> Sequence[Repair]:
        """Recovery, and with SACK the timeout."""
        p, after, again = self.loss, reduce(window), self.lost_again(window)
        first = (window + after) / 2 - FLOORED
        rtts = 2 - (1 - p) ** (window / 2)
        rtts = rtts + again if self.timeout_rtts is None else rtts
        fast = Repair(1 - again, rtts, first + (rtts - 1) * (after - FLOORED), window)
        if self.timeout_rtts is None:
            return (Repair(np.ones_like(window), fast.rtts, fast.packets, window),)
        wait = self.timeout_rtts * backed_off(p)
        slow = reduce(after)
        packets = first + (wait - 1) * np.maximum(after - 1 - FLOORED, 0.0) + slow - 1
        return fast, Repair(again, wait + 1 + np.log2(np.maximum(slow, 1.0)), packets, after)


def backed_off(loss: float) -> float:
    """The mean time in a sequence of timeouts, in units of the first: the timer doubles up to 64 times its first value.

    Source: Padhye et al. 1998, §2.2.

    Examples
    --------
    >>> round(backed_off(0.02), 4)
    1.0417
    """
    p = loss
    return float(np.polynomial.polynomial.polyval(p, [1, 1, 2, 4, 8, 16, 32])) / (1 - p)


@dataclass(frozen=True)
class MeasuredClass:
    """Repairs of a kind in a record: their share by window, and means.

    Attributes
    ----------
    share
        By the window when the loss is found.
    rtts
        Mean duration, RTTs.
    sent
        Packets sent a round trip, over the window when the loss is found.
    kept
        Window afterwards over what a single reduction leaves.
    """

    share: Measured
    rtts: float
    sent: float
    kept: float


@dataclass(frozen=True)
class MeasuredRepairs:
    """Recovery and timeouts of a record; `measured_repairs` makes it."""

    found_at: float
    classes: tuple[MeasuredClass, ...]

    by_packets = False

    def at_the_end(self, reduced: FloatArray) -> FloatArray:
        """None: p(w) is measured after the recovery."""
        return np.zeros_like(reduced)

    def repairs(self, window: FloatArray, reduce: Reduce) -> Sequence[Repair]:
        """The classes; the first one has what the shares of the others leave."""
        del reduce
        others = [each.share(window) for each in self.classes[1:]]
        shares = [1 - np.sum(others, axis=0) if others else np.ones_like(window), *others]
        return [
            Repair(np.maximum(share, 0.0), np.full_like(window, of.rtts), of.sent * of.rtts * window, of.kept * window)
            for share, of in zip(shares, self.classes, strict=True)
        ]


LEAST_EVENTS = 40
"""Loss events in a class of windows in which shares are told."""


def measured_repairs(  # noqa: PLR0917 - what a record has of each loss event
    windows: ArrayLike,
    kinds: ArrayLike,
    found_at: ArrayLike,
    rtts: ArrayLike,
    packets: ArrayLike,
    after: ArrayLike,
) -> MeasuredRepairs:
    """The repairs of a record's loss events.

    Parameters
    ----------
    windows
        Window when each loss was found, packets; shape (n,).
    kinds
        0 for the repairs that reduce the window once; 1, 2, ... for others (several reductions, timeouts). Shape (n,).
    found_at
        When in its round trip it was found, RTTs; shape (n,).
    rtts, packets
        How long it took from then until the window grew again, and what was sent meanwhile; shape (n,).
    after
        The window then, packets; shape (n,).

    Raises
    ------
    ModelInputError
        If shapes differ, or no repair is of kind 0.

    Examples
    --------
    >>> found = measured_repairs([100, 80], [0, 2], [0.5, 0.5], [1, 20], [75, 400], [50, 20])
    >>> [(each.rtts, each.sent, each.kept) for each in found.classes]
    [(1.0, 0.75, 1.0), (20.0, 0.25, 0.5)]
    """
    w, u, d, sent, then = (np.asarray(each, dtype=np.float64) for each in (windows, found_at, rtts, packets, after))
    kind: NDArray[np.int64] = np.asarray(kinds, dtype=np.int64)
    if not w.shape == kind.shape == u.shape == d.shape == sent.shape == then.shape or not np.any(kind == 0):
        raise ModelInputError("kinds: accepted are as many as windows, among them 0: repairs with one reduction")
    single = float(then[kind == 0].sum() / w[kind == 0].sum())
    repairs = []
    for each in np.unique(kind):
        here = kind == each
        share = measured(w, here, least=LEAST_EVENTS)
        kept = float(then[here].sum() / w[here].sum()) / single
        repairs.append(MeasuredClass(share, float(d[here].mean()), float(sent[here].sum() / (w * d)[here].sum()), kept))
    return MeasuredRepairs(float(u.mean()), tuple(repairs))
