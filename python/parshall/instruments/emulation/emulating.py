"""Emulating a scenario: repetitions in real time, one after another, each in a process of its own."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from parshall.instruments.emulation.capacity import Capacity, beyond
from parshall.instruments.emulation.kernel import emulated, left_to_the_kernel, unknown_to_models
from parshall.instruments.emulation.process import repetition
from parshall.instruments.simulation import Progress, Run
from parshall.instruments.simulation.execute import Instrument, execute, read_scenario
from parshall.results.records.validity import Validity, validity, verdict_of
from parshall.scenario import Scenario
from parshall.scenario.controls import declare

__all__ = ["Validity", "emulate", "validity"]


def emulate(
    scenario: Scenario | str | Path | Mapping[str, Any],
    directory: str | Path | None = None,
    *,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    controls: Mapping[str, Any] | Iterable[str] = (),
    record_controls: bool = False,
    at_once: bool = False,
) -> Run:
    """Run a scenario with the kernel's own TCP at both ends of its flows, over its network in real time.

    The hosts are network namespaces of this machine, and traffic is between addresses within them alone. It takes as
    long as the scenario says; repetitions take turns, those of other emulations on this machine included.

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
    at_once
        Whether not to wait for other emulations on this machine: they measure each other, and the verdict says how
        much.

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
    resolved = emulated(read)
    kernel = Instrument(
        "emulate",
        json.dumps(resolved),
        partial(repetition, waits=say_that_it_waits, record_controls=record_controls, at_once=at_once),
        most_at_a_time=1,
        notes=[*left_to_the_kernel(read), *said_beyond(resolved)],
        describe=described,
        unpredictable=unknown_to_models(read),
    )
    return execute(read, directory, kernel, overwrite=overwrite, progress=progress)


def said_beyond(resolved: Mapping[str, Any]) -> list[str]:
    """Warn of what a resolved scenario asks for beyond what was measured of this machine, and give it."""
    messages = beyond(resolved, Capacity.kept())
    for each in messages:
        logging.getLogger(__name__).warning("%s", each)
    return messages


def say_that_it_waits(whose: str) -> None:
    """Say why nothing happens yet, by the logger of this module: on the standard error, unless it is told otherwise."""
    text = f"another emulation is under way ({whose}); this one waits for its turn; --at-once does not wait"
    logging.getLogger(__name__).warning("%s", text)


def described(totals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What `validity` reads, and how many calls were recorded, lost and left out, of the totals of the repetitions."""
    recordings = [one["recording"] for one in totals if "recording" in one]
    counted = ("calls", "dropped", "left_out")
    recorded = {key: sum(each[key] for each in recordings) for key in counted} if recordings else None
    return {"emulation": asdict(verdict_of(totals)), **({"recording": recorded} if recorded else {})}
