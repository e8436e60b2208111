"""The open parameters of the source's networks and formulas, and its networks for simulator and model.

100 TCP sessions share a RIO router of 48 Mbit/s; each has an access link of 1 Mbit/s and a token bucket of 40
packets/s and 20 packets (Malouch & Liu, §4 and Fig. 4). `OPEN` lists what is not said, and what is tried for it.

**Transmission times.** The sender's access link, the bottleneck and their queues are simulated. The receiver's access
link is not (little waits there: packets leave the sender's no faster), so its 8 ms for a packet, and the 0.32 ms
that an ACK of 40 bytes takes on each access link, are added to the propagation delay.

**Queue.** q is the number of packets in the system, the one in service included, and so are thresholds (ns-2 counts
without it; both were tried, and differ by less than repetitions do).

**Formulas.** Tables 1 to 3 come out with 16 ms added to each RTT, section 5 with none. Two details of the printed
formulas are not what was computed for the tables (`parshall_studies.diffserv.response`): hence four readings.

References: Malouch & Liu, INRIA RR-4469, 2002.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.scenario import Scenario
from parshall.studies.joint import Open
from parshall.studies.published import printed_in
from parshall.studies.study import Scale
from parshall_studies import ns2
from parshall_studies.diffserv import FixedPoint, Formulas, Router, Sessions, fixed_point

PAPER = printed_in(__package__)
PACKET_BYTES, ACK_BYTES = 1000, 40
CAPACITY_BPS, ACCESS_BPS = 48_000_000, 1_000_000
CAPACITY_PER_S = CAPACITY_BPS / (8 * PACKET_BYTES)
RTTS_S = tuple((100 + 2 * i) / 1000 for i in range(100))
"""Section 4: 100 + 2 i ms."""
LONG_RTTS_S = (0.4, 0.5, 0.6, 0.7, 0.8)
"""Section 5.1's five sessions more."""
RESERVED_PER_S: float = PAPER.number("reservation")
BURST_PACKETS = 20


@dataclass(frozen=True)
class Curves:
    """Thresholds and maximum drop probabilities of a router."""

    in_min: int
    in_max: int
    in_probability: float
    out_min: int
    out_max: int
    out_probability: float


ROUTERS: Mapping[str, Curves] = {
    "table1": Curves(20, 100, 0.01, 20, 100, 0.06),
    "table2": Curves(60, 100, 0.01, 20, 60, 0.06),
    "table3": Curves(60, 100, 0.01, 20, 100, 0.06),
}
"""Sections 4.1 (fully overlapped), 4.2 (not) and 4.3 (partially)."""
OVERLAPPED = ROUTERS["table1"]


@dataclass(frozen=True)
class Model:
    """A reading of the source's formulas.

    Parameters
    ----------
    continuous, count_timeouts
        As of `Formulas`: of the window after a timeout, and of packets sent during timeouts.
    own_service
        Whether the RTT has the packet's own service, (q + 1)/C, as eq. (8) is printed; else q/C.
    """

    continuous: bool = True
    count_timeouts: bool = False
    own_service: bool = True

    @property
    def formulas(self) -> Formulas:
        """Which formulas are computed."""
        return Formulas(self.continuous, self.count_timeouts)

    def solve(self, router: Router, extra_rtts_s: Sequence[float] = (), access_delay_s: float = 0.0) -> FixedPoint:
        """The steady state of section 4's hundred sessions, and others, over a router or a batch of them."""
        shift = access_delay_s - (0.0 if self.own_service else 1 / CAPACITY_PER_S)
        rtts_s = np.array((*RTTS_S, *extra_rtts_s)) + shift
        return fixed_point(Sessions(rtts_s, RESERVED_PER_S, BURST_PACKETS), router, formulas=self.formulas)

    def in_table(self, table: str, access_delay_s: float) -> FixedPoint:
        """The steady state of a router of section 4."""
        return self.solve(router_of(ROUTERS[table]), access_delay_s=access_delay_s)

    def overlapped(
        self, in_probability: FloatArray | float, out_probability: FloatArray | float, *, long: bool = False
    ) -> FixedPoint:
        """The same with section 4.1's thresholds and other probabilities; with the five long sessions, if `long`."""
        return self.solve(overlapped(in_probability, out_probability), LONG_RTTS_S if long else ())


@dataclass(frozen=True)
class Setting:
    """The parameters that the source leaves unsaid (`OPEN`), and how much is simulated.

    The defaults of formulas carry most of its claims (the joint design), those of TCP are ns-2's before May 2001.

    Parameters
    ----------
    duration_s, warm_up_s, repetitions
        Of each simulated network.
    controls
        Congestion controls of the sessions; the source's are the first.
    """

    continuous: bool = True
    count_timeouts: bool = True
    own_service: bool = True
    access_delay_s: float = PAPER.number("table_access_delay")
    most_in_probability: float = 0.1
    fig13_in_probability: float = 0.05
    fig13_out_probability: float = 0.06
    recovery: str = "reno"
    least_timeout_s: float = 0.2
    clock_s: float = 0.1
    limited_transmit: bool = False
    initial_window: int = 1
    acks_each: bool = True
    window_packets: int | None = ns2.WINDOW
    receiver_link: bool = True
    starts_s: float = 5.0
    duration_s: float = 1800.0
    warm_up_s: float = 30.0
    repetitions: int = 10
    controls: tuple[str, ...] = ("reno",)

    @property
    def model(self) -> Model:
        """The formulas."""
        return Model(self.continuous, self.count_timeouts, self.own_service)

    @property
    def tcp(self) -> dict[str, Any]:
        """Keys of the sessions' group: their TCP."""
        return ns2.tcp(self.window_packets) | {
            "recovery": self.recovery,
            "min_rto": f"{1000 * self.least_timeout_s:g} ms",
            "rto_granularity": f"{1000 * self.clock_s:g} ms",
            "limited_transmit": self.limited_transmit,
            "initial_window": f"{self.initial_window} packets",
            "delayed_ack": False if self.acks_each else "100 ms",
        }


SETTINGS: Mapping[Scale, Setting] = {
    "quick": Setting(duration_s=120.0, repetitions=3),
    "paper": Setting(),
}
_NS2 = "section 4 says NS-2, and nothing of its version or of its agents"
OPEN = (
    Open("continuous", "window after a timeout without a jump", "eq. (11) jumps, the tables do not", (True, False)),
    Open("count_timeouts", "packets of timeouts are throughput", "eq. (12) has them, the tables do not", (False, True)),
    Open("own_service", "RTT has (q + 1)/C, else q/C", "eq. (8), as printed or as Fig. 10 needs", (True, False)),
    Open("access_delay_s", "delay of access links, s", "Fig. 4 has them, eq. (8) does not", low=0.0, high=0.02),
    Open("most_in_probability", "end of the axis p_in^max of Fig. 8", "the text has no ends", (1.0, 0.5, 0.2, 0.1)),
    Open("fig13_in_probability", "p_in^max of Fig. 13", "not in section 5.3", low=0.005, high=0.2, log=True),
    Open("fig13_out_probability", "p_out^max of Fig. 13", "not in section 5.3", low=0.02, high=1.0, log=True),
    Open("recovery", "TCP's recovery", _NS2, ("tahoe", "reno", "newreno", "sack")),
    Open("least_timeout_s", "least timeout, s", _NS2, (0.2, 0.5, 1.0)),
    Open("clock_s", "clock of timeouts, s", _NS2, (0.01, 0.1, 0.5)),
    Open("limited_transmit", "limited transmit", _NS2, (False, True)),
    Open("initial_window", "initial window, packets", _NS2, (1, 2)),
    Open("acks_each", "an ACK for each packet, else for two", _NS2, (True, False)),
    Open("window_packets", "window limit, packets", _NS2, (20, 32, 64, None)),
    Open("receiver_link", "the receiver has an access link", "Fig. 4: an access link a connection", (True, False)),
    Open("starts_s", "sessions start within, s", "not said", (0.1, 5.0)),
)


def scenario(
    curves: Curves,
    setting: Setting,
    *,
    rtts_s: Sequence[float] = RTTS_S,
    control: str = "reno",
    **tcp: Any,
) -> Scenario:
    """A network of the source.

    Parameters
    ----------
    rtts_s
        Propagation of each session, without what links take to transmit.
    tcp
        Keys of the sessions' group that replace the setting's.

    Examples
    --------
    >>> scenario(ROUTERS["table2"], Setting()).resolve()["links"][0]["queue"]["out_max"]
    60
    """
    bits = 8 * (PACKET_BYTES + 2 * ACK_BYTES) if setting.receiver_link else 8 * ACK_BYTES
    sessions = {
        "name": "sessions",
        "count": len(rtts_s),
        "rtt": {"list": [f"{round((rtt_s + bits / ACCESS_BPS) * 1e6)} us" for rtt_s in rtts_s]},
        "access_rate": f"{ACCESS_BPS} bit/s",
        "marker": {
            "name": "token_bucket",
            "rate": f"{round(RESERVED_PER_S * PACKET_BYTES * 8)} bit/s",
            "burst": f"{BURST_PACKETS} packets",
        },
        "start": {"uniform": f"{setting.starts_s:g} s"},
        "packet_size": f"{PACKET_BYTES} B",
        "header_size": f"{ACK_BYTES} B",
        "congestion_control": control,
        **setting.tcp,
        **tcp,
    }
    return Scenario.from_document(
        {
            "name": "rio",
            "description": f"{len(rtts_s)} TCP sessions and a RIO router, Malouch & Liu 2002",
            "duration": f"{setting.warm_up_s + setting.duration_s:g} s",
            "warm_up": f"{setting.warm_up_s:g} s",
            "repetitions": setting.repetitions,
            "processing_time": "0 s",  # as in the source, hosts take no time
            "bottleneck": {"rate": f"{CAPACITY_BPS} bit/s", "queue": _queue(curves)},
            "flows": [sessions],
            "probes": {"flow_samples": False, "link_samples": False, "transfers": False},
        }
    )


def _queue(curves: Curves) -> dict[str, Any]:
    thresholds = {name: f"{getattr(curves, name)} packets" for name in ("in_min", "in_max", "out_min", "out_max")}
    return {
        "name": "rio",
        "limit": f"{curves.in_max} packets",  # all are dropped from there on
        **thresholds,
        "in_probability": curves.in_probability,
        "out_probability": curves.out_probability,
        "in_length": "total",
        "out_length": "total",
        "averaging": "instantaneous",
        "coin": "independent",
    }


def router_of(curves: Curves) -> Router:
    """The model of a router."""
    inside = curves.in_min, curves.in_max, curves.in_probability
    return Router(CAPACITY_PER_S, *inside, curves.out_min, curves.out_max, curves.out_probability)


def overlapped(in_probability: FloatArray | float, out_probability: FloatArray | float) -> Router:
    """Section 4.1's thresholds with other probabilities."""
    return router_of(OVERLAPPED).with_(in_probability=in_probability, out_probability=out_probability)


INSIDE, OUTSIDE = np.linspace(0.0, 1.0, 21), np.geomspace(0.0025, 1.0, 41)
"""p_in^max and p_out^max of the surfaces of Figs 8 and 10 to 12, over which p_in of the model is read."""


@cache
def surface(model: Model, most_in: float = 1.0, *, long: bool = False) -> FixedPoint:
    """The steady states over p_in^max up to `most_in` (rows) and p_out^max (columns), section 4.1's thresholds."""
    return model.overlapped(most_in * INSIDE[:, None], OUTSIDE, long=long)
