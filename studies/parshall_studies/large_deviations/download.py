"""Figure 7 from a capture of our own: a download of 2^14 round trips by Reno, read as any other trace.

The source took its series at the sender of a download of which no more is known than its windows, some 60 packets. Here
Reno sends over a link that it shares with ON/OFF sources, in which it has windows like that. Of the link there is a
capture (`probes.pcap`), as tcpdump would write it; our own reader makes windows and losses of it without being told
anything of the network (`parshall.instruments.observation`), and its chain of what it found. What the socket itself
says of its windows shows what the reader makes of a capture.

References: Loiseau 2010, §5.2, Fig. 7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.instruments.observation import TracedFlow, observe
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.large_deviations.flow import mean_of, rounds_of
from parshall_studies.large_deviations.real import HEADER, compared, plots
from parshall_studies.large_deviations.setting import PAPER, Setting, declared
from parshall_studies.observed.spectra import variability
from parshall_studies.on_linux import Compared
from parshall_studies.spectrum import interval_means

RTT_S = 0.005
"""Short, so that 2^14 round trips take minutes; the queue adds up to 2.4 ms."""
LENGTH, PER_RTT_S = 2**14, 0.0062
"""Round trips, and what one takes with its queue, s, at most on average."""
WARM_UP_S = 2.0
AVERAGED = 100
"""Round trips of the averages whose range is compared."""
LINK, DOWNLOAD = "bottleneck", "download"


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


def measured(run: Run, length: int) -> Download:
    """Returns what our reader finds in the capture of a run: at most so many round trips after the warm-up."""
    (capture,) = run.captures(LINK)
    whole = observe(capture, sample_every_s=None).flow(0)
    rounds = whole.rounds.filter(pl.col("start_s") >= WARM_UP_S).head(length)
    flow = TracedFlow({**whole.row, "group": DOWNLOAD}, whole.facts, rounds, whole.samples, whole.capture)
    own = run.flows.filter(pl.col("group") == DOWNLOAD).row(0, named=True)
    window = float(rounds_of(run, int(own["flow"]), WARM_UP_S)["window_packets"].mean())  # type: ignore[arg-type]
    return Download(flow, window, int(own["retransmissions"]))


def points(setting: Setting) -> dict[str, Measurement]:
    """The download among simulated ON/OFF sources."""
    length = round(LENGTH * setting.flow_s / Setting().flow_s)
    link = {"rate": "200 Mbit/s", "delay": "0.5 ms", "queue": {"name": "drop_tail", "limit": "40 packets"}}
    on, off = ({"name": "exponential", "mean": mean} for mean in ("50 ms", "60 ms"))
    cross = {"name": "cross", "count": 16, "endpoint": "simulated", "rtt": f"{RTT_S:g} s", "packet_size": "1500 B"}
    cross["workload"] = {"name": "on_off_cbr", "rate": "8 Mbit/s", "on": on, "off": off}
    own = {
        "name": DOWNLOAD,
        "rtt": f"{RTT_S:g} s",
        "congestion_control": "reno",
        "packet_size": "1500 B",
        "tcp": "linux",
    }
    probes = {"pcap": [LINK], "rounds": 1}
    seconds = WARM_UP_S + length * PER_RTT_S
    scenario = declared(link, [own, cross], seconds, probes=probes, seed=setting.seed, warm_up_s=WARM_UP_S)
    return {DOWNLOAD: Measurement("fig7: a download", scenario, measured, (length,))}


def claims(answers: Answers, _: Setting) -> list[Claim]:
    """The capture beside the socket and the chain: ours against ours."""
    seen: Download = answers[DOWNLOAD]
    spectra = variability(seen.flow, "reno")
    made, _cells = compared(DOWNLOAD, "reno", seen.flow, spectra)
    name = "download: mean window by the capture, beside"
    by_capture = mean_of(seen.flow.windows)
    references = {"the socket's": (seen.socket_window, "capture")}
    if spectra.fitted is not None:
        references["the chain's with its p(w)"] = spectra.fitted.mean, "chain"
    return [
        *made,
        *(
            equal("fig7", f"{name} {whose}", mean, by_capture, within=PAPER.within(rule, mean), basis="theory")
            for whose, (mean, rule) in references.items()
        ),
    ]


def section(answers: Answers, _: Setting) -> Section:
    """Windows, p(w) and spectra as the capture has them."""
    seen: Download = answers[DOWNLOAD]
    spectra = variability(seen.flow, "reno")
    _claims, ranges = compared(DOWNLOAD, "reno", seen.flow, spectra)
    text = (
        "The source's download is not public, so nothing here counts as published. This is one of our own, of Reno "
        f"over a link of 200 Mbit/s, {1e3 * RTT_S:g} ms and a queue of 40 packets that 16 ON/OFF sources share: "
        "captured at the link, with headers only, and read by `parshall observe` as any capture.",
        f"The socket had {seen.socket_retransmissions} retransmissions after the warm-up; the whole capture, with the "
        f"slow start before it, shows {seen.flow.row['retransmissions']}. By the socket the mean window is "
        f"{seen.socket_window:.1f} packets, by the capture {seen.mean:.1f}.",
    )
    figures = [Chart(f"fig7-{kind}", title, plot) for kind, title, plot in plots("a download", seen.flow, spectra)]
    table = Table("Means over n round trips, packets", HEADER, ranges, numbers=(2, 6, 7))
    return Section("Figure 7 from a capture", text, [table], figures)


COMPARED = (
    Compared("mean window, packets", lambda each: float(each.mean), 0.03),
    Compared("loss events per RTT", lambda each: float(each.losses), 0.05),
    Compared(f"range of the means over {AVERAGED} RTTs, packets", lambda each: float(each.spread), 0.05),
)
FIG7 = Artefact("fig7", points, claims, section)
