"""TCP as a kernel has it: the values that the keys of a group have then, and the functions that each of them follows.

A group has the TCP of the newest kernel unless it says otherwise: with `RFC` it has that of the RFCs.

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
class KernelSetting:
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
    settings: tuple[KernelSetting, ...]
    controls: Mapping[str, str]
    """Names that the kernel's congestion controls have here."""
    processing_ps: int
    """Its hosts take so long with a packet or an ACK at most, where a `processing_time` is in packets' time."""

    @property
    def defaults(self) -> dict[str, str | bool]:
        """The values of keys that a scenario does not give."""
        return {each.key: each.value for each in self.settings}


LINUX = Profile(
    "linux-6.18",
    (
        KernelSetting("initial_window", "10 packets", "`tcp_init_cwnd`", "`TCP_INIT_CWND`"),
        KernelSetting("handshake", True, "`tcp_connect`", "the SYN gives the first RTT"),
        KernelSetting("timestamps", True, "`tcp_established_options`", "an RTT of every ACK"),
        KernelSetting("header_size", "52 B", "`tcp_established_options`", "IPv4 and TCP with timestamps"),
        KernelSetting("ack_size", "52 B", "`tcp_established_options`", "the same"),
        KernelSetting("initial_receive_buffer", "128 KiB", "`tcp_init_sock`, `tcp_init_buffer_space`", "`tcp_rmem`"),
        KernelSetting("recovery", "rack", "`tcp_rack_mark_lost`, `tcp_send_loss_probe`", "RACK-TLP"),
        KernelSetting("prr", True, "`tcp_cwnd_reduction`", "proportional rate reduction"),
        KernelSetting("limited_transmit", True, "`tcp_may_send_now`", "SACKed packets make room"),
        KernelSetting("delayed_ack", "40 ms", "`__tcp_ack_snd_check`, `tcp_send_delayed_ack`", "`TCP_DELACK_MIN`"),
        KernelSetting("min_rto", "200 ms", "`tcp_rtt_estimator`", "`TCP_RTO_MIN`"),
        KernelSetting("rto_floor", "variation", "`tcp_rtt_estimator`, `__tcp_set_rto`", "SRTT + 200 ms at least"),
        KernelSetting("max_rto", "120 s", "`tcp_retransmit_timer`", "`TCP_RTO_MAX`"),
        KernelSetting("initial_rto", "1 s", "`tcp_connect_init`", "`TCP_TIMEOUT_INIT`"),
        KernelSetting("timer_tick", "4 ms", "`calc_wheel_index`", "`CONFIG_HZ` = 250, as many distributions have it"),
        KernelSetting("pacing", False, "`tcp_pacing_check`", "only controls that pace, and hosts with `fq`, do"),
        KernelSetting("ssthresh_cached", "off", "`tcp_update_metrics`", "`tcp_no_ssthresh_metrics_save`"),
        KernelSetting("byte_counting", True, "`tcp_slow_start`, `tcp_cong_avoid_ai`", "by packets acknowledged"),
        KernelSetting("rules", "linux", "those of the policies below", "where Linux differs from the RFCs"),
    ),
    {"reno": "reno_linux", "cubic": "cubic_linux", "bbr": "bbr_linux"},
    processing_ps=150_000_000,  # docs/linux.md, "The profile": hosts that were watched
)
"""Linux 6.18, as it comes: net/ipv4 with its default sysctls."""

PROFILES = {"linux": LINUX, LINUX.name: LINUX}
"""By the name that a scenario gives; `linux` is the newest."""

RFC = "rfc"
"""The name of TCP as the RFCs have it, which no profile changes."""

DEFAULT = "linux"
"""The TCP of groups that name none."""


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


def kernels_own(control: str, profile: Profile | None, *, other_slow_start: bool) -> tuple[str, dict[str, Any]]:
    """A control as the profile's kernel has it: its name here, and parameters that are not its defaults.

    `other_slow_start`: the scenario asks for one that is not the kernel's.
    """
    name = profile.controls.get(control, control) if profile else control
    return name, {"hystart": False} if name == "cubic_linux" != control and other_slow_start else {}
