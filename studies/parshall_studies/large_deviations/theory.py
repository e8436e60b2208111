"""Figures 1 and 2, and sentences of sections 2 to 4.2 that need no packet.

| sentence | what is compared |
| --- | --- |
| eq. (1): the mean tends to sqrt(3/(2p)) | their ratio at p = 1e-6 |
| eq. (3): a realisation has the chain's mean | their ratio, over 2^18 RTTs |
| note 4: w_max = 1000 plays no role | mean and f(11) with twice as much |
| §4.1: above 100 RTTs the estimates match f | how far f lies outside of their bands, over the depth seen |
| §4.1: around 11 packets with a probability of 0.37 | exact probabilities of such means over 100 RTTs |
| §4.1: the support is wide | standard deviation of the means over 100 RTTs over the mean |
| Fig. 1 (b): eq. (10) is near the extremes, biased at small scales | eq. (10) over those of 100 realisations |
| §4.1, §4.2: printed results | the arithmetic |

References: Loiseau 2010, §2, §3.1, §4.1, §4.2, Figs 1 and 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.square_root import independent_losses_constant, square_root_window
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.published import DIGITS
from parshall.studies.study import Findings
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.markov import WindowChain
from parshall_studies.chains.markov import chain as window_chain
from parshall_studies.finite_scale import exact_probability_below
from parshall_studies.large_deviations.constant import chain_claim
from parshall_studies.large_deviations.flow import mean_of
from parshall_studies.large_deviations.on_off import model_claims
from parshall_studies.large_deviations.setting import PAPER
from parshall_studies.large_deviations.spectra import (
    bounds_plot,
    covered,
    extremes_checks,
    sampled_extremes,
    spectra_plot,
)
from parshall_studies.spectrum import Empirical, empirical_spectra, interval_means

RARE = 1e-6
"""A loss probability at which eq. (1) has its limit."""
AROUND = (10.5, 11.5)
"""Packets: what rounds to 11."""
RECORDS = 8
"""Realisations of 2^16 RTTs whose bands are looked at."""
BIASED, ASYMPTOTIC = 100, 1000
"""A smaller and a larger scale of Fig. 1 (b)."""


@cache
def window() -> WindowChain:
    """The source's chain."""
    return window_chain(Bernoulli(PAPER["p_packet"]), PAPER["w_max"])


@cache
def spectrum() -> ld.Spectrum:
    """Its spectrum."""
    return ld.spectrum(window())


def figure_1(seed: int = 1) -> Findings:
    """Spectra and bounds of a realisation of 2^18 RTTs at 2 % loss, and what else the source says of the chain."""
    theory = spectrum()
    series = window().sample(PAPER["length"], np.random.default_rng(seed))
    around = probabilities()
    printed = PAPER.number("f_at_11")
    claims = [
        equal("fig1a", "apex, packets per RTT", PAPER["apex"], exactly(theory.mean), within=PAPER.digits("apex")),
        equal(
            "fig1a",
            "f(11), 1/RTT",
            printed,
            exactly(float(theory.f(11))),
            within=PAPER.digits("f_at_11"),
            note="printed as e^(-0.01 x 100) = 0.37: one digit, to which ours is cut and not rounded",
        ),
        *(_coverage(n) for n in PAPER["scales"]),
        *_bias(),
        *extremes_checks("fig1b", "chain", series, theory, (200, 500, 1000, 2000)),
        _limit_of_mean(),
        _mean(series),
        *_ceiling(),
        *_matches(series),
        *around,
        _is_wide(series),
        *_bounds(),
        *_arithmetic(),
        chain_claim(),
        *model_claims(),
    ]
    (part,) = theory.linear_parts
    shares = " and ".join(f"{each.ours:.3f}" for each in around)
    text = (
        "How often does a flow have a mean of x packets per RTT over n round trips? In about exp(n f(x)) of them, says "
        f"the theory. f, the spectrum, is 0 at the long-run mean, {theory.mean:.2f} packets, and below 0 elsewhere. "
        "What a flow shows at every n is to lie on this one curve.",
        f"Beyond {part.low:.1f} packets f is straight, with slope {-part.q:.5f}: {part.why} is then the cheapest way "
        "to a larger mean.",
        "exp(n f) has the exponent of a probability and not its size. The source's own example, 11 packets over 100 "
        "RTTs, is printed as 0.37; the exact probabilities of a mean of 11 and more, and of 10.5 to 11.5, are "
        f"{shares}: so 0.03 to 0.05.",
        "The prediction of the largest mean is biased at small scales, as in the source: factors that do not grow "
        "exponentially with the scale are left out.",
    )
    figures = [
        Chart("fig1a", "Spectra", spectra_plot(series, {"theory": theory}, "Chain, 2 % loss", finite=True)),
        Chart("fig1b", "Observed range", bounds_plot(series, {"eq. (10)": theory})),
    ]
    return Findings(claims, [Section("Figure 1: independent losses", text, figures=figures)])


def _coverage(scale: int) -> Claim:
    """Mean share of the bands that have the theory, and its 95 % interval, over records of their own."""
    records = (window().sample(2**16, np.random.default_rng(100 + k)) for k in range(RECORDS))
    shares = mean_interval(np.array([covered(series, spectrum(), scale) for series in records]))
    quantity, within = f"share of the bands of n = {scale} that have the theory", PAPER.within("coverage")
    note = f"theory: 95 % nominal; mean over {RECORDS} records of 2^16 RTTs: the bands of one share its intervals"
    return equal("fig1a", quantity, 0.95, shares, within=within, basis="theory", note=note)


def _bias() -> list[Claim]:
    """The claims of Fig. 1 (b): eq. (10) for the largest mean is biased at small scales, less so at larger ones."""
    length = PAPER["length"] // 8
    drawn = sampled_extremes(window(), length, (BIASED, ASYMPTOTIC))
    excess = {scale: spectrum().bounds(length, scale)[1] / highest - 1 for scale, (_, highest) in drawn.items()}
    seen = " and ".join(f"{100 * each.mean():.1f} % at {scale} RTTs" for scale, each in excess.items())
    note = f"100 realisations of 2^15 RTTs; {seen}"
    less = mean_interval(excess[BIASED] - excess[ASYMPTOTIC])
    return [
        sign("fig1b", f"eq. (10) less the largest mean over {BIASED} RTTs", 1, mean_interval(excess[BIASED]), note),
        sign("fig1b", f"this bias at {BIASED} RTTs less that at {ASYMPTOTIC}, relative", 1, less, note),
    ]


def _limit_of_mean() -> Claim:
    ratio = ld.spectrum(RARE, int(8 / math.sqrt(RARE))).mean / float(square_root_window(RARE))
    note = "the formula is for losses evenly spaced; of independent ones the limit is 1.0695"
    quantity = f"the chain's mean over sqrt(3/(2p)) at p = {RARE:g}"
    return equal("eq1", quantity, 1.0, exactly(ratio), within=PAPER.within("limit"), note=note)


def _mean(series: FloatArray) -> Claim:
    ratio = mean_of(series / spectrum().mean)
    return equal("eq3", "mean of 2^18 RTTs over the chain's", 1.0, ratio, within=PAPER.within("limit"))


def _ceiling() -> list[Claim]:
    theory, higher = spectrum(), ld.spectrum(Bernoulli(PAPER["p_packet"]), 2 * PAPER["w_max"])
    ratios = {"mean": higher.mean / theory.mean, "f(11)": float(higher.f(11) / theory.f(11))}
    quantity, within = f"with w_max = {2 * PAPER['w_max']} over that with {PAPER['w_max']}", PAPER.within("arithmetic")
    return [equal("note4", f"{name} {quantity}", 1.0, exactly(ratio), within=within) for name, ratio in ratios.items()]


def _matches(series: FloatArray) -> list[Claim]:
    return [
        equal(
            "fig1a",
            f"how far f lies outside the estimate's band at n = {each.scale}, over the depth seen",
            0.0,
            single(outside(each, spectrum().f(each.alpha))),
            within=PAPER.within("depth"),
            nulls=[Null("a curve that lies outside by half of the depth", exactly(0.5))],
            note=f"{each.alpha.size} classes of means, of 95 % each; the deepest at f = {each.f.min():.3g}",
        )
        for each in empirical_spectra(series, PAPER["scales"])
    ]


def outside(seen: Empirical, f: FloatArray) -> float:
    """The largest distance of a curve from the band of an estimate, over the depth of the estimate; 0 within it."""
    away = np.maximum(np.maximum(seen.low - f, f - seen.high), 0.0)
    return float(away.max() / -seen.f.min())


def probabilities() -> list[Claim]:
    """The printed probability of a mean around 11 packets over 100 RTTs, beside the exact ones."""
    scale = PAPER["scales"][0]
    printed = round(math.exp(PAPER["f_at_11"] * scale), 2)
    small = window_chain(Bernoulli(PAPER["p_packet"]), 80)  # windows above have a probability below 1e-20
    below = {x: exact_probability_below(small, x, scale) for x in (11.0, *AROUND)}
    exact = {
        "of 11 packets and more": 1 - below[11.0],
        f"between {AROUND[0]:g} and {AROUND[1]:g} packets": below[AROUND[1]] - below[AROUND[0]],
    }
    within = PAPER.within("printed", printed)
    note = "exact, of the chain followed together with the sum of its windows"
    return [
        equal("section 4.1", f"P(a mean over {scale} RTTs {name})", printed, exactly(p), within=within, note=note)
        for name, p in exact.items()
    ]


def _is_wide(series: FloatArray) -> Claim:
    means = interval_means(series, PAPER["scales"][0])
    ratio, half = float(means.std(ddof=1) / means.mean()), 1.96 / math.sqrt(2 * means.size)
    width = Interval(ratio, ratio * (1 - half), ratio * (1 + half), n=means.size)
    quantity = f"deviation of the means over {PAPER['scales'][0]} RTTs over their mean, beyond 1 %"
    return sign("fig1a", quantity, 1, width, negligible=PAPER.within("limit"))


def _bounds() -> list[Claim]:
    """Eq. (10) over an extreme: the median of realisations, and the interval of one."""
    length, scales = PAPER["length"] // 8, PAPER["scales"][1:]
    claims = []
    for scale, extremes in sampled_extremes(window(), length, scales).items():
        for name, limit, seen in zip(("lowest", "highest"), spectrum().bounds(length, scale), extremes, strict=True):
            low, middle, high = np.quantile(limit / seen, (0.025, 0.5, 0.975)).tolist()
            quantity, note = (
                f"eq. (10) over the {name} mean over {scale} RTTs",
                f"{seen.size} realisations of 2^15 RTTs",
            )
            ratio = Interval(middle, low, high, n=seen.size)
            claims.append(equal("fig1b", quantity, 1.0, ratio, within=PAPER.within("fairly_well"), note=note))
    return claims


def _arithmetic() -> Iterable[Claim]:
    printed = math.exp(PAPER["f_at_11"] * PAPER["scales"][0])
    yield equal("section 4.1", "exp(-0.01 x 100)", 0.37, exactly(printed), within=Tolerance(0.005, DIGITS))
    full_ms = 8e3 * PAPER["buffer_packets"] * PAPER["packet_bytes"] / PAPER["capacity_bps"]
    quantity = "a full buffer of 96 packets, ms"
    yield equal("section 4.2", quantity, 1.2, exactly(full_ms), within=Tolerance(0.05, DIGITS))


def figure_2() -> Findings:
    """The chain's mean and sqrt(3/(2p)), both as in the source and as a ratio."""
    losses = np.geomspace(1e-5, 0.1, 17)
    means = np.array([ld.spectrum(p, int(8 / np.sqrt(p)) + 8).mean for p in losses])
    formula = square_root_window(losses)
    ratio, limit = means / formula, independent_losses_constant() / np.sqrt(1.5)
    rare = losses <= PAPER["p_packet"] * 1.001
    claim = equal(
        "fig2",
        "largest distance of mean and sqrt(3/(2p)), relative",
        0.0,
        exactly(float(np.abs(ratio[rare] - 1).max())),
        within=PAPER.within("line_width"),
        note=f"p from {losses[0]:g} to {PAPER['p_packet']:g}; {losses.size} values; the formula is for small p",
        nulls=[Null("a chain with half the formula's mean", exactly(0.5))],
    )
    both: list[Mark] = [
        Line(losses, formula, "square-root formula", Style(0)),
        Points(losses, means, "chain: apex of the spectrum", Style(1)),
    ]
    quotient: list[Mark] = [
        Line(losses, ratio, "chain over formula", Style(1)),
        Guide(float(limit), "limit as p falls, 1.0695"),
        Guide(1.0, "square root"),
    ]
    axis = Axis("packet loss rate", log=True)
    panels = [
        Panel(both, axis, Axis("mean window", "packets per RTT", log=True)),
        Panel(quotient, axis, Axis("mean over sqrt(3/(2p))")),
    ]
    caption = (
        "The two are said to superimpose; as a ratio the difference shows: the formula is for losses evenly spaced."
    )
    figure = Chart("fig2", "Mean window and square-root formula", Plot(panels, caption))
    return Findings([claim], [Section("Figure 2: the mean", figures=[figure])])
