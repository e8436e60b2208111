"""The path of a capture, from the times of its packets: rate, buffer, losses, and what cannot be told."""

from __future__ import annotations

import random
import re
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from infer_truth import CAPTURED, POINTS, drawn, true_loss

import parshall as ps
from parshall.foundations.errors import InputError
from parshall.inference import Inferred, dispersion, infer
from parshall.inference.losses import Losses, shares
from parshall.inference.path import PathEstimate
from parshall.inference.queueing import Departures

RATE_BPS, PACKET_BITS, BUFFER = 20e6, 12_000, 60
PACKET_S = PACKET_BITS / RATE_BPS


def scenario(point: str, **group: Any) -> dict[str, Any]:
    """A CUBIC flow of 10 s over 20 Mbit/s and 40 ms, to be captured at a point."""
    near, own, far = {"sender": (19, 0.5, 0), "before": (2, 2, 2), "behind": (2, 2, 2), "receiver": (9, 10, 0.5)}[point]
    fast = {"rate": "10 Gbit/s", "queue": {"name": "drop_tail", "limit": "10000 packets"}}
    flow = {"rtt": "40 ms", "congestion_control": "cubic", "tcp": "linux", "handshake": True, "header_size": "52 B"}
    bottleneck = {"rate": "20 Mbit/s", "queue": {"name": "drop_tail", "limit": f"{BUFFER} packets"}}
    return {
        "duration": "10 s",
        "warm_up": "0 s",
        "links": [
            {"name": "near", "delay": f"{near} ms", **fast},
            {"name": "bottleneck", "delay": f"{own} ms", **bottleneck, **group.pop("link", {})},
            {"name": "far", "delay": f"{far} ms", **fast},
        ],
        "flows": [flow | {"path": ["near", "bottleneck", "far"]} | group],
        "probes": {"pcap": [CAPTURED[point]], "flow_samples": False, "link_samples": False},
    }


def captured(folder: Path, tables: dict[str, Any]) -> Path:
    return ps.run(tables, folder / "run").captures(tables["probes"]["pcap"][0])[0]


class TestTrains:
    def test_packets_that_leave_a_queue_have_its_rate(self) -> None:
        seen = np.arange(1000) * PACKET_S
        rates, packets = dispersion.of_trains(Departures(seen, np.full(1000, PACKET_BITS)), np.ones(1000, dtype=bool))
        assert rates == pytest.approx(RATE_BPS)
        found = dispersion.median_of(rates, packets)
        assert found is not None
        assert found[1] <= RATE_BPS * (1 + 1e-9)
        assert found[2] >= RATE_BPS * (1 - 1e-9)

    def test_no_queue_has_no_rate(self) -> None:
        left = Departures(np.arange(1000) * PACKET_S, np.full(1000, PACKET_BITS))
        assert dispersion.of_trains(left, np.zeros(1000, dtype=bool))[0].size == 0

    def test_trains_of_different_rates_have_none(self) -> None:
        rates = np.random.default_rng(1).uniform(1e6, 2e6, 100)
        assert dispersion.median_of(rates, np.ones(100)) is None

    def test_gaps_of_one_length_are_the_rate_and_others_are_not(self) -> None:
        """The null: arrivals at random times have no gap that many share."""
        draw = np.random.default_rng(1)
        gaps = np.where(draw.random(5000) < 0.3, PACKET_S, PACKET_S + draw.exponential(3 * PACKET_S, 5000))
        left = Departures(np.cumsum(gaps), np.full(5000, PACKET_BITS))
        assert np.median(dispersion.of_pairs(left)) == pytest.approx(RATE_BPS, rel=0.005)
        random_times = Departures(np.cumsum(draw.exponential(PACKET_S, 5000)), np.full(5000, PACKET_BITS))
        assert dispersion.of_pairs(random_times).size == 0


class TestLosses:
    waits_s = np.random.default_rng(1).uniform(0, BUFFER * PACKET_S, 20_000)

    def test_a_medium_loses_at_any_wait(self) -> None:
        lost = np.random.default_rng(2).choice(self.waits_s, 100)
        found = shares(Losses(lost, np.ones(100), self.waits_s), PACKET_S)
        assert found.full_s.size == 0
        assert found.probability is not None
        _, low, high = found.probability
        assert low < 100 / 20_000 < high

    def test_a_full_queue_loses_at_the_longest(self) -> None:
        found = shares(Losses(np.full(30, (BUFFER - 1) * PACKET_S), np.ones(30), self.waits_s), PACKET_S)
        assert found.full_s.size == 30
        assert found.probability is None

    def test_both_are_told_apart(self) -> None:
        """The medium's losses fall into the full queue's waits as well: there they count for neither rate."""
        draw = np.random.default_rng(3)
        lost = np.concatenate([draw.choice(self.waits_s, 100), np.full(60, (BUFFER - 1) * PACKET_S)])
        found = shares(Losses(lost, np.ones(160), self.waits_s), PACKET_S)
        assert float(np.median(found.full_s)) == pytest.approx((BUFFER - 1) * PACKET_S, rel=0.03)
        assert found.probability is not None
        _, low, high = found.probability
        assert low < 100 / 20_000 < high

    def test_a_queue_that_stands_does_not_say_which(self) -> None:
        """Nearly all packets wait as long as the lost ones: both causes are told, for simulations to choose."""
        waits_s = np.concatenate([np.full(19_000, (BUFFER - 2) * PACKET_S), np.linspace(0, BUFFER * PACKET_S, 1000)])
        lost = np.random.default_rng(4).choice(waits_s, 100)
        found = shares(Losses(lost, np.ones(100), waits_s), PACKET_S)
        assert found.undecided
        assert found.full_s.size
        assert found.probability is not None

    def test_without_losses_there_is_neither(self) -> None:
        found = shares(Losses(np.empty(0), np.empty(0), self.waits_s), PACKET_S)
        assert (found.full_s.size, found.probability) == (0, None)


@pytest.mark.parametrize("point", POINTS)
def test_the_path_is_the_same_wherever_it_is_captured(point: str, tmp_path: Path) -> None:
    """Rate and buffer to the bounds of `benches/infer.py`; nothing is lost outside the queue."""
    path = infer(captured(tmp_path, scenario(point)), controls=()).path
    assert path.rate_bps.value == pytest.approx(RATE_BPS, rel=0.03)
    assert path.buffer_bytes is not None
    assert not path.buffer_bytes.guess
    assert path.buffer_bytes.value == pytest.approx(BUFFER * 1500, rel=0.15)
    assert path.loss is None


def test_a_window_shows_no_rate_at_the_sender(tmp_path: Path) -> None:
    """The sender's own interface spaces the packets there, and nothing waits: its 10 Gbit/s are not the path's rate."""
    path = infer(captured(tmp_path, scenario("sender", receive_window="8 kB")), controls=()).path
    assert path.rate_bps.guess
    assert path.rate_bps.low is not None
    assert path.rate_bps.low < RATE_BPS


def test_losses_come_at_once_or_one_by_one(tmp_path: Path) -> None:
    bursts = {"name": "gilbert_elliott", "good_to_bad": 0.002, "bad_to_good": 0.25, "loss_good": 0.0, "loss_bad": 1.0}
    single = {"name": "bernoulli", "probability": 0.005}
    found = [
        infer(captured(tmp_path / str(k), scenario("behind", link={"loss": loss})), controls=()).path
        for k, loss in enumerate((bursts, single))
    ]
    assert found[0].burst_packets == pytest.approx(4.0, rel=0.5)  # of some 20 bursts, whose lengths vary by 0.87
    assert found[1].burst_packets < 1.2
    assert found[1].loss is not None
    assert found[1].loss.low is not None
    assert found[1].loss.high is not None
    assert found[1].loss.low < 0.005 < found[1].loss.high


@pytest.mark.parametrize("number", range(6))
def test_random_scenarios_are_found_again(number: int, tmp_path: Path) -> None:
    """The small version of `benches/infer.py`: what is told is within the bounds, and what is not told is a guess."""
    tables = drawn(random.Random(500 + number))
    made = infer(captured(tmp_path, tables), controls=())
    link = tables["links"][1]
    within(made.path.rate_bps, float(link["rate"].split()[0]) * 1e6, 0.03)
    # Two packets: as many leave between the last one that fits and the one that is lost, which counts in short queues.
    buffer_bytes = int(link["queue"]["limit"].split()[0]) * 1500
    within(made.path.buffer_bytes, buffer_bytes, max(0.15, 2 * 1500 / buffer_bytes))
    if made.path.loss is not None and not made.path.loss.guess:
        assert true_loss(tables) > 0


def within(found: PathEstimate | None, truth: float, share: float) -> None:
    if found is None or found.guess:
        return
    assert found.value == pytest.approx(truth, rel=share)


# --- captures that say little ---


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """Of a capture of a full queue: its header, and each record."""
    data = captured(tmp_path_factory.mktemp("whole"), scenario("behind")).read_bytes()
    made, at = [data[:24]], 24
    while at < len(data):
        size = 16 + struct.unpack_from("<I", data, at + 8)[0]
        made.append(data[at : at + size])
        at += size
    return made


def inferred(path: Path, records: list[bytes]) -> Inferred | None:
    """What is inferred of some records; None where it says that it cannot tell."""
    path.write_bytes(b"".join(records))
    try:
        return infer(path, controls=())
    except InputError as error:
        if not re.search("cannot tell|without a packet|no data", str(error)):
            raise
        return None


def honest(made: Inferred | None) -> None:
    """What is told is right: any other number would be a guess in the clothes of an estimate."""
    if made is None:
        return
    within(made.path.rate_bps, RATE_BPS, 0.03)
    within(made.path.buffer_bytes, BUFFER * 1500, 0.15)
    assert made.path.loss is None


@pytest.mark.parametrize("packets", [1, 3, 10, 40, 100, 300, 1000, 3000])
def test_the_beginning_of_a_capture_tells_what_it_shows(packets: int, records: list[bytes], tmp_path: Path) -> None:
    honest(inferred(tmp_path / "cut.pcap", records[: 1 + packets]))


@pytest.mark.parametrize("seed", range(4))
def test_any_part_of_a_capture_tells_what_it_shows(seed: int, records: list[bytes], tmp_path: Path) -> None:
    """From the middle there is no handshake; a record that is cut ends the capture."""
    draw = random.Random(seed)
    first = draw.randrange(1, len(records) // 2)
    last = draw.randrange(first + 1, len(records))
    honest(inferred(tmp_path / "cut.pcap", [records[0], *records[first:last], records[last][: draw.randrange(16)]]))


@pytest.mark.parametrize("back", [False, True])
def test_one_direction_says_nothing(back: bool, records: list[bytes], tmp_path: Path) -> None:
    """Without acknowledgements no round trip is seen; without data nothing is."""
    smallest = min(len(each) for each in records[1:])
    is_data = [struct.unpack_from("<I", each, 12)[0] > 10 * smallest for each in records[1:]]
    chosen = [each for each, data in zip(records[1:], is_data, strict=True) if data != back]
    assert inferred(tmp_path / "one.pcap", [records[0], *chosen]) is None
