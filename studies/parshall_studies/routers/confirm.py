"""The simulation that confirms the agreement for a router."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import Outcome
from parshall.design import judging
from parshall_studies.routers.agreement import LABELS
from parshall_studies.routers.search import DesignProblem
from parshall_studies.routers.simulated import Setting, Simulated


@dataclass(frozen=True)
class Kept:
    """A constraint as simulated: the value, what is allowed, and the verdict (`parshall.design.judging`)."""

    constraint: str
    value: Interval
    bound: float
    verdict: Outcome

    @property
    def label(self) -> str:
        """Return the name that users read."""
        return LABELS[self.constraint]


@dataclass(frozen=True)
class Confirmation:
    """A router, simulated."""

    setting: Setting
    simulated: Simulated
    kept: tuple[Kept, ...]

    @property
    def verdict(self) -> Outcome:
        """That on all constraints."""
        return judging.of_all(each.verdict for each in self.kept)

    @property
    def margin(self) -> float:
        """The largest of the constraints' values over their bounds: at most 1 where all are kept."""
        return max(each.value.mean / each.bound for each in self.kept)


def confirm(problem: DesignProblem, setting: Setting, seen: Simulated) -> Confirmation:
    """Judge each constraint of the problem's agreement by what was simulated."""
    agreement, kept = problem.agreement, []
    if agreement.loss_in is not None and seen.loss_in is not None:
        kept.append(_judged("loss_in", seen.loss_in, agreement.loss_in))
    if agreement.mean_delay_s is not None:
        queue, capacity = seen.queue_packets, problem.capacity_per_s
        low, high = (_wait(end, capacity) for end in (queue.low, queue.high))
        delay = Interval((queue.mean + 1) / capacity, low, high, queue.n)
        kept.append(_judged("mean_delay_s", delay, agreement.mean_delay_s))
    if agreement.delay_s is not None:
        most = problem.queue_packets / problem.capacity_per_s  # no packet is let in behind more
        kept.append(_judged("delay_s", Interval(most, most, most, seen.queue_packets.n), agreement.delay_s))
    if agreement.reservations:
        reserved = np.broadcast_to(problem.sessions.reservations_per_s, seen.session_per_s.shape[1:])
        worst = int(np.argmin(seen.session_per_s.mean(axis=0) / reserved))
        shortfall = mean_interval(reserved[worst] / seen.session_per_s[:, worst])
        kept.append(_judged("reservations", shortfall, 1.0))
    return Confirmation(setting, seen, tuple(kept))


def _wait(queue_packets: float | None, capacity_per_s: float) -> float | None:
    return None if queue_packets is None else (queue_packets + 1) / capacity_per_s


def _judged(name: str, value: Interval, bound: float) -> Kept:
    return Kept(name, value, bound, judging.claim(LABELS[name], value, bound).outcome)
