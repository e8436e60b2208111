"""Networks at the edge of what is possible: every packet is accounted for and every transfer ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

RECORDED = {"flow_samples": False, "link_samples": False, "transfers": True}


def dumbbell(flow: dict[str, Any], buffer: int = 20, duration: str = "60 s", **bottleneck: Any) -> dict[str, Any]:
    queue = {"name": "drop_tail", "limit": f"{buffer} packets"}
    return {
        "duration": duration,
        "bottleneck": {"rate": "10 Mbit/s", "queue": queue, **bottleneck},
        "flows": [{"rtt": "40 ms", **flow}],
        "probes": RECORDED,
    }


def assert_conserved(run: Any) -> None:
    """In = out + dropped + queued, on the link and in what the flows counted."""
    (totals,) = run.summary["links"]
    link = run.link
    held = link["arrivals_packets"] - (
        link["forwarded_packets"] + link["dropped_packets"] + link["medium_losses_packets"]
    )
    assert held == totals["queued"]
    assert held >= 0
    lost = link["dropped_packets"] + link["medium_losses_packets"]
    assert run.flows["packets_dropped"].sum() == lost
    assert run.flows["packets_sent"].sum() >= link["arrivals_packets"]


def assert_all_complete(run: Any, transfers: int) -> None:
    assert run.transfers.height == transfers
    assert run.transfers["completion_s"].null_count() == 0


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("packets", [5, 100])
def test_an_interface_queue_loses_as_the_same_queue_on_a_link_does(simulate: Any, control: str, packets: int) -> None:
    """The narrow place within the host, before a link with room for all, or that place as the link itself."""
    flow = {"congestion_control": control, "processing_time": "0 s", "access_rate": "10 Mbit/s"}
    within = simulate(dumbbell({**flow, "access_queue": f"{packets} packets"}, buffer=1000, rate="1 Gbit/s"))
    link = simulate(dumbbell({**flow, "access_rate": "1 Gbit/s"}, buffer=packets))
    mine, theirs = (run.flows.row(0, named=True) for run in (within, link))
    assert within.link["dropped_packets"] == 0
    assert mine["packets_sent"] - mine["packets_dropped"] >= within.link["arrivals_packets"]
    assert mine["packets_dropped"] == pytest.approx(theirs["packets_dropped"], rel=0.05, abs=3)
    assert mine["loss_events"] == pytest.approx(theirs["loss_events"], rel=0.05, abs=1)
    assert mine["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.02)


RECOVERIES = ["tahoe", "reno", "newreno", "sack", "rack"]


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_one_packet_transfers(simulate: Any, recovery: str) -> None:
    workload = {"name": "transfer", "size": ["1 packets"] * 50}
    run = simulate(dumbbell({"count": 3, "workload": workload, "recovery": recovery}))
    assert_all_complete(run, 150)
    assert_conserved(run)
    assert (run.transfers["packets_sent"] == 1).all()
    # Alone on its path, a packet takes the RTT and its transmission; two others at most are ahead of it.
    seconds = run.transfers["completion_s"] - run.transfers["start_s"]
    transmission = 1500 * 8 / 10e6
    assert seconds.min() == pytest.approx(0.040 + transmission, rel=1e-9)
    assert seconds.max() <= 0.040 + 3 * transmission + 1e-9


def test_zero_length_transfers_end_at_once(simulate: Any) -> None:
    """Sizes drawn below half a byte are transfers of nothing: no packet, and the next one follows."""
    size = {"name": "empirical", "points": [["0 B", 0.5], ["10 packets", 1.0]]}
    flow = {"workload": {"name": "on_off", "size": size, "off": {"name": "constant", "value": "10 ms"}}}
    run = simulate(dumbbell(flow, duration="20 s"))
    assert_conserved(run)
    done = run.transfers.filter(pl.col("completion_s").is_not_null())
    nothing = done.filter(pl.col("size_bytes") == 0)
    assert 0.3 < nothing.height / done.height < 0.7
    assert (nothing["completion_s"] == nothing["start_s"]).all()
    assert (nothing["packets_sent"] == 0).all()


@pytest.mark.parametrize(
    ("persistent", "pause", "rounds"),
    [(False, "150 ms", [4, 4, 4]), (True, "150 ms", [4, 2, 2]), (True, "250 ms", [4, 4, 4])],
)
def test_a_window_lives_on_between_transfers(simulate: Any, persistent: bool, pause: str, rounds: list[int]) -> None:
    """Forty packets are windows of 4, 8, 16 and the rest, which has then grown to 22; an idle timeout takes 0.2 s."""
    workload = {
        "name": "on_off",
        "size": {"name": "constant", "value": "40 packets"},
        "off": {"name": "constant", "value": pause},
    }
    flow = {"workload": workload, "initial_window": "4 packets", "persistent": persistent}
    run = simulate(dumbbell(flow, buffer=100, duration="1.2 s", rate="10 Gbit/s"))
    done = run.transfers.head(3)
    taken = (done["completion_s"] - done["start_s"]).to_list()
    assert taken == pytest.approx([0.040 * each for each in rounds], rel=1e-3)


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_one_packet_buffer(simulate: Any, recovery: str) -> None:
    workload = {"name": "transfer", "size": "200 packets"}
    flow = {"count": 5, "workload": workload, "recovery": recovery, "initial_window": "10 packets"}
    run = simulate(dumbbell(flow, buffer=1, duration="600 s"))
    assert_all_complete(run, 5)
    assert_conserved(run)
    assert run.link["max_queue_packets"] == 0
    assert run.link["mean_queue_packets"] == 0
    assert run.link["dropped_packets"] > 0


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_simultaneous_timeouts(simulate: Any, tmp_path: Path, recovery: str) -> None:
    """A link that is cut for seconds: what is in flight meets a full queue, and everybody times out together."""
    cut = tmp_path / "cut.trace"
    opportunities = [ms for ms in range(1, 10_001) if not 1000 <= ms < 4000]
    cut.write_text("".join(f"{ms}\n" for ms in opportunities))
    scenario = dumbbell(
        {"count": 20, "workload": {"name": "transfer", "size": "300 packets"}, "recovery": recovery},
        duration="300 s",
        rate_trace=str(cut),
    )
    del scenario["bottleneck"]["rate"]
    run = simulate(scenario)
    assert_all_complete(run, 20)
    assert_conserved(run)
    assert (run.flows["timeouts"] >= 1).all()


@pytest.mark.parametrize("recovery", RECOVERIES)
def test_lost_retransmissions_and_acks(simulate: Any, recovery: str) -> None:
    """A tenth of all packets and of all ACKs are lost, retransmissions among them."""
    loss = {"name": "bernoulli", "probability": 0.1}
    flow = {"count": 10, "workload": {"name": "transfer", "size": "200 packets"}, "recovery": recovery}
    run = simulate(dumbbell(flow, duration="3000 s", loss=loss, reverse={}))
    assert_all_complete(run, 10)
    assert run.links["medium_losses_packets"].min() > 0
    received = 8 * 200 * 1460
    assert (run.flows["goodput_bps"] * 3000).to_list() == pytest.approx([received] * 10)


def test_start_of_ten_thousand_flows(simulate: Any) -> None:
    """All at once: ten thousand initial windows meet a thousand places."""
    scenario = {
        "duration": "10 s",
        "bottleneck": {"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "1000 packets"}},
        "flows": [
            {
                "count": 10_000,
                "rtt": {"first": "20 ms", "step": "10 us"},
                "congestion_control": "reno",
                "workload": {"name": "transfer", "size": "5 packets"},
            }
        ],
        "probes": RECORDED,
    }
    run = simulate(scenario)
    assert_all_complete(run, 10_000)
    assert_conserved(run)
    assert run.link["dropped_packets"] > 1000
    assert run.link["max_queue_packets"] == 999
    assert run.transfers["packets_sent"].sum() == run.flows["packets_sent"].sum()
    assert run.link["forwarded_packets"] >= 50_000
