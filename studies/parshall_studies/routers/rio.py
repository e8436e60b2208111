"""Dimensioning a RIO router for an agreement: what to set, what it costs, or what else would do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from parshall.analysis.models.inputs import positive
from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.foundations.has_figures import HasFigures
from parshall_studies.diffserv import Router, Sessions
from parshall_studies.routers.agreement import LABELS, Agreement
from parshall_studies.routers.search import (
    Choice,
    DesignProblem,
    FeasibleRegion,
    best_margins,
    feasible,
    lowest,
    region,
)

_LARGEST_FACTOR = 64.0


@dataclass(frozen=True)
class Cost:
    """The cost of a constraint: the best point without it beside the best one with all."""

    constraint: str
    out_probability: float | None
    utilisation: float | None
    """Without it; None if the others cannot be kept either."""
    lost_utilisation: float | None


@dataclass(frozen=True)
class Conflict:
    """The reason why there is no feasible point."""

    impossible: tuple[str, ...]
    """Constraints that no p_out^max keeps, each alone."""
    best: dict[str, float]
    """The least margin of each constraint: what it is over what is asked; above 1 it is impossible."""
    capacity_per_s: float | None
    """The least capacity that would do; None if 64 times the given one would not."""
    limit_packets: float | None
    """A queue limit that would do at the given capacity; None if none does or the delay fixes it."""
    bounds: dict[str, float | None]
    """The bound that could be promised instead, of each constraint with the others unchanged; None if there is none."""


@dataclass(frozen=True)
class RioDesign(HasFigures, page="parshall_studies.routers.page:page"):
    """The answer; `choice` or `conflict` is None."""

    problem: DesignProblem
    region: FeasibleRegion
    choice: Choice | None
    costs: tuple[Cost, ...]
    conflict: Conflict | None

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the answer in words, and what each constraint costs."""
        costs = ([LABELS[each.constraint], each.out_probability, each.utilisation] for each in self.costs)
        shown = [notebook.table(("without", "p_out^max", "used capacity"), costs)] if self.costs else []
        return notebook.fragment("RIO router", "", notebook.sentences(sentences(self)), *shown)

    @property
    def router(self) -> Router | None:
        """The recommended router."""
        return None if self.choice is None else self.problem.router(self.choice.out_probability)


def rio(
    sessions: Sessions,
    *,
    capacity_per_s: float,
    agreement: Agreement,
    limit_packets: float = 100.0,
    out_min_share: float = 0.2,
) -> RioDesign:
    """Choose the thresholds of a RIO router.

    Parameters
    ----------
    sessions
        TCP sessions with their token buckets.
    capacity_per_s
        Of the link, packets/s.
    agreement
        What is to be kept.
    limit_packets
        max_in = max_out, the largest queue; an agreement on the delay of every packet overrides it.
    out_min_share
        min_out over max_out.

    Source: Malouch & Liu 2002, §5.

    Raises
    ------
    InputError
        If nothing is asked for, a number is out of its bounds, or the delay is below the time of 2 packets.

    Examples
    --------
    The source's example, §5.3: a loss of *in* packets of 0.006 needs a p_out^max of 2.49 %:

    >>> import numpy as np
    >>> sessions = Sessions((100 + 2 * np.arange(100)) / 1000, reserved_per_s=40, burst_packets=20)
    >>> answer = rio(sessions, capacity_per_s=6000, agreement=Agreement(loss_in=0.006))
    >>> round(answer.choice.out_probability, 4)
    0.0246
    """
    positive("capacity_per_s", capacity_per_s)
    if not agreement.asked:
        raise InputError("agreement: found no constraint, accepted are loss_in, delay_s, mean_delay_s, reservations")
    if not 0 <= out_min_share <= 1:
        raise InputError(f"out_min_share: found {out_min_share:g}, accepted is a number from 0 to 1")
    if not 2 <= limit_packets <= 1e6:
        raise InputError(f"limit_packets: found {limit_packets:g}, accepted is from 2 to 1,000,000 packets")
    if agreement.reservations and sessions.reserved_per_s is None:
        raise InputError("agreement: found reservations to be reached, but the sessions have none")
    problem = DesignProblem(sessions, float(capacity_per_s), agreement, float(limit_packets), out_min_share)
    choice = lowest(problem)
    return RioDesign(
        problem,
        region(problem, None if choice is None else choice.out_probability),
        choice,
        () if choice is None else tuple(_cost(problem, choice, name) for name in agreement.asked),
        _conflict(problem) if choice is None else None,
    )


def _cost(problem: DesignProblem, choice: Choice, name: str) -> Cost:
    without = lowest(replace(problem, agreement=problem.agreement.without(name)))
    if without is None:  # the delay of every packet shortens the queue, and with it what the others can have
        return Cost(name, None, None, None)
    utilisation = float(without.state.utilisation[0])
    return Cost(name, without.out_probability, utilisation, utilisation - float(choice.state.utilisation[0]))


def _conflict(problem: DesignProblem) -> Conflict:
    best = {name: least for name, (least, _) in best_margins(problem).items()}
    return Conflict(
        tuple(name for name, least in best.items() if least > 1),
        best,
        _least_factor(lambda f: replace(problem, capacity_per_s=f * problem.capacity_per_s), problem.capacity_per_s),
        None if problem.agreement.delay_s is not None else _other_limit(problem),
        {name: _bound(problem, name) for name in problem.agreement.asked},
    )


def _least_factor(changed: Callable[[float], DesignProblem], unit: float) -> float | None:
    """The least factor by which something has to grow, times its unit; to 0.1 %."""
    low, high = 1.0, 2.0
    while not feasible(changed(high)):
        low, high = high, 2.0 * high
        if high > _LARGEST_FACTOR:
            return None
    while high / low > 1.001:
        middle = (low * high) ** 0.5
        if feasible(changed(middle)):
            high = middle
        else:
            low = middle
    return high * unit


def _other_limit(problem: DesignProblem) -> float | None:
    """The queue limit nearest to the given one, by factors, that would do."""
    for factor in np.geomspace(1.2, 32.0, 15):
        for limit in (problem.limit_packets * factor, problem.limit_packets / factor):
            rounded = float(round(limit))
            if 5 <= rounded <= 1e5 and feasible(replace(problem, limit_packets=rounded)):
                return rounded
    return None


def _bound(problem: DesignProblem, name: str) -> float | None:
    """The tightest bound that could be promised for one constraint with the others kept."""
    if name in {"delay_s", "reservations"}:
        return None
    others = problem.agreement.without(name)
    asked = float(getattr(problem.agreement, name))
    scan = np.geomspace(1e-4, 1.0, 121)
    states = problem.solve(problem.router(scan))
    kept = others.kept(problem.sessions, states)
    if not kept.any():
        return None
    return float(problem.agreement.margins(problem.sessions, states)[name][kept].min()) * asked


def setting_of(router: Router) -> str:
    """Return the settings in words."""
    return (
        f"min_in = max_in = {float(np.max(router.in_max)):g} packets (tail drop), min_out = "
        f"{float(np.max(router.out_min)):g}, max_out = {float(np.max(router.out_max)):g} packets and p_out^max = "
        f"{float(np.max(router.out_probability)):.4g}"
    )


def sentences(design: RioDesign) -> list[str]:
    """The model's answer in words."""
    problem, choice = design.problem, design.choice
    if choice is not None:
        state = choice.state
        return [
            f"Set {setting_of(problem.router(choice.out_probability))}.",
            f"By the model, in-packets are then lost with probability {float(state.loss_in[0]):.3g} and out-packets "
            f"with {float(state.loss_out[0]):.3g}, {float(state.queue_packets[0]):.3g} packets are in the queue on "
            f"average, and {100 * float(state.utilisation[0]):.4g} % of the capacity is used.",
        ]
    conflict = design.conflict
    if conflict is None:
        return []
    lines = [
        f"Not possible: {LABELS[name]} is at best {conflict.best[name]:.3g} times what is asked for."
        for name in conflict.impossible
    ]
    if not conflict.impossible:
        names = " and ".join(LABELS[name] for name in problem.agreement.asked)
        lines.append(f"Each constraint can be kept, but not all together: {names}.")
    if conflict.capacity_per_s is not None:
        factor = conflict.capacity_per_s / problem.capacity_per_s
        lines.append(f"A capacity of {conflict.capacity_per_s:.5g} packets/s ({factor:.3g} times as much) would do.")
    else:
        lines.append(f"No capacity up to {_LARGEST_FACTOR:g} times the given one would do.")
    if conflict.limit_packets is not None:
        lines.append(f"So would max_in = max_out = {conflict.limit_packets:g} packets at the given capacity.")
    for name, bound in conflict.bounds.items():
        if bound is not None:
            lines.append(
                f"With the other constraints kept, {LABELS[name]} could be promised to be at most {bound:.4g}."
            )
    return lines
