"""What a reader sees first is true: percentiles of all values, the busiest link, directions apart, sound verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.estimates import Means
from parshall.analysis.stats.verdict import Verdict, verdict_of
from parshall.report.comparing import verdict_text
from parshall.report.comparison import Comparison, MetricComparison, compare
from parshall.report.headline import Headline, headline
from parshall.report.uncertainty import interval_text
from parshall.results.quantities.measuring import busiest, busy, of_run
from parshall.results.quantities.naming import undecided
from parshall.results.records import Result

SEED = {"seed": 1}


def flows(goodputs: Sequence[Sequence[float]], groups: Sequence[str] = ("all",)) -> pl.DataFrame:
    """One row a group and repetition."""
    rows = [
        {"repetition": n, "group": group, "flow": i, "congestion_control": "cubic", "goodput_bps": value}
        | {"packets_sent": 100, "packets_dropped": 0, "retransmissions": 0, "timeouts": 0}
        | {"mean_cwnd_packets": 10.0, "mean_rtt_s": 0.05, "rtt_base_s": 0.04}
        for n, row in enumerate(goodputs)
        for i, (group, value) in enumerate(zip(groups, row, strict=True))
    ]
    return pl.DataFrame(rows)


def links(**used: Sequence[tuple[float, float]]) -> pl.DataFrame:
    """Utilisation and mean delay of each link by repetition."""
    rows = [
        {"repetition": n, "link": name, "utilisation": busy, "mean_queueing_delay_s": delay, "loss_rate": 0.01}
        | {"mean_queue_packets": 1.0, "max_queueing_delay_s": 10.0, "rate_bps": 1e6}
        | {"dropped_packets": 1, "medium_losses_packets": 0, "marked_packets": 0, "arrivals_packets": 100}
        for name, found in used.items()
        for n, (busy, delay) in enumerate(found)
    ]
    return pl.DataFrame(rows)


def run(goodputs: Sequence[Sequence[float]], used: pl.DataFrame | None = None, **more: Any) -> Result:
    used = links(bottleneck=[(0.9, 0.01)] * len(goodputs)) if used is None else used
    metadata = {**SEED, "scenario": more.pop("scenario", {}), **more.pop("metadata", {})}
    tables = {"flows": flows(goodputs, more.pop("groups", ("all",))), "links": used, **more}
    return Result(None, metadata, tables)


def tiles(found: Headline) -> dict[str, str]:
    return {tile.label: f"{tile.value} {tile.spread} {tile.remark}".replace("\xa0", " ") for tile in found.tiles}


# --- percentiles ---


def test_the_tile_of_completion_times_says_what_the_transfers_say() -> None:
    """One transfer a repetition: the mean of the repetitions' percentiles would be 15.5 s for both."""
    random = np.random.default_rng(1)
    times = 10 + random.exponential(6, size=100)
    transfers = pl.DataFrame(
        {"repetition": np.arange(100), "group": "all", "start_s": 1.0, "completion_s": 1.0 + times}
    )
    tile = tiles(headline(run([[1e6]] * 100, transfers=transfers)))["Median completion time"]
    middle, tail = (
        interval_text(of_run(run([[1e6]] * 100, transfers=transfers).tables)[key].interval, "s")
        for key in ("completion_p50_s", "completion_p95_s")
    )
    assert tile.startswith(middle.replace("\xa0", " "))
    assert f"95 % within {tail}".replace("\xa0", " ") in tile
    assert "worst of 100 transfers: " in tile
    found = of_run(run([[1e6]] * 100, transfers=transfers).tables)["completion_p95_s"]
    assert found.interval.mean == pytest.approx(np.quantile(times, 0.95))
    assert found.interval.how == "order statistics"


def test_no_95th_percentile_of_19_transfers() -> None:
    transfers = pl.DataFrame({"repetition": [0] * 19, "group": "all", "start_s": 0.0, "completion_s": [1.0] * 19})
    found = of_run(run([[1e6]], transfers=transfers).tables)
    assert "completion_p95_s" not in found
    assert found["completion_p50_s"].interval.how == "one repetition"


# --- the link that matters ---


def test_the_headline_is_about_the_busiest_link_and_names_it() -> None:
    used = links(bottleneck=[(0.03, 0.0004)] * 3, reverse=[(0.997, 0.334), (0.996, 0.330), (0.998, 0.338)])
    shown = tiles(headline(run([[1e6]] * 3, used)))
    assert shown["Mean queueing delay, reverse bottleneck"].startswith("334.0 ms")
    assert "the reverse bottleneck is 99.7 % busy" in shown["Goodput, all flows"]
    assert "Mean queueing delay" not in shown


def test_two_busy_links_have_tiles_each() -> None:
    used = links(first=[(0.85, 0.01)] * 2, second=[(0.95, 0.02)] * 2, third=[(0.2, 0.0)] * 2)
    assert busy(used) == ["second", "first"]
    assert {"Loss, first", "Loss, second"} <= tiles(headline(run([[1e6]] * 2, used))).keys()
    assert "Loss, third" not in tiles(headline(run([[1e6]] * 2, used)))


def test_of_links_as_busy_the_one_where_packets_wait() -> None:
    assert busiest(links(a=[(1.0, 0.001)], b=[(0.995, 0.2)], c=[(0.98, 0.9)])) == "b"


def test_goodput_of_both_directions_is_not_added() -> None:
    scenario = {"flows": [{"name": "down"}, {"name": "up", "direction": "reverse"}]}
    found = of_run(run([[15e6, 2e6]] * 2, groups=("down", "up"), scenario=scenario).tables)
    assert found["goodput_bps"].interval.mean == 15e6
    assert found["goodput_reverse_bps"].interval.mean == 2e6
    assert found["goodput_bps"].label == "Goodput, forward direction"


def test_the_use_of_a_link_stands_with_the_goodput_that_it_carries() -> None:
    scenario = {"flows": [{"name": "down"}, {"name": "up", "direction": "reverse"}]}
    used = links(bottleneck=[(0.9, 0.01)] * 2, reverse=[(0.95, 0.02)] * 2)
    shown = tiles(headline(run([[15e6, 2e6]] * 2, used, groups=("down", "up"), scenario=scenario)))
    assert shown["Goodput, forward direction"].endswith("the bottleneck is 90.0 % busy")
    assert shown["Goodput, other direction"].endswith("the reverse bottleneck is 95.0 % busy")


def test_a_comparison_speaks_of_one_link() -> None:
    """A's busiest is the first, B's the second: both would be compared as the bottleneck."""
    a = run([[1e6]] * 3, links(first=[(0.9, 0.1)] * 3, second=[(0.5, 0.2)] * 3))
    b = run([[1e6]] * 3, links(first=[(0.2, 0.3)] * 3, second=[(0.8, 0.4)] * 3))
    found = {each.key: each for each in compare(a, b).differences}["queueing_delay_s"]
    assert found.a is not None
    assert found.b is not None
    assert [found.a.mean, found.b.mean] == pytest.approx([0.2, 0.4])
    assert found.label == "Mean queueing delay at second"


def test_a_stopping_rule_names_the_link_where_there_are_several() -> None:
    assert undecided("loss_rate", ["bottleneck"]) is None
    assert undecided("goodput_bps", ["bottleneck", "reverse"]) is None
    assert "link/reverse/loss_rate" in (undecided("loss_rate", ["bottleneck", "reverse"]) or "")


# --- verdicts ---


def histogram(places: Sequence[int]) -> pl.DataFrame:
    """1000 packets of each repetition in one bin; bins are 0.5 ms wide."""
    return pl.DataFrame(
        {
            "repetition": range(len(places)),
            "link": "bottleneck",
            "packets": 1000,
            "low_s": [0.0005 * place for place in places],
            "high_s": [0.0005 * (place + 1) for place in places],
        }
    )


def verdict(found: Comparison, key: str) -> MetricComparison:
    return next(each for each in found.differences if each.key == key)


def test_one_bin_of_a_histogram_is_no_difference() -> None:
    a = run([[1e6]] * 3, delay_histogram=histogram([117] * 3))
    b = run([[1e6]] * 3, delay_histogram=histogram([118] * 3))
    found = verdict(compare(a, b, at_least=0.001), "queueing_delay_p99_s")
    assert found.verdict is Verdict.NOT_SHOWN
    assert found.a is not None
    assert found.a.low is not None
    assert found.a.high is not None
    assert found.a.high - found.a.low >= 0.000499


def test_a_difference_without_spread_is_not_called_higher() -> None:
    found = verdict(compare(run([[1e6]] * 3), run([[2e6]] * 3)), "goodput_bps")
    assert found.verdict is Verdict.NO_SPREAD
    assert found.better is None
    assert verdict(compare(run([[1e6]] * 3), run([[1e6]] * 3)), "goodput_bps").verdict is Verdict.EQUAL


def test_what_matters_comes_first() -> None:
    groups = ("a", "b")
    before = run([[1e6 + n, 100e6 + 1e3 * n] for n in range(5)], groups=groups)
    after = run([[2e6 + 3 * n, 100.1e6 + 1.1e3 * n] for n in range(5)], groups=groups)
    found = compare(before, after)
    assert found.rows[0].matters
    assert found.rows[0].key in {"group/a/goodput_bps", "group/a/share"}
    small = verdict(found, "group/b/goodput_bps")
    assert (small.verdict, small.matters) == (Verdict.SAME, False)
    assert verdict(compare(before, after, at_least=1e-4), "group/b/goodput_bps").verdict is Verdict.HIGHER
    flags = [each.matters for each in found.rows]
    assert flags == sorted(flags, reverse=True)


@pytest.mark.parametrize(
    ("interval", "more", "expected"),
    [
        ((2.0, 1.0, 3.0), {}, Verdict.HIGHER),
        ((-2.0, -3.0, -1.0), {}, Verdict.LOWER),
        ((1.0, -1.0, 3.0), {}, Verdict.NOT_SHOWN),
        ((0.5, 0.1, 0.9), {}, Verdict.SAME),
        ((0.5, 0.1, 0.9), {"at_least": 0.001}, Verdict.HIGHER),
        ((2.0, 2.0, 2.0), {}, Verdict.NO_SPREAD),
        ((0.0, 0.0, 0.0), {}, Verdict.EQUAL),
        ((2.0, None, None), {}, Verdict.UNKNOWN),
        ((2.0, 1.5, 2.5), {"resolution": 2.0}, Verdict.NOT_SHOWN),
        ((2.0, 1.5, 2.5), {"significant": False}, Verdict.NOT_SHOWN),
    ],
)
def test_one_place_decides(interval: tuple[float, float, float], more: dict[str, Any], expected: Verdict) -> None:
    assert verdict_of(Interval(*interval, n=5), 100.0, 100.0 + interval[0], **more) is expected


@pytest.mark.parametrize(
    ("ends", "resolution", "expected"),
    [
        ((1.5e-3, 2.5e-3), 2e-3, "within the resolution (2.00 ms)"),
        ((-0.5e-3, 2.5e-3), 2e-3, "no difference shown"),
        ((1.5e-3, 2.5e-3), 0.0, "no difference shown"),
    ],
)
def test_a_difference_that_bins_are_too_wide_for_is_not_called_none(
    ends: tuple[float, float], resolution: float, expected: str
) -> None:
    one = Interval(1.0, 0.9, 1.1, n=5)
    difference = Interval(2e-3, *ends, n=5)
    found = MetricComparison(
        "rtt_p99_s", "RTT", "s", one, one, difference, 2e-3, False, Verdict.NOT_SHOWN, None, resolution=resolution
    )
    assert verdict_text(found, "s", 0.01).replace("\xa0", " ") == expected


def test_intervals_stay_within_what_is_possible() -> None:
    found = Means({0: 0.0, 1: 0.0, 2: 0.03}, 0.0, 1.0).estimate()
    assert found is not None
    assert found.interval.low == 0.0
    assert found.interval.high == pytest.approx(0.01 + 4.3027 * 0.01, rel=1e-4)
    assert interval_text(found.interval, "ratio") == "1.0\xa0% (0.0 to 5.3)"
