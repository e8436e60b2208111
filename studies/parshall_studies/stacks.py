"""What studies on real stacks share: whose TCP it was, programs on the hosts, and Linux beside the simulator.

A run of Linux is one run, so it is taken to be as uncertain as one more run of the simulator, with ``tcp = "linux"``
(docs/linux.md). An invalid emulation measures this machine instead of a TCP: nothing is concluded
from it.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval, prediction_interval
from parshall.foundations.errors import SimulationError
from parshall.instruments.emulation import abilities, kernel_name, run_programs, validity
from parshall.results.records.validity import LEVELS
from parshall.scenario import Scenario
from parshall.studies.study import Emulated, once_more_if_invalid

PROFILE = {"tcp": "linux"}
"""Keys of a group of flows: the simulator's TCP as that of Linux."""


def missing(*controls: str) -> str | None:
    """Why some congestion controls are left out, as part of a sentence, if this kernel cannot have all; else nothing.

    >>> missing(), missing("reno")
    (None, None)
    >>> missing("reno", "bic-2")
    'this kernel has no bic-2, and BPF is not permitted or was not built (docs/kernel_controls.md)'
    """
    known = abilities().controls
    absent = [each for each in controls if each not in known]
    if not absent:
        return None
    names = ", ".join(absent)
    return f"this kernel has no {names}, and BPF is not permitted or was not built (docs/kernel_controls.md)"


def times_of_programs(
    scenario: Scenario,
    commands: Callable[[Path, Path], tuple[Sequence[str], Sequence[str]]],
    incomplete: str,
    *,
    download: bool = False,
) -> Emulated:
    """Times that a program on a host measured, s, shape (count,); done once more if the emulation is invalid.

    Parameters
    ----------
    commands
        The client and the server of `parshall.instruments.emulation.run_programs`, given a temporary folder, and the
        file there in which the client leaves its times as a list in JSON.
    incomplete
        What the error says if there are none.
    download
        As of `parshall.instruments.emulation.run_programs`.

    Raises
    ------
    SimulationError
        The client left no times.
    """

    def done() -> Emulated:
        with tempfile.TemporaryDirectory() as folder:
            times = Path(folder) / "times.json"
            client, server = commands(Path(folder), times)
            verdict = validity(run_programs(scenario, client, server=server, download=download))
            if verdict is None or not times.is_file():
                raise SimulationError(incomplete)
            return Emulated(np.array(json.loads(times.read_text(encoding="utf-8"))), verdict)

    return once_more_if_invalid(done)


def worst(runs: Iterable[Emulated]) -> str:
    """How far the least believable of some runs can be believed."""
    return max((each.validity.level for each in runs), key=LEVELS.index)


def column(*runs: Emulated) -> str:
    """What heads a column or row of Linux: the kernel, and how far the least believable of its runs can be believed."""
    return f"{kernel_name()}, {worst(runs)}"


def remarks(runs: Iterable[tuple[str, Emulated]]) -> list[str]:
    """Of each named run that is not valid, why."""
    return [
        f"{name}: {linux.validity}" + ("; nothing is concluded from it." if not usable(linux) else ".")
        for name, linux in runs
        if linux.validity.level != "valid"
    ]


def usable(linux: Emulated) -> bool:
    """Whether anything can be concluded from a run."""
    return linux.validity.level != "invalid"


def cell(values: ArrayLike, digits: int, of_half_width: int) -> str:
    """The mean of values, one a run, and half the width of its 95 % interval, if there are several; empty: no values.

    Parameters
    ----------
    digits, of_half_width
        How many significant digits are shown.

    Examples
    --------
    >>> cell([9.0, 10.0, 11.0], 3, 2), cell([9.0], 3, 2), cell([], 3, 2)
    ('10 ± 2.5', '9', '')
    """
    if np.size(values) == 0:
        return ""
    interval = mean_interval(values)
    half = "" if interval.half_width is None else f" ± {interval.half_width:.{of_half_width}g}"
    return f"{interval.mean:.{digits}g}{half}"


def cell_of_one_more(simulated: Sequence[float], digits: int) -> str:
    """The mean of simulated values, one a run, and half the width of the interval in which one more run falls.

    Parameters
    ----------
    digits
        How many digits after the point are shown.

    Examples
    --------
    >>> cell_of_one_more([9.0, 10.0, 11.0], 1)
    '10.0 ± 5.0'
    """
    expected = prediction_interval(simulated)
    return f"{expected.mean:.{digits}f} ± {expected.half_width or 0.0:.{digits}f}"


def by_one_instrument(linux: Iterable[Claim], simulated: Iterable[Claim]) -> list[Claim]:
    """Published values beside Linux's, which no single instrument calls wrong, and none alone right.

    Where one of the two, in the same reading and network, does not have a value and the other has it or cannot tell,
    nothing is concluded: the claim is contested, and so undecided.

    Parameters
    ----------
    linux, simulated
        The same claims in the same order.

    Raises
    ------
    ValueError
        They are of different values.

    Examples
    --------
    >>> from parshall.analysis.stats.region import exactly
    >>> near, far = (equal("a", "q", 10.0, exactly(x), within=Tolerance(0.5, "digits")) for x in (10.2, 13.0))
    >>> [by_one_instrument([one], [other])[0].verdict for one, other in ((near, far), (far, near), (far, far))]
    ['undecided', 'undecided', 'not_reproduced']
    """
    return [_by_one(one, other) for one, other in zip(linux, simulated, strict=True)]


def _by_one(linux: Claim, simulated: Claim) -> Claim:
    of_linux, of_simulated = ((each.artefact, each.quantity, each.published) for each in (linux, simulated))
    if of_linux != of_simulated:
        raise ValueError(f"found claims of {of_linux} and {of_simulated}; accepted: of the same value")
    if (linux.outcome == "fails") == (simulated.outcome == "fails"):
        return linux
    return replace(linux, contested=f"simulated: {simulated.ours:.4g} ({simulated.verdict.replace('_', ' ')})")


def one_run_of_linux(ours: float, simulated: ArrayLike) -> Interval:
    """A value of one run of Linux, as uncertain as one more run of the simulator.

    Parameters
    ----------
    simulated
        One value a simulated run, two at least.

    Examples
    --------
    >>> one_run_of_linux(12.0, [9.0, 10.0, 11.0]).half_width.__round__(2)
    4.97
    """
    half = prediction_interval(simulated).half_width or 0.0
    return Interval(ours, ours - half, ours + half, 1)


def one_published(
    artefact: str,
    quantity: str,
    published: float,
    ours: float,
    simulated: ArrayLike,
    *,
    within: Tolerance,
    note: str,
    reading: str,
) -> Claim:
    """A published value beside that of one run of Linux, which the simulator may contest (`by_one_instrument`).

    Parameters
    ----------
    ours
        The value of Linux.
    simulated
        One value a simulated run, two at least.
    """
    linux, alike = (
        equal(artefact, quantity, published, value, within=within, note=note, reading=reading)
        for value in (one_run_of_linux(ours, simulated), mean_interval(simulated))
    )
    return _by_one(linux, alike)


def beside_simulated(
    artefact: str,
    quantity: str,
    linux: Emulated,
    ours: float,
    simulated: Sequence[float],
    *,
    least: float = 0.0,
    share: float = 0.0,
) -> Claim:
    """A value of Linux beside that of the simulator: ours against ours, which counts as nothing published.

    One run of Linux is as uncertain as one more run of the simulator.

    Parameters
    ----------
    ours
        The value of Linux.
    simulated
        One value a simulated run, two at least.
    least, share
        What difference does not matter, in the quantity's unit and of the mean of the simulated values: the larger one
        is the tolerance.
    """
    expected = float(np.mean(simulated))
    within = Tolerance(max(least, share * abs(expected)), "a difference that nobody would act on")
    note = f"interval: of one more run of {len(simulated)} simulated; {linux.validity.level}"
    return equal(
        artefact,
        quantity,
        expected,
        one_run_of_linux(ours, simulated),
        within=within,
        basis="theory",
        note=note,
        null_reason="the simulator has none of it, and Linux may have none either",
    )


def attribute_beside_simulated(
    artefact: str,
    quantity: str,
    linux: Emulated,
    attribute: str,
    simulated: Sequence[Any],
    *,
    least: float = 0.0,
    share: float = 0.0,
) -> Claim:
    """`beside_simulated`, of an attribute that the answers of Linux and of the simulated runs have."""
    ours, *values = (float(getattr(each, attribute)) for each in (linux.answer, *simulated))
    return beside_simulated(artefact, quantity, linux, ours, values, least=least, share=share)
