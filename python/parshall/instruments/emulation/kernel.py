"""The part of a scenario that a kernel can do, and the abilities of this one."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.foundations.errors import NoEmulationError, ScenarioError
from parshall.scenario import Scenario
from parshall.scenario.schema import external, profiles
from parshall.scenario.schema.catalog import sends_datagrams
from parshall.scenario.schema.flows import TCP_KEYS
from parshall.scenario.schema.kernel import KernelOptions
from parshall.scenario.schema.problems import shown

TAKEN_OVER = frozenset(
    {
        "initial_window",
        "receive_window",
        "initial_receive_buffer",
        "persistent",
        "ecn",
        "timestamps",
        "recovery",
        "congestion_control",
        "tcp",
    }
)
"""Keys of TCP that the hosts take over (crates/emulation/src/planning.rs)."""

WITH_PARAMETERS = frozenset({"multiple_time_scale", "cubic_linux", "cubic_2005"})
"""Congestion controls whose BPF programs have parameters (crates/emulation/src/parameters.rs)."""


@dataclass(frozen=True)
class Abilities:
    """Permissions of this machine."""

    administrator: bool
    """True if this process may make network namespaces without a user namespace."""
    user_namespaces: bool | None
    """True if ordinary users may make user namespaces; None: the kernel does not say."""
    tun_problem: str | None
    """Reason why ``/dev/net/tun`` cannot be opened; None: it can."""
    congestion_controls: list[str]
    """The kernel's names of those that sockets can have."""
    bpf_controls: list[str]
    """Names of those that Parshall can load into the kernel, or record; none without the right to."""
    real_time_priority: int
    """Highest real-time priority of a thread; 0: none."""
    open_files: int | None
    """Most files that a process may have open; None: no limit."""
    may_begin: bool
    """True if hosts can be made, as far as can be known without trying."""

    @property
    def controls(self) -> set[str]:
        """The congestion controls that hosts can have: the kernel's own, and those that are loaded into it."""
        return {*self.congestion_controls, *self.bpf_controls}

    @property
    def problem(self) -> str | None:
        """Reason why no hosts can be made; None: they can."""
        refused = "users may not make user namespaces (sysctl user.max_user_namespaces)"
        return None if self.may_begin else self.tun_problem or refused


def abilities() -> Abilities:
    """Return the permissions of this machine for emulation.

    Raises
    ------
    NoEmulationError
        It is no Linux machine.
    """
    try:
        return Abilities(**json.loads(_core.emulation_abilities()))
    except _core.EmulationRefused as error:
        raise NoEmulationError(str(error)) from None


def kernel_name() -> str:
    """The kernel whose TCP is emulated, with its release.

    >>> kernel_name().startswith("Linux ")
    True
    """
    return f"Linux {platform.release()}"


def left_out(problem: str | None, instrument: str) -> str | None:
    """Return the reason, for readers, why emulations of `instrument` are left out; None: this machine can emulate.

    Parameters
    ----------
    problem
        That of `Abilities`.
    instrument
        ``emulate``: they are all that was asked for; ``both``: the rest is done without them.

    Raises
    ------
    NoEmulationError
        This machine cannot emulate, and nothing else was asked for.

    Examples
    --------
    >>> left_out("no TUN device", "both")
    'this machine cannot emulate: no TUN device. `parshall doctor` says what it lacks.'
    """
    if problem is None:
        return None
    message = f"this machine cannot emulate: {problem}"
    if instrument == "emulate":
        raise NoEmulationError(message)
    return f"{message}. `parshall doctor` says what it lacks."


def emulated(scenario: Scenario) -> dict[str, Any]:
    """The scenario as the emulator takes it: the groups of real hosts are external.

    Raises
    ------
    ScenarioError
        It asks for what this kernel, or any, cannot do.
    NoEmulationError
        This machine cannot emulate.
    """
    able = abilities()
    left_out(able.problem, "emulate")
    resolved: dict[str, Any] = _without_profiles(scenario).resolve()
    ours = [(number, group) for number, group in enumerate(resolved["flows"]) if _is_kernels(scenario, number)]
    problems = [
        f"flows.{number}.{problem}"
        for number, group in ours
        for problem in (
            *_problems(group, able),
            *_problems_of_control(scenario.flows[number].congestion_control),
            *_problems_of_options(scenario.flows[number].kernel, group),
        )
    ]
    if not ours:
        problems.append('flows: each of them has endpoint = "simulated"; write "kernel" for one at least')
    if scenario.probes.qlog:
        problems.append("probes.qlog: the kernel writes no such logs; write false")
    if problems:
        raise ScenarioError(problems, scenario.source)
    for number, group in ours:
        options = scenario.flows[number].kernel
        group["external"] = True
        group["kernel"] = None if options is None else options.resolved()
        group["processing_ps"] = 0  # real hosts take the time that they take
    return resolved


def _without_profiles(scenario: Scenario) -> Scenario:
    """Return the scenario with the kernel's own controls, by the names that it gives; datagrams have no TCP."""
    groups = [
        group.model_copy(update={"tcp": profiles.RFC})
        if group.endpoint == "kernel" and not sends_datagrams(group.workload.name)
        else group
        for group in scenario.flows
    ]
    return scenario.model_copy(update={"flows": groups})


def _is_kernels(scenario: Scenario, number: int) -> bool:
    return scenario.flows[number].endpoint == "kernel"


PACKETS_BYTES = (128, 65_521)
"""The smallest and the largest packets of hosts (crates/hosts/src/plan.rs: the limits of a TUN device)."""


def _problems(group: dict[str, Any], able: Abilities) -> Iterator[str]:
    otherwise = 'or write endpoint = "simulated" for this group'
    smallest, largest = PACKETS_BYTES
    if not smallest <= group["packet_bytes"] <= largest:
        bound = (
            f"found {group['packet_bytes']} bytes; hosts of an emulation send packets of {smallest} to {largest} bytes"
        )
        yield f"packet_size: {bound}; write one of these, {otherwise}"
    control = group["congestion_control"]
    if group["tcp"] is None:
        if control is not None:
            yield f"workload: no kernel sends datagrams at the rate of a control; write another, {otherwise}"
    elif (name := _name(control)) not in (available := {*able.controls, *external.bpf_objects()}):
        accepted = f"this kernel has {', '.join(sorted(available))}; write one of these, {otherwise}"
        yield f'congestion_control: found "{name}"; {accepted}'


def _problems_of_control(control: Any) -> Iterator[str]:
    """Parameters that nobody would read: the kernel's control of that name has its own."""
    if control.name in WITH_PARAMETERS or external.declared(control.name):
        return
    usual = type(control)(name=control.name)
    for key in type(control).model_fields:
        given, kernels = (getattr(each, key) for each in (control, usual))
        if given != kernels:
            has = f"the kernel's {control.name} takes no parameters, and is as with {shown(kernels)}"
            yield (
                f"congestion_control.{key}: found {shown(given)}; {has}; leave it out, "
                'or write endpoint = "simulated" for this group'
            )


def _name(control: Mapping[str, Any]) -> str:
    return str(control["control"] if control["name"] == "external" else control["name"])


def objects(resolved: Mapping[str, Any]) -> dict[str, str | None]:
    """The BPF objects that the kernel is to have for a resolved scenario, by control; None: that of Parshall."""
    controls = [group["congestion_control"] for group in resolved["flows"] if group.get("external")]
    names = {_name(control) for control in controls if control is not None}
    own, kernels = external.bpf_objects(), abilities().congestion_controls
    return {name: own.get(name) for name in sorted(names) if name in own or name not in kernels}


def _problems_of_options(options: KernelOptions | None, group: dict[str, Any]) -> Iterator[str]:
    if options is None:
        return
    for name in options.sysctls:
        if not Path("/proc/sys", *name.split(".")).exists():
            yield f'kernel.sysctls: found "{name}"; this kernel has no such sysctl'
    given = sorted(options.model_fields_set - {"sysctls"})
    if given and group["tcp"] is None:
        yield f"kernel.{given[0]}: datagrams leave when their workload says; accepted with TCP"
    elif options.streams > 1 and group["workload"]["name"] == "open_loop":
        yield "kernel.streams: an open loop opens connections by itself; write 1"


def unknown_to_models(scenario: Scenario) -> str | None:
    """Return the reason why no model describes flows with options of real hosts; None: there are no such options."""
    for number, group in enumerate(scenario.flows):
        if group.kernel is not None and group.endpoint == "kernel":
            given = sorted(group.kernel.model_fields_set - {"sysctls"})
            if given:
                return f"the models know nothing of what real hosts are told: flows.{number}.kernel.{given[0]}"
    return None


def left_to_the_kernel(scenario: Scenario) -> list[str]:
    """Keys that the scenario gives and have no part in its emulation, in words."""
    notes = []
    for number, group in enumerate(scenario.flows):
        given = sorted(group.model_fields_set.intersection(TCP_KEYS) - TAKEN_OVER)
        if given and group.endpoint == "kernel":
            notes.append(f"flows.{number}: the kernel decides for itself about {', '.join(given)}")
            switched = [name for name, form in group.forms.items() if form != "linux"]
            if "rules" in given and switched:
                notes.append(
                    f"flows.{number}.rules: no kernel can switch these, so Linux's hold: {', '.join(switched)}"
                )
        if group.kernel is not None and group.endpoint == "simulated":
            notes.append(f"flows.{number}.kernel: the hosts of this group are simulated, and are told nothing of it")
    return notes
