"""Figs 1 and 2 of Goga, Loiseau & Gonçalves 2011 as artefacts: what the source claims of signs, rates and ssthresh.

| claim | section | here |
| --- | --- | --- |
| signs of loss, delay and throughput with heavier tails | §3, Figs 1, 2 | `signs` |
| slow start changes them; the impact is negative, negligible or positive | §3, §4 | `_of_slow_start`, `_kinds` |
| the cached ssthresh settles at about 10 packets | §2 | median over sources and the second half of a run |
| a full buffer delays by so much | §2 | packets of 1500 bytes over 1 Gbit/s |
| a flow's mean rate depends on its size, settles late, and later without slow start | §3, Fig. 1 | `_of_rates` |
| with slow start large flows are faster where tails are heavier | §3, Fig. 1 | `_large_flows` |
| N = 500, B = 100: nothing depends on the tail or the size | §3, Fig. 2 | `fig2_claims` |
| N = 500, B = 1000: metrics are sensitive; flows of medium size are the fastest | §3, Fig. 2 | `fig2_claims` |

"Medium" is not defined in the source; here it is within half a decade of the mean size, and the largest flows are all
beyond (`measure.MEDIUM`). Rates by size are bins of a quarter of a decade; a statement on them counts if it holds at
every tail index. A setting is one of both figures, so that what is said of Fig. 1 and of Fig. 2 is judged together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise

import numpy as np

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Section
from parshall.studies.artefact import Artefact
from parshall.studies.study import Case
from parshall_studies.tail_index import page
from parshall_studies.tail_index.measure import MEDIUM, METRICS, WORDS, FloatArray, Measured, ended_of
from parshall_studies.tail_index.network import MEAN_PACKETS
from parshall_studies.tail_index.runs import Drawn, Key, Rows, points, rows
from parshall_studies.tail_index.setting import FIG1, FIG2, HEAVIEST, PAPER, Curve, Setting
from parshall_studies.tail_index.trends import Change, Trends, change, trends

_PACKET_BYTES, _LINK_BPS = 1500, 1e9
_STEEP = 2.0
"""Fastest over slowest size of a "strongly non-flat" curve."""
_SETTLED = 0.9
"""Of the rate of the largest sizes: where a curve has settled."""
_FEWEST_BINS = 3
_SHOWN = FIG1[-1]
"""The curve whose rates the source's Fig. 1 shows on its right: B = 896, with slow start."""

Answers = Mapping[Key, Drawn]


def fig1_points(setting: Setting) -> dict[Key, Case]:
    """The runs of Fig. 1."""
    return points(FIG1, setting)


def fig2_points(setting: Setting) -> dict[Key, Case]:
    """The runs of Fig. 2."""
    return points(FIG2, setting)


def fig1_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Signs, what slow start changes, ssthresh, and the shape of the curves of rates."""
    found = rows(answers)
    changes = trends(found, setting)
    cached = [curve for curve in FIG1 if setting.is_cached(curve)]
    return [
        *signs(changes),
        *_of_slow_start(changes),
        _kinds(changes),
        *(_settled(curve, found[curve]) for curve in cached),
        *_large_flows(found[_SHOWN]),
        *_full_buffers(),
        *_of_rates(found),
    ]


def fig2_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Signs, which flows are the fastest, and how flat rates are."""
    found = rows(answers)
    changes = trends(found, setting)
    few, many = FIG2
    pairs = _pairs(found, few, many)
    flatter = [range_of(flat) < range_of(steep) for flat, steep in pairs]
    label = f"the mean rate depends less on the size with B = {few.buffer} than with {many.buffer}, N = {few.sources}"
    return [
        *signs(changes),
        sensitive(changes, many),
        *(_medium(curve, found[curve]) for curve in FIG2),
        *_share("fig2", label, flatter, [*chain(*pairs)]),
    ]


# --- signs


def signs(changes: Trends) -> Iterator[Claim]:
    """A claim for each published sign."""
    for (curve, metric), each in changes.items():
        published = curve.published(metric)
        if published is not None:
            note = f"{each.told()}, p = {each.p_value:.2g}"
            quantity = f"{WORDS[metric]} with heavier tails, {curve.name}"
            within = PAPER.within("visible")
            yield sign(curve.figure, quantity, published, each.interval, note, negligible=within)


def sensitive(changes: Trends, curve: Curve) -> Claim:
    """Whether any metric of a curve changes, where the source says that they do and not how."""
    own = [changes[curve, metric] for metric in METRICS]
    largest = max(own, key=lambda each: abs(each.relative))
    sizes = [(max(0.0, each.low, -each.high), max(abs(each.low), abs(each.high))) for each in own]
    low, high = (max(ends) for ends in zip(*sizes, strict=True))
    value = Interval(abs(largest.relative), low, high, largest.values)
    note = "; ".join(f"{WORDS[metric]} {changes[curve, metric].told()}" for metric in METRICS)
    quantity = f"largest change of a metric with heavier tails, {curve.name}"
    return sign(curve.figure, quantity, 1, value, note, negligible=PAPER.within("visible"))


def _of_slow_start(changes: Trends) -> Iterator[Claim]:
    """The change of each metric with slow start less that without."""
    for without, with_it in zip(FIG1[:2], FIG1[2:], strict=True):
        for metric in METRICS:
            published = int(np.sign((with_it.published(metric) or 0) - (without.published(metric) or 0)))
            apart = _apart(changes[with_it, metric], changes[without, metric])
            quantity = f"change of {WORDS[metric]} with slow start less that without, N = 45, B = {without.buffer}"
            note = f"{apart.mean:+.1%} ({apart.low:+.1%} to {apart.high:+.1%})"
            yield sign("fig1", quantity, published, apart, note, negligible=PAPER.within("visible"))


def _apart(more: Change, less: Change) -> Interval:
    """Their difference; independent, so that half-widths add in squares."""
    mean = more.relative - less.relative
    half = float(np.hypot(more.high - more.low, less.high - less.low)) / 2
    return Interval(mean, mean - half, mean + half, min(more.values, less.values))


def _kinds(changes: Trends) -> Claim:
    """How many of the three impacts occur: worse, none, better."""
    better = {"loss": -1, "delay_ms": -1, "throughput_mbps": 1}
    signs = {each.sign * better[metric] for (_, metric), each in changes.items()}
    words = {-1: "negative", 0: "negligible", 1: "positive"}
    note = ", ".join(words[each] for each in sorted(signs))
    return equal("section4", "kinds of impact of a heavier tail that occur", 3, single(len(signs)), note=note)


def _settled(curve: Curve, row: Mapping[float, Measured]) -> Claim:
    """One value a repetition: the mean over tail indices."""
    interval = mean_interval(np.mean([each.ssthresh_packets for each in row.values()], axis=0))
    quantity = f"packets at which the cached ssthresh settles, N = {curve.sources}, B = {curve.buffer}"
    note = "mean over tail indices of the median over sources"
    return equal("section2", quantity, PAPER["settled_packets"], interval, within=PAPER.within("around"), note=note)


def _full_buffers() -> Iterator[Claim]:
    for packets, published in PAPER.by("full_buffer_ms").items():
        ours = exactly(packets * _PACKET_BYTES * 8 / _LINK_BPS * 1e3)
        quantity = f"delay of a full buffer of {packets:g} packets, ms"
        yield equal("section2", quantity, published, ours, within=PAPER.digits("full_buffer_ms"))


# --- rates by size


def _large_flows(row: Mapping[float, Measured]) -> list[Claim]:
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
    note = f"{trend.told()}; {ended_of(row.values())}"
    return [sign(_SHOWN.figure, quantity, 1, trend.interval, note, negligible=PAPER.within("visible"))]


def medium_over_largest(row: Sequence[Measured]) -> Interval | None:
    """By how much transfers of medium size are faster than the largest: a value a repetition, a mean over tail indices.

    None where no tail index has both in every repetition.
    """
    ratios = np.array([each.medium_mbps / each.largest_mbps - 1 for each in row])
    known = ratios[np.isfinite(ratios).all(axis=1)]
    return mean_interval(known.mean(axis=0)) if len(known) else None


def _medium(curve: Curve, row: Mapping[float, Measured]) -> Claim:
    interval, is_large = medium_over_largest(list(row.values())), curve.buffer == FIG2[-1].buffer
    found = "none in every repetition" if interval is None else f"{interval.mean:+.1%}"
    note = f"{found}; medium: {MEDIUM[0]:.0f} to {MEDIUM[1]:.0f} packets, largest: above; {ended_of(row.values())}"
    quantity = f"mean rate of medium flows over that of the largest, {curve.name}"
    within = PAPER.within("visible" if is_large else "flat")
    return sign(curve.figure, quantity, int(is_large), interval, note, negligible=within)


def _of_rates(found: Rows) -> Iterator[Claim]:
    """Curves of the mean rate against size: Fig. 1 with B = 896."""
    without, with_it = FIG1[1], FIG1[3]
    for curve in (without, with_it):
        known = [each for each in found[curve].values() if _has_curve(each)]
        steep = f"the fastest size has {_STEEP:g} times the rate of the slowest, {curve.name}"
        yield from _share("fig1", steep, [range_of(each) >= _STEEP for each in known], known)
        late = f"the mean rate settles beyond the mean size, {curve.name}"
        yield from _share("fig1", late, [settles_at(each) > MEAN_PACKETS for each in known], known)
    pairs = _pairs(found, without, with_it)
    later = [settles_at(one) > settles_at(other) for one, other in pairs]
    yield from _share("fig1", "the mean rate settles at larger sizes without slow start", later, [*chain(*pairs)])
    sharper = [steepest(other) > steepest(one) for one, other in pairs]
    yield from _share("fig1", "the mean rate grows more sharply with slow start", sharper, [*chain(*pairs)])


def _pairs(found: Rows, first: Curve, second: Curve) -> list[tuple[Measured, Measured]]:
    """The points of two curves at the tail indices that both have, where both have rates."""
    both = [(found[first][alpha], found[second][alpha]) for alpha in found[first] if alpha in found[second]]
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


def _share(artefact: str, label: str, holds: Sequence[bool], points: Sequence[Measured]) -> Iterator[Claim]:
    """Nothing where no tail index has a curve."""
    if holds:
        note = f"{sum(holds)} of {len(holds)}; {ended_of(points)}"
        quantity = f"share of tail indices at which {label}"
        yield equal(artefact, quantity, 1.0, single(sum(holds) / len(holds)), note=note)


def other_points(setting: Setting) -> dict[Key, Case]:
    """Fig. 1's network with ns-2's TCP, the last ssthresh cached."""
    return points(FIG1, replace(setting, ns2_hosts=True, ssthresh="last"))


def other_section(answers: Answers, setting: Setting) -> Section:
    """What comes of it."""
    return page.other_section(answers, replace(setting, ns2_hosts=True, ssthresh="last"))


def nothing(_: Answers, __: Setting) -> list[Claim]:
    """The claims of what is shown alone."""
    return []


OTHER_STACK: Artefact[Setting] = Artefact("fig1-ns2", other_points, nothing, other_section)
MODEL: tuple[Artefact[Setting], ...] = (
    Artefact("fig1-model", fig1_points, page.model_claims),
    Artefact("fig2-model", fig2_points, page.model_claims),
)
ARTEFACTS: tuple[Artefact[Setting], ...] = (
    Artefact("fig1", fig1_points, fig1_claims, page.fig1),
    Artefact("fig2", fig2_points, fig2_claims, page.fig2),
)
