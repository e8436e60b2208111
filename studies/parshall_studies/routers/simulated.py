"""The sessions and the RIO router of a model, simulated: the same numbers, with confidence intervals.

Bulk TCP Reno without delayed ACKs, behind an access link and a token bucket. The
router's curves see all packets in the system, as they are at the moment, and each packet has a coin of its own: what
the model assumes. Packets have one size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.foundations.errors import InputError
from parshall.instruments.simulation import run
from parshall.scenario import Scenario
from parshall_studies.diffserv import Datagrams, Router, Sessions


@dataclass(frozen=True)
class Setting:
    """Duration, repetitions, seed and TCP of the confirming simulations."""

    duration_s: float = 120.0
    warm_up_s: float = 30.0
    repetitions: int = 4
    seed: int = 1
    packet_bytes: int = 1000
    recovery: str = "reno"
    min_rto_s: float = 1.0
    """The model's RTO is the RTT and 1 s."""


@dataclass(frozen=True)
class Simulated:
    """Measurements of a simulation: intervals over repetitions; means of each session."""

    load_per_s: Interval
    load_in_per_s: Interval
    loss_in: Interval | None
    """None if no packet was *in*."""
    loss_out: Interval | None
    queue_packets: Interval
    queue_sd_packets: Interval
    """Standard deviation over time."""
    utilisation: Interval
    session_per_s: FloatArray
    """Offered by each session, shape (repetitions, sessions)."""


def simulate(
    sessions: Sessions,
    router: Router,
    setting: Setting,
    datagrams: Datagrams | None = None,
    others: Sequence[Mapping[str, Any]] = (),
) -> Simulated:
    """Simulate one parameter set; `others` are further groups of flows, as a scenario has them.

    Raises
    ------
    InputError
        If there is a batch of them, or several routers.
    """
    tables = scenario(sessions, router, setting, datagrams)
    tables["flows"] += list(others)
    made = run(Scenario(**tables))
    return measured(sessions, setting, made.links, made.flows)


def measured(sessions: Sessions, setting: Setting, links: pl.DataFrame, flows: pl.DataFrame) -> Simulated:
    """Return the measurements of all repetitions of a simulation, from its tables."""
    span = setting.duration_s - setting.warm_up_s
    links = links.sort("repetition")
    arrivals = {name: _numbers(links, f"arrivals_{name}_packets") for name in ("in", "out")}
    dropped = {name: _numbers(links, f"dropped_{name}_packets") for name in ("in", "out")}
    used = _numbers(links, "utilisation")
    order = np.concatenate(list(_groups(sessions).values()))
    return Simulated(
        mean_interval((arrivals["in"] + arrivals["out"]) / span),
        mean_interval(arrivals["in"] / span),
        _ratio(dropped["in"], arrivals["in"]),
        _ratio(dropped["out"], arrivals["out"]),
        mean_interval(_numbers(links, "mean_queue_packets") + used),  # the one in transmission counts too
        mean_interval(_numbers(links, "sd_queue_packets")),
        mean_interval(used),
        np.stack([_sent(flows, number, order, span) for number in range(setting.repetitions)]),
    )


def scenario(
    sessions: Sessions, router: Router, setting: Setting, datagrams: Datagrams | None = None
) -> dict[str, Any]:
    """The tables of the scenario."""
    if router.shape or len(sessions.shape) != 1 or sessions.crosses is not None:
        raise InputError("simulate: found a batch or routes, accepted is one set of parameters and one router")
    bits = 8 * setting.packet_bytes
    queue = {
        "name": "rio",
        "limit": f"{_whole(router.in_max)} packets",
        "in_min": f"{_whole(router.in_min)} packets",
        "in_max": f"{_whole(router.in_max)} packets",
        "in_probability": float(np.asarray(router.in_probability)),
        "out_min": f"{_whole(router.out_min)} packets",
        "out_max": f"{_whole(router.out_max)} packets",
        "out_probability": float(np.asarray(router.out_probability)),
        "in_length": "total",
        "out_length": "total",
        "averaging": "instantaneous",
        "coin": "independent",
    }
    size = {"packet_size": f"{setting.packet_bytes} B", "header_size": "40 B"}
    rtts_s = np.broadcast_to(np.asarray(sessions.rtt_s), sessions.shape)
    flows = [
        {**size, **_group(setting, f"sessions{number}", rtts_s[members].tolist(), row)}
        for number, (row, members) in enumerate(_groups(sessions).items())
    ]
    flows += [] if datagrams is None else [{**size, **each} for each in _loads(datagrams, bits)]
    return {
        "name": "rio",
        "duration": f"{setting.duration_s:g} s",
        "warm_up": f"{setting.warm_up_s:g} s",
        "seed": setting.seed,
        "repetitions": setting.repetitions,
        "processing_time": "0 s",  # the models know none; RIO's own draws break patterns
        "bottleneck": {
            "rate": f"{round(float(np.asarray(router.capacity_per_s)) * bits)} bit/s",
            "delay": "0 s",
            "queue": queue,
        },
        "flows": flows,
    }


def _groups(sessions: Sessions) -> dict[tuple[float, ...], list[int]]:
    """Return the numbers of the sessions with the same access rate, receiver's window, reserved rate and burst."""
    none = sessions.reserved_per_s is None
    fields = (
        sessions.access_per_s,
        sessions.window_limit_packets,
        0.0 if none else sessions.reserved_per_s,
        0.0 if none else sessions.burst_packets,
    )
    columns = [np.broadcast_to(np.asarray(each, dtype=np.float64), sessions.shape).tolist() for each in fields]
    groups: dict[tuple[float, ...], list[int]] = {}
    for number, row in enumerate(zip(*columns, strict=True)):
        groups.setdefault(row, []).append(number)
    return groups


def _group(setting: Setting, name: str, rtts_s: Sequence[float], row: tuple[float, ...]) -> dict[str, Any]:
    access, window, reserved, burst = row
    bits = 8 * setting.packet_bytes
    flow: dict[str, Any] = {
        "name": name,
        "count": len(rtts_s),
        "rtt": {"list": [f"{rtt_s * 1e6:.0f} us" for rtt_s in rtts_s]},
        "start": {"uniform": f"{min(5.0, setting.warm_up_s / 2):g} s"},
        "tcp": "rfc",
        "congestion_control": "reno",
        "recovery": setting.recovery,
        "min_rto": f"{setting.min_rto_s:g} s",
        "initial_window": "2 packets",
    }
    if np.isfinite(access):
        flow["access_rate"] = f"{round(access * bits)} bit/s"
    if np.isfinite(window):
        flow["receive_window"] = f"{int(window)} packets"
    if reserved > 0:
        flow["marker"] = {
            "name": "token_bucket",
            "rate": f"{round(reserved * bits)} bit/s",
            "burst": f"{round(burst * setting.packet_bytes)} B",
        }
    return flow


def _loads(datagrams: Datagrams, bits: int) -> Sequence[dict[str, Any]]:
    """Constant-rate flows, whose *in* share is what their bucket lets pass."""
    pairs = np.broadcast_arrays(np.asarray(datagrams.in_per_s), np.asarray(datagrams.out_per_s))
    flows = []
    for number, (within, beyond) in enumerate(zip(*(each.tolist() for each in pairs), strict=True)):
        load = {"name": "cbr", "rate": f"{round((within + beyond) * bits)} bit/s"}
        flow = {"name": f"datagrams{number}", "rtt": "100 ms", "workload": load}
        if within > 0:
            rate = f"{round(within * bits)} bit/s"
            flow["marker"] = {"name": "token_bucket", "rate": rate, "burst": f"{bits // 4} B"}
        flows.append(flow)
    return flows


def _sent(flows: pl.DataFrame, repetition: int, order: NDArray[np.intp], span_s: float) -> FloatArray:
    """Packets/s offered by each session: flows come by groups, sessions in their own order."""
    mine = flows.filter((pl.col("repetition") == repetition) & pl.col("group").str.starts_with("sessions"))
    packets = np.zeros(order.size)
    packets[order] = _numbers(mine, "packets_sent")
    return packets / span_s


def _whole(packets: Any) -> int:
    return round(float(np.asarray(packets)))


def _numbers(table: pl.DataFrame, column: str) -> FloatArray:
    return np.asarray(table[column].cast(pl.Float64).fill_null(0.0).to_numpy())


def _ratio(lost: FloatArray, of: FloatArray) -> Interval | None:
    return mean_interval(lost / of) if np.all(of > 0) else None
