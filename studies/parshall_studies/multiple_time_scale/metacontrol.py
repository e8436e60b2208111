"""Figs 11 and 12: how A moves, and throughput with A fixed and with A found while running.

At the source's own RTT, 30 ms. The equilibrium A* is the mean of A over the second half of a run. The source's reading
of Fig. 11 has three parts: it is about 6, it is the same for each nu, and only the oscillation around it grows with nu.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from parshall.analysis.stats.claim_rules import equal, one_run
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Style
from parshall_studies.multiple_time_scale.claims import curve, signed
from parshall_studies.multiple_time_scale.contrasts import contrasts, fixed, followed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, INTERVAL_S, PAPER
from parshall_studies.multiple_time_scale.readings import BASE
from parshall_studies.multiple_time_scale.thresholds import peak

_BEST_AGGRESSIVENESS = PAPER["best_aggressiveness"]
_ADJUSTMENTS = PAPER["adjustments"]


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    yield from (fixed(BASE, size, each) for each in (1, *size.aggressiveness))
    for each in contrasts("fig11", "fig12"):
        yield from each.points(BASE, size)
    for adjustment in _ADJUSTMENTS:
        yield followed(BASE, size, adjustment)


def _course_checks(results: Results, size: Size) -> Iterator[Claim]:
    """Fig. 11."""
    late = {each: results.late_slopes(followed(BASE, size, each)) for each in _ADJUSTMENTS}
    means = {each: np.array([row.mean() for row in rows]) for each, rows in late.items()}
    for adjustment in _ADJUSTMENTS:
        yield one_run(
            "fig11",
            f"equilibrium of A, ν = {adjustment:g}",
            _BEST_AGGRESSIVENESS,
            means[adjustment],
            within=PAPER.within("about"),
            note=f"mean of A in the second half of {size.course_s:g} s; between seeds its standard deviation is "
            f"{means[adjustment].std(ddof=1):.3g}",
        )
    for small, large in pairwise(_ADJUSTMENTS):
        apart = mean_interval(means[large] - means[small])
        yield equal(
            "fig11",
            f"equilibrium of A for ν = {large:g} less that for {small:g}",
            0.0,
            apart,
            within=PAPER.within("about"),
            note=f"published: a common one; {signed(apart)}",
            nulls=[Null("one that stays at 1, and one at A*", exactly(_BEST_AGGRESSIVENESS - 1))],
        )


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """How A moves, the best A, and how near to it the metacontrol comes."""
    yield from _course_checks(results, size)
    yield from (each.check(results, size) for each in contrasts("fig11", "fig12"))
    steps = (1, *size.aggressiveness)
    rows = [results.goodput(fixed(BASE, size, each)) for each in steps]
    largest, low, high = peak(steps, rows)
    yield equal(
        "fig12",
        "best static A of TCP Rate",
        _BEST_AGGRESSIVENESS,
        Interval(float(largest), low, high, 1),
        within=Tolerance(float(np.diff(steps).max()) / 2, "half of the largest step between the values tried"),
        note=f"of {', '.join(str(each) for each in steps)}; interval over seeds drawn again",
    )
    best = rows[steps.index(largest)]
    plain = rows[0]
    gained = float(np.mean(best - plain))
    for adjustment in _ADJUSTMENTS:
        with_it = results.goodput(followed(BASE, size, adjustment))
        share = mean_interval((with_it - plain) / gained) if gained > 0 else None
        yield equal(
            "fig12",
            f"gain with metacontrol, ν = {adjustment:g}, over that of the best static A",
            1.0,
            share,
            within=PAPER.within("near_the_peak"),
            note=f"the best static A gains {gained / float(plain.mean()):+.1%}; from 1, A can move by "
            f"{adjustment * size.course_s / INTERVAL_S:,g} in a run at most",
            nulls=[Null("no control at all", exactly(0.0)), Null("half of the gain", exactly(0.5))],
        )


def section(results: Results, size: Size) -> Section:
    """The figure."""
    steps = [1, *size.aggressiveness]
    marks: list[Mark] = [
        *curve(
            [float(each) for each in steps], [results.goodput(fixed(BASE, size, each)) for each in steps], "A fixed", 0
        )
    ]
    for adjustment in _ADJUSTMENTS:
        mean = float(results.goodput(followed(BASE, size, adjustment)).mean())
        marks.append(Guide(mean, f"metacontrol, ν = {adjustment:g}"))
    marks.append(Guide(float(results.goodput(fixed(BASE, size, 1)).mean()), "TCP Rate, plain"))
    x = Axis("largest slope A", minimum=1.0, maximum=float(max(10, *steps)))  # the source's range is 1 to 10 (§5.3)
    panel = Panel(marks, x, Axis("reliable throughput", "Mbit/s"))
    plot = Plot([panel], f"TCP Rate at an RTT of {BASE_RTT_MS} ms; A = 1 is the plain control.")
    return Section(
        "Metacontrol",
        (
            "The metacontrol begins at A = 1 and moves A by ν an interval, so that short runs say little of a small ν: "
            f"all runs of both figures last {size.course_s:g} s, {size.course_s / INTERVAL_S:g} intervals.",
        ),
        figures=[
            Chart("fig11", "How A moves (Fig. 11)", _course(results, size)),
            Chart("fig12", "Throughput against A (Fig. 12)", plot),
        ],
    )


def _course(results: Results, size: Size) -> Plot:
    panels = []
    for adjustment in _ADJUSTMENTS:
        row = results.runs[followed(BASE, size, adjustment)]
        length = min(len(each.slopes) for each in row)
        courses = np.array([each.slopes[:length] for each in row])
        at = (np.arange(length) * INTERVAL_S).tolist()
        marks: list[Mark] = [
            Line(at, courses[0].tolist(), "the first seed", Style(0, thin=True)),
            Line(at, courses.mean(axis=0).tolist(), f"mean of {len(row)} seeds", Style(1)),
            Guide(_BEST_AGGRESSIVENESS, "published equilibrium"),
        ]
        panels.append(Panel(marks, Axis("time", "s"), Axis(f"A, ν = {adjustment:g}"), height=0.5))
    return Plot(panels, f"TCP Rate at an RTT of {BASE_RTT_MS} ms; A begins at 1.")
