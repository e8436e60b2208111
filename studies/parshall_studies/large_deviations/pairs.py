"""Beyond the source: pairs of flows at a RED queue, and how fair and how friendly they are at each time scale.

The queue drops a packet with a probability that is linear in the queue of the moment, and the queue is what the windows
have above the bandwidth-delay product: p_pkt(W_1 + W_2). So the chain of `models.competing` predicts everything of two
Reno flows. Of a Reno beside a CUBIC the joint spectrum says how often they have which throughputs in the same n round
trips, and P(Reno's share < x) at each scale how friendly CUBIC is there.

References: Loiseau 2010, §6, where several flows, fairness at different scales and friendliness are future work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Grid, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.chains.competing import pair
from parshall_studies.joint_spectrum import joint_spectrum
from parshall_studies.large_deviations.flow import per_rtt, rounds_of
from parshall_studies.large_deviations.setting import PAPER, TCP, Setting, declared
from parshall_studies.on_linux import Compared
from parshall_studies.spectrum import interval_means

RTT_S, RATE_BPS, SLOPE, FIRST, LAST = 0.1, 12e6, 5e-4, 1, 101
"""RTT, link, drop probability a packet of queue, thresholds in packets."""
PIPE = RATE_BPS * RTT_S / 12_000
W_MAX = 200
SCALES = (10, 30, 100, 300, 1000)
JOINT = (10, 30)
"""Scales at which the joint spectrum is drawn."""
PAIRS = (("reno", "reno"), ("reno", "cubic"), ("cubic", "cubic"))
MIXED, SAME = "reno-cubic", "reno-reno"
ROUNDS = 72_000
"""Round trips at quick scale."""
SMALL_SHARE = 0.4
"""Of the link; half would be as much as the other."""


@dataclass(frozen=True)
class Both:
    """Packets of two flows in the same consecutive RTTs, shapes (N,)."""

    one: FloatArray
    two: FloatArray

    def fair(self, scale: int) -> Interval:
        """Jain's index over so many RTTs."""
        return mean_interval(jain_of(self.one, self.two, scale))

    def shares(self, scale: int) -> FloatArray:
        """The share of the first flow in each interval."""
        one, two = (interval_means(each, scale) for each in (self.one, self.two))
        return np.asarray(one / (one + two))


def jain_of(one: FloatArray, two: FloatArray, scale: int) -> FloatArray:
    """Jain's index of each interval."""
    pairs = np.stack([interval_means(one, scale), interval_means(two, scale)], axis=1)
    return np.array([jain(each) for each in pairs], dtype=np.float64)


def dropped(total: FloatArray) -> FloatArray:
    """P(a packet is dropped) where both windows add up to `total`."""
    return np.clip(SLOPE * (total - PIPE - FIRST), 0.0, SLOPE * (LAST - FIRST))


@cache
def predicted() -> tuple[float, ...]:
    """Jain's index of the chain of two Reno flows at each of `SCALES`."""
    return tuple(pair(dropped, W_MAX, by_packets=True).fairness(SCALES).tolist())


def link(faster: float) -> dict[str, Any]:
    """The RED queue; of a network that is so many times faster and shorter: windows and queues stay as they are."""
    red = {"name": "red", "limit": "1000 packets", "weight": 1.0, "gentle": True, "count_spacing": False}
    red |= {
        "min_threshold": f"{FIRST} packets",
        "max_threshold": f"{LAST} packets",
        "max_probability": SLOPE * (LAST - FIRST),
    }
    return {"rate": f"{RATE_BPS * faster:.0f} bit/s", "queue": red}


def points(setting: Setting) -> dict[str, Measurement]:
    """Each pair; times are shorter where `slower` is below 1."""
    made = {}
    for controls in PAIRS:
        flows = [
            {**TCP, "name": f"{place}", "rtt": f"{RTT_S * setting.slower:g} s", "congestion_control": each}
            for place, each in enumerate(controls)
        ]
        warm_up_s = 40 * setting.slower
        rounds = ROUNDS * setting.flow_s / Setting().flow_s
        seconds = warm_up_s + rounds * RTT_S * setting.slower
        scenario = declared(
            link(1 / setting.slower), flows, seconds, probes={"rounds": 2}, seed=setting.seed, warm_up_s=warm_up_s
        )
        name = "-".join(controls)
        made[name] = Measurement(f"pairs: {name}", scenario, of_both, (RTT_S * setting.slower, warm_up_s))
    return made


def of_both(run: Run, rtt_s: float, warm_up_s: float) -> Both:
    """Packets of the first two flows in the same intervals of `rtt_s`."""
    rounds = [rounds_of(run, flow, warm_up_s) for flow in (0, 1)]
    start = max(float(each["start_s"][0]) for each in rounds)
    one, two = (per_rtt(each.filter(pl.col("start_s") >= start), rtt_s) for each in rounds)
    length = min(one.size, two.size)
    return Both(one[:length], two[:length])


def fitting(both: Both) -> Sequence[int]:
    """The scales of which there are ten intervals."""
    return [scale for scale in SCALES if both.one.size >= 10 * scale]


def claims(answers: Answers, _: Setting) -> list[Claim]:
    """Jain's index of two Reno flows beside the chain's."""
    if SAME not in answers:
        return []
    both, made = answers[SAME], []
    scales = fitting(both)
    for scale, theory in zip(scales, predicted(), strict=False):  # short records have not all scales
        order, least = PAPER.within("first_order", 1 - theory), PAPER.within("jain")
        near = max(order, least, key=lambda each: each.value) if both.one.size < ROUNDS / 2 else order
        nulls = [Null("flows that share evenly", exactly(1.0))]
        quantity = f"Jain's index over {scale} RTTs"
        made.append(equal("fairness", quantity, theory, both.fair(scale), within=near, basis="theory", nulls=nulls))
    return made


def section(answers: Answers, _: Setting) -> Section:
    """Fairness by scale, P(Reno's share beside CUBIC < 0.4) by scale, and the joint spectrum of these two."""
    rows = []
    marks: list[Mark] = [Line(SCALES, predicted(), "chain, reno beside reno", Style(0))]
    for place, (name, both) in enumerate(answers.items()):
        scales = fitting(both)
        indices = [both.fair(n) for n in scales]
        half = np.array([each.half_width or 0.0 for each in indices])
        means = np.array([each.mean for each in indices])
        words = name.replace("-", " beside ")
        marks.append(Points(scales, means, words, Style(place), means - half, np.minimum(means + half, 1.0)))
        for n, index, chain in zip(scales, indices, predicted(), strict=False):
            theory = f"{chain:.4f}" if name == SAME else ""
            small = f"{float(np.mean(both.shares(n) < SMALL_SHARE)):.3f}"
            cells = f"{index.mean:.4f} ± {index.half_width or 0.0:.4f}", f"{float(both.shares(n).mean()):.2f}", small
            rows.append((words, f"{n}", theory, *cells))
    header = (
        "pair",
        "RTTs",
        "Jain's index, chain",
        "Jain's index",
        "share of the first",
        f"P(its share < {SMALL_SHARE:g})",
    )
    text = (
        f"Pairs of flows at a link with RED on the queue of the moment: {SLOPE:g} a packet from {FIRST} on; the pipe "
        f"holds {PIPE:.0f} packets. The chain is that of two Reno flows; it has the first order of Jain's index.",
        "P(share < 0.4) falls with the scale where the mean share is above 0.4, and tends to 1 where it is below: "
        "whether CUBIC is friendly is a matter of the scale at which one looks.",
        "The joint spectrum is 0 where the two are most of the time. A full link makes a ridge on which one has what "
        "the other has not.",
    )
    axes = Axis("time scale", "RTTs", log=True), Axis("Jain's index", maximum=1.0)
    figures = [Chart("fairness", "Fairness against the time scale", Plot([Panel(marks, *axes)], "Bars: 95 %."))]
    if MIXED in answers:
        figures.append(Chart("joint", "Joint spectrum of Reno beside CUBIC", joint_plot(answers[MIXED])))
    table = Table("Pairs by time scale", header, rows, numbers=range(1, 6))
    return Section("Beyond the source: pairs of flows", text, [table], figures)


def joint_plot(both: Both) -> Plot:
    """The joint spectrum at two scales."""
    panels = []
    for n in JOINT:
        spectrum = joint_spectrum(both.one, both.two, n)
        grid = Grid(spectrum.one, spectrum.two, spectrum.f, "f (1/RTT)")
        axes = Axis("Reno", "packets per RTT"), Axis("CUBIC", "packets per RTT")
        panels.append(Panel([grid], *axes, f"n = {n}", height=1.2))
    return Plot(panels, "Joint spectrum of the throughputs of both flows over n round trips.", columns=2)


def compared(key: str) -> list[Compared]:
    """Values of a pair that both instruments have: Jain's index by scale, of Reno beside CUBIC more."""
    words = key.replace("-", " beside ")
    made = [Compared(f"{words}: Jain's index over {n} RTTs", _fair(n), share=0.0, least=0.01) for n in SCALES[:4]]
    if key == MIXED:
        made.append(Compared("Reno's share beside CUBIC", lambda both: float(both.shares(1).mean()), least=0.01))
        made += [
            Compared(f"correlation of Reno and CUBIC over {n} RTTs", _correlation(n), least=0.01) for n in SCALES[:3]
        ]
    return made


def _fair(scale: int) -> Any:
    return lambda both: both.fair(scale).mean


def _correlation(scale: int) -> Any:
    return lambda both: joint_spectrum(both.one, both.two, scale).correlation


FAIRNESS = Artefact("fairness", points, claims, section)
