"""The smallest drop-tail buffer that keeps what is asked.

A longer buffer uses the link more and loses less, and makes packets wait longer. So the search goes by utilisation and
loss, if they are asked: from where the model says, or else from the rule of thumb for many flows, the limit is halved
or doubled until one is kept and its neighbour is not; then the interval between both is halved, as a factor. Whether
the delay is short enough there is judged of what was found: if it is not, no drop-tail buffer does both. Where only a
delay is asked, the same search looks for the longest buffer that keeps it.

References: `parshall.analysis.models.buffers`; G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM
2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from parshall.analysis.models.buffers import utilisation
from parshall.campaign import Execution
from parshall.design.judging import of_all
from parshall.design.queueing import DELAY, LATE, LOSS, UTILISATION, Demand, Place, QueueDesign, Trial, tried
from parshall.scenario import properties

MOST_SIMULATIONS = 16
_FINE = 1.1
"""Limits that differ by a smaller factor are not told apart."""
_LARGEST_BDP = 32


@dataclass(frozen=True)
class BufferDesign(QueueDesign, page="parshall.design.network_page:buffer_page"):
    """A limit of a drop-tail queue.

    Parameters
    ----------
    flows
        Reno flows of the model; None: it does not hold.
    """

    flows: int | None

    @staticmethod
    def limit(trial: Trial) -> int:
        """Of a trial, in packets."""
        return int(str(trial.queue["limit"]).split()[0])


def reno_flows(where: Place) -> int | None:
    """Return the number of flows if all are long Reno flows with one drop-tail queue; None: they are not."""
    resolved = where.scenario.resolve()
    groups = resolved["flows"]
    alike = all(
        properties.law((group["congestion_control"] or {}).get("name", "")) == "reno"
        and group["workload"]["name"] == "bulk"
        for group in groups
    )
    return sum(int(group["count"]) for group in groups) if alike and len(resolved["links"]) == 1 else None


def choose(
    where: Place, demand: Demand, most: int = MOST_SIMULATIONS, *, execution: Execution | None = None
) -> BufferDesign:
    """Search the limit.

    Parameters
    ----------
    where
        The link.
    demand
        What is asked.
    most
        Simulations, at most.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    InputError
        Nothing passed the link.
    ParshallError
        As `parshall.sweep`.

    Examples
    --------
    >>> from parshall import Scenario
    >>> from parshall.design.queueing import place
    >>> flows = [{"rtt": "50 ms", "congestion_control": "reno", "start": {"uniform": "1 s"}}]
    >>> one = Scenario(duration="40 s", warm_up="10 s", bottleneck={"rate": "10 Mbit/s"}, flows=flows, repetitions=2)
    >>> found = choose(place(one), Demand(utilisation=0.95))
    >>> found.kept.verdict, 10 < found.limit(found.kept) < 42  # the bandwidth-delay product is 41 packets
    ('holds', True)
    """
    bdp, flows = where.bdp_packets, reno_flows(where)
    trials: dict[int, Trial] = {}
    growing = [each.key for each in demand.asked if each.key in {UTILISATION, LOSS}]

    def enough(limit: int) -> bool:
        """True if the limit is on the side of the answer from which the search comes."""
        if limit not in trials:
            limits = [*trials, limit]
            queues = [(_queue(each), _models(where, each, flows)) for each in limits]
            trials.update(zip(limits, tried(swept, "buffer", where, queues, demand.asked), strict=True))
        judged = [each.verdict for each in trials[limit].judged if not growing or each.asked.key in growing]
        return (of_all(judged) == "holds") == bool(growing)

    with (execution or Execution()).sweeping() as swept:
        answer_limit = _least(
            enough, _first(where, demand, flows), _LARGEST_BDP * max(bdp, 10), lambda: len(trials) < most
        )
    if (
        answer_limit is not None and not growing
    ):  # the shortest one that breaks it is known: the longest one that does not
        answer_limit = max((limit for limit, each in trials.items() if each.verdict == "holds"), default=None)
    answer = None if answer_limit is None or trials[answer_limit].verdict != "holds" else trials[answer_limit]
    nearest = answer or (
        trials[answer_limit] if answer_limit is not None else min(trials.values(), key=lambda each: each.excess)
    )
    if answer is None and not growing and all(each.verdict == "holds" for each in trials.values()):
        answer = nearest = trials[max(trials)]
    return BufferDesign(where, demand, tuple(trials.values()), answer, nearest, flows)


def _least(enough: Callable[[int], bool], first: int, largest: int, goes_on: Callable[[], bool]) -> int | None:
    """The smallest limit that is enough, to a factor of `_FINE`; None if `largest` is not."""
    low, high = 0, first
    while not enough(high):
        if high >= largest or not goes_on():
            return None
        low, high = high, min(2 * high, largest)
    while low == 0 and high > 1 and goes_on():
        if enough(high // 2):
            high //= 2
        else:
            low = high // 2
    while high - low > 1 and low > 0 and high / low > _FINE and goes_on():
        middle = max(low + 1, min(high - 1, round((low * high) ** 0.5)))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _queue(limit: int) -> dict[str, str]:
    return {"name": "drop_tail", "limit": f"{limit} packets"}


def _first(where: Place, demand: Demand, flows: int | None) -> int:
    """Return the first limit of the search: the model's, else the BDP over the root of the number of flows."""
    bdp = where.bdp_packets
    if flows is not None and demand.utilisation is not None:
        sizes = np.geomspace(1e-3, 1.0, 200)
        enough = utilisation(sizes, flows) >= demand.utilisation
        share = float(sizes[int(np.argmax(enough))]) if enough.any() else 1.0
        return max(1, round(bdp * share))
    number = sum(group.count for group in where.scenario.resolved.flows)
    return max(1, round(bdp / math.sqrt(number)))


def _models(where: Place, limit: int, flows: int | None) -> dict[str, float | None]:
    """Return the estimates of a limit without a simulation: the use by Reno flows, and the longest wait."""
    full_s = None if where.rate_bps is None else limit * where.packet_bytes * 8 / where.rate_bps
    return {UTILISATION: modelled(where, limit, flows), DELAY: full_s, LATE: full_s}


def modelled(where: Place, limit: int, flows: int | None) -> float | None:
    """The utilisation by long Reno flows; None where they are none."""
    return None if flows is None else float(utilisation(limit / where.bdp_packets, flows))


def sentences(design: BufferDesign) -> list[str]:
    """The answer in words."""
    bdp = design.place.bdp_packets
    limit = design.limit(design.nearest)
    size = f"{limit} packets ({limit / bdp:.3g} BDP)"
    tried = sorted(design.limit(each) for each in design.trials)
    if design.kept is not None:
        grows = any(each.asked.key in {UTILISATION, LOSS} for each in design.kept.judged)
        which = "smallest" if grows else "longest"
        return [
            f"Set a limit of {size}: the {which} of those tried ({tried[0]} to {tried[-1]} packets) that keeps what is "
            "asked."
        ]
    missed = [each.asked.label for each in design.nearest.judged if each.verdict != "holds"]
    return [
        f"No drop-tail buffer of those tried ({tried[0]} to {tried[-1]} packets) keeps all that is asked.",
        f"Nearest: {size}, where this is not confirmed: {', '.join(missed)}. Active queue management may keep it: "
        "parshall design aqm.",
    ]
