"""The butterfly of Goga, Loiseau & Gonçalves 2011, and the two servers of Park & Tuan 2000, as scenarios.

| symbol | argument | unit |
| --- | --- | --- |
| N_src | `sources` | - |
| B | `buffer` | packets |
| alpha | `tail_index` | - |

Deviations: the packets' size is not said; 1500 bytes. Datagrams of 64 kbit/s (0.006 % of the link) break the rhythm
in which equal RTTs lock arrivals to departures: without them throughput depends on ties
(tests/crosscheck/test_on_off.py).
"""

from __future__ import annotations

from typing import Any

from parshall.scenario import Scenario

MEAN_PACKETS = 1000.0
MEAN_FILE_PACKETS = 20.0
"""Of the files of Park & Tuan's clients, which the source does not say."""
PAYLOAD = 1460
"""Bytes of a full packet that are not headers."""


def pareto(tail_index: float, mean_packets: float = MEAN_PACKETS) -> dict[str, Any]:
    """A Pareto distribution of sizes."""
    return {"name": "pareto", "mean": f"{round(mean_packets * PAYLOAD)} B", "tail_index": tail_index}


def butterfly(
    sources: int,
    buffer: int,
    size: dict[str, Any],
    *,
    cached: bool,
    duration_s: float,
    repetitions: int,
    flow: dict[str, Any] | None = None,
    queue: dict[str, Any] | None = None,
    seed: int = 1,
) -> Scenario:
    """ON/OFF sources at a bottleneck of 1 Gbit/s, minimum RTT 10 ms; a sixth of the time is warm-up."""
    sending: dict[str, Any] = {
        "name": "sources",
        "count": sources,
        "rtt": "10 ms",
        "access_rate": "1 Gbit/s",
        "congestion_control": "reno",
        "recovery": "reno",
        "delayed_ack": False,
        "timestamps": False,
        "initial_window": "2 packets",
        "handshake": True,
        "byte_counting": False,
        "ssthresh_cached": cached,
        "workload": {"name": "on_off", "size": size, "off": {"name": "exponential", "mean": "0.2 s"}},
        **(flow or {}),
    }
    datagrams = {
        "name": "perturbation",
        "rtt": "10 ms",
        "workload": {"name": "poisson", "rate": "64 kbit/s", "size": {"name": "constant", "value": "40 B"}},
    }
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s / 6:g} s",
            "repetitions": repetitions,
            "seed": seed,
            "bottleneck": {"rate": "1 Gbit/s", "queue": queue or {"name": "drop_tail", "limit": f"{buffer} packets"}},
            "flows": [sending, datagrams],
            "probes": {"flow_samples": False, "link_samples": False, "transfers": True},
        }
    )


def two_servers(tail_index: float, duration_s: float, bin_s: float, repetitions: int = 1) -> Scenario:
    """Park & Tuan 2000, §5.1: 32 clients, 10 Mbit/s, 5 ms a link, segments of 1 kB; link samples of `bin_s`.

    Neither the mean size nor the idle time are said; 29,200 bytes and 2 s of idle time load the link by about a third.
    """
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s / 20:g} s",
            "repetitions": repetitions,
            "bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "64 packets"}},
            "flows": [
                {
                    "name": "clients",
                    "count": 32,
                    "rtt": "30 ms",
                    "access_rate": "10 Mbit/s",
                    "congestion_control": "reno",
                    "packet_size": "1000 B",
                    "workload": {
                        "name": "on_off",
                        "size": pareto(tail_index, MEAN_FILE_PACKETS),
                        "off": {"name": "exponential", "mean": "2 s"},
                    },
                }
            ],
            "probes": {"flow_samples": False, "link_samples": f"{bin_s:g} s", "transfers": True},
        }
    )
