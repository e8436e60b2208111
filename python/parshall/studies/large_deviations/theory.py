"""Figures 1 and 2: a realisation of the chain against its theory, and the mean against the square-root formula."""

from __future__ import annotations

import numpy as np

from parshall.models import large_deviations as ld
from parshall.models.loss import Bernoulli
from parshall.models.markov import WindowChain, chain
from parshall.models.square_root import independent_losses_constant, square_root_window
from parshall.report.document import Drawn, Section
from parshall.report.plot import Axis, Guide, Line, Mark, Panel, Plot
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.large_deviations import published
from parshall.studies.large_deviations.spectra import bounds_check, bounds_plot, covered, spectra_plot
from parshall.studies.study import Scale


def figure_1(scale: Scale = "paper", seed: int = 1) -> tuple[list[Check], Section]:
    """Spectra and bounds of a realisation of 2^18 RTTs at 2 % loss, at either scale."""
    del scale
    window = chain(Bernoulli(published.P_PACKET), published.W_MAX)
    theory = ld.spectrum(window)
    series = window.sample(published.LENGTH, np.random.default_rng(seed))
    checks = [
        Check("fig1a", "apex, packets per RTT", published.APEX, theory.mean, None, None, 0.05),
        Check(
            "fig1a",
            "f(11), 1/RTT",
            published.F_AT_11,
            float(theory.f(11)),
            None,
            None,
            0.005,
            "printed as e^(-0.01 x 100) = 0.37: one digit, to which ours is cut and not rounded",
        ),
        *(
            Check(
                "fig1a",
                f"share of the bands of n = {n} that have the theory",
                0.95,
                *_coverage(window, theory, n),
                0.02,
                f"nominal; mean over {RECORDS} records of 2^16 RTTs, since the bands of one share its intervals",
            )
            for n in published.SCALES
        ),
        *bounds_check("fig1b", series, theory, (200, 500, 1000, 2000), window),
    ]
    (part,) = theory.linear_parts
    text = (
        f"The mean is {theory.mean:.5f} packets per RTT. Beyond {part.low:.1f} packets f is straight, with slope "
        f"{-part.q:.5f}: {part.why} is then the cheapest way to a larger mean.",
        "The prediction of the largest mean is biased at small scales, as in the source: factors that do not "
        "grow exponentially with the scale are left out.",
    )
    figures = [
        Drawn("fig1a", "Spectra", spectra_plot(series, theory, "Chain, 2 % loss")),
        Drawn("fig1b", "Observed range", bounds_plot(series, theory)),
    ]
    return checks, Section("Figure 1: independent losses", text, figures=figures)


RECORDS = 8


def _coverage(window: WindowChain, theory: ld.Spectrum, scale: int) -> tuple[float, float, float]:
    """Mean share of the bands that have the theory, and its 95 % interval, over records of their own."""
    shares = [covered(window.sample(2**16, np.random.default_rng(100 + k)), theory, scale) for k in range(RECORDS)]
    found = mean_interval(np.array(shares))
    half = found.half_width or 0.0
    return found.mean, found.mean - half, found.mean + half


def figure_2(scale: Scale) -> tuple[list[Check], Section]:
    """The chain's mean over sqrt(3/(2p)), as a ratio."""
    losses = np.geomspace(1e-6 if scale == "paper" else 1e-5, 0.1, 25 if scale == "paper" else 13)
    means = np.array([ld.spectrum(p, int(8 / np.sqrt(p)) + 8).mean for p in losses])
    ratio = means / square_root_window(losses)
    limit = independent_losses_constant() / np.sqrt(1.5)
    checks = [
        Check(
            "fig2", f"mean over sqrt(3/(2p)), p = {p:g}", 1.0, at, None, None, 0.1, "superimposed in the source's plot"
        )
        for p, at in zip(losses[::4].tolist(), ratio[::4].tolist(), strict=True)
        if p <= 0.02
    ]
    marks: list[Mark] = [
        Line(losses, ratio, "chain"),
        Guide(float(limit), "limit as p falls, 1.0695"),
        Guide(1.0, "square root"),
    ]
    plot = Plot(
        [Panel(marks, Axis("packet loss rate", log=True), Axis("mean over sqrt(3/(2p))"))],
        "The two are said to superimpose; as a ratio the difference shows: the formula is for losses evenly spaced.",
    )
    return checks, Section("Figure 2: the mean", figures=[Drawn("fig2", "Mean over the square-root formula", plot)])
