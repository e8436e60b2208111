"""What the source leaves open, and the values that are tried: each moves one thing away from the base reading.

| parameter | base | reason to doubt |
| --- | --- | --- |
| window limit | 32 packets | not said; ns-2's default is 20 |
| buffer | 16 packets | not said |
| access link | 10 Mbit/s, as all links | ns-2 was modified (§5.1); how is not said |
| timers | ns-2's before May 2001 | the version is not said |
| RTT | the measured connection's | how it was changed is not said |
| quantiser | ranks | only that it is monotone (§2.2) |
| threshold | compared with the predicted level as an integer | §3.3: it indexes the schedule; §3.4: a real number |
| TCP Rate's decrease | by the round trip | Table I prints no cwnd |
| metacontrol's block | the one that follows a level | "classified into the same level" (§3.5) |
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from parshall_studies.multiple_time_scale.grid import Point
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, SOURCE, Network

Parameters = tuple[tuple[str, Any], ...]
LEVELS = 8
"""h."""


def always(slope: float) -> Parameters:
    """A schedule whose slope is the same whatever is predicted."""
    return (("schedule", "threshold"), ("threshold", float(LEVELS)), ("aggressiveness", slope))


MEAN_SLOPE = 3.5
"""Of the inverse linear schedule with A = 6, (A + a)/2."""
BLIND = always(MEAN_SLOPE)


@dataclass(frozen=True)
class Reading:
    """A reading of the source: the value of a parameter that it does not state."""

    parameter: str
    value: str
    network: Network = SOURCE
    module: Parameters = ()
    """Parameters of the large time scale."""
    tcp_rate: Parameters = ()
    """Parameters of TCP Rate."""
    everybodys_rtt: bool = False
    """Whether the clients have the RTT of the measured connection."""
    rounded: bool = True
    """Whether the threshold is compared with the predicted level rounded to an integer."""
    lasts_s: float | None = None
    """Duration of its runs, which the reading is not; None: that of the scale."""

    @property
    def name(self) -> str:
        """As checks have it; empty for the base reading."""
        return f"{self.parameter}: {self.value}" if self.parameter else ""

    def point(
        self,
        control: str,
        parameters: Parameters | None = None,
        *,
        load_mbps: float = 5.0,
        rtt_ms: int = BASE_RTT_MS,
        tail_index: float = 1.05,
        **other: Any,
    ) -> Point:
        """A measured connection in this reading; `other` are more fields of `Point`."""
        network = replace(self.network, clients_rtt_ms=rtt_ms) if self.everybodys_rtt else self.network
        return Point(
            tail_index,
            load_mbps,
            rtt_ms,
            control,
            None if parameters is None else (*parameters, *self.module),
            network=network,
            normalised_s=self.lasts_s,
            wrapped=self.tcp_rate if control == "tcp_rate" else (),
            **other,
        )

    def threshold(self, theta: int) -> Parameters | None:
        """The threshold schedule with A = 6; 0: the plain control.

        Examples
        --------
        >>> dict(BASE.threshold(4))["threshold"], dict(BASE.threshold(8))["threshold"], BASE.threshold(0)
        (4.5, 8.0, None)
        """
        if theta == 0:
            return None
        highest = min(theta + 0.5, LEVELS) if self.rounded else float(theta)
        return (("schedule", "threshold"), ("threshold", float(highest)), ("aggressiveness", 6.0))


BASE = Reading("", "")


def _network(parameter: str, value: str, **fields: Any) -> Reading:
    return Reading(parameter, value, replace(SOURCE, **fields))


READINGS = (
    *(_network("window limit", f"{each} packets", window=each) for each in (20, 24, 48)),
    _network("window limit", "none", window=None),
    *(_network("buffer", f"{each} packets", buffer=each) for each in (8, 12, 20, 32, 64)),
    _network("access link", "the measured connection's is unlimited", measured_access=False),
    _network("timers", "ns-2.35's", stack="ns2_later"),
    Reading("RTT", "everybody's", everybodys_rtt=True),
    Reading("quantiser", "between the extremes so far", module=(("quantiser", "running_range"),)),
    Reading("quantiser", "equal parts of 5 Mbit/s", module=(("quantiser", "fixed_range"), ("peak", 625.0))),
    Reading("threshold", "compared with the predicted mean itself", rounded=False),
    Reading("TCP Rate's decrease", "by the ACK", tcp_rate=(("decrease_per", "ack"),)),
    Reading("metacontrol's block", "classified into the level", module=(("block", "classified"),)),
)
"""One a value that is tried."""
