"""An application in a class as a scenario: the dumbbell, its buffer, the useful flows in two halves, the adverse ones.

The useful flows are two halves, ``a`` and ``b``, alike in all but the control. *Alone*, both use the control that is
looked at. *Beside* another (Reno, CUBIC), half ``b`` uses that. So the same network with the same random numbers says
what half ``b`` has from its neighbours: `parshall.results.quantities.harm`. Where the application is one pair of nodes,
the competing pair is added.

| symbol | in the scenario |
| --- | --- |
| C | `bottleneck.rate` |
| C_a | `access_rate`; each of N_s parallel streams has C_a/N_s |
| M | flows of ``a`` and ``b`` over N_s |

The buffer is 1 BDP for K of 10 and less, and BDP/sqrt(K) for more: small buffers are enough where many flows are
multiplexed (§4.3.2). This is a deviation: the source has "about sqrt(K) packets", 32 at K = 1000. Hosts lose nothing
and have tuned TCP buffers, or have an interface queue that loses what does not fit: `parshall_studies.benchmark.hosts`.
A run of files ends when all are complete; one of transfers that go on (WM, PP) lasts its time.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.3 to §4.6, §5.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from parshall.foundations.errors import InputError
from parshall.scenario import Scenario
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.external import declared
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall_studies.benchmark import adverse
from parshall_studies.benchmark.applications import PAUSE, Application, Mix, bulk_bytes
from parshall_studies.benchmark.classes import ItbClass
from parshall_studies.benchmark.factors import Factors, changed, non_standard
from parshall_studies.benchmark.hosts import HEADER_BYTES, control_of, host_keys, host_limits
from parshall_studies.benchmark.scale import Scale

Half = Literal["a", "b"]

TIMED = r"^[ab]\d+$"
"""Names of the groups whose files are timed: a half, and the number of a mix."""

EXCHANGED = r"^(back-)?[ab]\d+$"
"""The same, and those that reply."""

SAMPLES = 200
"""Of each sampled flow in a run."""

_DELAY = "10 us"
"""Of the bottleneck itself; the rest of the RTT is the flows' own."""


@dataclass(frozen=True)
class Case:
    """An application in a class, at a scale.

    Parameters
    ----------
    changes
        Of factors, as they were asked for.
    linux
        Whether hosts have the TCP of Linux, which is what an emulation is compared with; else the benchmark's own.
    """

    application: Application
    itb_class: ItbClass
    scale: Scale
    factors: Factors
    changes: tuple[str, ...] = ()
    linux: bool = False

    @property
    def name(self) -> str:
        """Such as ``BU-H``."""
        return f"{self.application.name}-{self.itb_class.name}"

    @property
    def odd(self) -> list[str]:
        """Factors that are not those of Table 5."""
        return non_standard(self.factors)

    @cached_property
    def source_count(self) -> int:
        """Useful sources of the forward way, alone."""
        return 1 if self.application.pair else self.factors.source_count

    @property
    def rounds(self) -> int:
        """Transfers of each flow that are timed."""
        return self.application.rounds(self.scale)

    @property
    def start_s(self) -> float:
        """All sources start within this time."""
        return min(1.0, self.scale.bulk_s / 10)

    @property
    def share_bps(self) -> float:
        """A source's fair share of the bottleneck, or its access rate."""
        contending = self.source_count if not self.application.pair else 1
        if self.application.contended:
            contending = self.factors.source_count
        return min(self.factors.access_bps, self.factors.capacity_bps / max(1, contending))

    @cached_property
    def ideal_s(self) -> float:
        """What the timed transfers of a source take at its fair share, without any loss."""
        rate, rtt_s = self.share_bps, self.factors.mean_rtt_s
        match self.application.name:
            case "WM" | "PP":
                size = self.scale.web_bytes if self.application.name == "WM" else self.scale.peer_bytes
                pause_s = PAUSE * 8 * size / self.factors.access_bps
                return self.rounds * (8 * size / rate + pause_s + 8 * rtt_s)  # slow start: some 8 RTTs
            case "PA":
                return 2 * self.scale.messages * (8 * self.message_bytes / rate + rtt_s / 2) + 8 * rtt_s
        return 8 * bulk_bytes(self.factors, self.scale) / rate + 8 * rtt_s

    @property
    def message_bytes(self) -> float:
        """A message of PA."""
        return self.scale.message_bytes[self.itb_class.aggregation]

    @property
    def duration_s(self) -> float:
        """How long a run lasts, at most."""
        return self.start_s + self.scale.patience * self.ideal_s

    def document(self, control: str, beside: str | None = None) -> dict[str, Any]:
        """The scenario as plain tables; `beside` is the control of half ``b``."""
        flows = self.flows(control, beside)
        odd = f"; not standard: {', '.join(self.odd)}" if self.odd else ""
        awaited = EXCHANGED if self.application.replies else TIMED
        timed = [group["name"] for group in flows if re.match(awaited, group["name"])]
        return {
            "name": "-".join(["itb", self.name, control, *([] if beside is None else ["beside", beside])]),
            "description": f"{self.application.title}, class {self.itb_class.name}: {self.itb_class.meaning}{odd}",
            "duration": f"{self.duration_s:.6f} s",
            **({} if self.application.periodic else {"ends_with": timed}),  # adverse traffic never ends
            "repetitions": self.scale.repetitions,
            "processing_time": "0 s",  # the published scores are of strictly periodic networks
            "bottleneck": self.bottleneck(),
            "probes": {
                "flow_samples": f"{self.duration_s / SAMPLES:.9f} s",
                "flows": max(1, 10 // len(flows)),
                "link_samples": False,
                "latency": False,
                "transfers": True,
            },
            "flows": flows,
        }

    def scenario(self, control: str, beside: str | None = None) -> Scenario:
        """What ``parshall run`` runs."""
        return Scenario.from_document(self.document(control, beside))

    def bottleneck(self) -> dict[str, Any]:
        """The one contended link."""
        share = 1.0 if self.factors.aggregation <= 10 else self.factors.aggregation**-0.5
        return {
            "rate": f"{round(self.factors.capacity_bps)} bit/s",
            "delay": _DELAY,
            "queue": {"name": "drop_tail", "limit": f"{share:.4f} BDP"},
        }

    def flows(self, control: str, beside: str | None) -> list[dict[str, Any]]:
        """Every group: half ``a``, half ``b``, useful traffic the other way, adverse traffic."""
        pair = self.application.pair
        halves: dict[Half, tuple[str, int]] = {"a": (control, 1 if pair else (self.source_count + 1) // 2)}
        if not pair or beside is not None:
            halves["b"] = (beside or control, 1 if pair else self.source_count // 2)
        groups = []
        for half, (own, count) in halves.items():
            groups += self._useful(half, count, own, "forward")
            if self.application.back:
                back = max(1, round(self.application.back * count)) if count else 0
                groups += self._useful(f"back-{half}", back, own, "reverse")
        others = 0
        if self.application.contended:
            others = max(0, self.factors.source_count - len(halves))
        return groups + adverse.groups(self.factors, others, self.start_s, linux=self.linux)

    def _useful(self, name: str, count: int, control: str, direction: str) -> list[dict[str, Any]]:
        mixes = self.application.mixes(self.factors, self.scale, self.itb_class.aggregation)
        parts = [count // len(mixes) + (index < count % len(mixes)) for index in range(len(mixes))]
        return [
            self._group(f"{name}{index}", part, mix, control, direction)
            for index, (part, mix) in enumerate(zip(parts, mixes, strict=True))
            if part > 0
        ]

    def _group(self, name: str, sources: int, mix: Mix, control: str, direction: str) -> dict[str, Any]:
        streams = self.factors.streams
        rtts = [f"{each:.9f} s" for each in self.application.rtts_s(self.factors, sources) for _ in range(streams)]
        return {
            "name": name,
            "count": sources * streams,
            "rtt": rtts[0] if len(set(rtts)) == 1 else {"list": rtts},
            "start": {"uniform": f"{self.start_s:g} s"},
            "access_rate": f"{max(1, round(self.factors.access_bps / streams))} bit/s",
            "direction": direction,
            "congestion_control": control_of(control, self.factors),
            "packet_size": f"{mix.packet_bytes} B",
            **host_keys(self.factors, linux=self.linux),
            **host_limits(self.factors, self.factors.mean_rtt_s, streams, mix.packet_bytes - HEADER_BYTES),
            "workload": mix.workload,
            **mix.keys,
        }


def case(application: Application, itb_class: ItbClass, scale: Scale, changes: Sequence[str] = ()) -> Case:
    """An application in a class; `changes` are factors, such as ``RTT=100 ms``.

    Raises
    ------
    InputError
        A factor is not accepted.
    """
    k = itb_class.aggregation
    factors = Factors(
        rtt_s=itb_class.rtt_s,
        access_bps=scale.access_bps[k],
        aggregation=scale.aggregation[k],
        congestion=itb_class.congestion,
        reverse=itb_class.reverse,
    )
    return Case(application, itb_class, scale, changed(factors, list(changes)), tuple(changes))


def controls(text: str) -> list[str]:
    """The congestion controls that a text names, in its order.

    Raises
    ------
    InputError
        There is none of a name.

    Examples
    --------
    >>> controls("reno, cubic")
    ['reno', 'cubic']
    """
    known = [entry.name for entry in family("congestion_controls")]
    parts = (part.strip() for part in text.split(","))
    names = list(dict.fromkeys(part if declared(part) else part.lower() for part in parts))
    for name in names:
        if name not in known and not declared(name):
            raise InputError(f'--cc: found "{name}"; accepted: {quoted(known)}{did_you_mean(name, known)}')
    return names
