"""The testbed of the source as scenarios: 12 and more pairs of hosts at 1 Gbit/s, a bottleneck of 10 Gbit/s.

| symbol | argument | unit |
| --- | --- | --- |
| M | `count` | - |
| RTT | `rtt_ms` | ms |
| R | `reverse`, flows the other way | - |

What the source does not say: the bottleneck's buffer (here 2000 packets, 3 MB, as a switch of that time), the hosts'
TCP but for the kernel (Linux 2.6.16: initial window of 3 packets, delayed ACKs, SACK). TCP's buffers are tuned
(§5.2): a window fills the path and an interface queue of 1000 packets, and no more, so nothing is lost within a
host, as is assumed of buses and processors too. CUBIC is that of 2005, as in that kernel.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from parshall.errors import RunNotFoundError
from parshall.runs import Run
from parshall.runs import run as simulate
from parshall.scenario import Scenario
from parshall.studies import keeping
from parshall.studies.study import Scale

LINUX_BIC: dict[str, Any] = {
    "congestion_control": {
        "name": "bic",
        "decrease": 0.8,
        "s_max": 16.0,
        "s_min": 0.2,
        "divisor": 4.0,
        "initial_growth": 0.05,
    },
    "initial_ssthresh": "100 packets",
}
"""BIC as Linux 2.6.16 had it, its default control: `crates/congestion/src/bic.rs` says what differs."""

LINUX_CUBIC: dict[str, Any] = {
    "congestion_control": {"name": "cubic_2005", "initial_growth": 0.02},
    "initial_ssthresh": "100 packets",
}
"""CUBIC of that kernel."""

VARIANTS = ("reno", "bic", "cubic_2005", "highspeed", "htcp", "scalable")
"""Those of Figs 5 to 8."""

BUFFER = 2000
INTERFACE = 1000
"""Packets that a host's interface queues (Linux's txqueuelen)."""

ACCESS_BPS, CAPACITY_BPS = 1e9, 10e9
PAYLOAD_SHARE = 1460 / 1500


@dataclass(frozen=True)
class Size:
    """How much is simulated at a scale.

    Parameters
    ----------
    fig3_gb, bulk_gb
        Files of Fig. 3, and of Figs 8 to 10 (30 GB in the source).
    levels
        Congestion levels of Fig. 8.
    rtts_ms
        RTTs of Figs 5 and 6.
    flow_s, step_s
        Length of a flow of Figs 5 and 6; time between two starts of Fig. 7 (200 s in the source).
    repetitions
        Independent runs of Figs 3 and 10; two at most of Fig. 9, one of Fig. 8.
    kept
        Whether finished runs are kept in the user's cache, so that an interrupted study goes on.
    """

    fig3_gb: float
    bulk_gb: float
    levels: tuple[float, ...]
    rtts_ms: tuple[float, ...]
    flow_s: float
    step_s: float
    repetitions: int
    kept: bool


SIZES: dict[Scale, Size] = {
    "quick": Size(2.0, 0.8, (0.8, 1.2, 1.7, 2.1), (11.5, 100.0, 200.0), 8.0, 1.5, 2, kept=False),
    "paper": Size(
        30.0,
        30.0,
        (0.8, 1.0, 1.2, 1.7, 2.1),
        (11.5, 20.0, 50.0, 100.0, 150.0, 200.0),
        120.0,
        200.0,
        3,
        kept=True,
    ),
}


def hosts(
    control: str,
    count: int,
    rtt_ms: float,
    *,
    duration_s: float,
    file_gb: float | None = None,
    start: str | dict[str, Any] = "0 s",
    reverse: int = 0,
    repetitions: int = 1,
    bins_s: float | None = None,
) -> Scenario:
    """So many senders, one flow each; files of `file_gb`, whose end is the run's, or sending for its duration."""
    group: dict[str, Any] = {
        "name": "forward",
        "count": count,
        "rtt": f"{rtt_ms:g} ms",
        "access_rate": f"{round(ACCESS_BPS)} bit/s",
        "congestion_control": control,
        "delayed_ack": True,
        "initial_window": "3 packets",
        "receive_window": f"{window(rtt_ms)} packets",
        "start": start,
    }
    others = {**group, "name": "reverse", "count": reverse, "direction": "reverse", "start": {"uniform": "200 ms"}}
    if file_gb is not None:
        group["workload"] = {"name": "transfer", "sizes": f"{round(file_gb * 1e9)} B"}
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            **({} if file_gb is None else {"ends_with": ["forward"]}),
            "repetitions": repetitions,
            "processing_time": "0 s",  # the published results are of a strictly periodic network
            "bottleneck": {
                "rate": f"{round(CAPACITY_BPS)} bit/s",
                "delay": "10 us",
                "queue": {"name": "drop_tail", "limit": f"{BUFFER} packets"},
            },
            "flows": [group, others] if reverse else [group],
            "probes": {"flow_samples": False, "link_samples": f"{bins_s:g} s" if bins_s else False},
        }
    )


def window(rtt_ms: float) -> int:
    """The tuned window of a host: what fills its path, and its interface's queue, packets.

    >>> window(19.8)
    2650
    """
    return round(ACCESS_BPS * rtt_ms / 1000 / 12_000) + INTERFACE


def simulated(scenarios: Sequence[Scenario], size: Size) -> list[Run]:
    """Run all of them, as many at a time as there are cores."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return list(
            pool.map(lambda scenario: _kept(scenario) if size.kept else simulate(scenario, workers=1), scenarios)
        )


def _kept(scenario: Scenario) -> Run:
    """A run that was made before, or now; in the user's cache."""
    directory = keeping.place("itb", scenario)
    try:
        found = Run.load(directory)
        if found.status == "complete":
            return found
    except RunNotFoundError:
        pass
    return simulate(scenario, directory, workers=1, overwrite=True)
