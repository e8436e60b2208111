"""PA over a library of MPI: Open MPI between two hosts of Linux, its ping-pong, and exchanges as NPB's IS and CG do.

The pair is that of `real_messages`, which does the same ping-pong without MPI. What a library adds is seen in two
settings of it: as it comes, a rank agrees with the other before a large message, which takes a round trip each; and
with messages that leave at once, however large (`btl_tcp_eager_limit`). The source's library was GridMPI.

NPB's kernels are not run: of IS and CG of class W, two ranks, there are the messages of an iteration, without the
computing between them.

| exchange | an iteration | least time |
| --- | --- | --- |
| `is` | 1024 sums, sizes from each to each, 1 MB of keys from each to each | 3 RTT/2 and what the line takes |
| `cg` | 28 kB both ways at once, two sums of one number | 3 RTT/2 and what the line takes |

Times are as of the source's network. Without Open MPI the part is left out, and says so.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4, §5.4, Fig. 4; Bailey et al., The NAS Parallel
Benchmarks, RNR-94-007 (IS, CG).
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import single
from parshall.instruments.emulation import kernel_name
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, simulated
from parshall_studies import stacks
from parshall_studies.benchmark import mpi
from parshall_studies.benchmark.mpi import Work
from parshall_studies.benchmark.ping_pong import MESSAGE_BYTES, MESSAGES
from parshall_studies.itb import real_messages
from parshall_studies.itb.network import ACCESS_BPS, PAPER
from parshall_studies.itb.real_messages import HOSTS, SECONDS, SLOWER
from parshall_studies.itb.real_stacks import FRAMED, control
from parshall_studies.itb.single_pair import FIG4_RTT_MS, PingPong

KEYS_BYTES = 2**20
"""Of IS of class W, 2^20 keys of 4 bytes: what each of two ranks sends to each."""
ROWS_BYTES = mpi.CG_ROWS * 8 // 2
"""Of CG of class W: half of a vector."""
RTT_S = FIG4_RTT_MS / 1000


@dataclass(frozen=True)
class Exchange:
    """What ranks do, in words, and what the network alone takes each time, s."""

    work: Work
    label: str
    least_s: float


def line_s(size: int) -> float:
    """What the source's line takes for so many bytes, without headers."""
    return 8 * size / (ACCESS_BPS * FRAMED)


_PING_PONG_S = 2 * line_s(MESSAGE_BYTES) + RTT_S
AGREED, EAGER = "ping-pong, MPI as it comes", "ping-pong, messages at once"
EXCHANGES: Mapping[str, Exchange] = {
    AGREED: Exchange(Work("ping_pong", MESSAGE_BYTES, MESSAGES), "200 messages of 1 MB", _PING_PONG_S + 2 * RTT_S),
    EAGER: Exchange(Work("ping_pong", MESSAGE_BYTES, 60, eager=True), "60 messages of 1 MB", _PING_PONG_S),
    "IS": Exchange(Work("is", KEYS_BYTES, 10), "10 iterations", 1.5 * RTT_S + line_s(KEYS_BYTES)),
    "CG": Exchange(Work("cg", ROWS_BYTES, 25), "25 inner iterations", 1.5 * RTT_S + line_s(ROWS_BYTES)),
}


def times(scenario: Scenario, _kernel: str, exchange: Exchange, slower: float) -> Emulated:
    """How long each exchange took, s, as of the source's network; done once more if its emulation is invalid.

    Raises
    ------
    SimulationError
        The ranks did not come to their end.
    """

    def commands(folder: Path, left: Path) -> tuple[list[str], list[str]]:
        return mpi.commands(folder, left, exchange.work, SECONDS * slower)

    incomplete = f"mpirun: {exchange.label} did not come to their end"
    emulation = stacks.times_of_programs(scenario, commands, incomplete)
    return replace(emulation, answer=emulation.answer / slower)


def cases(_: Scale) -> dict[Any, Case]:
    """The ping-pong simulated without MPI, and all exchanges on Linux; nothing without a library of MPI."""
    if mpi.missing():
        return {}
    made = real_messages.of_one_direction(SLOWER, {})
    declared: dict[Any, Case] = {
        "simulated": simulated("fig. 4, simulated, slow start of today", made, real_messages.simulated_times, SLOWER)
    }
    real = real_messages.scenario(SLOWER, HOSTS)
    for name, exchange in EXCHANGES.items():
        arguments = (real, platform.release(), exchange, SLOWER)
        declared[name] = Case(f"PA, {name}, Linux", times, arguments, emulates=True)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Each exchange beside what the network alone takes, and the ping-pong beside the source and the simulator."""
    heading = "PA over MPI on real stacks"
    if (absent := mpi.missing()) or not answers:
        reason = f"Left out: {absent or 'nothing was done'}. Fig. 4 on real stacks has the ping-pong without MPI."
        return Findings([], [Section(heading, (reason,))])
    linux: dict[str, Emulated] = {name: answers[name] for name in EXCHANGES}
    runs: list[PingPong] = answers["simulated"]
    checks, rows = [], []
    for name, exchange in EXCHANGES.items():
        expected = _expected(exchange, runs)
        taken = linux[name].answer
        rows.append(
            (
                name,
                exchange.label,
                f"{PAPER['fig4_s']:g}" if name == AGREED else "",
                f"{np.mean(expected):.2f}" if expected else "",
                f"{exchange.work.count * exchange.least_s:.2f}",
                f"{taken.sum():.2f}",
                linux[name].validity.level,
            )
        )
        if stacks.usable(linux[name]):
            checks += _checks(name, exchange, linux[name], expected)
    text = (
        f"Two ranks of Open MPI, one on each host of Linux, {SLOWER} times slower than the source's pair; times are as "
        f"of the source's network. The control is {control()}. As it comes the library agrees with the receiver before "
        "each large message, which takes a round trip; the simulated time has these round trips too. IS and CG are the "
        "messages of NPB's kernels of class W, without their computing. Ranks wait by asking again and again, which "
        "takes the processors of this machine: that is why the watchdog may have doubts.",
        "The least time is that of round trips and of the line, without slow start and without MPI's own agreements.",
        *stacks.remarks(linux.items()),
    )
    header = ("exchange", "how often", "published, s", "simulated, s", "least, s", f"{kernel_name()}, s", "verdict")
    table = Table("PA over MPI: times of all exchanges", header, rows, numbers=range(2, 6))
    lines = [
        Line(np.cumsum(each.answer), 1e3 * each.answer, name, Style(place), steps=True)
        for place, (name, each) in enumerate(linux.items())
        if EXCHANGES[name].work.exchange == "ping_pong"
    ]
    plot = Plot([Panel(lines, Axis("time", "s"), Axis("time of an exchange", "ms", minimum=0))], "A message and back.")
    return Findings(checks, [Section(heading, text, [table], [Chart("pa-mpi", "PA over MPI", plot)])])


def _expected(exchange: Exchange, runs: list[PingPong]) -> list[float]:
    """What the simulator says of a ping-pong, a value a run: without MPI, and a round trip for each agreement."""
    if exchange.work.exchange != "ping_pong":
        return []
    agreements = 0.0 if exchange.work.eager else 2 * RTT_S * exchange.work.count
    return [float(each.ends_s[exchange.work.count - 1]) + agreements for each in runs]


def _checks(name: str, exchange: Exchange, linux: Emulated, expected: list[float]) -> list[Claim]:
    ours = float(linux.answer.sum())
    quantity = f"{name}: {exchange.label}, s"
    if not expected:
        note = f"the network alone takes {exchange.work.count * exchange.least_s:.2f}; {linux.validity.level}"
        return [reported("pa", quantity, single(ours), note)]
    checks = []
    if name == AGREED:
        published, mean = PAPER.number("fig4_s"), float(np.mean(expected))
        note = f"simulated alike: {mean:.2f}; the source's library was GridMPI"
        reading = f"{kernel_name()}, {SLOWER} times slower, {control()}, Open MPI"
        within = PAPER.within("ping_pong", published)
        checks.append(
            stacks.one_published("fig4", quantity, published, ours, expected, within=within, note=note, reading=reading)
        )
    return [*checks, stacks.beside_simulated("pa", f"{quantity}, Linux", linux, ours, expected, share=0.05)]


PART = Part("PA over MPI on real stacks", cases, findings, emulates=True)
