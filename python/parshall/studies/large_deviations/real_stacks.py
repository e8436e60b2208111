"""Figures 3, 5, 6 and 9 on real stacks: the kernel's own Reno, BIC, HighSpeed and CUBIC in the source's network.

The network is `SLOWER` times slower than the source's, so that this machine can carry it: rates are divided, times
multiplied. What counts a round trip stays: windows in packets, the load, the buffer, how many round trips an ON time
lasts. What does not scale are the times that a kernel knows (least retransmission timeout, delayed ACKs, the clock of
CUBIC), so the simulator runs both networks: their difference is what scaling does.

Each row has three columns: the source's value, simulated in both networks, and Linux. A run of Linux is one run: it is
held against the interval in which one run of the simulator falls, with `tcp = "linux"`.

Cross traffic of datagrams heeds nobody: it is simulated in the same queue as the kernel's flow, so that it comes when
it is due also where this machine is late. The 45 ON/OFF sources of Fig. 6 are the kernel's TCP too. They send at the
rate of `long_range`, for which its flow loses what the source's did.

References: Loiseau 2010, §4.2, §5.1, Figs 3, 5, 6 and 9.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.emulation import abilities, kernel_name
from parshall.report.document import Drawn, Section, Table
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.stats.spectrum import interval_means
from parshall.studies import stacks
from parshall.studies.check import Check
from parshall.studies.large_deviations import long_range, network
from parshall.studies.large_deviations.constant import FITTING, WITHIN
from parshall.studies.large_deviations.network import PAPER
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated

SLOWER = 5
"""200 Mbit/s and 60 ms in place of 1 Gbit/s and 12 ms."""
WARM_UP_S = {"quick": 15.0, "paper": 60.0}
SEEDS = 8
"""Runs of the simulator that say in which interval one more of them falls."""
AVERAGED = 100
"""Round trips of the averages whose range is shown."""


@dataclass(frozen=True)
class Artefact:
    """A figure of the source.

    Parameters
    ----------
    name, control
        Which, and the congestion control of its flow.
    link, cross
        Its network, so many times slower.
    real_cross
        Whether the cross traffic has the TCP of the flow; else it is simulated.
    seconds
        How long the flow is measured on the kernel, at each scale.
    published
        Quantity of `Summary`, in words, the source's value, and how closely it can be expected.
    """

    name: str
    control: str
    link: Callable[[float], dict[str, Any]]
    cross: Callable[[float], dict[str, Any]]
    seconds: Mapping[Scale, float]
    published: tuple[tuple[str, str, float, float], ...] = ()
    real_cross: bool = False

    def scenario(self, slower: float, scale: Scale, seed: int, rules: Mapping[str, Any]) -> Scenario:
        """Of as many round trips in each network."""
        rtt_s = PAPER["rtt_s"] * slower
        tcp = {**network.TCP, "rtt": f"{rtt_s:g} s", "congestion_control": self.control, **rules}
        warm_up_s = WARM_UP_S[scale] * slower / SLOWER
        cross = {**self.cross(slower), **(rules if self.real_cross else {"endpoint": "simulated"})}
        return network.declared(
            self.link(slower),
            [tcp, cross],
            warm_up_s + self.seconds[scale] * slower / SLOWER,
            probes=network.probes_of_record(rtt_s),
            seed=seed,
            warm_up_s=warm_up_s,
        )


def _constant_link(slower: float) -> dict[str, Any]:
    return {**network.LINK, "rate": f"{round(FITTING.link_bps / slower)} bit/s"}


def _constant_cross(slower: float) -> dict[str, Any]:
    workload = {"name": "cbr", "rate": f"{round(FITTING.cross_bps / slower)} bit/s"}
    return {"name": "udp", "rtt": f"{12 * slower:g} ms", "packet_size": "1500 B", "workload": workload}


def _link(slower: float) -> dict[str, Any]:
    return {**network.LINK, "rate": f"{round(PAPER['capacity_bps'] / slower)} bit/s"}


def _sources(slower: float) -> dict[str, Any]:
    return long_range.SETTLED["quick"].sources(slower)


def _ethernet(slower: float) -> dict[str, Any]:
    return network.ethernet(slower=slower)


_LOW, _HIGH = PAPER["constant_range"]
_LOWEST, _HIGHEST = PAPER["on_off_range"]
ARTEFACTS = (
    Artefact(
        "fig3",
        "reno",
        _constant_link,
        _constant_cross,
        {"quick": 75.0, "paper": 1200.0},
        (
            ("lowest", "lowest window, packets", _LOW, WITHIN * _LOW),
            ("highest", "highest window, packets", _HIGH, WITHIN * _HIGH),
            ("window", "mean window, packets", PAPER["constant_mean"], WITHIN * PAPER["constant_mean"]),
        ),
    ),
    Artefact("fig5", "reno", _ethernet, network.as_payload, {"quick": 120.0, "paper": 3600.0}),
    Artefact("fig6", "reno", _link, _sources, {"quick": 120.0, "paper": 3600.0}, real_cross=True),
    *(
        Artefact(f"fig9{letter}", control, _ethernet, network.as_payload, {"quick": 75.0, "paper": 1800.0})
        for letter, control in (("a", "bic"), ("b", "highspeed"), ("c", "cubic"))
    ),
)


@dataclass(frozen=True)
class Summary:
    """Of a run: windows at the RTT rate, packets and loss events a round trip, extremes of averages over `AVERAGED`."""

    lowest: float
    highest: float
    window: float
    mean: float
    losses: float
    range: tuple[float, float]


def summary(run: Run, warm_up_s: float) -> Summary:
    """What is compared of a run."""
    record = network.measure(run, warm_up_s).record
    averages = interval_means(record.throughput, AVERAGED)
    return Summary(
        float(record.window.min()),
        float(record.window.max()),
        float(record.cwnd.mean()),
        record.mean,
        float(record.events.mean()),
        (float(averages.min()), float(averages.max())),
    )


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each artefact: the source's network, the slower one with some seeds, and Linux."""
    found: dict[Any, Case] = {}
    for artefact in ARTEFACTS:
        warm_up_s = WARM_UP_S[scale]
        words = f"{artefact.name}: {artefact.control}"
        found[artefact.name, "source"] = simulated(
            f"{words}, the source's network",
            artefact.scenario(1, scale, 1, stacks.PROFILE),
            summary,
            warm_up_s / SLOWER,
        )
        for seed in range(1, SEEDS + 1):
            scenario = artefact.scenario(SLOWER, scale, seed, stacks.PROFILE)
            found[artefact.name, seed] = simulated(f"{words}, slower network", scenario, summary, warm_up_s)
        if _missing(artefact.control) is None:
            scenario = artefact.scenario(SLOWER, scale, 1, {})
            found[artefact.name, "linux"] = emulated(f"{words}, Linux", scenario, summary, warm_up_s)
    return found


def _missing(control: str) -> str | None:
    """Why the kernel cannot have a congestion control."""
    if control in abilities().controls:
        return None
    return f"this kernel has no {control}, and BPF is not permitted or was not built (docs/linux.md)"


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Three columns for each artefact."""
    checks: list[Check] = []
    rows, remarks = [], []
    for artefact in ARTEFACTS:
        source: Summary = answers[artefact.name, "source"]
        slower: list[Summary] = [answers[artefact.name, seed] for seed in range(1, SEEDS + 1)]
        linux: Emulated | None = answers.get((artefact.name, "linux"))
        if artefact.published:
            said = (f"{value:.0f}" for _, _, value, _ in artefact.published)
            rows.append((f"{artefact.name}, {artefact.control}", "the source", *said, "", "", ""))
        rows.append(_row(artefact, "simulated, the source's network", source))
        rows.append(_row(artefact, f"simulated, {SLOWER} times slower", slower[0]))
        if linux is None:
            remarks.append(f"{artefact.name}: Linux is left out, since {_missing(artefact.control)}.")
            continue
        rows.append(_row(artefact, stacks.column(linux), linux.answer))
        remarks += stacks.remarks([(artefact.name, linux)])
        if stacks.believed(linux):
            checks += _published(artefact, source, slower[0], linux)
            checks += _between(artefact, slower, linux)
    text = (
        f"The source's network, {SLOWER} times slower: rates are divided, times multiplied, so that windows, loads and "
        "the buffer in packets stay. Linux has its own TCP at both ends of the flow; BIC and HighSpeed, which it no "
        "longer brings, are loaded into it. The cross traffic is datagrams, which heed nobody, and is simulated in the "
        "same queue; but for Fig. 6, whose 45 ON/OFF sources have the TCP of Linux as well. "
        'The simulator has TCP as Linux has it, `tcp = "linux"`, in both networks.',
        f"A run of Linux differs from the simulator where it is outside of the interval in which one more of {SEEDS} "
        f"simulated runs falls, by {100 * WITHIN:.0f} % at least.",
        *remarks,
    )
    header = (
        "figure",
        "where",
        "lowest window",
        "highest",
        "mean",
        "packets per RTT",
        "losses per RTT",
        "means of 100",
    )
    table = Table("Packets", header, rows, numbers=range(2, 8))
    return Findings(checks, [Section("On real stacks", text, [table], list[Drawn]())])


def _row(artefact: Artefact, where: str, found: Summary) -> tuple[str, ...]:
    low, high = found.range
    return (
        f"{artefact.name}, {artefact.control}",
        where,
        *(f"{each:.0f}" for each in (found.lowest, found.highest, found.window, found.mean)),
        f"{found.losses:.4f}",
        f"{low:.0f} .. {high:.0f}",
    )


def _published(artefact: Artefact, source: Summary, slower: Summary, linux: Emulated) -> list[Check]:
    """Linux beside the source's own values."""
    found = []
    for key, words, said, tolerance in artefact.published:
        here, there, ours = (float(getattr(each, key)) for each in (source, slower, linux.answer))
        note = f"simulated: {here:.0f} in the source's network, {there:.0f} in the slower one; {linux.validity.level}"
        reading = f"{kernel_name()}, {SLOWER} times slower"
        found.append(Check(artefact.name, words, said, ours, None, None, tolerance, note, reading=reading))
    return found


def _between(artefact: Artefact, slower: list[Summary], linux: Emulated) -> list[Check]:
    """Linux beside the simulator: ours against ours, which counts as nothing published."""
    found = []
    for key, words in (("mean", "packets per RTT"), ("losses", "loss events per RTT")):
        values = [float(getattr(each, key)) for each in slower]
        quantity = f"{artefact.control} on Linux: {words}"
        least = WITHIN * float(np.mean(values))
        ours = float(getattr(linux.answer, key))
        found.append(stacks.beside_simulated(f"{artefact.name}-linux", quantity, linux, ours, values, least=least))
    return found


PART = Part("on real stacks", cases, findings, emulates=True)
