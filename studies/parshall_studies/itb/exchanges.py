"""Fig. 4 on real stacks: PA's ping-pong between two hosts of Linux, by a program of our own and over a library of MPI.

The pair is `SLOWER` times slower than the source's, both ways (`pair`); times are as of the source's network. While a
host waits for a reply its window lives on: the wait is a few round trips, less than the least retransmission timeout of
the source's network, so hosts are told not to slow down after an idle time. The source's BIC ended slow start at 100
packets; today's does not.

What a library adds is seen in two settings of it: as it comes, a rank agrees with the other before a large message,
which takes a round trip each; and with messages that leave at once, however large (`btl_tcp_eager_limit`). The source's
library was GridMPI. NPB's kernels are not run: of IS and CG of class W, two ranks, there are the messages of an
iteration, without the computing between them.

| exchange | an iteration | least time |
| --- | --- | --- |
| `is` | 1024 sums, sizes from each to each, 1 MB of keys from each to each | 3 RTT/2 and what the line takes |
| `cg` | 28 kB both ways at once, two sums of one number | 3 RTT/2 and what the line takes |

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4, §5.4, Fig. 4; Bailey et al., The NAS Parallel
Benchmarks, RNR-94-007 (IS, CG).
"""

from __future__ import annotations

import platform
import sys
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
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, simulated
from parshall_studies import mpi, stacks
from parshall_studies.benchmark.ping_pong import MESSAGE_BYTES, MESSAGES
from parshall_studies.itb import programs
from parshall_studies.itb.network import ACCESS_BPS, PAPER, Setting
from parshall_studies.itb.pair import (
    FIG4_RTT_MS,
    FRAMED,
    QUANTITIES,
    SECONDS,
    TOLERANCE,
    PingPong,
    drawn_ping_pongs,
    mean_of,
    ping_pong,
    ping_pongs,
)
from parshall_studies.mpi import Work
from parshall_studies.scaling import for_linux

SLOWER = 5
"""200 Mbit/s and 58 ms in place of 1 Gbit/s and 11.6 ms."""
PORT = 9000
RTT_S = FIG4_RTT_MS / 1000
HOSTS = {"net.ipv4.tcp_slow_start_after_idle": 0}
KEYS_BYTES = 2**20
"""Of IS of class W, 2^20 keys of 4 bytes: what each of two ranks sends to each."""
ROWS_BYTES = mpi.CG_ROWS * 8 // 2
"""Of CG of class W: half of a vector."""


def line_s(size: int) -> float:
    """The time of so many bytes on the source's line, without headers, s."""
    return 8 * size / (ACCESS_BPS * FRAMED)


@dataclass(frozen=True)
class Exchange:
    """The work of a pair, and what the network alone takes each time, s; `rtts` are a library's agreements."""

    work: Work
    label: str
    least_s: float
    rtts: int = 0
    over_mpi: bool = True

    @property
    def is_ping_pong(self) -> bool:
        """True where the simulator has it, too."""
        return self.work.exchange == "ping_pong"


_PING_PONG_S = 2 * line_s(MESSAGE_BYTES) + RTT_S
_ALL = Work("ping_pong", MESSAGE_BYTES, MESSAGES)
_EAGER = Work("ping_pong", MESSAGE_BYTES, 60, eager=True)
OWN, AGREED, EAGER = "ping-pong", "ping-pong, MPI as it comes", "ping-pong, messages at once"
EXCHANGES: Mapping[str, Exchange] = {
    OWN: Exchange(_ALL, "200 messages of 1 MB", _PING_PONG_S, over_mpi=False),
    AGREED: Exchange(_ALL, "200 messages of 1 MB", _PING_PONG_S + 2 * RTT_S, rtts=2),
    EAGER: Exchange(_EAGER, "60 messages of 1 MB", _PING_PONG_S),
    "IS": Exchange(Work("is", KEYS_BYTES, 10), "10 iterations", 1.5 * RTT_S + line_s(KEYS_BYTES)),
    "CG": Exchange(Work("cg", ROWS_BYTES, 25), "25 inner iterations", 1.5 * RTT_S + line_s(ROWS_BYTES)),
}


def control() -> str:
    """BIC as in the source's kernel, if the hosts can have it."""
    return "bic" if stacks.missing("bic") is None else "cubic"


def scenario() -> Scenario:
    """The pair, with a link each way."""
    rate = f"{round(ACCESS_BPS * FRAMED / SLOWER)} bit/s"
    queue = {"name": "drop_tail", "limit": "1000 packets"}
    group = {
        "name": "pair",
        "rtt": f"{FIG4_RTT_MS * SLOWER:g} ms",
        "path": ["there"],
        "reverse_path": ["back"],
        "congestion_control": control(),
        "kernel": {"sysctls": HOSTS},
    }
    links = [{"name": name, "rate": rate, "delay": "10 us", "queue": queue} for name in ("there", "back")]
    probes = {"flow_samples": False, "link_samples": False}
    document = {"duration": f"{SECONDS * SLOWER / 2:g} s", "links": links, "flows": [group], "probes": probes}
    return for_linux(Scenario.from_document(document))


def times(scenario: Scenario, _kernel: str, exchange: Exchange) -> Emulated:
    """The time of each exchange, s, as of the source's network; done once more if its emulation is invalid.

    Raises
    ------
    SimulationError
        The pair did not come to its end.
    """

    def commands(folder: Path, left: Path) -> tuple[list[str], list[str]]:
        if exchange.over_mpi:
            return mpi.commands(folder, left, exchange.work, scenario.duration_s)
        program, size = [sys.executable, str(Path(programs.__file__))], str(exchange.work.size)
        ask = [*program, "ask", "{server}", str(PORT), size, str(exchange.work.count), str(left)]
        return ask, [*program, "reply", "{server}", str(PORT), size]

    emulation = stacks.times_of_programs(scenario, commands, f"{exchange.label} did not come to their end")
    return replace(emulation, answer=emulation.answer / SLOWER)


def cases(_: Scale) -> dict[Any, Case]:
    """The ping-pong simulated with both slow starts, and all exchanges on Linux, of MPI where there is a library."""
    setting, real = Setting(stretched=SLOWER), scenario()
    of_today = for_linux(ping_pong(setting, {"congestion_control": control()})).with_values(
        {"flows.0.kernel.sysctls": HOSTS}
    )
    made = {"today": of_today, "2006": ping_pong(setting, {})}
    declared: dict[Any, Case] = {
        name: simulated(f"Fig. 4, simulated, slow start of {name}", each, ping_pongs, SLOWER)
        for name, each in made.items()
    }
    for name, exchange in EXCHANGES.items():
        if not exchange.over_mpi or mpi.missing() is None:
            arguments = (real, platform.release(), exchange)
            declared[name] = Case(f"PA, {name}, Linux", times, arguments, emulates=True)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Each exchange beside what the network alone takes, and ping-pongs beside the source and the simulator."""
    linux: dict[str, Emulated] = {name: answers[name] for name in EXCHANGES if name in answers}
    runs: list[PingPong] = answers["today"]
    old = mean_of(answers["2006"], "total_s")
    claims: list[Claim] = []
    rows = []
    for name, emulation in linux.items():
        exchange, taken = EXCHANGES[name], emulation.answer
        expected = _expected(exchange, runs)
        rows.append(
            (
                name,
                exchange.label,
                f"{PAPER['fig4_s']:g}" if exchange.work == _ALL else "",
                f"{np.mean(expected):.2f}" if expected else "",
                f"{exchange.work.count * exchange.least_s:.2f}",
                f"{taken.sum():.2f}",
                emulation.validity.level,
            )
        )
        if stacks.usable(emulation):
            claims += _claims(name, emulation, runs, expected)
    absent = mpi.missing()
    text = (
        f"A pair of hosts of Linux, {SLOWER} times slower than the source's; times are as of the source's network. The "
        f"control is {control()}; with slow start to 100 packets, as the source's kernel had it, 200 ping-pongs take "
        f"{old:.2f} s in the simulator. Ranks of Open MPI wait by asking again and again, which takes the processors "
        "of this machine: so the watchdog may have doubts. The least time is that of round trips and of the line.",
        *((f"Over MPI: left out, {absent}.",) if absent else ()),
        *stacks.remarks(linux.items()),
    )
    header = ("exchange", "how often", "published, s", "simulated, s", "least, s", f"{kernel_name()}, s", "verdict")
    table = Table("PA: times of all exchanges", header, rows, numbers=range(2, 6))
    drawn = {
        "simulated": runs[0],
        **{name: _made(each) for name, each in linux.items() if EXCHANGES[name].is_ping_pong},
    }
    chart = Chart("fig4-linux", "Fig. 4, Linux", drawn_ping_pongs(drawn))
    return Findings(claims, [Section("Fig. 4 and PA over MPI on real stacks", text, [table], [chart])])


def _made(linux: Emulated) -> PingPong:
    return PingPong.of_times(linux.answer, 2 * 8 * MESSAGE_BYTES)


def _expected(exchange: Exchange, runs: list[PingPong]) -> list[float]:
    """The simulator's time of a ping-pong, a value a run, with a round trip for each agreement; else nothing."""
    if not exchange.is_ping_pong:
        return []
    count = exchange.work.count
    return [float(each.ends_s[count - 1]) + exchange.rtts * RTT_S * count for each in runs]


def _claims(name: str, linux: Emulated, runs: list[PingPong], expected: list[float]) -> list[Claim]:
    exchange, ours = EXCHANGES[name], float(linux.answer.sum())
    quantity = f"{name}: {exchange.label}, s"
    reading = f"{kernel_name()}, {SLOWER} times slower, {control()}"
    if name == OWN:
        claims = []
        for attribute, (key, words) in QUANTITIES.items():
            found, values = float(getattr(_made(linux), attribute)), [float(getattr(each, attribute)) for each in runs]
            claims += [
                stacks.one_published(
                    "fig4", words, PAPER[key], found, values, within=TOLERANCE[attribute], note="", reading=reading
                ),
                stacks.beside_simulated(
                    "fig4-linux", f"{words}, on Linux", linux, found, values, share=0.05, least=0.1
                ),
            ]
        return claims
    if not expected:
        least_s = exchange.work.count * exchange.least_s
        return [
            reported("pa", quantity, single(ours), f"the network alone takes {least_s:.2f}; {linux.validity.level}")
        ]
    beside = stacks.beside_simulated("pa", f"{quantity}, Linux", linux, ours, expected, share=0.05)
    if name != AGREED:
        return [beside]
    stated = stacks.one_published(
        "fig4", quantity, PAPER["fig4_s"], ours, expected, within=TOLERANCE["total_s"],
        note="the source's library was GridMPI", reading=f"{reading}, Open MPI",
    )  # fmt: skip
    return [stated, beside]


PART = Part("Fig. 4 and PA over MPI on real stacks", cases, findings, emulates=True)
