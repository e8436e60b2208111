"""The page's first figure: every delivered byte is drawn, and never more than the link can carry."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import parshall as ps
from parshall.report.figures.overview import Course, course

TEN = {"count": 10, "rtt": "40 ms", "start": {"uniform": "1 s"}}
"""More flows than are sampled."""


def _run(rate: str = "20 Mbit/s", **changes: Any) -> ps.Run:
    groups = [{"name": name, "congestion_control": name, **TEN} for name in ("reno", "bbr", "vegas")]
    document = {"duration": "8 s", "warm_up": "2 s", "repetitions": 2, "flows": groups}
    return ps.run(
        document | {"bottleneck": {"rate": rate, "queue": {"name": "drop_tail", "limit": "0.5 BDP"}}} | changes
    )


def _course(run: ps.Run) -> Course:
    found = course(run)
    assert isinstance(found, Course)
    return found


def test_what_is_counted_is_the_goodput_of_all_flows() -> None:
    run = _run(probes={"flows": 1})
    counts = run.group_samples
    assert counts is not None
    measured = (
        counts.filter(pl.col("time_s") >= 2.0 - 1e-9)
        .group_by("repetition", "group")
        .agg(bps=pl.sum("delivered_bytes") * 8 / 6.0)
    )
    goodput = run.flows.group_by("repetition", "group").agg(bps_of_flows=pl.sum("goodput_bps"))
    both = measured.join(goodput, on=["repetition", "group"])
    assert both.height == 6
    # A packet counts when it leaves its last link, in goodput when it arrives: at most 20 Mbit/s for 10 ms.
    assert np.abs((both["bps"] - both["bps_of_flows"]).to_numpy()).max() <= 20e6 * 0.01 / 6.0
    assert counts.group_by("repetition", "group").agg(pl.sum("bin_s"))["bin_s"].to_list() == pytest.approx([8.0] * 6)


@pytest.mark.parametrize("rate", ["20 Mbit/s", "150 kbit/s"])
def test_the_stack_stays_below_the_rate_of_the_link(rate: str) -> None:
    """At the lower rate a packet takes longer than a bin."""
    run = _run(rate)
    drawn = _course(run)
    total = np.sum(list(drawn.groups.values()), axis=0)
    assert (total <= drawn.rate * (1 + 1e-9)).all()
    assert run.group_samples is not None
    bits = 8.0 * float(run.group_samples["delivered_bytes"].sum()) / 2
    assert float(total @ np.diff(drawn.edges)) == pytest.approx(bits), "every byte is drawn"
    assert drawn.note == ""


def test_the_last_bin_has_its_own_width() -> None:
    run = _run(duration="7.77 s", probes={"link_samples": "500 ms"})
    drawn = _course(run)
    total = np.sum(list(drawn.groups.values()), axis=0)
    assert total[-1] == pytest.approx(total[-20:-1].mean(), rel=0.1)


def test_records_without_counts_stay_below_the_rate_too() -> None:
    run = _run(probes={"flows": 1})
    run.tables._held["group_samples"] = None
    drawn = _course(run)
    total = np.sum(list(drawn.groups.values()), axis=0)
    assert (total <= drawn.rate * (1 + 1e-9)).all()
    assert "more flows than were sampled" in drawn.note


def test_a_link_of_acknowledgements_alone_stays_below_its_rate() -> None:
    back = {"rate": "100 kbit/s", "queue": {"name": "drop_tail", "limit": "100 packets"}}
    queue = {"name": "drop_tail", "limit": "100 packets"}
    drawn = _course(_run(bottleneck={"rate": "20 Mbit/s", "queue": queue, "reverse": back}))
    assert drawn.link == "reverse"
    assert max(drawn.groups["carried"]) <= 100e3 * (1 + 1e-9)
