"""The fast spectrum, which does many throughputs at once, against the transform at each throughput on its own."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli, Deterministic, GaussianCrossTraffic, LossFunction
from parshall_studies.chains.markov import aimd, chain
from parshall_studies.chains.measured_loss import measured

Array = NDArray[np.float64]


def pointwise(s: ld.Spectrum, alpha: Array) -> Array:
    """inf_q Lambda(q) - alpha q by halving brackets of q: nothing is guessed, shared or interpolated."""
    unit = s.loss_rate / s.mean
    low, high = np.full(alpha.shape, -unit), np.full(alpha.shape, unit)
    while np.any(beyond := s.tilted_mean(low) > alpha):
        low[beyond] *= 2
    while np.any(beyond := s.tilted_mean(high) < alpha):
        high[beyond] *= 2
    least = np.zeros(alpha.shape)
    for _ in range(44):  # the minimum's error is that of q squared; at a corner, of q: 6e-14 of the bracket
        q = (low + high) / 2
        value, mean = s._at(q)
        least = np.minimum(least, value - alpha * q)
        low, high = np.where(mean > alpha, low, q), np.where(mean > alpha, q, high)
    return least


def record(smoothing: str) -> LossFunction:
    """p(w) as a realisation of 20,000 RTTs shows it: most windows have seen no loss, some only losses."""
    random = np.random.default_rng(11)
    w = chain(0.02).sample(20_000, random)
    lost = random.random(w.size) < Bernoulli(0.02)(w)
    # Of larger windows the record knows nothing: there a loss is certain, or the last value continues.
    return measured(w, lost, smoothing=smoothing, ceiling=smoothing == "none")  # type: ignore[arg-type]


def two_cycles(window: ArrayLike) -> Array:
    """Two ranges of windows, hard to get from one to the other: Lambda has a corner that is not at w_max."""
    w = np.asarray(window, dtype=np.float64)
    return np.where(w < 100, 1e-5, np.where(w < 110, 0.5, 1e-5))


@pytest.mark.parametrize(
    ("loss", "w_max"),
    [
        (0.02, 20),
        (0.02, 1000),
        (0.005, 1000),
        (0.001, 300),
        (0.2, 100),
        (1e-5, 100_000),
        (GaussianCrossTraffic(1e9, 580e6, 108e6, 0.012), 600),
        (lambda w: np.where(w >= 350, 1.0, 0.01), 1000),
        (two_cycles, 200),
        (record("none"), 100),
        (record("pooled"), 100),
        (chain(0.01, 300, aimd(1, 0.8)), 300),
    ],
    ids=lambda value: None if isinstance(value, (int, float)) else type(value).__name__,
)
def test_many_throughputs_at_once_are_as_exact_as_one(loss: LossFunction | float, w_max: int) -> None:
    s = ld.spectrum(loss, w_max=w_max)
    exact = 1e-10 * s.loss_rate + 1e-12  # what the transform stops at, and rounding
    alpha, f = s.curve(200)
    some = np.arange(1, 199, 28 if w_max <= 1000 else 90)
    assert f[some] == pytest.approx(pointwise(s, alpha[some]), abs=exact)
    for end, limit, value in ((alpha[0], s.lowest, f[0]), (alpha[-1], s.highest, f[-1])):
        assert value == pytest.approx(-s.loss_rate, abs=exact) or (end == limit and value > -s.loss_rate)
    if w_max > 1000:
        return
    everywhere = np.linspace(s.lowest, s.highest, 202)[1:-1]
    f = s.f(everywhere)
    assert f[::40] == pytest.approx(pointwise(s, everywhere[::40]), abs=exact, rel=1e-12)
    assert float(s.f(everywhere[60])) == pytest.approx(float(f[60]), abs=exact, rel=1e-12)


def test_the_straight_part_is_straight() -> None:
    """Beyond the corner f is a chord: the slope is that of the corner everywhere, to what the transform stops at."""
    s = ld.spectrum(0.02, w_max=1000)
    (part,) = s.linear_parts
    alpha = np.linspace(part.low + 0.1, part.high - 0.1, 300)
    f = s.f(alpha)
    assert f[1:] == pytest.approx(f[0] - part.q * (alpha[1:] - alpha[0]), abs=1e-9 * s.loss_rate, rel=1e-9)


def test_a_spectrum_of_one_point() -> None:
    alpha, f = ld.spectrum(Deterministic(147)).curve(200)
    assert (alpha.tolist(), f.tolist()) == (pytest.approx([110.0]), [0.0])


@pytest.mark.parametrize(("p", "w_max"), [(0.02, 1000), (0.005, 1000), (0.02, 100_000)])
def test_evaluations_are_shared(p: float, w_max: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hundred throughputs take little more than one evaluation of Lambda each, and few rounds of them."""
    s = ld.spectrum(p, w_max=w_max)
    solve, sizes = type(s._tilting).solve, []

    def counted(self: object, q: Array, guess: Array | None = None) -> object:
        sizes.append(q.size)
        return solve(self, q, guess)  # type: ignore[arg-type]

    monkeypatch.setattr(type(s._tilting), "solve", counted)
    s.curve(200)
    assert sum(sizes) < 500
    assert len(sizes) < 30
