"""Memory and time of a benchmark, before anything starts.

| quantity | estimate |
| --- | --- |
| packets of a run | what links forward: all its time, where traffic never ends; else as long as files take |
| time in real time | as long as files take, or all its time, and `HOSTS_S`, one run after another |
| time | packets at `PACKETS_PER_S`, and `RUN_S` a run, over the workers |
| memory of a run | `BASE_BYTES`, `FLOW_BYTES` a flow, `PACKET_BYTES` a packet on the way or queued |

The constants were measured on a 2-core virtual machine: 4104 runs of the quick scale, estimated at 1209 million
packets, took 345 s of the simulator's CPU time; BU-H at paper scale needs 85 MB, 160 MB with Python's libraries. They
are upper ends, and say whether it is minutes or days, and whether it fits, not more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from parshall.foundations.errors import InputError
from parshall.foundations.machine import available_bytes
from parshall_studies.benchmark.benchmark import entries
from parshall_studies.benchmark.building import Case

PACKETS_PER_S = 3.5e6
LASTING = 1.25
"""Files take 0.9 to 2.1 times their ideal time with CUBIC at quick scale, mostly 1.1 to 1.4."""
HOSTS_S = 1.0
"""Setting up real hosts, and measuring a run."""
RUN_S = 0.14
"""Writing, reading and measuring a run."""
BASE_BYTES = 200e6
"""Of a worker process with its libraries."""
FLOW_BYTES = 3e3
PACKET_BYTES = 64.0
_PACKET_BITS = 12_000.0


@dataclass(frozen=True)
class Estimate:
    """What a benchmark takes.

    Parameters
    ----------
    runs, packets
        In all.
    seconds
        On so many workers.
    peak_bytes
        Largest memory of a run.
    largest
        The case that needs it.
    """

    runs: int
    packets: float
    seconds: float
    peak_bytes: float
    largest: str

    def text(self) -> str:
        """One sentence."""
        return (
            f"{self.runs} runs, about {self.packets / 1e6:.0f} million packets: about {duration(self.seconds)}, "
            f"{self.peak_bytes / 1e6:.0f} MB a run"
        )


def estimate(cases: Sequence[Case], controls: Sequence[str], workers: int) -> Estimate:
    """What these cases take."""
    runs, packets, peak, largest = 0, 0.0, 0.0, ""
    for case in cases:
        count = len(entries(case, controls)) * case.scale.repetitions
        runs += count
        packets += count * packets_of(case)
        needed = memory_of(case)
        if needed > peak:
            peak, largest = needed, case.name
    seconds = (packets / PACKETS_PER_S + runs * RUN_S) / workers
    return Estimate(runs, packets, seconds, peak, largest)


def real_time(cases: Sequence[Case], controls: Sequence[str], at_a_time: int = 1) -> Estimate:
    """What these cases take in real time, so many runs at a time."""
    once = estimate(cases, controls, 1)
    seconds = 0.0
    for case in cases:
        lasting_s = case.duration_s if case.application.periodic else case.start_s + LASTING * case.ideal_s
        seconds += len(entries(case, controls)) * case.scale.repetitions * (lasting_s + HOSTS_S)
    return replace(once, seconds=seconds / at_a_time)


def packets_of(case: Case) -> float:
    """Packets of one run, both ways."""
    factors = case.factors
    per_s = factors.capacity_bps / _PACKET_BITS
    endless = case.application.periodic or (case.application.contended and factors.source_count > 1)
    load = min(1.0, (1 if case.application.pair and not endless else factors.source_count) / factors.aggregation)
    lasting_s = case.duration_s if case.application.periodic else LASTING * case.ideal_s
    useful_s = lasting_s if endless else case.ideal_s
    back = min(1.0, factors.reverse + load * case.application.back)
    return per_s * (load * useful_s + back * (lasting_s if factors.reverse else useful_s))


def memory_of(case: Case) -> float:
    """Memory of one run, bytes: processes, flows, and packets on the way and queued, both ways."""
    factors = case.factors
    flows = factors.streams * (factors.source_count * (1 + case.application.back) + factors.reverse_count)
    under_way = 2 * 2 * factors.capacity_bps * factors.mean_rtt_s / _PACKET_BITS
    return BASE_BYTES + FLOW_BYTES * flows + PACKET_BYTES * under_way


def check_memory(cases: Sequence[Case], workers: int, available: float | None = None) -> None:
    """Refuse what does not fit.

    Raises
    ------
    InputError
        A case needs more memory than there is.
    """
    there = available_bytes() if available is None else available
    if there is None:
        return
    for case in cases:
        needed = memory_of(case) * workers
        if needed > there:
            raise InputError(
                f"{case.name} at scale {case.scale.name}: needs about {needed / 1e9:.1f} GB for {workers} runs at a "
                f"time, and {there / 1e9:.1f} GB are free; accepted: fewer --workers, a smaller K or C_a "
                "(--factor), --scale quick"
            )


def duration(seconds: float) -> str:
    """A time for people: no more digits than an estimate has.

    >>> duration(20), duration(400), duration(20_000), duration(1e6)
    ('20 s', '7 min', '5.6 h', '12 days')
    """
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 2 * 86_400 else f"{seconds / 86_400:.0f} days"
