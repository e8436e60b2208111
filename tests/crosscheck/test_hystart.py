"""HyStart++ (RFC 9406) on a long path: slow start ends before a large buffer overflows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps

BDP = 1667
"""Packets in flight that fill 100 Mbit/s over 200 ms."""


def scenario(slow_start: str, control: str, buffer: str = "10 BDP", duration: str = "15 s") -> dict[str, Any]:
    """One flow over 100 Mbit/s and 200 ms, until well after slow start."""
    return {
        "duration": duration,
        "warm_up": "0 s",
        "bottleneck": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": buffer}},
        "flows": [{"rtt": "200 ms", "congestion_control": control, "slow_start": slow_start}],
        "probes": {"flow_samples": "50 ms", "link_samples": False, "transfers": False},
    }


@pytest.mark.parametrize("control", ["reno", "cubic", "cubic_2005", "highspeed", "htcp", "bic", "scalable", "dctcp"])
def test_slow_start_ends_before_the_buffer_overflows(simulate: Any, control: str) -> None:
    standard, hystart = (simulate(scenario(name, control)) for name in ("standard", "hystart++"))
    # The standard one doubles until path and buffer are full, and overshoots by what it has sent when it hears of it.
    assert standard.link["dropped_packets"] > 5 * BDP
    threshold = _first_threshold(hystart)
    # The window at which the RTT of a whole round has grown by 16 ms is between two and four times the path's (it has
    # doubled while that round was under way); five conservative rounds make it 1.25^5 = 3.05 times as much.
    assert 3.05 * 2 * BDP < threshold["ssthresh_packets"] < 11 * BDP
    before = hystart.table("flow_samples").filter(pl.col("time_s") <= threshold["time_s"])
    assert before["retransmissions"].max() == 0
    # It costs no speed.
    assert hystart.flows["goodput_bps"][0] > 0.95 * standard.flows["goodput_bps"][0]


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_a_small_buffer_overflows_less(simulate: Any, control: str) -> None:
    # What the RTT of a round says comes too late for a buffer of one bandwidth-delay product, but growth is slower
    # when it overflows.
    standard, hystart = (
        simulate(scenario(name, control, "1 BDP", "10 s")).link["dropped_packets"] for name in ("standard", "hystart++")
    )
    assert 0 < hystart < 0.75 * standard


def _first_threshold(run: Any) -> dict[str, Any]:
    """The sample at which ssthresh is known for the first time."""
    row: dict[str, Any] = run.table("flow_samples").filter(pl.col("ssthresh_packets").is_not_null()).row(0, named=True)
    return row


def test_a_passing_queue_does_not_end_slow_start_for_good(simulate: Any) -> None:
    # A transfer of 600 packets, sent at once, makes a queue of 72 ms that is gone a round trip later.
    size = "600 packets"
    workload = {"name": "transfer", "size": size}
    burst = {"name": "burst", "rtt": "200 ms", "start": "0.59 s", "initial_window": size, "workload": workload}
    windows = {}
    for name in ("standard", "hystart++"):
        document = scenario(name, "reno")
        document["flows"][0]["min_rto"] = "1 s"
        document["flows"].append(burst)
        run = simulate(document)
        samples = run.table("flow_samples").filter(pl.col("flow") == 0).sort("time_s")
        windows[name] = [samples.filter(pl.col("time_s") >= at)["cwnd_packets"][0] for at in (0.8, 1.0, 1.2)]
    assert windows["standard"] == [80, 160, 320]
    # The ACKs of 80 packets are late: from the eighth on, they add a quarter. Those of the next 105 are in time: from
    # the eighth on, they add all again.
    assert windows["hystart++"] == [80, 80 + 7 + 73 / 4, 105.25 + 7 / 4 + 98]
    assert _first_threshold(run)["ssthresh_packets"] > 2 * BDP


@pytest.mark.parametrize("control", ["vegas", "fast", "bbr", "bbr3", "tcp_rate", "multiple_time_scale"])
def test_controls_with_a_slow_start_of_their_own_refuse_it(tmp_path: Path, control: str) -> None:
    """One clear error, from Python and from TOML, and the default is not touched."""
    document = scenario("hystart++", control)
    words = f'flows.0.slow_start: found "hystart++", but {control} has no standard slow start'
    with pytest.raises(ps.ParshallError) as error:
        ps.run(ps.Scenario.from_document(document))
    assert words in str(error.value)
    assert str(error.value).count("slow_start") == 1
    file = tmp_path / "own.toml"
    file.write_text(
        'duration = "1 s"\n[bottleneck]\nrate = "10 Mbit/s"\n'
        f'[[flows]]\nrtt = "50 ms"\nslow_start = "hystart++"\ncongestion_control = "{control}"\n'
    )
    with pytest.raises(ps.ParshallError) as error:
        ps.run(ps.Scenario.load(file))
    assert words in str(error.value)
    assert file.name in str(error.value)
    ps.Scenario.load(file, ['flows.0.slow_start="standard"']).resolve()


def test_it_needs_a_standard_slow_start_and_samples() -> None:
    for flow, words in [
        (
            {"congestion_control": "vegas"},
            'flows.0.slow_start: found "hystart++", but vegas has no standard slow start',
        ),
        ({"congestion_control": "bbr3"}, "bbr3 has no standard slow start"),
        ({"timestamps": False}, "write timestamps = true"),
        ({"slow_start": "hystart"}, '"standard", "hystart++" or "limited"'),
    ]:
        document = scenario("hystart++", "cubic")
        document["flows"][0] |= flow
        with pytest.raises(ps.ParshallError) as error:
            ps.Scenario.from_document(document).resolve()
        assert words in str(error.value)
