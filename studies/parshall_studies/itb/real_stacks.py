"""Table 6 with the TCP of Linux: what small socket buffers cost one pair of hosts, and both ways.

The pair is `SLOWER` times slower than the source's: rates are divided, times multiplied, so that windows, and goodputs
over the rate of the line, stay. The line carries what Gigabit Ethernet does of IP packets of 1500 bytes, frames being
38 bytes longer. Hosts have the buffers as limits of their windows (`single_pair` has the readings of "default"). Their
control is BIC if it can be loaded into the kernel, else CUBIC: a window that is limited asks for neither.

The simulator runs both networks with ``tcp = "linux"``. The source gives one value a direction, and 651 Mbit/s for the
way back: hosts that are alike in both directions show whether a stack alone can make that difference.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, Table 6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.itb.network import ACCESS_BPS, PAPER
from parshall_studies.itb.single_pair import DEFAULTS, TABLE6_RTT_MS

SLOWER = 10
"""100 Mbit/s and 198 ms in place of 1 Gbit/s and 19.8 ms."""
WARM_UP_S = 5.0
DURATION_S = {"quick": 7.0, "paper": 300.0}
RUNS = 3
"""Runs of the simulator with starts of their own."""
WITHIN = 0.02
"""Of a goodput: what hosts of 2006 left unused of a line, besides frames and headers, is not known."""
FRAMED = 1500 / 1538
"""Of what Gigabit Ethernet carries, IP packets of 1500 bytes."""
TUNED = "tuned"
WINDOWS = {**DEFAULTS, TUNED: 4_000_000}
"""Bytes that a host's window is at most; a tuned one fills the path and a queue of 1000 packets."""
Way = Literal["forward", "reverse"]
CASES: tuple[tuple[str, Way], ...] = (*((name, "forward") for name in WINDOWS), (TUNED, "reverse"))


@dataclass(frozen=True)
class Goodput:
    """Mbit/s, as in the source's network; a value a run."""

    mbps: tuple[float, ...]


def control() -> str:
    """BIC as in the source's kernel, if the hosts can have it."""
    return "bic" if stacks.missing("bic") is None else "cubic"


def scenario(
    window: str, way: Way, slower: float, scale: Scale, *, runs: int = 1, rules: Mapping[str, Any]
) -> Scenario:
    """One flow between two hosts; `rules` are keys of it: whose TCP it has."""
    rate = f"{round(ACCESS_BPS * FRAMED / slower)} bit/s"
    group = {
        "name": "pair",
        "rtt": f"{TABLE6_RTT_MS * slower:g} ms",
        "start": {"uniform": f"{TABLE6_RTT_MS * slower:g} ms"},
        "direction": way,
        "access_rate": rate,
        "congestion_control": control(),
        "receive_window": f"{WINDOWS[window]} B",
        **rules,
    }
    return Scenario.from_document(
        {
            "duration": f"{(WARM_UP_S + DURATION_S[scale]) * slower / SLOWER:g} s",
            "warm_up": f"{WARM_UP_S * slower / SLOWER:g} s",
            "repetitions": runs,
            "processing_time": "0 s",  # hosts take no time of their own in a simulation that is held against others
            "bottleneck": {
                "rate": f"{round(10 * ACCESS_BPS / slower)} bit/s",
                "delay": "10 us",
                "queue": {"name": "drop_tail", "limit": "2000 packets"},
            },
            "flows": [group],
            "probes": {"flow_samples": False, "link_samples": False, "transfers": False},
        }
    )


def goodput(run: Run, slower: float) -> Goodput:
    """What its runs carried."""
    return Goodput(tuple(float(each) * slower / 1e6 for each in run.flows["goodput_bps"]))


def cases(scale: Scale) -> dict[Any, Case]:
    """Each window and way: the source's network, the slower one, and Linux."""
    declared: dict[Any, Case] = {}
    for window, way in CASES:
        label = f"table 6, {window}, {way}"
        for slower in (1, SLOWER):
            made = scenario(window, way, slower, scale, runs=RUNS, rules=stacks.PROFILE)
            declared[window, way, slower] = simulated(f"{label}, simulated", made, goodput, slower)
        real = scenario(window, way, SLOWER, scale, rules={"kernel": {"sysctls": AMPLE_BUFFERS}})
        declared[window, way, "linux"] = emulated(f"{label}, Linux", real, goodput, SLOWER)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Three columns for each window and way."""
    checks: list[Claim] = []
    rows, remarks = [], []
    for window, way in CASES:
        source, slower = (float(np.mean(answers[window, way, each].mbps)) for each in (1, SLOWER))
        linux: Emulated = answers[window, way, "linux"]
        (ours,) = linux.answer.mbps
        published = float(PAPER[_published(window, way)])
        rows.append(
            (window, way, f"{published:g}", f"{source:.1f}", f"{slower:.1f}", f"{ours:.1f}", linux.validity.level)
        )
        remarks += stacks.remarks([(f"{window}, {way}", linux)])
        if not stacks.usable(linux):
            continue
        name = f"goodput, {'tuned' if window == TUNED else 'default'} buffers, {way}, Mbit/s"
        reading = f"{kernel_name()}, {SLOWER} times slower" + ("" if window == TUNED else f"; {window}")
        note = f"simulated: {source:.1f} in the source's network, {slower:.1f} in the slower one"
        runs = answers[window, way, SLOWER].mbps
        within = PAPER.within("line_rate", published)
        checks.append(
            stacks.one_published("table6", name, published, ours, runs, within=within, note=note, reading=reading)
        )
        quantity = f"{window}, {way}: goodput on Linux, Mbit/s"
        checks.append(stacks.beside_simulated("table6-linux", quantity, linux, ours, runs, share=WITHIN))
    text = (
        f"One pair of hosts with Linux's own TCP, {SLOWER} times slower than the source's; goodputs are as in the "
        f"source's network. The control is {control()}.",
        *remarks,
    )
    header = ("window", "way", "published", "simulated", f"{SLOWER} times slower", kernel_name(), "verdict")
    table = Table("Table 6: goodput, Mbit/s", header, rows, numbers=range(2, 6))
    return Findings(checks, [Section("Table 6 on real stacks", text, [table])])


def _published(window: str, way: Way) -> str:
    if window != TUNED:
        return "default_mbps"
    return "tuned_mbps" if way == "forward" else "tuned_back_mbps"


PART = Part("Table 6 on real stacks", cases, findings, emulates=True)
