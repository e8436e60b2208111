"""The keys of TCP as type checkers see them; what runs makes them of the Rust catalog (`flows.TcpOptions`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from parshall.scenario.schema.accepted import (
    Accepts,
    BytesField,
    DurationField,
    DurationOrOff,
    LimitField,
    SizeField,
    initial,
)
from parshall.scenario.schema.model import Part


class TcpOptions(Part):
    """Parameters of TCP that all flows of a group share."""

    initial_window: SizeField = Field(default=initial(None))
    initial_ssthresh: LimitField = Field(default=initial(None))
    slow_start: Literal["standard", "hystart++", "limited"] = Field(default=initial(None))
    max_ssthresh: SizeField = Field(default=initial(None))
    receive_window: LimitField = Field(default=initial(None))
    initial_receive_buffer: BytesField = Field(default=initial(None))
    recovery: Literal["tahoe", "reno", "newreno", "sack", "rack"] = Field(default=initial(None))
    prr: bool = Field(default=initial(None))
    limited_transmit: bool = Field(default=initial(None))
    delayed_ack: DurationOrOff = Field(default=initial(None))
    min_rto: DurationField = Field(default=initial(None))
    rto_floor: Literal["timeout", "variation"] = Field(default=initial(None))
    max_rto: DurationField = Field(default=initial(None))
    initial_rto: DurationField = Field(default=initial(None))
    rto_granularity: DurationField = Field(default=initial(None))
    timer_tick: DurationOrOff = Field(default=initial(None))
    timestamps: bool = Field(default=initial(None))
    ecn: bool = Field(default=initial(None))
    accurate_ecn: bool = Field(default=initial(None))
    l4s: bool = Field(default=initial(None))
    pacing: bool = Field(default=initial(None))
    handshake: bool = Field(default=initial(None))
    ssthresh_cached: Accepts[
        Literal["off", "last", "lowest", "linux"], Literal["off", "last", "lowest", "linux"] | bool
    ] = Field(default=initial(None))
    persistent: bool = Field(default=initial(None))
    byte_counting: bool = Field(default=initial(None))
    rules: Literal["rfc", "linux"] = Field(default=initial(None))
    ack_size: BytesField = Field(default=initial(None))
