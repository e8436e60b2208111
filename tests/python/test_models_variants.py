"""Chains with memory: against the exact solution for Reno, published laws, realisations and the packet simulator."""

from __future__ import annotations

import numpy as np
import pytest

from parshall.analysis.models.inputs import FloatArray, ModelInputError
from parshall.analysis.models.throughput import cubic_independent_window
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains import variants
from parshall_studies.chains.growth import CONTROLS, growth
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.chains.loss_epochs import _perron
from parshall_studies.chains.persistent_loss import Persistent, measured_persistent


def test_reno_from_loss_to_loss_is_the_exact_chain() -> None:
    exact, epochs = ld.spectrum(0.02, w_max=120), variants.spectrum("reno", 0.02, w_max=120)
    assert epochs.mean == pytest.approx(exact.mean, rel=1e-8)
    assert epochs.cycle_rtts == pytest.approx(exact.cycle_rtts, rel=1e-8)
    q = [-0.05, -0.01, 0.001, 0.01]
    assert epochs.log_moment(q) == pytest.approx(exact.log_moment(q), abs=1e-12)
    alpha = np.linspace(6, 13, 9)
    assert epochs.f(alpha) == pytest.approx(exact.f(alpha), abs=1e-9)
    # Bounds interpolate f between solutions.
    assert epochs.bounds(2**18, 500) == pytest.approx(exact.bounds(2**18, 500), rel=1e-3)


@pytest.mark.parametrize("control", CONTROLS[1:])
def test_the_grid_does_not_matter(control: str) -> None:
    coarse, fine = (variants.epochs(control, 1e-3, rtt_s=0.1, w_max=4000, grid=grid) for grid in (128, 256))
    assert coarse.mean == pytest.approx(fine.mean, rel=5e-3)


def test_cubic_has_the_mean_of_the_published_constant() -> None:
    """1.196 (RTT/p)^(3/4) with fast convergence, where Reno would have less (`models.cubic`)."""
    for loss in (1e-4, 1e-5):
        law = float(cubic_independent_window(loss, 0.1))
        # Fluid against whole packets and round trips: half a packet in 200, a round trip in a cycle of 50.
        assert variants.epochs("cubic", loss, rtt_s=0.1).mean == pytest.approx(law, rel=0.02)


def test_realisations_of_a_control_vary_as_predicted() -> None:
    """HighSpeed, simulated here from its rules step by step."""
    random, control = np.random.default_rng(5), growth("highspeed")
    s = variants.spectrum("highspeed", 1e-3)
    control.begin(np.full(200, 50.0), np.zeros(200, dtype=bool))
    steps = []
    for _ in range(3000):
        steps.append(np.floor(control.window))
        lost = random.random(200) < Bernoulli(1e-3)(np.floor(control.window))
        before = control.window.copy()
        control.advance()
        climbed = control.window
        control.begin(before, lost)
        control.window = np.where(lost, control.window, climbed)
    series: FloatArray = np.array(steps)[500:].T
    # 200 x 2500 round trips in cycles of 24: some 20,000 cycles.
    assert float(series.mean()) == pytest.approx(s.mean, rel=0.015)
    # The variance of means over n is Lambda''(0)/n; 1000 means know it to 4.5 %, and n = 500 is 21 cycles.
    step = 1e-6
    curvature = float(np.diff(s.tilted_mean([-step, step]))[0]) / (2 * step)
    assert 500 * float(series.reshape(-1, 500).mean(axis=1).var()) == pytest.approx(curvature, rel=0.15)


def test_losses_that_follow_losses() -> None:
    """p(w, k) that does not depend on k is p(w); a realisation of a persistent one has its mean."""
    plain = variants.epochs("reno", 0.02, w_max=120)
    same = variants.epochs("reno", Persistent((Bernoulli(0.02),) * 2, Bernoulli(0.02)), w_max=120)
    assert same.mean == pytest.approx(plain.mean, rel=1e-9)
    persistent = Persistent((Bernoulli(0.2), Bernoulli(0.1)), Bernoulli(0.01))
    random, w, since = np.random.default_rng(1), 10.0, 9
    windows, lost = [], []
    for _ in range(100_000):
        hit = bool(random.random() < float(persistent.since(w, since)))
        windows.append(w)
        lost.append(hit)
        w, since = (max(w // 2, 1.0), 1) if hit else (w + 1, since + 1)
    assert variants.epochs("reno", persistent, w_max=200, grid=200).mean == pytest.approx(
        float(np.mean(windows)), rel=0.02
    )
    found = measured_persistent(windows, lost, 2)
    for k in (1, 2, 3):
        assert float(found.since(8, k)) == pytest.approx(float(persistent.since(8, k)), abs=0.12)  # 4 sqrt(0.25/200)
    # Without the memory the estimate cannot tell the two apart.
    assert variants.epochs("reno", found, w_max=200, grid=200).mean == pytest.approx(float(np.mean(windows)), rel=0.02)


@pytest.mark.slow
def test_bad_input() -> None:
    with pytest.raises(ModelInputError, match='found "vegas", accepted are reno'):
        variants.spectrum("vegas", 1e-3)
    with pytest.raises(ModelInputError, match="rtt_s"):
        variants.spectrum("cubic", 1e-3)
    with pytest.raises(ModelInputError, match="w_max"):
        variants.spectrum("bic", 1e-3, w_max=1)
    with pytest.raises(ModelInputError, match="without a loss"):
        variants.spectrum("bic", lambda w: 0 * w, w_max=100)
    with pytest.raises(ModelInputError, match="probabilities"):
        variants.spectrum("bic", lambda w: w, w_max=100)
    with pytest.raises(ModelInputError, match="memory"):
        measured_persistent([1, 2], [0, 1], 0)
    with pytest.raises(ModelInputError, match="longer records"):
        measured_persistent([1, 2, 3], [0, 1, 0], 5)


def test_any_control_has_one_door() -> None:
    assert variants.for_control("reno", 0.02).mean == ld.spectrum(0.02, w_max=1000).mean
    assert variants.for_control("bic", 1e-3).mean == variants.spectrum("bic", 1e-3).mean
    assert variants.for_control("scalable", 1e-3, w_max=300).highest <= 300


@pytest.mark.slow
@pytest.mark.parametrize("control", ["bic", "scalable"])
def test_losses_every_few_round_trips_have_a_spectrum_or_a_reason(control: str) -> None:
    found = variants.spectrum(control, 0.05)
    assert found.lowest < found.mean < found.highest
    assert found.cycle_rtts < 5
    with pytest.raises(ModelInputError, match=r"losses every 1\.\d* RTTs, too often"):
        variants.spectrum(control, 0.9)


def test_eigenvectors_are_found_from_guesses_that_have_nothing_in_common() -> None:
    """Those of a tilt far away: each underflows where the other does not."""
    matrix = np.array([[1.0, 0.1], [0.1, 1.0]])
    radius, left, right = _perron(matrix, np.array([1.0, 0.0]), np.array([0.0, 1.0]))
    assert radius == pytest.approx(1.1)
    assert left == pytest.approx([0.5, 0.5])
    assert right == pytest.approx([0.5, 0.5])


def test_a_matrix_without_a_spectral_radius_is_refused() -> None:
    with pytest.raises(ModelInputError, match="do not hang together"):
        _perron(np.zeros((2, 2)), np.full(2, 0.5), np.full(2, 0.5))
