"""Statements of the source beside its figures' signs, of the runs that the figures take anyway.

| statement | section | here |
| --- | --- | --- |
| self-similar traffic loses more and waits longer | §1.1 | the clients alone, by tail index |
| a few long transfers carry the bulk | §1.2, §5.5 | by the Pareto law |
| a level predicts the next one; the correlation is the same from 1 to 10 s | §2.2, Fig. 1 | the clients alone |
| a conservative increase costs more at long RTTs | §3.1, §5.3 | plain controls, and slopes that are always larger |
| congestion avoidance gains most of what is gained | §3.6.1, Fig. 7 | TCP Rate by its couplings |
| plain controls follow the background; better ones leave less room | §5.2.3, §5.3 | Figs 8 and 9 |
| gains under heavy tails are gains, and fall from tail index to tail index | §5.4, Fig. 10 | |
| clients are held at 5 Mbit/s; shares fall with the number of connections | §5.7, Table III | |
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale import fairness, rtt, tails, thresholds
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, claim, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import PAPER, SOURCE
from parshall_studies.multiple_time_scale.readings import LEVELS

FloatArray = NDArray[np.float64]
_MIDDLE_MBPS = 5.0
_LONGEST_S = 10
"""The correlation is said to be the same from 1 s to it."""
_FEWEST_OF_A_LEVEL = 10


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """All of them."""
    yield from _traffic(results, size)
    yield from _levels(results, size)
    yield from _round_trips(results, size)
    yield from _coupling(results)
    yield from _tail_indices(results, size)
    yield from _several(results, size)


def section(results: Results, size: Size) -> Section:
    """The table."""
    rows = [(each.artefact, each.named, f"{each.reference:g}", each.note) for each in checks(results, size)]
    prose = ("What the text says beside the signs of its figures, of the same runs.",)
    return Section("Statements of the text", prose, [Table("", ("where", "statement", "published", "ours"), rows)])


def _traffic(results: Results, size: Size) -> Iterator[Claim]:
    """§1.1, §1.2: what long-range dependent traffic does, and who carries it."""
    heavy, light = size.tail_indices[0], size.tail_indices[-1]
    for name, of, unit in (("loss rate", _loss, ""), ("queueing delay", _delay, " ms")):
        first, second = (
            np.array([of(each.alone) for each in results.backgrounds[alpha, _MIDDLE_MBPS, SOURCE, None]])
            for alpha in (heavy, light)
        )
        quantity = f"{name} of the clients alone at α = {heavy:g} less that at {light:g}"
        yield claim("§1.1", quantity, 1, first - second, unit)
    share = 0.1 ** (1 - 1 / heavy)  # of the bytes, in the largest tenth of files of a Pareto law
    more = exactly(share - 0.5)
    note = f"{share:.0%}, by the law; {0.1 ** (1 - 1 / light):.0%} at {light:g}"
    yield sign("§1.2", f"bytes of the largest tenth of files at α = {heavy:g}, share less a half", 1, more, note)


def _loss(of: Measured) -> float:
    return of.loss_rate


def _delay(of: Measured) -> float:
    return of.queueing_delay_ms


def _levels(results: Results, size: Size) -> Iterator[Claim]:
    """§2.2: what an interval says of the next, under heavy tails; nothing of runs that are too short for it."""
    heavy = size.tail_indices[0]
    for interval_s in tails.INTERVALS_S:
        found = tails.successive(results, heavy, interval_s)
        yield claim("fig1", f"correlation of successive intervals of {interval_s} s at α = {heavy:g}", 1, found)
        series = tails.alone(results, heavy, interval_s)
        if min(each.size for each in series) >= _FEWEST_OF_A_LEVEL * LEVELS:
            quantity = f"mean level after level {LEVELS} less that after 1, {interval_s} s, α = {heavy:g}"
            yield claim("fig1", quantity, 1, [after_ends(each) for each in series])
    if min(each.size for each in tails.alone(results, heavy, _LONGEST_S)) > LEVELS:
        ends = [tails.successive(results, heavy, each) for each in (_LONGEST_S, 1)]
        apart = mean_interval(ends[0] - ends[1])
        quantity = f"correlation of successive intervals of {_LONGEST_S} s less that of 1 s at α = {heavy:g}"
        yield sign("§2.2", quantity, 0, apart, signed(apart), negligible=PAPER.within("uncorrelated"))


def after_ends(series: FloatArray) -> float:
    """The mean level that follows the highest level, less the one that follows the lowest."""
    density = tails.density([series])
    means = density @ np.arange(1, LEVELS + 1)
    return float(means[-1] - means[0])


def _round_trips(results: Results, size: Size) -> Iterator[Claim]:
    """§3.1, §5.2.3, §5.3: plain controls, and those whose slope is always larger."""
    near, far = size.rtts_ms[0], size.rtts_ms[-1]

    def plain(control: str, rtt_ms: int) -> Point:
        return rtt.steered(control, rtt_ms).plain

    def mean_over_rtts(control: str) -> FloatArray:
        return np.asarray(np.mean([results.goodput(plain(control, each)) for each in size.rtts_ms], axis=0))

    for control in CONTROLS:
        name = NAMES[control]
        tracked = np.mean([results.tracking(plain(control, each)) for each in size.rtts_ms], axis=0)
        yield claim("fig8a", f"correlation of plain {name}, mean over RTTs", -1, tracked)
        longer = results.over(plain(control, far), plain(control, near))
        yield claim("§5.3", f"throughput of plain {name} at {far} ms less that at {near} ms", -1, longer, "%")
        always = [results.over(rtt.blind(rtt.steered(control, each)), plain(control, each)) for each in (far, near)]
        quantity = f"gain of {name} with a slope that is always the mean at {far} ms less that at {near} ms"
        yield claim("§3.1", quantity, 1, always[0] - always[1], "%")
    for less, more in pairwise(CONTROLS):
        first, second = mean_over_rtts(more), mean_over_rtts(less)
        quantity = f"throughput of plain {NAMES[more]} less that of plain {NAMES[less]}, mean over RTTs"
        yield claim("fig9", quantity, 1, (first - second) / second.mean(), "%")


def _coupling(results: Results) -> Iterator[Claim]:
    """§3.6.1: what is coupled."""
    theta = PAPER["threshold_peak"]
    only, avoidance = (
        thresholds.slow_start("tcp_rate", _MIDDLE_MBPS),
        thresholds.steered("tcp_rate", _MIDDLE_MBPS, theta),
    )
    quantity = (
        f"gain of TCP Rate by congestion avoidance at θ = {theta} less that by slow start, {_MIDDLE_MBPS:g} Mbit/s"
    )
    yield claim("§3.6.1", quantity, 1, results.over(avoidance, only), "%")


def _tail_indices(results: Results, size: Size) -> Iterator[Claim]:
    """Fig. 10: gains are gains, and fall from each tail index to the next."""
    for control in CONTROLS:
        gains = {alpha: results.gain(tails.steered(control, alpha)) for alpha in size.tail_indices}
        heavy = size.tail_indices[0]
        yield claim("fig10", f"gain of {NAMES[control]} at α = {heavy:g}", 1, gains[heavy], "%")
        if len(gains) > 2:  # of two, it is the difference of the ends
            for less, more in pairwise(size.tail_indices):
                quantity = f"gain of {NAMES[control]} at α = {less:g} less that at the next, {more:g}"
                yield claim("fig10", quantity, 1, gains[less] - gains[more], "%")


def _several(results: Results, size: Size) -> Iterator[Claim]:
    """§5.7: what the clients carry, and what each connection gets."""
    mean_of_each: dict[int, FloatArray] = {}
    for count in size.counts:
        point = fairness.steered(size, count)
        carried = mean_interval(np.array([each.background_mbps for each in results.runs[point]]))
        quantity = f"what the clients carry beside {count} connections, Mbit/s"
        yield equal("fig13", quantity, _MIDDLE_MBPS, carried, within=PAPER.within("held"))
        mean_of_each[count] = results.goodput(point) / count
    for few, many in pairwise(size.counts):
        fall = (mean_of_each[many] - mean_of_each[few]) / mean_of_each[few].mean()
        yield claim("fig13", f"mean share of {many} connections less that of {few}", -1, fall, "%")
    totals, averages = PAPER.by("table3_total"), PAPER.by("table3_average")
    off = max(abs(averages[count] - total / count) for count, total in totals.items())
    quantity = "largest distance of a printed average from its total over the number, kB/s"
    null = Null("averages of one connection less", exactly(min(averages.values())))
    yield equal("table3", quantity, 0.0, exactly(off), within=PAPER.within("rounded"), nulls=[null])
