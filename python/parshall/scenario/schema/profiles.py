"""TCP as a kernel has it: the values that the keys of a group have then, and the functions that each of them follows.

>>> sorted(PROFILES)
['linux', 'linux-6.18']
>>> PROFILES["linux"].defaults["recovery"]
'rack'
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from parshall.scenario.schema.catalog import family


@dataclass(frozen=True)
class Setting:
    """A key of a group, as the profile has it."""

    key: str
    value: str | bool
    functions: str
    """Of the kernel: those that it follows."""
    what: str


@dataclass(frozen=True)
class Profile:
    """TCP of one kernel."""

    name: str
    settings: tuple[Setting, ...]
    controls: Mapping[str, str]
    """What its congestion controls are called here."""
    processing_ps: int
    """Its hosts take so long with a packet or an ACK at most, where a `processing_time` is in packets' time."""

    @property
    def defaults(self) -> dict[str, str | bool]:
        """The values of keys that a scenario does not give."""
        return {each.key: each.value for each in self.settings}


LINUX = Profile(
    "linux-6.18",
    (
        Setting("initial_window", "10 packets", "`tcp_init_cwnd`", "`TCP_INIT_CWND`"),
        Setting("handshake", True, "`tcp_connect`", "the SYN gives the first RTT"),
        Setting("timestamps", True, "`tcp_established_options`", "an RTT of every ACK"),
        Setting("header_size", "52 B", "`tcp_established_options`", "IPv4 and TCP with timestamps"),
        Setting("ack_size", "52 B", "`tcp_established_options`", "the same"),
        Setting("initial_receive_buffer", "128 KiB", "`tcp_init_sock`, `tcp_init_buffer_space`", "`tcp_rmem`"),
        Setting("recovery", "rack", "`tcp_rack_mark_lost`, `tcp_send_loss_probe`", "RACK-TLP"),
        Setting("prr", True, "`tcp_cwnd_reduction`", "proportional rate reduction"),
        Setting("limited_transmit", True, "`tcp_may_send_now`", "SACKed packets make room"),
        Setting("delayed_ack", "40 ms", "`__tcp_ack_snd_check`, `tcp_send_delayed_ack`", "`TCP_DELACK_MIN`"),
        Setting("min_rto", "200 ms", "`tcp_rtt_estimator`", "`TCP_RTO_MIN`"),
        Setting("rto_floor", "variation", "`tcp_rtt_estimator`, `__tcp_set_rto`", "SRTT + 200 ms at least"),
        Setting("max_rto", "120 s", "`tcp_retransmit_timer`", "`TCP_RTO_MAX`"),
        Setting("initial_rto", "1 s", "`tcp_connect_init`", "`TCP_TIMEOUT_INIT`"),
        Setting("timer_tick", "4 ms", "`calc_wheel_index`", "`CONFIG_HZ` = 250, as many distributions have it"),
        Setting("pacing", False, "`tcp_pacing_check`", "only controls that pace, and hosts with `fq`, do"),
        Setting("ssthresh_cached", "off", "`tcp_update_metrics`", "`tcp_no_ssthresh_metrics_save`"),
        Setting("byte_counting", True, "`tcp_slow_start`, `tcp_cong_avoid_ai`", "by packets acknowledged"),
        Setting("rules", "linux", "those of the table of rules below", "where Linux differs from the RFCs"),
    ),
    {"reno": "reno_linux", "cubic": "cubic_linux", "bbr": "bbr_linux"},
    processing_ps=150_000_000,  # docs/linux.md, "The profile": hosts that were watched
)
"""Linux 6.18, as it comes: net/ipv4 with its default sysctls."""

PROFILES = {"linux": LINUX, LINUX.name: LINUX}
"""By the name that a scenario gives; `linux` is the newest."""


def told_by(sysctls: Mapping[str, int | str]) -> dict[str, str | bool]:
    """Keys of a group that follow from what its hosts are told, if it has a profile and does not give them.

    >>> told_by({"net.ipv4.tcp_rmem": "4096 4194304 268435456"})
    {'initial_receive_buffer': '4194304 B'}
    >>> told_by({"net.ipv4.tcp_rmem": "4096"})
    {}
    """
    (accepted,) = (key for key in family("tcp")[0].parameters if key.name == "initial_receive_buffer")
    with suppress(ValueError):  # what the kernel refuses too
        (_, first, _) = map(int, str(sysctls.get("net.ipv4.tcp_rmem", "")).split())
        if (accepted.minimum or 0) <= first <= (accepted.maximum or math.inf):
            return {accepted.name: f"{first} B"}
    return {}


def kernels_own(control: str, profile: str | None, *, other_slow_start: bool) -> tuple[str, dict[str, Any]]:
    """A control as the profile's kernel has it: its name here, and parameters that are not its defaults.

    `other_slow_start`: the scenario asks for one that is not the kernel's.
    """
    name = PROFILES[profile].controls.get(control, control) if profile else control
    return name, {"hystart": False} if name == "cubic_linux" != control and other_slow_start else {}
