"""Groups of flows, in the units that the simulator takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from parshall import _core
from parshall.scenario.schema.flows import DSCP, TCP_KEYS, TCP_PARAMETERS, CongestionControl, FlowGroup
from parshall.scenario.schema.model import Problem
from parshall.scenario.schema.problems import quoted, shown
from parshall.scenario.schema.profiles import kernels_own
from parshall.scenario.schema.quantities import PS_PER_S, Duration, ProcessingTime, base_of
from parshall.scenario.schema.resolve.resolved import ResolvedGroup
from parshall.scenario.schema.resolve.values import Context, configuration, jitter, parameters, within
from parshall.scenario.schema.spread import Distributed, Linear, Listed, Staggered, UniformBetween, UniformWithin


@dataclass(frozen=True)
class Route:
    """The links that a group's packets cross, by index."""

    path: list[int]
    reverse_path: list[int]
    delay_ps: int
    """Of these links, there and back: no RTT is shorter. A way back without links is as long as the way there."""
    slowest_bps: float
    """The rate of the slowest link that data crosses."""


LONGEST_SERVICE_PS = PS_PER_S // 100
"""A processing time in packets is no longer than this (docs/simulator.md), than the profile says, or than the run."""

_NO_TIME = ProcessingTime("0 s")


def flow_group(
    group: FlowGroup, route: Route, duration_ps: int, processing_time: ProcessingTime, context: Context
) -> ResolvedGroup:
    """A group as Rust reads it; `processing_time` is that of groups that give none."""
    packet_bytes, header_bytes = group.packet_size.bytes, group.header_size.bytes
    context = replace(context, packet_bytes=packet_bytes - header_bytes)
    workload, (datagrams, controlled, random_times) = _workload(group, packet_bytes, context)
    processing_time = group.processing_time or (_NO_TIME if random_times else processing_time)
    rtt, _ = rtt_spread(group, route.delay_ps, context)
    longest_ps = route.delay_ps if "distribution" in rtt else _extremes(rtt, group.count)[1]
    return ResolvedGroup(
        name=str(group.name),
        count=group.count,
        external=False,
        path=route.path,
        reverse_path=route.reverse_path,
        rtt_ps=rtt,
        jitter=jitter("jitter", group.jitter, context),
        reverse_jitter=_reverse_jitter(group, context, datagrams=datagrams),
        access_bps=base_of(group.access_rate),
        access_packets=_access_packets(group, datagrams=datagrams),
        dscp=DSCP[group.dscp],
        processing_ps=_processing_ps(group, processing_time, route, duration_ps),
        marker=_marker(group, packet_bytes, context),
        start_ps=_start(group, duration_ps),
        packet_bytes=packet_bytes,
        header_bytes=header_bytes,
        tcp=None if datagrams else _tcp(group, context),
        congestion_control=_congestion_control(group, longest_ps, context, controlled=controlled)
        if controlled or not datagrams
        else None,
        workload=workload,
    )


def _access_packets(group: FlowGroup, *, datagrams: bool) -> int | None:
    """Return the number of packets that the queue of the access link holds; None: no limit."""
    if group.access_queue is None:
        return None
    if datagrams:
        raise Problem(("access_queue",), f'"{group.workload.name}" sends datagrams; accepted with TCP')
    if group.access_rate is None:
        raise Problem(("access_queue",), "a link without a rate has no queue; write an access_rate, too")
    return group.access_queue.packets


def _reverse_jitter(group: FlowGroup, context: Context, *, datagrams: bool) -> dict[str, Any] | None:
    if datagrams and group.reverse_jitter is not None:
        raise Problem(
            ("reverse_jitter",), f'"{group.workload.name}" sends datagrams, which nothing answers; accepted with TCP'
        )
    return jitter("reverse_jitter", group.reverse_jitter, context)


def rtt_spread(group: FlowGroup, delay_ps: int, context: Context) -> tuple[dict[str, Any], float]:
    """The RTTs of a group as Rust reads them, and their mean in seconds."""
    rtt = group.rtt
    if isinstance(rtt, Distributed):
        law, mean_s = _distribution(rtt, context)
        return {"distribution": {"of": law, "min_ps": delay_ps}}, mean_s
    spread = _spread(rtt, "rtt", group.count)
    values = _extremes(spread, group.count)
    if min(values) < delay_ps:
        shortest = _core.format_quantity("duration", min(values))
        path = _core.format_quantity("duration", delay_ps)
        raise Problem(
            ("rtt",),
            f'found "{shortest}", which is below the delay of the links on its path; write "{path}" or more',
        )
    total = sum(spread["list"]) / group.count if "list" in spread else sum(values) / 2
    return spread, total / PS_PER_S


def _start(group: FlowGroup, duration_ps: int) -> dict[str, Any]:
    spread = _spread(group.start, "start", group.count)
    first, _ = _extremes(spread, group.count)
    if first >= duration_ps:
        latest, end = (_core.format_quantity("duration", ps) for ps in (first, duration_ps))
        raise Problem(("start",), f'found "{latest}" as the first start; write starts before the end, "{end}"')
    return spread


def _processing_ps(group: FlowGroup, time: ProcessingTime, route: Route, duration_ps: int) -> int:
    """The range of the random time that each packet is processed."""
    if time.service_times is not None:
        if group.profile and time.service_times > 0:
            return min(group.profile.processing_ps, duration_ps)
        service_ps = group.packet_size.bytes * 8 * PS_PER_S / max(route.slowest_bps, 1.0)
        return min(round(time.service_times * service_ps), LONGEST_SERVICE_PS, duration_ps)
    if time.ps >= duration_ps:
        raise Problem(("processing_time",), f'found "{time}"; write less than the duration')
    return time.ps


def _spread(given: Any, key: str, count: int) -> dict[str, Any]:
    match given:
        case Duration():
            return {"constant": given.ps}
        case Linear():
            return {"linear": {"first": given.first.ps, "step": given.step.ps}}
        case Staggered():
            return {"linear": {"first": 0, "step": given.staggered.ps}}
        case UniformWithin(uniform=Duration(ps=end)):
            return {"uniform": {"low": 0, "high": end}}
        case UniformBetween(uniform=tuple(ends)) | UniformWithin(uniform=list(ends)):
            low, high = (end.ps for end in ends)
            if low >= high:
                raise Problem((key, "uniform"), f"found {shown(given.uniform)}; write the smaller end first")
            return {"uniform": {"low": low, "high": high}}
        case Listed():
            if len(given.values) != count:
                raise Problem(
                    (key, "list"),
                    f"found {len(given.values)} for {count} flows; write one value for each flow",
                )
            return {"list": [value.ps for value in given.values]}
        case _:
            raise TypeError(f"no spread: {given!r}")


def _extremes(spread: dict[str, Any], count: int) -> tuple[int, int]:
    """The smallest and the largest value."""
    match spread:
        case {"constant": value}:
            return value, value
        case {"linear": {"first": first, "step": step}}:
            return first, first + (count - 1) * step
        case {"uniform": {"low": low, "high": high}}:
            return low, high
        case _:
            return min(spread["list"]), max(spread["list"])


def _distribution(rtt: Distributed, context: Context) -> tuple[dict[str, Any], float]:
    with within("rtt", "distribution"):
        law = configuration(rtt.distribution, context)
        return law, _core.check_distribution(json.dumps(law))


def _workload(group: FlowGroup, packet_bytes: int, context: Context) -> tuple[dict[str, Any], tuple[bool, bool, bool]]:
    """The workload as Rust reads it; whether it sends datagrams, at a controlled rate, at random times."""
    with within("workload"):
        resolved = configuration(group.workload, context)
        datagrams, controlled, random_times = _core.check_workload(json.dumps(resolved), packet_bytes)
        if datagrams:  # sizes are those of packets then
            resolved = configuration(group.workload, replace(context, packet_bytes=packet_bytes))
            _core.check_workload(json.dumps(resolved), packet_bytes)
            _refuse_tcp(group, controlled=controlled)
    return resolved, (datagrams, controlled, random_times)


def _marker(group: FlowGroup, packet_bytes: int, context: Context) -> dict[str, Any]:
    """The marker as Rust reads it: sizes in packets are those of full packets on the wire."""
    with within("marker"):
        resolved = configuration(group.marker, replace(context, packet_bytes=packet_bytes))
        _core.check_marker(json.dumps(resolved), packet_bytes, base_of(group.access_rate))
    return resolved


def _refuse_tcp(group: FlowGroup, *, controlled: bool) -> None:
    accepted = {"congestion_control"} if controlled else set()
    given = [key for key in TCP_KEYS if key in group.model_fields_set - accepted]
    if given:
        raise Problem((), f'"{group.workload.name}" sends datagrams, without TCP: leave out {quoted(given)}')


def _tcp(group: FlowGroup, context: Context) -> dict[str, Any]:
    """The endpoint as Rust reads it."""
    tcp = {**parameters(group, TCP_PARAMETERS, context), "rules": group.forms}
    with within("congestion_control"):
        control = configuration(control_of(group), context)
    if not tcp["timestamps"] and _core.needs_timestamps(json.dumps(control)):
        needed = f"{group.congestion_control.name} measures delays with every ACK"
        raise Problem(("timestamps",), f"found false, but {needed}; write timestamps = true")
    if tcp["slow_start"] != "standard":
        found = f'found "{tcp["slow_start"]}"'
        if tcp["slow_start"] == "hystart++" and not tcp["timestamps"]:
            raise Problem(("slow_start",), f"{found}, which needs an RTT sample of every ACK; write timestamps = true")
        if not _core.has_standard_slow_start(json.dumps(control)):
            own = f"{group.congestion_control.name} has no standard slow start that it could replace"
            raise Problem(("slow_start",), f'{found}, but {own}; write "standard"')
    return tcp


def control_of(group: FlowGroup) -> Any:
    """The group's control, or the one that the kernel of its profile has by that name.

    A control whose parameters are given stays as it is: the kernel's has others.
    """
    given = group.congestion_control
    other_slow_start = group.model_dump(include={"slow_start"}) != {"slow_start": "standard"}
    name, parameters = kernels_own(given.name, group.profile, other_slow_start=other_slow_start)
    if name == given.name or given.model_fields_set - {"name"}:
        return given
    return _named(name, tuple(parameters.items()))


@cache
def _named(name: str, parameters: tuple[tuple[str, Any], ...]) -> Any:
    """A control of the catalog with some of its parameters."""
    return TypeAdapter(CongestionControl).validate_python({"name": name, **dict(parameters)})


def _congestion_control(group: FlowGroup, longest_ps: int, context: Context, *, controlled: bool) -> dict[str, Any]:
    """The control as Rust reads it.

    `longest_ps` is the longest RTT of the group. RTTs drawn from a distribution are known when the network is built,
    which checks the longest of them in the same way.
    """
    with within("congestion_control"):
        resolved = configuration(control_of(group), context)
        _core.check_control(json.dumps(resolved), longest_ps, controlled)
    return resolved
