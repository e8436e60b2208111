"""Fig. 5 of Park & Tuan 2000 as scenarios: 32 clients, and the connections that are measured.

| symbol | argument | unit |
| --- | --- | --- |
| alpha | `tail_index` | - |
| RTT | `rtt_ms` | ms, of the measured connections without queues |

The source says (§5.1): all links have 10 Mbit/s (the bottleneck 20 in §5.7) and 5 ms, so that the RTT is 30 ms without
queues; segments of 1 kB; ns-2. Written between November 1999 and May 2000, that is ns-2 with the defaults of
`parshall_studies.ns2`. What it does not say are fields of `setting.Setting`. Headers are part of the segments. Controls
that work with the RTT of every packet have timestamps, as ns-2's Vegas has a clock of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from parshall.scenario import Scenario
from parshall.studies.published import printed_in
from parshall_studies import ns2
from parshall_studies.tail_index.network import pareto

PAPER = printed_in(__package__)

CLIENTS, MEASURED, COMPETING = "clients", "measured", "competing_"
"""Names of the groups; the last one is followed by the control's."""
BOTTLENECK = "bottleneck"
PACKET_BYTES = 1000
INTERVAL_S = 2.0
"""T_L."""
ALONE_BIN_S = 0.5
"""Bins of the clients' traffic where nothing is measured beside them: T_L can be chosen from them."""
BASE_RTT_MS = 30
"""Three links of 5 ms, both ways."""
HEADER_BYTES = 40
FIRST_SEED = 17
TIMED = ("vegas", "tcp_rate")
"""Controls that work with the RTT of every packet."""
ACCESS_BUFFER = 50
"""Packets at the measured connection's access link: ns-2's default. A window limit up to it never fills it."""

Stack = Literal["ns2", "ns2_later", "today"]
_STACKS: Mapping[Stack, Mapping[str, Any]] = {
    "ns2": {},
    "ns2_later": ns2.LATER,
    "today": {"tcp": "rfc", "recovery": "sack", "timestamps": True, "initial_window": "10 packets"},
}


@dataclass(frozen=True)
class Network:
    """Fig. 5, with what the source does not say of it."""

    rate_mbps: float = 10.0
    """Of the bottleneck."""
    access_mbps: float = 10.0
    measured_access: bool = True
    """The measured connection has an access link of that rate too, as the clients have."""
    buffer: int = 16
    window: int | None = 32
    """Window limit of all connections, packets; None: no limit."""
    clients_rtt_ms: int = BASE_RTT_MS
    idle_s: float = 2.0
    """Mean pause between two files of a client: at a given load, how large a file is."""
    min_rto_s: float = 0.2
    delayed_ack: bool = False
    stack: Stack = "ns2"
    """TCP of all connections: ns-2's before May 2001, that of ns-2.35, or SACK with an initial window of 10 packets of
    1500 bytes and clients of CUBIC."""

    @property
    def packet_bytes(self) -> int:
        """With headers."""
        return 1500 if self.stack == "today" else PACKET_BYTES

    @property
    def tcp(self) -> dict[str, Any]:
        """Keys of every group of TCP connections."""
        size = {"packet_size": f"{self.packet_bytes} B"}
        if self.stack == "today":
            return {**size, **_STACKS["today"]}
        timers = {"min_rto": f"{self.min_rto_s * 1e3:g} ms", "delayed_ack": self.delayed_ack}
        return {**size, **ns2.tcp(self.window), **timers, **_STACKS[self.stack]}

    @property
    def finite_access(self) -> bool:
        """The measured connection could overflow the buffer of its access link."""
        return self.measured_access and (self.window is None or self.window > ACCESS_BUFFER)


TODAY = Network(1000.0, 1000.0, measured_access=False, buffer=2500, window=None, stack="today")
"""1 Gbit/s, with a buffer of that times 30 ms."""


@dataclass(frozen=True)
class Background:
    """The clients: how heavy the tail is, and the mean size that brings the load (`background.matching`)."""

    tail_index: float
    mean_packets: float
    seed: int
    network: Network = field(default_factory=Network)


@dataclass(frozen=True)
class Connections:
    """The measured connections: so many endless ones of a control, all alike."""

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

    def competitors(self, network: Network) -> list[dict[str, Any]]:
        """The groups of these."""
        common = {"rtt": f"{self.rtt_ms} ms", "start": {"uniform": "1 s"}, **network.tcp, **self._access(network)}
        return [
            {"name": f"{COMPETING}{control}", "congestion_control": control, **common} for control in self.competing
        ]

    def group(self, network: Network) -> dict[str, Any]:
        """As a scenario has it."""
        keys = {"packet_size": network.tcp["packet_size"], "workload": "rate_controlled"}
        if not self.datagrams:
            keys = {**network.tcp, **({"timestamps": True} if _innermost(self.control) in TIMED else {})}
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
            **self._access(network),
            **dict(self.tcp),
        }

    def _access(self, network: Network) -> dict[str, Any]:
        limited = network.measured_access and not network.finite_access
        return {"access_rate": f"{network.access_mbps:g} Mbit/s"} if limited else {}


def _innermost(control: str | dict[str, Any]) -> str:
    """The control that is steered, or the control itself.

    Examples
    --------
    >>> _innermost(steered({"name": "tcp_rate", "decrease": 3.0}))
    'tcp_rate'
    """
    if isinstance(control, str):
        return control
    return _innermost(control["control"]) if "control" in control else str(control["name"])


def steered(control: str | dict[str, Any], **parameters: Any) -> dict[str, Any]:
    """`control` under the large time scale."""
    return {"name": "multiple_time_scale", "control": control, **parameters}


def scenario(background: Background, measured: Connections | None, duration_s: float) -> Scenario:
    """One repetition; a tenth of the time is warm-up.

    Repetitions are seeds, since each has a mean size of its own.

    Examples
    --------
    >>> made = scenario(Background(1.05, 40.0, 1), Connections(steered("reno", aggressiveness=3.0)), 100)
    >>> made.resolve()["flows"][0]["congestion_control"]["aggressiveness"]
    3.0
    """
    network = background.network
    clients = {
        "name": CLIENTS,
        "count": 32,
        "rtt": f"{network.clients_rtt_ms} ms",
        "access_rate": f"{network.access_mbps:g} Mbit/s",
        "congestion_control": "cubic" if network.stack == "today" else "reno",
        "start": {"uniform": "2 s"},
        "workload": {
            "name": "on_off",
            "size": pareto(background.tail_index, background.mean_packets),
            "off": {"name": "exponential", "mean": f"{network.idle_s:g} s"},
        },
        **network.tcp,
    }
    flows = [clients]
    if measured is not None:
        flows = [measured.group(network), clients, *measured.competitors(network)]
    bins = INTERVAL_S if measured else ALONE_BIN_S
    alone = measured is not None and measured.count == 1
    return Scenario.from_document(
        {
            "duration": f"{duration_s:g} s",
            "warm_up": f"{duration_s / 10:g} s",
            "seed": background.seed,
            "processing_time": "0 s",  # as in the source, hosts take no time
            **_links(network, flows),
            "probes": {
                "flow_samples": f"{INTERVAL_S:g} s" if alone else False,
                "flows": 1,
                "link_samples": f"{bins:g} s",
                "transfers": measured is not None and measured.transfers is not None,
            },
        }
    )


def _links(network: Network, flows: list[dict[str, Any]]) -> dict[str, Any]:
    """The bottleneck and the flows; with an access link of its own where the measured connection could fill that."""
    rate = f"{network.rate_mbps:g} Mbit/s"
    bottleneck = {"rate": rate, "queue": {"name": "drop_tail", "limit": f"{network.buffer} packets"}}
    if not network.finite_access:
        return {"bottleneck": bottleneck, "flows": flows}
    access = {
        "name": "access",
        "rate": f"{network.access_mbps:g} Mbit/s",
        "queue": {"name": "drop_tail", "limit": f"{ACCESS_BUFFER} packets"},
    }
    paths = {MEASURED: ["access", BOTTLENECK]}
    return {
        "links": [{"name": BOTTLENECK, **bottleneck}, access],
        "flows": [{**flow, "path": paths.get(flow["name"], [BOTTLENECK])} for flow in flows],
    }
