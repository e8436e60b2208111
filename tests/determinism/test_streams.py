"""Random streams belong to entities: adding one moves nobody else's draws."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

TWO_LINKS: dict[str, Any] = {
    "duration": "5 s",
    "links": [
        {
            "name": "first",
            "rate": "10 Mbit/s",
            "queue": {"name": "red", "limit": "50 packets"},
            "loss": {"name": "bernoulli", "probability": 0.005},
        },
        {"name": "second", "rate": "10 Mbit/s"},
    ],
    "flows": [
        {
            "name": "watched",
            "path": ["first"],
            "count": 5,
            "rtt": {"uniform": ["20 ms", "60 ms"]},
            "start": {"uniform": "1 s"},
            "workload": {
                "name": "on_off",
                "size": {"name": "pareto", "mean": "60 packets", "tail_index": 1.5},
                "off": {"name": "exponential", "mean": "0.1 s"},
            },
        }
    ],
    "probes": {"flow_samples": False, "link_samples": False},
}

ELSEWHERE = {
    "name": "elsewhere",
    "path": ["second"],
    "count": 7,
    "rtt": {"uniform": ["20 ms", "60 ms"]},
    "start": {"uniform": "2 s"},
}


def watched(directory: Path, table: str) -> pl.DataFrame:
    """What was recorded about the watched group; flows are numbered through all groups, so without the number."""
    return pl.read_parquet(directory / f"{table}.parquet").filter(pl.col("group") == "watched").drop("flow")


def assert_untouched(before: Path, after: Path) -> None:
    for table in ("flows", "transfers"):
        assert_frame_equal(watched(before, table), watched(after, table), check_exact=True)


def test_a_group_after(tables: Any) -> None:
    more = deepcopy(TWO_LINKS)
    more["flows"].append(ELSEWHERE)
    assert_untouched(tables(TWO_LINKS), tables(more))


def test_a_group_before(tables: Any) -> None:
    more = deepcopy(TWO_LINKS)
    more["flows"].insert(0, ELSEWHERE)
    assert_untouched(tables(TWO_LINKS), tables(more))


def test_more_flows_in_a_group_keep_the_draws_of_the_others(tables: Any) -> None:
    """More flows share the link, so only what is drawn is compared: RTTs, starts and the first transfer's size."""
    more = deepcopy(TWO_LINKS)
    more["flows"][0]["count"] = 8
    before, after = tables(TWO_LINKS), tables(more)
    columns = ["rtt_base_s", "start_s"]
    assert_frame_equal(watched(before, "flows")[columns], watched(after, "flows")[columns][:5], check_exact=True)
    sizes = [
        watched(directory, "transfers").filter(pl.col("transfer") == 0)["size_bytes"].sort().to_list()
        for directory in (before, after)
    ]
    assert set(sizes[0]) <= set(sizes[1])


def test_a_link_before(tables: Any) -> None:
    more = deepcopy(TWO_LINKS)
    more["links"].insert(0, {"name": "zeroth", "rate": "1 Mbit/s", "loss": {"name": "bernoulli", "probability": 0.1}})
    assert_untouched(tables(TWO_LINKS), tables(more))


def test_probes(tables: Any, content: Any) -> None:
    watching = {**TWO_LINKS, "probes": {"flow_samples": "7 ms", "link_samples": "3 ms", "flows": 5, "rounds": 5}}
    before, after = content(tables(TWO_LINKS)), content(tables(watching))
    assert before.keys() < after.keys()
    for name, expected in before.items():
        assert after[name] == expected, name
