"""What a throughput model is asked, and what it answers.

A model is a formula with a range in which its derivation holds. `ThroughputModel.answer` gives a number
inside that range and a reason outside it: a number that means nothing is never returned.

Formulas of windows give packets *sent*: a window a round-trip time, of which the share p is lost. Goodput counts
packets *delivered*, (1 - p) times as many (`ThroughputModel.delivered`). To the order to which the square-root law
holds both are the same; they differ by 2 % at p = 0.02, where formulas without timeouts end, and by 10 % at p = 0.1.
Where p counts loss events, one may lose several packets or, where packets are marked, none: `lost` is then the share.

| symbol | field | unit |
| --- | --- | --- |
| p | `loss` | probability that a packet is lost (loss events a packet, where the source counts those) |
| | `lost` | share of the packets that are lost, if it is not p |
| RTT | `rtt_s` | s, queueing included |
| T_0 | `rto_s` | s, retransmission timeout before back-off |
| b | `packets_per_ack` | packets whose ACKs grow the window by one step |
| W_max | `window_limit_packets` | packets, the receiver's window |
| q | `queueing_delay_s` | s, RTT above the propagation delay |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.models.entry import Entry
from parshall.analysis.models.inputs import FloatArray, ModelInputError, limit, positive, probability_or_zero
from parshall.scenario.properties import defaults


@dataclass(frozen=True, slots=True)
class Conditions:
    """What one or many flows experience.

    Parameters
    ----------
    loss
        Probability that a packet is lost; scalar or one a flow. 0 means that nothing is lost.
    rtt_s
        Mean round-trip time, s; scalar or one a flow.
    rto_s
        Retransmission timeout, s; scalar or one a flow.
    packets_per_ack
        1, or 2 for delayed ACKs whose sender grows its window by one step an ACK.
    window_limit_packets
        The receiver's window; infinity if there is no limit.
    independent_losses
        Whether packets are lost independently of each other and of the window (a lossy medium). `None`:
        unknown.
    queueing_delay_s
        Part of `rtt_s` that is spent in queues; `None`: unknown. Delay-based controls only.
    parameters
        Of the congestion control, by the names of its catalog entry (`{"c": 0.4}`); models take the entry's default of
        one that is not here.
    lost
        Share of the packets that are lost, where `loss` counts loss events; `None`: `loss`.

    Raises
    ------
    ModelInputError
        If a value is out of bounds.
    """

    loss: FloatArray
    rtt_s: FloatArray
    rto_s: FloatArray
    packets_per_ack: float = 1.0
    window_limit_packets: float = inf
    independent_losses: bool | None = None
    queueing_delay_s: FloatArray | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)
    lost: FloatArray | None = None

    @classmethod
    def of(
        cls,
        *,
        loss: ArrayLike,
        rtt_s: ArrayLike,
        rto_s: ArrayLike | None = None,
        packets_per_ack: float = 1.0,
        window_limit_packets: float = inf,
        independent_losses: bool | None = None,
        queueing_delay_s: ArrayLike | None = None,
        parameters: Mapping[str, object] | None = None,
        lost: ArrayLike | None = None,
    ) -> Conditions:
        """Check and build conditions; `rto_s` defaults to max(0.2 s, RTT)."""
        p = probability_or_zero("loss", loss)
        rtt = positive("rtt_s", rtt_s)
        rto = np.maximum(0.2, rtt) if rto_s is None else positive("rto_s", rto_s)
        positive("packets_per_ack", packets_per_ack)
        limit("window_limit_packets", window_limit_packets)
        queueing = None if queueing_delay_s is None else np.asarray(queueing_delay_s, dtype=np.float64)
        return cls(
            p,
            rtt,
            rto,
            packets_per_ack,
            window_limit_packets,
            independent_losses,
            queueing,
            dict(parameters or {}),
            None if lost is None else probability_or_zero("lost", lost),
        )

    def number(self, name: str) -> float:
        """Return the congestion control's parameter `name`, a number."""
        value = self.parameters.get(name)
        if isinstance(value, (int, float)):
            return float(value)
        raise ModelInputError(f"{name}: found {value!r}, accepted is a number")

    def flag(self, name: str) -> bool:
        """Return the congestion control's parameter `name`, which is or is not."""
        value = self.parameters.get(name)
        if isinstance(value, bool):
            return value
        raise ModelInputError(f"{name}: found {value!r}, accepted is True or False")

    def of_control(self, control: str) -> Conditions:
        """These conditions, with the control's defaults where `parameters` say nothing."""
        known = defaults(control)
        complete = known.keys() <= self.parameters.keys()
        return self if complete else replace(self, parameters={**known, **self.parameters})


@dataclass(frozen=True, slots=True)
class Answer:
    """A model's answer: a value in its range, a reason out of it.

    Parameters
    ----------
    value
        Packets delivered a second, a flow; `None` out of range.
    window_packets
        Mean window (packets sent a second, times RTT); `None` out of range.
    in_range
        Whether the conditions are within the model's validity.
    reason
        Why not; `None` in range.
    """

    value: FloatArray | None
    window_packets: FloatArray | None
    in_range: bool
    reason: str | None

    @classmethod
    def out_of_range(cls, reason: str) -> Answer:
        """No number, and why."""
        return cls(None, None, False, reason)


Rate = Callable[[Conditions], FloatArray]
Check = Callable[[Conditions], "str | None"]


@dataclass(frozen=True, slots=True)
class ThroughputModel:
    """A steady-state throughput formula.

    Parameters
    ----------
    entry
        Its row of the catalog; `validity` says in words what `check` tests.
    rate
        Packets sent a second, those that are lost included: the formula, without regard to its range; the loss is in
        (0, 1) if `needs_loss`.
    check
        Why the conditions are out of its range, or `None`.
    limits_window
        Whether the formula itself knows the receiver's window.
    needs_loss
        Whether losses are what the rate follows from.
    delivery_rate
        Packets delivered a second, where the source has a formula of its own for them; else those sent less the share
        that is lost.
    """

    entry: Entry
    rate: Rate
    check: Check
    limits_window: bool = False
    needs_loss: bool = True
    delivery_rate: Rate | None = None

    @property
    def name(self) -> str:
        """What users write."""
        return self.entry.name

    @property
    def control(self) -> str:
        """The congestion control whose formula it is."""
        return self.entry.controls[0]

    def sent(self, conditions: Conditions, most_per_s: float = inf) -> FloatArray:
        """Packets sent a second, without regard to the range; at most one window limit a round-trip time.

        Infinite where nothing is lost and nothing limits.

        Parameters
        ----------
        most_per_s
            What the flow can send at most, e.g. by its access link.
        """
        return np.asarray(np.minimum(self._evaluated(self.rate, conditions), _limit(conditions, most_per_s)))

    def delivered(self, conditions: Conditions, most_per_s: float = inf) -> FloatArray:
        """Packets delivered a second: those sent less the share that is lost, or the source's own formula for them.

        Parameters
        ----------
        most_per_s
            As for `sent`.
        """
        arrive = 1 - (conditions.loss if conditions.lost is None else conditions.lost)
        if self.delivery_rate is None:
            return np.asarray(arrive * self.sent(conditions, most_per_s))
        rate = self._evaluated(self.delivery_rate, conditions)
        return np.asarray(np.minimum(rate, arrive * _limit(conditions, most_per_s)))

    def _evaluated(self, rate: Rate, conditions: Conditions) -> FloatArray:
        """A formula; infinite where nothing is lost, of which it knows nothing."""
        conditions = conditions.of_control(self.control)
        lossless = conditions.loss == 0
        if not self.needs_loss or not np.any(lossless):
            return rate(conditions)
        anything = replace(conditions, loss=np.where(lossless, 0.5, conditions.loss))
        return np.asarray(np.where(lossless, inf, rate(anything)))

    def answer(self, conditions: Conditions) -> Answer:
        """Give the rate of delivery and the window under `conditions`, or why there is none.

        Examples
        --------
        >>> from parshall.analysis.models.square_root import SQUARE_ROOT
        >>> answer = SQUARE_ROOT.answer(Conditions.of(loss=0.015, rtt_s=0.1))
        >>> round(float(answer.window_packets)), round(float(answer.value), 1), answer.in_range
        (10, 98.5, True)
        >>> SQUARE_ROOT.answer(Conditions.of(loss=0.3, rtt_s=0.1)).reason
        'loss 0.3 is above 0.02: timeouts, which the formula leaves out, are no longer rare'
        """
        reason = self.reason(conditions)
        if reason is not None:
            return Answer.out_of_range(reason)
        window = self.sent(conditions) * conditions.rtt_s
        return Answer(self.delivered(conditions), window, True, None)

    def reason(self, conditions: Conditions) -> str | None:
        """Say why `conditions` are out of the model's range; `None` if they are not."""
        conditions = conditions.of_control(self.control)
        if self.needs_loss and np.any(conditions.loss == 0):
            if np.isinf(conditions.window_limit_packets):
                return "nothing is lost and no window limits: the formula has no finite value"
            if np.all(conditions.loss == 0):
                return None
            lossy = conditions.loss > 0
            conditions = replace(conditions, loss=np.where(lossy, conditions.loss, conditions.loss[lossy].max()))
        if reason := self.check(conditions):
            return reason
        if not self.limits_window:
            rate = self.rate(conditions) * conditions.rtt_s
            if np.any(rate > conditions.window_limit_packets):
                limit_ = f"{conditions.window_limit_packets:g} packets"
                return f"the receiver's window of {limit_} limits, which the formula leaves out"
        return None


def _limit(conditions: Conditions, most_per_s: float) -> FloatArray:
    """The packets a second that the receiver's window and the sender allow."""
    return np.asarray(np.minimum(conditions.window_limit_packets / conditions.rtt_s, most_per_s))


def loss_between(low: float, high: float, below: str, above: str) -> Check:
    """Make a check that the loss is in [`low`, `high`]."""

    def check(conditions: Conditions) -> str | None:
        p_low, p_high = float(np.min(conditions.loss)), float(np.max(conditions.loss))
        if p_high > high:
            return f"loss {p_high:.3g} is above {high:g}: {above}"
        if p_low < low:
            return f"loss {p_low:.3g} is below {low:g}: {below}"
        return None

    return check
