"""The parameters that the source leaves unsaid of Figs 1 and 2: whose TCP, where slow start ends, which load was drawn.

Fig. 1 is measured on a testbed of Linux hosts of 2011, Fig. 2 is simulated by ns-2. The source names the "Reno variant"
and nothing else of either stack; what is taken here are the defaults of the kernels of these years (2.6.x) and of ns-2.
`OPEN` lists what else is tried.

What the source calls "without slow start" is an ssthresh that is cached from one connection to the next. It says that
the cached value "can only decrease" and settles at about 10 packets; Linux's rule lets it grow too. So there are three
readings of Fig. 1:

| `Setting.ssthresh` | a connection starts from |
| --- | --- |
| `lowest` | the lowest ssthresh of all connections before, as the source says |
| `linux` | what Linux's `tcp_update_metrics` keeps |
| `ten` | 10 packets, where the source says that it settles |

Of ns-2's TCP the smallest retransmission timeout decides most: 0.2 s is the default since October 2004, 1 s was it
before and is that of RFC 6298. With neither does Fig. 2 come out whole; with 0.7 s, which no ns-2 had by default, it
does. So that is the reconstruction, and the two defaults are readings.

The mean of heavy-tailed sizes cannot be imposed on a run of any feasible length: at a tail index of 1.1 the sampled
mean is mostly some 600 packets instead of 1000. At *equal loads* the distribution's mean is adjusted, for each run
alone, until the sampled mean is 1000 packets (sample-path normalisation, Park & Tuan 2000, §4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from parshall.scenario import Scenario
from parshall.studies.joint import Open
from parshall.studies.published import printed_in
from parshall.studies.study import Scale
from parshall_studies.tail_index.network import MEAN_PACKETS, butterfly, pareto

PAPER = printed_in(__package__)
Ssthresh = Literal["lowest", "linux", "ten", "last"]
HEAVIEST = 1.3
"""The smallest tail index at which the source imposes the mean of the sizes."""
NS2 = {
    "handshake": True,
    "byte_counting": False,
    "recovery": "reno",
    "delayed_ack": False,
    "timestamps": False,
    "initial_window": "2 packets",
    "min_rto": "200 ms",
}
"""Keys of ns-2's TCP."""
HOSTS_OF_2011 = {
    "handshake": True,
    "byte_counting": False,
    "recovery": "sack",
    "delayed_ack": "40 ms",
    "timestamps": True,
    "initial_window": "3 packets",
    "rto_floor": "variation",
}
"""Keys of the testbed's TCP."""
_RULES: tuple[Ssthresh, ...] = ("lowest", "linux", "ten")
_CACHED: Mapping[Ssthresh, Mapping[str, Any]] = {
    "lowest": {"ssthresh_cached": "lowest"},
    "linux": {"ssthresh_cached": "linux"},
    "ten": {"ssthresh_cached": "off", "initial_ssthresh": "10 packets"},
    "last": {"ssthresh_cached": "last"},
}
SAMPLES = 24
"""How often in a run the sources' ssthresh is recorded where it is cached."""


class Curve(NamedTuple):
    """A curve of Fig. 1 or 2: how many sources, a buffer in packets, with slow start or without."""

    sources: int
    buffer: int
    slow_start: bool

    @property
    def name(self) -> str:
        """The source's words."""
        return f"N = {self.sources}, B = {self.buffer}, {'with' if self.slow_start else 'without'} slow start"

    @property
    def figure(self) -> str:
        """The source's figure."""
        return "fig1" if self.sources == FIG1[0].sources else "fig2"

    def published(self, metric: str) -> int | None:
        """The published sign of the change of a metric with a heavier tail; None: nothing is said."""
        sign: int | None = PAPER[f"trends.{self.name}"].get(metric)
        return sign


FIG1 = tuple(Curve(45, buffer, slow_start) for slow_start in (False, True) for buffer in (96, 896))
FIG2 = tuple(Curve(500, buffer, True) for buffer in (100, 1000))


@dataclass(frozen=True)
class Setting:
    """The parameters that are unsaid (`OPEN`), and how much is simulated.

    Parameters
    ----------
    ns2_hosts
        Fig. 1's network with ns-2's TCP: not the source's, but what shows how much the stack decides.
    tail_indices, level
        Abscissae; those at which Fig. 1's network has equal loads, if not all.
    duration_s, slower_s, repetitions
        Of a run of Fig. 1, and of Fig. 2, whose sources share the link among so many that a transfer takes ten times
        as long; runs of a point.
    settling_s
        How long a cached ssthresh settles before anything is measured.
    longest_s, settled_s
        The same two at equal loads, at most: what an ssthresh is after 600 s differs by nothing that shows.
    trajectories
        Of Morris' analysis.
    """

    ssthresh: Ssthresh = "ten"
    hosts_window: int = 3
    hosts_acks_each: bool = False
    hosts_recovery: str = "sack"
    least_timeout_s: float = 0.7
    ns2_recovery: str = "reno"
    ns2_window: int = 2
    ns2_most: int | None = None
    ns2_limited_transmit: bool = False
    start_s: float = 0.4
    equal_loads: bool = True
    ns2_hosts: bool = False
    tail_indices: tuple[float, ...] = (1.1, 1.3, 1.5, 2.0, 4.0)
    level: tuple[float, ...] | None = (1.1, 1.5, 4.0)
    duration_s: float = 24.0
    repetitions: int = 3
    settling_s: float = 40.0
    slower_s: float = 50.0
    longest_s: float = 300.0
    settled_s: float = 150.0
    trajectories: int = 6

    @property
    def heaviest(self) -> float:
        """The smallest tail index of a trend: loads that are equal include 1.1."""
        return 1.0 if self.equal_loads else HEAVIEST

    def at(self, curve: Curve) -> tuple[float, ...]:
        """The tail indices of a curve: with N = 500 and equal loads those of which the source speaks."""
        if not self.equal_loads:
            return self.tail_indices
        if curve.figure == "fig1":
            return self.level or self.tail_indices
        return tuple(alpha for alpha in self.tail_indices if alpha >= HEAVIEST)

    def is_cached(self, curve: Curve) -> bool:
        """Whether a connection's ssthresh is that of earlier ones, and has to settle."""
        return not curve.slow_start and self.ssthresh != "ten"

    def flow(self, curve: Curve) -> dict[str, Any]:
        """Keys of the sources' group of flows: their TCP."""
        kept = {"ssthresh_cached": "off"} if curve.slow_start else _CACHED[self.ssthresh]
        if curve.figure == "fig2" or self.ns2_hosts:
            own: dict[str, Any] = {
                "min_rto": f"{1000 * self.least_timeout_s:g} ms",
                "recovery": self.ns2_recovery,
                "initial_window": f"{self.ns2_window} packets",
                "receive_window": "unlimited" if self.ns2_most is None else f"{self.ns2_most} packets",
                "limited_transmit": self.ns2_limited_transmit,
            }
            return {**NS2, **own, **kept}
        own = {
            "recovery": self.hosts_recovery,
            "delayed_ack": False if self.hosts_acks_each else "40 ms",
            "initial_window": f"{self.hosts_window} packets",
        }
        return {**HOSTS_OF_2011, **own, **kept}

    def times(self, curve: Curve) -> tuple[float, float]:
        """How long a run of a curve is, and its part that is not measured, in s."""
        lasts = self.duration_s if curve.figure == "fig1" else self.slower_s
        settling = self.settling_s
        if self.equal_loads:
            lasts, settling = min(self.longest_s, lasts), min(self.settled_s, settling)
        warm_up = settling if self.is_cached(curve) else lasts / 6
        return lasts * 5 / 6 + warm_up, warm_up

    def scenario(self, curve: Curve, alpha: float, seed: int, mean: float = MEAN_PACKETS) -> Scenario:
        """A run of a point of a curve; `mean` in packets."""
        duration_s, warm_up_s = self.times(curve)
        return butterfly(
            curve.sources,
            curve.buffer,
            pareto(alpha, mean),
            flow={**self.flow(curve), "start": {"uniform": f"{self.start_s:g} s"}},
            duration_s=duration_s,
            warm_up_s=warm_up_s,
            repetitions=1,
            seed=seed,
            samples=SAMPLES if self.is_cached(curve) else 0,
        )


_LINUX = "section 2 names Linux and Reno, and neither kernel nor options"
_NS2 = "section 2 names ns-2 and Reno, and neither version nor variables"
OPEN = (
    Open("ssthresh", "cached ssthresh", "section 2 has a rule and a value that do not go together", _RULES),
    Open("hosts_window", "initial window of hosts, packets", _LINUX, (2, 3, 10)),
    Open("hosts_acks_each", "hosts acknowledge each packet", _LINUX, (False, True)),
    Open("hosts_recovery", "recovery of hosts", _LINUX, ("newreno", "sack")),
    Open("least_timeout_s", "least timeout of ns-2, s", _NS2, (0.2, 0.5, 0.7, 1.0)),
    Open("ns2_recovery", "recovery of ns-2", _NS2, ("tahoe", "reno", "newreno", "sack")),
    Open("ns2_window", "initial window of ns-2, packets", _NS2, (1, 2, 3)),
    Open("ns2_most", "window limit of ns-2, packets", _NS2, (20, 64, 256, None)),
    Open("ns2_limited_transmit", "limited transmit of ns-2", _NS2, (False, True)),
    Open("start_s", "sources start within, s", "not said", (0.01, 0.4, 4.0)),
    Open("equal_loads", "sampled loads are equal", "section 2: the mean could not be imposed at 1.1", (True, False)),
)
SETTINGS: Mapping[Scale, Setting] = {
    "quick": Setting(),
    "paper": Setting(
        tail_indices=PAPER["tail_indices"],
        level=None,
        duration_s=2400.0,
        settling_s=600.0,
        slower_s=1200.0,
        trajectories=20,
    ),
}
"""At ``paper`` scale the three runs of a point last in sum as long as the source's: an hour (Fig. 2), two (Fig. 1)."""
WORDS_OF = {
    "lowest": "cached ssthresh only decreases",
    "linux": "ssthresh cached by Linux's rule",
    "ten": "ssthresh 10 for each connection",
}


def readings(scale: Scale) -> dict[str, Setting]:
    """The settings of the page, each of both figures: rules of ssthresh by least timeouts, at equal loads; as asked."""
    base = SETTINGS[scale]
    made = {
        f"{WORDS_OF[rule]}, smallest timeout {timeout_s:g} s": replace(base, ssthresh=rule, least_timeout_s=timeout_s)
        for timeout_s in (base.least_timeout_s, 0.2, 1.0)
        for rule in ("ten", "linux", "lowest")
    }
    asked = {f"{name}, means as asked": each for name, each in list(made.items())[:3]}
    return made | {name: replace(each, equal_loads=False) for name, each in asked.items()}
