"""Sentences of sections 2 to 4.2 of the source that can be computed or drawn without a packet.

| sentence | what is compared |
| --- | --- |
| eq. (1): the mean tends to sqrt(3/(2p)) | their ratio at p = 1e-6 |
| eq. (3): a realisation has the chain's mean | their ratio, over 2^18 RTTs |
| note 4: w_max = 1000 plays no role | mean and f(11) with twice as much |
| §4.1: above 100 RTTs the estimates match f | how far f lies outside of their bands, over the depth seen |
| §4.1: around 11 packets with a probability of 0.37 | shares of intervals of 100 RTTs of a realisation |
| §4.1: the support is wide | standard deviation of the means over 100 RTTs over the mean |
| Fig. 1 (b): eq. (10) is near the observed extremes | eq. (10) over the extremes of 100 realisations |
| §4.1, §4.2: printed results | the arithmetic |

References: Loiseau 2010, §2, §3.1, §4.1, §4.2, Fig. 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.models.square_root import square_root_window
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null, Tolerance
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.instruments.observation.flow import clopper_pearson
from parshall.report.document import Section
from parshall.studies.published import DIGITS
from parshall.studies.study import Findings, Scale
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.markov import WindowChain, chain
from parshall_studies.large_deviations.constant import READINGS
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.spectra import PARTS, sampled_extremes
from parshall_studies.spectrum import Empirical, empirical_spectra, interval_means

RARE = 1e-6
"""A loss probability at which eq. (1) has its limit."""
AROUND = (10.5, 11.5)
"""Packets: what rounds to 11."""


def sentences(scale: Scale = "paper", seed: int = 1) -> Findings:
    """The checks, at either scale."""
    del scale
    window = chain(Bernoulli(PAPER["p_packet"]), PAPER["w_max"])
    theory = ld.spectrum(window)
    series = window.sample(PAPER["length"], np.random.default_rng(seed))
    around = _around_11(series)
    checks = [
        _square_root(),
        _mean(series, theory),
        *_ceiling(theory),
        *_matches(series, theory),
        *around,
        _is_wide(series),
        *_bounds(window, theory),
        *_arithmetic(),
    ]
    times = " and ".join(f"{each.published / each.ours:.0f}" for each in around if each.published and each.ours)
    text = (
        "Sentences of the source that need no packet. exp(n f) has the exponent of a probability and not its size: at "
        f"the source's own example, 11 packets over {PAPER['scales'][0]} RTTs, it is {times} times the share of "
        f"intervals with a mean {AROUND[0]:g} to {AROUND[1]:g} packets, and of 11 and more.",
    )
    return Findings(checks, [Section("Sentences of sections 2 to 4.2", text)])


def _square_root() -> Claim:
    ratio = ld.spectrum(RARE, int(8 / math.sqrt(RARE))).mean / float(square_root_window(RARE))
    note = "the formula is for losses evenly spaced; of independent ones the limit is 1.0695"
    return _equal(
        "eq1",
        f"the chain's mean over sqrt(3/(2p)) at p = {RARE:g}",
        1.0,
        exactly(ratio),
        PAPER.within("limit"),
        note=note,
    )


def _mean(series: FloatArray, theory: ld.Spectrum) -> Claim:
    seen = mean_interval(interval_means(series, series.size // PARTS))
    low, high = (None if end is None else end / theory.mean for end in (seen.low, seen.high))
    ratio = Interval(seen.mean / theory.mean, low, high, n=seen.n)
    return _equal("eq3", "mean of 2^18 RTTs over the chain's", 1.0, ratio, PAPER.within("limit"))


def _ceiling(theory: ld.Spectrum) -> list[Claim]:
    higher = ld.spectrum(Bernoulli(PAPER["p_packet"]), 2 * PAPER["w_max"])
    ratios = {"mean": higher.mean / theory.mean, "f(11)": float(higher.f(11) / theory.f(11))}
    quantity = f"with w_max = {2 * PAPER['w_max']} over that with {PAPER['w_max']}"
    return [
        _equal("note4", f"{name} {quantity}", 1.0, exactly(ratio), PAPER.within("arithmetic"))
        for name, ratio in ratios.items()
    ]


def _matches(series: FloatArray, theory: ld.Spectrum) -> list[Claim]:
    return [
        _equal(
            "fig1a",
            f"how far f lies outside the estimate's band at n = {each.scale}, over the depth seen",
            0.0,
            single(outside(each, theory.f(each.alpha))),
            PAPER.within("depth"),
            nulls=[Null("a curve that lies outside by half of the depth", exactly(0.5))],
            note=f"{each.alpha.size} classes of means, of 95 % each; the deepest at f = {each.f.min():.3g}",
        )
        for each in empirical_spectra(series, PAPER["scales"])
    ]


def outside(seen: Empirical, f: FloatArray) -> float:
    """The largest distance of a curve from the band of an estimate, over the depth of the estimate; 0 within it."""
    away = np.maximum(np.maximum(seen.low - f, f - seen.high), 0.0)
    return float(away.max() / -seen.f.min())


def _around_11(series: FloatArray) -> list[Claim]:
    scale = PAPER["scales"][0]
    means, printed = interval_means(series, scale), round(math.exp(PAPER["f_at_11"] * scale), 2)
    shares = {
        f"between {AROUND[0]:g} and {AROUND[1]:g} packets": (means > AROUND[0]) & (means < AROUND[1]),
        "of 11 packets and more": means >= 11,
    }
    return [
        _equal(
            "section 4.1",
            f"P(a mean over {scale} RTTs {name})",
            printed,
            _share(here),
            PAPER.within("printed", printed),
        )
        for name, here in shares.items()
    ]


def _is_wide(series: FloatArray) -> Claim:
    means = interval_means(series, PAPER["scales"][0])
    ratio, half = float(means.std(ddof=1) / means.mean()), 1.96 / math.sqrt(2 * means.size)
    width = Interval(ratio, ratio * (1 - half), ratio * (1 + half), n=means.size)
    quantity = f"deviation of the means over {PAPER['scales'][0]} RTTs over their mean, beyond 1 %"
    return sign("fig1a", quantity, 1, width, negligible=PAPER.within("limit"))


def _bounds(window: WindowChain, theory: ld.Spectrum) -> list[Claim]:
    """Eq. (10) over an extreme: the median of realisations, and the interval of one."""
    length, scales = PAPER["length"] // 8, PAPER["scales"][1:]
    checks = []
    for scale, extremes in sampled_extremes(window, length, scales).items():
        limits = theory.bounds(length, scale)
        for name, limit, seen in zip(("lowest", "highest"), limits, extremes, strict=True):
            low, middle, high = np.quantile(limit / seen, (0.025, 0.5, 0.975)).tolist()
            quantity = f"eq. (10) over the {name} mean over {scale} RTTs"
            note = f"{seen.size} realisations of 2^15 RTTs"
            checks.append(
                _equal(
                    "fig1b",
                    quantity,
                    1.0,
                    Interval(middle, low, high, n=seen.size),
                    PAPER.within("fairly_well"),
                    note=note,
                )
            )
    return checks


def _arithmetic() -> Iterable[Claim]:
    printed = math.exp(PAPER["f_at_11"] * PAPER["scales"][0])
    yield _equal("section 4.1", "exp(-0.01 x 100)", 0.37, exactly(printed), Tolerance(0.005, DIGITS))
    full_ms = 8e3 * PAPER["buffer_packets"] * PAPER["packet_bytes"] / PAPER["capacity_bps"]
    yield _equal("section 4.2", "a full buffer of 96 packets, ms", 1.2, exactly(full_ms), Tolerance(0.05, DIGITS))
    for reading in READINGS:
        quantity, top = "packets an RTT that constant cross traffic leaves", PAPER["constant_range"][1]
        yield _equal("section 4.2", quantity, top, exactly(reading.free), Tolerance(0.5, DIGITS), reading=reading.label)


def _share(here: np.ndarray) -> Interval:
    count = int(here.sum())
    return Interval(count / here.size, *clopper_pearson(count, here.size), n=here.size)


def _equal(
    artefact: str,
    quantity: str,
    published: float,
    ours: Interval,
    within: Tolerance,
    *,
    note: str = "",
    reading: str = "",
    nulls: Sequence[Null] = (),
) -> Claim:
    return equal(artefact, quantity, published, ours, within=within, note=note, reading=reading, nulls=nulls)
