"""Changes that would help, each proved by the runs that are behind it.

No advice without the run that proves it: what seems to limit a simulated run names one change of its scenario
(`TriedChange`). The scenario is simulated as it is and as changed, in pairs with the same random numbers, and the
change is advised only if the whole 95 % interval of the paired difference is on the good side and large enough to
matter. The seeds are others than the run's: what made the change be tried is no proof of it.

| template | change | holds if |
| --- | --- | --- |
| `fair_queue` | FQ-CoDel in place of the queue | who gets least gets more, and none `UNEQUAL` times as much |
| `smaller_buffer` | a buffer smaller by what is always in it | packets wait less, and the link stays as busy |
| `larger_buffer` | twice the buffer | flows get more |
| `less_loss` | no losses on the medium | flows get more |

What is too long to be simulated again, and what other instruments measured, has no advice. The page of an inferred
scenario has the same rule: `parshall.inference.what_if`. The paired difference: Law, Simulation Modeling and Analysis,
2015, §10.2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.stats.confidence import Interval, paired_difference
from parshall.foundations.errors import ParshallError
from parshall.foundations.numbers import quantity
from parshall.instruments.simulation import run as simulate
from parshall.report.sentences import Sentence, say
from parshall.results.quantities.measuring import found_of
from parshall.results.records import Result
from parshall.scenario.scenario import Scenario

REPETITIONS = 5
"""Pairs of runs that prove a change: the least for which Student's 95 % interval is within three standard errors."""

OTHER_SEED = 1_000_003
"""Added to a run's seed."""

AFFORDABLE_PACKETS = 2_000_000
"""At links, in all repetitions of both runs: some seconds. Of a longer run nothing is advised."""

MATTERS = 0.05
"""Share of the value below which a difference does not matter to anybody who waits for a transfer; of a queueing delay,
share of the round trip with it (`parshall.inference.what_if`)."""

AS_BUSY = 0.01
"""A link that is less busy by no more than this share of the time is as busy."""

UNEQUAL = 1.25
"""Goodputs of a flow within this factor of each other need no remedy."""

Document = Mapping[str, Any]
Values = Mapping[str, list[float]]
"""Of each quantity the value of each repetition."""


@dataclass(frozen=True)
class TriedChange:
    """A change that may help a run.

    Parameters
    ----------
    template
        The name of the sentence that advises it.
    scenario
        The scenario with the change.
    quantities
        Names of the quantities that say whether it helps; the first one is what it is advised for.
    better
        Whether the first one is to be ``higher`` or ``lower``.
    values
        What the sentence says beside the result.
    """

    template: str
    scenario: Scenario
    quantities: tuple[str, ...]
    better: str
    values: Mapping[str, str]


@dataclass(frozen=True)
class ProvedAdvice:
    """A change that runs have shown to help.

    Parameters
    ----------
    trial
        The change.
    before, after
        Means of its quantities over the repetitions of the scenario as it is and with the change.
    difference
        Paired difference of the first quantity, as a share of its mean before.
    """

    trial: TriedChange
    before: Mapping[str, float]
    after: Mapping[str, float]
    difference: Interval

    @property
    def sentence(self) -> Sentence:
        """The sentence that gives it, with what the change brings."""
        name = self.trial.quantities[0]
        unit = "s" if name.endswith("_s") else "bit/s"
        numbers = {"before": quantity(self.before[name], unit), "after": quantity(self.after[name], unit)}
        return say(self.trial.template, **self.trial.values, **numbers)


def proved(run: Result, trial: TriedChange) -> ProvedAdvice | None:
    """Return the advice that simulations of a trial prove; None if they do not, or would take too long."""
    if run.metadata.get("instrument") != "simulate" or not _is_affordable(run):
        return None
    try:
        before = _measured(Scenario.from_document(dict(run.metadata["scenario"])), trial)
        after = _measured(trial.scenario, trial)
    except ParshallError:  # a file or a control of the run is gone, or the network does not bear the change
        return None
    if before is None or after is None:
        return None
    name = trial.quantities[0]
    whole = float(np.mean(before[name]))
    if whole <= 0:
        return None
    difference = relative_difference(before[name], after[name], whole)
    means = [{key: float(np.mean(values)) for key, values in each.items()} for each in (before, after)]
    advice = ProvedAdvice(trial, means[0], means[1], difference)
    helps = shown_change(difference, trial.better) > 0
    return advice if helps and HOLDS[trial.template](before, after, trial) else None


def _is_affordable(run: Result) -> bool:
    links = run.tables.get("links")
    if links is None or links.is_empty():
        return False
    packets = int(links["arrivals_packets"].sum()) / max(1, links["repetition"].n_unique())
    return 2 * REPETITIONS * packets <= AFFORDABLE_PACKETS


def _measured(scenario: Scenario, trial: TriedChange) -> Values | None:
    """The quantities of a trial in each repetition; None if one has no value in some."""
    probes = {"flow_samples": False, "link_samples": False}
    other = {"seed": scenario.seed + OTHER_SEED, "repetitions": REPETITIONS, "probes": probes}
    made = simulate(Scenario.from_document(scenario.document() | other))
    values = {}
    for name in trial.quantities:
        metric = found_of(made.tables, name)
        if metric is None or len(metric.values) < REPETITIONS:
            return None
        values[name] = [float(metric.values[number]) for number in range(REPETITIONS)]
    return values


def relative_difference(before: Sequence[float], after: Sequence[float], whole: float) -> Interval:
    """Paired difference of values of runs with the same seeds, as a share of `whole`."""
    return paired_difference(np.array(after) / whole, np.array(before) / whole)


def shown_change(difference: Interval, better: str) -> int:
    """1 if the whole interval of a relative difference is better by more than `MATTERS`, -1 if worse, 0 if neither.

    Parameters
    ----------
    better
        ``higher`` or ``lower``.

    Examples
    --------
    >>> up, wide = Interval(0.2, 0.1, 0.3, 5), Interval(0.2, 0.0, 0.4, 5)
    >>> shown_change(up, "higher"), shown_change(up, "lower"), shown_change(wide, "higher")
    (1, -1, 0)
    """
    if difference.low is None or difference.high is None:
        return 0
    sign = 1 if better == "higher" else -1
    if difference.low > MATTERS:
        return sign
    return -sign if difference.high < -MATTERS else 0


# --- what else has to hold ---


def _always(_before: Values, _after: Values, _trial: TriedChange) -> bool:
    return True


def _is_even(_before: Values, after: Values, trial: TriedChange) -> bool:
    """True if no group has much more than the one that got least, in the mean."""
    goodputs = [float(np.mean(after[name])) for name in trial.quantities]
    return min(goodputs) > 0 and max(goodputs) <= UNEQUAL * min(goodputs)


def _is_as_busy(before: Values, after: Values, trial: TriedChange) -> bool:
    busy = trial.quantities[1]
    difference = paired_difference(after[busy], before[busy])
    return difference.low is not None and difference.low > -AS_BUSY


HOLDS: Mapping[str, Callable[[Values, Values, TriedChange], bool]] = {
    "fair_queue": _is_even,
    "smaller_buffer": _is_as_busy,
    "larger_buffer": _always,
    "less_loss": _always,
}
"""For each template what the change must not spoil."""


# --- the changes ---


def changed(document: Document, link: str, change: Mapping[str, Any]) -> Scenario | None:
    """Return the scenario with other keys of a link; None where there is no such link, or the network does not bear it.

    Parameters
    ----------
    document
        The tables of the scenario.
    link
        Its name in the records.
    change
        The keys with their values; those that are None are left out.
    """

    def apply(keys: Document) -> dict[str, Any]:
        return {key: value for key, value in (dict(keys) | dict(change)).items() if value is not None}

    bottleneck, links = document.get("bottleneck"), document.get("links")
    if link == "bottleneck" and isinstance(bottleneck, Mapping):
        parts: dict[str, Any] = {"bottleneck": apply(bottleneck)}
    elif isinstance(links, list) and any(each.get("name") == link for each in links):
        parts = {"links": [apply(each) if each.get("name") == link else each for each in links]}
    else:
        return None
    try:
        return Scenario.from_document(dict(document) | parts)
    except ParshallError:
        return None


def limit_packets(scenario: Scenario, link: str) -> int | None:
    """Return what the queue of a link holds at most, in packets; None if that is not counted in packets."""
    found = next((each for each in scenario.resolve()["links"] if each["name"] == link), None)
    limit = None if found is None else found["queue"].get("limit")
    return int(limit["packets"]) if isinstance(limit, Mapping) and "packets" in limit else None
