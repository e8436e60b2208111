"""``parshall doctor``: what this machine can do, and what to install for the rest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from parshall.cli.console import FAILURE, console, print_json, table
from parshall.cli.options import Json
from parshall.cli.verb import verb
from parshall.foundations import debian
from parshall.foundations.extras import EXTRAS


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked for."""

    what: str
    found: bool
    detail: str
    needed_for: str
    remedy: str = ""
    required: bool = False
    measured: dict[str, Any] | None = None
    """Numbers behind it."""


@verb
def doctor(
    measure: Annotated[
        bool,
        typer.Option(
            "--measure", help="Measure the speed of emulations, for ten seconds in which nothing else should run."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Show the abilities of this machine, and what to install for the rest."""
    if measure:
        from parshall.instruments.emulation import measure as measure_emulation

        measure_emulation()
    findings = [look() for look in CHECKS]
    if as_json:
        packages = [_package(each) for each in debian.packages() if each.shown_by]
        print_json([asdict(finding) for finding in [*findings, *packages]])
    else:
        _show(findings)
        _show_missing([each for each in debian.packages() if not each.is_there])
    if any(finding.required and not finding.found for finding in findings):
        raise typer.Exit(FAILURE)


def _show(findings: list[Diagnosis]) -> None:
    shown = table("", "", "what", "found", "needed for", "what to do")
    shown.title = None
    for finding in findings:
        mark = "ok" if finding.found else "missing"
        shown.add_row(mark, finding.what, finding.detail, finding.needed_for, "" if finding.found else finding.remedy)
    console().print(shown)


def _show_missing(packages: list[debian.Package]) -> None:
    if not packages:
        return
    shown = table("", "missing package", "for", "needed for")
    shown.title = None
    for each in packages:
        shown.add_row(each.name, ", ".join(each.purposes), each.reason)
    console().print(shown)
    console().print(f"to install them all: {debian.install(packages)}", soft_wrap=True)


def _python() -> Diagnosis:
    version = ".".join(str(part) for part in sys.version_info[:3])
    return Diagnosis("Python", sys.version_info >= (3, 11), version, "everything", "install Python 3.11", required=True)


def _simulator() -> Diagnosis:
    try:
        from parshall._core import PROFILE_GUIDED
        from parshall.scenario.schema.catalog import families

        controls = len(families()["congestion_controls"])
    except ImportError as error:
        return Diagnosis("simulator", False, str(error), "everything", "make setup, or pip install .", required=True)
    built = "profile-guided build" if PROFILE_GUIDED else "plain build"
    return Diagnosis("simulator", True, f"{controls} congestion controls, {built}", "everything", required=True)


def _cores() -> Diagnosis:
    from parshall.results.records.about import cores, processor

    return Diagnosis("processor", True, f"{cores()} cores, {processor()}", "repetitions at a time")


def _memory() -> Diagnosis:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return Diagnosis(
        "memory", total >= 3, f"{total:.1f} GB", "a million flows (2 kB each, probes off)", "run fewer flows"
    )


def _disk() -> Diagnosis:
    free = shutil.disk_usage(Path.cwd()).free / 1e9
    return Diagnosis("disk", free >= 1, f"{free:.1f} GB free here", "results", "free some space")


def _terminal() -> Diagnosis:
    return Diagnosis("terminal", sys.stderr.isatty(), "", "the progress bar", "run in a terminal")


def _package(package: debian.Package) -> Diagnosis:
    found, command = ", ".join(package.found), debian.install([package])
    return Diagnosis(package.name, package.is_there, found, package.reason, command)


def _emulation() -> Diagnosis:
    from parshall.foundations.errors import NoEmulationError
    from parshall.instruments.emulation import abilities

    needed = "parshall emulate: real Linux TCP"
    try:
        able = abilities()
    except NoEmulationError as error:
        return Diagnosis("emulation", False, str(error), needed, "emulate on Linux")
    if able.problem is not None:
        namespaces = "sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; or be root"
        remedy = "modprobe tun; chmod 666 /dev/net/tun" if able.tun_problem is not None else namespaces
        return Diagnosis("emulation", False, able.problem, needed, remedy)
    who = "as root" if able.administrator else "in a user namespace"
    priority = "real-time priority" if able.real_time_priority > 0 else "no real-time priority"
    loaded = [name for name in able.bpf_controls if name not in able.congestion_controls]
    by_bpf = f"; by BPF {', '.join(loaded)}" if loaded else ""
    return Diagnosis("emulation", True, f"{who}, {priority}; {', '.join(able.congestion_controls)}{by_bpf}", needed)


def _measured() -> Diagnosis:
    from parshall.instruments.emulation import Capacity, advice

    what, needed = "emulation, measured", "a warning where an emulation is beyond it"
    able = Capacity.kept()
    if able is None:
        return Diagnosis(what, False, "not measured", needed, "parshall doctor --measure (ten seconds)")
    found = able.rate_bps is not None and able.flows > 0
    advised = advice(able)
    detail = "; to change: ".join([str(able), *(["; ".join(advised)] if advised else [])])
    remedy = "; ".join(advised) or "let nothing else run, and measure again"
    return Diagnosis(what, found, detail, needed, remedy, measured=asdict(able) | {"advice": advised})


def _extra(name: str) -> Callable[[], Diagnosis]:
    def look() -> Diagnosis:
        packages, needed_for = EXTRAS[name]
        missing = [package for package in packages if find_spec(package) is None]
        found = f"{', '.join(missing)} not installed" if missing else ", ".join(packages)
        return Diagnosis(f"[{name}]", not missing, found, needed_for, f'pip install "parshall[{name}]"')

    return look


def _cargo() -> Diagnosis:
    path = shutil.which("cargo")
    return Diagnosis("cargo", path is not None, path or "", "building from source", "install Rust: https://rustup.rs")


CHECKS: tuple[Callable[[], Diagnosis], ...] = (
    _python,
    _simulator,
    _cores,
    _memory,
    _disk,
    _terminal,
    _emulation,
    _measured,
    _cargo,
    *map(_extra, EXTRAS),
)
"""Everything that is looked for but Debian's packages."""
