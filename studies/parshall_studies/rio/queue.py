"""Fig. 5: the queue of the fully overlapped network over time, and how long it is how often.

The simulation is one repetition of section 4.1's network; its series has bins of 10 ms, in which 60 packets leave the
router: a tenth of the shortest round trip, so that what sessions do shows and single packets do not. The model has no
time, but the same distribution.

References: Malouch & Liu, INRIA RR-4469, 2002, §4.1, Fig. 5.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly, single
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.diffserv import router_state
from parshall_studies.rio.setting import CAPACITY_BPS, OVERLAPPED, PAPER, Setting, router_of, scenario

SHOWN_S, LASTS_S = 20.0, 300.0


@dataclass(frozen=True)
class Recorded:
    """The queue of a simulation: packets in the system, the mean of each bin."""

    time_s: FloatArray
    queue_packets: FloatArray
    longest_packets: float
    utilisation: float


def points(setting: Setting) -> dict[str, Measurement]:
    """Five minutes of the fully overlapped network, or less in a shorter setting."""
    once = replace(setting, duration_s=LASTS_S, repetitions=1)
    made = scenario(OVERLAPPED, once).with_values({"probes.link_samples": "10 ms"})
    return {"queue": Measurement("figure 5", made, record, (setting.warm_up_s,))}


def record(made: Run, warm_up_s: float) -> Recorded:
    """Its queue."""
    if made.link_samples is None:
        raise RuntimeError("the run recorded no link samples although it was asked to")
    samples = made.link_samples.sort("time_s").filter(pl.col("time_s") >= warm_up_s)
    busy = samples["forwarded_bytes"].to_numpy() * 8 / (CAPACITY_BPS * samples["bin_s"].to_numpy())
    queue = samples["mean_queue_packets"].to_numpy() + busy  # and the one in service
    longest = float(made.links["max_queue_packets"][0]) + 1.0
    times_s = samples["time_s"].to_numpy() - warm_up_s
    return Recorded(times_s, np.asarray(queue), longest, float(made.links["utilisation"][0]))


def _states(setting: Setting) -> tuple[FloatArray, float]:
    """The model's distribution of the queue, and its mean."""
    found = setting.model.in_table("table1", setting.access_delay_s)
    state = router_state(router_of(OVERLAPPED), found.load_in_per_s[0], found.load_out_per_s[0])
    return state.state_probabilities, float(found.queue_packets[0])


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The queue's ends, and the time that it is short."""
    recorded: Recorded = answers["queue"]
    pi, mean = _states(setting)
    low, within = OVERLAPPED.out_min, PAPER.within("queue")
    longest, shortest = single(recorded.longest_packets), single(float(recorded.queue_packets.min()))
    null = Null("the mean queue of the model", exactly(mean))
    note = "the figure touches 100"
    seen = single(float(np.mean(recorded.queue_packets < low)))
    return [
        equal("fig5", "longest queue simulated, packets", 100, longest, within=within, note=note),
        equal(
            "fig5",
            "shortest queue simulated, packets",
            0,
            shortest,
            within=within,
            note="mean of 10 ms",
            nulls=[null],
        ),
        reported("fig5", "share of the time below min_out, simulated", seen),
        reported("fig5", "share of the time below min_out, model", exactly(float(pi[:low].sum()))),
    ]


def section(answers: Answers, setting: Setting) -> Section:
    """The queue over time, and its distribution beside the model's."""
    recorded: Recorded = answers["queue"]
    (pi, mean), queue = _states(setting), recorded.queue_packets
    low, high = OVERLAPPED.out_min, OVERLAPPED.out_max
    seen = np.histogram(queue, bins=np.arange(pi.size + 1) - 0.5)[0] / queue.size
    shown = recorded.time_s < SHOWN_S
    packets = Axis("queue", "packets", minimum=0, maximum=float(high))
    thresholds = [Guide(float(low), "min"), Guide(float(high), "max")]
    series = Panel([Line(recorded.time_s[shown], queue[shown]), *thresholds], Axis("time", "s"), packets)
    curves = [Line(np.arange(pi.size), pi, "model"), Line(np.arange(pi.size), seen, "simulated", Style(1, 1))]
    guide = Guide(mean, "mean of the model", along="x")
    distribution = Panel([*curves, guide], Axis("queue", "packets"), Axis("share of the time", minimum=0))
    figures = [
        Chart("fig5", "Queue length over time", Plot([series], f"Means of 10 ms; {SHOWN_S:g} s of one simulation.")),
        Chart("fig5_distribution", "How long the queue is how often", Plot([distribution], "Five minutes.")),
    ]
    prose = (
        "The source shows the queue of one simulation over time: it oscillates between 0 and 100 packets although its "
        f"mean lies between the thresholds. So it does here: it reaches {recorded.longest_packets:g} packets, and is "
        f"below min_out for {100 * np.mean(queue < low):.0f} % of the time, where the link is idle at times (it is "
        f"used to {100 * recorded.utilisation:.1f} %). The model's distribution has {100 * pi[:low].sum():.0f} % "
        "there. The oscillation is of a few round trips: sessions that lose packets together.",
    )
    return Section("Section 4.1: queue length", prose, figures=figures)


ARTEFACT: Artefact[Setting] = Artefact("fig5", points, claims, section)
