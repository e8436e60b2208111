"""Facts of the flows of a capture, gathered from the tables of an observation, a connection at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.analysis.stats.estimates import FloatArray
from parshall.foundations.errors import InputError
from parshall.instruments.observation import Observation
from parshall.instruments.observation.limits import FlowLimits, limits

HEADERS = 40
"""Bytes of IPv4 and TCP headers without options."""
TIMESTAMPS = 12
"""Bytes of the timestamp option, padded."""
LEAST_BYTES = 20_000
"""A direction that delivers less shows no window, no rate and no control; it is left out of the scenario."""
MOST_FLOWS = 2_000
"""Flows of which a scenario is made; the largest."""


@dataclass(frozen=True)
class Direction:
    """One direction of a connection that carried data.

    Parameters
    ----------
    number
        Of the flow in the observation.
    source, destination
        Addresses.
    start_s, end_s
        First and last packet, from the capture's beginning.
    delivered_bytes
        Payload that was acknowledged.
    segment_bytes, header_bytes
        Payload of a full packet, and its headers.
    min_rtt_s
        Least round trip.
    limits
        What limited it, and what that shows of its path.
    rounds
        Window of each round trip, packets, shape (rounds,).
    round_starts_s
        When each began, shape (rounds,).
    round_lost
        Whether it lost a packet, shape (rounds,).
    pauses_s
        When the application had nothing to send: begin and end, shape (pauses, 2).
    queued_s
        When a full queue limited it: begin and end, shape (periods, 2).
    """

    number: int
    name: str
    source: str
    destination: str
    ports: tuple[int, int]
    start_s: float
    end_s: float
    ended: bool
    delivered_bytes: int
    segment_bytes: int
    header_bytes: int
    min_rtt_s: float
    handshake_rtt_s: float | None
    rtt_p50_s: float | None
    rtt_p95_s: float | None
    packets_sent: int
    packets_dropped: int
    loss_events: int
    timeouts: int
    goodput_bps: float
    acks_per_packet: float
    sack: bool
    timestamps: bool
    opened: bool
    largest_window_bytes: int | None
    limits: FlowLimits
    rounds: FloatArray
    round_starts_s: FloatArray
    round_lost: FloatArray
    pauses_s: FloatArray
    queued_s: FloatArray

    @property
    def packet_bytes(self) -> int:
        """A full packet on the wire."""
        return self.segment_bytes + self.header_bytes

    def cause_s(self, *causes: str) -> float:
        """Time in which one of the causes limited it, s."""
        return sum(self.limits.seconds.get(cause, 0.0) for cause in causes)


def directions(observation: Observation) -> list[Direction]:
    """The directions that carried data, in order of their starts.

    Raises
    ------
    InputError
        There is none of which a round trip and some data were seen.
    """
    if len(observation.repetitions) != 1:
        raise InputError("infer takes the files of one capture; of several parts, --join makes one")
    rows = {row["flow"]: row for row in observation.flows.to_dicts()}
    captured = observation.table("trace_flows")
    if captured is None or captured.is_empty():
        raise InputError("infer needs packets: a series of windows has no path from which a scenario could be made")
    traced = {row["flow"]: row for row in captured.to_dicts()}
    wanted = sorted(rows, key=lambda flow: -(traced[flow]["delivered_bytes"] or 0))[:MOST_FLOWS]
    wanted = [flow for flow in wanted if _tells(rows[flow], traced[flow])]
    if not wanted:
        raise InputError(
            f"cannot tell: no direction of a connection delivers {LEAST_BYTES:,} bytes with acknowledgements in the "
            "capture; take a longer capture, with both directions"
        )
    by_flow = {each.flow: each for each in limits(observation)}
    own = pl.col("flow").is_in(wanted)
    rounds = _by_flow(observation.table("rounds"), own)
    periods = _by_flow(
        observation.table("trace_periods"), own & pl.col("limited_by").is_in(["application", "full_queue"])
    )
    made = [_direction(rows[flow], traced[flow], by_flow[flow], rounds.get(flow), periods.get(flow)) for flow in wanted]
    return sorted(made, key=lambda each: (each.start_s, each.number))


def _tells(row: dict[str, object], traced: dict[str, object]) -> bool:
    delivered, least = traced["delivered_bytes"], row["min_rtt_s"]
    return isinstance(delivered, int) and delivered >= LEAST_BYTES and isinstance(least, float) and least > 0


def _by_flow(table: pl.DataFrame | None, own: pl.Expr) -> dict[int, pl.DataFrame]:
    if table is None:
        return {}
    return {int(flow): part for (flow,), part in table.filter(own).group_by("flow", maintain_order=True)}


def _direction(
    row: dict[str, object],
    traced: dict[str, object],
    limited: FlowLimits,
    rounds: pl.DataFrame | None,
    periods: pl.DataFrame | None,
) -> Direction:
    segments, acks = int(str(traced["segments_captured"])), int(str(traced["acknowledgements"]))
    none = np.empty(0)
    facts: dict[str, object] = {
        "number": row["flow"],
        "name": row["group"],
        "source": traced["source"],
        "destination": traced["destination"],
        "ports": (traced["source_port"], traced["destination_port"]),
        "start_s": row["start_s"] or 0.0,
        "end_s": traced["end_s"],
        "ended": traced["ending"] != "open",
        "delivered_bytes": traced["delivered_bytes"],
        "segment_bytes": traced["segment_bytes"],
        "header_bytes": HEADERS + (TIMESTAMPS if traced["timestamps"] else 0),
        "acks_per_packet": acks / max(segments, 1),
        "sack": traced["sack_permitted"],
        "timestamps": traced["timestamps"],
        "opened": traced["opened"],
        "handshake_rtt_s": traced["handshake_rtt_s"],
        "largest_window_bytes": traced["max_receive_window_bytes"],
        "limits": limited,
        "rounds": none if rounds is None else rounds["window_packets"].to_numpy().astype(np.float64),
        "round_starts_s": none if rounds is None else rounds["start_s"].to_numpy().astype(np.float64),
        "round_lost": none if rounds is None else rounds["lost"].to_numpy().astype(np.float64),
        "pauses_s": _limited_by(periods, "application"),
        "queued_s": _limited_by(periods, "full_queue"),
    }
    counted = ("packets_sent", "packets_dropped", "loss_events", "timeouts", "goodput_bps")
    facts |= {name: row[name] or 0 for name in counted}
    facts |= {name: row[name] for name in ("min_rtt_s", "rtt_p50_s", "rtt_p95_s")}
    return Direction(**facts)  # type: ignore[arg-type]


def _limited_by(periods: pl.DataFrame | None, cause: str) -> FloatArray:
    """Return begin and end of the periods of a cause, s, in order, shape (periods, 2)."""
    if periods is None:
        return np.empty((0, 2))
    own = periods.filter(pl.col("limited_by") == cause).sort("start_s")
    return own.select("start_s", "end_s").to_numpy().astype(np.float64)


def span(flows: Sequence[Direction]) -> tuple[float, float]:
    """Return the first start and the last end of some flows, s."""
    return min(each.start_s for each in flows), max(each.end_s for each in flows)
