"""The applications of the benchmark: which files, packets, RTTs and directions each mixes.

| application | files | packets | forward and back | RTTs around the class's |
| --- | --- | --- | --- | --- |
| TU | one large file, one source | full | forward only | one |
| WM | exponential | exponential | 0.8 | exponential |
| PP | heavy-tailed (Pareto, tail index 1.5) | full | 0.5 | Poisson |
| BU | one large file a source | full | forward only | three modes |
| PA | ping-pong of 200 messages of 1 MB, one pair of nodes | full | as much | one |

Deviations from the source, which leaves sizes and times open:

- Packet sizes belong to a group of flows, so WM has three groups of a third of the sources each, whose packet sizes
  are the means of the thirds of an exponential distribution (600 B) cut off at 1500 B.
- RTTs are quantiles of the distribution, one a flow, and not draws: every half of the sources has the same RTTs.
- The ratio of forward to reverse traffic is taken as the smaller of both directions over the larger, the larger being
  forward: then C_g of a class is the load of the busier direction. Read literally, PP would load the way back of the
  class "low loaded" to 1.6 times its capacity.
- PA is the ping-pong of `parshall_studies.benchmark.ping_pong`. Its ratio of 0.5 is read as the forward share of both
directions: a
  ping-pong sends as much back.
- TU and PA have one pair of nodes. In PA, the other M - 1 sources of the class send without end; TU has the path to
  itself.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.1, §4.5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy

from parshall.foundations.errors import InputError
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall_studies.benchmark import ping_pong
from parshall_studies.benchmark.factors import MIX_S, Factors
from parshall_studies.benchmark.scale import Scale

TAIL_INDEX = 1.5
MODES = (0.75, 1.0, 1.25)
"""RTTs of three sites' pairs over the class's RTT."""

_LEAST_RTT = 0.05
"""Of the class's RTT: shorter ones are cut off."""

PAUSE = 0.25
"""Idle time between transfers of WM and PP, over what a transfer takes at C_a."""


@dataclass(frozen=True)
class Mix:
    """What sources of one kind do.

    Parameters
    ----------
    workload
        As in a scenario.
    packet_bytes
        A full packet on the wire.
    keys
        Other keys of the group, as in a scenario.
    """

    workload: dict[str, Any]
    packet_bytes: int = 1500
    keys: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Application:
    """An application of the benchmark.

    Parameters
    ----------
    name, title
        Its two letters, and what they stand for.
    mixes
        What its sources do, each mix for an equal part of them.
    rtts_s
        RTTs of so many sources.
    back
        Useful traffic the other way, in sources over those of the forward way.
    pair
        Whether it is one pair of nodes.
    contended
        Whether the other sources of the class send while the pair does.
    rounds
        How many transfers of each source are timed.
    """

    name: str
    title: str
    mixes: Callable[[Factors, Scale, float], list[Mix]]
    rtts_s: Callable[[Factors, int], list[float]]
    back: float = 0.0
    pair: bool = False
    contended: bool = False
    rounds: Callable[[Scale], int] = lambda _: 1

    @property
    def replies(self) -> bool:
        """Whether each message waits for its reply, so that a file is an exchange of both directions."""
        return self.name == "PA"

    @property
    def periodic(self) -> bool:
        """Whether its sources go on with other transfers."""
        return self.name in ("WM", "PP")

    @property
    def idles(self) -> bool:
        """Whether its sources are silent in between, so that a goodput over time says little."""
        return self.periodic or self.replies


def find(names: str) -> list[Application]:
    """The applications that a text names, such as ``BU,WM``.

    Raises
    ------
    InputError
        There is none of a name.

    Examples
    --------
    >>> [each.name for each in find("bu,WM")]
    ['WM', 'BU']
    """
    known = {each.name: each for each in APPLICATIONS}
    wanted = [name.strip().upper() for name in names.split(",")]
    for name in wanted:
        if name not in known:
            titles = {each.title.upper(): each.name for each in APPLICATIONS}
            hint = did_you_mean(name, [*known, *titles])
            raise InputError(f'--app: found "{name}"; accepted: {quoted(known)}{hint}')
    return [each for each in APPLICATIONS if each.name in wanted]


def one_rtt(factors: Factors, count: int) -> list[float]:
    """The class's RTT for all, or the mix."""
    if factors.rtt_s is None:
        return [MIX_S[number % len(MIX_S)] for number in range(count)]
    return [factors.rtt_s] * count


def exponential_rtts(factors: Factors, count: int) -> list[float]:
    """Quantiles of an exponential distribution with the class's RTT as mean."""
    return _quantiles(factors, count, lambda u: -np.log1p(-u))


def poisson_rtts(factors: Factors, count: int) -> list[float]:
    """Quantiles of a Poisson distribution whose mean, 10, stands for the class's RTT."""
    below = scipy.special.pdtr(np.arange(100), 10)
    return _quantiles(factors, count, lambda u: np.searchsorted(below, u) / 10)


def modal_rtts(factors: Factors, count: int) -> list[float]:
    """One of three modes, in turn."""
    if factors.rtt_s is None:
        return one_rtt(factors, count)
    return [factors.rtt_s * MODES[number % len(MODES)] for number in range(count)]


def packet_thirds(mean_bytes: float = 600.0, largest: int = 1500, smallest: int = 100) -> list[int]:
    """Means of the thirds of an exponential distribution of packet sizes, cut off at both ends, bytes.

    >>> packet_thirds()
    [137, 427, 1111]
    """
    u = (np.arange(30_000) + 0.5) / 30_000
    sizes = np.clip(-mean_bytes * np.log1p(-u), smallest, largest)
    return [round(float(third.mean())) for third in np.split(sizes, 3)]


def _quantiles(factors: Factors, count: int, quantile: Callable[[Any], Any]) -> list[float]:
    if factors.rtt_s is None:
        return one_rtt(factors, count)
    u = (np.arange(count) + 0.5) / count
    return [factors.rtt_s * max(_LEAST_RTT, float(each)) for each in quantile(u)]


def bulk_bytes(factors: Factors, scale: Scale) -> float:
    """A bulk file, bytes."""
    return scale.bulk_s * factors.access_bps / 8


def _transfer(size_bytes: float, factors: Factors) -> dict[str, Any]:
    return {"name": "transfer", "sizes": f"{math.ceil(size_bytes / factors.streams)} B"}


def _bulk(factors: Factors, scale: Scale, _k: float) -> list[Mix]:
    return [Mix(_transfer(bulk_bytes(factors, scale), factors))]


def _on_off(size_bytes: float, distribution: dict[str, Any], factors: Factors) -> dict[str, Any]:
    mean = f"{max(1, round(size_bytes / factors.streams))} B"
    pause_s = PAUSE * 8 * size_bytes / factors.access_bps
    return {
        "name": "on_off",
        "size": {**distribution, "mean": mean},
        "off": {"name": "exponential", "mean": f"{pause_s:.9f} s"},
    }


def _web(factors: Factors, scale: Scale, _k: float) -> list[Mix]:
    workload = _on_off(scale.web_bytes, {"name": "exponential"}, factors)
    return [Mix(workload, packet_bytes) for packet_bytes in packet_thirds()]


def _peers(factors: Factors, scale: Scale, _k: float) -> list[Mix]:
    return [Mix(_on_off(scale.peer_bytes, {"name": "pareto", "tail_index": TAIL_INDEX}, factors))]


def _messages(factors: Factors, scale: Scale, k: float) -> list[Mix]:
    message = math.ceil(scale.message_bytes[k] / factors.streams)
    keys = ping_pong.direction(scale.messages, message, factors.access_bps / factors.streams)
    return [Mix(keys.pop("workload"), keys=keys)]


def _rounds(scale: Scale) -> int:
    return scale.rounds


APPLICATIONS: tuple[Application, ...] = (
    Application("TU", "Tuning", _bulk, one_rtt, pair=True),
    Application("WM", "Web surfing", _web, exponential_rtts, back=0.8, rounds=_rounds),
    Application("PP", "Peer to peer", _peers, poisson_rtts, back=0.5, rounds=_rounds),
    Application("BU", "Bulk data transfer", _bulk, modal_rtts),
    Application("PA", "Distributed parallel", _messages, one_rtt, back=1.0, pair=True, contended=True),
)
"""The one list of applications."""
