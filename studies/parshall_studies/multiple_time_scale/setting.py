"""A setting: a reading of all that the source leaves unsaid, and how much is simulated.

The fields of `Setting` before `drawn` are what the source does not say; `OPEN` has the values of the joint design
and the places that are silent. `RECONSTRUCTION` is the setting that carries most of the source's claims.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from parshall.studies.joint import Open
from parshall.studies.study import Scale
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, FIRST_SEED, Network

Parameters = tuple[tuple[str, Any], ...]
LEVELS = 8
"""h."""
STEERED: Parameters = (("aggressiveness", 6.0),)
"""Inverse linear schedule, A = 6 (Fig. 11), h = 8, T_L = 2 s."""
MEAN_SLOPE = 3.5
"""Of that schedule, (A + a)/2."""
_PEAK = 625.0
"""Packets/s of 1 kB in 5 Mbit/s, what the clients leave: upper end of levels that are equal parts."""


def always(slope: float) -> Parameters:
    """A schedule whose slope is the same whatever is predicted."""
    return (("schedule", "threshold"), ("threshold", float(LEVELS)), ("aggressiveness", slope))


BLIND = always(MEAN_SLOPE)


@dataclass(frozen=True)
class Setting:
    """A reading of what the source leaves unsaid, and sizes.

    Sizes at ``paper`` scale: runs that are held against one published run last 10,000 s, as the source's typical one
    (§5.1), for the interval in which one run falls hangs on that (`single_s`, `course_s`); other counts of Table III
    have `several_s`; all else are means over seeds.
    """

    window: int | None = 32
    """Window limit of all connections, packets; None: no limit."""
    buffer: int = 16
    idle_s: float = 2.0
    min_rto_s: float = 0.2
    delayed_ack: bool = False
    later_timers: bool = False
    measured_access: bool = True
    everybodys_rtt: bool = False
    quantiser: str = "quantile"
    rounded: bool = True
    """The threshold is compared with the predicted level rounded to an integer."""
    rate_b: float = 2.0
    rate_per: str = "round_trip"
    block: str = "following"
    threshold_rtt_ms: int = BASE_RTT_MS
    tail_rtt_ms: int = BASE_RTT_MS
    aggressiveness_rtt_ms: int = BASE_RTT_MS
    short_rtt_ms: int = BASE_RTT_MS
    short_control: str = "reno"
    held: bool = False
    """The clients carry their load beside the connections of Table III; else alone."""

    drawn: bool = True
    """All that figures draw; else what the signs of the joint design need."""
    duration_s: float = 600.0
    seeds: int = 12
    first_seed: int = FIRST_SEED
    rtts_ms: tuple[int, ...] = (30, 450)
    tail_indices: tuple[float, ...] = (1.05, 1.95)
    thresholds: tuple[int, ...] = (1, 4, 8)
    aggressiveness: tuple[int, ...] = (2, 4, 6, 8, 10)
    counts: tuple[int, ...] = (2, 6, 18)
    idles_s: tuple[float, ...] = (0.05, 0.2, 2.0)
    """Of the figure of gains by the size of a file."""
    fast_duration_s: float = 24.0
    """Of runs at 1 Gbit/s."""
    fast_seeds: int = 4
    short_s: tuple[int, ...] = (100, 500, 1000, 2000)
    """Durations of Table II."""
    course_s: float | None = 2000.0
    """Of runs in which A is followed (Fig. 11); None: as others."""
    single_s: float | None = None
    """Of runs that are held against one published run; None: as others."""
    several_s: float | None = None
    oracle_s: float = 300.0
    oracle_seeds: int = 6

    @property
    def network(self) -> Network:
        """Fig. 5 in this reading."""
        return Network(
            measured_access=self.measured_access,
            buffer=self.buffer,
            window=self.window,
            idle_s=self.idle_s,
            min_rto_s=self.min_rto_s,
            delayed_ack=self.delayed_ack,
            stack="ns2_later" if self.later_timers else "ns2",
        )

    @property
    def module(self) -> Parameters:
        """Parameters of the large time scale that are not its defaults."""
        ranges: Mapping[str, Parameters] = {
            "quantile": (),
            "running_range": (("quantiser", "running_range"),),
            "fixed_range": (("quantiser", "fixed_range"), ("peak", _PEAK)),
        }
        return (*ranges[self.quantiser], *((("block", self.block),) if self.block != "following" else ()))

    @property
    def tcp_rate(self) -> Parameters:
        """Parameters of TCP Rate that are not its defaults."""
        decrease = (("decrease", self.rate_b),) if self.rate_b != 2.0 else ()
        return (*decrease, *((("decrease_per", self.rate_per),) if self.rate_per != "round_trip" else ()))

    def threshold(self, theta: int) -> Parameters | None:
        """The threshold schedule with A = 6; 0: the plain control.

        Examples
        --------
        >>> dict(Setting().threshold(4))["threshold"], dict(Setting().threshold(8))["threshold"]
        (4.5, 8.0)
        """
        if theta == 0:
            return None
        highest = min(theta + 0.5, LEVELS) if self.rounded else float(theta)
        return (("schedule", "threshold"), ("threshold", float(highest)), ("aggressiveness", 6.0))


FIRST_GUESS = Setting()
"""The reading before the clients' idle time was varied: chosen for the shapes of Fig. 6, on seeds 1 to 6."""
RECONSTRUCTION = replace(FIRST_GUESS, buffer=12, idle_s=0.2, short_rtt_ms=200)
"""The setting that carries most: files of some 4 packets where the tail is light, and Table II at 200 ms."""
TABLE2_READINGS: Mapping[str, Mapping[str, Any]] = {
    "Reno at 30 ms": {"short_rtt_ms": 30},
    "Reno at 90 ms": {"short_rtt_ms": 90},
    "TCP Rate at 90 ms": {"short_control": "tcp_rate", "short_rtt_ms": 90},
}
"""Of Table II alone, whose control and RTT are not said."""
TABLE3_READINGS: Mapping[str, Mapping[str, Any]] = {
    "least timeout 1 s, 300 s": {"min_rto_s": 1.0, "duration_s": 300.0, "single_s": None, "several_s": None},
    "clients held at 5 Mbit/s": {"held": True, "duration_s": 600.0, "single_s": None, "several_s": None},
}
"""Of Table III alone: ns-2's least timeout from May 2001 on, and how the clients are 'held constant'."""

_PAPER: Mapping[str, Any] = {
    "duration_s": 2500.0,
    "seeds": 20,
    "rtts_ms": (30, 90, 200, 450),
    "tail_indices": (1.05, 1.35, 1.65, 1.95),
    "thresholds": tuple(range(1, 9)),
    "aggressiveness": tuple(range(2, 11)),
    "counts": tuple(range(2, 19, 2)),
    "idles_s": (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4),
    "fast_duration_s": 200.0,
    "fast_seeds": 20,
    "course_s": 10_000.0,
    "single_s": 10_000.0,
    "several_s": 3000.0,
    "oracle_s": 600.0,
    "oracle_seeds": 20,
}


def at(scale: Scale, setting: Setting = RECONSTRUCTION) -> Setting:
    """A reading at the size of a scale."""
    return replace(setting, **_PAPER) if scale == "paper" else setting


def joint_base(scale: Scale) -> Setting:
    """Sizes of the joint design: few short runs a setting, for there are many settings; seeds of its own."""
    smaller = replace(
        RECONSTRUCTION, drawn=False, seeds=4, first_seed=1001, aggressiveness=(6, 10), duration_s=300.0, course_s=None
    )
    return smaller if scale == "quick" else replace(smaller, seeds=12, duration_s=600.0)


_RTTS = (30, 90, 200)
OPEN = (
    Open(
        "window",
        "window limit, packets",
        "§5.1: not said; ns-2 always has one, by default 20",
        values=(16, 20, 24, 28, 32, 40, 48, None),
    ),
    Open(
        "buffer", "buffer, packets", "§5.1: 'for any assignment of buffer size'", low=6, high=64, log=True, whole=True
    ),
    Open("idle_s", "clients' idle time, s", "§5.1: 'sleeping for an exponential time'", low=0.05, high=8.0, log=True),
    Open("min_rto_s", "least timeout, s", "§5.1: ns-2, its version is not said", values=(0.2, 0.5, 1.0)),
    Open("delayed_ack", "delayed ACKs", "§5.1: not said; ns-2 has either", values=(False, True)),
    Open("later_timers", "timers of ns-2.35", "§5.1: ns-2, its version is not said", values=(False, True)),
    Open(
        "measured_access",
        "limited access link of the measured connection",
        "§5.1: 'we have modified ns'",
        values=(True, False),
    ),
    Open("everybodys_rtt", "the RTT is everybody's", "§5.3: how it is changed is not said", values=(False, True)),
    Open(
        "quantiser", "levels", "§2.2: only that they are monotone", values=("quantile", "running_range", "fixed_range")
    ),
    Open(
        "rounded",
        "predicted level as an integer",
        "§3.3: it indexes the schedule; §3.4: a real number",
        values=(True, False),
    ),
    Open("rate_b", "TCP Rate's b", "§3.6.3: '0 < a < b'", low=1.01, high=8.0, log=True),
    Open("rate_per", "TCP Rate's decrease by", "Table I prints no cwnd there", values=("round_trip", "ack")),
    Open("block", "metacontrol's block", "§3.5: 'classified into the same level'", values=("following", "classified")),
    Open("threshold_rtt_ms", "RTT of Figs 6 and 7, ms", "§5.2: not said", values=_RTTS),
    Open("tail_rtt_ms", "RTT of Fig. 10, ms", "§5.4: not said", values=_RTTS),
    Open("aggressiveness_rtt_ms", "RTT of Figs 11 and 12, ms", "§5.6: not said", values=_RTTS),
    Open("held", "clients held at their load in Table III", "§5.7: 'held constant at 5 Mbps'", values=(False, True)),
    Open("duration_s", "duration, s", "§5.1: 'a typical run'", values=(150.0, 300.0)),
)
