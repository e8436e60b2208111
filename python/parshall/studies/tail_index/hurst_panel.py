"""H against the tail index: Fig. 4(a) of Park & Tuan 2000, by every estimator, at scales beyond the transfers' own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.runs import run as simulate
from parshall.stats.hurst import ESTIMATORS, Estimate, all_estimates
from parshall.studies.check import Check
from parshall.studies.study import Progress, Scale
from parshall.studies.tail_index.network import two_servers
from parshall.studies.tail_index.published import H_TAIL_INDICES

TOLERANCE = 0.08
_BIN_S = 0.5
_SATURATED = 0.8
_ANSWERS = ("local_whittle", "wavelet", "periodogram", "variance_time", "rescaled_range", "dfa")
"""Whittle's two estimators take the shape of fGn to hold at every scale, which TCP's do not: shown, not checked."""


@dataclass(frozen=True)
class AtTail:
    """What a tail index gives: the utilisation, how often the link was full, and the estimates."""

    tail_index: float
    utilisation: float
    full: float
    estimates: tuple[Estimate, ...]


def simulated(scale: Scale, progress: Progress) -> list[AtTail]:
    """The traffic of each tail index, and its H."""
    quick = scale == "quick"
    indices = H_TAIL_INDICES[::3] if quick else H_TAIL_INDICES
    return [_at(alpha, 2000.0 if quick else 10_000.0, progress) for alpha in indices]


def _at(alpha: float, duration_s: float, progress: Progress) -> AtTail:
    progress(f"H against the tail index: {alpha:g}")
    run = simulate(two_servers(alpha, duration_s, _BIN_S), workers=1)
    assert run.link_samples is not None, "the probe is on"  # noqa: S101
    samples = run.link_samples.filter(pl.col("time_s") >= duration_s / 20).sort("time_s")
    sent = samples["forwarded_bytes"].to_numpy().astype(float)
    share = sent * 8 / (_BIN_S * 10e6)
    return AtTail(alpha, float(share.mean()), float((share > 0.95).mean()), all_estimates(sent))


def checks(found: Sequence[AtTail]) -> list[Check]:
    """Each estimate against (3 - alpha)/2."""
    return [
        Check(
            "fig4a (Park & Tuan 2000)",
            f"H by {each.method}, tail index {at.tail_index:g}",
            (3 - at.tail_index) / 2,
            each.h,
            None,
            None,
            TOLERANCE,
            f"link full in {at.full:.0%} of the bins" if at.utilisation > _SATURATED or at.full > 0.1 else "",
        )
        for at in found
        for each in at.estimates
        if each.method in _ANSWERS
    ]


def section(found: Sequence[AtTail]) -> Section:
    """The panel."""
    alphas = [at.tail_index for at in found]
    marks: list[Line | Points] = [Line([1, 2], [1.0, 0.5], "(3 - α)/2", Style(0))]
    for number, estimator in enumerate(ESTIMATORS):
        each = [at.estimates[number] for at in found]
        marks.append(
            Points(
                alphas,
                [one.h for one in each],
                estimator.name,
                Style(number + 1),
                [one.ci[0] for one in each],
                [one.ci[1] for one in each],
            )
        )
    full = [at for at in found if at.full > 0.1]
    paragraphs = [
        "32 clients send files of Pareto sizes over 10 Mbit/s (Park & Tuan 2000, §5.1); H is that of the bytes "
        "forwarded in bins "
        f"of {_BIN_S:g} s, longer than a round trip and than most transfers. The relation H = (3 - α)/2 is one of "
        f"sources that "
        "do not know of each other.",
        "It must break where the aggregate saturates the link: a full link forwards the same in every bin, and what "
        "cannot be "
        "sent is delayed, so that H of the forwarded bytes says how full the link is and no longer how heavy the tail "
        "is. "
        + (
            "Here the link was full (above 95 %) in more than a tenth of the bins at tail indices "
            + ", ".join(f"{at.tail_index:g} ({at.full:.0%})" for at in full)
            + "."
            if full
            else "Here no tail index filled the link in more than a tenth of the bins."
        ),
    ]
    rows = [
        (
            f"{at.tail_index:g}",
            f"{at.utilisation:.3f}",
            f"{at.full:.3f}",
            f"{(3 - at.tail_index) / 2:.3f}",
            *(f"{each.h:.3f}" for each in at.estimates),
        )
        for at in found
    ]
    header = ("tail index", "utilisation", "bins full", "(3 - α)/2", *(each.name for each in ESTIMATORS))
    plot = Plot(
        [Panel(marks, Axis("tail index α"), Axis("Hurst parameter H"))],
        "Hurst parameter of the traffic against the tail index of the file sizes, with 95 % intervals.",
    )
    return Section(
        "H against the tail index",
        paragraphs,
        [Table("", header, rows, numbers=range(1, len(header)))],
        [Drawn("fig4a", "H against α (Park & Tuan 2000, Fig. 4(a))", plot)],
    )
