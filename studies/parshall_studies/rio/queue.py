"""Fig. 5: the queue of the fully overlapped network over time, and how long it is how often.

The simulation is one repetition of section 4.1's network; its series has bins of 10 ms, in which 60 packets leave the
router: a tenth of the shortest round trip, so that what sessions do shows and single packets do not. The model has no
time, but the same distribution.

References: Malouch & Liu, INRIA RR-4469, 2002, §4.1, Fig. 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Null
from parshall.analysis.stats.region import exactly, single
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.diffserv import fixed_point, router_state
from parshall_studies.rio import network
from parshall_studies.rio.analytic import TABLE_ACCESS_DELAY_S, router, sessions
from parshall_studies.rio.network import PAPER
from parshall_studies.rio.simulated import ROUTERS

SHOWN_S = 20.0
_DURATION_S = 300.0
_WARM_UP_S = 30.0
_BIN = "10 ms"


@dataclass(frozen=True)
class Recorded:
    """The queue of a simulation: packets in the system, the mean of each bin."""

    time_s: FloatArray
    queue_packets: FloatArray
    longest_packets: float
    utilisation: float


def scenario() -> Scenario:
    """Five minutes of the fully overlapped network."""
    parameters = network.Parameters(network.FULLY_OVERLAPPED)
    made = network.scenario(parameters, duration_s=_DURATION_S, warm_up_s=_WARM_UP_S, repetitions=1)
    return made.with_values({"probes.link_samples": _BIN})


def record(made: Run) -> Recorded:
    """Its queue."""
    if made.link_samples is None:
        raise RuntimeError("the run recorded no link samples although it was asked to")
    samples = made.link_samples.sort("time_s").filter(pl.col("time_s") >= _WARM_UP_S)
    rate_bps = network.CAPACITY_BPS
    busy = samples["forwarded_bytes"].to_numpy() * 8 / (rate_bps * samples["bin_s"].to_numpy())
    queue = samples["mean_queue_packets"].to_numpy() + busy  # and the one in service
    return Recorded(
        samples["time_s"].to_numpy() - _WARM_UP_S,
        np.asarray(queue),
        float(made.links["max_queue_packets"][0]) + 1.0,
        float(made.links["utilisation"][0]),
    )


def section(recorded: Recorded) -> Findings:
    """The checks, and the section."""
    solution = fixed_point(sessions(access_delay_s=TABLE_ACCESS_DELAY_S), router(ROUTERS["table1"]))
    state = router_state(router(ROUTERS["table1"]), solution.load_in_per_s[0], solution.load_out_per_s[0])
    pi, queue = state.state_probabilities, recorded.queue_packets
    low, high = network.FULLY_OVERLAPPED.out_min, network.FULLY_OVERLAPPED.out_max
    seen = np.histogram(queue, bins=np.arange(pi.size + 1) - 0.5)[0] / queue.size
    longest = recorded.longest_packets
    checks = [
        equal(
            "fig5",
            "longest queue simulated, packets",
            100,
            single(longest),
            within=PAPER.within("queue"),
            note="the figure touches 100",
        ),
        equal(
            "fig5",
            "shortest queue simulated, packets",
            0,
            single(float(queue.min())),
            within=PAPER.within("queue"),
            note="mean of 10 ms",
            nulls=[Null("the mean queue of the model", exactly(float(solution.queue_packets[0])))],
        ),
        reported("fig5", "share of the time below min_out, simulated", single(float(np.mean(queue < low)))),
        reported("fig5", "share of the time below min_out, model", exactly(float(pi[:low].sum()))),
    ]
    shown = recorded.time_s < SHOWN_S
    packets = Axis("queue", "packets", minimum=0, maximum=float(high))
    thresholds = [Guide(float(low), "min"), Guide(float(high), "max")]
    mean = [Guide(float(solution.queue_packets[0]), "mean of the model", along="x")]
    series = Panel([Line(recorded.time_s[shown], queue[shown]), *thresholds], Axis("time", "s"), packets)
    states = np.arange(pi.size)
    distribution = Panel(
        [Line(states, pi, "model"), Line(states, seen, "simulated", Style(1, 1)), *mean],
        Axis("queue", "packets"),
        Axis("share of the time", minimum=0),
    )
    figures = [
        Chart("fig5", "Queue length over time", Plot([series], f"Means of 10 ms; {SHOWN_S:g} s of one simulation.")),
        Chart("fig5_distribution", "How long the queue is how often", Plot([distribution], "Five minutes.")),
    ]
    prose = (
        "The source shows the queue of one simulation over time: it oscillates between 0 and 100 packets although its "
        f"mean lies between the thresholds. So it does here: it reaches {longest:g} packets, and is below min_out for "
        f"{100 * np.mean(queue < low):.0f} % of the time, where the link is idle at times (it is used to "
        f"{100 * recorded.utilisation:.1f} %). The model's distribution has {100 * pi[:low].sum():.0f} % there. The "
        "oscillation is of a few round trips: sessions that lose packets together.",
    )
    return Findings(checks, [Section("Section 4.1: queue length", prose, figures=figures)])
