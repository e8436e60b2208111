"""Figure 7 from a capture of our own: a download of 2^14 round trips by the kernel's Reno, read as any other trace.

The source took its series at the sender of a download of which no more is known than its windows, some 60 packets. Here
the kernel's Reno sends over a link that it shares with ON/OFF sources, in which it has windows like that. Of the link
there is a capture (`probes.pcap`), as tcpdump would write it; our own reader makes windows and losses of it without
being told anything of the network (`parshall.instruments.observation`), and its chain of what it found.

Each row has the download simulated with ``tcp = "linux"`` and on Linux, both through the same reader. What the socket
itself says of its windows (TCP_INFO) shows what the reader makes of a capture.

| symbol | here |
| --- | --- |
| N | `LENGTH`, round trips |
| RTT | `RTT_S`, short so that 2^14 of them take minutes; the queue adds up to 2.4 ms |

References: Loiseau 2010, §5.2, Fig. 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import single
from parshall.instruments.observation import TracedFlow, observe
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.real import compared, plots
from parshall_studies.large_deviations.spectra import PARTS
from parshall_studies.observed.spectra import variability
from parshall_studies.spectrum import interval_means

RTT_S = 0.005
LENGTH: Mapping[Scale, int] = {"quick": 2**14, "paper": 2**17}
PER_RTT_S = 0.0062
"""What a round trip takes with its queue, s, at most on average."""
WARM_UP_S = 2.0
SEEDS = 6
AVERAGED = 100
"""Round trips of the averages whose range is compared."""
LINK = "bottleneck"


def scenario(scale: Scale, seed: int, rules: Mapping[str, Any]) -> Scenario:
    """The download, with keys of its own, among simulated ON/OFF sources."""
    link = {
        "rate": "200 Mbit/s",
        "delay": "0.5 ms",
        "queue": {"name": "drop_tail", "limit": "40 packets"},
    }
    workload = {
        "name": "on_off_cbr",
        "rate": "8 Mbit/s",
        "on": {"name": "exponential", "mean": "50 ms"},
        "off": {"name": "exponential", "mean": "60 ms"},
    }
    flows = [
        {**network.TCP, "name": "download", "rtt": f"{RTT_S:g} s", **rules},
        {
            "name": "cross",
            "count": 16,
            "endpoint": "simulated",
            "rtt": f"{RTT_S:g} s",
            "packet_size": "1500 B",
            "workload": workload,
        },
    ]
    seconds = WARM_UP_S + LENGTH[scale] * PER_RTT_S
    probes = {"pcap": [LINK], "rounds": 1}
    return network.declared(link, flows, seconds, probes=probes, seed=seed, warm_up_s=WARM_UP_S)


@dataclass(frozen=True)
class Download:
    """A download as its capture shows it; of its socket, packets a round trip and retransmissions after the warm-up."""

    flow: TracedFlow
    socket_window: float
    socket_retransmissions: int

    @property
    def mean(self) -> float:
        """Mean window, packets."""
        return float(self.flow.windows.mean())

    @property
    def losses(self) -> float:
        """Loss events a round trip."""
        return float(self.flow.events.mean())

    @property
    def spread(self) -> float:
        """The range of the means over `AVERAGED` round trips, packets."""
        return float(np.ptp(interval_means(self.flow.windows, AVERAGED)))


def download(run: Run, length: int) -> Download:
    """What our reader finds in the capture of a run: at most so many round trips after the warm-up."""
    (capture,) = run.captures(LINK)
    seen = observe(capture, sample_every_s=None)
    whole = seen.flow(0)
    rounds = whole.rounds.filter(pl.col("start_s") >= WARM_UP_S).head(length)
    flow = TracedFlow({**whole.row, "group": "download"}, whole.facts, rounds, whole.samples, whole.capture)
    own = run.flows.filter(pl.col("group") == "download").row(0, named=True)
    lengths = network.rounds_of(run, int(own["flow"]), WARM_UP_S)
    window = float(lengths["window_packets"].mean())  # type: ignore[arg-type]
    return Download(flow, window, int(own["retransmissions"]))


def cases(scale: Scale) -> dict[Any, Case]:
    """Some simulated, and Linux."""
    label, length = "fig7: a download", LENGTH[scale]
    declared: dict[Any, Case] = {
        seed: simulated(f"{label}, simulated", scenario(scale, seed, stacks.PROFILE), download, length)
        for seed in range(1, SEEDS + 1)
    }
    return {**declared, "linux": emulated(f"{label}, Linux", scenario(scale, 1, {}), download, length)}


QUANTITIES = (
    ("mean", "mean window, packets", 0.03, 1),
    ("losses", "loss events per RTT", 0.05, 4),
    ("spread", f"range of the means over {AVERAGED} RTTs, packets", 0.05, 1),
)
"""Attributes of `Download`, in words, what difference does not matter, relative, and digits."""


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """What the reader found of the simulated download and of that of Linux, and the chain of each."""
    linux: Emulated = answers["linux"]
    every: list[Download] = [answers[seed] for seed in range(1, SEEDS + 1)]
    ours: Download = linux.answer
    rows = []
    for key, quantity, _tolerance, digits in QUANTITIES:
        expected = stacks.cell_of_one_more([getattr(each, key) for each in every], digits)
        rows.append((quantity, expected, f"{getattr(ours, key):.{digits}f}"))
    rows += [
        ("mean window by the socket, packets", f"{every[0].socket_window:.1f}", f"{ours.socket_window:.1f}"),
        ("round trips", f"{every[0].flow.windows.size}", f"{ours.flow.windows.size}"),
    ]
    checks: list[Claim] = []
    ranges: list[tuple[str, ...]] = []
    figures: list[Chart] = []
    for name, each, drawn in (("simulated", every[0], False), (stacks.column(linux), ours, stacks.usable(linux))):
        spectra = variability(each.flow, "reno")
        more, cells = compared(f"download, {name}", "reno", each.flow, spectra)
        ranges += cells
        if drawn:
            checks += [*_checks(every, linux, None if spectra.fitted is None else spectra.fitted.mean), *more]
            figures = [
                Chart(f"fig7-{kind}-linux", f"{title}, Linux", plot)
                for kind, title, plot in plots("a download", each.flow, spectra)
            ]
    text = (
        "The source's download is not public, so nothing here counts as published. This is one of our own, of Reno "
        f"over a link of 200 Mbit/s, {1e3 * RTT_S:g} ms and a queue of 40 packets that 16 ON/OFF sources share: "
        "captured at the link, with headers only, and read by `parshall observe` as any capture. Behind the "
        f"simulator's values is the interval of one more run of {SEEDS}.",
        f"The socket had {ours.socket_retransmissions} retransmissions after the warm-up; the whole capture, with the "
        f"slow start before it, shows {ours.flow.row['retransmissions']}.",
        *stacks.remarks([("fig7", linux)]),
    )
    header = ("flow", "chain of", "n", "observed range", "chain's range", "chain in range", "mean", "chain's mean")
    tables = [
        Table("The download", ("quantity", "simulated", stacks.column(linux)), rows, numbers=(1, 2)),
        Table("Means over n round trips, packets", header, ranges, numbers=(2, 6, 7)),
    ]
    return Findings(checks, [Section("Figure 7 from a capture of Linux", text, tables, figures)])


def _checks(every: list[Download], linux: Emulated, chain: float | None) -> list[Claim]:
    ours: Download = linux.answer
    means = mean_interval(interval_means(ours.flow.windows, ours.flow.windows.size // PARTS))
    half = means.half_width or 0.0
    ends = ours.mean - half, ours.mean + half
    checks = []
    if chain is not None:
        name = "download, Linux: mean window by the capture, beside the chain's with its p(w)"
        checks.append(
            equal(
                "fig7",
                name,
                chain,
                Interval(ours.mean, *ends, 1),
                within=PAPER.within("recovery", chain),
                basis="theory",
            )
        )
    name = "download, Linux: mean window by the capture, beside the socket's"
    of_socket = ours.socket_window
    checks.append(
        equal("fig7", name, of_socket, single(ours.mean), within=PAPER.within("capture", of_socket), basis="theory")
    )
    checks += [
        stacks.attribute_beside_simulated("fig7-linux", f"download, Linux: {quantity}", linux, key, every, share=share)
        for key, quantity, share, _ in QUANTITIES
    ]
    return checks


PART = Part("figure 7 from a capture of Linux", cases, findings, emulates=True)
