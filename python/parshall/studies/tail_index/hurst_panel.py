"""H against the tail index: Fig. 4(a) of Park & Tuan 2000, by every estimator, at scales beyond the transfers' own.

H is the median over repetitions. A client's access is as fast as the shared link, so that a single very large transfer
fills the link alone for as long as it lasts; the repetition that draws it has a level shift and no H, and would move a
mean.

The relation is that of infinite scales. At finite ones short transfers are noise under the long-range dependence of the
few that outlast a bin, which pulls H towards 1/2; `longer_than_a_bin` is those few's part of the bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.stats.hurst import ESTIMATORS, Estimate, all_estimates
from parshall.studies.check import Check
from parshall.studies.study import Scale
from parshall.studies.tail_index.network import MEAN_FILE_PACKETS, two_servers
from parshall.studies.tail_index.published import H_TAIL_INDICES
from parshall.studies.tail_index.running import Runner, Tables

TOLERANCE = 0.08
_BIN_S = 0.5
_OFTEN = 0.1
_ANSWERS = ("local_whittle", "wavelet", "periodogram", "variance_time", "rescaled_range", "dfa")
"""Whittle's two estimators take the shape of fGn to hold at every scale, which TCP's do not: shown, not checked."""


@dataclass(frozen=True)
class AtTail:
    """What a tail index gives: the utilisation, how often the link was full, and the estimates of each repetition."""

    tail_index: float
    utilisation: float
    full: float
    repetitions: tuple[tuple[Estimate, ...], ...]

    def values(self, method: str) -> list[float]:
        """H by an estimator, of each repetition, in order of size."""
        return sorted(each.h for row in self.repetitions for each in row if each.method == method)

    def h(self, method: str) -> float:
        """Their median."""
        return float(np.median(self.values(method)))


def simulated(scale: Scale, runner: Runner, duration_s: float | None = None, repetitions: int = 5) -> list[AtTail]:
    """The traffic of each tail index, and its H; at ``paper`` scale over the source's 10,000 s."""
    length = duration_s or (4000.0 if scale == "quick" else 10_000.0)
    indices = H_TAIL_INDICES[::3] if scale == "quick" else H_TAIL_INDICES
    scenarios = [two_servers(alpha, length, _BIN_S, repetitions) for alpha in indices]
    found = runner.measured("H against the tail index", scenarios, lambda tables: _at(tables, length))
    return [AtTail(alpha, *each) for alpha, each in zip(indices, found, strict=True)]


def _at(tables: Tables, duration_s: float) -> tuple[float, float, tuple[tuple[Estimate, ...], ...]]:
    samples = tables.link_samples.filter(pl.col("time_s") >= duration_s / 20).sort("repetition", "time_s")
    sent = samples["forwarded_bytes"].to_numpy().astype(float)
    share = sent * 8 / (_BIN_S * 10e6)
    parts = samples.partition_by("repetition", maintain_order=True)
    estimates = tuple(all_estimates(part["forwarded_bytes"].to_numpy().astype(float)) for part in parts)
    return float(share.mean()), float((share > 0.95).mean()), estimates


def longer_than_a_bin(tail_index: float) -> float:
    """The part of the bytes that is in transfers which take longer than a bin even at the link's rate.

    Examples
    --------
    >>> round(longer_than_a_bin(1.5), 2)
    0.1
    """
    smallest = MEAN_FILE_PACKETS * (tail_index - 1) / tail_index
    return float((_BIN_S * 10e6 / 8000 / smallest) ** (1 - tail_index))


def checks(found: Sequence[AtTail]) -> list[Check]:
    """Each estimate against (3 - alpha)/2."""
    return [
        Check(
            "fig4a (Park & Tuan 2000)",
            f"H by {method}, tail index {at.tail_index:g}",
            (3 - at.tail_index) / 2,
            at.h(method),
            None,
            None,
            TOLERANCE,
            f"median of {len(at.repetitions)} runs: {at.values(method)[0]:.2f} to {at.values(method)[-1]:.2f}"
            + (f"; link full in {at.full:.0%} of the bins" if at.full > _OFTEN else ""),
        )
        for at in found
        for method in _ANSWERS
    ]


def section(found: Sequence[AtTail]) -> Section:
    """The panel."""
    alphas = [at.tail_index for at in found]
    marks: list[Line | Points] = [Line([1, 2], [1.0, 0.5], "(3 - α)/2", Style(0))]
    for number, estimator in enumerate(ESTIMATORS):
        each = [at.values(estimator.name) for at in found]
        marks.append(
            Points(
                alphas,
                [float(np.median(one)) for one in each],
                estimator.name,
                Style(number + 1),
                [one[0] for one in each],
                [one[-1] for one in each],
            )
        )
    full = [at for at in found if at.full > _OFTEN]
    paragraphs = [
        "32 clients send files of Pareto sizes over 10 Mbit/s (Park & Tuan 2000, §5.1); H is that of the bytes "
        "forwarded in bins "
        f"of {_BIN_S:g} s, longer than a round trip and than most transfers. The relation H = (3 - α)/2 is one of "
        f"sources that "
        "do not know of each other.",
        "It must break where the aggregate saturates the link: a full link forwards the same in every bin, and what "
        "cannot be "
        "sent is delayed, so that H of the forwarded bytes says how full the link is and no longer how heavy the tail "
        "is. A single client can do that: its access is as fast as the link. H is the median of "
        f"{len(found[0].repetitions)} runs, one of which such a transfer may spoil. "
        + (
            "Here the link was full (above 95 %) in more than a tenth of the bins at tail indices "
            + ", ".join(f"{at.tail_index:g} ({at.full:.0%})" for at in full)
            + "."
            if full
            else "Here no tail index filled the link in more than a tenth of the bins."
        ),
    ]
    paragraphs.append(
        "And it is one of infinite scales. Most bytes are in transfers shorter than a bin (a column says how many are "
        "not): they are noise under the long-range dependence of the others, and pull every estimate at finite scales "
        "towards 1/2, most where the tail is neither heavy nor light."
    )
    rows = [
        (
            f"{at.tail_index:g}",
            f"{at.utilisation:.3f}",
            f"{at.full:.3f}",
            f"{longer_than_a_bin(at.tail_index):.0%}",
            f"{(3 - at.tail_index) / 2:.3f}",
            *(f"{at.h(each.name):.3f}" for each in ESTIMATORS),
        )
        for at in found
    ]
    header = (
        "tail index",
        "utilisation",
        "bins full",
        "bytes beyond a bin",
        "(3 - α)/2",
        *(each.name for each in ESTIMATORS),
    )
    plot = Plot(
        [Panel(marks, Axis("tail index α"), Axis("Hurst parameter H"))],
        "Hurst parameter of the traffic against the tail index of the file sizes: medians, and the range of the runs.",
    )
    return Section(
        "H against the tail index",
        paragraphs,
        [Table("", header, rows, numbers=range(1, len(header)))],
        [Drawn("fig4a", "H against α (Park & Tuan 2000, Fig. 4(a))", plot)],
    )
