"""The two servers of Park & Tuan 2000, §5.1, as scenarios: 32 clients, and the connections that are measured.

| symbol | argument | unit |
| --- | --- | --- |
| alpha | `tail_index` | - |
| RTT | `rtt_ms` | ms, of the measured connections without queues |

The source does not say: the buffer (64 packets here), the idle time of the clients (2 s on average), how the RTT is
changed (here that of the measured connections alone, so that the background stays what it was), the recovery (ns-2's
Reno, its default then), and the clients' control (Reno). Headers are part of the segments of 1 kB. Every
connection has timestamps: Vegas needs an RTT sample from every ACK.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from parshall.scenario import Scenario
from parshall.studies.tail_index.network import pareto

CLIENTS, MEASURED, COMPETING = "clients", "measured", "competing_"
"""Names of the groups; the last one is followed by the control's."""
PACKET_BYTES = 1000
INTERVAL_S = 2.0
"""T_L."""
ALONE_BIN_S = 0.5
"""Bins of the clients' traffic where nothing is measured beside them: T_L can be chosen from them."""
BASE_RTT_MS = 30
"""Three links of 5 ms, both ways."""
HEADER_BYTES = 40
MODERN = {"recovery": "sack", "timestamps": True, "initial_window": "10 packets"}
_TCP = {"recovery": "reno", "timestamps": True, "initial_window": "2 packets"}


@dataclass(frozen=True)
class Background:
    """The clients: how heavy the tail is, and the mean size that brings the load (`background.normalised`)."""

    tail_index: float
    mean_packets: float
    seed: int
    rate_mbps: float = 10.0
    modern: bool = False
    """CUBIC, SACK, an initial window of 10 and packets of 1500 bytes, for the clients and for what is measured."""

    @property
    def packet_bytes(self) -> int:
        """With headers."""
        return 1500 if self.modern else PACKET_BYTES


@dataclass(frozen=True)
class Connections:
    """What is measured: so many endless connections of a control, all alike."""

    control: str | dict[str, Any]
    rtt_ms: int = BASE_RTT_MS
    count: int = 1
    tcp: tuple[tuple[str, Any], ...] = ()
    """Keys of the group that differ."""
    datagrams: bool = False
    """Without TCP: the control sets the rate of datagrams, from a report each round trip."""
    transfers: tuple[float, float] | None = None
    """Connections one after another: mean size in packets, mean pause in s (exponential); None: an endless one."""

    competing: tuple[str, ...] = ()
    """Controls of endless connections beside it, one each, with the same RTT."""

    def competitors(self, usual: dict[str, Any]) -> list[dict[str, Any]]:
        """The groups of these."""
        common = {"rtt": f"{self.rtt_ms} ms", "start": {"uniform": "1 s"}, **usual}
        return [
            {"name": f"{COMPETING}{control}", "congestion_control": control, **common} for control in self.competing
        ]

    def group(self, usual: dict[str, Any]) -> dict[str, Any]:
        """As a scenario has it; `usual` are the keys of TCP."""
        keys = {"packet_size": usual["packet_size"], "workload": "rate_controlled"} if self.datagrams else usual
        if self.transfers is not None:
            mean_packets, pause_s = self.transfers
            size = {"name": "exponential", "mean": f"{mean_packets:g} packets"}
            off = {"name": "exponential", "mean": f"{pause_s:g} s"}
            keys = {**keys, "workload": {"name": "on_off", "size": size, "off": off}}
        return {
            "name": MEASURED,
            "count": self.count,
            "rtt": f"{self.rtt_ms} ms",
            "congestion_control": self.control,
            "start": {"uniform": "1 s"},
            **keys,
            **dict(self.tcp),
        }


def steered(control: str | dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """`control` under the large time scale."""
    return {"name": "multiple_time_scale", "control": control, **parameters}


def scenario(background: Background, measured: Connections | None, duration_s: float, *, buffer: int = 64) -> Scenario:
    """One repetition; a tenth of the time is warm-up.

    Repetitions are seeds, since each has a mean size of its own.

    Examples
    --------
    >>> made = scenario(Background(1.05, 40.0, 1), Connections(steered("reno", aggressiveness=3.0)), 100)
    >>> made.resolve()["flows"][0]["congestion_control"]["aggressiveness"]
    3.0
    """
    tcp: dict[str, Any] = {"packet_size": f"{background.packet_bytes} B", **(MODERN if background.modern else _TCP)}
    clients = {
        "name": CLIENTS,
        "count": 32,
        "rtt": f"{BASE_RTT_MS} ms",
        "access_rate": f"{background.rate_mbps:g} Mbit/s",
        "congestion_control": "cubic" if background.modern else "reno",
        "start": {"uniform": "2 s"},
        "workload": {
            "name": "on_off",
            "size": pareto(background.tail_index, background.mean_packets),
            "off": {"name": "exponential", "mean": "2 s"},
        },
        **tcp,
    }
    flows = [clients]
    if measured is not None:
        flows = [measured.group(tcp), clients, *measured.competitors(tcp)]
    bins = INTERVAL_S if measured else ALONE_BIN_S
    alone = measured is not None and measured.count == 1
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s / 10:g} s",
            "seed": background.seed,
            "processing_time": "0 s",  # as in the source, hosts take no time
            "bottleneck": {
                "rate": f"{background.rate_mbps:g} Mbit/s",
                "queue": {"name": "drop_tail", "limit": f"{buffer} packets"},
            },
            "flows": flows,
            "probes": {
                "flow_samples": f"{INTERVAL_S:g} s" if alone else False,
                "flows": 1,
                "link_samples": f"{bins:g} s",
                "transfers": False,
            },
        }
    )
