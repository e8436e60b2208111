"""The large-deviations study: its parts; the packet simulator shows the spectrum where timeouts are rare."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from parshall.models import large_deviations as ld
from parshall.models.loss import Bernoulli
from parshall.stats.spectrum import interval_means
from parshall.studies.large_deviations import network, published, theory


def test_packets_are_counted_per_rtt() -> None:
    """A round of two RTTs gives half of its packets to each; nothing is lost."""
    rtt = published.RTT_S
    rounds = pl.DataFrame(
        {"start_s": [0.0, rtt, 3 * rtt], "length_s": [rtt, 2 * rtt, rtt], "window_packets": [10, 16, 5]}
    )
    assert network.per_rtt(rounds)[:3].tolist() == pytest.approx([10, 8, 8])


def test_figure_1_of_the_chain() -> None:
    checks, section = theory.figure_1()
    verdicts = {(check.artefact, check.quantity): check.verdict for check in checks}
    assert verdicts["fig1a", "apex, packets per RTT"] == "reproduced"
    assert verdicts["fig1b", "lowest mean over 500 RTTs, packets per RTT"] == "reproduced"
    assert verdicts["fig1b", "highest mean over 500 RTTs, packets per RTT"] == "reproduced"
    assert [drawn.name for drawn in section.figures] == ["fig1a", "fig1b"]


def test_the_packet_simulator_shows_the_chains_spectrum() -> None:
    link = {**network.LINK, "loss": {"name": "bernoulli", "probability": 0.002}}
    series = network.per_rtt(network.rounds(link, [network.TCP], 1560))
    s = ld.spectrum(Bernoulli(0.002))
    assert float(series.mean()) == pytest.approx(s.mean, rel=0.02)
    means = interval_means(series, 200)
    # The curvature of f at the apex is the inverse of the variance, at any scale.
    step = 1e-5
    variance = float(np.diff(s.tilted_mean([-step, step]))[0]) / (2 * step)
    assert float(means.var()) * 200 == pytest.approx(variance, rel=0.2)
