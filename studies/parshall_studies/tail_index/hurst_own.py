"""Fig. 4(a) of Park & Tuan 2000 on the source's own network: 32 clients, links of 10 Mbit/s, a trace of 10 ms.

§5.1: all links have 10 Mbit/s and 5 ms, 32 clients transfer files, a run takes 10,000 s and is traced at 10 ms. Not
said: mean size and idle time (here as in `hurst_panel.FAST`: 0.4 of the link), the buffer (64 packets), and by which
estimator H was found. So there are three readings of the last: the two that were usual then, variance-time and R/S, and
local Whittle, which assumes nothing of short scales.

H depends on the scale at which it is sought. A transfer of the mean size takes about a tenth of a second, and only the
rarest lasts for minutes: at 10 ms the estimators see scales at which transfers overlap, in bins of seconds a record's H
hangs on its few largest files.

What the source says of the figure (§5.1): H is close to 1 where the tail index is near 1, close to 1/2 where it is near
2, and linear between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.studies.study import Case
from parshall_studies.hurst import ESTIMATORS
from parshall_studies.hurst.series import aggregated
from parshall_studies.tail_index.hurst_panel import FAST, SLOW, AtTail, Size
from parshall_studies.tail_index.network import WARM_UP, two_servers
from parshall_studies.tail_index.running import Tables, case
from parshall_studies.tail_index.settings import PAPER

BIN_S = 0.01
"""The source's trace."""
COARSER = (1, 10, 100, 400)
"""Bins that make one: 10 ms, 0.1, 1 and 4 s."""
METHODS = ("local_whittle", "variance_time", "rescaled_range")
ARTEFACT = "fig4a (Park & Tuan 2000)"

Estimates = dict[tuple[int, str], float]
"""H by how many bins make one, and estimator."""


@dataclass(frozen=True)
class OwnAtTail:
    """H of the source's own network at a tail index, a record each."""

    tail_index: float
    records: tuple[Estimates, ...]

    def h(self, coarser: int, method: str) -> Interval:
        """Mean over records, and its 95 % interval."""
        return mean_interval([each[coarser, method] for each in self.records])


def cases(size: Size) -> dict[tuple[float, int], Case]:
    """The traffic of the source's clients at each tail index, and its H. A record is a scenario: each fills 120 MB."""
    return {
        (alpha, seed): case(
            f"H of the source's own clients, tail index {alpha:g}",
            two_servers(FAST, alpha, size.duration_s, BIN_S, 1, seed=seed),
            _estimated,
            size,
        )
        for alpha in size.tail_indices
        for seed in range(1, size.own + 1)
    }


def together(size: Size, answers: Mapping[tuple[float, int], Estimates]) -> tuple[OwnAtTail, ...]:
    """The answers of `cases` by tail index."""
    seeds = range(1, size.own + 1)
    return tuple(OwnAtTail(alpha, tuple(answers[alpha, seed] for seed in seeds)) for alpha in size.tail_indices)


def _estimated(tables: Tables, size: Size) -> Estimates:
    samples = tables.link_samples.filter(pl.col("time_s") >= size.duration_s * WARM_UP).sort("time_s")
    forwarded = samples["forwarded_bytes"].to_numpy().astype(np.float64)
    by_name = {each.name: each for each in ESTIMATORS}
    return {
        (coarser, method): by_name[method].estimate(aggregated(forwarded, coarser), diagnose=False).h
        for coarser in COARSER
        for method in METHODS
    }


def checks(own: Sequence[OwnAtTail], slow: Sequence[AtTail]) -> list[Claim]:
    """The three claims, on the source's network as it traced it, and on the network of many slow clients."""
    listed = []
    for method in METHODS:
        listed += _claims(
            [(at.tail_index, at.h(1, method)) for at in own], f"{FAST.count} clients, bins of 10 ms, {method}"
        )
        listed += _claims(
            [(at.tail_index, at.h(method)) for at in slow], f"{SLOW.count} slow clients, bins of 4 s, {method}"
        )
    return listed


def _claims(slopes: Sequence[tuple[float, Interval]], reading: str) -> list[Claim]:
    (heaviest, first), (lightest, last) = min(slopes, key=_tail), max(slopes, key=_tail)
    alphas, means = [alpha for alpha, _ in slopes], [h.mean for _, h in slopes]
    listed = [
        equal(
            ARTEFACT,
            f"H where the tail index is near {end}",
            published,
            h,
            within=PAPER.within("near"),
            note=f"at {alpha:g}",
            reading=reading,
        )
        for end, published, alpha, h in ((1, 1.0, heaviest, first), (2, 0.5, lightest, last))
    ]
    if len(slopes) > 2:
        slope, level = np.polyfit(alphas, means, 1)
        off = float(np.max(np.abs(np.polyval((slope, level), alphas) - means)))
        note = f"slope {slope:.2f}; that of (3 - α)/2 is -0.5"
        what = "largest distance of H from a straight line"
        step = np.where(np.asarray(alphas) < np.mean(alphas), 1.0, 0.5)
        stepped = float(np.max(np.abs(np.polyval(np.polyfit(alphas, step, 1), alphas) - step)))
        nulls = [Null("a step from 1 to 1/2 in place of a line", exactly(stepped))]
        listed.append(
            equal(
                ARTEFACT,
                what,
                0.0,
                _known(off, [h for _, h in slopes]),
                within=PAPER.within("straight"),
                note=note,
                nulls=nulls,
                reading=reading,
            )
        )
    return listed


def _known(distance: float, estimates: Sequence[Interval]) -> Interval:
    """A distance of points from a line, known as well as the point that is known least."""
    halves = [each.half_width for each in estimates if each.half_width is not None]
    if len(halves) < len(estimates):
        return single(distance)
    return Interval(distance, max(0.0, distance - max(halves)), distance + max(halves), 1)


def _tail(point: tuple[float, Interval]) -> float:
    return point[0]


def section(own: Sequence[OwnAtTail], duration_s: float) -> Section:
    """What the source's network shows at which scale."""
    rows = [
        (f"{coarser * BIN_S:g} s", method, *(_told(at.h(coarser, method)) for at in own))
        for coarser in COARSER
        for method in METHODS
    ]
    heavy = min(own, key=lambda at: at.tail_index)
    relation = ("", "(3 - α)/2", *(f"{(3 - at.tail_index) / 2:.3f}" for at in own))
    return Section(
        "Fig. 4(a) of Park & Tuan on the source's own network",
        (
            f"{FAST.count} clients, each as fast as the link, transfer files by TCP Reno; the link is traced for "
            f"{duration_s:g} s in bins of 10 ms, as in the source, which does not say by which estimator it found H. "
            "The longer the bins, the fewer transfers last as long as one, and the more H differs between records: by "
            f"local Whittle at α = {heavy.tail_index:g} it is {_told(heavy.h(COARSER[0], METHODS[0]))} in bins of "
            f"{COARSER[0] * BIN_S:g} s and {_told(heavy.h(COARSER[-1], METHODS[0]))} in bins of "
            f"{COARSER[-1] * BIN_S:g} s.",
        ),
        [
            Table(
                "H, means over records",
                ("bin", "estimator", *(f"α = {at.tail_index:g}" for at in own)),
                [relation, *rows],
                numbers=range(2, len(own) + 2),
            )
        ],
        [_figure(own)],
    )


def _told(h: Interval) -> str:
    return f"{h.mean:.2f}" if h.half_width is None else f"{h.mean:.2f} ± {h.half_width:.2f}"


def _figure(own: Sequence[OwnAtTail]) -> Chart:
    alphas = [at.tail_index for at in own]
    panels: list[Panel] = []
    for coarser in COARSER:
        marks: list[Line | Points] = [Line([1.0, 2.0], [1.0, 0.5], "" if panels else "(3 - α)/2", Style(0))]
        for number, method in enumerate(METHODS, 1):
            estimates = [at.h(coarser, method) for at in own]
            marks.append(
                Points(
                    [alpha + (number - 2) * 0.012 for alpha in alphas],
                    [h.mean for h in estimates],
                    "" if panels else method,
                    Style(number),
                    [h.mean if h.low is None else h.low for h in estimates],
                    [h.mean if h.high is None else h.high for h in estimates],
                )
            )
        panels.append(Panel(marks, Axis("tail index α"), Axis(f"H, bins of {coarser * BIN_S:g} s")))
    caption = "Hurst parameter of the link's traffic against the tail index of the file sizes, by the length of bins."
    return Chart("fig4a-source", "H against α with the source's 32 clients", Plot(panels, caption))
