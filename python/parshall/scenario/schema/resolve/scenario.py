"""A whole scenario, in the units that the simulator takes (``crates/sim/src/scenario.rs``)."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall import _core
from parshall.scenario.schema.model import Problem
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.scenario.schema.quantities import PS_PER_S
from parshall.scenario.schema.resolve.flows import Route, flow_group, rtt_spread
from parshall.scenario.schema.resolve.network import Contended, Crossing, contended_links, link_rate, link_spec, route
from parshall.scenario.schema.resolve.resolved import Resolved, ResolvedGroup, ResolvedLink
from parshall.scenario.schema.resolve.values import Context, refused, within

if TYPE_CHECKING:
    from parshall.scenario import Scenario

SAMPLES = 1000
"""Samples in a run by default, if it lasts its duration."""

FINEST_PS = PS_PER_S // 1_000_000
"""Of one that ends before: where intervals begin, 1 us; they grow until 400 to 1000 cover the run."""

LATENCY_FLOWS = 10_000
"""Delays from end to end are measured by default in runs of at most so many flows."""


def resolve(scenario: Scenario, folder: Path) -> Resolved:
    """The scenario as Rust reads it.

    Raises
    ------
    Problem
        Parts do not fit together, or a file cannot be read.
    """
    context = Context(folder, packet_bytes=1500)
    duration_ps = scenario.duration.ps
    links = contended_links(scenario)
    _check_names(scenario)
    routes = _routes(scenario, links, context)
    crossings = _crossings(scenario, routes, context)
    resolved = Resolved(
        seed=scenario.seed,
        duration_ps=duration_ps,
        ends_with=_ends_with(scenario),
        warm_up_ps=_warm_up(scenario, duration_ps),
        links=tuple(_link(each, crossings[index], context) for index, each in enumerate(links)),
        flows=tuple(_group(scenario, index, each, duration_ps, context) for index, each in enumerate(routes)),
        probes=_probes(scenario, duration_ps, [each.name for each in links]),
    )
    _check(resolved, links)
    return resolved


def _check(resolved: Resolved, links: list[Contended]) -> None:
    """Refuse what the simulator refuses: it checks as if it built the network."""
    try:
        _core.check_scenario(resolved.json())
    except ValueError as error:
        problem = refused(error)
        match problem.key:
            case ("links", index, *rest):
                key = (*links[int(index)].key, *rest)
            case (family, index, *rest) if str(index).isdecimal():
                key = (family, int(index), *rest)
            case _:
                key = problem.key
        raise Problem(key, problem.message) from None


def _warm_up(scenario: Scenario, duration_ps: int) -> int:
    if scenario.warm_up.ps >= duration_ps:
        raise Problem(("warm_up",), f'found "{scenario.warm_up}"; write less than the duration, "{scenario.duration}"')
    return scenario.warm_up.ps


def _ends_with(scenario: Scenario) -> list[int]:
    """The groups whose transfers end the run: each has a last one."""
    finite = {str(group.name): index for index, group in enumerate(scenario.flows) if group.workload.name == "transfer"}
    names = scenario.ends_with or []
    for place, name in enumerate(names):
        if name not in finite:
            accepted = quoted(finite) or "there is none here"
            problem = f'found "{name}"; write a group whose workload is "transfer": {accepted}'
            raise Problem(("ends_with", place), problem + did_you_mean(name, finite))
    return sorted({finite[name] for name in names})


def _check_names(scenario: Scenario) -> None:
    for key, parts in (("links", scenario.links or []), ("flows", scenario.flows)):
        names = [part.name for part in parts]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise Problem((key, index, "name"), f'found "{name}" again; names differ')


def _routes(scenario: Scenario, links: list[Contended], context: Context) -> list[Route]:
    dumbbell = scenario.bottleneck is not None
    rates_bps = [_mean_rate(each, context) for each in links]
    routes = []
    for index, group in enumerate(scenario.flows):
        with within("flows", index):
            routes.append(route(group, links, rates_bps, dumbbell))
    return routes


def _crossings(scenario: Scenario, routes: list[Route], context: Context) -> dict[int, list[Crossing]]:
    """The groups that cross each link with their data."""
    crossings: dict[int, list[Crossing]] = defaultdict(list)
    for index, (group, taken) in enumerate(zip(scenario.flows, routes, strict=True)):
        with within("flows", index):
            _, mean_rtt_s = rtt_spread(group, taken.delay_ps, context)
        for link in taken.path:
            crossings[link].append(Crossing(group.count, mean_rtt_s, group.packet_size.bytes))
    return crossings


def _mean_rate(contended: Contended, context: Context) -> float:
    with within(*contended.key):
        return link_rate(contended.link, context)[1]


def _link(contended: Contended, crossings: list[Crossing], context: Context) -> ResolvedLink:
    with within(*contended.key):
        return link_spec(contended, crossings, context)


def _group(scenario: Scenario, index: int, taken: Route, duration_ps: int, context: Context) -> ResolvedGroup:
    with within("flows", index):
        return flow_group(scenario.flows[index], taken, duration_ps, scenario.processing_time, context)


def _probes(scenario: Scenario, duration_ps: int, links: list[str]) -> dict[str, Any]:
    probes = scenario.probes
    return {
        "flow_samples": _sampling(probes.flow_samples, scenario, duration_ps),
        "flows_sampled": probes.flows,
        "rounds_flows": probes.rounds,
        "link_samples": _sampling(probes.link_samples, scenario, duration_ps),
        "transfers": probes.transfers,
        "internals": probes.internals,
        "pcap": _captured(probes.pcap, links),
        "qlog": probes.qlog,
        "latency": _latency(scenario) if probes.latency is None else probes.latency,
    }


def _sampling(given: Any, scenario: Scenario, duration_ps: int) -> dict[str, int] | None:
    if given is False:
        return None
    if given is not None:
        return {"every": given.ps}
    return {"fitted": FINEST_PS} if scenario.ends_with else {"every": max(1, duration_ps // SAMPLES)}


def _captured(given: bool | list[str], links: list[str]) -> list[int]:
    """The links that are captured, by their numbers."""
    if isinstance(given, bool):
        return list(range(len(links))) if given else []
    for place, name in enumerate(given):
        if name not in links:
            problem = f'found "{name}"; write a link: {quoted(links)}'
            raise Problem(("probes", "pcap", place), problem + did_you_mean(name, links))
        if name in given[:place]:
            raise Problem(("probes", "pcap", place), f'found "{name}" again; a link is captured once')
    return [links.index(name) for name in given]


def _latency(scenario: Scenario) -> bool:
    return sum(group.count for group in scenario.flows) <= LATENCY_FLOWS
