"""The validity of an emulation, as its ``run.json`` keeps it.

The verdict is made where it is measured (crates/emulation/src/validity.rs). Whoever shows or compares results reads it
here, and need not know how emulations are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any, Literal

from parshall.foundations.errors import InvalidEmulationError
from parshall.results.records.result import Result

Level = Literal["valid", "doubtful", "invalid"]
LEVELS: tuple[Level, ...] = ("valid", "doubtful", "invalid")


@dataclass(frozen=True)
class Validity:
    """The validity of an emulation."""

    level: Level
    """The worst of its repetitions."""
    reasons: list[str]
    """Deviations from the scenario, and what to do about each, the worst first."""
    rtt_bias_s: float | None = None
    """By how much round-trip times are longer than the network's, s; the mean of the repetitions. None: not known."""
    measured: Mapping[str, Any] | None = None
    """Measurements of the emulation itself in its worst repetition (`MEASURED`); None: they were not recorded."""

    def __str__(self) -> str:
        return f"the emulation is {self.level}" + (f": {self.reasons[0]}" if self.reasons else "")


def validity(result: Result) -> Validity | None:
    """Return the validity of an emulated result; None: it was not emulated."""
    kept = result.metadata.get("emulation")
    return None if kept is None else Validity(**kept)


def is_invalid(result: Result) -> bool:
    """True if it is an invalid emulation."""
    verdict = validity(result)
    return verdict is not None and verdict.level == "invalid"


def believable(results: Iterable[Result], names: Iterable[str] | None = None, *, accept_invalid: bool) -> None:
    """Refuse emulations that cannot be believed.

    Parameters
    ----------
    results
        Of any instruments.
    names
        What they are called; else by their directories or names.
    accept_invalid
        Whether to let them pass.

    Raises
    ------
    InvalidEmulationError
        One of them is invalid, and that is not accepted.
    """
    if accept_invalid:
        return
    given = list(results)
    refused = [
        f"{name}: {validity(each)}"
        for name, each in zip(names or (each.place for each in given), given, strict=True)
        if is_invalid(each)
    ]
    if refused:
        raise InvalidEmulationError("\n".join([*refused, "accept_invalid=True takes it as if it could be believed"]))


@dataclass(frozen=True)
class Measure:
    """A measurement that an emulation makes of itself: its place in the totals of a repetition, and its meaning."""

    part: str
    """Name of the part of the totals that has it; empty: the totals themselves."""
    name: str
    unit: Literal["s", "share", ""]
    what: str


MEASURED: Mapping[str, Measure] = {
    "wall_s": Measure("emulator", "wall_s", "s", "how long it ran"),
    "set_up_s": Measure("", "set_up_s", "s", "time until the hosts were ready"),
    "real_time": Measure("emulator", "real_time", "", "whether the emulator's thread had real-time priority"),
    "lateness_p50_s": Measure(
        "emulator", "lateness_p50_s", "s", "lateness of packets that half of them did not exceed"
    ),
    "lateness_p99_s": Measure("emulator", "lateness_p99_s", "s", "lateness that 99 % did not exceed"),
    "lateness_max_s": Measure("emulator", "max_lateness_s", "s", "longest lateness"),
    "answer_p99_s": Measure(
        "emulator", "answer_p99_s", "s", "time that 99 % of the hosts' answers to an echo did not exceed"
    ),
    "steal": Measure("emulator", "steal", "share", "share of the machine's time that its hypervisor gave to others"),
    "emulator_cpu_s": Measure("emulator", "cpu_s", "s", "processor time of the emulator's thread"),
    "senders_cpu_s": Measure("hosts", "senders_cpu_s", "s", "processor time of the senders' hosts"),
    "receivers_cpu_s": Measure("hosts", "receivers_cpu_s", "s", "processor time of the receivers' hosts"),
    "send_buffer_share": Measure(
        "hosts", "send_buffer_share", "share", "largest share of its time that a send buffer limited a flow"
    ),
    "receive_window_share": Measure(
        "hosts", "receive_window_share", "share", "largest share that a receive window limited a flow"
    ),
    "devices_dropped": Measure("hosts", "devices_dropped", "", "packets that the hosts' devices dropped"),
    "tcp_memory_share": Measure(
        "hosts", "tcp_memory_share", "share", "the kernel's memory for TCP in use, of what it may be"
    ),
}
"""Keys of `Validity.measured` beside ``repetition``; None: the kernel does not give the value."""


def verdict_of(totals: Sequence[Mapping[str, Any]]) -> Validity:
    """Return the validity of repetitions, from their totals."""
    each = [one["emulation"] for one in totals]
    findings = [finding for one in each for finding in one["findings"]]
    findings.sort(key=lambda finding: -LEVELS.index(finding["level"]))
    reasons = dict.fromkeys(f"{finding['reason']}; {finding['remedy']}" for finding in findings)
    biases_s = [bias for one in each if (bias := one.get("emulator", {}).get("rtt_bias_s")) is not None]
    worst = max(range(len(each)), key=lambda place: _badness(each[place]), default=None)
    return Validity(
        each[worst]["level"] if worst is not None else "invalid",
        list(reasons),
        mean(biases_s) if biases_s else None,
        _measured(each[worst], worst) if worst is not None else None,
    )


def _badness(emulation: Mapping[str, Any]) -> tuple[int, float]:
    """Return the key by which the worst repetition is found: the level, then the lateness."""
    return LEVELS.index(emulation["level"]), emulation.get("emulator", {}).get("lateness_p99_s") or 0.0


def _measured(emulation: Mapping[str, Any], repetition: int) -> dict[str, Any]:
    values = {
        key: (emulation.get(each.part, {}) if each.part else emulation).get(each.name) for key, each in MEASURED.items()
    }
    return {"repetition": repetition, **values}
