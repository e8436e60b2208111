"""What the source claims in words: where the cached ssthresh settles, which flows are the most aggressive.

| claim | section | here |
| --- | --- | --- |
| the cached ssthresh settles at about 10 packets | §2 | median over sources and the second half of a run |
| with slow start large flows are faster where tails are heavier (Fig. 1, bottom right) | §3 | rates by size |
| with N = 500 and B = 1000 the metrics are sensitive to the tail index | §3 | `trends.sensitive` |
| there the most aggressive flows, by mean rate, are of medium size and not the largest | §3 | the same |
| with B = 100 the mean rate is almost the same for all sizes | §3 | the same |

"Medium" is not defined in the source; here it is within half a decade of the mean size, and the largest flows are all
beyond (`measure.MEDIUM`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.report.document import Section, Table
from parshall_studies.tail_index.grid import Row, Rows
from parshall_studies.tail_index.measure import MEDIUM, Measured, ended_of
from parshall_studies.tail_index.settings import FIG1, FIG2, PAPER, Setting
from parshall_studies.tail_index.trends import HEAVIEST, Trends, change, sensitive

_SETTLED_PACKETS = PAPER["settled_packets"]

_SHOWN = next(each for each in FIG1 if each.slow_start and each.buffer == 896)
"""The setting whose rates the source's Fig. 1 shows on its right."""
_CACHED = tuple(each for each in FIG1 if each.cached)


def checks(rows: Rows, asked: Trends, load: str) -> list[Claim]:
    """The claims, in runs of the mean that was asked for."""
    return [
        *(_settled(setting, rows[setting]) for setting in _CACHED),
        *_large_flows(rows[_SHOWN]),
        *(sensitive(asked, setting, load) for setting in FIG2 if _large(setting)),
        *(_medium(setting, rows[setting]) for setting in FIG2),
    ]


def _large(setting: Setting) -> bool:
    return setting.buffer == max(each.buffer for each in FIG2)


def _settled(setting: Setting, row: Row) -> Claim:
    """One value a repetition: the mean over tail indices."""
    interval = mean_interval(np.mean([each.ssthresh_packets for each in row.values()], axis=0))
    return equal(
        "section2",
        f"packets at which the cached ssthresh settles, N = {setting.sources}, B = {setting.buffer}",
        _SETTLED_PACKETS,
        interval,
        within=PAPER.within("around"),
        note="mean over tail indices of the median over sources",
        reading=setting.reading,
    )


def _large_flows(row: Row) -> list[Claim]:
    """None where fewer than two tail indices have large flows in every repetition."""
    known = {
        alpha: each.largest_mbps
        for alpha, each in row.items()
        if alpha >= HEAVIEST and np.isfinite(each.largest_mbps).all()
    }
    if len(known) < 2:
        return []
    trend = change(list(known), list(known.values()))
    quantity = f"mean rate of the largest flows with heavier tails, {_SHOWN.name}"
    note = f"{trend.told()}; {ended_of(list(row.values()))}"
    return [sign(_SHOWN.figure, quantity, 1, trend.interval, note, negligible=PAPER.within("visible"))]


def medium_over_largest(row: Sequence[Measured]) -> Interval | None:
    """By how much transfers of medium size are faster than the largest: a value a repetition, a mean over tail indices.

    None where no tail index has both in every repetition.
    """
    ratios = np.array([each.medium_mbps / each.largest_mbps - 1 for each in row])
    known = ratios[np.isfinite(ratios).all(axis=1)]
    return mean_interval(known.mean(axis=0)) if len(known) else None


def _medium(setting: Setting, row: Row) -> Claim:
    interval = medium_over_largest(list(row.values()))
    found = "none in every repetition" if interval is None else f"{interval.mean:+.1%}"
    return sign(
        setting.figure,
        f"mean rate of medium flows over that of the largest, {setting.name}",
        1 if _large(setting) else 0,
        interval,
        f"{found}; medium: {MEDIUM[0]:.0f} to {MEDIUM[1]:.0f} packets, largest: above; {ended_of(list(row.values()))}",
        negligible=PAPER.within("visible" if _large(setting) else "flat"),
        reading=setting.reading,
    )


def section(rows: Rows) -> Section:
    """The tables."""
    tail_indices = sorted({alpha for row in rows.values() for alpha in row})

    def cells(setting: Setting, text: Callable[[Measured], str]) -> tuple[str, ...]:
        row = rows[setting]
        return setting.label(), *(text(row[alpha]) if alpha in row else "" for alpha in tail_indices)

    settled = [cells(setting, lambda each: f"{np.mean(each.ssthresh_packets):.1f}") for setting in _CACHED]
    rates = [cells(setting, _rates) for setting in (*FIG1, *FIG2)]
    columns = [f"α = {alpha:g}" for alpha in tail_indices]
    numbers = range(1, len(columns) + 1)
    return Section(
        "Where ssthresh settles, and who is aggressive",
        (
            f"The source's cached ssthresh settles at about {_SETTLED_PACKETS:.0f} packets. Linux keeps half of the "
            "window of a connection that ends in congestion avoidance, if that is more than its ssthresh: a transfer "
            "of S packets without loss that begins at s ends with a window of √(s² + S) with delayed ACKs, and so "
            "s tends to √(S/3), which is 18 for 1000 packets, and 9 for 250.",
            f"Medium flows are those of {MEDIUM[0]:.0f} to {MEDIUM[1]:.0f} packets, the largest those above.",
        ),
        [
            Table(
                "ssthresh of the connections in the run's second half, packets",
                ("setting", *columns),
                settled,
                numbers=numbers,
            ),
            Table("Mean rate of medium flows / of the largest, Mbit/s", ("setting", *columns), rates, numbers=numbers),
        ],
    )


def _rates(each: Measured) -> str:
    medium, largest = (
        float(np.nanmean(values)) if np.isfinite(values).any() else None
        for values in (each.medium_mbps, each.largest_mbps)
    )
    return " / ".join("none" if value is None else f"{value:.2f}" for value in (medium, largest))
