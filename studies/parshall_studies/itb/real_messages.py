"""Fig. 4 on real stacks: PA's ping-pong between two hosts of Linux, each reply waiting for its message.

The pair is `SLOWER` times slower than the source's, as in `real_stacks`, both ways: links carry what Gigabit Ethernet
does of packets of 1500 bytes. `messages` sends over the kernel's sockets; of MPI, which does the same exchange over
one TCP connection (`real_mpi`), it has what the network sees: messages of 1 MB one after the other, without Nagle's
algorithm.

Times are as of the source's network. While a host waits for a reply, its window lives on: the wait is a few round
trips, which in the source's network is less than the least retransmission timeout, so hosts are told not to slow down
after an idle time. The source's BIC ended slow start at 100 packets; today's does not, and the simulator has both.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4, §5.4, Fig. 4.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.instruments.emulation import kernel_name
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, simulated
from parshall_studies import stacks
from parshall_studies.benchmark.ping_pong import MESSAGE_BYTES, MESSAGES, direction
from parshall_studies.itb import messages
from parshall_studies.itb.network import ACCESS_BPS, PAPER, recorded
from parshall_studies.itb.real_stacks import FRAMED, control
from parshall_studies.itb.single_pair import FIG4_RTT_MS, PingPong, ping_pongs

SLOWER = 5
"""200 Mbit/s and 58 ms in place of 1 Gbit/s and 11.6 ms."""
PORT = 9000
SECONDS = 30.0
"""That a ping-pong takes at most in the source's network."""
RUNS = 3
SSTHRESH = {"initial_ssthresh": "100 packets"}
"""As in the kernel of the source."""
HOSTS = {"kernel": {"sysctls": {**AMPLE_BUFFERS, "net.ipv4.tcp_slow_start_after_idle": 0}}}


def scenario(slower: float, rules: Mapping[str, Any], *, runs: int = 1) -> Scenario:
    """A pair with a link each way; `rules` are keys of it."""
    rate = f"{round(ACCESS_BPS * FRAMED / slower)} bit/s"
    queue = {"name": "drop_tail", "limit": "1000 packets"}
    group = {
        "name": "pair",
        "rtt": f"{FIG4_RTT_MS * slower:g} ms",
        "path": ["there"],
        "reverse_path": ["back"],
        "congestion_control": control(),
        **rules,
    }
    return Scenario.from_document(
        {
            "duration": f"{SECONDS * slower:g} s",
            **({"ends_with": ["pair"]} if "workload" in rules else {}),
            "repetitions": runs,
            "links": [{"name": name, "rate": rate, "delay": "10 us", "queue": queue} for name in ("there", "back")],
            "flows": [group],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


def of_one_direction(slower: float, rules: Mapping[str, Any]) -> Scenario:
    """The simulated ping-pong: `parshall_studies.benchmark.ping_pong` says why one direction is enough."""
    sent = direction(MESSAGES, MESSAGE_BYTES, ACCESS_BPS / slower)
    return scenario(slower, {**stacks.PROFILE, **HOSTS, **sent, "start": {"uniform": "100 ms"}, **rules}, runs=RUNS)


def simulated_times(run: Any, slower: float) -> list[PingPong]:
    """One a run; times as of the source's network."""
    kept = recorded(run)
    assert kept.transfers is not None  # noqa: S101 - the probe is on
    times = []
    for (_,), transfers in kept.transfers.group_by(["repetition"], maintain_order=True):
        one = ping_pongs(type(kept)(kept.duration_s, kept.flows, transfers, None, None))
        times.append(PingPong(one.ends_s / slower, one.goodput_bps * slower))
    return times


def real_times(scenario: Scenario, _kernel: str, slower: float) -> Emulated:
    """The ping-pong of Linux, done once more if its emulation is invalid.

    Raises
    ------
    SimulationError
        It did not come to its end.
    """
    program = [sys.executable, str(Path(messages.__file__))]
    size = str(MESSAGE_BYTES)

    def commands(_: Path, times: Path) -> tuple[list[str], list[str]]:
        ask = [*program, "ask", "{server}", str(PORT), size, str(MESSAGES), str(times)]
        return ask, [*program, "reply", "{server}", str(PORT), size]

    incomplete = f"{program[-1]}: the ping-pong of {MESSAGES} messages did not come to its end"
    emulation = stacks.times_of_programs(scenario, commands, incomplete)
    taken = emulation.answer / slower
    return replace(emulation, answer=PingPong(np.cumsum(taken), 2 * 8 * MESSAGE_BYTES / taken))


def cases(_: Scale) -> dict[Any, Case]:
    """Both networks simulated, slow start with and without an end at 100 packets; and Linux."""
    declared: dict[Any, Case] = {}
    for slower in (1, SLOWER):
        for name, rules in (("today", {}), ("2006", SSTHRESH)):
            label = f"fig. 4, simulated, slow start of {name}"
            made = of_one_direction(slower, rules)
            declared[name, slower] = simulated(label, made, simulated_times, slower)
    real = scenario(SLOWER, HOSTS)
    arguments = (real, platform.release(), SLOWER)
    return {**declared, "linux": Case("fig. 4, Linux", real_times, arguments, emulates=True)}


QUANTITIES = (
    ("total_s", "fig4_s", "time of 200 ping-pongs, s"),
    ("full_s", "fig4_full_s", "when the full rate is reached, s"),
)
"""Attributes of `PingPong`, published values, in words."""
TOLERANCE = {"total_s": PAPER.within("ping_pong", PAPER["fig4_s"]), "full_s": PAPER.within("full_rate")}


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Published, simulated with both slow starts, and on Linux."""
    linux: Emulated = answers["linux"]
    checks: list[Claim] = []
    rows = []
    for attribute, key, label in QUANTITIES:
        ours, published = float(getattr(linux.answer, attribute)), float(PAPER[key])
        means = {
            case: float(np.mean([getattr(each, attribute) for each in runs]))
            for case, runs in answers.items()
            if case != "linux"
        }
        order = (("2006", 1), ("2006", SLOWER), ("today", 1), ("today", SLOWER))
        rows.append((label, f"{published:g}", *(f"{means[case]:.2f}" for case in order), f"{ours:.2f}"))
        if not stacks.usable(linux):
            continue
        reading = f"{kernel_name()}, {SLOWER} times slower, {control()}"
        note = (
            f"simulated alike: {means['today', SLOWER]:.2f}; with slow start to 100 packets {means['2006', SLOWER]:.2f}"
        )
        values = [float(getattr(each, attribute)) for each in answers["today", SLOWER]]
        within = TOLERANCE[attribute]
        checks.append(
            stacks.one_published("fig4", label, published, ours, values, within=within, note=note, reading=reading)
        )
        quantity = f"{label}, on Linux"
        checks.append(
            stacks.beside_simulated("fig4-linux", quantity, linux, ours, values, least=max(0.1, 0.05 * values[0]))
        )
    text = (
        f"200 messages of 1 MB, each sent when the reply to the one before is complete, over one TCP connection of "
        f"Linux; {SLOWER} times slower than the source's pair, times as of the source's network. The control is "
        f"{control()}. The exchange is done by a program of our own without MPI; what a library of MPI adds, such as "
        "an agreement before a large message, is in PA over MPI.",
        *stacks.remarks([("fig4", linux)]),
    )
    header = (
        "quantity",
        "published",
        "simulated, slow start to 100 packets",
        f"the same, {SLOWER} times slower",
        "simulated, slow start to a loss",
        f"the same, {SLOWER} times slower",
        stacks.column(linux),
    )
    named = {"simulated, slow start to 100 packets": answers["2006", SLOWER][0]}
    named |= {"simulated, slow start to a loss": answers["today", SLOWER][0], kernel_name(): linux.answer}
    lines: list[Line | Guide] = [
        Line(each.ends_s, each.goodput_bps / 1e6, name, Style(series=place), steps=True)
        for place, (name, each) in enumerate(named.items())
    ]
    lines.append(Guide(PAPER["fig4_s"], "the source's end", along="x"))
    plot = Plot([Panel(lines, Axis("time", "s"), Axis("goodput", "Mbit/s"))], "Goodput of each message.")
    table = Table("Fig. 4: 200 ping-pongs of 1 MB", header, rows, numbers=range(1, 7))
    return Findings(
        checks, [Section("Fig. 4 on real stacks", text, [table], [Chart("fig4-linux", "Fig. 4, Linux", plot)])]
    )


PART = Part("Fig. 4 on real stacks", cases, findings, emulates=True)
