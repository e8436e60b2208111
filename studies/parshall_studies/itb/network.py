"""The testbed of the source as scenarios: 12 and more pairs of hosts at 1 Gbit/s, a bottleneck of 10 Gbit/s.

| symbol | argument | unit |
| --- | --- | --- |
| M | `count` | - |
| RTT | `rtt_ms` | ms |
| R | `reverse`, flows the other way | - |

What the source does not say: the bottleneck's buffer (here 2000 packets, 3 MB, as a switch of that time), the hosts'
TCP but for the kernel (Linux 2.6.16: initial window of 3 packets, delayed ACKs, SACK), and what its TU application set
the hosts' limits to (§5.2). CUBIC is that of 2005, as in that kernel. Two readings of the hosts:

| hosts | window | interface queue (txqueuelen) | control | used for |
| --- | --- | --- | --- | --- |
| tuned | path and 1000 packets | no limit: loses nothing | as published | bulk transfers, Figs 3, 8, 9, 10 |
| `kernel_hosts` | no limit | 1000 packets, loses the rest | as in the kernel | the RTT, Figs 5, 6, 7 |

With tuned hosts nothing is lost where the bottleneck is not congested, and no control has anything to do: Figs 5 and 6
with 5 flows, and 11 of the 12 steps of Fig. 7, would be one run six times.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.1, §5.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.instruments.simulation import Run
from parshall.scenario import Scenario
from parshall.studies.published import printed_in
from parshall.studies.study import Scale

PAPER = printed_in(__package__)

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
"""CUBIC of that kernel without its scaling error, which is a reading of its own: footnote 8 names the version, §5.1 a
"Cubic patch"."""

SCALING_ERROR: dict[str, Any] = {
    **LINUX_CUBIC,
    "congestion_control": {**LINUX_CUBIC["congestion_control"], "scaling_error": True},
}
"""CUBIC of that kernel as it was before the correction of October 2006."""

VARIANTS = ("reno", "bic", "cubic_2005", "highspeed", "htcp", "scalable")
"""Those of Figs 5 to 8."""

LOW_MS, HIGH_MS = 20.0, 100.0
"""Where the source's middle range of RTTs begins and ends."""

BUFFER = 2000
INTERFACE = 1000
"""Packets that a host's interface queues (the txqueuelen that Linux gives an Ethernet interface)."""

KERNEL: dict[str, dict[str, Any]] = {
    name: {"bic": LINUX_BIC, "cubic_2005": LINUX_CUBIC}.get(name, {"congestion_control": name, "byte_counting": False})
    for name in VARIANTS
}
"""The controls in the kernel. BIC and CUBIC end slow start at 100 packets; the others grow by ACKs, however many
packets one stands for."""

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
        RTTs of Figs 5 and 6; 20, 100 and the longest bound the source's ranges.
    flow_s, step_s, alone_s
        Length of a flow of Figs 5 and 6; time between two starts of Fig. 7 at 100 ms (200 s in the source); length of a
        flow of the hosts tried one by one.
    short_step_s
        Time between two starts of Fig. 7 at its short RTT, 11 ms. Every control fills its line there within a second
        or two, and what a step loses by that is a larger part of a shorter step: with 8 s the mean use over the steps
        is 0.98 and more. The claims are changes from 11 to 100 ms, of 0.1 and more.
    pair_s
        Length of the flows of Table 6 (300 s in the source).
    file_factors
        Files that `sensitivity` tries, over `bulk_gb`.
    repetitions
        Independent runs of Figs 3 and 10; one of Figs 8 and 9, whose claims are of means over files and have no
        interval.
    """

    fig3_gb: float
    bulk_gb: float
    levels: tuple[float, ...]
    rtts_ms: tuple[float, ...]
    flow_s: float
    step_s: float
    short_step_s: float
    alone_s: float
    pair_s: float
    file_factors: tuple[float, ...]
    repetitions: int

    def step(self, rtt_ms: float) -> float:
        """Time between two starts of Fig. 7, s."""
        return self.short_step_s if rtt_ms < LOW_MS else self.step_s


SIZES: dict[Scale, Size] = {
    "quick": Size(
        fig3_gb=1.0,
        bulk_gb=0.4,
        levels=(0.8, 1.2, 1.7, 2.1),
        rtts_ms=(20.0, 100.0, 200.0),
        flow_s=40.0,
        step_s=8.0,
        short_step_s=8.0,
        alone_s=60.0,
        pair_s=30.0,
        file_factors=(1 / 4, 1.0, 4.0),
        repetitions=3,
    ),
    "paper": Size(
        fig3_gb=30.0,
        bulk_gb=30.0,
        levels=(0.8, 1.0, 1.2, 1.7, 2.1),
        rtts_ms=(11.5, 20.0, 50.0, 100.0, 150.0, 200.0),
        flow_s=120.0,
        step_s=200.0,
        short_step_s=50.0,
        alone_s=200.0,
        pair_s=300.0,
        file_factors=(1 / 16, 1 / 4, 1.0),
        repetitions=3,
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
    samples_s: float | None = None,
) -> Scenario:
    """So many senders, one flow each; files of `file_gb`, whose end is the run's, or sending for its duration.

    The bottleneck is recorded in bins of `bins_s`, each flow every `samples_s`.
    """
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
            "probes": {
                "flow_samples": f"{samples_s:g} s" if samples_s else False,
                "flows": count,
                "link_samples": f"{bins_s:g} s" if bins_s else False,
            },
        }
    )


def kernel_hosts(
    control: str,
    count: int,
    rtt_ms: float,
    *,
    duration_s: float,
    start: str | dict[str, Any] = "0 s",
    bins_s: float | None = None,
    more: dict[str, Any] | None = None,
) -> Scenario:
    """The second reading of hosts: they send for the whole time, and lose what their interface does not hold.

    Hosts are not in step: each packet leaves a random time later, up to one packet's time. `more` changes the group.
    """
    changes = {"receive_window": "unlimited", "access_queue": f"{INTERFACE} packets", **KERNEL[control], **(more or {})}
    scenario = hosts(control, count, rtt_ms, duration_s=duration_s, start=start, bins_s=bins_s)
    return scenario.with_values(
        {"processing_time": "1 packet", **{f"flows.0.{key}": value for key, value in changes.items()}}
    )


def window(rtt_ms: float) -> int:
    """The tuned window of a host: what fills its path, and its interface's queue, packets.

    >>> window(19.8)
    2650
    """
    return round(ACCESS_BPS * rtt_ms / 1000 / 12_000) + INTERFACE


@dataclass(frozen=True)
class Recorded:
    """What is read of a run; the samples are None where their probe is off."""

    duration_s: float
    flows: pl.DataFrame
    transfers: pl.DataFrame | None
    flow_samples: pl.DataFrame | None
    link_samples: pl.DataFrame | None


def recorded(run: Run) -> Recorded:
    """What is read of a run."""
    return Recorded(run.scenario.duration_s, run.flows, run.transfers, run.flow_samples, run.link_samples)
