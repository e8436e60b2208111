"""The queue that keeps what is asked, of several kinds: each is simulated in the place of a scenario's queue.

Of those that keep all, the one with the most goodput; of those within 1 % of that, the one where packets wait least.
What the model says of the delay is what the queue itself aims at: its target.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from parshall.campaign import Execution
from parshall.design.queueing import DELAY, Demand, Place, QueueDesign, Trial, tried
from parshall.foundations.errors import InputError
from parshall.scenario.properties import queue as traits_of
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.quantities import PS_PER_S
from parshall.scenario.schema.reading import value_at

AS_GOOD = 0.01
"""Goodput that is less by this share counts as the same."""
_TARGETS = ("target", "target_delay")
"""Parameters of queues that say which delay they aim at."""


def candidates() -> tuple[str, ...]:
    """The queues of the catalog that manage their length and that Linux has.

    >>> "codel" in candidates(), "drop_tail" in candidates(), "rio" in candidates()
    (True, False, False)
    """
    names = []
    for entry in family("queues"):
        traits = traits_of(entry.name)
        if traits.drops != "tail" and not isinstance(traits.linux, str):
            names.append(entry.name)
    return tuple(names)


def choose(
    where: Place, demand: Demand, names: Sequence[str] = (), *, execution: Execution | None = None
) -> QueueDesign:
    """Simulate each queue, the scenario's own first, and choose.

    Parameters
    ----------
    where
        The link.
    demand
        What is asked.
    names
        Queues of the catalog, with their defaults; none: `candidates`.
    execution
        Who simulates, and where that is kept.

    Raises
    ------
    InputError
        There is no such queue, or nothing passed the link.
    ParshallError
        As `parshall.sweep`.

    Examples
    --------
    >>> from parshall import Scenario
    >>> from parshall.design.queueing import place
    >>> flows = [{"count": 4, "rtt": "40 ms", "start": {"uniform": "1 s"}}]
    >>> home = Scenario(duration="10 s", warm_up="4 s", bottleneck={"rate": "20 Mbit/s"}, flows=flows, repetitions=2)
    >>> found = choose(place(home), Demand(delay_s=0.015), ["codel", "fq_codel"])
    >>> found.trials[0].verdict, found.kept.queue["name"] in {"codel", "fq_codel"}
    ('fails', True)
    """
    own = value_at(where.scenario.document(), where.path.split("."))
    first: Mapping[str, Any] = own if isinstance(own, Mapping) else {"name": own or "drop_tail"}
    listed = [first]
    listed += [{"name": name} for name in names or candidates() if {"name": name} != first]
    targets = [target_s(where.resolved(queue)) for queue in listed]  # what is no queue is refused before all else
    queues = [(queue, {DELAY: target}) for queue, target in zip(listed, targets, strict=True)]
    with (execution or Execution()).sweeping() as swept:
        trials = tried(swept, "aqm", where, queues, demand.asked)
    kept = [each for each in trials if each.verdict == "holds"]
    best = _best(kept) if kept else None
    return QueueDesign(where, demand, trials, best, best or min(trials, key=lambda each: each.excess))


def _best(kept: Sequence[Trial]) -> Trial:
    most = max(each.measured["goodput_bps"].mean for each in kept)
    as_good = [each for each in kept if each.measured["goodput_bps"].mean >= (1 - AS_GOOD) * most]
    return min(as_good, key=lambda each: each.measured[DELAY].mean)


def target_s(queue: Mapping[str, Any]) -> float | None:
    """The delay that a queue aims at, seconds; None: it has no such parameter."""
    return next((queue[name] / PS_PER_S for name in _TARGETS if name in queue), None)


def named(trial: Trial) -> str:
    """A queue in text."""
    return traits_of(str(trial.queue["name"])).title


def sentences(design: QueueDesign) -> list[str]:
    """The answer in words."""
    others = [named(each) for each in design.trials if each.verdict == "holds" and each is not design.kept]
    if design.kept is None:
        open_ = [named(each) for each in design.trials if each.verdict in {"compatible", "undecided"}]
        more = f" More or longer repetitions would tell of {', '.join(open_)}." if open_ else ""
        return [
            f"None of {len(design.trials)} queues is shown to keep all that is asked. Nearest: "
            f"{named(design.nearest)}.{more}"
        ]
    also = f" Kept as well: {', '.join(others)}." if others else " No other one does."
    return [f"Set {named(design.kept)}: it keeps what is asked.{also}"]


def checked(names: str) -> tuple[str, ...]:
    """The queues that a text names, with commas between them.

    Raises
    ------
    InputError
        One is not in the catalog.

    Examples
    --------
    >>> checked("codel, pie")
    ('codel', 'pie')
    """
    listed = tuple(each.strip() for each in names.split(",") if each.strip())
    if not listed:
        raise InputError("queues: found none; accepted are names of the catalog with commas between them")
    for each in listed:
        traits_of(each)
    return listed
