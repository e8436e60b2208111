"""A few NewReno flows against ns-2.35, where hosts take a random time of up to one packet's for each sending.

Without it, who loses hangs on a microsecond of RTT in both simulators (test_phases.py), and their shares have nothing
in common. With it, which is the default here and ``overhead_`` in ns-2, both must give each flow the same share.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import parshall as ps

RUNS = json.loads(Path(__file__).with_name("ns2_values.json").read_text())["few_flows"]["runs"]
REPETITIONS = 40
LEVEL = 1e-3
"""Each value is compared by Welch's t-test; there are 14."""


def scenario(run: dict[str, Any], processing_time: str) -> ps.Scenario:
    """Ours, with ns-2's defaults for its one-way agents (scenarios/crosscheck/dumbbell-b.toml)."""
    return ps.Scenario.from_document(
        {
            "duration": "60 s",
            "warm_up": "10 s",
            "repetitions": REPETITIONS,
            "processing_time": processing_time,
            "bottleneck": {
                "rate": f"{run['rate_Mbps']} Mbit/s",
                "delay": "10 ms",
                "queue": {"name": "drop_tail", "limit": f"{run['buffer_packets']} packets"},
            },
            "flows": [
                {
                    "name": "flows",
                    "tcp": "rfc",
                    "count": len(run["rtts_ms"]),
                    "rtt": {"list": [f"{rtt} ms" for rtt in run["rtts_ms"]]},
                    "start": {"uniform": "2 s"},
                    "congestion_control": "reno",
                    "recovery": "newreno",
                    "prr": False,
                    "initial_window": "2 packets",
                    "handshake": True,
                    "delayed_ack": False,
                    "byte_counting": False,
                    "timestamps": False,
                    "rto_granularity": "10 ms",
                    "initial_rto": "3 s",
                }
            ],
            "probes": {"flow_samples": False, "link_samples": False, "transfers": False},
        }
    )


def p_values(run: dict[str, Any], processing_time: str) -> list[float]:
    """Of the loss rate and of each flow's share of the goodput."""
    ours = ps.run(scenario(run, processing_time))
    loss = ours.links.select(pl.col("dropped_packets") / pl.col("arrivals_packets")).to_numpy()
    goodput = ours.flows.sort("repetition", "flow")["goodput_bps"].to_numpy().reshape(REPETITIONS, -1)
    values = np.hstack([loss, goodput / goodput.sum(axis=1, keepdims=True)])
    theirs = (np.array(run["mean"]), np.array(run["deviation"]), run["seeds"])
    compared = stats.ttest_ind_from_stats(
        *theirs, values.mean(axis=0), values.std(axis=0, ddof=1), REPETITIONS, equal_var=False
    )
    return [float(p) for p in np.asarray(compared.pvalue)]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{len(run['rtts_ms'])} flows")
def test_shares_as_in_ns2(run: dict[str, Any]) -> None:
    assert min(p_values(run, "1 packet")) > LEVEL


@pytest.mark.parametrize("run", RUNS, ids=lambda run: f"{len(run['rtts_ms'])} flows")
def test_without_processing_times_they_differ(run: dict[str, Any]) -> None:
    """The comparison can fail: RTTs are longer by 0, 1, 2, ... us here, so that no two packets arrive together."""
    longer = {**run, "rtts_ms": [rtt + index / 1000 for index, rtt in enumerate(run["rtts_ms"])]}
    assert min(p_values(longer, "0 s")) < LEVEL
