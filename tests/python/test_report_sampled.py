"""A run that drew another load than its scenario asks for says so on its page."""

from __future__ import annotations

import html
from typing import Any

import numpy as np
import pytest

import parshall as ps
from parshall.analysis.stats.tails import mean_interval_of_pareto
from parshall.instruments.simulation import Run
from parshall.report import page_html
from parshall.report.sampled import mean_interval, off_loads
from parshall.scenario import Scenario, properties


def run(size: dict[str, Any], *, transfers: bool = True) -> Run:
    return ps.run(
        Scenario.from_document(
            {
                "duration": "6 s",
                "warm_up": "1 s",
                "bottleneck": {"rate": "50 Mbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}},
                "flows": [
                    {
                        "name": "clients",
                        "count": 20,
                        "rtt": "10 ms",
                        "workload": {"name": "on_off", "size": size, "off": {"name": "exponential", "mean": "0.2 s"}},
                    },
                    {"name": "bulk", "rtt": "10 ms"},
                ],
                "probes": {"transfers": transfers},
            }
        ),
        workers=1,
    )


def test_a_heavy_tail_says_what_it_drew() -> None:
    made = run({"name": "pareto", "mean": "20 kB", "tail_index": 1.1})
    assert made.transfers is not None
    sizes = made.transfers.drop_nulls("size_bytes")["size_bytes"].to_numpy()
    off = sizes.mean() / 20_000 - 1
    assert abs(off) > 0.05, "the seed was chosen for that"
    (said,) = off_loads(made)
    way = "above" if off > 0 else "below"
    assert said.startswith("clients: the ")
    assert f"{abs(off):.0%} {way} the 20" in said
    low, high = mean_interval_of_pareto(1.1, sizes.size)
    assert f"{low - 1:+.0%} to {high - 1:+.0%}" in said
    page = page_html(made)
    assert "Another load than asked for." in page
    assert html.escape(said, quote=False) in page


def test_a_light_tail_says_nothing() -> None:
    made = run({"name": "uniform", "low": "19 kB", "high": "21 kB"})
    assert off_loads(made) == []
    assert "Another load than asked for." not in page_html(made)


def test_without_records_of_transfers_nothing_is_said() -> None:
    assert off_loads(run({"name": "pareto", "mean": "20 kB", "tail_index": 1.1}, transfers=False)) == []


@pytest.mark.parametrize(
    "law",
    [
        {"name": "bounded_pareto", "minimum": 1.0, "maximum": 1e4, "tail_index": 1.2},
        {"name": "lognormal", "mean": 3.0, "sigma": 2.0},
        {"name": "weibull", "mean": 3.0, "shape": 0.4},
        {"name": "hyperexponential", "mean": 3.0, "cv2": 4.0},
        {"name": "pareto", "mean": 3.0, "tail_index": 1.5},
    ],
)
@pytest.mark.parametrize("number", [500, 8000])
def test_intervals_hold_the_means_of_samples(law: dict[str, Any], number: int) -> None:
    """95 % of means of fresh samples, but for what 200 of them and 400 series can say, and a normal law's error."""
    low, high = mean_interval(law, number)
    u = np.random.default_rng(7).random((200, number))
    means = properties.quantiles(law, u.ravel()).reshape(u.shape).mean(axis=1) / properties.mean(law)
    assert 0.88 <= np.mean((low <= means) & (means <= high)) <= 0.995
