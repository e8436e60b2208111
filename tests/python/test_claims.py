"""Claims: one table of verdicts, by examples and by properties; nulls, and what cannot fail."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parshall.analysis.stats.claim_rules import (
    at_least,
    at_most,
    equal,
    line,
    monotone,
    one_run,
    ordering,
    reported,
    sign,
)
from parshall.analysis.stats.claims import Claim, Null, Tolerance, Verdict, unfinished
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import Outcome, Region, exactly, single

DIGITS = Tolerance(0.1, "half of the last digit")


def between(low: float, high: float) -> Interval:
    return Interval((low + high) / 2, low, high, n=8)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (between(1.95, 2.08), "reproduced"),
        (between(1.9, 2.1), "reproduced"),  # both ends are the tolerance's
        (between(2.05, 2.2), "compatible"),  # "the intervals touch" is not "reproduced"
        (between(1.5, 2.5), "compatible"),
        (between(2.11, 2.3), "not_reproduced"),
        (exactly(2.1), "reproduced"),
        (exactly(2.11), "not_reproduced"),
        (single(2.0), "compatible"),  # of one run nobody knows the spread
        (single(3.0), "undecided"),
        (None, "undecided"),
    ],
)
def test_equal_is_a_test_of_equivalence(value: Interval | None, verdict: Verdict) -> None:
    claim = equal("a", "q", 2.0, value, within=DIGITS)
    assert claim.verdict == verdict
    assert replace(claim, basis="theory").verdict == "theory"
    assert replace(claim, basis="theory").outcome == claim.outcome
    assert replace(claim, calibrated="the window").verdict == "calibrated"


def test_an_auditors_examples() -> None:
    """19 % off is not reproduced within 10 %, nor is 114 (105 to 123) for 100 +- 5."""
    assert equal("t", "q", 1.0, between(1.09, 1.29), within=DIGITS).verdict == "compatible"
    assert equal("t", "q", 100.0, between(105.5, 123.0), within=Tolerance(5.0, "t")).verdict == "not_reproduced"


@pytest.mark.parametrize(
    ("published", "ends", "verdict"),
    [
        (1, (0.1, 0.5), "reproduced"),
        (1, (0.0, 0.5), "compatible"),
        (1, (-0.1, 0.5), "compatible"),
        (1, (-0.5, -0.1), "not_reproduced"),
        (1, (-0.5, 0.0), "not_reproduced"),
        (-1, (-0.5, -0.1), "reproduced"),
        (0, (-0.04, 0.05), "reproduced"),
        (0, (-0.1, 0.2), "compatible"),
        (0, (0.01, 0.2), "compatible"),
        (0, (0.1, 0.2), "not_reproduced"),
        (None, (0.1, 0.2), "reported"),
    ],
)
def test_signs(published: int | None, ends: tuple[float, float], verdict: Verdict) -> None:
    negligible = Tolerance(0.05 if published == 0 else 0.0, "what a plot shows")
    claim = sign("fig2", "change", published, between(*ends), negligible=negligible)
    assert claim.verdict == verdict
    assert not claim.cannot_fail


def test_bounds() -> None:
    assert at_most("r", "q", 1.2, between(0.9, 1.1)).verdict == "holds"
    assert at_most("r", "q", 1.0, between(0.9, 1.1)).verdict == "compatible"
    assert at_most("r", "q", 0.8, between(0.9, 1.1)).verdict == "fails"
    assert at_least("r", "q", 0.8, between(0.9, 1.1)).verdict == "holds"
    assert at_least("r", "q", 0.8, None).verdict == "undecided"
    assert reported("r", "q", between(0.9, 1.1), basis="asked").verdict == "reported"


def test_orders_and_curves() -> None:
    apart, unclear = between(0.1, 0.3), between(-0.1, 0.3)
    assert ordering("f", "q", [apart, apart]).verdict == "reproduced"
    assert ordering("f", "q", [apart, unclear]).verdict == "compatible"
    assert ordering("f", "q", [apart, between(-0.3, -0.1)]).verdict == "not_reproduced"
    for direction, verdict in ((1, "reproduced"), (-1, "not_reproduced")):
        curve = monotone("f", "q", [1.0, 2.0, 2.5], direction)
        assert curve.verdict == verdict
        assert not curve.cannot_fail
    assert monotone("f", "q", [1.0, 1.0, 1.0], 1).verdict == "not_reproduced", "a flat curve does not rise"


def test_a_line_is_told_from_a_curve() -> None:
    """R^2 is 0.99 for a square, 0.95 for a fourth power, and 1 for times that fall."""
    x = [1.2, 1.7, 2.1]
    drawn = Tolerance(0.03, "less than a square's over these levels")
    for values, outcome in (
        (x, "holds"),
        ([4.0 - each for each in x], "fails"),
        ([each**2 for each in x], "fails"),
        (np.log(x).tolist(), "fails"),
        ([1.0, 1.0, 1.0], "fails"),
    ):
        claim = line("fig8", "time", x, values, within=drawn)
        assert (claim.outcome, claim.cannot_fail) == (outcome, False), values
    lax = line("fig8", "time", x, x, within=Tolerance(0.1, "what looks like a line"))
    assert [each.name for each in lax.accepted_nulls] == ["a curve of the square", "a logarithm"]
    assert lax.cannot_fail


# --- what cannot fail ---


def test_a_tolerance_that_holds_half_of_the_value_cannot_fail() -> None:
    """Eq. (11) at 5 % with what is read off an axis from 0 to 1: a quarter of it would be accepted."""
    claim = equal("fig8a", "p(w) at 243", 0.0506, between(0.012, 0.018), within=Tolerance(0.05, "read off"))
    assert claim.outcome == "holds"
    assert claim.cannot_fail
    assert not claim.counted
    assert not replace(claim, tolerance=0.0126).cannot_fail


def test_a_null_that_is_given_stands_for_those_of_the_rule() -> None:
    """The source's own analytical column passes the tolerances of its simulation."""
    column = Null("the source's own model", exactly(3764.0))
    lax = equal("table1", "T_in", 3707.6, between(3700, 3800), within=Tolerance(148.0, "4 %"), nulls=[column])
    assert lax.accepted_nulls == (column,)
    assert not replace(lax, tolerance=28.0).cannot_fail


def test_what_is_missing_is_named() -> None:
    whole = equal("fig1", "q", 2.0, exactly(2.0), within=DIGITS)
    zero = equal("fig1", "error", 0.0, exactly(0.0), within=DIGITS)
    reason = replace(zero, null_reason="nothing can be switched off")
    assert unfinished([whole, at_most("r", "q", 1.0, None), reported("r", "q", None), reason]) == []
    assert [each.split(":")[2].strip() for each in unfinished([zero, replace(whole, tolerance_reason="")])] == [
        "null",
        "tolerance",
    ]


def test_no_result_is_no_claim() -> None:
    with pytest.raises(ValueError, match="a: q: values must be finite"):
        equal("a", "q", 2.0, exactly(float("nan")))
    with pytest.raises(ValueError, match="found the reference None of a rule equal"):
        Claim("a", "q", exactly(1.0), "equal")


def test_two_instruments_that_contradict_decide_nothing() -> None:
    claim = equal("a", "q", 2.0, exactly(2.0), within=DIGITS)
    assert replace(claim, contested="simulated: 3").verdict == "undecided"


# --- properties ---

ENDS = st.lists(st.floats(-10, 10), min_size=4, max_size=4, unique=True).map(sorted)
REGIONS = st.builds(
    lambda ends, is_open: Region(*ends, is_open=is_open),
    st.tuples(st.floats(-5, 0), st.floats(0.1, 5)) | st.sampled_from([(-np.inf, 1.0), (1.0, np.inf)]),
    st.booleans(),
)


@settings(deadline=None)
@given(REGIONS, ENDS, st.floats(0, 3))
def test_a_longer_record_never_turns_a_verdict_round(region: Region, ends: list[float], uncertain: float) -> None:
    """Its interval is within the shorter one's; it may decide what was open, and never the other way about."""
    short, long = between(ends[0], ends[3]), between(ends[1], ends[2])
    before, after = region.outcome(short, uncertain), region.outcome(long, uncertain)
    if before in {"holds", "fails"}:
        assert after == before


@settings(deadline=None)
@given(REGIONS, st.floats(-10, 10), st.floats(0, 3), st.floats(0, 3))
def test_a_more_uncertain_source_never_decides_more(
    region: Region, value: float, half: float, uncertain: float
) -> None:
    sure, unsure = (region.outcome(between(value - half, value + half), each) for each in (0.0, uncertain))
    if unsure in {"holds", "fails"}:
        assert sure == unsure


@settings(deadline=None)
@given(REGIONS, st.floats(-10, 10))
def test_one_value_never_holds(region: Region, value: float) -> None:
    exact, alone = region.outcome(exactly(value)), region.outcome(single(value))
    assert exact in {"holds", "fails"}
    assert alone == ("compatible" if exact == "holds" else "undecided")


@settings(deadline=None)
@given(st.floats(0.1, 10), st.floats(0, 20), st.floats(0, 20), st.floats(0, 20))
def test_a_wider_tolerance_never_makes_a_claim_fail(r: float, value: float, half: float, tolerance: float) -> None:
    ours = between(value - half, value + half)
    narrow, wide = (equal("a", "q", r, ours, within=Tolerance(each, "t")) for each in (tolerance, 2 * tolerance))
    order: list[Outcome] = ["fails", "compatible", "holds"]
    assert order.index(wide.outcome) >= order.index(narrow.outcome)


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_one_run_of_theirs_is_refuted_only_where_it_is_far_from_all_of_ours(count: int, seed: int) -> None:
    """Drawn as ours are, their run is called another value in some 5 % of cases at most: here it is the mean."""
    runs = np.random.default_rng(seed).normal(10.0, 1.0, count)
    claim = one_run("table2", "gain", float(runs.mean()), runs, within=DIGITS)
    assert claim.verdict in {"undecided", "reproduced"}


def test_one_run_in_twenty_is_refuted() -> None:
    """The frequency, of a run drawn as ours are and no tolerance: 5 % at most are outside, as the mean has an error."""
    generator = np.random.default_rng(7)
    drawn = [generator.normal(10.0, 1.0, 9) for _ in range(2000)]
    exact = Tolerance(0.0, "")
    refuted = sum(one_run("t", "q", float(each[0]), each[1:], within=exact).outcome == "fails" for each in drawn)
    assert refuted / 2000 < 0.05


def test_the_chance_that_equals_are_called_equal_grows_with_the_record() -> None:
    """Of values whose mean is that of the source, and of values that are one and a half tolerances off."""
    generator = np.random.default_rng(3)

    def share(mean: float, count: int) -> float:
        made = (mean_interval(generator.normal(mean, 0.2, count)) for _ in range(300))
        return sum(equal("a", "q", 2.0, each, within=DIGITS).outcome == "holds" for each in made) / 300

    same = [share(2.0, count) for count in (5, 20, 100)]
    assert same[0] < same[1] < same[2]
    assert same[2] > 0.95
    assert max(share(2.15, count) for count in (5, 20, 100)) < 0.05
