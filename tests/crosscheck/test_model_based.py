"""BBR, its three versions, and DCTCP: what their sources say that they do, on one bottleneck.

There are no stored values of another simulator for these; the claims are those of the sources, with the margins that
they leave. BBR's first version takes nearly everything from CUBIC where the buffer is a BDP deep, its second and
third do not.
"""

from __future__ import annotations

from typing import Any

import pytest

CAPACITY = 100e6 * 1460 / 1500
BDP_PACKETS = 333


def scenario(*flows: dict[str, Any], **bottleneck: Any) -> dict[str, Any]:
    queue = {"name": "drop_tail", "limit": f"{BDP_PACKETS} packets"}
    return {
        "duration": "30 s",
        "warm_up": "10 s",
        "bottleneck": {"rate": "100 Mbit/s", "queue": queue, **bottleneck},
        "flows": [{"rtt": "40 ms", **flow} for flow in flows],
    }


def goodput(run: Any) -> list[float]:
    return [float(value) for value in run.flows["goodput_bps"]]


@pytest.mark.parametrize("control", ["bbr", "bbr2", "bbr3"])
def test_fills_the_link_with_a_short_queue(simulate: Any, control: str) -> None:
    run = simulate(scenario({"congestion_control": control}))
    assert goodput(run)[0] > 0.93 * CAPACITY
    assert run.flows["retransmissions"][0] == 0
    assert run.link["mean_queueing_delay_s"] < 0.1 * 0.040
    cubic = simulate(scenario({"congestion_control": "cubic"}))
    assert cubic.link["mean_queueing_delay_s"] > 3 * run.link["mean_queueing_delay_s"]


def test_losses_that_say_nothing_do_not_slow_it(simulate: Any) -> None:
    loss = {"name": "bernoulli", "probability": 0.01}
    share = {
        control: goodput(simulate(scenario({"congestion_control": control}, loss=loss)))[0] / CAPACITY
        for control in ("bbr", "bbr2", "bbr3", "cubic")
    }
    # Versions 2 and 3 answer to a loss rate of 2 %, which windows of 300 packets exceed now and then at 1 %.
    assert share["bbr"] > 0.9
    assert min(share["bbr2"], share["bbr3"]) > 0.3
    assert share["cubic"] < 0.1


def test_what_is_left_to_cubic(simulate: Any) -> None:
    left = {}
    for control in ("bbr", "bbr2", "bbr3"):
        flows = [{"congestion_control": each, "count": 2} for each in (control, "cubic")]
        rates = goodput(simulate({**scenario(*flows), "duration": "60 s", "warm_up": "20 s"}))
        left[control] = sum(rates[2:]) / sum(rates)
    assert left["bbr"] < 0.1 < left["bbr3"] < left["bbr2"]


def test_told_to_answer_marks_version_2_keeps_the_queue_at_their_threshold(simulate: Any) -> None:
    queue = {"name": "step", "limit": "400 packets", "threshold": "20 packets"}

    def mean_queue(*, ecn: bool) -> float:
        flow = {"rtt": "2 ms", "congestion_control": {"name": "bbr2", "ecn": ecn}, "count": 2}
        made = scenario(flow, queue=queue, rate="1 Gbit/s")
        run = simulate({**made, "duration": "5 s", "warm_up": "2 s"})
        assert sum(goodput(run)) > 0.65 * 10 * CAPACITY
        return float(run.link["mean_queue_packets"])

    assert mean_queue(ecn=True) < 40
    assert mean_queue(ecn=False) > 80


@pytest.mark.parametrize("control", ["bbr", "bbr2", "bbr3", "dctcp"])
def test_transfers_complete_whatever_is_lost(simulate: Any, control: str) -> None:
    flow = {
        "congestion_control": control,
        "count": 20,
        "workload": {"name": "transfer", "size": "500 kB"},
    }
    made = scenario(flow, loss={"name": "bernoulli", "probability": 0.05})
    run = simulate({**made, "duration": "60 s", "warm_up": "0 s", "probes": {"transfers": True}})
    assert run.transfers["completion_s"].null_count() == 0
    assert len(run.transfers) == 20


def test_dctcp_holds_the_queue_at_its_threshold(simulate: Any) -> None:
    threshold = 65
    flow = {"rtt": "4 ms", "congestion_control": "dctcp", "count": 2}
    made = scenario(flow, queue={"name": "step", "limit": "1000 packets", "threshold": f"{threshold} packets"})
    made["bottleneck"]["rate"] = "1 Gbit/s"
    run = simulate({**made, "duration": "4 s", "warm_up": "2 s"})
    assert sum(goodput(run)) > 0.999 * 10 * CAPACITY
    assert run.link["dropped_packets"] == 0
    # Alizadeh et al. 2010, eq. (10), (11): at most K + N, and below it by sqrt(N (C RTT + K)/2) at most.
    bandwidth_delay = 1e9 / 12_000 * 0.004
    amplitude = (2 * (bandwidth_delay + threshold) / 2) ** 0.5
    assert run.link["max_queue_packets"] <= threshold + 2 + 2
    assert threshold - amplitude < run.link["mean_queue_packets"] < threshold
