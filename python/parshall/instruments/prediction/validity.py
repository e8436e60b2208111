"""The assumptions of the formulas that a scenario may break, so that their answers would mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.answer import Conditions, ThroughputModel
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.throughput import models_for
from parshall.instruments.prediction.fixed_point import Contender, FixedPointProblem, Solution
from parshall.instruments.prediction.loads import offered_bps
from parshall.instruments.prediction.network import Group, Network, NetworkLink

FEWEST_LOSSES = 3.0
"""Losses that each flow has to see during the run for a mean over many cycles to be one."""

NEARLY = 0.95
"""Share of a limit from which on the limit is what holds a flow back."""


@dataclass(frozen=True, slots=True)
class State:
    """A group at a fixed point."""

    problem: FixedPointProblem
    contender: Contender
    conditions: Conditions
    solution: Solution
    sent: FloatArray
    """Packets sent a second of a flow, at each point of the group."""
    delivered: FloatArray
    """Packets delivered a second."""

    @classmethod
    def of(cls, problem: FixedPointProblem, contender: Contender, solution: Solution) -> State:
        """Evaluate the group's model at the fixed point."""
        group, conditions = contender.group, problem.conditions(contender.group, solution)
        sent = np.broadcast_to(contender.model.sent(conditions, group.access_per_s), group.weights.shape)
        return cls(problem, contender, conditions, solution, sent, problem.rates(contender, conditions))

    @property
    def group(self) -> Group:
        """The group."""
        return self.contender.group

    @property
    def per_flow_bps(self) -> float:
        """Mean goodput of a flow, bit/s."""
        return self.mean(self.delivered) * self.group.payload_bytes * 8

    @property
    def held_by_access(self) -> NDArray[np.bool_]:
        """True where a flow's access link limits it, at each point."""
        return np.asarray(self.sent >= NEARLY * self.group.access_per_s)

    @property
    def held_by_window(self) -> NDArray[np.bool_]:
        """True where the receiver's window limits a flow, at each point."""
        return np.asarray(self.sent * self.conditions.rtt_s >= NEARLY * self.group.window_limit_packets)

    def mean(self, values: FloatArray) -> float:
        """Mean over the flows of the group."""
        return float(values @ self.group.weights) / self.group.count


def before(network: Network, group: Group, model: ThroughputModel) -> str | None:
    """Say why no fixed point needs to be sought for this model."""
    if reason := workload_or_recovery(group) or varying_delay(group):
        return reason
    for i in group.path:
        link = network.links[i]
        if reason := _link(link):
            return reason
        for other in network.crossing(i):
            if other.name != group.name and (reason := _company(network, link, other, model)):
                return reason
    return None


def workload_or_recovery(group: Group) -> str | None:
    """Say why no steady-state model describes the group, whatever the network."""
    return _workload(group) or _recovery(group) or _host(group) or _order(group)


def varying_delay(group: Group) -> str | None:
    """Say why the delay of the group's packets is not that of the links and their queues alone."""
    if group.jitter is None:
        return None
    return "its packets take times of their own (jitter); the models have delays that only queues vary"


def after(state: State) -> str | None:
    """Say why the fixed point is out of the model's range."""
    checks: tuple[Callable[[State], str | None], ...] = (_overload, _model, _few_losses, _ends_early)
    return next((reason for check in checks if (reason := check(state))), None)


def _workload(group: Group) -> str | None:
    if group.application.greedy:
        return None
    return f"the workload {group.kind!r} is no long transfer: it stops or starts again before a steady state"


def _recovery(group: Group) -> str | None:
    if (group.tcp or {}).get("recovery") != "tahoe":
        return None
    return "Tahoe goes back to slow start at every loss; the formulas have fast recovery"


def _host(group: Group) -> str | None:
    if not group.host_loses:
        return None
    return (
        "its hosts lose packets at their own access links (access_queue); the models lose them on links that are shared"
    )


def _order(group: Group) -> str | None:
    if group.jitter != "free":
        return None
    return "its packets overtake each other (jitter), which senders may take for losses; the models have losses alone"


def _link(link: NetworkLink) -> str | None:
    if link.varies:
        return f"the rate of link {link.name!r} follows a trace; the models have a constant one"
    return not_one_queue(link) or dependent_losses(link)


def not_one_queue(link: NetworkLink) -> str | None:
    """Say why the link's queue is not one in which all packets meet the same loss and wait for the link alone."""
    traits = link.traits
    whose = f"the queue of link {link.name!r} ({traits.title})"
    if traits.own_rate:
        return f"{whose} has a rate of its own; the models have the link's"
    if traits.separates == "nothing":
        return None
    return f"{whose} {_SEPARATES.get(traits.separates, 'does not treat all packets alike; the models do')}"


_SEPARATES = {
    "flows": "serves the flows apart, each with a share of its own; the models have one queue and one loss for all",
    "profiles": "loses packets in and out of profile differently; the models have one loss for all",
    "low_latency": "serves packets of low latency apart; the models have one queue and one loss for all",
    "classes": "serves classes of traffic one before another; the models have one queue and one loss for all",
    "responsiveness": "drops more of the flows that do not react to losses; the models have one loss for all",
}
"""By what a queue separates (`parshall.scenario.properties.QueueTraits`)."""


def dependent_losses(link: NetworkLink) -> str | None:
    """Say why the medium's losses are not independent of each other."""
    if link.loss == 0 or link.independent_losses:
        return None
    how = _PATTERNS.get(link.medium.pattern, "follow a pattern that the models do not know")
    return f"losses on link {link.name!r} {how}; the models have independent ones"


_PATTERNS = {"bursts": "come in bursts", "periodic": "come at equal distances"}
"""By the pattern of the medium's losses (`parshall.scenario.properties.LossTraits`)."""


def _company(network: Network, link: NetworkLink, other: Group, model: ThroughputModel) -> str | None:
    if offered_bps(other) is not None:
        return None
    if reason := next((reason for i in other.path if (reason := _link(network.links[i]))), None):
        return f"on link {link.name!r} the load of group {other.name!r} is not known beforehand: {reason}"
    if not other.application.greedy:
        return f"on link {link.name!r} the load of group {other.name!r} ({other.kind}) is not known beforehand"
    if reason := varying_delay(other):
        return f"on link {link.name!r} the load of group {other.name!r} is not known beforehand: {reason}"
    if not models_for(other.control):
        return f"on link {link.name!r} no model describes group {other.name!r} ({other.control})"
    if (other.control == "vegas") != (model.name == "vegas"):
        return f"on link {link.name!r} Vegas and a control that fills the queue share (group {other.name!r})"
    return None


def _overload(state: State) -> str | None:
    for i in state.group.path:
        link, loss = state.problem.network.links[i], state.solution.loss[i]
        if state.contender.model.name == "vegas" and loss > 0:
            return f"the buffer of link {link.name!r} does not hold the packets that its Vegas flows keep queued"
        if loss > 0.99:
            return f"link {link.name!r} is full even where TCP sends next to nothing"
    return None


def _model(state: State) -> str | None:
    held_back = np.all(state.conditions.loss == 0) and np.all(np.isfinite(state.sent))
    return None if held_back and state.contender.model.needs_loss else state.contender.model.reason(state.conditions)


def _few_losses(state: State) -> str | None:
    network, loss = state.problem.network, float(np.max(state.conditions.loss))
    lasting = network.duration_s - max(state.group.start_s, network.warm_up_s)
    losses = loss * state.mean(state.sent) * lasting
    lossy = state.contender.model.needs_loss and loss > 0
    if not lossy or losses >= FEWEST_LOSSES or np.all(state.held_by_access | state.held_by_window):
        return None
    return f"{losses:.2g} losses a flow are expected in {lasting:.4g} s: too few for a steady state"


def _ends_early(state: State) -> str | None:
    """Transfers, the group's or those it shares a full link with, that do not last."""
    network, full = state.problem.network, state.solution.full_links()
    for contender in state.problem.contenders:
        other = contender.group
        own = other.name == state.group.name
        if other.kind != "transfer" or not (own or set(full) & set(other.path) & set(state.group.path)):
            continue
        rate_bps = State.of(state.problem, contender, state.solution).per_flow_bps
        seconds = 8 * sum(other.workload["sizes"]) / rate_bps
        if other.start_s + seconds < network.duration_s:
            whose = "its transfers" if own else f"the transfers of group {other.name!r}"
            return f"{whose} would end after about {seconds:.3g} s of {network.duration_s:g} s: see completion times"
    return None
