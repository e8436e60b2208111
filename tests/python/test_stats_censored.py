"""Durations of which some were cut off: Kaplan and Meier's curve, its quantiles, and their intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import CensoredData, ecdf

from parshall.analysis.stats.censored import Durations, KaplanMeier, pooled_censored_quantile, together
from parshall.analysis.stats.confidence import StatisticsError
from parshall.analysis.stats.estimates import Censored, Means, joined
from parshall.analysis.stats.quantiles import TOO_FEW_ENDED, WOODRUFF, NoValue, Pooled, pooled_quantile
from parshall.analysis.stats.verdict import Verdict, without_value

PROBABILITIES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95)

_ONE_SIGMA = 0.6826894921370859
"""Level of an interval of one standard deviation to both sides."""

seconds = st.floats(0.0, 100.0, allow_nan=False).map(lambda value: round(value, 1))  # ties are common
transfers = st.lists(st.tuples(seconds, st.booleans()), min_size=1, max_size=60)


def durations(rows: list[tuple[float, bool]]) -> Durations:
    return Durations.of([lasted for lasted, _ in rows], [ended for _, ended in rows])


def of_scipy(made: Durations) -> CensoredData:
    return CensoredData(uncensored=made.lasted[made.ended], right=made.lasted[~made.ended])


def quantiles(rows: list[tuple[float, bool]]) -> list[float]:
    """Infinite where the curve does not reach."""
    found = [KaplanMeier(durations(rows)).quantile(p) for p in PROBABILITIES]
    return [math.inf if math.isnan(value) else value for value in found]


def drawn(rng: np.random.Generator, repetitions: int, number: int, until: float) -> dict[int, Durations]:
    """Exponential durations of mean 1, cut off at ages between 0.2 and `until`, in repetitions of different speed."""
    made = {}
    for n in range(repetitions):
        took = rng.exponential(size=number) * np.exp(0.1 * rng.standard_normal())
        watched = rng.uniform(0.2, until, number)
        made[n] = Durations.of(np.minimum(took, watched), took <= watched)
    return made


# --- against others ---


@settings(max_examples=60, deadline=None)
@given(transfers)
def test_the_curve_is_that_of_scipy(rows: list[tuple[float, bool]]) -> None:
    made = durations(rows)
    fitted = ecdf(of_scipy(made)).cdf
    curve = KaplanMeier(made)
    for at in np.unique(made.lasted):
        assert curve.share_at(float(at)) == pytest.approx(float(fitted.evaluate(at)), abs=1e-12)


@pytest.mark.filterwarnings("ignore:The confidence interval is undefined")  # where all have ended
@settings(max_examples=60, deadline=None)
@given(transfers)
def test_independent_transfers_have_greenwoods_variance(rows: list[tuple[float, bool]]) -> None:
    """The sum of squares of all influences over n squared, against the half width of SciPy's interval."""
    made = durations(rows)
    curve = KaplanMeier(made)
    survived = ecdf(of_scipy(made)).sf
    low = survived.confidence_interval(_ONE_SIGMA, method="linear").low
    for at in curve.at_s[curve.share < 1.0]:
        influence = curve.influence(made, float(at))
        error = float(survived.evaluate(at) - low.evaluate(at))
        assert influence.sum() == pytest.approx(0.0, abs=1e-9)
        if float(low.evaluate(at)) > 0.0:  # SciPy cuts it there
            assert math.sqrt(float(influence @ influence)) / curve.n == pytest.approx(error, rel=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(seconds, max_size=30), min_size=1, max_size=6), st.sampled_from(PROBABILITIES))
def test_where_all_ended_it_is_the_pooled_quantile(values: list[list[float]], p: float) -> None:
    parts = {n: Durations.of(each, [True] * len(each)) for n, each in enumerate(values)}
    few = NoValue.too_few(sum(map(len, values)), p)
    assert pooled_censored_quantile(parts, p) == (few or pooled_quantile(dict(enumerate(values)), p))


@settings(max_examples=100, deadline=None)
@given(st.lists(seconds, min_size=2, max_size=60), st.sampled_from(PROBABILITIES))
def test_the_curve_of_what_all_ended_has_numpys_quantiles(values: list[float], p: float) -> None:
    """So nothing jumps when the last transfer ends just in time."""
    curve = KaplanMeier(Durations.of(values, [True] * len(values)))
    assert curve.quantile(p) == pytest.approx(float(np.quantile(values, p)), abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(seconds, min_size=1, max_size=20), min_size=2, max_size=5), st.floats(0.1, 0.9))
def test_the_influence_of_a_repetition_is_its_count_where_all_ended(values: list[list[float]], p: float) -> None:
    pool = np.concatenate([np.asarray(each) for each in values])
    curve = KaplanMeier(Durations.of(pool, np.full(pool.size, fill_value=True)))
    q = float(np.quantile(pool, p))
    if curve.share_at(q) == 1.0:
        return
    for each in values:
        own = curve.influence(Durations.of(each, [True] * len(each)), q).sum()
        assert own == pytest.approx(np.sum(np.asarray(each) <= q) - curve.share_at(q) * len(each), abs=1e-9)


# --- order ---


@settings(max_examples=300, deadline=None)
@given(transfers, st.integers(0, 59), st.floats(0.0, 100.0))
def test_a_transfer_that_does_not_end_instead_never_lowers_a_quantile(
    rows: list[tuple[float, bool]], place: int, longer: float
) -> None:
    lasted, _ = rows[place % len(rows)]
    cut_off = [*rows]
    cut_off[place % len(rows)] = (lasted + longer, False)
    before = [*rows]
    before[place % len(rows)] = (lasted, True)
    for old, new in zip(quantiles(before), quantiles(cut_off), strict=True):
        assert new >= old - 1e-9


@settings(max_examples=300, deadline=None)
@given(transfers, st.integers(0, 59), st.floats(0.0, 100.0))
def test_a_slower_transfer_never_lowers_a_quantile(rows: list[tuple[float, bool]], place: int, longer: float) -> None:
    """But where another was cut off in between: the module says so, and the next test."""
    before = [*rows]
    lasted, _ = rows[place % len(rows)]
    before[place % len(rows)] = (lasted, True)
    slower = [*before]
    slower[place % len(rows)] = (lasted + longer, True)
    if any(lasted <= other < lasted + longer and not ended for other, ended in before):
        return
    for old, new in zip(quantiles(before), quantiles(slower), strict=True):
        assert new >= old - 1e-9


def test_where_one_is_cut_off_in_between_a_slower_transfer_may_lower_a_quantile() -> None:
    """Of what is known when the second is cut off, one of two lasts longer, then: instead of all. No fault of ours."""
    shares, medians = [], []
    for first in (1.0, 3.0):
        made = Durations.of([first, 2.0, 4.0], [True, False, True])
        shares.append(float(ecdf(of_scipy(made)).cdf.evaluate(3.5)))
        medians.append(KaplanMeier(made).quantile(0.5))
    assert shares == [pytest.approx(1 / 3), pytest.approx(1 / 2)], "SciPy's: more have ended within 3.5"
    assert medians[0] == 4.0
    assert 3.0 <= medians[1] < 4.0


def test_half_the_rate_is_never_better() -> None:
    """Durations twice as long, watched for as long: 200 pairs, at rates where most, half and few end."""
    rng = np.random.default_rng(5)
    verdicts = set()
    for trial in range(200):
        until = (0.5, 1.5, 4.0)[trial % 3]
        took = [rng.exponential(size=40) * np.exp(0.2 * rng.standard_normal()) for _ in range(5)]
        watched = [rng.uniform(0.2, until, 40) for _ in range(5)]
        fast, slow = (
            {
                n: Durations.of(np.minimum(factor * x, w), factor * x <= w)
                for n, (x, w) in enumerate(zip(took, watched, strict=True))
            }
            for factor in (1.0, 2.0)
        )
        for p in (0.5, 0.95):
            one, two = (pooled_censored_quantile(each, p) for each in (fast, slow))
            assert one is not None
            assert two is not None
            if isinstance(one, Pooled) and isinstance(two, Pooled):
                assert two.interval.mean >= one.interval.mean
            else:
                a, b = (each.interval if isinstance(each, Pooled) else each for each in (one, two))
                verdicts.add(without_value(a, b).verdict)
    assert Verdict.LOWER not in verdicts
    assert verdicts == {Verdict.HIGHER, Verdict.NO_VALUE}, "both were tried"


# --- intervals ---


@pytest.mark.parametrize(("p", "until"), [(0.5, 2.0), (0.8, 4.0)])
@pytest.mark.parametrize("number", [1, 40])
def test_intervals_cover_the_quantile(p: float, until: float, number: int) -> None:
    """Of independent transfers and of ten repetitions that differ; the quantile of the mixture by 2 million draws."""
    rng = np.random.default_rng(7)
    truth = float(np.quantile(rng.exponential(size=2_000_000) * np.exp(0.1 * rng.standard_normal(2_000_000)), p))
    covered, known = 0, 0
    for _ in range(300):
        found = pooled_censored_quantile(drawn(rng, 10 if number > 1 else 150, number, until), p)
        if isinstance(found, Pooled) and found.interval.low is not None:
            assert found.interval.how == WOODRUFF
            known += 1
            covered += bool(found.interval.contains(truth))
    assert known > 250
    assert 0.92 <= covered / known <= 1.0


def test_what_a_quantile_exceeds_holds() -> None:
    """Where the curve ends before the quantile: its bound is above the true one in at most 1 of 40."""
    rng = np.random.default_rng(11)
    bounds = []
    for _ in range(300):
        found = pooled_censored_quantile(drawn(rng, 5, 60, 1.5), 0.95)
        assert isinstance(found, NoValue)
        assert found.above is not None
        bounds.append(found.above)
    assert np.mean(np.array(bounds) > -math.log(0.05)) <= 0.025
    assert np.median(bounds) > 1.2, "most of what was watched, 1.5 at most"


def test_an_interval_whose_upper_end_was_not_reached_is_none() -> None:
    rng = np.random.default_rng(3)
    found = pooled_censored_quantile(drawn(rng, 5, 60, 1.6), 0.7)
    assert isinstance(found, Pooled)
    assert found.interval.how == TOO_FEW_ENDED
    assert found.interval.high is None
    assert not found.by_repetition


def test_values_by_repetition_have_the_quantile_as_their_mean() -> None:
    found = pooled_censored_quantile(drawn(np.random.default_rng(2), 6, 80, 3.0), 0.5)
    assert isinstance(found, Pooled)
    assert np.mean(list(found.by_repetition.values())) == pytest.approx(found.interval.mean)


# --- what is said ---


def test_nothing_ended() -> None:
    found = pooled_censored_quantile({n: Durations.of([5.0] * 10, [False] * 10) for n in range(5)}, 0.95)
    assert found == NoValue("0 % ended: no 95th percentile", 0, 50, 5.0)
    alone = pooled_censored_quantile({0: Durations.of([5.0] * 50, [False] * 50)}, 0.95)
    assert isinstance(alone, NoValue)
    assert alone.above is None, "one repetition: the spread is not known"


def test_a_mean_is_only_where_all_ended() -> None:
    ended, cut_off = Durations.of([1.0, 3.0], [True, True]), Durations.of([1.0, 9.0], [True, False])
    whole = Censored({0: ended, 1: ended}, None)
    assert whole.estimate() == Means({0: 2.0, 1: 2.0}, 0.0).estimate()
    assert whole.lacking() is None
    some = Censored({0: ended, 1: cut_off}, None)
    assert some.estimate() is None
    assert some.lacking() == NoValue("75 % ended: no mean", 3, 4)
    assert some.own() == {0: 2.0}


def test_series_are_numbered_and_joined() -> None:
    parts = drawn(np.random.default_rng(1), 4, 30, 3.0)
    whole = Censored(parts, 0.5)
    taken = [whole.numbered({n: n}) for n in parts]
    again = joined(taken)
    assert isinstance(again, Censored)
    assert again.estimate() == whole.estimate()
    assert set(again.own()) == set(parts)
    assert whole.numbered({2: 0}).repetitions == {0}


@pytest.mark.parametrize(("lasted", "ended"), [([1.0], [True, False]), ([-1.0], [True]), ([math.nan], [False])])
def test_what_is_no_duration_is_refused(lasted: list[float], ended: list[bool]) -> None:
    with pytest.raises(StatisticsError, match="durations"):
        Durations.of(lasted, ended)


def test_pooling_keeps_every_transfer() -> None:
    parts = drawn(np.random.default_rng(4), 3, 20, 2.0)
    assert together(parts.values()).lasted.size == 60
