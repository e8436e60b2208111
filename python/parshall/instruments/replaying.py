"""A congestion control driven through the calls that a kernel's control got (docs/kernel_recordings.md)."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.foundations import notebook
from parshall.foundations.errors import ControlError, InputError, OutputExistsError
from parshall.results.records.storage import guarded
from parshall.scenario import Scenario
from parshall.scenario.controls import declare
from parshall.scenario.foreign.process import call
from parshall.scenario.schema import external


@dataclass(frozen=True)
class ComparedCall:
    """The comparisons of one quantity after calls: counts of calls that agree or not, and no claim."""

    quantity: str
    """``cwnd`` or ``ssthresh`` in packets; ``state`` or ``bandwidth`` (packets/s) of BBR; ``slope`` of multiple time
    scale TCP, in slopes of the control that is steered."""
    calls: int
    """Calls after which it was compared."""
    within: int
    """Of these, within a packet (windows), within 1 % (bandwidth, slope, BBR's window if that is more), or equal."""
    largest: float
    """The largest difference, in the quantity's unit."""


@dataclass(frozen=True)
class CallDifference:
    """A value that differs by more than its tolerance."""

    flow: int
    port: int
    call: int
    """The call's place among those of its connection, from 0."""
    time_s: float
    function: str
    """The kernel's function that was called."""
    quantity: str
    kernel: float | None
    """The kernel's value; None: infinite."""
    ours: float | None
    """Ours; None: infinite."""
    cause: str
    """Cause of the difference, as far as the call tells."""


@dataclass(frozen=True)
class Replay:
    """The result of a replay."""

    control: str
    """The control that was driven."""
    recorded: str
    """The kernel's control."""
    kernel: str
    """The kernel's version."""
    complete: bool
    """True if the recording has its end; otherwise it was cut off, and its whole part was replayed."""
    dropped: int | None
    """Calls that the recorder had no room for; None: a recording that was cut off does not say."""
    broken: int
    """Lines of the recording that are no calls."""
    calls: int
    connections: int
    left_out: int
    """Calls that the kernel left out of the recorded ones, at least: its control did not get them either."""
    set_by_endpoint: int
    """Number of times that the kernel's endpoint set the window between calls, so that ours was set too."""
    compared: list[ComparedCall]
    causes: dict[str, int]
    """Causes of differences, and how often each was met."""
    first: list[CallDifference]
    """The first difference of each connection."""

    @property
    def agrees(self) -> bool:
        """True if nothing differs."""
        return not self.causes

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what was compared, and why something differs."""
        columns = ("quantity", "calls", "within", "largest difference")
        compared = ([each.quantity, each.calls, each.within, each.largest] for each in self.compared)
        tables = [notebook.table(columns, compared)]
        if self.causes:
            tables.append(notebook.table(("cause", "times"), (list(each) for each in self.causes.items())))
        heading = f"{self.control} beside {self.recorded} of Linux {self.kernel}"
        return notebook.fragment(heading, f"{self.calls} calls of {self.connections} connection(s)", *tables)

    def to_json(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        return {**asdict(self), "agrees": self.agrees}


def replay(
    recording: str | Path,
    control: str | Mapping[str, Any],
    *,
    recorded: str | None = None,
    controls: Mapping[str, Any] | Iterable[str] = (),
) -> Replay:
    """Drive a congestion control through the calls of a recording, and compare it with the kernel's after each.

    Parameters
    ----------
    recording
        A file that ``parshall emulate --record-controls`` wrote.
    control
        As a scenario names it: ``"cubic"``, or a table with the name and parameters.
    recorded
        The kernel's control whose calls are meant; needed if the recording has those of several.
    controls
        Congestion controls of your own, as `parshall.scenario.controls.declare` takes them.

    Raises
    ------
    InputError
        There is no such recording, or it has no such control.
    ScenarioError
        There is no such control of ours, or its parameters are refused.
    ControlError
        A control of your own failed.
    """
    declare(controls)
    config = _resolved(control)
    try:
        answer = json.loads(_replayed(Path(recording), json.dumps(config), recorded))
    except ValueError as error:
        raise InputError(str(error)) from None
    except _core.ControlFailed as error:
        raise ControlError(str(error)) from None
    replayed = answer.pop("replayed")
    replayed["compared"] = [ComparedCall(**each) for each in replayed["compared"]]
    replayed["first"] = [CallDifference(**each) for each in replayed["first"]]
    replayed["causes"] = dict(replayed["causes"])
    return Replay(control=control if isinstance(control, str) else control["name"], **answer, **replayed)


def _replayed(recording: Path, config: str, recorded: str | None) -> str:
    """Return the replay's answer as JSON; a control from outside is replayed in a process of its own."""
    if controls := external.runnable(config):
        return call("replay", controls, str(recording.absolute()), config, recorded)
    return _core.replay(recording, config, recorded)


def qlog(recording: str | Path, directory: str | Path) -> list[Path]:
    """Write the connections of a recording as logs in qlog: what the kernel's control was told, and its windows.

    Parameters
    ----------
    recording
        A file that ``parshall emulate --record-controls`` wrote.
    directory
        A new directory, or an empty one.

    Returns
    -------
    list of Path
        The logs, a file each connection: ``FLOW-PORT.sqlog``, which qvis and `parshall.observe` read.

    Raises
    ------
    InputError
        There is no such recording.
    OutputExistsError
        The directory has files.
    StorageError
        They cannot be written.
    """
    output = Path(directory)
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise OutputExistsError(f"{output} exists and is not empty; write the name of a new directory")

    def written() -> list[str]:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=".qlog-") as aside:
            made = Path(aside) / "logs"
            made.mkdir()
            names = _core.recording_as_qlog(Path(recording), made)
            made.replace(output)
        return names

    try:
        return [output / name for name in guarded(written)]
    except ValueError as error:
        raise InputError(str(error)) from None


def _resolved(control: str | Mapping[str, Any]) -> Any:
    """The control as Rust reads it, with its defaults: the one of that name, and no kernel's in its place."""
    flow = {"tcp": "rfc", "rtt": "40 ms", "congestion_control": control}
    document = {"duration": "1 s", "bottleneck": {"rate": "10 Mbit/s"}, "flows": [flow]}
    return Scenario.from_document(document).resolve()["flows"][0]["congestion_control"]
