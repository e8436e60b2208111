"""The findings of a run in a few sentences: what limits, who gets what, what that costs, what would change it.

Each number is a quantity of the run, printed as everywhere on its page; `Finding.quantities` names them. The sentences
have names (`sentences.TEMPLATES`). Where a model that holds is wrong (`disagreement`), or the network has not settled
(`settling`), that is said before anything else is made of the numbers. What would change the result is said only where
simulations of the change prove it (`remedies`); tried is

| where the run shows | the change |
| --- | --- |
| a full link, and groups of flows with unequal goodput in one queue | a queue for each flow |
| a full link, and a tail-drop buffer that never empties | a buffer smaller by what is always in it |
| losses, most of them on the medium, and time to spare on the link | no losses on the medium |
| drops by the queue, and time to spare on the link | twice the buffer |

References: G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM 2004 (a buffer that never empties is
larger than the link needs to stay busy); K. Nichols, V. Jacobson, Controlling queue delay, ACM Queue 10(5), 2012.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import polars as pl

from parshall.analysis.stats.families import Pair, judged
from parshall.analysis.stats.quantiles import NoValue
from parshall.analysis.stats.verdict import AT_LEAST, DIFFERENT, Judgement, Verdict, between
from parshall.foundations.errors import InputError, ParshallError
from parshall.foundations.numbers import count, counted, quantity
from parshall.report import description, disagreement, settling
from parshall.report.crossing import crossing
from parshall.report.figures.common import end_s, warm_up_s
from parshall.report.figures.delays import of_link, under_load
from parshall.report.remedies import UNEQUAL, ProvedAdvice, TriedChange, changed, limit_packets, proved
from parshall.report.sentences import Sentence, joined, say
from parshall.report.uncertainty import some_of
from parshall.results.quantities.completion import counts
from parshall.results.quantities.definition import link_name
from parshall.results.quantities.measuring import BUSY, Metrics, busiest, found_of, lacking, of_place, of_run, places
from parshall.results.records import Result
from parshall.scenario import properties
from parshall.scenario.scenario import Scenario

FULL = 0.95
"""From this utilisation on a link is called full."""

STANDING = 0.1
"""A queue that never falls below this part of its 99th percentile is called standing."""

FEW_LOST = 1e-4
"""Losses rarer than that limit nothing."""

LATE = 0.5
"""Flows that begin so late that they send for less of the measured time are limited by that."""


@dataclass(frozen=True)
class RunFinding:
    """The sentences, the names of the quantities whose values they give, and those of their templates."""

    sentences: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    advice: ProvedAdvice | None = None
    """The change of the last sentence, if it advises one."""

    @property
    def text(self) -> str:
        """All sentences; empty where nothing was measured."""
        return " ".join(self.sentences)


def finding(run: Result, *, advise: bool = True) -> RunFinding:
    """Return the findings of `run`; nothing where it recorded no link or no flow.

    Parameters
    ----------
    advise
        Whether to simulate what may help a simulated run, which takes up to some seconds, and to say what does.
    """
    links, flows = run.tables.get("links"), run.tables.get("flows")
    if links is None or flows is None:
        return RunFinding()
    link = busiest(links)
    state = _FindingState(run, link, links["link"].n_unique() > 1)
    trial = _trial(state) if advise else None
    advice = None if trial is None else proved(run, trial)
    said = [
        _ended(state),
        _limit(state),
        _shares(state),
        disagreement.sentence(run),
        settling.sentence(run),
        _cost(state),
        None if advice is None else advice.sentence,
    ]
    there = [each for each in said if each is not None]
    templates = (name for each in there for name in each.templates)
    return RunFinding(tuple(each.text for each in there), tuple(state.used), tuple(dict.fromkeys(templates)), advice)


class _FindingState:
    """The material of the sentences, and the quantities that they have used."""

    def __init__(self, run: Result, link: str, several: bool) -> None:
        self.run = run
        self.link = link
        self.place = link_name(link) if link_name(link) != link else f"the link {link}"
        self.several = several
        self.scenario = description.document(run)
        across = crossing(run, link)
        self.only_acks = not across
        self.groups = across or places(run.tables, "group")
        groups = [each for each in self.scenario.get("flows") or () if isinstance(each, Mapping)]
        self._described = {str(each.get("name")): each for each in reversed(groups)}
        self.used: list[str] = []
        self._metrics: Metrics = of_run(run.tables, link) | of_place(run.tables, "link", link)

    def value(self, name: str) -> float | None:
        """The estimate of a quantity, None if there is none."""
        if name.startswith("group/") and name not in self._metrics:
            found = found_of(self.run.tables, name)  # one of a group, of which there may be thousands
            self._metrics |= {} if found is None else {name: found}
        metric = self._metrics.get(name)
        return None if metric is None else metric.interval.mean

    def of_link(self, key: str) -> float | None:
        return self.value(f"link/{self.link}/{key}")

    def text(self, name: str) -> str:
        """The same as text; it counts as used."""
        self.used.append(name)
        metric = self._metrics[name]
        having = some_of(metric.interval)
        return quantity(metric.interval.mean, metric.unit) + (f" ({having})" if having else "")

    def text_of_link(self, key: str) -> str:
        return self.text(f"link/{self.link}/{key}")

    def text_of_group(self, group: str, key: str) -> str:
        return self.text(f"group/{group}/{key}")

    def judged(self, a: str, b: str, key: str) -> Judgement:
        """The judgement of a quantity of one group against another's, as a pair chosen among all pairs of groups.

        Both are measured in the same repetitions.
        """
        one, two = (self._metrics[f"group/{group}/{key}"].pooled for group in (a, b))
        if len(self.groups) == 2:
            return between(one, two, common_numbers=True)
        return judged({key: Pair(one, two, common_numbers=True)}, of=comb(len(self.groups), 2))[key]

    def packets(self, column: str) -> int:
        """A count of the link's packets in all repetitions."""
        return int(self.run.tables["links"].filter(pl.col("link") == self.link)[column].sum())

    @property
    def lost_on_medium(self) -> bool:
        """True if most of the link's losses were on the medium."""
        return self.packets("medium_losses_packets") > self.packets("dropped_packets")

    def described(self, group: str) -> Mapping[str, Any]:
        """The keys of a group in the scenario; none if that is not known."""
        return self._described.get(group, {})

    def is_greedy(self, group: str) -> bool:
        """True if its flows send whatever the network lets them."""
        return description.name_of(self.described(group).get("workload") or "bulk") == "bulk"


def _ended(state: _FindingState) -> Sentence | None:
    """Return the number of transfers that ended, where some did not: sentences on completion times depend on it."""
    ended, begun = counts(state.run.tables)
    return None if ended == begun else say("ended", ended=count(ended), begun=counted(begun, "transfer"))


def _limit(state: _FindingState) -> Sentence | None:
    used = state.of_link("utilisation")
    if used is None:
        return None
    if not state.packets("arrivals_packets") and not state.packets("forwarded_packets"):
        return _of_nothing(state)
    place, busy = state.place, state.text_of_link("utilisation")
    if used >= FULL:
        return say("full_of_acks" if state.only_acks else "full", place=place, busy=busy)
    subject = f"no link is full: the busiest, {place}, is" if state.several else f"{place} is not full: it is"
    lost = state.of_link("loss_rate") or 0.0
    if lost < FEW_LOST:
        return say("nothing_lost", subject=subject, busy=busy, limits=_own_limits(state))
    if state.lost_on_medium:
        if not state.packets("dropped_packets"):
            return say("medium", subject=subject, busy=busy, medium=state.text_of_link("loss_rate"))
        medium, queue = (_share_of_arrivals(state, column) for column in ("medium_losses_packets", "dropped_packets"))
        return say("medium_and_queue", subject=subject, busy=busy, medium=medium, queue=queue)
    dropped = _share_of_arrivals(state, "dropped_packets")
    return say("drops_before" if used >= BUSY else "drops_at_times", subject=subject, busy=busy, queue=dropped)


def _of_nothing(state: _FindingState) -> Sentence:
    """Return the reason why no packet crossed the busiest link while it was measured, if it is known."""
    if _all_ended_before(state):
        return say("all_ended_before", place=state.place)
    late = _late_s(state)
    if late is None:
        return say("nothing_crossed", place=state.place)
    return say("starts_late", place=state.place, late=quantity(late, "s"))


def _share_of_arrivals(state: _FindingState, column: str) -> str:
    return quantity(state.packets(column) / state.packets("arrivals_packets"), "ratio")


def _all_ended_before(state: _FindingState) -> bool:
    """True if all data was acknowledged before the measured time began."""
    transfers = state.run.tables.get("transfers")
    if transfers is None or transfers["completion_s"].null_count():
        return False
    return float(transfers["completion_s"].max()) <= warm_up_s(state.run)  # type: ignore[arg-type]


def _own_limits(state: _FindingState) -> str:
    """Return causes other than the link that may keep flows from sending more."""
    groups = [state.described(group) for group in state.groups]
    late = _late_s(state)
    limits = {
        "their access links": any(group.get("access_rate") for group in groups),
        "their receive windows": any(group.get("receive_window") not in (None, "unlimited") for group in groups),
        "how much the applications send": not all(map(state.is_greedy, state.groups)),
        f"their start, {quantity(late, 's')} before the end": late is not None,
    }
    return description.listed([limit for limit, holds in limits.items() if holds], "or") or "their own windows"


def _late_s(state: _FindingState) -> float | None:
    """Return the seconds between the first flow's start and the end, if they are a small part of the measured time."""
    flows = state.run.tables["flows"]
    if "start_s" not in flows.columns:
        return None
    first, end = flows["start_s"].min(), end_s(state.run, 0.0)
    if first is None or float(first) >= end:  # type: ignore[arg-type]
        return None
    lasting = end - float(first)  # type: ignore[arg-type]
    return lasting if lasting < LATE * (end - warm_up_s(state.run)) else None


def _shares(state: _FindingState) -> Sentence | None:
    """Return the sentence on the shares of the groups that cross the link."""
    known = {group: state.value(f"group/{group}/flow_goodput_bps") for group in state.groups}
    goodput = {group: value for group, value in known.items() if value is not None}
    greedy = [group for group in goodput if state.is_greedy(group)]
    ranked = sorted(greedy or goodput, key=lambda group: -goodput[group])
    if not ranked:
        return None
    if not any(goodput.values()):
        return say("delivers_nothing") if state.of_link("utilisation") else None
    first, last = ranked[0], ranked[-1]
    if len(goodput) == 1:
        return _of_one(state, first)
    got = state.text_of_group(first, "flow_goodput_bps")
    if len(ranked) == 1:
        if state.value(f"group/{first}/share") is None:
            return say("greedy_alone", group=first, got=got)
        return say("greedy_share", group=first, share=state.text_of_group(first, "share"), got=got)
    judgement = state.judged(last, first, "flow_goodput_bps")
    how = _told(judgement)
    values = {"group": first, "got": got, "other": last, "less": state.text_of_group(last, "flow_goodput_bps")}
    if len(ranked) == 2:
        extra = {"verdict": judgement.verdict.text(AT_LEAST)} if how == "alike" else {}
        return say(f"two_{how}", **values, **extra)
    groups = counted(len(ranked), "group")
    if how in ("not_shown", "too_little", "alike"):
        return say("many_too_little" if how == "too_little" else "many_not_shown", groups=groups)
    return say(f"many_{how}", groups=groups, **values)


def _told(judgement: Judgement) -> str:
    """Return the suffix of the templates that tell a difference."""
    if judgement.matters:
        return "differ"
    ways = {
        Verdict.UNKNOWN: "once",
        Verdict.NO_SPREAD: "copies",
        Verdict.EQUAL: "alike",
        Verdict.SAME: "alike",
    }
    return ways.get(judgement.verdict, "too_little" if judgement.verdict in DIFFERENT else "not_shown")


def _of_one(state: _FindingState, group: str) -> Sentence:
    flows = state.run.tables["flows"].filter(pl.col("group") == group)
    number = max(flows.group_by("repetition").len()["len"].to_list(), default=0)
    got = state.text_of_group(group, "flow_goodput_bps")
    if number < 2:
        return say("one_flow", got=got)
    if not state.value(f"group/{group}/jain"):
        return say("flows", flows=counted(number, "flow"), got=got)
    return say("flows_jain", flows=counted(number, "flow"), got=got, jain=state.text_of_group(group, "jain"))


def _cost(state: _FindingState) -> Sentence | None:
    """Delay, loss, and what the users of the others' load notice."""
    parts = []
    if state.of_link("queueing_delay_s") is not None:
        wait = {"wait": state.text_of_link("queueing_delay_s"), "place": state.place}
        tail = state.of_link("queueing_delay_p99_s")
        parts.append(
            say("wait_tail", **wait, tail=state.text_of_link("queueing_delay_p99_s")) if tail else say("wait", **wait)
        )
    if (state.of_link("loss_rate") or 0.0) >= FEW_LOST and (state.of_link("utilisation") or 0.0) >= FULL:
        parts.append(say("lost", lost=state.text_of_link("loss_rate")))
    group = under_load(state.run)
    if group is not None and state.value(f"group/{group}/one_way_delay_p99_s") is not None:
        parts.append(say("arrive", group=group, tail=state.text_of_group(group, "one_way_delay_p99_s")))
    completion = _completion(state)
    return joined(parts if completion is None else [*parts, completion])


def _completion(state: _FindingState) -> Sentence | None:
    """Within which time half and 95 % of the transfers were done, as far as so many ended."""
    unknown = lacking(state.run.tables, state.link, groups=())
    middle, tail = (unknown.get(f"completion_p{level}_s") for level in (50, 95))
    if middle is not None and middle.lacking is not None and not middle.lacking.is_of_values:
        return _few_ended("few_ended", middle.lacking)
    if state.value("completion_p50_s") is None:
        return None
    half = state.text("completion_p50_s")
    if tail is None or tail.lacking is None:
        return say("done", half=half, tail=state.text("completion_p95_s"))
    if tail.lacking.is_of_values:
        return say("half_done_values", half=half, why=tail.lacking.reason)
    return _few_ended("half_done", tail.lacking, half=half)


def _few_ended(template: str, lacking: NoValue, **values: str) -> Sentence:
    """Return the sentence on a quantile that was not reached, with its lower bound if that is known."""
    if lacking.above is None:
        return say(f"{template}_few" if values else template, **values)
    return say(f"{template}_above", above=quantity(lacking.above, "s"), **values)


def _trial(state: _FindingState) -> TriedChange | None:
    """The change that may help, by what the run shows."""
    used, lost = state.of_link("utilisation"), state.of_link("loss_rate") or 0.0
    if used is None:
        return None
    if used >= FULL:
        return _trial_of_full(state)
    if lost < FEW_LOST:
        return None
    if state.lost_on_medium:
        return _of_goodput(state, "less_loss", {"loss": None})
    queue = _queue(state)
    if used >= BUSY and any(map(state.is_greedy, state.groups)) and queue is not None and queue.drops == "tail":
        return _of_goodput(state, "larger_buffer", lambda limit: 2 * limit)
    return None


def _trial_of_full(state: _FindingState) -> TriedChange | None:
    queue = _queue(state)
    unequal = _unequal(state)
    shown = unequal is not None and state.judged(*unequal, "flow_goodput_bps").matters
    if unequal is not None and shown and queue is not None and queue.separates != "flows":
        scenario = changed(state.scenario, state.link, {"queue": {"name": "fq_codel"}})
        least = unequal[1]
        groups = [least, *(group for group in state.groups if group != least and state.is_greedy(group))]
        names = tuple(f"group/{group}/flow_goodput_bps" for group in groups)
        return None if scenario is None else TriedChange("fair_queue", scenario, names, "higher", {"group": least})
    standing = _standing_s(state)
    if standing and queue is not None and queue.drops == "tail":
        packets = _packets_of(state, standing)
        smaller = _of_limit(state, lambda limit: limit - packets)
        names = (f"link/{state.link}/queueing_delay_s", f"link/{state.link}/utilisation")
        values = {"standing": quantity(standing, "s")}
        return None if smaller is None else TriedChange("smaller_buffer", smaller, names, "lower", values)
    return None


def _of_goodput(
    state: _FindingState, template: str, change: Mapping[str, Any] | Callable[[int], int]
) -> TriedChange | None:
    """A change of the link, or of what its queue holds, after which flows may get more."""
    scenario = _of_limit(state, change) if callable(change) else changed(state.scenario, state.link, change)
    return None if scenario is None else TriedChange(template, scenario, ("goodput_bps",), "higher", {})


def _of_limit(state: _FindingState, change: Callable[[int], int]) -> Scenario | None:
    """The scenario with a queue that holds another number of packets, if it counts them."""
    document = description.link_of(state.scenario, state.link)
    try:
        limit = limit_packets(Scenario.from_document(dict(state.scenario)), state.link)
    except ParshallError:
        return None
    if document is None or limit is None:
        return None
    named = document.get("queue") or "drop_tail"
    queue = {"name": named} if isinstance(named, str) else dict(named)
    return changed(state.scenario, state.link, {"queue": queue | {"limit": f"{max(1, change(limit))} packets"}})


def _packets_of(state: _FindingState, wait_s: float) -> int:
    """The packets of the mean size that the link transmits in a time."""
    rows = state.run.tables["links"].filter(pl.col("link") == state.link)
    bits = 8 * int(rows["forwarded_bytes"].sum()) / int(rows["forwarded_packets"].sum())
    return int(wait_s * float(rows["rate_bps"].mean()) / bits)  # type: ignore[arg-type]


def _queue(state: _FindingState) -> properties.QueueTraits | None:
    """Return the properties that the queue of the link declares, where the scenario is known."""
    document = description.link_of(state.scenario, state.link)
    if document is None:
        return None
    try:
        return properties.queue(description.name_of(document.get("queue") or "drop_tail"))
    except InputError:  # of a later version
        return None


def _unequal(state: _FindingState) -> tuple[str, str] | None:
    """The groups with the most and the least goodput, where these are so far apart that it asks for a remedy."""
    greedy = [group for group in state.groups if state.is_greedy(group)]
    goodputs = {group: state.value(f"group/{group}/flow_goodput_bps") for group in greedy}
    goodput = {group: value for group, value in goodputs.items() if value is not None}
    if len(goodput) < 2:
        return None
    most, least = max(goodput, key=goodput.__getitem__), min(goodput, key=goodput.__getitem__)
    return (most, least) if goodput[most] > UNEQUAL * goodput[least] else None


def _standing_s(state: _FindingState) -> float | None:
    """Return the delay that 99 % of packets have at least, where it is a good part of the largest one."""
    delays = of_link(state.run.tables, state.link)
    if delays is None:
        return None
    least, most = delays.quantiles([0.01, 0.99]).tolist()
    return float(least) if least > STANDING * most else None
