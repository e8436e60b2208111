"""What a choice costs a packet: pairs of runs of 500 flows that differ in one thing, in turns.

| pair | one | the other | bar |
| --- | --- | --- | --- |
| draws | `processing_time = "0 s"` | `"1 ps"`: drawn, and always nothing | CPU time of the same packets, times |
| processing time | the same | the default, `"1 packet"`: another network | none: both are shown |
| control from a library | Reno | the C template of `parshall new control`, which is Reno | CPU time a packet, times |
| profile | TCP of the RFCs, CUBIC | `tcp = "linux"`, CUBIC | packets per CPU-second, share that is left |
| control in Python | | the Python template, which is Reno | ACKs per CPU-second, all else included |

Each ratio is of two neighbouring runs, of which now one and now the other is first; the median of the ratios is
judged. The two runs of a pair need not send the same packets, so what is compared is the cost of one.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness import ours
from harness.ours import OwnMeasurement
from harness.record import Bar, Record, Row
from parshall.scenario.schema.writing import toml
from parshall.scenario.templates import write_control

DRAWS_BAR, LIBRARY_BAR, PROFILE_BAR = 1.03, 1.15, 0.75
PYTHON_BAR = 200_000.0
"""ACKs a CPU-second; every packet is acknowledged."""

_TURNS, _DURATION_S = 11, 60
_PYTHON_S = 10


@dataclass(frozen=True)
class Pair:
    """Two runs; each is a scenario and what is set in it."""

    name: str
    one: Sequence[str]
    other: Sequence[str]
    controls: Sequence[str] = ()
    same_packets: bool = False
    """Whether both send the same packets; that is checked."""

    def ratios(self, scenario: Path, record: Record, *, quick: bool) -> list[float]:
        """The cost of a packet in the other over that in the one, turn by turn; the runs are recorded."""
        lasts = f"duration={_DURATION_S // (4 if quick else 1)} s"
        runs: tuple[list[OwnMeasurement], list[OwnMeasurement]] = ([], [])
        for turn in range(3 if quick else _TURNS):
            for which in (0, 1) if turn % 2 else (1, 0):
                changes = (self.one, self.other)[which]
                runs[which].append(ours.run(scenario, lasts, *changes, controls=self.controls))
        if self.same_packets:
            sent = {(run.packets, run.drops) for run in (*runs[0], *runs[1])}
            assert len(sent) == 1, f"{self.name}: other packets are sent: {sent}"
        found = [a.packets_per_cpu_s / b.packets_per_cpu_s for a, b in zip(*runs, strict=True)]
        record.add(Row(f"{self.name}: without", "Parshall", runs[0]))
        record.add(Row(f"{self.name}: with", "Parshall", runs[1], found))
        return found


def measure(record: Record, flows_500: Path, *, quick: bool) -> None:
    """All pairs; `flows_500`: the scenario of ns-2's comparison, of Reno flows."""
    draws = Pair("draws", [], [_processing_time("1 ps")], same_packets=True)
    cost = median(draws.ratios(flows_500, record, quick=quick))
    record.judge(Bar("500 flows: draws of processing times cost times none", cost, DRAWS_BAR, at_least=False))
    Pair("processing time", [], [_processing_time("1 packet")]).ratios(flows_500, record, quick=quick)
    with tempfile.TemporaryDirectory(prefix="parshall-bench-") as folder:
        place = Path(folder)
        mine = ["flows.0.congestion_control=mine"]
        library = Pair("control of a library", [], mine, [f"mine={_library(place)}"])
        cost = median(library.ratios(flows_500, record, quick=quick))
        record.judge(Bar("500 flows: a control of a library costs times Reno", cost, LIBRARY_BAR, at_least=False))
        write_control("mine", "python", place)
        controls = [f"mine={place / 'mine.py'}:Mine"]
        runs = [ours.run(flows_500, f"duration={_PYTHON_S} s", *mine, controls=controls) for _ in range(3)]
        record.add(Row("control in Python", "Parshall", runs))
        acks = max(run.packets_per_cpu_s for run in runs)
        record.judge(Bar("500 flows: ACKs a CPU-second with a control in Python", acks, PYTHON_BAR))
        plain = place / "defaults.toml"
        plain.write_text(toml(_DEFAULTS), encoding="utf-8")
        profile = Pair("profile of Linux", [], ['flows.0.tcp="linux"'])
        left = 1 / median(profile.ratios(plain, record, quick=quick))
        record.judge(Bar('500 flows: share of packets per CPU-second left by tcp = "linux"', left, PROFILE_BAR))


def _processing_time(time: str) -> str:
    """What sets it; the comparison with ns-2, whose hosts take no time, has none."""
    return f'flows.0.processing_time="{time}"'


_DEFAULTS = {
    "duration": "60 s",
    "seed": 1,
    "bottleneck": {"rate": "1 Gbit/s", "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}},
    "flows": [
        {
            "count": 500,
            "rtt": "10 ms",
            "access_rate": "1 Gbit/s",
            "start": {"uniform": "5 s"},
            "congestion_control": "cubic",
        }
    ],
    "probes": {"flow_samples": False, "link_samples": False, "latency": False, "rounds": 0, "transfers": False},
}
"""The network of `flows-500` with TCP as scenarios have it by default."""


def _library(folder: Path) -> Path:
    """The C template, built as its first lines say."""
    write_control("mine", "c", folder)
    library = folder / "libmine.so"
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(library), str(folder / "mine.c"), "-lm"]
    subprocess.run(command, check=True)
    return library
