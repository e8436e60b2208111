"""Links and the paths across them, in the units that the simulator takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from parshall import _core
from parshall.scenario.schema.flows import FlowGroup
from parshall.scenario.schema.links import Link, ReverseLink
from parshall.scenario.schema.model import Problem
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.scenario.schema.resolve.flows import Route
from parshall.scenario.schema.resolve.resolved import ResolvedLink
from parshall.scenario.schema.resolve.values import Context, configuration, configured, jitter, read_bytes, within

if TYPE_CHECKING:
    from parshall.scenario import Scenario

FORWARD = "bottleneck"
REVERSE = "reverse"
"""The names of a dumbbell's links in the records."""


@dataclass(frozen=True)
class Contended:
    """A link, its name, and where it is in the scenario."""

    name: str
    link: Link
    key: tuple[str | int, ...]


@dataclass(frozen=True)
class Crossing:
    """Facts of a group that a link needs, which the group crosses."""

    flows: int
    mean_rtt_s: float
    packet_bytes: int


def contended_links(scenario: Scenario) -> list[Contended]:
    """All links, in the order in which paths name them by index."""
    if scenario.bottleneck is None:
        return [Contended(link.name, link, ("links", index)) for index, link in enumerate(scenario.links or [])]
    forward = Contended(FORWARD, scenario.bottleneck, ("bottleneck",))
    used = any(group.direction == "reverse" for group in scenario.flows)
    if scenario.bottleneck.reverse is None and not used:
        return [forward]
    reverse = (scenario.bottleneck.reverse or ReverseLink()).like(scenario.bottleneck)
    return [forward, Contended(REVERSE, reverse, ("bottleneck", "reverse"))]


def route(group: FlowGroup, links: Sequence[Contended], rates_bps: Sequence[float], dumbbell: bool) -> Route:
    """The links that a group crosses, of those with these mean rates."""
    if dumbbell:
        _refuse(group, "path", "reverse_path", reason="which [bottleneck] has no use for; name [[links]] instead")
        path, reverse_path = [0], [1] if len(links) == 2 else []
        if group.direction == "reverse":
            path, reverse_path = reverse_path, path
    else:
        _refuse(group, "direction", reason="which says nothing about [[links]]; give path and reverse_path")
        if group.path is None:
            names = quoted(each.name for each in links)
            raise Problem(("path",), f"missing; write the links that data crosses, of {names}")
        path = _indices(group.path, "path", links)
        reverse_path = _indices(group.reverse_path or [], "reverse_path", links)
    # ACKs that cross no link of their own take as long back as data there.
    crossed = [links[index] for index in (*path, *(reverse_path or path))]
    delay_ps = sum(each.link.delay.ps for each in crossed)
    return Route(path, reverse_path, delay_ps, min(rates_bps[index] for index in path))


def link_spec(contended: Contended, crossings: Sequence[Crossing], context: Context) -> ResolvedLink:
    """A link as Rust reads it."""
    link = contended.link
    rate, mean_bps = link_rate(link, context)
    packet_bytes = max((each.packet_bytes for each in crossings), default=1500)

    def bdp_bits() -> float:
        flows = sum(each.flows for each in crossings)
        if flows == 0:
            raise ValueError('found "BDP", but no flow crosses this link; write "100 packets"')
        return mean_bps * sum(each.flows * each.mean_rtt_s for each in crossings) / flows

    sized = replace(context, packet_bytes=packet_bytes, bdp_bits=bdp_bits, rate_bps=mean_bps)
    return ResolvedLink(
        name=contended.name,
        rate=rate,
        delay_ps=link.delay.ps,
        queue=_queue(link, sized),
        loss=configured(("loss",), link.loss, sized),
        jitter=jitter("jitter", link.jitter, sized),
    )


def _queue(link: Link, context: Context) -> dict[str, Any]:
    with within("queue"):
        resolved = configuration(link.queue, context)
        _core.check_queue(json.dumps(resolved))
    return resolved


def link_rate(link: Link, context: Context) -> tuple[dict[str, Any], float]:
    """The rate of a link as Rust reads it, and its mean in bit/s."""
    if link.rate is not None:
        return {"constant": link.rate.bps}, float(link.rate.bps)
    name = link.rate_trace or ""
    try:
        content = read_bytes(name, context.folder, "rate_traces")
    except ValueError as error:
        raise Problem(("rate_trace",), f"{error}; write the path of a trace of delivery opportunities") from None
    try:
        timestamps_ms = _core.read_rate_trace(content)
    except ValueError as error:
        raise Problem(("rate_trace",), f"{name}: {error}") from None
    return {"trace": timestamps_ms}, len(timestamps_ms) * 1500 * 8 / (timestamps_ms[-1] / 1e3)


def _indices(names: Sequence[str], key: str, links: Sequence[Contended]) -> list[int]:
    known = [each.name for each in links]
    for position, name in enumerate(names):
        if name not in known:
            raise Problem(
                (key, position),
                f'found "{name}", which is no link{did_you_mean(name, known)}; links: {quoted(known)}',
            )
        if name in names[:position]:
            raise Problem((key, position), f'found "{name}" again; a path crosses each link once')
    return [known.index(name) for name in names]


def _refuse(group: FlowGroup, *keys: str, reason: str) -> None:
    for key in keys:
        if key in group.model_fields_set and getattr(group, key) != type(group).model_fields[key].default:
            raise Problem((key,), f"found {key}, {reason}")
