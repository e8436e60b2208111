"""The spectrum against an independent eigenvalue solution, the issue's values, closed forms and realisations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from parshall.analysis.models.inputs import ModelInputError
from parshall_studies.chains import large_deviations as ld
from parshall_studies.chains.loss import Bernoulli, CrossTraffic, Deterministic, GaussianCrossTraffic, empirical
from parshall_studies.chains.markov import Rule, WindowChain, aimd, chain
from parshall_studies.chains.measured_loss import measured
from parshall_studies.finite_scale import exact_probability_below

Array = NDArray[np.float64]


def dense(p: Array, up: Array, down: Array, q: float) -> float:
    """Lambda(q) from all eigenvalues of the full matrix, built here from eq. (2) and footnote 1."""
    size = p.size
    a = np.zeros((size, size))
    for i in range(size):
        a[i, int(up[i]) - 1] += 1 - p[i]
        a[i, int(down[i]) - 1] += p[i]
    a *= np.exp(q * (np.arange(1, size + 1) - size / 2))[None, :]
    return float(np.log(np.abs(np.linalg.eigvals(a)).max()) + q * size / 2)


@pytest.fixture(scope="module")
def s() -> ld.Spectrum:
    return ld.spectrum(Bernoulli(0.02), w_max=1000)


def test_values_of_two_percent(s: ld.Spectrum) -> None:
    assert s.mean == pytest.approx(8.60124, abs=1e-5)
    expected = [-0.08429, -0.01169, -0.00055, -0.01589, -0.02890]
    assert s.f([5, 7, 9, 11, 12]).tolist() == pytest.approx(expected, abs=1e-5)
    for scale, low, high in ((100, 5.089, 14.971), (500, 6.950, 10.697), (2000, 7.824, 9.464)):
        assert s.bounds(2**18, scale) == pytest.approx((low, high), abs=6e-4)


@pytest.mark.parametrize(("p", "ratio"), [(0.02, 0.993), (0.005, 1.031), (0.001, 1.052), (1e-7, 1.0695)])
def test_mean_over_the_square_root_formula(p: float, ratio: float) -> None:
    w_max = int(6 / np.sqrt(p))
    assert ld.spectrum(p, w_max).mean / np.sqrt(1.5 / p) == pytest.approx(ratio, abs=6e-4)


def test_staying_at_w_max_takes_over(s: ld.Spectrum) -> None:
    (part,) = s.linear_parts
    assert part.q == pytest.approx(0.02043, abs=5e-6)
    assert part.low == pytest.approx(17.8, abs=0.05)
    assert part.why == "staying at w_max"
    f = s.f([18, 100, 500])
    assert np.diff(f) == pytest.approx(-part.q * np.array([82, 400]), rel=2e-8)
    # Staying costs log(1 - p(w_max)) an RTT.
    assert float(s.f(1000)) == pytest.approx(1000 * np.log(0.98), rel=1e-9)
    assert ld.spectrum(Bernoulli(0.02), w_max=12).linear_parts == ()


@settings(max_examples=60, deadline=None)
@given(
    p=st.lists(st.floats(0.01, 0.99), min_size=2, max_size=40),
    kept=st.floats(0.1, 0.95),
    q=st.floats(-2, 2),
)
def test_any_loss_function_and_decrease(p: list[float], kept: float, q: float) -> None:
    probabilities = np.array(p)
    windows = np.arange(1.0, len(p) + 1)
    down = np.maximum(np.floor(kept * windows), 1)
    up = np.minimum(windows + 1, len(p))
    rule = Rule(lambda w: w + 1, lambda w: np.floor(kept * w))
    found = ld.spectrum(lambda w: probabilities[w.astype(int) - 1], w_max=len(p), rule=rule)
    assert float(found.log_moment(q)) == pytest.approx(dense(probabilities, up, down, q), rel=1e-9, abs=1e-11)
    # Lambda is convex: its tangent is below it, and touches it.
    for step in (-1e-2, -1e-4, 1e-4, 1e-2):
        tangent = float(found.log_moment(q)) + step * float(found.tilted_mean(q))
        beside = dense(probabilities, up, down, q + step)
        assert tangent <= beside + 1e-10
    closest = float(found.log_moment(q)) + 1e-7 * float(found.tilted_mean(q))
    assert closest == pytest.approx(dense(probabilities, up, down, q + 1e-7), abs=1e-10)


@settings(max_examples=15, deadline=None)
@given(p=st.lists(st.floats(0.02, 0.9), min_size=6, max_size=40), step=st.integers(2, 4))
def test_rules_that_skip_windows(p: list[float], step: int) -> None:
    probabilities, windows = np.array(p), np.arange(1.0, len(p) + 1)
    found = ld.spectrum(lambda w: probabilities[w.astype(int) - 1], w_max=len(p), rule=aimd(step, 0.5))
    up, down = np.minimum(windows + step, len(p)), np.maximum(windows // 2, 1)
    for q in (-0.3, 0.2):
        assert float(found.log_moment(q)) == pytest.approx(dense(probabilities, up, down, q), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(p=st.lists(st.floats(0.02, 0.95), min_size=4, max_size=60))
def test_the_spectrum_is_concave_with_its_apex_at_the_mean(p: list[float]) -> None:
    probabilities = np.array(p)
    c = chain(lambda w: probabilities[w.astype(int) - 1], w_max=len(p))
    assert c.stationary @ c.transitions() == pytest.approx(c.stationary, abs=1e-12)
    found = ld.spectrum(c)
    assert float(found.tilted_mean(0)) == pytest.approx(c.mean, rel=1e-10)
    alpha = np.linspace(found.lowest, found.highest, 41)
    f = found.f(alpha)
    assert np.all(f <= 1e-12)
    assert np.all(np.diff(f, 2) <= 1e-8)
    assert float(found.f(found.mean)) == pytest.approx(0, abs=1e-12)
    assert found.f([found.lowest - 0.1, found.highest + 0.1]).tolist() == [-np.inf, -np.inf]


def test_no_overflow_at_any_q(s: ld.Spectrum) -> None:
    q = np.array([-1e300, -1e6, -50, 0, 50, 1e6, 1e300])
    at = s.log_moment(q)
    assert np.all(np.isfinite(at))
    assert s.tilted_mean(q)[[0, 3, 6]].tolist() == pytest.approx([1, s.mean, 1000])
    assert float(at[5]) == pytest.approx(1e9 + 1000 * np.log(0.98), abs=1e-4)


def test_constant_cross_traffic_is_degenerate() -> None:
    found = ld.spectrum(Deterministic(147), w_max=1000)
    assert found.degenerate
    assert found.mean == pytest.approx(110)
    assert found.f([109.9, 110, 111]).tolist() == [-np.inf, 0, -np.inf]
    assert found.bounds(10_000, 100) == pytest.approx((110, 110))
    assert float(found.log_moment(3.0)) == pytest.approx(330)
    assert chain(Deterministic(147)).period == 75
    assert chain(Deterministic(147)).windows[[0, -1]].tolist() == [73, 147]


def test_periodic_chains_have_the_same_theory() -> None:
    """Losses at 4 or 5 only, each surely or with one chance in two: cycles of 3 or 4 RTTs, or of one length."""
    alternating = ld.spectrum(lambda w: np.where(w == 4, 0.5, (w > 4) * 1.0), w_max=9)
    assert (alternating.lowest, alternating.highest) == (3.0, 3.5)
    assert float(alternating.f(3.0)) == pytest.approx(np.log(0.5) / 3)
    no_loss = ld.spectrum(lambda w: 0 * w, w_max=20)
    assert (no_loss.mean, no_loss.degenerate) == (20, True)
    certain = ld.spectrum(lambda w: 0 * w + 1, w_max=20)
    assert (certain.mean, certain.degenerate) == (1, True)


def test_certain_loss_bounds_the_spectrum() -> None:
    """Loiseau 2010, Fig. 5: loss at 350 packets limits the mean to about 3/4 of that."""
    found = ld.spectrum(lambda w: np.where(w >= 350, 1.0, 0.01), w_max=1000)
    assert found.highest == pytest.approx((175 + 350) / 2)


def test_cross_traffic_of_any_distribution() -> None:
    normal = GaussianCrossTraffic(1e9, 580e6, 108e6, 0.012)
    samples = np.random.default_rng(3).normal(580e6, 108e6, 400_000)
    measured_ = CrossTraffic(empirical(samples), capacity_bps=1e9, rtt_s=0.012)
    w = np.arange(50, 500, 50.0)
    assert measured_(w) == pytest.approx(normal(w), abs=0.003)
    assert float(normal(420)) == pytest.approx(0.5)
    assert float(np.exp(normal.log_survival(300))) == pytest.approx(1 - float(normal(300)))


def test_scale_for_is_the_smallest(s: ld.Spectrum) -> None:
    scale = s.scale_for(7, 11, 2**18)
    assert scale is not None
    low, high = s.bounds(2**18, scale)
    assert low >= 7
    assert high <= 11
    before = s.bounds(2**18, scale - 1)
    assert before[0] < 7 or before[1] > 11
    assert s.scale_for(8.6, 8.7, 1000) is None
    with pytest.raises(ModelInputError, match="contains the mean"):
        s.scale_for(9, 11, 1000)


def test_probability_of_low_means(s: ld.Spectrum) -> None:
    random = np.random.default_rng(5)
    x = chain(Bernoulli(0.02)).sample(2**19, random)
    for scale in (100, 500):
        means = x[: x.size // scale * scale].reshape(-1, scale).mean(axis=1)
        for limit in np.quantile(means, [0.05, 0.3, 0.7, 0.95]):
            share = float((means < limit).mean())
            answer = s.probability_below(float(limit), scale)
            assert answer.in_range
            assert answer.value == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / means.size) + 0.02)
    assert not s.probability_below(7, 20).in_range


def mean_below(c: WindowChain, x: float, scale: int, realisations: int, seed: int) -> float:
    """The share of realisations whose mean is below x, drawn step by step."""
    random = np.random.default_rng(seed)
    states = random.choice(c.windows.size, size=realisations, p=c.stationary)
    total = np.zeros(realisations)
    for _ in range(scale):
        total += c.windows[states]
        states = np.where(random.random(realisations) < c.loss[states], c.down[states], c.up[states])
    return float(np.mean(total < x * scale))


CASES = [(7.0, 200), (7.5, 300), (6.0, 120), (8.601241783, 200), (11.0, 100)]


def test_exact_probabilities_are_those_of_realisations() -> None:
    c = chain(Bernoulli(0.02), 60)
    for x, scale in CASES[:3]:
        exact = exact_probability_below(c, x, scale)
        share = mean_below(c, x, scale, 20_000, seed=3)
        assert share == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


@pytest.mark.slow
@pytest.mark.parametrize(("x", "scale"), CASES)
def test_exact_probabilities_are_those_of_many_realisations(x: float, scale: int) -> None:
    c = chain(Bernoulli(0.02), 60)
    exact = exact_probability_below(c, x, scale)
    share = mean_below(c, x, scale, 200_000, seed=1)
    assert share == pytest.approx(exact, abs=3.5 * np.sqrt(exact * (1 - exact) / 200_000))


@pytest.mark.parametrize(
    "c",
    [
        chain(lambda w: 0.1 * w, w_max=6),
        chain(lambda w: np.where(w == 4, 0.5, (w > 4) * 1.0), w_max=9),
        chain(0.2, w_max=7, rule=aimd(3, 0.5)),
        chain(Deterministic(9), w_max=20),
    ],
    ids=["reno", "periodic", "aimd", "constant"],
)
def test_exact_probabilities_are_those_of_all_paths(c: WindowChain) -> None:
    """All courses of nine round trips, one by one."""
    paths = {(state, float(c.windows[state])): float(p) for state, p in enumerate(c.stationary)}
    for _ in range(8):
        after: dict[tuple[int, float], float] = {}
        for (state, total), p in paths.items():
            for target, chance in ((c.up[state], 1 - c.loss[state]), (c.down[state], c.loss[state])):
                key = (int(target), total + float(c.windows[target]))
                after[key] = after.get(key, 0.0) + p * float(chance)
        paths = after
    for x in (1.0, c.mean - 0.3, c.mean, c.mean + 0.21, 10.0):
        expected = sum(p for (_, total), p in paths.items() if total < 9 * x)
        assert exact_probability_below(c, x, 9) == pytest.approx(expected, abs=1e-12)


def test_exact_probabilities_refuse_what_takes_too_long() -> None:
    c = chain(1e-4, w_max=1000)
    with pytest.raises(ModelInputError, match=r"takes .* steps; accepted are 1e\+09: a shorter scale, or the approx"):
        exact_probability_below(c, c.mean, 2000)
    for scale in (0, 2.5, np.nan):
        with pytest.raises(ModelInputError, match="scale: found"):
            exact_probability_below(c, 3.0, scale)  # type: ignore[arg-type]
    with pytest.raises(ModelInputError, match="x: found nan"):
        exact_probability_below(c, np.nan, 10)
    assert exact_probability_below(c, -1.0, 10) == 0.0


@pytest.mark.parametrize("scale", [100, 200, 2000])
def test_probabilities_pass_through_the_mean(s: ld.Spectrum, scale: int) -> None:
    """At the mean they are 1/2 + skewness/(6 sqrt(2 pi n)), the limit of Lugannani & Rice's 1/r - 1/u."""
    step = 0.01 * s.loss_rate / s.mean
    before, at, after = s.tilted_mean([-step, 0.0, step])
    variance, third = (after - before) / (2 * step), (after - 2 * at + before) / step**2
    expected = 0.5 + third / variance**1.5 / (6 * np.sqrt(2 * np.pi * scale))
    assert s.probability_below(s.mean, scale).value == pytest.approx(expected, abs=2e-4)
    if scale == 200:
        assert expected == pytest.approx(exact_probability_below(chain(Bernoulli(0.02), 60), s.mean, 200), abs=1e-3)


@settings(max_examples=10, deadline=None)
@given(p=st.floats(0.003, 0.3), scale=st.integers(5, 3000), at=st.floats(-4.0, 4.0), step=st.floats(1e-6, 0.3))
def test_probabilities_rise_and_do_not_jump(p: float, scale: int, at: float, step: float) -> None:
    found = ld.spectrum(p, w_max=60)
    deviation = float(np.sqrt(np.diff(found.tilted_mean([-1e-4, 1e-4]))[0] / 2e-4 / scale))
    x = found.mean + deviation * np.array([at, at + step, at + 2 * step])
    values = np.array([found.probability_below(float(each), scale).value for each in x])
    assert np.all(np.diff(values) >= -1e-9)
    # A normal density has at most 0.4 a standard deviation, and skewness makes it less than three times that.
    assert np.all(np.diff(values) <= 1.2 * step + 1e-6)


def test_probabilities_do_not_jump_where_interpolation_begins(s: ld.Spectrum) -> None:
    deviation = np.sqrt(s._variance(np.array([s.mean]))[0] / 200)
    for side in (-0.3, 0.3):
        x = s.mean + side * deviation * np.array([1 - 1e-7, 1 + 1e-7])
        assert abs(np.diff([s.probability_below(float(each), 200).value for each in x])[0]) < 1e-6


def test_probabilities_fall_along_a_straight_part() -> None:
    """Above 17.8 packets f is straight, up to staying at w_max: there is no second derivative."""
    found = ld.spectrum(Bernoulli(0.02), w_max=1000)
    (part,) = found.linear_parts
    x = np.concatenate([np.linspace(16, part.low + 2, 50), np.geomspace(part.low + 2.1, 999, 10)])
    above = 1 - np.array([found.probability_below(float(each), 30).value for each in x[:50:10]])
    log = found._log_beyond(x, 30)
    assert np.all(np.diff(log) < 0)
    assert np.exp(log[:50:10]) == pytest.approx(above, abs=1e-9)
    near = np.searchsorted(x, part.low)
    assert np.max(-np.diff(log[near - 5 : near + 5])) < 3 * np.mean(-np.diff(log[:near]))


@pytest.mark.slow
@pytest.mark.parametrize(("target", "cycles"), [(0.05, 15), (0.01, 25), (1e-3, 40)])
@pytest.mark.parametrize("p", [0.02, 0.005])
def test_from_which_scale_the_approximation_is_within_a_tenth(p: float, target: float, cycles: int) -> None:
    """The scales that docs/large_deviations.md states, below and above the mean."""
    c = chain(Bernoulli(p), 60 if p == 0.02 else 150)
    found = ld.spectrum(c)
    scale = round(cycles * found.cycle_rtts)
    grid = found.mean * np.linspace(0.4, 2.0, 800)
    log = found._log_beyond(grid, scale)
    for below in (True, False):
        side = (grid < found.mean) == below
        x = float(grid[side][np.argmin(np.abs(log[side] - np.log(target)))])
        value, exact = found.probability_below(x, scale).value, exact_probability_below(c, x, scale)
        ratio = value / exact if below else (1 - value) / (1 - exact)
        assert ratio == pytest.approx(1.0, abs=0.1)


def test_bad_input() -> None:
    for wrong in (0, -3, 2.5, np.inf):
        with pytest.raises(ModelInputError, match="w_max"):
            ld.spectrum(0.02, w_max=wrong)  # type: ignore[arg-type]
    with pytest.raises(ModelInputError, match="no probability"):
        ld.spectrum(lambda w: w, w_max=10)
    with pytest.raises(ModelInputError, match="packet_loss"):
        ld.spectrum(1.5)
    s = ld.spectrum(0.1, 20)
    with pytest.raises(ModelInputError, match="scale"):
        s.bounds(100, 200)
    with pytest.raises(ModelInputError, match="alpha"):
        s.f([np.nan])


def test_measured_losses_recover_the_function() -> None:
    truth = Bernoulli(0.02)
    random = np.random.default_rng(9)
    w = chain(truth).sample(200_000, random)
    lost = random.random(w.size) < truth(w)
    for smoothing in ("none", "pooled", "isotonic"):
        found = measured(w, lost, smoothing=smoothing)  # type: ignore[arg-type]
        often = found.rounds > 2000
        assert found.probability[often] == pytest.approx(truth(found.window[often]), abs=0.03)
        assert ld.spectrum(found).mean == pytest.approx(8.601, rel=0.02)
    exact = measured(w, lost, smoothing="none")
    inside = (exact.low <= truth(exact.window)) & (truth(exact.window) <= exact.high)
    assert inside.mean() > 0.85
    with pytest.raises(ModelInputError, match="smoothing"):
        measured(w, lost, smoothing="wavelet")  # type: ignore[arg-type]


def test_a_spectrum_draws_itself() -> None:
    axes = ld.spectrum(Bernoulli(0.1), w_max=30).plot()
    assert axes.get_xlabel().startswith("mean throughput")


def test_large_chains() -> None:
    found = ld.spectrum(1e-5, w_max=100_000)
    small = ld.spectrum(1e-5, w_max=4500)
    alpha = found.mean * np.linspace(0.7, 1.4, 40)
    assert found.mean == pytest.approx(small.mean, rel=1e-9)
    assert found.f(alpha) == pytest.approx(small.f(alpha), rel=1e-4, abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(p=st.lists(st.sampled_from([0.0, 0.0, 0.05, 0.4]), min_size=12, max_size=60), q=st.floats(-1, 1))
def test_windows_at_which_nothing_is_lost(p: list[float], q: float) -> None:
    """Most windows of a long record have seen no loss."""
    probabilities = np.array([*p, 0.5])
    size = probabilities.size
    windows = np.arange(1.0, size + 1)
    found = ld.spectrum(lambda w: probabilities[w.astype(int) - 1], w_max=size)
    # The full matrix has transient windows too; they have no cycle, or the recurrent class would have them.
    up, down = np.minimum(windows + 1, size), np.maximum(windows // 2, 1)
    recurrent = chain(lambda w: probabilities[w.astype(int) - 1], w_max=size).windows
    keep = np.isin(windows, recurrent)
    a = np.zeros((size, size))
    for i in np.flatnonzero(keep):
        a[i, int(up[i]) - 1] += 1 - probabilities[i]
        a[i, int(down[i]) - 1] += probabilities[i]
    a *= np.exp(q * (windows - size / 2))[None, :]
    expected = float(np.log(np.abs(np.linalg.eigvals(a)).max()) + q * size / 2)
    assert float(found.log_moment(q)) == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_the_spectrum_that_a_record_shows_at_a_scale(s: ld.Spectrum) -> None:
    """The density of means over n against realisations: shares of intervals, which f alone misses by a factor."""
    scale, alpha, half = 100, np.array([7.0, 7.5, 10.0, 11.0]), 0.1
    x = np.concatenate([chain(0.02).sample(2**19, np.random.default_rng(seed)) for seed in range(2)])
    means = x[: x.size // scale * scale].reshape(-1, scale).mean(axis=1)
    counts = np.array([np.sum(np.abs(means - at) < half) for at in alpha])
    expected = means.size * 2 * half / (means.std() * np.sqrt(2 * np.pi))
    refined = expected * np.exp(scale * s.at_scale(alpha, scale))
    plain = expected * np.exp(scale * s.f(alpha))
    assert counts == pytest.approx(refined, rel=0.12)  # 1/sqrt(700), and the eigenvectors' factor
    assert np.abs(np.log(counts / plain)).max() > 0.2
