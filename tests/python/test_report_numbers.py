"""How the report prints numbers, thins series and counts distributions: what readers would be misled by."""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from parshall.foundations.numbers import (
    ABSENT,
    counted,
    half_width_text,
    matching,
    quantity,
    significant,
    tick,
    with_half_width,
)
from parshall.report.figures.delays import pooled_delays
from parshall.report.figures.rounds import wilson
from parshall.report.figures.tails import tail_of
from parshall.report.plot import Line
from parshall.report.thinning import MEMBERS, averaged, extremes, spread_over

FINITE = st.floats(min_value=-1e15, max_value=1e15)


def plain(text: str) -> float:
    """The number that a reader takes `text` for."""
    raised = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−", "-0123456789-")
    return float(text.replace("\u202f", "").replace("×10", "e").translate(raised))


@given(FINITE)
@example(5e-324)
def test_printed_numbers_are_the_numbers(value: float) -> None:
    assert plain(significant(value, 5)) == pytest.approx(value, rel=1e-4)
    assert plain(tick(float(f"{value:.3g}"))) == pytest.approx(value, rel=6e-3)


@given(st.floats(min_value=1e-3, max_value=1e9), st.floats(min_value=1e-3, max_value=0.5))
@example(0.00390625, 0.001953125)
def test_means_are_printed_as_exactly_as_they_are_known(value: float, relative: float) -> None:
    half = value * relative
    assert abs(plain(matching(value, half)) - value) <= 0.06 * half
    shown = half_width_text(half, value).removeprefix("±\u202f")
    assert plain(shown) == pytest.approx(half, rel=0.06)


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_nothing_is_a_dash(nothing: float | None) -> None:
    assert significant(nothing) == ABSENT
    assert quantity(nothing, "s") == ABSENT


def test_quantities_have_the_unit_that_suits_them() -> None:
    printed = [quantity(value, unit).replace("\u00a0", " ") for value, unit in ((999.96e6, "bit/s"), (2.5e-5, "s"))]
    assert printed == ["1.00 Gbit/s", "25.0 µs"]
    assert quantity(3e-7, "ratio") == "3.00\u202f×\u202f10⁻⁵\u00a0%"
    assert counted(1, "flow") == "1\u00a0flow"
    assert counted(12345, "flow") == "12\u202f345\u00a0flows"
    assert with_half_width(0.0, 0.5) == "0.00\u202f±\u202f0.50"


def test_thinning_keeps_every_peak_and_collapse() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=100_000)
    y[31_234], y[77_777] = 50.0, -50.0
    thinned = extremes(np.arange(100_000.0), y)
    assert len(thinned.x) <= 1500
    assert thinned.y.max() == 50.0
    assert thinned.y.min() == -50.0
    assert np.all(np.diff(thinned.x) > 0)
    assert "100\u202f000 samples" in thinned.note
    short = extremes(np.arange(10.0), np.arange(10.0))
    assert (len(short.x), short.note) == (10, "")


def test_binning_keeps_the_mean_and_the_extremes() -> None:
    y = np.random.default_rng(2).exponential(size=10_000)
    binned = averaged(np.arange(10_000.0), y)
    assert len(binned.x) <= 1000
    assert binned.mean.mean() == pytest.approx(y.mean())
    assert (binned.low.min(), binned.high.max()) == (y.min(), y.max())
    assert binned.note


def test_percentiles_need_company() -> None:
    x = np.append(np.full(1000, 10.0), [1e6, 2e6])
    spread = spread_over(x, np.append(np.arange(1000.0), [5.0, 6.0]), log=True)
    assert spread.x.tolist() == [10.0]
    assert spread.median[0] == pytest.approx(499.5)
    assert sorted(spread.sparse_y) == [5.0, 6.0]
    assert len(spread.sparse_x) < MEMBERS


def test_a_distribution_is_level_where_no_packet_waited() -> None:
    histogram = pl.DataFrame({"low_s": [1.0, 5.0], "high_s": [2.0, 6.0], "packets": [30, 10]})
    delays = pooled_delays(histogram, "packets")
    assert delays is not None
    tail = tail_of(delays)
    assert (tail.delay_s[0], tail.share[0]) == (1.0, 1.0)
    assert tail.share[-1] == pytest.approx(1 / 1000), "as far as the last percentile that is named"
    assert tail.delay_s[-1] == pytest.approx(6.0, abs=0.01)
    waited = (tail.delay_s > 2.0) & (tail.delay_s < 5.0)
    assert not waited.any()
    before, after = tail.share[tail.delay_s <= 2.0][-1], tail.share[tail.delay_s >= 5.0][0]
    assert before >= 0.25 >= after
    assert before / after < 1.02, "both ends of the level part, to two of the steps at which the curve is drawn"
    assert tail.percentiles_s[0] == pytest.approx(1.0 + 20 / 30)
    assert pooled_delays(histogram.with_columns(packets=pl.lit(0)), "packets") is None


def test_intervals_of_shares_hold_them() -> None:
    low, high = wilson(np.array([1.0, 50.0, 10.0]), np.array([10.0, 100.0, 10.0]))
    assert low == pytest.approx([0.0179, 0.4038, 0.7225], abs=1e-4)
    assert high == pytest.approx([0.4042, 0.5962, 1.0], abs=1e-4)


def test_marks_refuse_what_cannot_be_drawn() -> None:
    with pytest.raises(ValueError, match="y of a Line holds a value that is not finite"):
        Line([0.0, 1.0], [0.0, math.nan])
    with pytest.raises(ValueError, match="vectors of one length"):
        Line([0.0, 1.0], [0.0])
