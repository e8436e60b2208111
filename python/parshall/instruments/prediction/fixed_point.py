"""Loss and queueing of full links: the fixed point at which TCP's demand is what the links can carry.

| symbol | meaning | unit |
| --- | --- | --- |
| z | level of a link: 0 empty; up to 1 its queue fills; up to 2 its loss rises from 1e-12 to 1 | - |
| f | share of the buffer that a full link holds on average, an assumption: 0, 1/2, 1 | - |
| p_l, q_l | loss and queueing delay of link l at its level | -, s |
| x_i(p, RTT) | packets of flow i that a model says are delivered | packets/s |
| u_l | share of link l that is used while it is full, `busy` | - |

A flow sees p = 1 - prod (1 - p_l)(1 - medium loss) and RTT = RTT_0 + sum q_l over its path, of which x_i arrive, at
most what its access link carries. A link is at level 0 if its load is then within u_l of its capacity, and otherwise at
the level at which the load is that. Loads fall with every level, so each link is solved by
bracketing, and several links in turn until none moves (`MOST_SWEEPS` at most).

Assumes: a full link is busy for a share u_l of the time, which `premises` derives from its buffer; the loss is the same
for all its packets; datagrams and open-loop
transfers offer their load whatever happens; ACKs are neither lost nor delayed.

References: the fixed-point approximation of T. Bu, D. Towsley, Fixed point approximations for TCP behavior in
an AQM network, SIGMETRICS 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from parshall.analysis.models.answer import Conditions, ThroughputModel
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.roots import find_root
from parshall.instruments.prediction.network import Group, Network

MOST_SWEEPS = 100
TOLERANCE = 1e-6
ROOT_TOLERANCE = 1e-10
"""Of a level: small beside what the sweeps stop at."""
KNEE = 2 - 1 / 12
"""Level with a loss of 10 %: below, what arrives falls as a power of the loss; above, faster."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A group of long TCP flows, and the model that stands for it."""

    group: Group
    model: ThroughputModel


@dataclass(frozen=True, slots=True)
class Solution:
    """The state of links and flows.

    Parameters
    ----------
    level
        Of each link.
    loss, queueing_s
        Of each link: its queue's loss, without the medium's, and its queueing delay.
    """

    level: FloatArray
    loss: FloatArray
    queueing_s: FloatArray

    def full_links(self) -> list[int]:
        """Indices of the links that are full."""
        return [int(i) for i in np.flatnonzero(self.level > 0)]


@dataclass(frozen=True)
class FixedPointProblem:
    """A network, its contenders and what else loads its links.

    Parameters
    ----------
    given_bps
        Of each link: load of datagrams and open-loop transfers, before the network's own losses.
    filled
        f, the share of the buffer that a full link holds.
    busy
        u, the share of its capacity that each full link carries, shape (links,); None: all.
    """

    network: Network
    contenders: tuple[Contender, ...]
    given_bps: FloatArray
    filled: float
    busy: FloatArray | None = None

    def solve(self) -> Solution | None:
        """Find the fixed point; `None` if the sweeps do not settle.

        Examples
        --------
        >>> from parshall.instruments.prediction.network import Network
        >>> FixedPointProblem(Network((), (), 1.0, 0.0), (), np.zeros(0), 1.0).solve().full_links()
        []
        """
        level = np.zeros(len(self.network.links))
        self._check(self._at(level))
        for _ in range(MOST_SWEEPS):
            before = level.copy()
            for i in range(level.size):
                level[i] = self._level(i, level)
            if level.size == 1 or np.all(np.abs(level - before) < TOLERANCE):
                return self._at(level)
        return None

    def _check(self, empty: Solution) -> None:
        """Refuse what no model has a value for; levels above those of `empty` links keep all within the same bounds."""
        for contender in self.contenders:
            seen = self.conditions(contender.group, empty)
            Conditions.of(loss=seen.loss, rtt_s=seen.rtt_s, rto_s=seen.rto_s)

    def conditions(self, group: Group, solution: Solution) -> Conditions:
        """Return the path as the group's flows see it."""
        path = list(group.path)
        links = [self.network.links[i] for i in path]
        losses = solution.loss[path].tolist()
        medium = 1 - prod(1 - link.loss for link in links)
        queues = 1 - prod(1 - each for each in losses)
        dependent = 1 - prod(1 - each for each, link in zip(losses, links, strict=True) if not link.drops_at_random)
        loss = 1 - (1 - medium) * (1 - queues)
        queueing = float(solution.queueing_s[path].sum())
        rtt = group.base_rtt_s + queueing
        return Conditions(  # not `of`, whose checks take as long as the formulas: there are hundreds
            loss=np.asarray(loss),
            rtt_s=rtt,
            rto_s=group.rto_s(rtt, queueing),
            packets_per_ack=group.packets_per_ack,
            window_limit_packets=group.window_limit_packets,
            independent_losses=bool(dependent <= loss / 2) and all(link.independent_losses for link in links),
            queueing_delay_s=np.asarray(queueing),
            parameters=group.parameters,
        )

    def rates(self, contender: Contender, conditions: Conditions) -> FloatArray:
        """Packets delivered a second of a flow at each point."""
        delivered = contender.model.delivered(conditions, contender.group.access_per_s)
        return np.broadcast_to(delivered, contender.group.weights.shape)

    def load_bps(self, link: int, solution: Solution) -> float:
        """The load that a link would carry of the flows' packets, bit/s."""
        load = float(self.given_bps[link])
        for contender in self.contenders:
            group = contender.group
            if link in group.path:
                rates = self.rates(contender, self.conditions(group, solution))
                load += float(rates @ group.weights) * group.packet_bytes * 8
        return load

    def _level(self, link: int, level: FloatArray) -> float:
        """Find the level at which a link's load is what it carries when full, those of the others given."""
        capacity = self.network.links[link].rate_bps * (1.0 if self.busy is None else float(self.busy[link]))
        trial = level.copy()

        def excess(z: float) -> float:
            """Logarithm of load over capacity, which is close to linear in the level."""
            trial[link] = z
            solution = self._at(trial)
            load = self.load_bps(link, solution) - self.given_bps[link] * solution.loss[link]
            return float(np.log(min(max(load / capacity, 1e-12), 1e12)))

        low = (0.0, excess(0.0))
        if low[1] <= 0:
            return 0.0
        if self.filled == 0:
            low = (1.0, low[1])  # an empty buffer delays nothing
        for z in (1.0, KNEE, 2.0):
            if z > low[0]:
                high = (z, excess(z))
                if high[1] <= 0:
                    return find_root(excess, low, high, ROOT_TOLERANCE)
                low = high
        return 2.0

    def _at(self, level: FloatArray) -> Solution:
        queueing = self.filled * np.minimum(level, 1.0) * self._buffers_s
        loss = np.where(level > 1, 0.999 * 10.0 ** (12 * (level - 2)), 0.0)
        return Solution(level.copy(), loss, queueing)

    @cached_property
    def _buffers_s(self) -> FloatArray:
        """Waiting time behind each link's full buffer, of its largest packets."""
        links = self.network.links
        largest = [max((g.packet_bytes for g in self.network.crossing(i)), default=1500.0) for i in range(len(links))]
        return np.array([link.buffer_s(size) for link, size in zip(links, largest, strict=True)])
