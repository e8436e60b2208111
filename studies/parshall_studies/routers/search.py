"""Thresholds of a RIO router that keep an agreement: the feasible region, and the best point in it.

The rule is that of Malouch & Liu, §5: in-packets meet tail drop (p_in^max = 0, min_in = max_in), since lowering
p_in^max helps every constraint; p_out^max is as low as the constraints let it be, since it costs
utilisation; max_in is what the largest delay allows.

References: N. Malouch, Z. Liu, Performance evaluation of RIO routers, INRIA RR-4469, 2002, §5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.foundations.errors import InputError
from parshall_studies.diffserv import FixedPoint, Router, Sessions, fixed_point
from parshall_studies.routers.agreement import Agreement

LEAST_OUT = 1e-4
"""The smallest p_out^max that is looked at; below, all out-packets are queued until the buffer is full."""

_SCAN = 121
_COARSE = 31
_HALVINGS = 16


@dataclass(frozen=True)
class DesignProblem:
    """The givens of a search: the senders, the link, the agreement, and the largest queue.

    `limit_packets` is max_in = max_out, unless the agreement bounds the delay of every packet; min_out is
    `out_min_share` of it.
    """

    sessions: Sessions
    capacity_per_s: float
    agreement: Agreement
    limit_packets: float = 100.0
    out_min_share: float = 0.2

    @property
    def queue_packets(self) -> float:
        """max_in: the last packet that is let in waits for max_in - 1 others and itself."""
        if self.agreement.delay_s is None:
            return self.limit_packets
        return float(floor(self.agreement.delay_s * self.capacity_per_s * (1 + 1e-12)))

    def router(self, out_probability: FloatArray | float, in_probability: FloatArray | float = 0.0) -> Router:
        """The router with some maximum drop probabilities; without one for *in*, tail drop."""
        most = self.queue_packets
        if most < 2:
            raise InputError(
                f"delay_s: found {self.agreement.delay_s:g}, in which the link sends {most:g} packets; accepted is the "
                "time of 2 packets and more"
            )
        least = round(self.out_min_share * most)
        tail = np.ndim(in_probability) == 0 and in_probability == 0.0
        return Router(self.capacity_per_s, most if tail else least, most, in_probability, least, most, out_probability)

    def solve(self, router: Router) -> FixedPoint:
        """Its steady state."""
        return fixed_point(self.sessions, router)


@dataclass(frozen=True)
class FeasibleRegion:
    """The (p_in^max, p_out^max) that keep the agreement; fields of shape (in, out)."""

    in_probability: FloatArray
    out_probability: FloatArray
    margins: dict[str, FloatArray]
    """Of each constraint: at most 1 where it is kept."""
    kept: FloatArray
    utilisation: FloatArray


def region(problem: DesignProblem, chosen: float | None = None, points: int = 25) -> FeasibleRegion:
    """Look at a grid of maximum drop probabilities, min_in = min_out as in the source's figures 10 to 12.

    The p_out^max that was `chosen`, if any, is one of the grid: the map must say of it what the search has found.
    """
    inside = np.linspace(0.0, 1.0, points) ** 2
    outside = np.geomspace(min(1e-3, chosen or 1.0), 1.0, points)
    outside = np.unique([*outside, chosen or 1.0])
    router = replace(
        problem.router(outside, inside[:, None]), in_min=float(round(problem.out_min_share * problem.queue_packets))
    )
    states = problem.solve(router)
    agreement = problem.agreement
    return FeasibleRegion(
        inside,
        outside,
        agreement.margins(problem.sessions, states),
        agreement.kept(problem.sessions, states),
        states.utilisation[..., 0],
    )


@dataclass(frozen=True)
class Choice:
    """A p_out^max and the steady state there."""

    out_probability: float
    state: FixedPoint


def feasible(problem: DesignProblem) -> bool:
    """True if some p_out^max keeps the agreement, to the grain of a coarse scan."""
    scan = np.geomspace(LEAST_OUT, 1.0, _COARSE)
    return bool(problem.agreement.kept(problem.sessions, problem.solve(problem.router(scan))).any())


def lowest(problem: DesignProblem) -> Choice | None:
    """The lowest p_out^max that keeps the agreement, with tail drop for *in*; None if there is none."""
    scan = np.geomspace(LEAST_OUT, 1.0, _SCAN)
    kept = problem.agreement.kept(problem.sessions, problem.solve(problem.router(scan)))
    if not kept.any():
        return None
    first = int(np.argmax(kept))
    good = float(scan[first])
    if first > 0:
        bad = float(scan[first - 1])
        for _ in range(_HALVINGS):
            middle = (bad * good) ** 0.5
            if problem.agreement.kept(problem.sessions, problem.solve(problem.router(middle))):
                good = middle
            else:
                bad = middle
    return Choice(good, problem.solve(problem.router(good)))


def best_margins(problem: DesignProblem) -> dict[str, tuple[float, float]]:
    """The least margin of each constraint over p_out^max, and the p_out^max of it."""
    scan = np.geomspace(LEAST_OUT, 1.0, _SCAN)
    margins = problem.agreement.margins(problem.sessions, problem.solve(problem.router(scan)))
    return {name: (float(margin.min()), float(scan[int(np.argmin(margin))])) for name, margin in margins.items()}
