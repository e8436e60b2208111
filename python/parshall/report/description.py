"""The scenario in words: what a reader needs before the numbers.

It reads the complete document of a scenario (every default filled in), and says nothing about what it does not
find there: a scenario that a later version wrote is described as far as it is understood.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from parshall.foundations.numbers import NO_BREAK, counted
from parshall.report.bounded import MOST
from parshall.results.records import Result
from parshall.scenario import properties
from parshall.scenario.schema.profiles import PROFILES
from parshall.scenario.schema.writing import toml

Document = Mapping[str, Any]


def document(run: Result) -> Document:
    """The scenario as plain tables; empty if there is none."""
    tables: Document = run.metadata.get("scenario") or {}
    return tables


def sentences(scenario: Document, metadata: Mapping[str, Any] | None = None) -> list[str]:
    """The network, then each group of flows, then time and repetitions; `metadata` is that of the run."""
    how = metadata or {}
    groups = [group for group in scenario.get("flows", []) if isinstance(group, Mapping)]
    real = [group for group in groups if how.get("instrument") == "emulate" and group.get("endpoint") == "kernel"]
    texts = [_network(scenario)]
    texts += [_group(group, how.get("programs"), is_real=group in real) for group in groups[:MOST]]
    texts += [f"{counted(len(groups) - MOST, 'other group')} of flows are in the scenario."] * (len(groups) > MOST)
    texts += [_endpoints([group for group in groups if group not in real]), _time(scenario)]
    return [sentence for sentence in texts if sentence]


def source(scenario: Document) -> str:
    """The complete scenario as a file, to be read, copied or run."""
    return toml(scenario)


def link_of(scenario: Document, name: str) -> Document | None:
    """The tables of a link by its name in the records; None if there is no such link."""
    bottleneck = scenario.get("bottleneck")
    if isinstance(bottleneck, Mapping):
        reverse = bottleneck.get("reverse")
        way_back = {**bottleneck, **(reverse if isinstance(reverse, Mapping) else {})}
        return {"bottleneck": bottleneck, "reverse": way_back}.get(name)
    links = (link for link in scenario.get("links") or [] if isinstance(link, Mapping))
    return next((link for link in links if link.get("name") == name), None)


def _network(scenario: Document) -> str:
    bottleneck = scenario.get("bottleneck")
    if isinstance(bottleneck, Mapping):
        reverse = bottleneck.get("reverse")
        back = (
            f" The way back is contended too: {_link({**bottleneck, **reverse})}."
            if isinstance(reverse, Mapping)
            else ""
        )
        return f"The bottleneck is {_link(bottleneck)}.{back}"
    links = [link for link in scenario.get("links") or [] if isinstance(link, Mapping)]
    if not links:
        return ""
    each = "; ".join(f"{link.get('name', '?')}, {_link(link)}" for link in links)
    return f"There are {counted(len(links), 'link')}: {each}."


def _link(link: Document) -> str:
    rate = _q(link["rate"]) if link.get("rate") else f"varying rate ({link.get('rate_trace', 'a trace')})"
    parts = [f"a link of {rate}"]
    if link.get("delay"):
        parts.append(f"{_q(link['delay'])} one-way delay")
    queue = link.get("queue")
    if queue:
        limit = queue.get("limit") if isinstance(queue, Mapping) else None
        parts.append(f"a {properties.title(name_of(queue))} queue" + (f" of {_q(limit)}" if limit else ""))
    if name_of(link.get("loss") or "none") != "none":
        parts.append(f"random loss ({_parameters(link['loss'])})")
    if link.get("jitter"):
        parts.append(f"jitter ({_jitter(link['jitter'])})")
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _group(group: Document, programs: Document | None, *, is_real: bool) -> str:
    number = group.get("count", 1)
    control = group.get("congestion_control")
    kind = f"{name_of(control)} " if control else ""
    flows = f"{group.get('name', 'flows')}: {counted(number, f'{kind}flow')}"
    parts = [flows, f"RTT {_values(group['rtt'])}" if "rtt" in group else ""]
    if control and group.get("recovery") not in (None, _usual_recovery(group)):
        parts.append(f"{name_of(group['recovery'])} recovery")
    if group.get("direction") == "reverse":
        parts.append("on the way back")
    if group.get("path"):
        parts.append(f"over {' → '.join(map(str, group['path']))}")
    if group.get("access_rate"):
        queue = f", a queue of {_q(group['access_queue'])} before it" if group.get("access_queue") else ""
        parts.append(f"access at {_q(group['access_rate'])}{queue}")
    if group.get("jitter"):
        parts.append(f"jitter of data ({_jitter(group['jitter'])})")
    if group.get("reverse_jitter"):
        parts.append(f"jitter of ACKs ({_jitter(group['reverse_jitter'])})")
    if group.get("receive_window") not in (None, "unlimited"):
        parts.append(f"receive window {_q(group['receive_window'])}")
    start = group.get("start")
    if programs is not None and programs.get("group") == group.get("name"):
        parts.append(_programs(programs))
    else:
        parts.append(_workload(group.get("workload")))
        parts.append(f"start {_values(start)}" if start not in (None, "0 s") else "")
    if is_real:
        parts.append(_kernel(group.get("kernel") or {}))
    return ", ".join(part for part in parts if part) + "."


def _usual_recovery(group: Document) -> str:
    """The recovery that the group's TCP has by default."""
    profile = PROFILES.get(group.get("tcp", ""))
    return str(profile.defaults["recovery"]) if profile else "sack"


def _kernel(options: Document) -> str:
    """Return the settings of real hosts beside the group's other keys, in words."""
    parts = [f"{name} = {value}" for name, value in (options.get("sysctls") or {}).items()]
    parts += [f"{key.replace('_', ' ')} {_q(options[key])}" for key in _KERNEL_SIZES if options.get(key)]
    if options.get("streams", 1) != 1:
        parts.append(f"{options['streams']} connections of each flow side by side")
    return f"with {listed(parts)} at the hosts" if parts else ""


_KERNEL_SIZES = ("pacing", "send_buffer", "receive_buffer")


def _programs(programs: Document) -> str:
    """Return the program that ran in the place of the workload, in words."""
    ends = ("receiving", "sending") if programs["download"] else ("sending", "receiving")
    both = zip((programs["client"], programs["server"]), ends, strict=True)
    return " and ".join(f"{shlex.join(each['command'])} at the {end} end" for each, end in both if each)


def _endpoints(groups: Sequence[Document]) -> str:
    """Return whose TCP the simulated ends have."""
    named = [group for group in groups if group.get("congestion_control") and not _sends_datagrams(group)]
    of = {"rfc": "that of the RFCs", **{name: f"that of {_kernel_name(each.name)}" for name, each in PROFILES.items()}}
    by_tcp: dict[str, list[str]] = {}
    for group in named:
        if group.get("tcp") in of:
            by_tcp.setdefault(of[group["tcp"]], []).append(str(group.get("name", "flows")))
    if len(by_tcp) == 1:
        return f"TCP is {next(iter(by_tcp))}."
    each = [f"{tcp} for {_some(names)}" for tcp, names in by_tcp.items()]
    return f"TCP is {listed(each)}." if each else ""


def _kernel_name(profile: str) -> str:
    """``linux-6.18`` as text has it."""
    return profile.capitalize().replace("-", " ")


def _some(names: Sequence[str]) -> str:
    """The first of some names."""
    return listed(names) if len(names) <= MOST_NAMED else f"{', '.join(names[:MOST_NAMED])} and others"


MOST_NAMED = 5
"""So many groups are named in a sentence."""


def _sends_datagrams(group: Document) -> bool:
    return properties.workload(name_of(group.get("workload") or "bulk")).datagrams


def _workload(workload: Any) -> str:
    if workload is None:
        return ""
    title = properties.workload(name_of(workload)).title
    details = _parameters(workload, named=False)
    return f"{title} ({details})" if details else title


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


def _time(scenario: Document) -> str:
    if not scenario.get("duration"):
        return ""
    warm_up = scenario.get("warm_up")
    repetitions = scenario.get("repetitions", 1)
    text = f"It lasts {_q(scenario['duration'])}"
    if waits_for := scenario.get("ends_with"):
        text = f"It lasts until the transfers of {listed(list(waits_for))} are done, at most {_q(scenario['duration'])}"
    if warm_up not in (None, "0 s", "0"):
        text += f", of which the first {_q(warm_up)} are not measured"
    if repetitions != 1:
        text += f", and is run {repetitions} times with different random numbers"
    return text + "."


def _values(spread: Any) -> str:
    """A constant, or how flows differ."""
    if not isinstance(spread, Mapping):
        return _q(spread)
    if "first" in spread:
        return f"{_q(spread['first'])} and up in steps of {_q(spread.get('step', '?'))}"
    if "staggered" in spread:
        return f"one every {_q(spread['staggered'])}"
    if "list" in spread:
        values = [_q(value) for value in spread["list"]]
        return ", ".join(values) if len(values) <= 6 else f"{', '.join(values[:5])}, … ({len(values)} values)"
    if "uniform" in spread:
        ends = spread["uniform"]
        return (
            f"uniform over {' to '.join(map(_q, ends))}" if isinstance(ends, list) else f"at random within {_q(ends)}"
        )
    if "distribution" in spread:
        return _parameters(spread["distribution"])
    return _parameters(spread)


def _parameters(choice: Any, *, named: bool = True) -> str:
    """``pareto, mean 30 packets, tail index 1.5``."""
    if not isinstance(choice, Mapping):
        return name_of(choice) if named else ""
    parts = [name_of(choice)] if named and "name" in choice else []
    for key, value in choice.items():
        if key == "name" or value is None:
            continue
        if isinstance(value, Mapping):
            parts.append(f"{_spaced(key)} {_parameters(value)}")
        elif isinstance(value, list):
            entries = (_parameters(entry) if isinstance(entry, Mapping) else _q(entry) for entry in value[:4])
            shown = ", ".join(entries) + (", …" if len(value) > 4 else "")
            parts.append(f"{_spaced(key)} {shown}")
        else:
            parts.append(f"{_spaced(key)} {_q(value)}")
    nested = any(isinstance(value, Mapping) for value in choice.values())
    return ("; " if nested else ", ").join(parts)


def _jitter(jitter: Document) -> str:
    """``uniform, low 0 s, high 10 ms; packets keep their order``."""
    order = "overtake each other" if jitter.get("order") == "free" else "keep their order"
    return f"{_parameters(jitter.get('distribution'))}; packets {order}"


def name_of(choice: Any) -> str:
    """The name of a catalog entry, written alone or with parameters."""
    return str(choice.get("name", "") if isinstance(choice, Mapping) else choice)


def _spaced(key: str) -> str:
    return key.replace("_", " ")


def _q(value: Any) -> str:
    """A quantity as it was written, its unit kept on the line of its number."""
    return str(value).replace(" ", NO_BREAK)
