"""A recommendation that a simulation keeps: the search goes on around the model's point, with the simulator.

The model says where to begin. All simulations have the same random numbers, so that they differ by the router alone.
A larger p_out^max drops out-packets earlier, which leaves more room to in-packets and shortens the queue: where the
model's point is not kept, p_out^max is doubled until one is, and then the lowest such value is bracketed, since it
costs utilisation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from parshall.campaign import Execution, Plan
from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall_studies.diffserv import Router
from parshall_studies.routers.agreement import LABELS, UNITS
from parshall_studies.routers.confirm import Confirmation, Kept, confirm
from parshall_studies.routers.rio import RioDesign, sentences, setting_of
from parshall_studies.routers.search import DesignProblem
from parshall_studies.routers.simulated import Setting, measured, scenario

MOST_SIMULATIONS = 12
"""Doublings from the least p_out^max that is looked at to 1, less what the model saves, and some halvings."""

_FINE = 1.1
"""Values of p_out^max that differ by a smaller factor are not told apart."""


@dataclass(frozen=True)
class RouterTrial:
    """A p_out^max that was simulated."""

    out_probability: float
    router: Router
    confirmation: Confirmation


@dataclass(frozen=True)
class Recommendation:
    """Points that were tried, the model's first, and the recommended one: none unless it meets the agreement."""

    trials: tuple[RouterTrial, ...]
    kept: RouterTrial | None

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was simulated."""
        rows = (
            [each.out_probability, kept.label, kept.bound, kept.value.mean, kept.verdict]
            for each in self.trials
            for kept in each.confirmation.kept
        )
        columns = ("p_out^max", "constraint", "bound", "simulated", "verdict")
        return notebook.fragment("RIO router, simulated", self.verdict, notebook.table(columns, rows))

    @property
    def nearest(self) -> RouterTrial:
        """Return the recommended point, or else the one that misses the bounds by least."""
        return self.kept or min(self.trials, key=lambda trial: trial.confirmation.margin)

    @property
    def verdict(self) -> str:
        """That of `nearest` (`parshall.design.judging`)."""
        return self.nearest.confirmation.verdict


def recommend(
    design: RioDesign, setting: Setting, most: int = MOST_SIMULATIONS, *, execution: Execution | None = None
) -> Recommendation:
    """Simulate the model's point, and if need be others, until one keeps the agreement.

    Parameters
    ----------
    design
        With a feasible point.
    setting
        Of each simulation.
    most
        Simulations, at most.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    InputError
        If the model has no feasible point.
    ParshallError
        As `parshall.sweep`.
    """
    if design.choice is None:
        raise InputError("recommend: found no feasible point, accepted is a design with one")
    trials: list[RouterTrial] = []

    def keeps(out_probability: float) -> bool:
        router = design.problem.router(out_probability)
        made = swept(_plan(design.problem, [*(trial.router for trial in trials), router], setting))
        tables = (made.table(name) for name in ("links", "flows"))
        links, flows = (table.filter(point=len(trials)) for table in tables if table is not None)
        seen = measured(design.problem.sessions, setting, links, flows)
        trials.append(RouterTrial(out_probability, router, confirm(design.problem, setting, seen)))
        return trials[-1].confirmation.verdict == "holds"

    with (execution or Execution()).sweeping() as swept:
        best = _searched(keeps, trials, design.choice.out_probability, most)
    return Recommendation(tuple(trials), best)


def _searched(keeps: Callable[[float], bool], trials: list[RouterTrial], low: float, most: int) -> RouterTrial | None:
    """The trial of the lowest p_out^max that is kept, to a factor of `_FINE`; `keeps` adds each to `trials`."""
    if keeps(low):
        return trials[-1]
    best: RouterTrial | None = None
    while best is None and low < 1 and len(trials) < most:
        high = min(1.0, 2 * low)
        if keeps(high):
            best = trials[-1]
        else:
            low = high
    while best is not None and best.out_probability / low > _FINE and len(trials) < most:
        middle = (low * best.out_probability) ** 0.5
        if keeps(middle):
            best = trials[-1]
        else:
            low = middle
    return best


def _plan(problem: DesignProblem, routers: Sequence[Router], setting: Setting) -> Plan:
    """The sweep over what was tried."""
    tables = [scenario(problem.sessions, router, setting) for router in routers]
    queues = [each["bottleneck"]["queue"] for each in tables]
    return Plan(
        name="rio-design", scenario=tables[0], parameters={"bottleneck.queue": {"values": queues, "name": "rio"}}
    )


def answer(design: RioDesign, recommendation: Recommendation | None) -> list[str]:
    """The answer in words: what a simulation keeps, or that nothing is confirmed."""
    if recommendation is None:
        text = sentences(design)
        return [*text, "Not simulated: the model alone says so."] if design.choice is not None else text
    first, kept = recommendation.trials[0], recommendation.kept
    if kept is None:
        tried = sorted(trial.out_probability for trial in recommendation.trials)
        return [
            f"Nothing is confirmed: none of {len(tried)} simulations, with p_out^max from {tried[0]:.4g} to "
            f"{tried[-1]:.4g}, keeps the agreement.",
            f"Nearest: {setting_of(recommendation.nearest.router)}. {_seen(recommendation.nearest)}",
            f"(The model alone would set p_out^max = {first.out_probability:.4g}.)",
        ]
    lines = [f"Set {setting_of(kept.router)}.", f"A simulation keeps the agreement there. {_seen(kept)}"]
    if kept is not first:
        lines.append(
            f"The model alone would set p_out^max = {first.out_probability:.4g}, where the simulation does not confirm "
            f"it. {_seen(first)}"
        )
    return lines


def _seen(trial: RouterTrial) -> str:
    used = trial.confirmation.simulated.utilisation.mean
    judged = "; ".join(_judgement(each) for each in trial.confirmation.kept)
    return f"Simulated: {judged}; {100 * used:.4g} % of the capacity is used."


def _judgement(each: Kept) -> str:
    value = each.value
    between = "" if value.low is None else f" ({value.low:.3g} to {value.high:.3g})"
    name = (
        "reservation over rate of the worst session" if each.constraint == "reservations" else LABELS[each.constraint]
    )
    unit = " s" if UNITS[each.constraint] == "s" else ""
    return f"{name} {value.mean:.3g}{between}{unit}, at most {each.bound:.4g}{unit}: {each.verdict}"
