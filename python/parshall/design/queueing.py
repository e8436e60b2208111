"""Queues of a scenario, tried: the scenario simulated with each, and what was asked judged.

The trials are a sweep over the queue, with the same random numbers, so that they differ by the queue alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import Outcome
from parshall.campaign.plan import Plan, slug
from parshall.campaign.result import Sweep
from parshall.design import judging
from parshall.design.judging import Asked, Judged
from parshall.foundations import notebook
from parshall.foundations.errors import InputError
from parshall.foundations.has_figures import HasFigures
from parshall.results.quantities import naming
from parshall.scenario import Scenario

UTILISATION, LOSS, DELAY, LATE = "utilisation", "loss_rate", "queueing_delay_s", "queueing_delay_p99_s"
"""Of a link: what can be asked of a queue."""


@dataclass(frozen=True)
class Place:
    """A link of a scenario whose queue is to be chosen.

    Raises
    ------
    InputError
        The scenario has no such link, or several and none is named.
    """

    scenario: Scenario
    link: str

    def __post_init__(self) -> None:
        names = [link["name"] for link in self.scenario.resolve()["links"]]
        if self.link not in names:
            raise InputError(f"link: found {self.link!r}; accepted: {', '.join(names)}")

    @property
    def path(self) -> str:
        """The key path of its queue."""
        if self.scenario.links is not None:
            return f"links.{self.link}.queue"
        return "bottleneck.queue" if self.link == "bottleneck" else f"bottleneck.{self.link}.queue"

    def resolved(self, queue: Any = None) -> dict[str, Any]:
        """Its queue, or another one in its place, in the smallest units."""
        scenario = self.scenario if queue is None else self.having(queue)
        own: dict[str, Any] = next(link["queue"] for link in scenario.resolve()["links"] if link["name"] == self.link)
        return own

    def having(self, queue: Any) -> Scenario:
        """The scenario with another queue there."""
        return self.scenario.with_values({self.path: queue})

    @property
    def bdp_packets(self) -> int:
        """The bandwidth-delay product, as the scenario would read it."""
        return int(self.resolved({"name": "drop_tail", "limit": "1 BDP"})["limit"]["packets"])

    @property
    def packet_bytes(self) -> int:
        """The largest packets there."""
        return max(int(group["packet_bytes"]) for group in self.scenario.resolve()["flows"])

    @property
    def rate_bps(self) -> float | None:
        """The rate of the link; None: it varies."""
        rate = next(link["rate"] for link in self.scenario.resolve()["links"] if link["name"] == self.link)
        return float(rate["constant"]) if "constant" in rate else None


_LEAST_REPETITIONS = 2
"""Of fewer there is no interval."""


def place(scenario: Scenario, link: str | None = None) -> Place:
    """The link that is named, else the only one, or the bottleneck.

    Raises
    ------
    InputError
        There is no such link, or there are several; or the scenario is run once, which keeps no bound.
    """
    if scenario.repetitions < _LEAST_REPETITIONS:
        raise InputError(
            f"repetitions: found {scenario.repetitions}; accepted: 2 or more, as --set repetitions=4: what one "
            "repetition has may be chance"
        )
    if link is None:
        names = [each["name"] for each in scenario.resolve()["links"]]
        if scenario.links is not None and len(names) > 1:
            raise InputError(f"link: found none, and the scenario has {', '.join(names)}; name one of them")
        link = names[0]
    return Place(scenario, link)


@dataclass(frozen=True)
class Demand:
    """What is asked of a queue; None is nothing.

    Parameters
    ----------
    utilisation
        Share of the link's time that is used at least, in (0, 1].
    loss
        Share of the packets lost at most, in (0, 1).
    delay_s, late_s
        Mean, and 99th percentile, of the time that packets wait at most, seconds.

    Raises
    ------
    InputError
        Nothing is asked, or a number is out of its bounds.
    """

    utilisation: float | None = None
    loss: float | None = None
    delay_s: float | None = None
    late_s: float | None = None

    def __post_init__(self) -> None:
        if not self.asked:
            raise InputError(
                "demand: found nothing; accepted are utilisation, loss, delay and the 99th percentile of it"
            )
        for name, value in (("utilisation", self.utilisation), ("loss", self.loss)):
            if value is not None and not 0 < value <= 1:
                raise InputError(f"{name}: found {value:g}; accepted: above 0, at most 1")
        for name, value in (("delay", self.delay_s), ("late", self.late_s)):
            if value is not None and not value > 0:
                raise InputError(f"{name}: found {value:g} s; accepted: above 0")

    @property
    def asked(self) -> tuple[Asked, ...]:
        """The bounds."""
        given = {UTILISATION: self.utilisation, LOSS: self.loss, DELAY: self.delay_s, LATE: self.late_s}
        return tuple(_asked(key, bound) for key, bound in given.items() if bound is not None)


def _asked(key: str, bound: float) -> Asked:
    quantity = naming.named(key).quantity
    return Asked(key, quantity.label, quantity.unit, bound, at_least=quantity.better == "higher" or key == UTILISATION)


@dataclass(frozen=True)
class Trial:
    """A queue that was simulated.

    Parameters
    ----------
    queue
        As a scenario writes it.
    judged
        What was asked, as it was found.
    measured
        Other quantities of the link, and the goodput of all flows.
    """

    queue: Mapping[str, Any]
    judged: tuple[Judged, ...]
    measured: Mapping[str, Interval]

    @property
    def verdict(self) -> Outcome:
        """That on all that was asked."""
        return judging.of_all(each.verdict for each in self.judged)

    @property
    def excess(self) -> float:
        """By which factor the worst bound is missed; at most 1 where all means are on the good side."""
        return max(_excess(each) for each in self.judged)


@dataclass(frozen=True)
class QueueDesign(HasFigures, page="parshall.design.network_page:aqm_page"):
    """What was tried in that order, and which of it is the answer.

    Parameters
    ----------
    kept
        None: nothing that was tried keeps all.
    nearest
        That, or what misses the bounds by least.
    """

    place: Place
    demand: Demand
    trials: tuple[Trial, ...]
    kept: Trial | None
    nearest: Trial

    def _repr_html_(self) -> str:
        """What a notebook shows: what was tried."""
        rows = (
            [json.dumps(dict(trial.queue)), each.asked.label, *each.cells()]
            for trial in self.trials
            for each in trial.judged
        )
        columns = ("queue", "asked", "bound", "model", "simulated", "verdict")
        answer = "nothing that was tried keeps all" if self.kept is None else json.dumps(dict(self.kept.queue))
        return notebook.fragment(f"Queue of {self.place.link}", answer, notebook.table(columns, rows))


def _excess(each: Judged) -> float:
    mean, bound = each.simulated.mean, each.asked.bound
    if each.asked.at_least:  # of what is not used
        return (1 - mean) / (1 - bound) if bound < 1 else (1.0 if mean >= 1 else float("inf"))
    return mean / bound


def tried(
    swept: Callable[[Plan], Sweep],
    what: str,
    where: Place,
    queues: Sequence[tuple[Mapping[str, Any], Mapping[str, float | None]]],
    asked: Sequence[Asked],
) -> tuple[Trial, ...]:
    """Simulate the scenario with each queue, and judge.

    Parameters
    ----------
    swept
        Does a sweep (`parshall.campaign.execution.Execution.sweeping`).
    what
        What is designed: a part of the sweep's name.
    queues
        Each with what models say of it, by the keys of what is asked.

    Raises
    ------
    InputError
        Nothing passed the link.
    """
    keys = {key: f"link/{where.link}/{key}" for key in (UTILISATION, DELAY, LATE, LOSS)} | {
        "goodput_bps": "goodput_bps"
    }
    made = swept(
        Plan(
            name=slug(f"{where.scenario.name}-{what}"),
            scenario=where.scenario,
            parameters={where.path: {"values": [dict(queue) for queue, _ in queues], "name": "tried_queue"}},
            metrics=list(keys.values()),
        )
    )
    trials = []
    for point, (queue, models) in enumerate(queues):
        measured = {}
        for key, name in keys.items():
            interval = made.interval(name, point)
            if interval is None:
                raise InputError(f"{where.scenario.name}: nothing passed link {where.link}, of which nothing is known")
            measured[key] = interval
        judged = tuple(Judged(each, models.get(each.key), measured[each.key]) for each in asked)
        trials.append(Trial(queue, judged, measured))
    return tuple(trials)
