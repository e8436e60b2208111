"""Numbers do not hang on a microsecond: phases and exact ties.

With round numbers, packets of several flows reach the queue at the same picosecond, or at a fixed distance from its
departures. In a strictly periodic network (``processing_time = "0 s"``) RTTs that are a microsecond longer then give
other shares of the link (Floyd & Jacobson 1992), and repetitions that draw start times only agree with each other in
each. With the hosts' random processing time the same two networks must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import parshall as ps

REPETITIONS = 40
"""They show a difference of a tenth of a flow's share (which varies by 13 % from one repetition to another)."""
LEVEL = 1e-3
"""Each value is compared by Welch's t-test. In equal networks the least of nine p-values is below in 1 % of tests."""


def network(flows: Sequence[dict[str, Any]], rate: str, processing_time: str | None) -> ps.Scenario:
    return ps.Scenario.from_document(
        {
            "duration": "60 s",
            "warm_up": "10 s",
            "repetitions": REPETITIONS,
            **({} if processing_time is None else {"processing_time": processing_time}),
            "bottleneck": {"rate": rate, "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "1 BDP"}},
            "flows": flows,
            "probes": {"flow_samples": False, "link_samples": False, "transfers": False},
        }
    )


def group(name: str, rtts_ms: Sequence[float], control: str) -> dict[str, Any]:
    return {
        "name": name,
        "tcp": "rfc",
        "count": len(rtts_ms),
        "rtt": {"list": [f"{each:.3f} ms" for each in rtts_ms]},
        "congestion_control": control,
        "start": {"uniform": "2 s"},
    }


def quickstart(longer_us: Sequence[float], processing_time: str | None) -> ps.Scenario:
    """Four CUBIC and four Reno flows at 20 Mbit/s, 0.6 ms a packet: RTTs, less `longer_us`, in steps of that."""
    rtts = np.array([60, 60, 60, 60, 45, 55, 65, 75]) + np.array(longer_us) / 1000
    flows = [group("cubic", rtts[:4].tolist(), "cubic"), group("reno", rtts[4:].tolist(), "reno")]
    return network(flows, "20 Mbit/s", processing_time)


def four_renos(longer_us: Sequence[float], processing_time: str | None) -> ps.Scenario:
    """Four Reno flows at 48 Mbit/s, 0.25 ms a packet."""
    rtts = np.array([40, 50, 60, 70]) + np.array(longer_us) / 1000
    return network([group("reno", rtts.tolist(), "reno")], "48 Mbit/s", processing_time)


def values(scenario: ps.Scenario) -> np.ndarray[Any, Any]:
    """By repetition: loss rate, and each flow's share of the goodput."""
    run = ps.run(scenario)
    loss = run.links.sort("repetition").select(pl.col("dropped_packets") / pl.col("arrivals_packets")).to_numpy()
    goodput = run.flows.sort("repetition", "flow")["goodput_bps"].to_numpy().reshape(scenario.repetitions, -1)
    return np.hstack([loss, goodput / goodput.sum(axis=1, keepdims=True)])


def least_p(scenarios: Sequence[ps.Scenario]) -> float:
    """The smallest p-value of all comparisons of two of these networks, value by value."""
    found = [values(each) for each in scenarios]
    return min(float(stats.ttest_ind(a, b, equal_var=False).pvalue.min()) for a, b in combinations(found, 2))


def test_the_quickstart_does_not_hang_on_a_microsecond() -> None:
    assert least_p([quickstart(longer, None) for longer in ([0] * 8, range(8))]) > LEVEL


def test_a_periodic_quickstart_does() -> None:
    assert least_p([quickstart(longer, "0 s") for longer in ([0] * 8, range(8))]) < 1e-6


def test_four_renos_do_not_hang_on_a_microsecond() -> None:
    assert least_p([four_renos(longer, None) for longer in ([0] * 4, range(4))]) > LEVEL


@pytest.mark.slow
def test_periodic_ones_do() -> None:
    assert least_p([four_renos(longer, "0 s") for longer in ([0] * 4, range(4))]) < 1e-6
