"""Claims of the source on small windows, and on eq. (2) as a whole, beside a simulated flow in ON/OFF cross traffic.

| sentence of §4.2 | what is compared |
| --- | --- |
| below about 100 packets p(w) is above eq. (11) | loss events there over those of eq. (11) at the flow's own windows |
| eq. (11) gives too few intervals with a small mean | share of intervals of 100 RTTs with a mean below 100 packets |
| the measured p(w) gives too many of them | the same |
| eq. (2) is satisfactory without fast recovery | its mean over that of the flow |

And of §3, that a window is what is sent in a round trip.

A round trip is a trial of p(w), an interval of 100 RTTs one of the share; intervals of shares and ratios are those of
independent trials. What the chains make is drawn from them, as 100 RTTs are about one loss cycle: too few for the
theory of long scales.

References: Loiseau 2010, §3, §4.2, Figs 4 (c) and 5 (a).
"""

from __future__ import annotations

import math

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import single
from parshall.instruments.observation.flow import clopper_pearson
from parshall_studies.chains.loss import LossFunction
from parshall_studies.chains.markov import WindowChain, chain
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.spectra import PARTS
from parshall_studies.spectrum import interval_means

SMALL, OVER = 100, 100
"""Packets: where the source's small windows end. Round trips: its shortest scale."""
DRAWN = 2**19
"""Round trips of a realisation of a chain."""


def claims(record: Record, model: LossFunction, reading: str) -> list[Claim]:
    """The claims of this module, of one flow; `model` is eq. (11)."""
    raw = chain(record.loss())
    return [
        *overshoot(record, model, reading),
        small_means(record.throughput, chain(model), "eq. (11)", -1, reading),
        small_means(record.throughput, raw, "measured p(w)", 1, reading),
        _of_chain(record, raw, reading),
        _of_window(record, reading),
    ]


def overshoot(record: Record, model: LossFunction, reading: str) -> list[Claim]:
    """Loss events at small windows over those of a model, less 1; nothing where the flow had no such window."""
    small = record.windows < SMALL
    trials, lost = int(small.sum()), int(record.events[small].sum())
    if not trials:
        return []
    expected = float(model(record.windows[small]).sum())
    low, high = (end * trials / expected - 1 for end in clopper_pearson(lost, trials))
    quantity = f"p(w) below {SMALL} packets over eq. (11), less 1"
    note = f"{lost} loss events in {trials} RTTs; eq. (11) makes {expected:.2g}"
    excess = Interval(lost / expected - 1, low, high, n=trials)
    return [sign("fig4c", quantity, 1, excess, note, reading=reading)]


def small_means(throughput: FloatArray, theory: WindowChain, name: str, published: int, reading: str) -> Claim:
    """Share of intervals with a small mean: of a realisation of a chain, less that of a flow."""
    drawn = _share(theory.sample(DRAWN, np.random.default_rng(1)))
    seen = _share(throughput)
    # The interval of a difference of two shares that are known apart. Newcombe, Statistics in Medicine 17, 1998
    low = math.hypot(drawn.mean - _end(drawn.low), _end(seen.high) - seen.mean)
    high = math.hypot(_end(drawn.high) - drawn.mean, seen.mean - _end(seen.low))
    less = drawn.mean - seen.mean
    quantity = f"share of means over {OVER} RTTs below {SMALL} packets, {name} less seen"
    note = f"seen: {seen.mean:.3g} of {seen.n}; {name}: {drawn.mean:.3g}"
    return sign("fig5a", quantity, published, Interval(less, less - low, less + high, n=seen.n), note, reading=reading)


def _share(series: FloatArray) -> Interval:
    means = interval_means(series, OVER)
    below = int((means < SMALL).sum())
    return Interval(below / means.size, *clopper_pearson(below, means.size), n=means.size)


def _end(end: float | None) -> float:
    return 0.0 if end is None else end


def _of_chain(record: Record, raw: WindowChain, reading: str) -> Claim:
    """The mean of eq. (2) with the measured p(w) over that of the flow."""
    mean = _mean(record)
    low, high = (None if end is None else raw.mean / end for end in (mean.high, mean.low))
    quantity = "mean of eq. (2) with the measured p(w) over the flow's"
    note = "eq. (2) has neither recoveries nor timeouts"
    ratio = Interval(raw.mean / mean.mean, low, high, n=mean.n)
    return equal("fig5a", quantity, 1.0, ratio, within=PAPER.within("plot"), note=note, reading=reading)


def _of_window(record: Record, reading: str) -> Claim:
    """Packets sent a round trip over the mean window, which is also that of round trips of recovery."""
    ratio = record.mean / float(record.cwnd.mean())
    quantity = "packets sent a round trip over the mean window"
    return equal("fig5", quantity, 1.0, single(ratio), within=PAPER.within("plot"), reading=reading)


def _mean(record: Record) -> Interval:
    series = record.throughput
    return mean_interval(interval_means(series, series.size // PARTS))
