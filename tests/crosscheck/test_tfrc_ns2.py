"""TCP-friendly rate control beside ns-2's (benches/ns2/tfrc.tcl): rate within 3 %, loss and queue within 10 %.

Two things differ, each tried alone:

- *Events of reports.* Our sender finds loss events in what a report counts, ns-2's receiver in the packets
  themselves. With constant round trips both rules can be played without a network: at losses of 1 % reports make
  events rarer, and the rate 4 % higher (`played`); at 0.1 %, 1 %.
- *The correction by sqrt(RTT)* (RFC 5348 §4.5), which ours leaves out: with four flows at 100 ms ns-2's keep the queue
  at 44 packets and lose 0.09 %, and without it (`ca_ 0`, `discount_ 0`) 26 packets and 0.17 %; ours 28 packets and
  0.16 %.

Not understood: with eight flows at 50 ms ours are as ns-2's with the correction, and without it ns-2's lose 70 % more.
Not compared: a single flow, which loses a packet in ten seconds.
"""

from __future__ import annotations

from math import sqrt
from random import Random
from statistics import fmean
from typing import Any

import pytest

WEIGHTS = (1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2)
"""Of loss intervals, the newest first (RFC 5348 §5.4)."""
RTT_S = 0.05
LINK_PPS = 1250.0


def simulated(simulate: Any, run: dict[str, Any]) -> dict[str, float]:
    flows = {
        "count": run["n"],
        "rtt": f"{run['rtt']} ms",
        "packet_size": "1000 B",
        "start": {"uniform": ["0 s", "1 s"]},
        "workload": {"name": "rate_controlled"},
        "congestion_control": "tfrc",
    }
    bottleneck = {
        "rate": "10 Mbit/s",
        "delay": "1 ms",
        "queue": {"name": "drop_tail", "limit": f"{run['buffer']} packets"},
        "loss": {"name": "bernoulli", "probability": run["p"]} if run["p"] else "none",
    }
    given = {"duration": "300 s", "warm_up": "50 s", "seed": run["seed"], "bottleneck": bottleneck, "flows": [flows]}
    link = simulate(given).link
    return {
        "forwarded_pps": LINK_PPS * link["utilisation"],
        "loss": link["loss_rate"],
        "mean_queue_packets": link["mean_queue_packets"],
    }


def stored(values: dict[str, Any], **which: Any) -> list[dict[str, Any]]:
    return [run for run in values["tfrc"]["runs"] if all(run[key] == value for key, value in which.items())]


@pytest.mark.parametrize(
    "which",
    [{"n": 8, "buffer": 50}, {"n": 8, "buffer": 200}],
    ids=str,
)
def test_in_a_queue(simulate: Any, ns2_values: dict[str, Any], which: dict[str, Any]) -> None:
    theirs = stored(ns2_values, **which)
    ours = means([simulated(simulate, run) for run in theirs])
    for key, tolerance in ns2_values["tfrc"]["tolerance"].items():
        assert ours[key] == pytest.approx(means(theirs)[key], rel=tolerance), key


def test_in_a_queue_of_few_flows(simulate: Any, ns2_values: dict[str, Any]) -> None:
    corrected, plain = (means(stored(ns2_values, n=4, ca=ca)) for ca in (1, 0))
    ours = means([simulated(simulate, run) for run in stored(ns2_values, n=4, ca=0)])
    tolerance = ns2_values["tfrc"]["tolerance"]
    for key in ("forwarded_pps", "loss"):
        assert ours[key] == pytest.approx(plain[key], rel=tolerance[key]), key
    # A tenth above: the rest of the way to the corrected ones is the correction's.
    queue = "mean_queue_packets"
    assert plain[queue] < ours[queue] < plain[queue] + 0.2 * (corrected[queue] - plain[queue])


def means(runs: list[dict[str, Any]]) -> dict[str, float]:
    return {key: fmean(run[key] for run in runs) for key in ("forwarded_pps", "loss", "mean_queue_packets")}


@pytest.mark.parametrize("p", [0.001, 0.01])
def test_at_random_losses(simulate: Any, ns2_values: dict[str, Any], p: float) -> None:
    theirs = stored(ns2_values, p=p, ca=1)
    ours = [simulated(simulate, run) for run in theirs]
    # The rate goes with p to minus 1/2: brought from the losses there were to the nominal ones.
    found, expected = (fmean(run["forwarded_pps"] * sqrt(run["loss"] / p) for run in runs) for runs in (ours, theirs))
    known = 1.0 if p == 0.001 else played(p, reports=True) / played(p, reports=False)
    assert found / expected == pytest.approx(known, rel=0.03)


def test_reports_make_events_rarer_where_losses_are_frequent() -> None:
    few, many = (played(p, reports=True) / played(p, reports=False) for p in (0.001, 0.01))
    assert abs(few - 1) < 0.02
    assert 1.03 < many < 1.05


def throughput(p: float) -> float:
    """Packets/s (RFC 5348 §3.1)."""
    return 1 / (RTT_S * (sqrt(2 * p / 3) + 12 * sqrt(3 * p / 8) * p * (1 + 32 * p * p)))


def mean(intervals: list[float]) -> float:
    return sum(weight * each for weight, each in zip(WEIGHTS, intervals, strict=False))


def played(p: float, *, reports: bool) -> float:
    """Mean rate at losses with probability p, in constant round trips: events of packets, or of a report each."""
    random, trips = Random(1), 40_000
    intervals, since, last, rate, left, sent = [1 / p] * 8, 0.0, -2.0, throughput(p), 0.0, 0
    for trip in range(trips):
        left += rate * RTT_S
        count = int(left)
        left, sent = left - count, sent + count
        lost = [(packet + 0.5) / count for packet in range(count) if random.random() < p]
        counted = 0.0
        for place in [0.5] if reports and lost else lost:
            if trip + place - last > 1:  # RTTs
                intervals = [since + place * count - counted, *intervals[:-1]]
                since, counted, last = 0.0, place * count, trip + place
        since += count - counted
        rate = throughput(min(1.0, sum(WEIGHTS) / max(mean(intervals), mean([since, *intervals]))))
    return sent / (trips * RTT_S)
