"""Emulating a scenario: repetitions in real time, one after another, each in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from parshall.emulation.kernel import emulated, left_to_the_kernel
from parshall.emulation.process import repetition
from parshall.runs import Progress, Run
from parshall.runs.execute import Instrument, execute, read_scenario
from parshall.scenario import Scenario


def emulate(
    scenario: Scenario | str | Path | Mapping[str, Any],
    directory: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Run a scenario with the kernel's own TCP at both ends of its flows, over its network in real time.

    The hosts are network namespaces of this machine, and traffic is between addresses within them alone. It takes as
    long as the scenario says; repetitions take turns.

    Parameters
    ----------
    scenario
        What is emulated: a scenario, the path of one in TOML, or its tables.
    directory, overwrite, progress
        As of `parshall.run`.

    Returns
    -------
    Run
        The same tables and quantities as of a simulation. `validity` says how far they can be believed.

    Raises
    ------
    ScenarioError
        The scenario is refused, or asks for what the kernel cannot do.
    EmulationError
        This machine permits no emulation, or it failed.
    OutputExistsError
        Something is in `directory`.
    StorageError
        Results cannot be written.
    """
    read = read_scenario(scenario)
    kernel = Instrument(
        "emulate",
        json.dumps(emulated(read)),
        repetition,
        most_at_a_time=1,
        notes=left_to_the_kernel(read),
        describe=described,
    )
    return execute(read, directory, kernel, overwrite=overwrite, progress=progress)


Level = Literal["valid", "doubtful", "invalid"]
LEVELS: tuple[Level, ...] = ("valid", "doubtful", "invalid")


@dataclass(frozen=True)
class Validity:
    """How far an emulation can be believed."""

    level: Level
    """The worst of its repetitions."""
    reasons: list[str]
    """What was not as in the scenario, and what to do about it, the worst first."""

    def __str__(self) -> str:
        return f"the emulation is {self.level}" + (f": {self.reasons[0]}" if self.reasons else "")


def validity(run: Run) -> Validity | None:
    """How far an emulated run can be believed; None: it is a simulation."""
    kept = run.metadata.get("emulation")
    return None if kept is None else Validity(**kept)


def judged(totals: Sequence[Mapping[str, Any]]) -> Validity:
    """How far repetitions can be believed, of their totals."""
    each = [one["emulation"] for one in totals]
    level: Level = max((one["level"] for one in each), key=LEVELS.index, default="invalid")
    findings = [finding for one in each for finding in one["findings"]]
    findings.sort(key=lambda finding: -LEVELS.index(finding["level"]))
    reasons = dict.fromkeys(f"{finding['reason']}; {finding['remedy']}" for finding in findings)
    return Validity(level, list(reasons))


def described(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `validity` reads, of the totals of the repetitions."""
    return {"emulation": asdict(judged(totals))}
