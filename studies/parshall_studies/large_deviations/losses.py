"""The loss function p(w): its plot, and what the source says of it and of small windows.

A round trip is a trial of p(w), an interval of 100 RTTs one of the share of small means; intervals of shares and ratios
are those of independent trials. What the chains make is drawn from them, as 100 RTTs are about one loss cycle: too few
for the theory of long scales.

References: Loiseau 2010, §3, §4.2, Figs 4 (c), 5 (a) and 8.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported, sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.instruments.observation.flow import clopper_pearson
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall_studies.chains.loss import LossFunction
from parshall_studies.chains.markov import WindowChain
from parshall_studies.chains.markov import chain as window_chain
from parshall_studies.chains.measured_loss import Measured
from parshall_studies.large_deviations.record import Record
from parshall_studies.large_deviations.setting import BY_MODEL, PAPER
from parshall_studies.spectrum import interval_means

LEVELS = (0.05, 0.3)
"""Losses of eq. (11) at whose windows p(w) is compared: large windows, at which the source calls it accurate."""
SMALL, OVER = 100, 100
"""Packets: where the source's small windows end. Round trips: its shortest scale."""
DRAWN = 2**19
"""Round trips of a realisation of a chain."""
BINS = 20
"""Points of a plot of p(w)."""


def losses_claims(artefact: str, label: str, record: Record) -> list[Claim]:
    """The claims of Figs 4 (c) and 8: at large windows p(w) is that of eq. (11)."""
    claims = []
    every, size = np.arange(1, 600), PAPER["buffer_packets"]
    for level in LEVELS:
        at = int(every[np.searchsorted(BY_MODEL(every), level)])
        here = np.abs(record.windows - at) <= 10
        trials, losses = int(here.sum()), int(record.events[here].sum())
        if trials < 50:
            continue
        predicted, buffered = float(BY_MODEL(at)), float(BY_MODEL(max(1, at - size)))
        note = f"eq. (11), which has no buffer; with {size} packets of it {buffered:.3f}; {trials} RTTs"
        name, within = f"{label}p(w) at {at} ± 10 packets", PAPER.within("loss", predicted)
        claims.append(equal(artefact, name, predicted, _share_of(losses, trials), within=within, note=note))
    return claims


def later_claim(artefact: str, label: str, record: Record) -> Claim:
    """P(loss) in the round trip after a recovery, which says if losses depend on each other."""
    trials, losses = record.after(1)
    note = f"all round trips: {record.events.mean():.4f}; {trials} events"
    return reported(artefact, f"{label}P(loss one round after a recovery)", _share_of(losses, max(1, trials)), note)


def overshoot(record: Record, model: LossFunction) -> list[Claim]:
    """Loss events at small windows over those of a model, less 1; nothing where the flow had no such window."""
    small = record.windows < SMALL
    trials, lost = int(small.sum()), int(record.events[small].sum())
    if not trials:
        return []
    expected = float(model(record.windows[small]).sum())
    low, high = (end * trials / expected - 1 for end in clopper_pearson(lost, trials))
    note = f"{lost} loss events in {trials} RTTs; eq. (11) makes {expected:.2g}"
    excess = Interval(lost / expected - 1, low, high, n=trials)
    return [sign("fig4c", f"p(w) below {SMALL} packets over eq. (11), less 1", 1, excess, note)]


def small_means(throughput: FloatArray, theory: WindowChain, name: str, published: int) -> Claim:
    """Share of intervals with a small mean: of a realisation of a chain, less that of a flow."""
    drawn = _share(theory.sample(DRAWN, np.random.default_rng(1)))
    seen = _share(throughput)
    # The interval of a difference of two shares that are known apart. Newcombe, Statistics in Medicine 17, 1998
    low = math.hypot(drawn.mean - _end(drawn.low), _end(seen.high) - seen.mean)
    high = math.hypot(_end(drawn.high) - drawn.mean, seen.mean - _end(seen.low))
    less = drawn.mean - seen.mean
    quantity = f"share of means over {OVER} RTTs below {SMALL} packets, {name} less seen"
    note = f"seen: {seen.mean:.3g} of {seen.n}; {name}: {drawn.mean:.3g}"
    return sign("fig5a", quantity, published, Interval(less, less - low, less + high, n=seen.n), note)


def small_window_claims(record: Record, raw: WindowChain) -> list[Claim]:
    """The sentences of §4.2 on small windows."""
    return [
        *overshoot(record, BY_MODEL),
        small_means(record.throughput, window_chain(BY_MODEL), "eq. (11)", -1),
        small_means(record.throughput, raw, "measured p(w)", 1),
    ]


def _share(series: FloatArray) -> Interval:
    means = interval_means(series, OVER)
    return _share_of(int((means < SMALL).sum()), means.size)


def _share_of(count: int, trials: int) -> Interval:
    return Interval(count / trials, *clopper_pearson(count, trials), n=trials)


def _end(end: float | None) -> float:
    return 0.0 if end is None else end


def loss_plot(loss: Measured | Mapping[str, Measured], models: Mapping[str, LossFunction] | None = None) -> Plot:
    """p(w) measured, in intervals of windows with about equally many round trips, and models: eq. (11) as published.

    Several records by their names are drawn over each other.
    """
    models = {"eq. (11), published values": BY_MODEL} if models is None else models
    records = loss if isinstance(loss, Mapping) else {"measured": loss}
    points = [_binned(each, name, len(models) + place) for place, (name, each) in enumerate(records.items())]
    w = np.linspace(1.0, max(float(each.window[_last(each)]) for each in records.values()), 300)
    lines = [Line(w, model(w), name, Style(place)) for place, (name, model) in enumerate(models.items())]
    highest = max(float(np.max(each.high)) for each in points if each.high is not None)
    top = min(max(1.5 * highest, 0.02), 1.0)
    axes = Axis("window", "packets", minimum=0.0, maximum=float(w[-1])), Axis("p(w)", minimum=0.0, maximum=top)
    caption = "Share of the round trips in which a loss event begins. Bars: 95 % (Clopper-Pearson)."
    return Plot([Panel([*lines, *points], *axes)], caption)


def _last(loss: Measured) -> int:
    """The largest window that is drawn: those beyond it, of 0.1 % of the round trips, would hide the others."""
    seen = np.cumsum(loss.rounds)
    return int(np.searchsorted(seen, 0.999 * seen[-1]))


def _binned(loss: Measured, name: str, place: int) -> Points:
    seen, last = np.cumsum(loss.rounds), _last(loss)
    number = (BINS * (seen[: last + 1] - loss.rounds[: last + 1]) / seen[last]).astype(int)
    window: list[float] = []
    shares: list[Interval] = []
    for here in (np.flatnonzero(number == each) for each in np.unique(number)):
        rounds, lossy = int(loss.rounds[here].sum()), int(loss.lossy[here].sum())
        window.append(float(loss.rounds[here] @ loss.window[here]) / rounds)
        shares.append(_share_of(lossy, rounds))
    ends = [_end(each.low) for each in shares], [_end(each.high) for each in shares]
    return Points(window, [each.mean for each in shares], name, Style(place), *ends)
