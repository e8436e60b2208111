"""Figures 1 and 2: a realisation of the chain against its theory, and the mean against the square-root formula."""

from __future__ import annotations

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.square_root import independent_losses_constant, square_root_window
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.markov import WindowChain, chain
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.spectra import (
    bounds_plot,
    covered,
    extremes_checks,
    sampled_extremes,
    spectra_plot,
)


def figure_1(scale: Scale = "paper", seed: int = 1) -> Findings:
    """Spectra and bounds of a realisation of 2^18 RTTs at 2 % loss, at either scale."""
    del scale
    window = chain(Bernoulli(PAPER["p_packet"]), PAPER["w_max"])
    theory = ld.spectrum(window)
    series = window.sample(PAPER["length"], np.random.default_rng(seed))
    checks = [
        equal("fig1a", "apex, packets per RTT", PAPER["apex"], exactly(theory.mean), within=PAPER.digits("apex")),
        equal(
            "fig1a",
            "f(11), 1/RTT",
            PAPER["f_at_11"],
            exactly(float(theory.f(11))),
            within=PAPER.digits("f_at_11"),
            note="printed as e^(-0.01 x 100) = 0.37: one digit, to which ours is cut and not rounded",
        ),
        *(_coverage(window, theory, n) for n in PAPER["scales"]),
        *_bias(window, theory),
        *extremes_checks("fig1b", "chain", series, theory, (200, 500, 1000, 2000)),
    ]
    (part,) = theory.linear_parts
    text = (
        "How often does a flow have a mean of x packets per RTT over n round trips? In about exp(n f(x)) of them, says "
        f"the theory. f, the spectrum, is 0 at the long-run mean, {theory.mean:.2f} packets, and below 0 elsewhere. "
        "What a flow shows at every n is to lie on this one curve.",
        f"Beyond {part.low:.1f} packets f is straight, with slope {-part.q:.5f}: {part.why} is then the cheapest way "
        "to a larger mean.",
        "The prediction of the largest mean is biased at small scales, as in the source: factors that do not grow "
        "exponentially with the scale are left out.",
    )
    figures = [
        Chart("fig1a", "Spectra", spectra_plot(series, {"theory": theory}, "Chain, 2 % loss", finite=True)),
        Chart("fig1b", "Observed range", bounds_plot(series, {"eq. (10)": theory})),
    ]
    return Findings(checks, [Section("Figure 1: independent losses", text, figures=figures)])


RECORDS = 8


def _coverage(window: WindowChain, theory: ld.Spectrum, scale: int) -> Claim:
    """Mean share of the bands that have the theory, and its 95 % interval, over records of their own."""
    shares = [covered(window.sample(2**16, np.random.default_rng(100 + k)), theory, scale) for k in range(RECORDS)]
    interval = mean_interval(np.array(shares))
    half = interval.half_width or 0.0
    return equal(
        "fig1a",
        f"share of the bands of n = {scale} that have the theory",
        0.95,
        Interval(interval.mean, interval.mean - half, interval.mean + half, 1),
        within=PAPER.within("coverage"),
        basis="theory",
        note=f"theory: 95 % nominal; mean over {RECORDS} records of 2^16 RTTs: the bands of one share its intervals",
    )


BIASED, ASYMPTOTIC = 100, 1000
"""A smaller and a larger scale of Fig. 1 (b)."""


def _bias(window: WindowChain, theory: ld.Spectrum) -> list[Claim]:
    """The claims of Fig. 1 (b): eq. (10) for the largest mean is biased at small scales, less so at larger ones."""
    length = PAPER["length"] // 8
    drawn = sampled_extremes(window, length, (BIASED, ASYMPTOTIC))
    excess: dict[int, FloatArray] = {
        scale: theory.bounds(length, scale)[1] / highest - 1 for scale, (_, highest) in drawn.items()
    }
    note = f"100 realisations of 2^15 RTTs; at {BIASED} RTTs {_percent(excess[BIASED])}, at {ASYMPTOTIC} "
    note += _percent(excess[ASYMPTOTIC])
    return [
        sign("fig1b", f"eq. (10) less the largest mean over {BIASED} RTTs", 1, mean_interval(excess[BIASED]), note),
        sign(
            "fig1b",
            f"this bias at {BIASED} RTTs less that at {ASYMPTOTIC}, relative",
            1,
            mean_interval(excess[BIASED] - excess[ASYMPTOTIC]),
            note,
        ),
    ]


def _percent(excess: FloatArray) -> str:
    return f"{100 * float(excess.mean()):.1f} %"


def figure_2(scale: Scale) -> Findings:
    """The chain's mean and sqrt(3/(2p)), both as in the source and as a ratio."""
    losses = np.geomspace(1e-6 if scale == "paper" else 1e-5, 0.1, 25 if scale == "paper" else 13)
    means = np.array([ld.spectrum(p, int(8 / np.sqrt(p)) + 8).mean for p in losses])
    formula = square_root_window(losses)
    ratio = means / formula
    limit = independent_losses_constant() / np.sqrt(1.5)
    rare = losses <= PAPER["p_packet"] * 1.001
    note = f"p from {losses[0]:g} to {PAPER['p_packet']:g}; {losses.size} values; the formula is for small p"
    furthest = float(np.abs(ratio[rare] - 1).max())
    check = equal(
        "fig2",
        "largest distance of mean and sqrt(3/(2p)), relative",
        0.0,
        exactly(furthest),
        within=PAPER.within("line_width"),
        note=note,
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
    plot = Plot(
        [
            Panel(both, axis, Axis("mean window", "packets per RTT", log=True)),
            Panel(quotient, axis, Axis("mean over sqrt(3/(2p))")),
        ],
        "The two are said to superimpose; as a ratio the difference shows: the formula is for losses evenly spaced.",
    )
    return Findings(
        [check], [Section("Figure 2: the mean", figures=[Chart("fig2", "Mean window and square-root formula", plot)])]
    )
