"""H against the tail index on the page: many slow clients against the theory, and where its relation breaks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Band, Line, Panel, Plot, Points, Style
from parshall_studies.hurst import ESTIMATORS
from parshall_studies.tail_index.hurst_own import ARTEFACT
from parshall_studies.tail_index.hurst_panel import BINS, COARSER, FIRST_BINS, SLOW, AtTail, HurstPanel
from parshall_studies.tail_index.settings import PAPER

TOLERANCE = PAPER.within("relation").value
_OFTEN = 0.1
_APART = 0.012
"""By how much the estimators' points stand beside each other in the figure."""
_BLOCKS = ("variance_time", "rescaled_range", "dfa")


def checks(panel: HurstPanel) -> list[Claim]:
    """Each estimator against (3 - alpha)/2."""
    return [
        equal(
            ARTEFACT,
            f"H by {each.name}, {SLOW.count} slow clients, tail index {at.tail_index:g}",
            at.relation,
            at.h(each.name),
            within=PAPER.within("relation"),
            basis="theory",
            note=f"mean of {len(at.repetitions)} records, 95 %: {_ends(at.h(each.name))}"
            + (f"; link full in {at.full:.0%} of the bins" if at.full > _OFTEN else ""),
        )
        for at in panel.tcp
        for each in ESTIMATORS
    ]


def section(panel: HurstPanel, duration_s: float) -> Section:
    """The panel."""
    near, ideal_near = (_near(each) for each in (panel.tcp, panel.ideal))
    few, ideal_few, *loaded = panel.broken
    return Section(
        "H against the tail index, many slow clients",
        (
            f"These are not the source's clients, but those with which the theory says that its relation shows. "
            f"{SLOW.count} clients transfer files of Pareto sizes over 10 Mbit/s by TCP Reno (Park & Tuan 2000, "
            f"§5.1). H is that of the bytes forwarded in bins of {duration_s / BINS:g} s; a transfer of the mean size "
            f"takes {SLOW.transfer_s:g} s at a client's own {SLOW.access_bps / 1e3:g} kbit/s. Whittle’s two "
            f"estimators, which take their model to hold at every scale, read bins of {COARSER} times that. {near} of "
            f"{len(panel.tcp) * len(ESTIMATORS)} means are within {TOLERANCE} of (3 - α)/2.",
            "The relation is a limit, first of many sources, then of large scales. A record comes near it if its bins "
            "are long against most transfers, and some transfers long against its largest scale: the tables have the H "
            f"that infinitely many ideal sources show at a scale of {FIRST_BINS} bins, where the estimators begin, and "
            "how many transfers at a time outlast a twentieth of the record. Ideal ON/OFF sources with the same times, "
            "which send at a constant rate and share no link, show what a record of this length can tell: where they "
            f"miss it, TCP is not why; {ideal_near} of their means are as near.",
            "At these scales it breaks where transfers are few. As many clients as the source has, each as fast as the "
            "link, have "
            f"{few.outlasting:.1g} transfers at a time that outlast the largest scale. At α = {few.tail_index:g}, "
            f"where the relation gives {few.relation:.3f}, the local Whittle estimator finds {_spread(few)}; without "
            f"any TCP, of ideal sources, {_spread(ideal_few)}. With few sources traffic tends to a Lévy motion, whose "
            "increments are independent, not to fractional Gaussian noise: most records show H = 1/2, and one with a "
            "huge transfer a level shift.",
            "And it must break where the aggregate saturates the link: a full link forwards the same in every bin, and "
            "what cannot be sent is delayed, so that H of the forwarded bytes no longer says how heavy the tail is. "
            + " ".join(_saturation(at) for at in loaded)
            + " "
            + _saturated_panel(panel.tcp),
        ),
        [
            _table("H of TCP’s traffic, means over records", panel.tcp, [f"α = {at.tail_index:g}" for at in panel.tcp]),
            _table("H of ideal sources", panel.ideal, [f"α = {at.tail_index:g}" for at in panel.ideal]),
            _table(
                f"Where the relation breaks, α = {few.tail_index:g}", panel.broken, [at.what for at in panel.broken]
            ),
        ],
        [
            _figure("fig4a", "in the frequency domain and by wavelets", panel, blocks=False),
            _figure("fig4a-blocks", "by statistics of blocks", panel, blocks=True),
        ],
    )


def _near(estimates: Sequence[AtTail]) -> int:
    return sum(abs(at.h(each.name).mean - at.relation) <= TOLERANCE for at in estimates for each in ESTIMATORS)


def _saturation(at: AtTail) -> str:
    h = [at.h(each.name).mean for each in ESTIMATORS]
    return (
        f"{at.what}, at α = {at.tail_index:g}: utilisation {at.utilisation:.2f}, full in {at.full:.0%} of the bins, H "
        f"from {min(h):.2f} to {max(h):.2f} by estimator, where the relation gives {at.relation:.3f}."
    )


def _spread(at: AtTail) -> str:
    values = at.values("local_whittle")
    median = float(np.median(values))
    return f"{median:.2f} in the median of {len(values)} records ({values[0]:.2f} to {values[-1]:.2f})"


def _saturated_panel(tcp: Sequence[AtTail]) -> str:
    full = [f"α = {at.tail_index:g} ({at.full:.0%})" for at in tcp if at.full > _OFTEN]
    if full:
        return f"In the panel the link was full in more than a tenth of the bins at {', '.join(full)}."
    return f"In the panel no point saturates: the link is full in {max(at.full for at in tcp):.1%} of the bins at most."


def _table(caption: str, estimates: Sequence[AtTail], columns: Sequence[str]) -> Table:
    """What is known of each column's traffic, and a line an estimator."""
    rows = [
        ("utilisation", *(f"{at.utilisation:.3f}" for at in estimates)),
        ("part of the bins in which the link is full", *(f"{at.full:.1%}" for at in estimates)),
        ("transfers at a time that outlast the largest scale", *(f"{at.outlasting:.2g}" for at in estimates)),
        (f"H of infinitely many ideal sources at {FIRST_BINS} bins", *(f"{at.exact:.2f}" for at in estimates)),
        ("(3 - α)/2", *(f"{at.relation:.3f}" for at in estimates)),
        *((each.name, *(_with_half_width(at.h(each.name)) for at in estimates)) for each in ESTIMATORS),
    ]
    return Table(caption, ("", *columns), rows, numbers=range(1, len(estimates) + 1))


def _with_half_width(h: Interval) -> str:
    # The interval of two values says nothing but that they are two.
    return f"{h.mean:.2f}" if h.half_width is None or h.n < 3 else f"{h.mean:.2f} ± {h.half_width:.2f}"


def _ends(h: Interval) -> str:
    return "unknown" if h.low is None or h.high is None else f"{h.low:.2f} to {h.high:.2f}"


def _figure(name: str, label: str, panel: HurstPanel, *, blocks: bool) -> Chart:
    shown = [each for each in ESTIMATORS if (each.name in _BLOCKS) is blocks]
    ends = [1.0, 2.0]
    relation = [1.0, 0.5]
    panels = []
    for axis, rows in (("H of TCP’s traffic", panel.tcp), ("H of ideal sources", panel.ideal)):
        named = rows is panel.tcp
        marks: list[Band | Line | Points] = [
            Band(
                ends,
                [h - TOLERANCE for h in relation],
                [h + TOLERANCE for h in relation],
                f"within {TOLERANCE}" if named else "",
                Style(0),
            ),
            Line(ends, relation, "(3 - α)/2" if named else "", Style(0)),
        ]
        for number, estimator in enumerate(shown):
            each = [at.h(estimator.name) for at in rows]
            beside = (number - (len(shown) - 1) / 2) * _APART
            marks.append(
                Points(
                    [at.tail_index + beside for at in rows],
                    [one.mean for one in each],
                    estimator.name if named else "",
                    Style(number + 1),
                    [one.mean if one.low is None else one.low for one in each],
                    [one.mean if one.high is None else one.high for one in each],
                )
            )
        panels.append(Panel(marks, Axis("tail index α"), Axis(axis)))
    caption = "Hurst parameter of the traffic against the tail index of the file sizes: means and 95 % intervals."
    return Chart(name, f"H against α (Park & Tuan 2000, Fig. 4(a)), {label}", Plot(panels, caption))
