"""Emulating a scenario: repetitions in real time, one after another, each in a process of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from parshall.controls import declare
from parshall.emulation.kernel import emulated, left_to_the_kernel, unknown_to_models
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
    controls: Mapping[str, Any] | Iterable[str] = (),
    record_controls: bool = False,
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
    controls
        Congestion controls of your own for the kernel: BPF objects by name, as ``{"mine": "mine.bpf.o"}``. The kernel
        has them as long as the run lasts.
    record_controls
        Whether each call that the kernel's congestion controls get is recorded, with the state of its socket:
        ``repetitions/0000/calls.csv.zst`` and so on, which `parshall.replay` reads.

    Returns
    -------
    Run
        The same tables and quantities as of a simulation. `validity` says how far they can be believed.

    Raises
    ------
    ScenarioError
        The scenario is refused, or asks for what the kernel cannot do.
    EmulationError
        It failed; `NoEmulationError`: this machine permits none, or no BPF for `controls` or `record_controls`.
    OutputExistsError
        Something is in `directory`.
    StorageError
        Results cannot be written.
    """
    declare(controls)
    read = read_scenario(scenario)
    kernel = Instrument(
        "emulate",
        json.dumps(emulated(read)),
        partial(repetition, waits=say_that_it_waits, record_controls=record_controls),
        most_at_a_time=1,
        notes=left_to_the_kernel(read),
        describe=described,
        unpredictable=unknown_to_models(read),
    )
    return execute(read, directory, kernel, overwrite=overwrite, progress=progress)


def say_that_it_waits() -> None:
    """Say why nothing happens yet, by the logger of this module: on the standard error, unless it is told otherwise."""
    logging.getLogger(__name__).warning("another emulation is under way; this one waits for its turn")


Level = Literal["valid", "doubtful", "invalid"]
LEVELS: tuple[Level, ...] = ("valid", "doubtful", "invalid")


@dataclass(frozen=True)
class Validity:
    """How far an emulation can be believed."""

    level: Level
    """The worst of its repetitions."""
    reasons: list[str]
    """What was not as in the scenario, and what to do about it, the worst first."""
    rtt_bias_s: float | None = None
    """By how much round-trip times are longer than the network's, s; the mean of the repetitions. None: not known."""

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
    biases_s = [bias for one in each if (bias := one.get("emulator", {}).get("rtt_bias_s")) is not None]
    return Validity(level, list(reasons), mean(biases_s) if biases_s else None)


def described(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `validity` reads, and how many calls were recorded, lost and left out, of the totals of the repetitions."""
    recordings = [one["recording"] for one in totals if "recording" in one]
    counted = ("calls", "dropped", "left_out")
    recorded = {key: sum(each[key] for each in recordings) for key in counted} if recordings else None
    return {"emulation": asdict(judged(totals)), **({"recording": recorded} if recorded else {})}
