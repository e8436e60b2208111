"""Throughput from the scenario alone: loss given by the media, or by the fixed point of full links.

Each model is solved in turn: groups that it describes use it, groups of other congestion controls use the
first model of theirs. Where a link is full, the answer is a range over the mean queue (`Reading`) and over how busy
the link is with its buffer (`premises`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from parshall.analysis.models.answer import ThroughputModel
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.throughput import models_for
from parshall.instruments.prediction import premises, validity
from parshall.instruments.prediction.answers import Reading, Throughput
from parshall.instruments.prediction.fixed_point import Contender, FixedPointProblem, Solution
from parshall.instruments.prediction.network import Group, Network
from parshall.instruments.prediction.validity import State

FILLED = {
    Reading.LOSSES_TOGETHER: 0.0,
    Reading.SHORTEST_QUEUE: 0.0,
    Reading.MIDDLE_QUEUE: 0.5,
    Reading.LONGEST_QUEUE: 1.0,
}
"""Share of its buffer that a full link holds."""


def throughput(network: Network, given_bps: FloatArray) -> list[Throughput]:
    """Ask every model that describes a group of the network, in the order of the groups.

    Parameters
    ----------
    given_bps
        Of each link: load that does not depend on congestion, bit/s; shape (links,).
    """
    rows: list[Throughput] = []
    solver = _Solver(network, given_bps)
    for group in network.groups:
        if not group.is_tcp:
            continue
        models = models_for(group.control)
        if not models:
            reason = f"no model describes the congestion control {group.control!r}"
            rows.append(Throughput(group.name, group.control, None, Reading.UNCONGESTED, False, reason))
        for model in models:
            rows.extend(_merged(list(_of_model(solver, group, model))))
    return rows


def contenders(network: Network, model: ThroughputModel) -> tuple[Contender, ...]:
    """List the groups of long TCP flows, each with `model` if it describes it and else the first of its own."""
    flows = []
    for group in network.groups:
        own = models_for(group.control)
        if group.is_tcp and group.application.greedy and own:
            flows.append(Contender(group, model if model in own else own[0]))
    return tuple(flows)


@dataclass
class _Solver:
    """Fixed points, each found once: groups of one scenario share them."""

    network: Network
    given_bps: FloatArray
    known: dict[tuple[tuple[str, ...], float, bool], tuple[FixedPointProblem, Solution | None]] = field(
        default_factory=dict
    )
    busy_links: dict[tuple[str, ...], premises.Busy | None] = field(default_factory=dict)
    """Utilisation of full links by the models of the flows; None where it is not asked."""
    contending: dict[str, tuple[Contender, ...]] = field(default_factory=dict)
    """By the model that is asked."""

    def at(
        self, model: ThroughputModel, filled: float, busy: premises.Busy | None = None
    ) -> tuple[FixedPointProblem, Solution | None]:
        """Solve with full links' buffers `filled`; Vegas flows hold that share of the way from alpha to beta."""
        flows = self.flows(model)
        key = (_names(flows), filled, busy is not None)
        if key not in self.known:
            problem = FixedPointProblem(
                self.network, flows, self.given_bps, filled, None if busy is None else busy.least
            )
            if model.name == "vegas":
                held = tuple(
                    Contender(_held(c.group, filled), c.model) if c.model.name == "vegas" else c for c in flows
                )
                problem = FixedPointProblem(self.network, held, self.given_bps, 1.0)
            self.known[key] = (problem, problem.solve())
        return self.known[key]

    def flows(self, model: ThroughputModel) -> tuple[Contender, ...]:
        """The groups of long flows, where `model` is asked."""
        if model.name not in self.contending:  # groups ask again and again
            self.contending[model.name] = contenders(self.network, model)
        return self.contending[model.name]

    def busy(self, model: ThroughputModel) -> premises.Busy | None:
        """Return the utilisation of full links; None where buffers do not matter, or a fixed point did not settle."""
        flows = self.flows(model)
        if not any(each.model.needs_loss for each in flows):
            return None
        names = _names(flows)
        if names not in self.busy_links:
            (problem, empty), full = self.at(model, 0.0), self.at(model, 1.0)[1]
            settled = None if empty is None or full is None else premises.busy(problem, empty, full)
            self.busy_links[names] = settled
        return self.busy_links[names]


def _names(flows: tuple[Contender, ...]) -> tuple[str, ...]:
    return tuple(contender.model.name for contender in flows)


def _held(group: Group, filled: float) -> Group:
    alpha, beta = (float(group.parameters.get(name, 0.0)) for name in ("alpha", "beta"))
    queued = alpha + filled * (max(alpha, beta) - alpha)
    return replace(group, parameters={**group.parameters, "alpha": queued, "beta": queued})


def _of_model(solver: _Solver, group: Group, model: ThroughputModel) -> Iterator[Throughput]:
    if refused := validity.before(solver.network, group, model):
        yield Throughput(group.name, group.control, model.name, Reading.UNCONGESTED, False, refused)
        return
    busy = solver.busy(model)
    if busy is not None and (not_full := busy.reason(group.path)):
        yield Throughput(group.name, group.control, model.name, Reading.SHORTEST_QUEUE, False, not_full)
        return
    limits = all(solver.network.links[i].has_limit for i in group.path)
    for reading, filled in FILLED.items():
        if filled > 0 and not limits:
            break  # a queue that does not say what it holds: no more than the first end of the range is known
        least = busy if reading == Reading.LOSSES_TOGETHER else None
        if reading == Reading.LOSSES_TOGETHER and (least is None or not least.less_than_full(group.path)):
            continue
        problem, solution = solver.at(model, filled, least)
        if solution is None:
            reason = "the fixed point of several full links did not settle"
            yield Throughput(group.name, group.control, model.name, reading, False, reason)
        elif not set(solution.full_links()) & set(group.path):
            yield _answer(problem, group, solution, Reading.UNCONGESTED)
            return
        else:
            yield _answer(problem, group, solution, reading)


def _merged(rows: list[Throughput]) -> list[Throughput]:
    """Keep one of several answers that are out of range for one and the same reason, or without their lower end."""
    if rows and rows[0].reading == Reading.LOSSES_TOGETHER and not rows[0].in_range:
        return rows[:1]
    reasons = {row.reason for row in rows}
    return rows if len(reasons) > 1 or None in reasons else rows[:1]


def _answer(problem: FixedPointProblem, group: Group, solution: Solution, reading: Reading) -> Throughput:
    contender = next(c for c in problem.contenders if c.group.name == group.name)
    state = State.of(problem, contender, solution)
    reason = validity.after(state)
    in_range, per_flow_bps = reason is None, state.per_flow_bps
    return Throughput(
        group=group.name,
        control=group.control,
        model=contender.model.name,
        reading=reading,
        in_range=in_range,
        reason=reason,
        goodput_bps=per_flow_bps * group.count if in_range else None,
        flow_goodput_bps=per_flow_bps if in_range else None,
        window_packets=state.mean(state.sent * state.conditions.rtt_s) if in_range else None,
        loss=float(np.max(state.conditions.loss)) if in_range or reading == Reading.UNCONGESTED else None,
        rtt_s=state.mean(state.conditions.rtt_s),
        limited_by=_limited_by(state),
    )


def _limited_by(state: State) -> str:
    for name, limited in (("access link", state.held_by_access), ("window", state.held_by_window)):
        if state.mean(limited.astype(np.float64)) > 0.5:
            return name
    solution = state.solution
    full = [i for i in state.group.path if solution.level[i] > 0]
    if not full:
        return "loss"
    fullest = max(full, key=lambda i: (solution.loss[i], solution.queueing_s[i]))
    return state.problem.network.links[fullest].name
