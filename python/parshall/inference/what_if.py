"""Changes of an inferred scenario that may help, each simulated.

No advice without the run that proves it: a change is listed with the difference that its runs showed, and counts as
help only where the whole interval of the paired difference is on the good side, and large enough to matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.stats.confidence import Interval
from parshall.foundations.errors import ParshallError
from parshall.instruments.simulation import run
from parshall.report.remedies import REPETITIONS, relative_difference, shown_change
from parshall.scenario.scenario import Scenario

QUANTITIES: Mapping[str, tuple[str, str]] = {
    "goodput_bps": ("goodput", "higher"),
    "queueing_delay_p99_s": ("99th percentile of the queueing delay", "lower"),
    "completion_p95_s": ("95th percentile of a transfer's time", "lower"),
}

Document = dict[str, Any]


@dataclass(frozen=True)
class Remedy:
    """A change that may help, and how it is made."""

    words: str
    apply: Callable[[Document], Document | None]


@dataclass(frozen=True)
class RemedyEffect:
    """The effect of a change.

    Parameters
    ----------
    change
        In words.
    before, after
        Means, by quantity.
    differences
        Relative to the value before (of a queueing delay: with the round trip), paired by seed, by quantity.
    """

    change: str
    before: Mapping[str, float]
    after: Mapping[str, float]
    differences: Mapping[str, Interval]

    @property
    def helps(self) -> list[str]:
        """Quantities that are shown to be better (`parshall.report.remedies.shown_change`)."""
        return [name for name, each in self.differences.items() if shown_change(each, QUANTITIES[name][1]) > 0]

    @property
    def harms(self) -> list[str]:
        """Quantities that are shown to be worse."""
        return [name for name, each in self.differences.items() if shown_change(each, QUANTITIES[name][1]) < 0]


def what_if(scenario: Scenario, rtt_s: float, *, repetitions: int = REPETITIONS) -> list[RemedyEffect]:
    """Each change that applies, with what it brings; those that help most come first.

    Parameters
    ----------
    rtt_s
        Round trip without a queue: a delay matters beside it.
    """
    probes = {"flow_samples": False, "link_samples": False}
    document = scenario.document() | {"repetitions": repetitions, "probes": probes}
    before = _values(document)
    made = []
    for change in CHANGES:
        changed = change.apply(document)
        if changed is None:
            continue
        try:
            after = _values(changed)
        except ParshallError:
            continue
        made.append(_effect(change.words, before, after, rtt_s))
    return sorted(made, key=lambda each: -max([0.0, *(abs(each.differences[name].mean) for name in each.helps)]))


def _values(document: Document) -> dict[str, list[float]]:
    """Of each quantity its value in each repetition; of those that all have."""
    made = run(Scenario.from_document(document))
    values = {}
    for name in QUANTITIES:
        by_repetition = made.metrics().get(name)
        if by_repetition is not None and len(by_repetition.values) == len(made.repetitions):
            values[name] = [float(by_repetition.values[number]) for number in made.repetitions]
    return values


def _effect(
    words: str, before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]], rtt_s: float
) -> RemedyEffect:
    both = [name for name in QUANTITIES if name in before and name in after]
    differences = {}
    for name in both:
        whole = float(np.mean(before[name])) + (rtt_s if name.startswith("queueing") else 0.0)
        if whole > 0:
            differences[name] = relative_difference(before[name], after[name], whole)
    means = [{name: float(np.mean(part[name])) for name in both} for part in (before, after)]
    return RemedyEffect(words, means[0], means[1], differences)


# --- the changes ---


def _larger_window(document: Document) -> Document | None:
    groups = [_doubled(group) for group in document["flows"]]
    return None if groups == document["flows"] else document | {"flows": groups}


def _doubled(group: Document) -> Document:
    window = group.get("receive_window")
    if window is None:
        return group
    number, unit = str(window).split()
    return group | {"receive_window": f"{2 * int(float(number))} {unit}"}


def _control(name: str) -> Callable[[Document], Document | None]:
    def apply(document: Document) -> Document | None:
        if all(group["congestion_control"]["name"] == name for group in document["flows"]):
            return None
        return document | {"flows": [group | {"congestion_control": name} for group in document["flows"]]}

    return apply


def _queue(name: str, limit: str) -> Callable[[Document], Document | None]:
    def apply(document: Document) -> Document | None:
        if document["bottleneck"]["queue"]["name"] == name:
            return None
        return document | {"bottleneck": document["bottleneck"] | {"queue": {"name": name, "limit": limit}}}

    return apply


def _half_buffer(document: Document) -> Document | None:
    queue = document["bottleneck"]["queue"]
    number, _, unit = str(queue["limit"]).partition(" ")
    half = f"{max(1, int(float(number) / 2))} {unit}" if unit == "packets" else f"{float(number) / 2:g} {unit}"
    return document | {"bottleneck": document["bottleneck"] | {"queue": queue | {"limit": half}}}


def _no_loss(document: Document) -> Document | None:
    bottleneck = {key: value for key, value in document["bottleneck"].items() if key != "loss"}
    return None if bottleneck == document["bottleneck"] else document | {"bottleneck": bottleneck}


def _faster(document: Document) -> Document:
    number, unit = str(document["bottleneck"]["rate"]).split()
    return document | {"bottleneck": document["bottleneck"] | {"rate": f"{2 * float(number):g} {unit}"}}


CHANGES: Sequence[Remedy] = (
    Remedy("twice the receiver's window", _larger_window),
    Remedy("FQ-CoDel at the bottleneck", _queue("fq_codel", "10240 packets")),
    Remedy("half the buffer", _half_buffer),
    Remedy("BBRv3 at the senders", _control("bbr3")),
    Remedy("CUBIC at the senders", _control("cubic")),
    Remedy("no losses outside full queues", _no_loss),
    Remedy("twice the link's rate", _faster),
)
"""The changes that a page tries."""
