"""Figs 5 to 7 and the calibration by TU on real stacks: what the RTT does to flows of Linux whose hosts can lose.

Rates and queues are `SLOWER` times smaller than the source's; RTTs and times are its own. So windows are as many times
smaller: what a control does per packet (Reno's climb takes W/2 round trips) is over as many times sooner, and the
ranges of the RTT move to longer ones. The simulator runs both networks with ``tcp = "linux"``: their difference is what
the scaling does. Goodputs are given as of the source's network.

| hosts | here | in the source's network |
| --- | --- | --- |
| access, interface queue | 20 Mbit/s, 20 packets | 1 Gbit/s, 1000 packets |
| bottleneck, its queue | 200 Mbit/s, 40 packets | 10 Gbit/s, 2000 packets |
| window | no limit | no limit |

One flow alone is TU, which the source calibrates with: what a host gets that shares nothing. Points that do not fill
this machine are emulated at once, each with a bottleneck of its own. CUBIC is today's; BIC, HighSpeed, H-TCP and
Scalable are loaded into the kernel, where that is permitted.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.fairness import jain
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.itb import rtts
from parshall_studies.itb.network import ACCESS_BPS, BUFFER, CAPACITY_BPS, INTERFACE, VARIANTS, Recorded, recorded
from parshall_studies.itb.rtts import COUNTS, FLOWS, STEPS_MS, Point

SLOWER = 50
RTTS_MS = (20.0, 100.0, 200.0)
"""The ends of the source's ranges, and a long one."""
FLOW_S: Mapping[Scale, float] = {"quick": 12.0, "paper": 120.0}
STEP_S: Mapping[Scale, float] = {"quick": 1.6, "paper": 20.0}
RUNS = 3
"""Simulated runs with random numbers of their own."""
TU = 1
AT_ONCE, JOINING_AT_ONCE = 2, 3
"""Controls that are emulated at once: 640 and 600 Mbit/s."""
WITHIN = 0.05
"""Of a goodput: what difference does not matter."""
READING = f"{kernel_name()}, {SLOWER} times less rate"


def control(variant: str) -> str:
    """Its name in the kernel; CUBIC of 2005 is none that it has."""
    return "cubic" if variant == "cubic_2005" else variant


def possible() -> list[str]:
    """The variants that this kernel can have."""
    return [each for each in VARIANTS if stacks.missing(control(each)) is None]


@dataclass(frozen=True)
class Place:
    """Some flows of a control, at a bottleneck of their own."""

    variant: str
    count: int

    @property
    def name(self) -> str:
        """Of its link, and of its flows."""
        return f"{self.variant}-{self.count}"

    def link(self, slower: float) -> dict[str, Any]:
        """Its bottleneck."""
        queue = {"name": "drop_tail", "limit": f"{round(BUFFER / slower)} packets"}
        return {"name": self.name, "rate": f"{round(CAPACITY_BPS / slower)} bit/s", "delay": "10 us", "queue": queue}

    def flows(self, slower: float, rtt_ms: float, start: Mapping[str, str]) -> dict[str, Any]:
        """Its flows, by hosts whose interface loses what it does not hold."""
        return {
            "name": self.name,
            "count": self.count,
            "path": [self.name],
            "rtt": f"{rtt_ms:g} ms",
            "start": dict(start),
            "congestion_control": control(self.variant),
            "access_rate": f"{round(ACCESS_BPS / slower)} bit/s",
            "access_queue": f"{round(INTERFACE / slower)} packets",
            "kernel": {"sysctls": AMPLE_BUFFERS},
            **stacks.PROFILE,
        }


def lasting(places: Sequence[Place], rtt_ms: float, slower: float, scale: Scale, runs: int = 1) -> Scenario:
    """Figs 5 and 6: flows that send for the whole time."""
    return _scenario(places, rtt_ms, slower, FLOW_S[scale], {"uniform": "1 s"}, runs=runs)


def joining(places: Sequence[Place], rtt_ms: float, slower: float, scale: Scale, runs: int = 1) -> Scenario:
    """Fig. 7: one flow more each step."""
    step_s = STEP_S[scale]
    start = {"staggered": f"{step_s:g} s"}
    return _scenario(places, rtt_ms, slower, FLOWS * step_s, start, runs=runs, bins_s=step_s / 20)


def _scenario(
    places: Sequence[Place],
    rtt_ms: float,
    slower: float,
    seconds: float,
    start: Mapping[str, str],
    *,
    runs: int,
    bins_s: float | None = None,
) -> Scenario:
    return Scenario.from_document(
        {
            "duration": f"{seconds:g} s",
            "repetitions": runs,
            "processing_time": "1 packet",
            "links": [each.link(slower) for each in places],
            "flows": [each.flows(slower, rtt_ms, start) for each in places],
            "probes": {
                "flow_samples": False,
                "transfers": False,
                "link_samples": f"{bins_s:g} s" if bins_s else False,
            },
        }
    )


def points(run: Run, slower: float) -> dict[str, list[Point]]:
    """Of each place, one value a run; goodputs as of the source's network."""
    by_place: dict[str, list[Point]] = {}
    for (name, _), rows in run.flows.sort("repetition").group_by(["group", "repetition"], maintain_order=True):
        goodput = rows["goodput_bps"].to_numpy()
        by_place.setdefault(str(name), []).append(Point(float(goodput.mean()) * slower, jain(goodput) or 0.0))
    return by_place


def stairs(run: Run, step_s: float, slower: float) -> dict[str, list[float]]:
    """Of each place, the use of its link, mean over the steps, one value a run."""
    kept = recorded(run)
    assert kept.link_samples is not None  # noqa: S101 - the probe is on
    by_place: dict[str, list[float]] = {}
    for (_,), rows in kept.link_samples.group_by(["repetition"], maintain_order=True):
        one = Recorded(kept.duration_s, kept.flows, None, None, rows)
        for name in rows["link"].unique(maintain_order=True):
            by_place.setdefault(name, []).append(float(rtts.use_of_steps(one, step_s, name, slower).mean()))
    return by_place


def cases(scale: Scale) -> dict[Any, Case]:
    """Both networks simulated, and Linux; controls side by side as they are emulated."""
    declared: dict[Any, Case] = {}
    variants = possible()
    for rtt_ms in RTTS_MS:
        for some in _batches(variants, AT_ONCE):
            places = [Place(each, count) for each in some for count in (TU, *COUNTS)]
            label = f"figs 5 and 6, {', '.join(some)}, {rtt_ms:g} ms"
            key = "lasting", rtt_ms, some
            simulations = {1: lasting(places, rtt_ms, 1, scale), SLOWER: lasting(places, rtt_ms, SLOWER, scale, RUNS)}
            for slower, scenario in simulations.items():
                declared[*key, slower] = simulated(f"{label}, simulated", scenario, points, slower)
            declared[*key, "linux"] = emulated(f"{label}, Linux", simulations[SLOWER].with_values(_ONE), points, SLOWER)
    for rtt_ms in STEPS_MS:
        for some in _batches(variants, JOINING_AT_ONCE):
            places = [Place(each, FLOWS) for each in some]
            label = f"fig. 7, {', '.join(some)}, {rtt_ms:g} ms"
            key = "joining", rtt_ms, some
            simulations = {1: joining(places, rtt_ms, 1, scale), SLOWER: joining(places, rtt_ms, SLOWER, scale, RUNS)}
            more = STEP_S[scale]
            for slower, scenario in simulations.items():
                declared[*key, slower] = simulated(f"{label}, simulated", scenario, stairs, more, slower)
            real = simulations[SLOWER].with_values(_ONE)
            declared[*key, "linux"] = emulated(f"{label}, Linux", real, stairs, more, SLOWER)
    return declared


_ONE = {"repetitions": 1}


def _batches(variants: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(variants[first : first + size]) for first in range(0, len(variants), size)]


@dataclass(frozen=True)
class Column:
    """What one instrument has: values of each run by (variant, count, RTT), and of Fig. 7 by (variant, RTT)."""

    points: Mapping[tuple[str, int, float], Sequence[Point]]
    stairs: Mapping[tuple[str, float], Sequence[float]]

    @classmethod
    def of(cls, answers: Mapping[Any, Any], where: Any) -> Column:
        """Of the network that is so many times slower, or ``linux``."""
        made: dict[tuple[str, int, float], Sequence[Point]] = {}
        steps: dict[tuple[str, float], Sequence[float]] = {}
        for (kind, rtt_ms, some, here), answer in answers.items():
            if here != where:
                continue
            values = answer.answer if isinstance(answer, Emulated) else answer
            for variant in some:
                if kind == "joining":
                    steps[variant, rtt_ms] = values[Place(variant, FLOWS).name]
                else:
                    for count in (TU, *COUNTS):
                        made[variant, count, rtt_ms] = values[Place(variant, count).name]
        return cls(made, steps)

    @property
    def one(self) -> tuple[dict[tuple[str, int, float], Point], dict[tuple[str, float], np.ndarray[Any, Any]]]:
        """Of the first run, as the claims of `rtts` take it."""
        return (
            {key: each[0] for key, each in self.points.items()},
            {key: np.array([each[0]]) for key, each in self.stairs.items()},
        )


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """Published claims, both simulated networks and Linux."""
    runs = {(key[0], key[1], key[2]): each for key, each in answers.items() if isinstance(each, Emulated)}
    columns = {where: Column.of(answers, where) for where in (1, SLOWER, "linux")}
    remarks = stacks.remarks(
        (f"{'Fig. 7' if kind == 'joining' else 'Figs 5 and 6'}, {', '.join(some)}, {rtt_ms:g} ms", linux)
        for (kind, rtt_ms, some), linux in runs.items()
    )
    left_out = [each for each in VARIANTS if each not in possible()]
    if left_out:
        remarks.append(
            f"Some variants are left out, since {stacks.missing(*map(control, left_out))}; claims over all variants "
            "are then of those that are there."
        )
    checks: list[Claim] = []
    if all(map(stacks.usable, runs.values())) and not left_out:
        checks += _claims(columns)
    for (kind, rtt_ms, some), linux in runs.items():
        if stacks.usable(linux):
            checks += _between(kind, rtt_ms, some, columns, linux)
    text = (
        f"Flows of {FLOW_S[scale]:g} s, and one more each {STEP_S[scale]:g} s for Fig. 7. Hosts of Linux have "
        f"{ACCESS_BPS / SLOWER / 1e6:g} Mbit/s and an interface queue of {INTERFACE // SLOWER} packets, the bottleneck "
        f"{CAPACITY_BPS / SLOWER / 1e6:g} Mbit/s: {SLOWER} times less than the source's; RTTs are its own. Windows are "
        "as many times smaller, which moves what a control needs time for to longer RTTs: the two simulated columns "
        "show by how much. One flow alone is TU, the calibration.",
        f"Goodputs are as of the source's network; the published figures have no numbers. Each emulation has its own "
        f"verdict, the worst is: {stacks.worst(runs.values())}.",
        *remarks,
    )
    headers = (
        "simulated, the source's rates",
        f"simulated, {SLOWER} times less",
        stacks.column(*runs.values()),
    )
    tables = [_goodputs(columns, headers), _uses(columns, headers)]
    drawn = Chart("fig5-linux", "Figs 5 and 6 on real stacks", _plot(columns))
    return Findings(checks, [Section("Figs 5 to 7 and TU on real stacks", text, tables, [drawn])])


def _claims(columns: Mapping[Any, Column]) -> list[Claim]:
    """What the source says, of Linux; beside the simulator in the same network."""
    made = []
    for where in ("linux", SLOWER):
        goodputs, steps = columns[where].one
        made.append([*rtts.over_rtt(goodputs, RTTS_MS, READING), *rtts.joined(steps, READING)])
    return stacks.by_one_instrument(*made)


def _between(
    kind: str, rtt_ms: float, some: Sequence[str], columns: Mapping[Any, Column], linux: Emulated
) -> list[Claim]:
    checks = []
    for variant in some:
        if kind == "joining":
            seen, values = columns["linux"].stairs[variant, rtt_ms][0], columns[SLOWER].stairs[variant, rtt_ms]
            quantity = f"{control(variant)}, {rtt_ms:g} ms: use of the link on Linux"
            checks.append(stacks.beside_simulated("fig7-linux", quantity, linux, seen, values, least=WITHIN))
            continue
        for count in (TU, *COUNTS):
            (own,) = columns["linux"].points[variant, count, rtt_ms]
            runs = [each.flow_goodput_bps / 1e6 for each in columns[SLOWER].points[variant, count, rtt_ms]]
            quantity = f"{control(variant)}, {_flows(count)}, {rtt_ms:g} ms: goodput on Linux, Mbit/s"
            seen = own.flow_goodput_bps / 1e6
            checks.append(stacks.beside_simulated("fig5-linux", quantity, linux, seen, runs, share=WITHIN))
    return checks


def _flows(count: int) -> str:
    return "TU" if count == TU else f"{count} flows"


def _goodputs(columns: Mapping[Any, Column], headers: Sequence[str]) -> Table:
    rows = []
    for variant, count, rtt_ms in columns["linux"].points:
        cells = []
        for where in (1, SLOWER, "linux"):
            values = columns[where].points[variant, count, rtt_ms]
            goodput, index = (
                float(np.mean([getattr(each, name) for each in values])) for name in ("flow_goodput_bps", "jain")
            )
            cells.append(f"{goodput / 1e6:.0f}" + ("" if count == TU else f" ({index:.3f})"))
        rows.append((control(variant), _flows(count), f"{rtt_ms:g}", *cells))
    header = ("control", "flows", "RTT (ms)", *headers)
    return Table("Figs 5 and 6: mean goodput in Mbit/s (Jain's index)", header, rows, numbers=range(2, 6))


def _uses(columns: Mapping[Any, Column], headers: Sequence[str]) -> Table:
    rows = [
        (
            control(variant),
            f"{rtt_ms:g}",
            *(f"{np.mean(columns[where].stairs[variant, rtt_ms]):.3f}" for where in (1, SLOWER, "linux")),
        )
        for variant, rtt_ms in columns["linux"].stairs
    ]
    header = ("control", "RTT (ms)", *headers)
    return Table("Fig. 7: use of the link, mean over the twelve steps", header, rows, numbers=range(1, 5))


def _plot(columns: Mapping[Any, Column]) -> Plot:
    """Goodput and Jain's index over the RTT; 5 flows on the left, 12 on the right."""
    panels = []
    variants = list(dict.fromkeys(variant for variant, _, _ in columns["linux"].points))
    for name, factor, y in (
        ("flow_goodput_bps", 1e-6, Axis("mean goodput", "Mbit/s", minimum=0, maximum=1000)),
        ("jain", 1.0, Axis("Jain's index", minimum=0, maximum=1)),
    ):
        for count in COUNTS:
            marks: list[Line | Points] = []
            for series, variant in enumerate(variants):
                slower, linux = (
                    [
                        factor
                        * float(np.mean([getattr(each, name) for each in columns[w].points[variant, count, rtt]]))
                        for rtt in RTTS_MS
                    ]
                    for w in (SLOWER, "linux")
                )
                marks.append(Line(RTTS_MS, slower, "", Style(series, thin=True)))
                marks.append(Points(RTTS_MS, linux, control(variant), Style(series)))
            x = Axis("RTT", "ms", minimum=0, maximum=210)
            panels.append(Panel(marks, x, y, f"{count} flows", height=1.3))
    return Plot(panels, "Points: Linux; lines: simulated in the same network.", columns=len(COUNTS))


PART = Part("Figs 5 to 7 on real stacks", cases, findings, emulates=True)
