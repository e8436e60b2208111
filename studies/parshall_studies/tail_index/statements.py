"""Statements of the source beside its trends, of the runs that Figs 1 and 2 and Fig. 4(a) take anyway.

| statement | section | here |
| --- | --- | --- |
| a full buffer delays by so much | §2 | packets of 1500 bytes over 1 Gbit/s |
| the impact depends on slow start, and can be negative, negligible or positive | §3, §4 | trends at equal loads |
| a flow's mean rate depends on its size, settles late, and later without slow start | §3, Fig. 1 | rates by size |
| with N = 500 it is almost flat with a small buffer | §3, Fig. 2 | rates by size |
| H falls as (3 - alpha)/2 | Park & Tuan 2000, §2.1 | the slope of Fig. 4(a) |

Rates by size are bins of a quarter of a decade. A statement on them counts if it holds at every tail index; the share
of tail indices is what is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Section, Table
from parshall.studies.study import Findings
from parshall_studies.tail_index.grid import Rows
from parshall_studies.tail_index.hurst_own import ARTEFACT, METHODS, OwnAtTail
from parshall_studies.tail_index.hurst_panel import FAST, SLOW, AtTail
from parshall_studies.tail_index.measure import METRICS, WORDS, FloatArray, Measured, ended_of
from parshall_studies.tail_index.network import MEAN_PACKETS
from parshall_studies.tail_index.settings import FIG1, FIG2, PAPER, Setting, published_sign, reading_words
from parshall_studies.tail_index.trends import Change, Trends

_PACKET_BYTES, _LINK_BPS = 1500, 1e9
_STEEP = 2.0
"""Fastest over slowest size of a "strongly non-flat" curve."""
_SETTLED = 0.9
"""Of the rate of the largest sizes: where a curve has settled."""
_FEWEST_BINS = 3

Statistic = Callable[[Measured], float]


def findings(rows: Rows, equal: Trends, own: Sequence[OwnAtTail], slow: Sequence[AtTail]) -> Findings:
    """The checks, and their table."""
    checks = [*_full_buffers(), *_of_slow_start(equal), _kinds(equal), *_of_rates(rows), *_slopes(own, slow)]
    cells = [(each.artefact, each.named, f"{each.reference:g}", f"{each.ours:.3g}", each.note) for each in checks]
    prose = (
        "What the text says beside the signs of Figs 1 and 2: how long a full buffer is, what slow start changes, the "
        "shape of the curves of rates, and the slope of H.",
    )
    table = Table("", ("where", "statement", "published", "ours", ""), cells, numbers=(2, 3))
    return Findings(checks, [Section("Statements of the text", prose, [table])])


def _full_buffers() -> Iterator[Claim]:
    for packets, published in PAPER.by("full_buffer_ms").items():
        ours = packets * _PACKET_BYTES * 8 / _LINK_BPS * 1e3
        quantity = f"delay of a full buffer of {packets:g} packets, ms"
        yield equal("section2", quantity, published, exactly(ours), within=PAPER.digits("full_buffer_ms"))


def _of_slow_start(equal: Trends) -> Iterator[Claim]:
    """The change of each metric with slow start less that without, in each reading of the latter."""
    for buffer in sorted({each.buffer for each in FIG1}):
        (with_it,) = (each for each in FIG1 if each.buffer == buffer and each.slow_start)
        for without in (each for each in FIG1 if each.buffer == buffer and not each.slow_start):
            for metric in METRICS:
                published = int(np.sign(_published(with_it, metric) - _published(without, metric)))
                apart = _apart(equal[with_it, metric], equal[without, metric])
                quantity = f"change of {WORDS[metric]} with slow start less that without, N = 45, B = {buffer}"
                note = f"{apart.mean:+.1%} ({apart.low:+.1%} to {apart.high:+.1%})"
                yield sign(
                    "fig1",
                    quantity,
                    published,
                    apart,
                    note,
                    negligible=PAPER.within("visible"),
                    reading=reading_words(without.ssthresh),
                )


def _published(setting: Setting, metric: str) -> int:
    published = published_sign(setting, metric)
    if published is None:
        raise KeyError(f"{setting.name}, {metric}: nothing was published")
    return published


def _apart(more: Change, less: Change) -> Interval:
    """Their difference; independent, so that half-widths add in squares."""
    mean = more.relative - less.relative
    half = float(np.hypot(more.high - more.low, less.high - less.low)) / 2
    return Interval(mean, mean - half, mean + half, min(more.values, less.values))


def _kinds(trends: Trends) -> Claim:
    """How many of the three impacts occur among the settings with a published sign: worse, none, better."""
    better = {"loss": -1, "delay_ms": -1, "throughput_mbps": 1}
    signs = {
        each.sign * better[metric]
        for (setting, metric), each in trends.items()
        if setting.own_stack and published_sign(setting, metric) is not None
    }
    words = {-1: "negative", 0: "negligible", 1: "positive"}
    note = ", ".join(words[each] for each in sorted(signs))
    return equal("section4", "kinds of impact of a heavier tail that occur", 3, single(len(signs)), note=note)


def _of_rates(rows: Rows) -> Iterator[Claim]:
    """Curves of the mean rate against size: Fig. 1 with B = 896, and Fig. 2."""
    large = max(each.buffer for each in FIG1)
    shown = {each.ssthresh: each for each in FIG1 if each.buffer == large}
    for ssthresh, setting in shown.items():
        row, reading = list(rows[setting].values()), reading_words(ssthresh)
        known = [each for each in row if _has_curve(each)]
        steep = f"the fastest size has {_STEEP:g} times the rate of the slowest, {setting.name}"
        yield from _share("fig1", steep, [range_of(each) >= _STEEP for each in known], reading, known)
        late = f"the mean rate settles beyond the mean size, {setting.name}"
        yield from _share("fig1", late, [settles_at(each) > MEAN_PACKETS for each in known], reading, known)
    with_it = shown.pop("unlimited")
    for ssthresh, setting in shown.items():
        pairs = _pairs(rows, setting, with_it)
        reading, both = reading_words(ssthresh), [*chain(*pairs)]
        later = [settles_at(without) > settles_at(beside) for without, beside in pairs]
        yield from _share("fig1", "the mean rate settles at larger sizes without slow start", later, reading, both)
        sharper = [steepest(beside) > steepest(without) for without, beside in pairs]
        yield from _share("fig1", "the mean rate grows more sharply with slow start", sharper, reading, both)
    small, large = sorted({each.buffer for each in FIG2})
    for stack in dict.fromkeys(each.stack for each in FIG2):
        few, many = (Setting(FIG2[0].sources, buffer, "unlimited", stack) for buffer in (small, large))
        pairs = _pairs(rows, few, many)
        flatter = [range_of(flat) < range_of(steep) for flat, steep in pairs]
        label = f"the mean rate depends less on the size with B = {small} than with {large}, N = {few.sources}"
        yield from _share("fig2", label, flatter, reading_words(stack), [*chain(*pairs)])


def _pairs(rows: Rows, first: Setting, second: Setting) -> list[tuple[Measured, Measured]]:
    """The points of two settings at the tail indices that both have, where both have a curve."""
    both = [(rows[first][alpha], rows[second][alpha]) for alpha in rows[first] if alpha in rows[second]]
    return [(one, other) for one, other in both if _has_curve(one) and _has_curve(other)]


def _has_curve(point: Measured) -> bool:
    return point.rates.mbps.size >= _FEWEST_BINS


def range_of(point: Measured) -> float:
    """The rate of the fastest size over that of the slowest."""
    return float(point.rates.mbps.max() / point.rates.mbps.min())


def settles_at(point: Measured) -> float:
    """The smallest size, in packets, from which on rates stay within a tenth of that of the largest sizes."""
    rates: FloatArray = point.rates.mbps
    off = np.flatnonzero(np.abs(rates / rates[-1] - 1) > 1 - _SETTLED)
    return float(point.rates.packets[off[-1] + 1 if off.size else 0])


def steepest(point: Measured) -> float:
    """The largest slope of the logarithm of the rate against that of the size."""
    steps = pairwise(zip(np.log(point.rates.packets), np.log(point.rates.mbps), strict=True))
    return max(float((y2 - y1) / (x2 - x1)) for (x1, y1), (x2, y2) in steps)


def _share(
    artefact: str, label: str, holds: Sequence[bool], reading: str, points: Sequence[Measured]
) -> Iterator[Claim]:
    """Nothing where no tail index has a curve."""
    if holds:
        note = f"{sum(holds)} of {len(holds)}; {ended_of(points)}"
        quantity = f"share of tail indices at which {label}"
        yield equal(artefact, quantity, 1.0, single(sum(holds) / len(holds)), note=note, reading=reading)


def _slopes(own: Sequence[OwnAtTail], slow: Sequence[AtTail]) -> Iterator[Claim]:
    """The slope of H against the tail index, by estimator, of the source's clients and of many slow ones."""
    for method in METHODS:
        for at, reading in (
            ([(each.tail_index, each.h(1, method)) for each in own], f"{FAST.count} clients, bins of 10 ms, {method}"),
            ([(each.tail_index, each.h(method)) for each in slow], f"{SLOW.count} slow clients, bins of 4 s, {method}"),
        ):
            if len(at) > 1:
                slope = slope_of(at)
                published, quantity = PAPER.number("h_slope"), "slope of H against the tail index"
                yield equal(ARTEFACT, quantity, published, slope, within=PAPER.within("slope"), reading=reading)


def slope_of(points: Sequence[tuple[float, Interval]]) -> Interval:
    """The slope of a line through means, with the interval that theirs make, independent of each other.

    >>> slope_of([(1.0, Interval(1.0, 0.9, 1.1, 5)), (2.0, Interval(0.5, 0.4, 0.6, 5))]).mean
    -0.5
    """
    x = np.array([at for at, _ in points])
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slope = float(weights @ np.array([each.mean for _, each in points]))
    halves = [each.half_width for _, each in points]
    known = [each for each in halves if each is not None]
    if len(known) < len(halves):
        return Interval(slope, None, None, len(points))
    half = float(np.sqrt(np.sum((weights * np.array(known)) ** 2)))
    return Interval(slope, slope - half, slope + half, len(points))
