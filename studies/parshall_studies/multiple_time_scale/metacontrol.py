"""Figs 11 and 12: how A moves, and throughput with A fixed and with A found while running.

The equilibrium A* is the mean of A over the second half of a run. The source's reading of Fig. 11 has three parts: it
is about 6, it is the same for each nu, and only the oscillation around it grows with nu. The metacontrol is judged by
its share of the gain that can be had: (metacontrol - plain) / (best static A - plain), which is 1 in Fig. 12.

How far can it work? It compares two intervals, whose throughputs differ by d, nu times the slope of throughput over A,
and each by a standard deviation s besides. So the sign of one comparison is right with the probability
Phi(d / (sqrt(2) s)), and known after 2 (1.96 s / d)^2 pairs of intervals of a level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from parshall.analysis.stats.claim_rules import equal, one_run
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Style
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import claim, curve, signed
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Point, Results
from parshall_studies.multiple_time_scale.network import INTERVAL_S, PAPER
from parshall_studies.multiple_time_scale.setting import LEVELS, Parameters, Setting
from parshall_studies.multiple_time_scale.thresholds import peak

BEST = PAPER["best_aggressiveness"]
ADJUSTMENTS = PAPER["adjustments"]


def followed(setting: Setting, adjustment: float) -> Point:
    """TCP Rate with A found while running, with the course of A."""
    return _point(setting, (("metacontrol", True), ("adjustment", adjustment)), series=True)


def fixed(setting: Setting, largest: int) -> Point:
    """TCP Rate with A fixed; 1: the plain control."""
    return _point(setting, (("aggressiveness", float(largest)),) if largest > 1 else None)


def _point(setting: Setting, parameters: Parameters | None, *, series: bool = False) -> Point:
    """For as long as A is followed: it begins at 1, and what it costs to get away from there is a part of a run."""
    made = grid.point(setting, "tcp_rate", parameters, rtt_ms=setting.aggressiveness_rtt_ms, series=series)
    return replace(made, duration_s=setting.course_s, normalised_s=setting.single_s)


def _lasts_s(setting: Setting) -> float:
    return setting.course_s or setting.duration_s


def _points(setting: Setting) -> Cases:
    """Each fixed A, and each adjustment."""
    courses = [followed(setting, each) for each in ADJUSTMENTS] if setting.drawn else []
    return grid.cases([*(fixed(setting, each) for each in (1, *setting.aggressiveness)), *courses], setting)


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The best A; how A moves, and how much of the best A's gain the metacontrol has."""
    found = grid.results(answers)
    best = int(BEST)
    made = []
    for other in (1, 10):
        change = found.over(fixed(setting, best), fixed(setting, other))
        made.append(claim("fig12", f"throughput of TCP Rate at A = {best} less that at {other}", 1, change, "%"))
    if setting.drawn:
        made += [_best(found, setting), *_course(found, setting), *_share(found, setting)]
    return made


def _best(found: Results, setting: Setting) -> Claim:
    steps = (1, *setting.aggressiveness)
    largest, low, high = peak(steps, [found.goodput(fixed(setting, each)) for each in steps])
    return equal(
        "fig12",
        "best static A of TCP Rate",
        BEST,
        Interval(float(largest), low, high, 1),
        within=Tolerance(float(np.diff(steps).max()) / 2, "half of the largest step between the values tried"),
        note=f"of {', '.join(str(each) for each in steps)}; interval over seeds drawn again",
    )


def _course(found: Results, setting: Setting) -> Iterator[Claim]:
    """Fig. 11."""
    late = {each: found.late_slopes(followed(setting, each)) for each in ADJUSTMENTS}
    means = {each: np.array([row.mean() for row in rows]) for each, rows in late.items()}
    swings = {each: np.array([row.std() for row in rows]) for each, rows in late.items()}
    for adjustment in ADJUSTMENTS:
        yield one_run(
            "fig11",
            f"equilibrium of A, ν = {adjustment:g}",
            BEST,
            means[adjustment],
            within=PAPER.within("about"),
            note=f"mean of A in the second half of {_lasts_s(setting):g} s; between seeds its standard deviation is "
            f"{means[adjustment].std(ddof=1):.3g}",
        )
    for small, large in pairwise(ADJUSTMENTS):
        apart = mean_interval(means[large] - means[small])
        yield equal(
            "fig11",
            f"equilibrium of A for ν = {large:g} less that for {small:g}",
            0.0,
            apart,
            within=PAPER.within("about"),
            note=f"published: a common one; {signed(apart)}",
            nulls=[Null("one that stays at 1, and one at A*", exactly(BEST - 1))],
        )
        yield claim(
            "fig11", f"oscillation of A for ν = {large:g} less that for {small:g}", 1, swings[large] - swings[small]
        )


def _share(found: Results, setting: Setting) -> Iterator[Claim]:
    """Fig. 12's dashed lines."""
    plain, best = found.goodput(fixed(setting, 1)), best_static(found, setting)
    gained = float(np.mean(best - plain))
    for adjustment in ADJUSTMENTS:
        with_it = found.goodput(followed(setting, adjustment))
        name = f"throughput of TCP Rate with metacontrol, ν = {adjustment:g}, less the plain control's"
        yield claim("fig12", name, 1, grid.over_mean(with_it, plain), "%")
        yield equal(
            "fig12",
            f"gain with metacontrol, ν = {adjustment:g}, over that of the best static A",
            1.0,
            mean_interval((with_it - plain) / gained) if gained > 0 else None,
            within=PAPER.within("near_the_peak"),
            note=f"the best static A gains {gained / float(plain.mean()):+.1%}; from 1, A can move by "
            f"{adjustment * _lasts_s(setting) / INTERVAL_S:,g} in a run at most",
            nulls=[Null("no control at all", exactly(0.0)), Null("half of the gain", exactly(0.5))],
        )


def _comparison(found: Results, setting: Setting, adjustment: float) -> tuple[float, float]:
    """The probability that one comparison has the right sign, and the hours that a sure sign takes at eight levels."""
    steps = (1, *setting.aggressiveness)
    means = {each: float(found.goodput(fixed(setting, each)).mean()) for each in steps}
    best = max(steps[1:], key=means.__getitem__)
    by_slope = (means[best] - means[1]) / means[1] / (best - 1)
    delivered = [
        np.diff(each.delivered)[len(each.delivered) // 10 :] for each in found.runs[followed(setting, ADJUSTMENTS[0])]
    ]
    spread = float(np.mean([row.std() / row.mean() for row in delivered]))
    difference = adjustment * by_slope
    pairs = 2 * (1.96 * spread / difference) ** 2
    return NormalDist().cdf(difference / (2**0.5 * spread)), pairs * LEVELS * INTERVAL_S / 3600


def best_static(found: Results, setting: Setting) -> FloatArray:
    """Throughput with the A that has most of it on the same seeds, which favours it."""
    rows = [found.goodput(fixed(setting, each)) for each in (1, *setting.aggressiveness)]
    return max(rows, key=lambda row: float(row.mean()))


def _section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    steps = [1, *setting.aggressiveness]
    marks: list[Mark] = [
        *curve([float(each) for each in steps], [found.goodput(fixed(setting, each)) for each in steps], "A fixed", 0)
    ]
    for adjustment in ADJUSTMENTS:
        mean = float(found.goodput(followed(setting, adjustment)).mean())
        marks.append(Guide(mean, f"metacontrol, ν = {adjustment:g}"))
    marks.append(Guide(float(found.goodput(fixed(setting, 1)).mean()), "TCP Rate, plain"))
    x = Axis("largest slope A", minimum=1.0, maximum=float(max(10, *steps)))  # the source's range is 1 to 10 (§5.3)
    panel = Panel(marks, x, Axis("reliable throughput", "Mbit/s"))
    plot = Plot([panel], f"TCP Rate at an RTT of {setting.aggressiveness_rtt_ms} ms; A = 1 is the plain control.")
    rows = []
    for adjustment in (*ADJUSTMENTS, BEST - 1):
        right, hours = _comparison(found, setting, adjustment)
        rows.append((f"{adjustment:g}", f"{right:.4f}", f"{hours:,.3g}"))
    return Section(
        "Metacontrol",
        (
            "The metacontrol begins at A = 1 and moves A by ν an interval, so that short runs say little of a small ν: "
            f"all runs of both figures last {_lasts_s(setting):g} s, {_lasts_s(setting) / INTERVAL_S:g} intervals.",
            "One comparison of two intervals has the right sign with a probability of 1/2 and little more, for they "
            "differ by much more than a step of A changes. To know the sign takes long: the last column of the table.",
        ),
        [
            Table(
                "One comparison of the metacontrol",
                ("ν", "right with the probability", "hours until the sign is known"),
                rows,
            )
        ],
        figures=[
            Chart("fig11", "How A moves (Fig. 11)", _courses(found, setting)),
            Chart("fig12", "Throughput against A (Fig. 12)", plot),
        ],
    )


def _courses(found: Results, setting: Setting) -> Plot:
    panels = []
    for adjustment in ADJUSTMENTS:
        row = found.runs[followed(setting, adjustment)]
        length = min(len(each.slopes) for each in row)
        courses = np.array([each.slopes[:length] for each in row])
        at = (np.arange(length) * INTERVAL_S).tolist()
        marks: list[Mark] = [
            Line(at, courses[0].tolist(), "the first seed", Style(0, thin=True)),
            Line(at, courses.mean(axis=0).tolist(), f"mean of {len(row)} seeds", Style(1)),
            Guide(BEST, "published equilibrium"),
        ]
        panels.append(Panel(marks, Axis("time", "s"), Axis(f"A, ν = {adjustment:g}"), height=0.5))
    return Plot(panels, f"TCP Rate at an RTT of {setting.aggressiveness_rtt_ms} ms; A begins at 1.")


FIGS11_12 = Artefact("fig12", _points, _claims, _section)
