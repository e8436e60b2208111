"""The growth of windows between two losses, one round trip at a time, many windows at once.

| symbol | name | unit |
| --- | --- | --- |
| W | `lost_at`: window at the last loss | packets |
| | `early`: whether that loss came before the last maximum was reached | |
| W_max | `aim(lost_at, early)`: what the control takes as its maximum now | packets |
| W_0, W_1, ... | `window`, after `begin` and after each `advance` | packets |

After a loss at W a control forgets everything but W, and for BIC and CUBIC whether the loss was early: fast convergence
then lowers W_max. So (W, early) and the time since say all about the window: the augmented state that a
Markov chain of these controls needs.

A round trip delivers the ACKs of the packets of the one before: floor(W_i) of them. The rules are those of the sources;
where a step is taken anew at each ACK, `STEPS` steps a round trip are made.

Assumptions: the window is always used; one reduction a loss event; no slow start. What a recovery or a timeout takes
is in `chains.recovery`. References: Xu, Harfoush & Rhee, INFOCOM 2004 (BIC); RFC 3649 §5 (HighSpeed); RFC 9438
(CUBIC); Kelly, CCR 33(2), 2003 (Scalable); Loiseau 2010, eq. (2) (Reno), §5.3 (the augmented state).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray, ModelInputError, positive
from parshall.scenario.properties import defaults

STEPS = 8
"""Steps a round trip in which ACKs arrive: 16 change the mean window by less than 0.1 %."""
LEAST = 2.0
"""Smallest window after a loss, packets. RFC 5681 eq. (4)"""

BoolArray = NDArray[np.bool_]


class Growth(ABC):
    """A control's window between two losses; one object follows many windows, shape (n,).

    Attributes
    ----------
    window
        W_i.
    """

    window: FloatArray
    remembers = False
    """True if `early` makes a difference."""

    @abstractmethod
    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """W_0 after a loss at these windows."""

    def begin(self, lost_at: FloatArray, early: BoolArray) -> None:
        """A loss at these windows: `window` is W_0 now."""
        del early
        self.window = self.reduced(lost_at)

    @abstractmethod
    def advance(self) -> None:
        """A round trip without a loss: `window` is the next W_i."""

    def aim(self, lost_at: FloatArray, early: BoolArray) -> FloatArray:
        """W_max; a loss below it is early. 0 for controls without one."""
        del early
        return np.zeros_like(lost_at)


class Reno(Growth):
    """Eq. (2) of Loiseau 2010."""

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Half, in whole packets."""
        return np.maximum(np.floor(lost_at / 2), 1.0)

    def advance(self) -> None:
        """One packet more."""
        self.window = self.window + 1.0


class RenoByAcks(Growth):
    """RFC 5681: half of the window at a loss (eq. (4)), and 1/w more for each ACK (eq. (3)).

    A round trip has floor(w) ACKs, so that it adds a little less than the packet of eq. (2): 0.87 at w = 8.
    """

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Half."""
        return np.maximum(lost_at / 2, LEAST)

    def advance(self) -> None:
        """Each ACK adds 1/w: w^2 grows by 2 an ACK."""
        self.window = np.sqrt(self.window**2 + 2 * np.floor(self.window))


class Scalable(Growth):
    """Kelly 2003, §3."""

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self._increase, self._decrease = parameters["increase"], parameters["decrease"]
        self._legacy = parameters["legacy_window"]

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Take an eighth."""
        kept = np.where(lost_at <= self._legacy, 0.5, self._decrease)
        return np.maximum(lost_at * kept, LEAST)

    def advance(self) -> None:
        """`increase` for each ACK."""
        acked = np.floor(self.window)
        step = np.where(self.window <= self._legacy, 1 / self.window, self._increase)
        self.window = self.window + step * acked


class HighSpeed(Growth):
    """RFC 3649 §5."""

    LOW_P = 1e-3

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self._low = parameters["low_window"]
        self._range = np.log(parameters["high_window"] / self._low)
        self._slope = self._range / np.log(parameters["high_p"] / self.LOW_P)
        self._high_decrease = parameters["high_decrease"]

    def decrease_at(self, window: FloatArray) -> FloatArray:
        """b(w)."""
        height = np.log(np.maximum(window, self._low) / self._low) / self._range
        return np.asarray(np.maximum(0.5 + (self._high_decrease - 0.5) * height, self._high_decrease))

    def increase_at(self, window: FloatArray) -> FloatArray:
        """a(w)."""
        above = np.maximum(window, self._low)
        loss = self.LOW_P * np.exp(np.log(above / self._low) / self._slope)
        b = self.decrease_at(window)
        a = np.maximum(above**2 * loss * 2 * b / (2 - b), 1.0)
        return np.where(window <= self._low, 1.0, a)

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Take b(w)."""
        return np.maximum(lost_at * (1 - self.decrease_at(lost_at)), LEAST)

    def advance(self) -> None:
        """Each ACK adds a/w: w^2 grows by 2 a an ACK."""
        acked = np.floor(self.window)
        self.window = np.sqrt(self.window**2 + 2 * self.increase_at(self.window) * acked)


class Bic(Growth):
    """Binary search for W_max, then probing beyond it."""

    remembers = True

    def __init__(self, parameters: Mapping[str, float]) -> None:
        self._s_max, self._s_min = parameters["s_max"], parameters["s_min"]
        self._decrease, self._low = parameters["decrease"], parameters["low_window"]

    def _kept(self, lost_at: FloatArray) -> FloatArray:
        return np.where(lost_at < self._low, 0.5, self._decrease)

    def aim(self, lost_at: FloatArray, early: BoolArray) -> FloatArray:
        """W, or (1 + kept)/2 of it."""
        return np.where(early, lost_at * (1 + self._kept(lost_at)) / 2, lost_at)

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Take an eighth."""
        return np.maximum(lost_at * self._kept(lost_at), LEAST)

    def begin(self, lost_at: FloatArray, early: BoolArray) -> None:
        """Search for W_max."""
        self.window = self.reduced(lost_at)
        self._w_max = self.aim(lost_at, early)
        self._step, self._target = np.ones_like(lost_at), np.zeros_like(lost_at)

    def advance(self) -> None:
        """Half of the way to W_max but S_max at most; beyond W_max, steps that double."""
        acked = np.floor(self.window) / STEPS
        for _ in range(STEPS):
            w = self.window
            small, below = w < self._low, w < self._w_max
            left = (self._w_max - w) / 2
            searched = np.minimum(w + np.minimum(left, self._s_max) * acked / w, self._w_max)
            searched = np.where(left < self._s_min, self._w_max, searched)
            probing = ~small & ~below
            target = np.where(self._target == 0, w + self._step, self._target)
            probed = w + np.minimum(self._step, self._s_max) * acked / w
            reached = probing & (self._step < self._s_max) & (probed >= target)
            self.window = np.where(small, w + acked / w, np.where(below, searched, probed))
            self._step = np.where(reached, 2 * self._step, self._step)
            self._target = np.where(reached, probed + self._step, np.where(probing, target, 0.0))


class Cubic(Growth):
    """RFC 9438; needs the round-trip time, since it grows with time."""

    remembers = True

    def __init__(self, rtt_s: float, parameters: Mapping[str, float]) -> None:
        self._rtt, self._c, self._beta = float(positive("rtt_s", rtt_s)), parameters["c"], parameters["beta"]
        self._friendly = 3 * (1 - self._beta) / (1 + self._beta)

    def aim(self, lost_at: FloatArray, early: BoolArray) -> FloatArray:
        """W, or (1 + beta)/2 of it (§4.7)."""
        return np.where(early, lost_at * (1 + self._beta) / 2, lost_at)

    def reduced(self, lost_at: FloatArray) -> FloatArray:
        """Keep beta of W (§4.6)."""
        return np.maximum(lost_at * self._beta, LEAST)

    def begin(self, lost_at: FloatArray, early: BoolArray) -> None:
        """Eq. (2) for K."""
        self.window = self.reduced(lost_at)
        self._prior = lost_at
        self._w_max = np.maximum(self.aim(lost_at, early), self.window)
        self._k = np.cbrt((self._w_max - self.window) / self._c)
        self._estimate = self.window.copy()
        self._time = 0.0

    def _cubic(self, time: float) -> FloatArray:
        return np.asarray(self._c * (time - self._k) ** 3 + self._w_max)  # eq. (1)

    def advance(self) -> None:
        """Towards W_cubic(t + RTT), and not below what Reno would have (§4.3, 4.4)."""
        acked = np.floor(self.window) / STEPS
        for step in range(STEPS):
            now = self._time + (step + 0.5) * self._rtt / STEPS
            w = self.window
            target = np.clip(self._cubic(now + self._rtt), w, 1.5 * w)
            alpha = np.where(self._estimate < self._prior, self._friendly, 1.0)
            self._estimate = self._estimate + alpha * acked / w
            friendly = self._cubic(now) < self._estimate
            self.window = np.where(friendly, np.maximum(self._estimate, w), w + (target - w) * acked / w)
        self._time += self._rtt


CONTROLS = ("reno", "bic", "highspeed", "cubic", "scalable")


def growth(control: str, rtt_s: float | None = None, *, by_acks: bool = False) -> Growth:
    """The growth of a control with its default parameters; CUBIC's needs the round-trip time.

    With `by_acks` Reno's is that of RFC 5681 and not that of eq. (2); the others always follow the ACKs.

    Raises
    ------
    ModelInputError
        If there is no such control here, or CUBIC is without a round-trip time.

    Examples
    --------
    >>> scalable = growth("scalable")
    >>> scalable.begin(np.array([200.0]), np.array([False]))
    >>> scalable.advance()
    >>> scalable.window.tolist()
    [176.75]
    """
    if control == "cubic":
        if rtt_s is None:
            raise ModelInputError("rtt_s: found none, accepted for cubic are seconds above 0")
        return Cubic(rtt_s, defaults(control))
    if control == "reno":
        return RenoByAcks() if by_acks else Reno()
    made: dict[str, type[Bic | HighSpeed | Scalable]] = {"bic": Bic, "highspeed": HighSpeed, "scalable": Scalable}
    if control not in made:
        raise ModelInputError(f'control: found "{control}", accepted are {", ".join(CONTROLS)}')
    return made[control](defaults(control))
