"""The premise of every fixed point, that a link which flows want to fill is full: its buffer decides.

| symbol | here | |
| --- | --- | --- |
| b | buffer over bandwidth-delay product | of the rate that datagrams leave, and the flows' mean RTT without queues |
| beta | `kept` | the smallest factor of its window that a flow keeps at a loss |
| K | bursts that the buffer holds | of two packets, or of one where every flow is paced |
| p | loss at which the flows fill the link | the fixed point with an empty buffer |

A full link carries at least the smaller one of what flows in step use of it (`models.buffers.in_step`) and of what
independent bursts do (`models.buffers.of_bursts`), and at most its capacity: the lower end of the bracket is a reading
of its own, `Reading.LOSSES_TOGETHER`. Where bursts use less of the link than flows in step do without any buffer,
(1 + beta)/2, no bracket is given: the buffer is too small for the flows to fill the link, and how little they get
depends on how their bursts meet.

Not asked of links whose windows never overflow a full buffer (receivers' windows, Vegas), nor of a buffer that holds
a whole sawtooth. Of a queue that drops early the limit is taken for bursts; in step its flows use what they do without
a buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.buffers import BURST, in_step, of_bursts
from parshall.analysis.models.inputs import FloatArray
from parshall.instruments.prediction.fixed_point import Contender, FixedPointProblem, Solution
from parshall.instruments.prediction.network import Group

HALVED = 0.5
"""Factor kept by controls that declare none: none of them takes more than Reno does."""


@dataclass(frozen=True, slots=True)
class Busy:
    """The utilisation of each link while it is full.

    Parameters
    ----------
    least
        Share of its capacity that it carries at least, shape (links,); 1 where it is not full.
    reasons
        Of each link: why no such share is known, or None.
    """

    least: FloatArray
    reasons: tuple[str | None, ...]

    def less_than_full(self, path: Sequence[int]) -> bool:
        """True if a link of a path may carry less than its capacity."""
        return bool(np.any(self.least[list(path)] < 1.0))

    def reason(self, path: Sequence[int]) -> str | None:
        """Return the reason why a link of a path is not full; None if all of them are, or have room."""
        return next((reason for i in path if (reason := self.reasons[i])), None)


def busy(problem: FixedPointProblem, empty: Solution, full: Solution) -> Busy:
    """Return the utilisation of the full links of a network.

    Parameters
    ----------
    problem
        The network and its flows.
    empty, full
        Its fixed points where full links hold an empty and a full buffer.
    """
    links = problem.network.links
    least = np.ones(len(links))
    reasons: list[str | None] = [None] * len(links)
    for i in empty.full_links():
        if full.loss[i] > 0 and links[i].has_limit:
            least[i], reasons[i] = _least(problem, i, float(empty.loss[i]))
    return Busy(least, tuple(reasons))


def _least(problem: FixedPointProblem, index: int, loss: float) -> tuple[float, str | None]:
    """The least share of a link that is carried, or why none is known."""
    link = problem.network.links[index]
    flows = [each for each in problem.contenders if index in each.group.path]
    given = min(1.0, float(problem.given_bps[index]) / link.rate_bps)
    if not flows or given >= 1.0 or not 0 < loss < 1:
        return 1.0, None  # full of datagrams alone
    size = max(each.group.packet_bytes for each in flows)
    held = link.buffer_s(size) * link.rate_bps / (8 * size) + 1.0
    products = (1.0 - given) * link.rate_bps * _rtt_s(flows) / (8 * size)
    kept = min(_kept(each.group) for each in flows)
    in_use = held / products if link.traits.drops == "tail" else 0.0
    together = given + (1.0 - given) * float(in_step(in_use, kept))
    if together >= 1.0:
        return 1.0, None
    bursts = of_bursts(held / _burst(flows), loss)
    if bursts < given + (1.0 - given) * (1.0 + kept) / 2:
        return 1.0, (
            f"the buffer of {held:.3g} packets of link {link.name!r} is {held / products:.2g} of the bandwidth-delay "
            "product: bursts overflow it before the flows fill the link, which the models have full"
        )
    return min(together, bursts), None


def _rtt_s(flows: Sequence[Contender]) -> float:
    """Mean round-trip time without queues."""
    total = sum(float(each.group.base_rtt_s @ each.group.weights) for each in flows)
    return total / sum(each.group.count for each in flows)


def _kept(group: Group) -> float:
    """The factor of its window that a flow of the group keeps at a loss."""
    factor = group.parameters.get("beta" if group.control == "cubic" else "decrease", HALVED)
    return float(factor) if isinstance(factor, (int, float)) and 0 < factor < 1 else HALVED


def _burst(flows: Sequence[Contender]) -> float:
    """Packets that come at once from a flow."""
    return 1.0 if all((each.group.tcp or {}).get("pacing") for each in flows) else BURST
