"""Limits of the flows of an observation: typed, for pages, for programs, and for `parshall.inference`.

| name | what |
| --- | --- |
| `FlowLimits` | a flow: the time that went to each cause, and what that shows of its path |
| `limits` | those of some flows of an observation |

The classification itself is made while a capture is read (crates/trace/src/limits.rs); docs/observe.md says how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parshall.instruments.observation.result import Observation

CAUSES: Mapping[str, str] = {
    "handshake": "the handshake",
    "slow_start": "slow start",
    "application": "the application",
    "receiver": "the receiver's window",
    "sender": "the sender's buffer or control",
    "full_queue": "a full queue",
    "random_loss": "losses outside full queues",
    "outage": "outages",
    "unknown": "causes that do not show",
}
"""The names of the causes in the records, and in sentences."""

SHORT: Mapping[str, str] = {
    "handshake": "handshake",
    "slow_start": "slow start",
    "application": "application",
    "receiver": "receiver's window",
    "sender": "sender",
    "full_queue": "full queue",
    "random_loss": "random loss",
    "outage": "outage",
    "unknown": "unknown",
}
"""Their names in tables and figures."""


@dataclass(frozen=True)
class FlowLimits:
    """The limits of a flow.

    Parameters
    ----------
    flow, trace, name
        Its number, that of its trace, and its ends.
    seconds
        Time that went to each of `CAUSES`; empty where nothing is known.
    least_rtt_s
        The least round trip; None if none was seen.
    window_bytes, window_packets, window_rtt_s
        The receiver's window while it limited the flow, the packets of a round trip then, and its smoothed length; None
        if it did not.
    path_rate_bps
        Bits on the wire a second that were acknowledged while a queue stood; None if that was not long enough.
    queueing_delay_s
        Mean of the round trip above the least one, just before losses in full queues: the time that the full buffer
        takes; None without such a loss.
    queue_losses, random_losses
        Loss events in full queues, and outside; None in series.
    goodput_bps
        Payload a second; None if not recorded.
    """

    flow: int
    trace: int
    name: str
    seconds: Mapping[str, float]
    least_rtt_s: float | None
    window_bytes: float | None
    window_packets: float | None
    window_rtt_s: float | None
    path_rate_bps: float | None
    queueing_delay_s: float | None
    queue_losses: int | None
    random_losses: int | None
    goodput_bps: float | None

    @property
    def total_s(self) -> float:
        """From the first SYN, or the first data, to the end; 0 where nothing is known."""
        return sum(self.seconds.values())

    @property
    def shares(self) -> dict[str, float]:
        """The share of the time of each cause; empty where nothing is known."""
        total = self.total_s
        return {cause: seconds / total for cause, seconds in self.seconds.items()} if total > 0 else {}

    @property
    def cause(self) -> str:
        """The cause that takes the most time; ``unknown`` where nothing is known."""
        shares = self.shares
        return max(shares, key=lambda cause: shares[cause]) if shares else "unknown"

    @property
    def slow_s(self) -> float:
        """Time in which anything but its application limited it, s: by this flows are sorted."""
        return self.total_s - self.seconds.get("application", 0.0)

    @property
    def buffer_bytes(self) -> float | None:
        """Bytes that the bottleneck's queue holds: its delay at losses, at the path's rate; None without both."""
        if self.path_rate_bps is None or self.queueing_delay_s is None:
            return None
        return self.path_rate_bps * self.queueing_delay_s / 8

    @property
    def window_to_fill_bytes(self) -> float | None:
        """The window that would fill the path while it is idle; None where its rate or round trip is not known."""
        if self.path_rate_bps is None or self.least_rtt_s is None:
            return None
        return self.path_rate_bps * self.least_rtt_s / 8


def limits(observation: Observation, chosen: Sequence[str] = (), most: int | None = None) -> list[FlowLimits]:
    """Return the limits of the flows, the largest first.

    Parameters
    ----------
    observation
        Whose.
    chosen, most
        As `Observation.selected` has them.

    Raises
    ------
    InputError
        One of `chosen` means no flow.
    """
    rows = observation.selected(chosen, most).to_dicts()
    known = observation.limits_of([(row["repetition"], row["flow"]) for row in rows])
    return [of_rows(row, known.get((row["repetition"], row["flow"]), {})) for row in rows]


def of_rows(row: Mapping[str, Any], found: Mapping[str, Any]) -> FlowLimits:
    """Return the limits of a flow from its rows of ``flows`` and ``trace_limits``; an empty row: nothing is known."""
    seconds = {cause: found.get(f"limited_by_{cause}_s") for cause in CAUSES}
    known = {cause: value for cause, value in seconds.items() if value is not None}
    return FlowLimits(
        flow=row["flow"],
        trace=row["repetition"],
        name=row["group"],
        seconds=known,
        least_rtt_s=row.get("min_rtt_s"),
        window_bytes=found.get("receive_window_bytes"),
        window_packets=found.get("window_limited_packets"),
        window_rtt_s=found.get("window_limited_rtt_s"),
        path_rate_bps=found.get("path_rate_bps"),
        queueing_delay_s=found.get("queueing_delay_at_loss_s"),
        queue_losses=found.get("queue_losses"),
        random_losses=found.get("random_losses"),
        goodput_bps=row.get("goodput_bps"),
    )
