"""Controls that count the packets which they have queued: what they keep, and how their slow start ends.

Vegas keeps alpha to beta packets of each flow in the queue, so n flows keep n alpha to n beta (Brakmo & Peterson 1995;
Low, Peterson & Wang 2002). That holds by the smallest RTT which a flow has measured: one that starts behind others
takes what they have queued for a part of the path, and keeps alpha to beta packets beyond that (persistent congestion
in Low et al.). So the law is asked of each flow by its own smallest RTT, and of the whole queue where all flows began
on an empty path. Starts are drawn twenty times: a single draw says little.

Veno and YeAH answer a loss by what is queued then. A slow start that overflows the queue has filled it within a round
trip.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps

FLOWS = 6
DRAWS = 20
ALPHA, BETA = 2, 4
PAYLOAD_BITS = 1460 * 8


def vegas(spread: str, *, warm_up: str, **keys: Any) -> Any:
    """Six flows that start within ``spread``, so drawn twenty times."""
    group = {
        "tcp": "rfc",
        "count": FLOWS,
        "rtt": {"first": "60 ms", "step": "10 ms"},
        "congestion_control": "vegas",
        "start": {"uniform": spread},
        **keys,
    }
    scenario = ps.Scenario(
        duration="120 s",
        warm_up=warm_up,
        repetitions=DRAWS,
        bottleneck={"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "200 packets"}},
        flows=[group],
        probes={"flow_samples": False, "link_samples": False, "latency": False},
    )
    return ps.run(scenario, workers=1)


def test_each_flow_keeps_alpha_to_beta_packets_by_the_smallest_rtt_that_it_saw() -> None:
    ids = ["repetition", "flow"]
    whole = vegas("5 s", warm_up="0 s").flows.select(*ids, smallest="min_rtt_s")
    flows = vegas("5 s", warm_up="40 s").flows.join(whole, on=ids)
    queued = flows.select(
        own=(pl.col("mean_rtt_s") - pl.col("smallest")) * pl.col("goodput_bps") / PAYLOAD_BITS,
    )["own"]
    assert queued.len() == FLOWS * DRAWS
    assert queued.min() >= ALPHA
    assert queued.max() <= BETA


def test_flows_that_began_on_an_empty_path_keep_n_alpha_to_n_beta_packets() -> None:
    # Each hears of the path's RTT by its SYN, before anything is queued.
    queues = vegas("50 ms", warm_up="40 s", handshake=True).links["mean_queue_packets"]
    assert queues.min() >= FLOWS * ALPHA
    assert queues.max() <= FLOWS * BETA


PATHS = [(rate, rtt) for rate in (10, 50, 200) for rtt in (20, 60, 150)]


@pytest.mark.parametrize(("rate_mbps", "rtt_ms"), PATHS)
def test_slow_start_of_vegas_leaves_no_queue(simulate: Any, rate_mbps: int, rtt_ms: int) -> None:
    """It has filled the path ten doublings on, every second round trip; what is measured is the time after that."""
    rtt_s = rtt_ms / 1000
    run = simulate(
        {
            "duration": f"{60 * rtt_s:g} s",
            "warm_up": f"{24 * rtt_s:g} s",
            "bottleneck": {
                "rate": f"{rate_mbps} Mbit/s",
                "queue": {"name": "drop_tail", "limit": "3 BDP"},
            },
            "flows": [{"rtt": f"{rtt_ms} ms", "congestion_control": "vegas"}],
        }
    )
    assert run.link["dropped_packets"] == 0
    assert run.link["mean_queue_packets"] <= BETA + 1


def kept_at_first_loss(directory: Path, control: str, bdp_share: float, rtt_ms: int) -> float:
    """Part of the window that the first loss, at the end of slow start, leaves."""
    scenario = ps.Scenario(
        duration=f"{20 * rtt_ms} ms",
        bottleneck={"rate": "20 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{bdp_share} BDP"}},
        flows=[{"tcp": "rfc", "rtt": f"{rtt_ms} ms", "congestion_control": control}],
        probes={"flow_samples": "1 ms"},
    )
    windows = ps.run(scenario, directory, workers=1).flow_samples["cwnd_packets"].to_list()
    first = next(i for i, (before, after) in enumerate(pairwise(windows)) if after < before - 1)
    return float(windows[first + 1] / windows[first])


@pytest.mark.parametrize("rtt_ms", [33, 38, 43, 48])
@pytest.mark.parametrize("bdp_share", [0.25, 0.4, 0.6, 0.8, 1.0])
def test_a_slow_start_that_overflows_the_queue_is_congestion(tmp_path: Path, bdp_share: float, rtt_ms: int) -> None:
    # Veno would keep 0.8 if it took the loss for a random one.
    assert kept_at_first_loss(tmp_path / "veno", "veno", bdp_share, rtt_ms) == pytest.approx(0.5, abs=0.03)
    # YeAH takes what is queued, an eighth at least: of a full queue B/(B + BDP).
    full = bdp_share / (1 + bdp_share)
    assert kept_at_first_loss(tmp_path / "yeah", "yeah", bdp_share, rtt_ms) == pytest.approx(1 - full, abs=0.06)
