"""The butterfly of Goga, Loiseau & Gonçalves 2011, and the two servers of Park & Tuan 2000, as scenarios.

| symbol | argument | unit |
| --- | --- | --- |
| N_src | `sources` | - |
| B | `buffer` | packets |
| alpha | `tail_index` | - |

Whose TCP it is, `settings` says. Deviations: the packets' size is not said; 1500 bytes. Datagrams of 64 kbit/s (0.006 %
of the link) break the rhythm in which equal RTTs lock arrivals to departures: without them throughput depends on ties
(tests/crosscheck/test_on_off.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parshall.scenario import Scenario

MEAN_PACKETS = 1000.0
PAYLOAD = 1460
"""Bytes of a full packet that are not headers."""
HOSTS = "hosts"
"""The group of those sources that are real hosts, where others are not."""


@dataclass(frozen=True)
class Clients:
    """Who transfers files over the two servers' link: how many, how fast, mean size, mean idle time.

    Parameters
    ----------
    count
        How many clients.
    access_bps
        The rate of a client's own link, and so the most that one transfer takes of the shared one.
    mean_bytes
        Mean size of the files.
    idle_s
        Mean time between two transfers, exponential.
    """

    count: int
    access_bps: float
    mean_bytes: float
    idle_s: float

    @property
    def transfer_s(self) -> float:
        """How long a transfer of the mean size takes at the client's own rate."""
        return self.mean_bytes * 8 / self.access_bps


WARM_UP = 0.05
"""Part of the record of two servers that is not measured."""
LINK_BPS = 10e6
"""The link between the gateways of Park & Tuan 2000, §5.1."""


def pareto(tail_index: float, mean_packets: float = MEAN_PACKETS) -> dict[str, Any]:
    """A Pareto distribution of sizes."""
    return {"name": "pareto", "mean": f"{round(mean_packets * PAYLOAD)} B", "tail_index": tail_index}


def butterfly(
    sources: int,
    buffer: int,
    size: dict[str, Any],
    *,
    duration_s: float,
    repetitions: int,
    flow: dict[str, Any],
    queue: dict[str, Any] | None = None,
    seed: int = 1,
    samples: int = 0,
    warm_up_s: float | None = None,
    slower: float = 1,
    hosts: int = 0,
) -> Scenario:
    """ON/OFF sources at a bottleneck of 1 Gbit/s, minimum RTT 10 ms.

    Parameters
    ----------
    duration_s, warm_up_s
        Of a run, and of its beginning that is not measured; by default a sixth.
    flow
        Keys of the sources' group: their TCP, and what else differs.
    samples
        How often in a run each source's state is recorded.
    slower
        By how much rates are divided, and times multiplied; but for those of a run.
    hosts
        How many of the sources are real where the scenario is emulated, if not all: a group of their own.
    """
    rate, rtt = f"{1000 / slower:g} Mbit/s", f"{10 * slower:g} ms"
    sending: dict[str, Any] = {
        "name": "sources",
        "count": sources,
        # A first pause, of the mean of the others: 500 SYNs at once would mostly be lost, again and again.
        "start": {"uniform": f"{0.4 * slower:g} s"},
        "rtt": rtt,
        "access_rate": rate,
        "congestion_control": "reno",
        "workload": {"name": "on_off", "size": size, "off": {"name": "exponential", "mean": f"{0.2 * slower:g} s"}},
        **flow,
    }
    groups = [sending]
    if hosts:
        simulated = {key: value for key, value in sending.items() if key != "kernel"}
        groups = [
            {**sending, "name": HOSTS, "count": hosts},
            {**simulated, "count": sources - hosts, "endpoint": "simulated"},
        ]
    datagrams = {
        "name": "perturbation",
        "endpoint": "simulated",
        "rtt": rtt,
        "workload": {
            "name": "poisson",
            "rate": f"{64 / slower:g} kbit/s",
            "size": {"name": "constant", "value": "40 B"},
        },
    }
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s / 6 if warm_up_s is None else warm_up_s:g} s",
            "repetitions": repetitions,
            "seed": seed,
            "processing_time": "0 s",  # as in the source, hosts take no time
            "bottleneck": {"rate": rate, "queue": queue or {"name": "drop_tail", "limit": f"{buffer} packets"}},
            "flows": [*groups, datagrams],
            "probes": {
                "flow_samples": f"{duration_s / samples:g} s" if samples else False,
                "flows": sources,
                "link_samples": False,
                "transfers": True,
            },
        }
    )


def two_servers(
    clients: Clients, tail_index: float, duration_s: float, bin_s: float, repetitions: int, *, seed: int = 1
) -> Scenario:
    """Park & Tuan 2000, §5.1: 10 Mbit/s, 5 ms a link, segments of 1 kB; link samples of `bin_s`."""
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s * WARM_UP:g} s",
            "repetitions": repetitions,
            "seed": seed,
            "processing_time": "0 s",  # as in the source, hosts take no time
            "bottleneck": {"rate": f"{LINK_BPS:.0f} bit/s", "queue": {"name": "drop_tail", "limit": "64 packets"}},
            "flows": [
                {
                    "name": "clients",
                    "count": clients.count,
                    "rtt": "30 ms",
                    "access_rate": f"{clients.access_bps:.0f} bit/s",
                    "congestion_control": "reno",
                    "packet_size": "1000 B",
                    "workload": {
                        "name": "on_off",
                        "size": {"name": "pareto", "mean": f"{clients.mean_bytes:g} B", "tail_index": tail_index},
                        "off": {"name": "exponential", "mean": f"{clients.idle_s:g} s"},
                    },
                }
            ],
            "probes": {"flow_samples": False, "link_samples": f"{bin_s:g} s", "transfers": False},
        }
    )
