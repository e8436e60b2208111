"""Figs 5, 6, 7: what the RTT does to throughput and fairness, and flows that join one after the other.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Figs 5, 6 | to 20 ms all variants are alike and excellent | lowest over highest, mean over fair share, Jain's index |
| Figs 5, 6 | from 20 to 100 ms they begin to differ | sign of the change of highest minus lowest |
| Figs 5, 6 | above 100 ms performance degrades | sign of the change from 100 to 200 ms, over variants |
| Fig. 7 | the steps get less steep with the RTT | sign of the change of the use of the link, over variants |
| Fig. 7 | most so for Reno and CUBIC, which do not fill the link | how many of the other four use it better |

The hosts are `kernel_hosts`: their interface queues 1000 packets and loses the rest, which is the one loss that 5 flows
of 1 Gbit/s can have at 10 Gbit/s. The length of a flow of Figs 5 and 6 is not in the source. The *use* of a step is
what the bottleneck forwards while k flows are there over the most that they can send, k Gbit/s or 10 Gbit/s.

Five flows that are alike and share nothing have a Jain's index of 1 whatever they run: that theirs is excellent to 20
ms is a value without a reference here, as no run of ours could contradict it.

The source shows one run. Ours is one run too; intervals are those of the mean over the six variants.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.5.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.itb.network import (
    ACCESS_BPS,
    CAPACITY_BPS,
    HIGH_MS,
    LOW_MS,
    PAPER,
    PAYLOAD_SHARE,
    VARIANTS,
    Recorded,
    Size,
    kernel_hosts,
)

COUNTS = (5, 12)
STEPS_MS = (11.0, 100.0)
FLOWS = 12
_SLOW = ("reno", "cubic_2005")
_ALIKE = "hosts that are alike and share nothing have it whatever they run"

READING = "interface queue of 1000 packets"


@dataclass(frozen=True)
class Point:
    """Mean goodput, bit/s, and Jain's index."""

    flow_goodput_bps: float
    jain: float


Points = Mapping[tuple[str, int, float], Point]
"""By control, number of flows and RTT in ms."""

Stairs = Mapping[tuple[str, float], NDArray[np.float64]]
"""Use of each step, by control and RTT in ms."""


def scenarios(size: Size) -> dict[tuple[Any, ...], Scenario]:
    """The runs of Figs 5 and 6, by control, flows and RTT; those of Fig. 7, by control and RTT."""
    points = [(name, count, rtt) for name in VARIANTS for count in COUNTS for rtt in size.rtts_ms]
    lasting: dict[tuple[Any, ...], Scenario] = {
        (name, count, rtt): kernel_hosts(name, count, rtt, duration_s=size.flow_s, start={"uniform": "1 s"})
        for name, count, rtt in points
    }
    return lasting | {(name, rtt): joining(name, rtt, size.step(rtt)) for name in VARIANTS for rtt in STEPS_MS}


def findings(runs: Mapping[tuple[Any, ...], Recorded], size: Size) -> Findings:
    """The three figures."""
    points = {(key[0], key[1], key[2]): _point(run) for key, run in runs.items() if len(key) == 3}
    stepwise = {(key[0], key[1]): run for key, run in runs.items() if len(key) == 2}
    stairs = {key: use_of_steps(run, size.step(key[1])) for key, run in stepwise.items()}
    text = (
        f"Flows of {size.flow_s:g} s (Figs 5 and 6); one flow more each {_steps(size)} (Fig. 7). Hosts send "
        "without a limit to their window; their interface queues 1000 packets and loses what does not fit.",
        "Five flows share nothing: each has its own gigabit of the ten. Our hosts are alike, so their flows are alike, "
        "and Jain's index is 1 at every RTT. In the source it falls with five flows, too; what made its hosts differ "
        "is not simulated. With twelve flows the bottleneck loses packets as well, and which flows it hits decides the "
        "index at short RTTs.",
    )
    figures = [_over_rtt(points, size, "fig5"), _over_rtt(points, size, "fig6"), _joined(stepwise, size)]
    section = Section("Figs 5, 6, 7: the RTT", text, [_table(points, size), _steps_table(stairs)], figures)
    return Findings([*over_rtt(points, size.rtts_ms, READING), *joined(stairs, READING)], [section])


def over_rtt(points: Points, rtts_ms: Sequence[float], reading: str) -> list[Claim]:
    """What the source says of Figs 5 and 6, in a reading of the hosts; the largest of the RTTs is the last one."""
    return [*_fig5(points, rtts_ms, reading), *_fig6(points, rtts_ms, reading)]


def joining(control: str, rtt_ms: float, step_s: float) -> Scenario:
    """Fig. 7: one flow more every `step_s`, until there are twelve."""
    start = {"staggered": f"{step_s:g} s"}
    return kernel_hosts(control, FLOWS, rtt_ms, duration_s=FLOWS * step_s, start=start, bins_s=step_s / 20)


def use_of_steps(run: Recorded, step_s: float, link: str = "bottleneck", slower: float = 1) -> NDArray[np.float64]:
    """What a link forwards in each step, over the most that its flows can send, shape (12,).

    `slower` is by how much its rates are lower than the source's.
    """
    time_s, bits, _ = _forwarded(run, link)
    step = np.minimum((time_s / step_s).astype(int), FLOWS - 1)
    most = np.minimum(np.arange(1, FLOWS + 1) * ACCESS_BPS, CAPACITY_BPS) * step_s / slower
    use: NDArray[np.float64] = np.bincount(step, weights=bits, minlength=FLOWS) / most
    return use


def _forwarded(
    run: Recorded, link: str = "bottleneck"
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Middle of each bin of a link, s, what it forwards there, bits, and its width, s."""
    assert run.link_samples is not None, "the probe is on"  # noqa: S101
    rows = run.link_samples.filter(run.link_samples["link"] == link).sort("time_s")
    width = rows["bin_s"].to_numpy()
    return rows["time_s"].to_numpy() + width / 2, 8.0 * rows["forwarded_bytes"].to_numpy(), width


def _point(run: Recorded) -> Point:
    goodput = run.flows["goodput_bps"].to_numpy()
    return Point(float(goodput.mean()), jain(goodput) or 0.0)


def fair_bps(count: int) -> float:
    """The goodput of each of so many flows that share the bottleneck, bit/s."""
    return min(ACCESS_BPS, CAPACITY_BPS / count) * PAYLOAD_SHARE


def _values(points: Points, attribute: str, count: int, rtt_ms: float) -> NDArray[np.float64]:
    """One value a variant: goodput over the fair share, or Jain's index."""
    values = np.array([getattr(points[name, count, rtt_ms], attribute) for name in VARIANTS])
    return values / fair_bps(count) if attribute == "flow_goodput_bps" else values


def _ranges(points: Points, rtts_ms: Sequence[float], reading: str, artefact: str, count: int) -> list[Claim]:
    """Differences from 20 ms on, and the fall above 100 ms."""
    attribute, what = (
        ("flow_goodput_bps", "goodput over the fair share") if artefact == "fig5" else ("jain", "Jain's index")
    )
    longest = rtts_ms[-1]
    low, high, long = (_values(points, attribute, count, rtt) for rtt in (LOW_MS, HIGH_MS, longest))
    spread = single(float(np.ptp(high) - np.ptp(low)))
    where = f"{count} flows"
    return [
        sign(
            artefact, f"{what}, highest less lowest variant, from {LOW_MS:g} to {HIGH_MS:g} ms, {where}", 1, spread,
            negligible=PAPER.within("plot"), reading=reading
        ),
        sign(
            artefact, f"{what}, change from {HIGH_MS:g} to {longest:g} ms, {where}", -1,
            mean_interval(long - high), negligible=PAPER.within("plot"), reading=reading
        ),
    ]  # fmt: skip


def _fig5(points: Points, rtts_ms: Sequence[float], reading: str) -> list[Claim]:
    checks = []
    for count in COUNTS:
        short = np.array([_values(points, "flow_goodput_bps", count, rtt) for rtt in rtts_ms if rtt <= LOW_MS])
        alike = float((short.min(axis=1) / short.max(axis=1)).min())
        where = f"up to {LOW_MS:g} ms, {count} flows"
        checks += [
            _near_one("fig5", f"lowest over highest goodput {where}", alike, "goodputs", reading),
            _near_one("fig5", f"mean goodput over the fair share {where}", float(short.mean()), "goodputs", reading),
            *_ranges(points, rtts_ms, reading, "fig5", count),
        ]
    return checks


def _fig6(points: Points, rtts_ms: Sequence[float], reading: str) -> list[Claim]:
    checks = []
    for count in COUNTS:
        short = np.array([_values(points, "jain", count, rtt) for rtt in rtts_ms if rtt <= LOW_MS])
        near = _near_one(
            "fig6", f"mean Jain's index up to {LOW_MS:g} ms, {count} flows", float(short.mean()), "fairness", reading
        )
        if _share_nothing(count):
            near = replace(near, nulls=(Null("hosts that share nothing", exactly(1.0)),), note=_ALIKE)
        checks += [near, *_ranges(points, rtts_ms, reading, "fig6", count)]
    return checks


def _share_nothing(count: int) -> bool:
    """Whether so many hosts cannot fill the bottleneck."""
    return count * ACCESS_BPS <= CAPACITY_BPS


def _near_one(artefact: str, quantity: str, ours: float, near: str, reading: str) -> Claim:
    return equal(artefact, quantity, 1.0, single(ours), within=PAPER.within(near), reading=reading)


def joined(stairs: Stairs, reading: str) -> list[Claim]:
    """What the source says of Fig. 7, in a reading of the hosts."""
    use = {key: float(steps.mean()) for key, steps in stairs.items()}
    short, long = STEPS_MS
    change = mean_interval([use[name, long] - use[name, short] for name in VARIANTS])
    quantity = f"use of the link, mean over the steps, change from {short:g} to {long:g} ms"
    checks = [sign("fig7", quantity, -1, change, negligible=PAPER.within("plot"), reading=reading)]
    others = [name for name in VARIANTS if name not in _SLOW]
    for name in _SLOW:
        below = sum(use[name, long] < use[other, long] for other in others)
        quantity = f"of the other four, how many use the link better than {name} at {long:g} ms"
        checks.append(equal("fig7", quantity, float(len(others)), single(float(below)), reading=reading))
    return checks


def _steps(size: Size) -> str:
    """How long the steps of Fig. 7 are, in words."""
    short, long = (f"{size.step(rtt):g} s" for rtt in STEPS_MS)
    return short if short == long else f"{short} at {STEPS_MS[0]:g} ms, {long} at {STEPS_MS[1]:g} ms"


def _table(points: Points, size: Size) -> Table:
    rows = [
        (
            f"`{name}`",
            f"{count}",
            *(
                f"{points[name, count, rtt].flow_goodput_bps / 1e6:.0f} ({points[name, count, rtt].jain:.3f})"
                for rtt in size.rtts_ms
            ),
        )
        for count in COUNTS
        for name in VARIANTS
    ]
    header = ("control", "flows", *(f"{rtt:g} ms" for rtt in size.rtts_ms))
    caption = "Figs 5 and 6: mean goodput in Mbit/s (Jain's index)"
    return Table(caption, header, rows, numbers=range(1, len(header)))


def _steps_table(stairs: Stairs) -> Table:
    header = ("control", *(f"{statistic}, {rtt:g} ms" for rtt in STEPS_MS for statistic in ("mean", "least", "last")))
    rows = [
        (
            f"`{name}`",
            *(
                f"{value:.3f}"
                for rtt in STEPS_MS
                for value in (stairs[name, rtt].mean(), stairs[name, rtt].min(), stairs[name, rtt][-1])
            ),
        )
        for name in VARIANTS
    ]
    caption = "Fig. 7: use of the link in the twelve steps, of the most that the flows can send"
    return Table(caption, header, rows, numbers=range(1, len(header)))


def _over_rtt(points: Points, size: Size, artefact: str) -> Chart:
    """Fig. 5 or 6: 5 flows on the left, 12 on the right."""
    if artefact == "fig5":
        title, y = "Fig. 5: goodput and RTT", Axis("mean goodput", "Mbit/s", minimum=0, maximum=1000)
    else:
        title, y = "Fig. 6: fairness and RTT", Axis("Jain's index", minimum=0, maximum=1)
    x = Axis("RTT", "ms", minimum=0, maximum=1.05 * size.rtts_ms[-1])
    panels = [Panel(_curves(points, size, artefact, count), x, y, f"{count} flows", height=1.6) for count in COUNTS]
    return Chart(artefact, title, Plot(panels, "Hosts with an interface queue of 1000 packets.", columns=len(COUNTS)))


def _curves(points: Points, size: Size, artefact: str, count: int) -> Sequence[Line | Guide]:
    marks: list[Line | Guide] = []
    for number, name in enumerate(VARIANTS):
        curve = [points[name, count, rtt] for rtt in size.rtts_ms]
        values = [each.flow_goodput_bps / 1e6 if artefact == "fig5" else each.jain for each in curve]
        marks.append(Line(size.rtts_ms, values, name, Style(series=number)))
    return [*marks, *(Guide(each, "", along="x") for each in (LOW_MS, HIGH_MS))]


def _joined(runs: Mapping[tuple[str, float], Recorded], size: Size) -> Chart:
    """Fig. 7: a row a variant, 11 ms on the left and 100 ms on the right."""
    y = Axis("throughput", "Gbit/s", minimum=0, maximum=10.5)
    most = np.minimum(np.arange(1, FLOWS + 2), CAPACITY_BPS / ACCESS_BPS)
    panels = []
    for number, name in enumerate(VARIANTS):
        for rtt in STEPS_MS:
            edges = np.arange(FLOWS + 1) * size.step(rtt)
            x = Axis("time", "s", minimum=0, maximum=float(edges[-1]))
            time_s, bits, width = _forwarded(runs[name, rtt])
            marks = [
                Line(edges, most, "what the flows can send", Style(muted=True, thin=True), steps=True),
                Line(time_s, bits / width / 1e9, name, Style(series=number)),
            ]
            panels.append(Panel(marks, x, y, f"{name}, {rtt:g} ms", height=0.8))
    caption = (
        f"Throughput behind the bottleneck; one flow more each {_steps(size)}. The source has a column for each "
        "variant and a row for each RTT."
    )
    return Chart("fig7", "Fig. 7: flows that join", Plot(panels, caption, columns=len(STEPS_MS)))
