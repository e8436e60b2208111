"""Beyond the source: two Reno flows at a RED queue, and how fair they are at each time scale.

The queue drops a packet with a probability that is linear in the queue of the moment, and the queue is what the windows
have above the bandwidth-delay product: p_pkt(W_1 + W_2). So the chain of `models.competing` predicts everything.

References: Loiseau 2010, §6, where several flows and fairness at different scales are future work.
"""

from __future__ import annotations

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run, run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.study import Findings, Scale
from parshall_studies.chains.competing import Pair, pair
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.spectrum import interval_means

RTT_S, RATE_BPS, SLOPE, FIRST, LAST = 0.1, 12e6, 5e-4, 1, 101
"""RTT, link, drop probability a packet of queue, thresholds in packets."""
PIPE = RATE_BPS * RTT_S / 12_000
W_MAX = 200
SCALES = (10, 30, 100, 300, 1000)


def fairness(scale: Scale) -> Findings:
    """Predicted and simulated."""
    one, two, share = _simulated(36_060 if scale == "paper" else 7260)
    flows = predicted()
    expected = flows.fairness(SCALES)
    rows, checks, seen, low, high = [], [], [], [], []
    for n, theory in zip(SCALES, expected.tolist(), strict=True):
        measured = mean_interval(jain_of(one, two, n))
        half = measured.half_width or 0.0
        error = (1 - theory) / (1 - measured.mean) - 1
        rows.append((str(n), f"{measured.mean:.4f} ± {half:.4f}", f"{theory:.4f}", f"{100 * error:+.0f} %"))
        name, ends = f"Jain's index over {n} RTTs", (measured.mean - half, measured.mean + half)
        checks.append(
            equal(
                "fairness",
                name,
                theory,
                Interval(measured.mean, *ends, 1),
                within=PAPER.within("first_order", 1 - theory),
                basis="theory",
                nulls=[Null("flows that share evenly", exactly(1.0))],
            )
        )
        seen.append(measured.mean)
        low.append(measured.mean - half)
        high.append(measured.mean + half)
    mean = float((one.mean() + two.mean()) / 2)
    text = (
        f"Two Reno flows, RTT {1e3 * RTT_S:.0f} ms, a link of {RATE_BPS / 1e6:.0f} Mbit/s with RED on the queue of "
        f"the moment: {SLOPE:g} a packet from {FIRST} on. Mean window: {mean:.1f} packets simulated, "
        f"{flows.mean:.1f} predicted ({100 * (flows.mean / mean - 1):+.1f} %).",
        "The prediction has the first order of Jain's index, and none of what happens within a round trip; "
        f"{100 * share:.1f} % of the simulated round trips lose packets of both flows.",
    )
    marks: list[Mark] = [
        Line(SCALES, expected, "chain", Style(0)),
        Points(SCALES, seen, "simulated", Style(1), low, high),
    ]
    axes = Axis("time scale", "RTTs", log=True), Axis("Jain's index", maximum=1.0)
    plot = Plot([Panel(marks, *axes)], "Mean index of the two flows' throughput over intervals. Bars: 95 %.")
    header = ("RTTs", "Jain's index, simulated", "predicted", "error of 1 - J")
    table = Table("Fairness against the time scale", header, rows, numbers=range(4))
    figure = Chart("fairness", "Fairness against the time scale", plot)
    return Findings(checks, [Section("Beyond the source: two flows", text, [table], [figure])])


def _dropped(total: FloatArray) -> FloatArray:
    """P(a packet is dropped) where both windows add up to `total`."""
    return np.clip(SLOPE * (total - PIPE - FIRST), 0.0, SLOPE * (LAST - FIRST))


def link(faster: float = 1) -> dict[str, object]:
    """The RED queue; of a network that is so many times faster and shorter: windows and queues stay as they are."""
    red = {
        "name": "red",
        "limit": "1000 packets",
        "min_threshold": f"{FIRST} packets",
        "max_threshold": f"{LAST} packets",
        "max_probability": SLOPE * (LAST - FIRST),
        "weight": 1.0,
        "gentle": True,
        "count_spacing": False,
    }
    return {"rate": f"{RATE_BPS * faster:.0f} bit/s", "queue": red}


def predicted() -> Pair:
    """The chain of both flows."""
    return pair(_dropped, W_MAX, by_packets=True)


def _simulated(seconds: float) -> tuple[FloatArray, FloatArray, float]:
    """Packets of both flows in consecutive RTTs, and the share of RTTs in which both lose."""
    tcp = {**network.TCP, "count": 2, "rtt": f"{RTT_S:g} s"}
    done = run(network.declared(link(), [tcp], seconds, probes={"rounds": 2}))
    one, two, start = of_both(done, (0, 1), RTT_S)
    lost = [np.zeros(one.size + 1, dtype=bool) for _ in range(2)]
    for place in (0, 1):
        each = network.rounds_of(done, place)
        slots = ((each["start_s"].to_numpy() - start) / RTT_S).astype(int)
        slots = slots[each["lost"].to_numpy()]
        lost[place][slots[(slots >= 0) & (slots <= one.size)]] = True
    return one, two, float((lost[0] & lost[1]).mean())


def of_both(
    done: Run, flows: tuple[int, int], rtt_s: float, warm_up_s: float = network.WARM_UP_S
) -> tuple[FloatArray, FloatArray, float]:
    """Packets of two flows in the same intervals of `rtt_s`, shapes (N,), and when the first one begins, s."""
    rounds = [network.rounds_of(done, flow, warm_up_s) for flow in flows]
    start = max(float(each["start_s"][0]) for each in rounds)
    one, two = (network.per_rtt(each.filter(each["start_s"] >= start), rtt_s) for each in rounds)
    length = min(one.size, two.size)
    return one[:length], two[:length], start


def jain_of(one: FloatArray, two: FloatArray, scale: int) -> FloatArray:
    """Jain's index of each interval."""
    pairs = np.stack([interval_means(one, scale), interval_means(two, scale)], axis=1)
    return np.array([jain(each) for each in pairs], dtype=np.float64)
