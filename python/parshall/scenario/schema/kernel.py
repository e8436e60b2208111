"""What the kernel at the ends of a group's flows is told, when the scenario is emulated."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from parshall.scenario.schema.model import Part
from parshall.scenario.schema.problems import shown
from parshall.scenario.schema.quantities import Bytes, Rate, base_of

AMPLE_BUFFERS: dict[str, int | str] = {
    f"net.ipv4.{name}": "4096 4194304 268435456" for name in ("tcp_wmem", "tcp_rmem")
}
"""Sysctls of hosts whose buffers limit no flow, however short it is: they need not grow first."""


def ssthresh_kept(*, kept: bool) -> dict[str, int | str]:
    """Sysctls of hosts that keep a destination's ssthresh from connection to connection, or forget all of it.

    >>> ssthresh_kept(kept=True)["net.ipv4.tcp_no_metrics_save"]
    0
    """
    names = ("tcp_no_metrics_save", "tcp_no_ssthresh_metrics_save")
    return {f"net.ipv4.{name}": int(not kept) for name in names}


_NAME = r"^net(\.[A-Za-z0-9_-]+)+$"


def _sysctls(given: object) -> object:
    if not isinstance(given, dict):
        raise ValueError(f'found {shown(given)}; write a table, e.g. {{ "net.ipv4.tcp_sack" = 0 }}')
    for name, value in given.items():
        if not re.match(_NAME, str(name)):
            raise ValueError(f'found "{name}"; write the whole name of a sysctl of networks, e.g. "net.ipv4.tcp_sack"')
        if not isinstance(value, int | str):
            raise ValueError(f'found {shown(value)} for "{name}"; write a whole number or a text')
    return {str(name): int(value) if isinstance(value, bool) else value for name, value in given.items()}


Sysctls = Annotated[
    dict[str, int | str],
    BeforeValidator(_sysctls),
    WithJsonSchema(
        {
            "type": "object",
            "propertyNames": {"pattern": _NAME},
            "additionalProperties": {"type": ["integer", "string", "boolean"]},
            "examples": [{"net.ipv4.tcp_slow_start_after_idle": 0}],
        }
    ),
]


class KernelOptions(Part):
    """What real hosts are told beside the group's other keys.

    Simulations read one value of it, with a profile of `tcp`: the middle one of the sysctl net.ipv4.tcp_rmem.
    """

    sysctls: Sysctls = Field(
        default_factory=dict,
        description="Of both hosts, as the kernel takes them; groups whose sysctls differ have hosts of their own",
    )
    pacing: Rate | None = Field(None, description="Each connection sends at most at this rate (SO_MAX_PACING_RATE)")
    send_buffer: Bytes | None = Field(
        None, description="The kernel's memory of a sender's socket (SO_SNDBUF; default: it grows as it must)"
    )
    receive_buffer: Bytes | None = Field(
        None,
        description="The same of a receiver's (SO_RCVBUF; default: twice the group's `receive_window`, or it grows as "
        "it must)",
    )
    streams: int = Field(
        1,
        ge=1,
        le=1000,
        strict=True,
        description="Connections of each flow side by side, of which each does the whole workload",
    )

    def resolved(self) -> dict[str, Any]:
        """As Rust reads it (``crates/sim/src/scenario.rs``)."""
        return {
            "sysctls": {name: str(value) for name, value in self.sysctls.items()},
            "pacing_bps": base_of(self.pacing),
            "send_buffer": base_of(self.send_buffer),
            "receive_buffer": base_of(self.receive_buffer),
            "streams": self.streams,
        }
