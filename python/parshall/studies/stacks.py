"""What studies on real stacks share: whose TCP it was, and a run of Linux beside the simulator's.

A run of Linux is one run, so it is held against the interval in which one more run of the simulator falls, with
``tcp = "linux"`` (docs/linux.md). An invalid emulation measures this machine instead of a TCP: nothing is concluded
from it.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from dataclasses import replace

from parshall.emulation.emulating import LEVELS
from parshall.stats.confidence import prediction_interval
from parshall.studies.check import Check
from parshall.studies.study import Emulated

PROFILE = {"tcp": "linux"}
"""Keys of a group of flows: the simulator's TCP as that of Linux."""

AMPLE_BUFFERS = {"net.ipv4.tcp_wmem": "4096 4194304 268435456"}
"""Sysctls of hosts whose send buffers limit no flow, however short it is: they need not grow first."""


def kept(*, ssthresh: bool) -> dict[str, int]:
    """Sysctls of hosts that keep a destination's ssthresh from connection to connection, or forget all of it.

    >>> kept(ssthresh=True)["net.ipv4.tcp_no_metrics_save"]
    0
    """
    names = ("tcp_no_metrics_save", "tcp_no_ssthresh_metrics_save")
    return {f"net.ipv4.{name}": int(not ssthresh) for name in names}


def kernel() -> str:
    """Whose TCP is emulated.

    >>> kernel().startswith("Linux ")
    True
    """
    return f"Linux {platform.release()}"


def worst(runs: Iterable[Emulated]) -> str:
    """How far the least believable of some runs can be believed."""
    return max((each.validity.level for each in runs), key=LEVELS.index)


def column(linux: Emulated) -> str:
    """What heads a column or row of Linux: the kernel, and how far the run can be believed."""
    return f"{kernel()}, {linux.validity.level}"


def remarks(runs: Iterable[tuple[str, Emulated]]) -> list[str]:
    """Of each named run that is not valid, why."""
    return [
        f"{name}: {linux.validity}" + ("; nothing is concluded from it." if not believed(linux) else ".")
        for name, linux in runs
        if linux.validity.level != "valid"
    ]


def believed(linux: Emulated) -> bool:
    """Whether anything can be concluded from a run."""
    return linux.validity.level != "invalid"


def by_one_instrument(linux: Check, simulated: Check) -> Check:
    """A published value beside Linux's, which no single instrument calls wrong.

    Where Linux does not have it and the simulator, in the same reading, has it or cannot tell, nothing is concluded:
    the check has no reference any more, and its note says what is open.

    >>> simulated = Check("a", "q", 10.0, 10.2, None, None, 0.5)
    >>> by_one_instrument(replace(simulated, ours=13.0), simulated).verdict
    'extended'
    >>> by_one_instrument(replace(simulated, ours=13.0), replace(simulated, ours=14.0)).verdict
    'not_reproduced'
    """
    if linux.verdict != "not_reproduced" or simulated.verdict == "not_reproduced":
        return linux
    said = f"published: {linux.published:g}, simulated: {simulated.ours:.4g} ({simulated.verdict}); open"
    return replace(linux, published=None, note=f"{said}. {linux.note}" if linux.note else said)


def beside_simulated(
    artefact: str, quantity: str, linux: Emulated, ours: float, simulated: Sequence[float], *, least: float
) -> Check:
    """A value of Linux beside that of the simulator: ours against ours, which counts as nothing published.

    Parameters
    ----------
    ours
        The value of Linux.
    simulated
        One value a simulated run, two at least.
    least
        The smallest tolerance, in the quantity's unit: what difference does not matter.
    """
    expected = prediction_interval(simulated)
    tolerance = max(expected.half_width or 0.0, least)
    note = f"tolerance: of one more run of {len(simulated)} simulated, {least:.3g} at least; {linux.validity.level}"
    return Check(artefact, quantity, None, ours, None, None, tolerance, note, theory=expected.mean)
