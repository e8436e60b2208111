"""The source's networks, for the simulator.

100 TCP sessions share a RIO router of 48 Mbit/s; each has an access link of 1 Mbit/s and a token bucket of 40
packets/s and 20 packets (Malouch & Liu, §4 and Fig. 4). What the source does not say of its ns-2 simulations is taken
from the defaults that ns-2 had before May 2001 (`parshall_studies.ns2`), with no least timeout beyond two ticks of the
clock. Which version the source used is not said; these defaults came closest. `simulated.VARIANTS` shows what each
moves.

| symbol | field | unit |
| --- | --- | --- |
| N, D^i | `Parameters.rtts_s` | s: propagation, without what links take to transmit |
| r^i, sigma^i | `reserved_per_s`, `burst_packets` | packets/s, packets |
| min_in, ..., p_out^max | `Curves` | packets, 1 |

**Transmission times.** The sender's access link, the bottleneck and their queues are simulated. The receiver's access
link is not (little waits there: packets leave the sender's no faster), so its 8 ms for a packet, and the 0.32 ms
that an ACK of 40 bytes takes on each access link, are added to the propagation delay. Both access links together are
the 16 ms that the tables' analytic columns need as well.

**Queue.** q is the number of packets in the system, the one in service included, and so are thresholds (ns-2 counts
without it; both were tried, and differ by less than repetitions do).

References: Malouch & Liu, INRIA RR-4469, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parshall.scenario import Scenario
from parshall.studies.published import printed_in
from parshall_studies import ns2

PAPER = printed_in(__package__)
PACKET_BYTES = 1000
ACK_BYTES = 40
CAPACITY_BPS = 48_000_000
ACCESS_BPS = 1_000_000
PROPAGATION_S = tuple((100 + 2 * i) / 1000 for i in range(100))
"""Section 4: 100 + 2 i ms."""


@dataclass(frozen=True)
class Curves:
    """Thresholds and maximum drop probabilities of a router."""

    in_min: int
    in_max: int
    in_probability: float
    out_min: int
    out_max: int
    out_probability: float


FULLY_OVERLAPPED = Curves(20, 100, 0.01, 20, 100, 0.06)
NOT_OVERLAPPED = Curves(60, 100, 0.01, 20, 60, 0.06)
PARTIALLY_OVERLAPPED = Curves(60, 100, 0.01, 20, 100, 0.06)
"""Sections 4.1, 4.2 and 4.3."""


@dataclass(frozen=True)
class Parameters:
    """A network of the source; the defaults are section 4's."""

    curves: Curves = FULLY_OVERLAPPED
    rtts_s: tuple[float, ...] = PROPAGATION_S
    capacity_bps: int = CAPACITY_BPS
    access_bps: int = ACCESS_BPS
    reserved_per_s: float = PAPER["reservation"]
    burst_packets: int = 20
    window_limit_packets: int | None = ns2.WINDOW


def scenario(
    parameters: Parameters,
    *,
    duration_s: float = 1800,
    warm_up_s: float = 30,
    repetitions: int = 10,
    seed: int = 1,
    **tcp: Any,
) -> Scenario:
    """A network of the source as a scenario.

    Parameters
    ----------
    parameters
        Sessions and router.
    duration_s
        Time measured; the warm-up comes before it. The source simulates 30 minutes.
    warm_up_s
        Time before measurements start.
    repetitions, seed
        Independent runs, and the root of their random streams.
    tcp
        Keys of the group of flows that replace the configuration's, such as ``recovery="newreno"``.

    Examples
    --------
    >>> made = scenario(Parameters(curves=NOT_OVERLAPPED), duration_s=60)
    >>> made.resolve()["links"][0]["queue"]["out_max"]
    60
    """
    return Scenario.from_document(
        {
            "name": "rio",
            "description": f"{len(parameters.rtts_s)} TCP sessions and a RIO router, Malouch & Liu 2002",
            "duration": f"{warm_up_s + duration_s:g} s",
            "warm_up": f"{warm_up_s:g} s",
            "seed": seed,
            "repetitions": repetitions,
            "processing_time": "0 s",  # as in the source, hosts take no time
            "bottleneck": {"rate": f"{parameters.capacity_bps} bit/s", "queue": _queue(parameters.curves)},
            "flows": [_sessions(parameters) | tcp],
            "probes": {"flow_samples": False, "link_samples": False, "transfers": False},
        }
    )


def _queue(curves: Curves) -> dict[str, Any]:
    return {
        "name": "rio",
        "limit": f"{curves.in_max} packets",  # all are dropped from there on
        "in_min": f"{curves.in_min} packets",
        "in_max": f"{curves.in_max} packets",
        "in_probability": curves.in_probability,
        "out_min": f"{curves.out_min} packets",
        "out_max": f"{curves.out_max} packets",
        "out_probability": curves.out_probability,
        "in_length": "total",
        "out_length": "total",
        "averaging": "instantaneous",
        "coin": "independent",
    }


def _sessions(parameters: Parameters) -> dict[str, Any]:
    elsewhere_s = 8 * (PACKET_BYTES + 2 * ACK_BYTES) / parameters.access_bps
    rtts = [f"{round((rtt_s + elsewhere_s) * 1e6)} us" for rtt_s in parameters.rtts_s]
    limit = parameters.window_limit_packets
    return {
        "name": "sessions",
        "count": len(rtts),
        "rtt": {"list": rtts},
        "access_rate": f"{parameters.access_bps} bit/s",
        "marker": {
            "name": "token_bucket",
            "rate": f"{round(parameters.reserved_per_s * PACKET_BYTES * 8)} bit/s",
            "burst": f"{parameters.burst_packets} packets",
        },
        "start": {"uniform": "5 s"},
        "packet_size": f"{PACKET_BYTES} B",
        "header_size": f"{ACK_BYTES} B",
        "congestion_control": "reno",
        **ns2.tcp(limit),
    }
