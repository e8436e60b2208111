"""The testbed of §4.2 and §5 as scenarios: what the source says of it, and a setting of what it leaves unsaid.

A network may be `slower` than the source's: rates are divided by that, times multiplied, and windows in packets, loads
and the buffer stay. Rates and times in code are the source's.

References: Loiseau 2010, §4.2, §5.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from parshall.scenario import Scenario
from parshall.studies.joint import Open
from parshall.studies.published import printed_in
from parshall.studies.study import Scale
from parshall_studies.chains.loss import GaussianCrossTraffic

PAPER = printed_in(__package__)

BY_MODEL = GaussianCrossTraffic(
    PAPER["capacity_bps"], PAPER["cross_mean_bps"], PAPER["cross_std_bps"], PAPER["rtt_s"], PAPER["packet_bytes"]
)
"""Eq. (11) with the source's values."""
TIMEOUT_S = 0.2
"""The least retransmission timeout of Linux, which is the timeout at these round-trip times."""
SAMPLES_S = 0.003
"""Web100's interval. Loiseau 2010, §4.2"""
FRAMING_BYTES, UDP_HEADERS_BYTES = 38, 28
"""Ethernet's bytes a packet that are not IP (preamble, header, check sum, gap: IEEE 802.3); headers of UDP and IP."""
WIDE = {"rate": "10 Gbit/s", "queue": {"name": "drop_tail", "limit": "100000 packets"}}
"""A link on which a single flow meets no queue."""
TCP = {"name": "tcp", "tcp": "rfc", "rtt": "12 ms", "congestion_control": "reno", "packet_size": "1500 B"}


@dataclass(frozen=True)
class Setting:
    """A reading of what the source leaves unsaid, and how much is simulated; the defaults are the reconstruction.

    Parameters
    ----------
    exchanged
        Whether the mean ON and OFF times of §4.2 are exchanged: ON for 0.1 s, OFF for 0.12 s.
    framing
        Whether 1 Gbit/s is the rate of Ethernet with its framing, or that of IP packets.
    payload
        Whether the rates of UDP are those of its payload, or of IP packets.
    datagram_bytes
        IP packets of UDP.
    buffer_packets
        How much of the buffer of 96 packets an arrival finds.
    recovery, delayed_ack, paced
        Of all TCP: how losses are repaired, whether ACKs wait, whether a window is spread over the round trip.
    processing_s
        Random time that a host takes for a packet, at most.
    persistent, ssthresh_cached
        Of the sources of §5.1: whether a source keeps its connection, and what a new one knows of the last ssthresh.
    host_bps
        Rate of the hosts of these sources.
    warm_up_s, constant_s, cross_s, flow_s, control_s, long_s
        What is left out at the beginning of each run; measured times of Figs 3, 4, 5, 8 and 6.
    seed, slower
        Of all runs; how many times the network is slower than the source's.
    beyond
        Whether our own chains are held against the packets too, which takes longer than the packets.
    """

    exchanged: bool = True
    framing: bool = True
    payload: bool = True
    datagram_bytes: int = 1500
    buffer_packets: int = 55
    recovery: str = "sack"
    delayed_ack: bool = False
    paced: bool = False
    processing_s: float = 0.0
    persistent: bool = True
    ssthresh_cached: str = "off"
    host_bps: float = 1e9
    warm_up_s: float = 60.0
    constant_s: float = 120.0
    cross_s: float = 300.0
    flow_s: float = 600.0
    control_s: float = 300.0
    long_s: float = 400.0
    seed: int = 1
    slower: float = 1.0
    beyond: bool = True

    @property
    def rtt_s(self) -> float:
        """The round-trip time without queues."""
        return float(PAPER["rtt_s"] * self.slower)

    @property
    def link_bps(self) -> float:
        """The rate of the source's link for IP packets."""
        packet = PAPER["packet_bytes"]
        return float(PAPER["capacity_bps"] * (packet / (packet + FRAMING_BYTES) if self.framing else 1))

    def udp_bps(self, rate_bps: float) -> float:
        """The rate of IP packets of UDP whose rate the source gives."""
        size = self.datagram_bytes
        return rate_bps * (size / (size - UDP_HEADERS_BYTES) if self.payload else 1)

    @property
    def on_off_s(self) -> tuple[float, float]:
        """Mean ON and OFF times of the sources of §4.2."""
        times = PAPER["on_s"], PAPER["off_s"]
        return (times[1], times[0]) if self.exchanged else times

    @property
    def free_packets(self) -> float:
        """(C - X) RTT beside constant cross traffic, packets."""
        free = self.link_bps - self.udp_bps(PAPER["constant_bps"])
        return float(free * PAPER["rtt_s"] / (8 * PAPER["packet_bytes"]))

    @property
    def top_packets(self) -> float:
        """(C - X) (RTT + B/C), the window that fills the buffer beside constant cross traffic, packets."""
        drained = self.buffer_packets * 8 * PAPER["packet_bytes"] / self.link_bps
        return float(self.free_packets * (1 + drained / PAPER["rtt_s"]))

    def link(self) -> dict[str, Any]:
        """The bottleneck."""
        queue = {"name": "drop_tail", "limit": f"{self.buffer_packets} packets"}
        return {"rate": f"{round(self.link_bps / self.slower)} bit/s", "queue": queue}

    def tcp(self, control: str = "reno") -> dict[str, Any]:
        """The flow that is looked at."""
        ours = {"recovery": self.recovery, "delayed_ack": self.delayed_ack, "pacing": self.paced}
        return {**TCP, "rtt": self._time(PAPER["rtt_s"]), "congestion_control": control, **ours}

    def constant_traffic(self) -> dict[str, Any]:
        """One source of UDP at a constant rate."""
        return self._udp({"name": "cbr", "rate": self._rate(PAPER["constant_bps"])})

    def on_off_traffic(self) -> dict[str, Any]:
        """32 sources of UDP with exponential ON and OFF times."""
        on_s, off_s = self.on_off_s
        on, off = ({"name": "exponential", "mean": self._time(each)} for each in (on_s, off_s))
        workload = {"name": "on_off_cbr", "rate": self._rate(PAPER["source_bps"]), "on": on, "off": off}
        return {**self._udp(workload), "count": PAPER["sources"]}

    def tcp_sources(self) -> dict[str, Any]:
        """45 sources of TCP: exponential OFF times, heavy-tailed ON times, each with all that TCP takes."""
        mean = self._time(PAPER["long_range_s"])
        workload = {
            "name": "on_off_bulk",
            "on": {"name": "pareto", "mean": mean, "tail_index": PAPER["long_range_tail"]},
            "off": {"name": "exponential", "mean": mean},
            "begins": "off",
        }
        own = {"persistent": self.persistent, "ssthresh_cached": self.ssthresh_cached, "workload": workload}
        access = f"{round(self.host_bps / self.slower)} bit/s"
        return {**self.tcp(), "name": "sources", "count": PAPER["long_range_sources"], "access_rate": access, **own}

    def _udp(self, workload: dict[str, Any]) -> dict[str, Any]:
        size, rtt = f"{self.datagram_bytes} B", self._time(PAPER["rtt_s"])
        return {"name": "udp", "endpoint": "simulated", "rtt": rtt, "packet_size": size, "workload": workload}

    def _rate(self, rate_bps: float) -> str:
        return f"{round(self.udp_bps(rate_bps) / self.slower)} bit/s"

    def _time(self, time_s: float) -> str:
        return f"{time_s * self.slower:g} s"

    def scenario(
        self, link: dict[str, Any], flows: Sequence[dict[str, Any]], seconds: float, probes: dict[str, Any]
    ) -> Scenario:
        """A run of so many seconds of the source's network, after the warm-up."""
        warm_up_s = self.warm_up_s * self.slower
        return declared(
            link,
            flows,
            warm_up_s + seconds * self.slower,
            probes=probes,
            seed=self.seed,
            warm_up_s=warm_up_s,
            processing_s=self.processing_s * self.slower,
        )

    def of_flow(self, cross: dict[str, Any] | None, seconds: float, control: str = "reno") -> Scenario:
        """The flow, with what is recorded of it, in cross traffic on the bottleneck."""
        flows = [self.tcp(control), *([] if cross is None else [cross])]
        return self.scenario(self.link(), flows, seconds, probes_of_flow(self.rtt_s))


def probes_of_flow(rtt_s: float) -> dict[str, Any]:
    """The probes that `flow.measure` needs of the first flow."""
    return {"rounds": 1, "flows": 1, "flow_samples": f"{SAMPLES_S * rtt_s / PAPER['rtt_s']:g} s"}


def declared(
    links: dict[str, Any] | list[dict[str, Any]],
    flows: Sequence[dict[str, Any]],
    duration_s: float,
    *,
    probes: dict[str, Any] | None = None,
    seed: int = 1,
    warm_up_s: float = 60.0,
    processing_s: float = 0.0,
) -> Scenario:
    """A scenario without series unless `probes` ask for them; of one link, or of some with names."""
    network = {"links": links} if isinstance(links, list) else {"bottleneck": links}
    return Scenario(
        duration=f"{duration_s:g} s",
        warm_up=f"{warm_up_s:g} s",
        seed=seed,
        processing_time=f"{round(1e9 * processing_s)} ns",
        flows=list(flows),
        probes={"rounds": 0, "flow_samples": False, "link_samples": False, "transfers": False, **(probes or {})},
        **network,
    )


OPEN = (
    Open("exchanged", "ON and OFF times of §4.2 exchanged", "0.12 s ON and 580 Mbit/s contradict", (False, True)),
    Open("framing", "1 Gbit/s counts Ethernet's framing", "§4.2 says 1 Gbps of Ethernet", (False, True)),
    Open("payload", "rates of UDP are its payload's", "§4.2 does not say; iperf counts so", (False, True)),
    Open("datagram_bytes", "IP packets of UDP, bytes", "§4.2 gives the size of TCP's alone", (750, 1500)),
    Open(
        "buffer_packets", "buffer that an arrival finds, packets", "switches share memory", low=40, high=97, whole=True
    ),
    Open("recovery", "how losses are repaired", "§4.2 names no kernel", ("newreno", "sack", "rack")),
    Open("delayed_ack", "ACKs wait for a second packet", "§4.2 does not say", (False, True)),
    Open("paced", "a window is spread over the round trip", "§4.2 says that packets are, not how", (False, True)),
    Open("processing_s", "random time of hosts a packet, at most, s", "§4.2: CPU usage", low=1e-7, high=1e-4, log=True),
    Open("persistent", "a source of §5.1 keeps its connection", "§5.1 does not say", (False, True)),
    Open("ssthresh_cached", "what new connections know", "Linux of 2010 kept it", ("off", "last", "linux")),
    Open("host_bps", "rate of the hosts of §5.1, bit/s", "§5.1 does not say", (1e8, 1e9, 1e10)),
)
"""All that the source leaves unsaid of its network."""

AS_STATED = Setting(exchanged=False, framing=False, payload=False, buffer_packets=96)


def at(setting: Setting, scale: Scale) -> Setting:
    """The setting with the source's own durations, or with minutes."""
    if scale == "quick":
        return setting
    return replace(setting, constant_s=3600.0, cross_s=3600.0, flow_s=3600.0, control_s=3600.0, long_s=7200.0)


def readings(scale: Scale) -> dict[str, Setting]:
    """The reconstruction, and what others would read in the text."""
    ethernet = replace(AS_STATED, exchanged=True, framing=True, payload=True)
    made = {
        "reconstruction": Setting(),
        "as stated": AS_STATED,
        "ON and OFF exchanged": replace(AS_STATED, exchanged=True),
        "on Ethernet, buffer 96": ethernet,
        "RACK": replace(Setting(), recovery="rack"),
    }
    return {name: at(replace(each, beyond=name == "reconstruction"), scale) for name, each in made.items()}
