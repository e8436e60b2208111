"""Requests and responses on real sockets, beside the simulator and beside arithmetic."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from emulations import ON_THE_KERNEL

import parshall as ps

pytestmark = ON_THE_KERNEL


def exchanging(workload: dict[str, Any], count: int, seconds: float, **more: Any) -> ps.Scenario:
    group = {"name": "asking", "count": count, "rtt": "40 ms", "tcp": "linux", "congestion_control": "cubic"}
    return ps.Scenario.from_document(
        {
            "name": "exchanges",
            "duration": f"{seconds} s",
            "bottleneck": {"rate": "20 Mbit/s", "delay": "5 ms", "reverse": {"rate": "5 Mbit/s"}},
            "probes": {"transfers": True},
            "flows": [{**group, "workload": {"name": "request_response", **workload}, **more}],
        }
    )


def complete(run: ps.Run) -> pl.DataFrame:
    assert run.transfers is not None
    rows = run.transfers.drop_nulls("completion_s").sort("flow", "transfer")
    return rows.with_columns(took_s=pl.col("completion_s") - pl.col("start_s"))


def test_both_instruments_draw_the_same_and_take_as_long() -> None:
    workload = {
        "request": "2 kB",
        "response": {"name": "lognormal", "mean": "30 kB", "sigma": 0.7},
        "think": {"name": "exponential", "mean": "150 ms"},
    }
    given = exchanging(workload, 4, 8)
    simulated, emulated = (complete(run) for run in (ps.run(given, workers=1), ps.emulate(given)))
    both = simulated.join(emulated, on=["flow", "transfer"], suffix="_emulated")
    assert both.height > 80
    assert both["size_bytes"].to_list() == both["size_bytes_emulated"].to_list()
    # A pair of exchanges takes as long; where another one is in its way, it is not always there in both.
    apart_s = (both["took_s_emulated"] - both["took_s"]).abs()
    # A quarter of a round trip: 4 ms on a quiet machine, 7 ms on one that compiles.
    assert apart_s.median() < 0.010, "lateness, and where packets of others are"
    first = both.filter(pl.col("transfer") == 0)
    assert first["start_s_emulated"].to_list() == pytest.approx(first["start_s"].to_list(), abs=1e-6)
    assert first["took_s"].min() > 0.08, "the handshake is part of it"


@pytest.mark.gate
def test_an_exchange_of_real_hosts_takes_what_can_be_computed() -> None:
    """One way 20 kB at 5 Mbit/s, the other 100 kB at 20 Mbit/s; windows hold both, once they have grown."""
    constant = {"name": "constant", "value": "100 kB"}
    workload = {"request": "20 kB", "response": constant, "think": {"name": "constant", "value": "50 ms"}}
    sysctls = {"net.ipv4.tcp_slow_start_after_idle": 0, "net.ipv4.tcp_rmem": "4096 4194304 268435456"}
    given = exchanging(workload, 1, 8, kernel={"sysctls": sysctls})
    made = ps.emulate(given)
    rows = complete(made)
    # With headers of 52 bytes: 14 packets, and 70.
    expected = 0.040 + 8 * (20_000 + 14 * 52) / 5e6 + 8 * (100_000 + 70 * 52) / 20e6
    settled = rows.filter(pl.col("transfer") >= 10)
    assert settled["took_s"].median() == pytest.approx(expected, rel=0.05)
    thought = rows["start_s"][1:].to_numpy() - rows["completion_s"][:-1].to_numpy()
    assert thought == pytest.approx([0.05] * len(thought), abs=1e-6)
    links = {row["link"]: row for row in made.links.iter_rows(named=True)}
    reverse = next(row for name, row in links.items() if "reverse" in name)
    assert reverse["forwarded_bytes"] > rows.height * 20_000, "requests cross the way back"
    assert made.flows["goodput_bps"][0] == pytest.approx(rows.height * 800_000 / 8, rel=0.05)
