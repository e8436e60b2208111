"""Many differences judged together: of those that are called so, few are none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import ttest_1samp, ttest_ind
from statsmodels.stats.multitest import multipletests

import parshall as ps
from parshall.analysis.stats.families import LEVEL, Pair, cutoff, judged, p_value
from parshall.analysis.stats.quantiles import Pooled, pooled_quantile
from parshall.analysis.stats.verdict import Verdict
from parshall.campaign.page import document as sweep_page
from parshall.report.comparing import note
from parshall.report.comparison_page import document

Values = NDArray[np.float64]


# --- the procedure ---


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=60))
def test_what_is_found_is_what_statsmodels_finds(p_values: list[float]) -> None:
    ours = [p <= cutoff(p_values) for p in p_values]
    theirs = multipletests(p_values, alpha=LEVEL, method="fdr_bh")[0].tolist()
    assert ours == theirs


@given(st.lists(st.floats(0.0, 0.1), min_size=1, max_size=30), st.integers(0, 100))
def test_differences_that_are_not_computed_count_as_not_found(p_values: list[float], more: int) -> None:
    assert cutoff(p_values, of=len(p_values) + more) == cutoff([*p_values, *[1.0] * more])
    assert cutoff([*p_values, None, None]) == cutoff(p_values), "of which chance is unknown: no part of the family"


def test_p_values_are_those_of_scipy() -> None:
    random = np.random.default_rng(1)
    for n, m in ((2, 2), (3, 3), (5, 8), (3, 40)):
        after, before = random.normal(0.5, 2.0, n), random.normal(0.0, 1.0, m)
        expected = ttest_ind(after, before, equal_var=False).pvalue
        assert p_value(after.tolist(), before.tolist(), paired=False) == pytest.approx(expected, rel=1e-9)
        if n == m:
            expected = ttest_1samp(after - before, 0.0).pvalue
            assert p_value(after.tolist(), before.tolist(), paired=True) == pytest.approx(expected, rel=1e-9)


def test_one_side_without_spread_is_tested_without_a_warning() -> None:
    """Warnings are errors here: SciPy's test warns of a loss of precision."""
    expected = ttest_1samp([2.0, 2.0, 2.1], 1.0).pvalue
    assert p_value([2.0, 2.0, 2.1], [1.0, 1.0, 1.0], paired=False) == pytest.approx(expected)


def test_a_difference_within_the_bins_is_none() -> None:
    wide = p_value([2.0, 3.1, 4.0], [1.0, 2.0, 3.0], paired=True, resolution=2.0)
    assert wide == 1.0
    assert p_value([2.0, 3.1, 4.0], [1.0, 2.0, 3.0], paired=True, resolution=0.5) > 2e-3  # 1e-3 without bins


# --- a family ---


def of(a: Mapping[int, float], b: Mapping[int, float]) -> Pair:
    return Pair.of_values(a, b)


NEAR = of({0: 1.0, 1: 2.0, 2: 3.1}, {0: 1.4, 1: 2.3, 2: 3.6})
"""p = 0.022: a difference if it stands alone."""


@pytest.mark.parametrize(
    ("pair", "verdict"),
    [
        (of({0: 0.1, 1: 0.2, 2: 0.3}, {0: 1.1, 1: 1.2, 2: 1.3}), Verdict.NO_SPREAD),
        (of({0: 1.0, 1: 2.0}, {0: 1.0, 1: 2.0}), Verdict.EQUAL),
        (of({0: 1.0}, {0: 2.0}), Verdict.UNKNOWN),
    ],
)
def test_what_says_nothing_of_chance_is_no_part_of_a_family(pair: Pair, verdict: Verdict) -> None:
    """The differences of the first are 1 to rounding, no two of them the same: as a test, p = 0, which helps others."""
    found = judged({"near": NEAR, **dict.fromkeys(range(9), pair)})
    assert {found[number].verdict for number in range(9)} == {verdict}
    assert found[0].p_value is None
    assert found["near"].verdict is Verdict.HIGHER, "nine more are in the family of none"
    among = judged({"near": NEAR, **{number: of({0: 1.0, 1: 2.0}, {0: 1.1, 1: 1.9}) for number in range(9)}})
    assert among["near"].verdict is Verdict.NOT_SHOWN, "nine more that are tested"


def test_what_says_again_the_same_is_not_counted() -> None:
    nothing = of({0: 1.0, 1: 2.0, 2: 3.0}, {0: 1.1, 1: 1.9, 2: 3.05})
    far = of({0: 1.0, 1: 2.0, 2: 3.1}, {0: 3.0, 1: 4.01, 2: 5.1})
    once = judged({"far": far, "near": NEAR, "nothing": nothing})
    assert once["near"].verdict is Verdict.HIGHER
    found = judged({"far": far, "near": NEAR, "more": nothing, "nothing": nothing, "last": nothing})
    assert found["near"].verdict is Verdict.NOT_SHOWN, "a second of five would need 2 %"
    copies = dict.fromkeys(range(9), far)
    loosened = judged({**copies, "near": NEAR, "more": nothing, "nothing": nothing, "last": nothing})
    assert loosened["near"].verdict is Verdict.HIGHER
    held = judged({**copies, "near": NEAR, "more": nothing, "nothing": nothing, "last": nothing}, again=range(1, 9))
    assert held["near"].verdict is Verdict.NOT_SHOWN
    assert held[8].verdict is Verdict.HIGHER, "judged all the same"


def correlated(random: np.random.Generator, repetitions: int, rows: int) -> Values:
    """Quantities of one run: a few causes, with either sign, and noise of their own; shape (rows, repetitions)."""
    causes = random.normal(size=(4, repetitions))
    return random.normal(size=(rows, 4)) @ causes + 0.5 * random.normal(size=(rows, repetitions))


def pairs_of(random: np.random.Generator, repetitions: int, rows: int, shifted: int = 0) -> dict[int, Pair]:
    """Means of two runs with different random numbers; the first `shifted` rows differ."""
    a, b = (correlated(random, repetitions, rows) + 50 for _ in range(2))
    b[:shifted] += 12
    rows_of = (dict(enumerate(row.tolist())) for row in (*a, *b))
    values = list(rows_of)
    made = ((Pair.of_values(values[row], values[rows + row])) for row in range(rows))
    return {row: Pair(pair.a, pair.b, common_numbers=False) for row, pair in enumerate(made)}


DIFFERENT = {Verdict.HIGHER, Verdict.LOWER}


@pytest.mark.parametrize(("repetitions", "rows"), [(3, 40), (5, 110)])
def test_where_nothing_differs_few_families_show_something(repetitions: int, rows: int) -> None:
    random = np.random.default_rng(repetitions)
    families = [judged(pairs_of(random, repetitions, rows)) for _ in range(100)]
    wrong = np.mean([any(each.verdict in DIFFERENT for each in found.values()) for found in families])
    # The level is 5 %; 100 families have a standard error of 2.2 %. Each row alone shows something in most of them.
    assert wrong < 0.095


def test_of_what_is_found_one_in_twenty_is_none() -> None:
    random = np.random.default_rng(7)
    shares, found = [], 0
    for _ in range(100):
        judgements = judged(pairs_of(random, 5, 60, shifted=20))
        shown = [row for row, each in judgements.items() if each.verdict in DIFFERENT]
        found += sum(row < 20 for row in shown)
        shares.append(sum(row >= 20 for row in shown) / max(len(shown), 1))
    assert found > 0.8 * 100 * 20
    assert np.mean(shares) < 0.05 + 2 * np.std(shares) / 10


def test_quantiles_are_judged_with_means() -> None:
    random = np.random.default_rng(3)

    def p95(shift: float) -> Pooled:
        found = pooled_quantile({n: random.exponential(size=400) + shift for n in range(5)}, 0.95)
        assert found is not None
        return found

    pairs = {row: Pair(p95(0.0), p95(0.0), common_numbers=False) for row in range(40)}
    pairs[40] = Pair(p95(0.0), p95(2.0), common_numbers=False)
    assert [row for row, each in judged(pairs).items() if each.verdict in DIFFERENT] == [40]


# --- runs and sweeps ---

GROUPS = [("cubic", "40 ms"), ("reno", "60 ms")]


def scenario(seed: int, repetitions: int, groups: int = 2, **more: Any) -> dict[str, Any]:
    flows = [
        {
            "name": f"{control}{number}",
            "count": 8 // groups,
            "rtt": rtt,
            "congestion_control": control,
            "start": {"uniform": "1 s"},
        }
        for number in range(groups // 2)
        for control, rtt in GROUPS
    ]
    return {
        "seed": seed,
        "duration": "10 s",
        "warm_up": "2 s",
        "repetitions": repetitions,
        "bottleneck": {"rate": "20 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}},
        "flows": flows,
        **more,
    }


def compared(number: int, repetitions: int, groups: int) -> ps.Comparison:
    """A network with itself, by other random numbers."""
    return ps.compare(*(ps.run(scenario(2 * number + each, repetitions, groups)) for each in (1, 2)))


def test_a_network_differs_from_itself_seldom() -> None:
    found = [compared(number, 3, 2) for number in range(6)]
    assert all(len(each.shown) > 40 for each in found)
    assert sum(any(row.matters for row in each.shown) for each in found) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(("repetitions", "groups", "rows"), [(3, 2, 40), (3, 6, 100), (5, 2, 40), (5, 6, 100)])
def test_a_network_differs_from_itself_in_a_tenth_of_comparisons_at_most(
    repetitions: int, groups: int, rows: int
) -> None:
    found = [compared(number, repetitions, groups) for number in range(20)]
    assert min(len(each.shown) for each in found) > rows
    assert sum(any(row.matters for row in each.shown) for each in found) <= 2


def test_a_page_says_how_many_differences_were_compared() -> None:
    half: dict[str, Any] = {"bottleneck": {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}}}
    found = ps.compare(ps.run(scenario(1, 3)), ps.run(scenario(1, 3, **half)))
    goodput = found.of("goodput_bps").differences[0]
    assert goodput is not None
    assert goodput.verdict is Verdict.LOWER
    assert goodput.p_value is not None
    assert 30 < found.tested < len(found.shown), "what is equal is shown and not tested"
    rate = "a false discovery rate of 5\xa0%"
    said = f"{found.tested} differences were compared, and those called different hold at {rate}."
    assert said in note(found)
    assert any(said in text for section in document(found).sections for text in section.paragraphs)
    again = {row.key for row in found.rows} - {row.key for row in found.shown}
    assert again, "the link's rows are there twice"
    for key in ("utilisation", "loss_rate"):
        assert f"link/bottleneck/{key}" in again
        one, other = (found.of(each).differences[0] for each in (key, f"link/bottleneck/{key}"))
        assert one is not None
        assert other is not None
        assert (one.verdict, one.p_value) == (other.verdict, other.p_value)


def test_differences_to_a_baseline_are_one_family(tmp_path: Path) -> None:
    plan = ps.Plan(
        name="limits",
        scenario=scenario(1, 3, duration="4 s", warm_up="1 s"),
        parameters={"bottleneck.queue.limit": ["100 packets", "20 packets", "90 packets"]},
        repetitions=3,
        metrics=["goodput_bps", "queueing_delay_s"],
        compare={"parameter": "bottleneck.queue.limit", "baseline": "100 packets"},
    )
    sweep = ps.sweep(plan, tmp_path, workers=1)
    section = next(each for each in sweep_page(sweep).sections if each.heading == "Differences to the baseline")
    assert section.paragraphs[-1].startswith("4 differences were compared")
