"""What a run shows, in a few sentences: what limits, who gets what, what that costs, what would change it.

Each number is a quantity of the run, printed as everywhere on its page; `Finding.quantities` names them. What would
change the result is said only where the run itself shows it:

| the run shows | what would change it |
| --- | --- |
| a full link, and groups of flows with unequal goodput in one queue | a queue for each flow |
| a full link, and a tail-drop buffer that never empties | a buffer smaller by what is always in it |
| a full link otherwise | a faster link, and nothing else |
| losses, most of them on the medium, and time to spare on the link | less loss |
| drops by the queue, and time to spare on the link | a larger buffer |
| neither losses nor a full link | what the flows are allowed, or asked, to send |

References: G. Appenzeller, I. Keslassy, N. McKeown, Sizing router buffers, SIGCOMM 2004 (a buffer that never empties is
larger than the link needs to stay busy); K. Nichols, V. Jacobson, Controlling queue delay, ACM Queue 10(5), 2012.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

import polars as pl

from parshall import properties
from parshall.errors import InputError
from parshall.quantities.completion import counts
from parshall.quantities.definition import link_name
from parshall.quantities.measuring import BUSY, Metric, Metrics, busiest, lacking, of_place, of_run
from parshall.records import Result
from parshall.report import description
from parshall.report.crossing import crossing
from parshall.report.figures.delays import of_link, under_load
from parshall.report.numbers import count, counted, quantity
from parshall.report.uncertainty import some_of
from parshall.stats.families import Pair, judged
from parshall.stats.verdict import AT_LEAST, DIFFERENT, Judgement, Verdict, between

FULL = 0.95
"""From this utilisation on a link is called full."""

UNEQUAL = 1.25
"""Goodputs of a flow within this factor of each other need no remedy."""

STANDING = 0.1
"""A queue that never falls below this part of its 99th percentile is called standing."""

FEW_LOST = 1e-4
"""Losses rarer than that limit nothing."""


@dataclass(frozen=True)
class Finding:
    """The sentences, and the names of the quantities whose values they give."""

    sentences: tuple[str, ...] = ()
    quantities: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """All sentences; empty where nothing was measured."""
        return " ".join(self.sentences)


def finding(run: Result) -> Finding:
    """What `run` shows; nothing where it recorded no link or no flow."""
    links, flows = run.tables.get("links"), run.tables.get("flows")
    if links is None or flows is None:
        return Finding()
    link = busiest(links)
    state = _State(run, link, links["link"].n_unique() > 1)
    sentences = [_ended(state), _limit(state), _shares(state), _cost(state), _change(state)]
    return Finding(tuple(sentence for sentence in sentences if sentence), tuple(state.used))


class _State:
    """What the sentences are made of, and the quantities that they have used."""

    def __init__(self, run: Result, link: str, several: bool) -> None:
        self.run = run
        self.link = link
        self.place = link_name(link) if link_name(link) != link else f"the link {link}"
        self.several = several
        self.scenario = description.document(run)
        self.groups = crossing(run, link)
        self.used: list[str] = []
        self._metrics: Metrics = of_run(run.tables, link) | of_place(run.tables, "link", link)

    def value(self, name: str) -> float | None:
        """The estimate of a quantity, None if there is none."""
        if name.startswith("group/") and name not in self._metrics:
            self._metrics |= of_place(self.run.tables, "group", name.split("/")[1])
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
        """What a quantity of one group shows against another's, as a pair that was chosen among all pairs of groups.

        Both are measured in the same repetitions.
        """
        one, two = (self._metrics[f"group/{group}/{key}"].pooled for group in (a, b))
        if len(self.groups) == 2:
            return between(one, two, common_numbers=True)
        return judged({key: Pair(one, two, common_numbers=True)}, of=comb(len(self.groups), 2))[key]

    @property
    def lost_on_medium(self) -> bool:
        """Whether most of what was lost at the link was lost on the medium."""
        links = self.run.tables["links"].filter(pl.col("link") == self.link)
        return int(links["medium_losses_packets"].sum()) > int(links["dropped_packets"].sum())

    def described(self, group: str) -> Mapping[str, Any]:
        """The keys of a group in the scenario; none if that is not known."""
        groups = (each for each in self.scenario.get("flows") or () if isinstance(each, Mapping))
        return next((each for each in groups if each.get("name") == group), {})

    def is_greedy(self, group: str) -> bool:
        """Whether its flows send whatever the network lets them."""
        return description.name_of(self.described(group).get("workload") or "bulk") == "bulk"


def _ended(state: _State) -> str:
    """How many of the transfers ended, where not all did: what is said of completion times rests on it."""
    ended, begun = counts(state.run.tables)
    return "" if ended == begun else f"{count(ended)} of {counted(begun, 'transfer')} ended."


def _limit(state: _State) -> str:
    used = state.of_link("utilisation")
    if used is None:
        return ""
    name, busy = state.place, state.text_of_link("utilisation")
    if used >= FULL:
        return f"{_capital(name)} is the limit: it is {busy} busy."
    subject = f"no link is full: the busiest, {name}," if state.several else f"{name} is not full: it"
    lost = state.of_link("loss_rate") or 0.0
    if lost < FEW_LOST:
        why = f"and next to nothing is lost there, so what limits the flows is {_own_limits(state)}"
    elif state.lost_on_medium:
        why = f"and losses on the medium, {state.text_of_link('loss_rate')} of packets, hold the flows back"
    elif used >= BUSY:
        why = f"because its queue drops {state.text_of_link('loss_rate')} of packets before that"
    else:
        why = f"although its queue drops {state.text_of_link('loss_rate')} of packets, at times when it is"
    return f"{_capital(subject)} is {busy} busy, {why}."


def _own_limits(state: _State) -> str:
    """What may keep flows from sending more, other than the link."""
    groups = [state.described(group) for group in state.groups]
    limits = {
        "their access links": any(group.get("access_rate") for group in groups),
        "their receive windows": any(group.get("receive_window") not in (None, "unlimited") for group in groups),
        "how much the applications send": not all(map(state.is_greedy, state.groups)),
    }
    return description.listed([limit for limit, holds in limits.items() if holds], "or") or "their own windows"


def _shares(state: _State) -> str:
    """Who gets what, of the groups that cross the link."""
    known = {group: state.value(f"group/{group}/flow_goodput_bps") for group in state.groups}
    goodput = {group: value for group, value in known.items() if value is not None}
    greedy = [group for group in goodput if state.is_greedy(group)]
    ranked = sorted(greedy or goodput, key=lambda group: -goodput[group])
    if not ranked:
        return ""
    first, last = ranked[0], ranked[-1]
    if len(goodput) == 1:
        return _of_one(state, first)
    if len(ranked) == 1:
        a_flow = f"{state.text_of_group(first, 'flow_goodput_bps')} a flow"
        if state.value(f"group/{first}/share") is None:
            return f"{first} gets {a_flow}."
        return f"{first} takes {state.text_of_group(first, 'share')} of all goodput, {a_flow}."
    judgement = state.judged(last, first, "flow_goodput_bps")
    if len(ranked) == 2:
        got = state.text_of_group(first, "flow_goodput_bps"), state.text_of_group(last, "flow_goodput_bps")
        if judgement.matters:
            return f"A flow of {first} gets {got[0]}, one of {last} {got[1]}."
        if judgement.verdict in _UNKNOWN:
            return f"{_UNKNOWN[judgement.verdict]}, a flow of {first} gets {got[0]}, one of {last} {got[1]}."
        between_both = f"a flow of {first} ({got[0]}) and one of {last} ({got[1]})"
        if judgement.verdict in _SAME:
            return f"{_capital(between_both)} get {judgement.verdict.text(AT_LEAST)}."
        return f"Between {between_both} no difference is shown{_that_matters(judgement)}."
    groups = counted(len(ranked), "group")
    if not judgement.matters and judgement.verdict not in _UNKNOWN:
        return f"Between the {groups} no difference in goodput is shown{_that_matters(judgement)}."
    most = f"{first} gets most, {state.text_of_group(first, 'flow_goodput_bps')} a flow"
    least = f"{last} least, {state.text_of_group(last, 'flow_goodput_bps')}"
    begins = f"{_UNKNOWN[judgement.verdict]}, of" if judgement.verdict in _UNKNOWN else "Of"
    return f"{begins} {groups}, {most}, and {least}."


_UNKNOWN = {Verdict.UNKNOWN: "In its one repetition", Verdict.NO_SPREAD: "In every repetition alike"}
"""Where chance is not known: what was found is told as of the repetitions that there are."""

_SAME = (Verdict.EQUAL, Verdict.SAME)


def _that_matters(judgement: Judgement) -> str:
    """What is added where one is shown, but too small."""
    return " that matters" if judgement.verdict in DIFFERENT else ""


def _of_one(state: _State, group: str) -> str:
    flows = state.run.tables["flows"].filter(pl.col("group") == group)
    number = max(flows.group_by("repetition").len()["len"].to_list(), default=0)
    got = state.text_of_group(group, "flow_goodput_bps")
    if number < 2:
        return f"Its flow gets {got}."
    fair = (
        f", with a Jain’s index of {state.text_of_group(group, 'jain')}" if state.value(f"group/{group}/jain") else ""
    )
    return f"Its {counted(number, 'flow')} get {got} each on average{fair}."


def _cost(state: _State) -> str:
    """Delay, loss, and what the users of the others' load notice."""
    parts = []
    if state.of_link("queueing_delay_s") is not None:
        wait = f"Packets wait {state.text_of_link('queueing_delay_s')} at {state.place} on average"
        tail = state.of_link("queueing_delay_p99_s")
        parts.append(wait + (f" and 1 in 100 more than {state.text_of_link('queueing_delay_p99_s')}" if tail else ""))
    if (state.of_link("loss_rate") or 0.0) >= FEW_LOST and f"link/{state.link}/loss_rate" not in state.used:
        parts.append(f"{state.text_of_link('loss_rate')} of them are lost")
    group = under_load(state.run)
    if group is not None and state.value(f"group/{group}/one_way_delay_p99_s") is not None:
        parts.append(
            f"99 % of the packets of {group} arrive within {state.text_of_group(group, 'one_way_delay_p99_s')}"
        )
    parts += _completion(state)
    sentence = "; ".join(parts)
    return f"{_capital(sentence)}." if sentence else ""


def _completion(state: _State) -> list[str]:
    """Within which time half and 95 % of the transfers were done, as far as so many ended."""
    unknown = lacking(state.run.tables, state.link, groups=())
    if "completion_p50_s" in unknown:
        return [f"fewer than half of the transfers ended{_above(unknown['completion_p50_s'])}"]
    if state.value("completion_p50_s") is None:
        return []
    half = f"half of the transfers are done within {state.text('completion_p50_s')}"
    if "completion_p95_s" in unknown:
        return [f"{half}, fewer than 95 % ended{_above(unknown['completion_p95_s'])}"]
    if state.value("completion_p95_s") is None:
        return [half]
    return [f"{half}, 95 % within {state.text('completion_p95_s')}"]


def _above(metric: Metric) -> str:
    """What a quantile that was not reached is known to exceed."""
    above = None if metric.lacking is None else metric.lacking.above
    which = "median" if metric.named.quantity.key == "completion_p50_s" else "95th percentile"
    return "" if above is None else f": the {which} is more than {quantity(above, 's')}"


def _change(state: _State) -> str:
    used, lost = state.of_link("utilisation"), state.of_link("loss_rate") or 0.0
    if used is None:
        return ""
    if used >= FULL:
        return _change_of_full(state)
    if lost < FEW_LOST:
        return "A faster link would change little."
    if state.lost_on_medium:
        return "Less loss would give them more, a faster link would not."
    queue = _queue(state)
    if used >= BUSY and any(map(state.is_greedy, state.groups)) and queue is not None and queue.drops == "tail":
        return f"A larger buffer could use the other {quantity(1.0 - used, 'ratio')} of the link."
    return ""


def _change_of_full(state: _State) -> str:
    queue = _queue(state)
    unequal = _unequal(state)
    shown = unequal is not None and state.judged(*unequal, "flow_goodput_bps").matters
    if shown and queue is not None and queue.separates != "flows":
        return "A queue that serves flows in turn, such as fq_codel, would even their goodput out."
    standing = _standing_s(state)
    if standing and queue is not None and queue.drops == "tail":
        return (
            f"99 % of packets find {quantity(standing, 's')} of queue or more: a buffer smaller by that would shorten "
            "the wait, and the link would stay as busy."
        )
    if unequal is not None:
        return ""
    return "Only a faster link would give the flows more." if all(map(state.is_greedy, state.groups)) else ""


def _queue(state: _State) -> properties.QueueTraits | None:
    """What the queue of the link declares of itself, where the scenario is known."""
    document = description.link_of(state.scenario, state.link)
    if document is None:
        return None
    try:
        return properties.queue(description.name_of(document.get("queue") or "drop_tail"))
    except InputError:  # of a later version
        return None


def _unequal(state: _State) -> tuple[str, str] | None:
    """The groups with the most and the least goodput, where these are so far apart that it asks for a remedy."""
    greedy = [group for group in state.groups if state.is_greedy(group)]
    goodputs = {group: state.value(f"group/{group}/flow_goodput_bps") for group in greedy}
    goodput = {group: value for group, value in goodputs.items() if value is not None}
    if len(goodput) < 2:
        return None
    most, least = max(goodput, key=goodput.__getitem__), min(goodput, key=goodput.__getitem__)
    return (most, least) if goodput[most] > UNEQUAL * goodput[least] else None


def _standing_s(state: _State) -> float | None:
    """What 99 % of packets wait at least, where that is a good part of what they wait at most."""
    delays = of_link(state.run.tables, state.link)
    if delays is None:
        return None
    least, most = delays.quantiles([0.01, 0.99]).tolist()
    return float(least) if least > STANDING * most else None


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
