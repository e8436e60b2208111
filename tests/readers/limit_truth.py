"""Scenarios of which it is known what limits their flow, and what a simulation of them knows of it at each instant.

The sender's own log (qlog), the captures of all links and the transfers say it.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from captures import Packet, packets

import parshall as ps
from parshall.instruments.simulation import Run

CAUSES = (
    "handshake",
    "slow_start",
    "application",
    "receiver",
    "sender",
    "full_queue",
    "random_loss",
    "outage",
    "unknown",
)
PLACES = ("host", "bottleneck", "far")
"""Links that are captured: at the sender, behind the queue, at the receiver."""

Stretches = list[tuple[float, float, str]]
"""Start and end, s, and a cause."""

Log = list[tuple[float, str, dict[str, Any]]]
"""Times, s, names and data of events."""

FULL = 0.97
"""A bottleneck that is busy for this share of a round trip is full."""

PACKET_BITS = 12_000
PAYLOAD = 1448.0
MOST_PACKETS = 40_000
MOST_UNDER_WAY = 1000
"""Packets that fill the path: with more, a case takes minutes."""


@dataclass(frozen=True)
class Case:
    """A scenario, its number and what it was made for."""

    number: int
    kind: str
    document: dict[str, Any]
    rtt_s: float
    window_bytes: float
    """The receiver's; infinite without a limit."""


def case(number: int) -> Case:
    """Scenario `number`: its kind in turn, all else drawn."""
    draw = random.Random(number)
    kinds = ("receiver", "application", "full_queue", "random_loss", "slow_start", "sender", "outage", "mixed")
    kind = kinds[number % len(kinds)]
    rate = 10 ** draw.uniform(6, 9)
    longest = min(0.3, MOST_UNDER_WAY * PACKET_BITS / rate)
    rtt = 10 ** draw.uniform(np.log10(0.005), np.log10(longest))
    product = max(rate * rtt / PACKET_BITS, 4.0)
    flow: dict[str, Any] = {
        "name": "flow",
        "rtt": f"{rtt * 1e3:.4f} ms",
        "handshake": True,
        "header_size": "52 B",
        "congestion_control": draw.choice(["reno", "cubic", "cubic"]),
    }
    if draw.random() < 0.5:
        flow["tcp"] = "linux"
    if draw.random() < 0.3:
        flow["delayed_ack"] = "40 ms"
    buffer = max(8, round(product * 10 ** draw.uniform(-0.5, 0.4)))
    window, speed, chance = float("inf"), rate, draw.random()
    if kind == "receiver" or (kind == "mixed" and chance < 0.4):
        window = max(4, round(product * draw.uniform(0.1, 0.8)))
        speed = window * PACKET_BITS / rtt
        flow["receive_window"] = f"{window} packets"
    if kind == "application" or (kind == "mixed" and 0.3 < chance < 0.7):
        speed = min(speed, _pauses(flow, draw, rtt, product))
    loss = _loss(kind, draw, chance, product)
    if loss:
        speed = min(speed, 1.3 * PACKET_BITS / rtt / loss**0.5)
        buffer = max(buffer, round(product))
    if kind == "sender":
        flow["initial_ssthresh"] = f"{max(4, round(product * draw.uniform(0.1, 0.5)))} packets"
        flow["congestion_control"] = "reno"
    duration = min(max(100 * rtt, 5.0), max(40 * rtt, MOST_PACKETS * PACKET_BITS / speed))
    if kind == "slow_start":
        flow["workload"] = {"name": "transfer", "sizes": f"{max(30, round(product * draw.uniform(0.2, 0.8)))} packets"}
        duration = 30 * rtt + 2
    document = {
        "name": f"limit-{number}",
        "duration": f"{duration:.4f} s",
        "seed": number + 1,
        "links": _links(rate, rtt, buffer, loss),
        "flows": [{**flow, "path": list(PLACES)}],
        "probes": {"pcap": True, "qlog": True, "link_samples": f"{max(rtt / 4, 2e-4) * 1e3:.4f} ms"},
    }
    return Case(number, kind, document, rtt, window * PAYLOAD)


def _pauses(flow: dict[str, Any], draw: random.Random, rtt: float, product: float) -> float:
    """Makes the flow pause between writes; the most bit/s that it sends then."""
    size = max(3, round(product * draw.uniform(0.1, 1.5)))
    pause = rtt * draw.uniform(0.5, 4)
    flow["workload"] = {
        "name": "on_off",
        "size": {"name": "constant", "value": f"{size} packets"},
        "off": {"name": "constant", "value": f"{pause:.5f} s"},
    }
    flow["persistent"] = True
    return size * PACKET_BITS / (pause + rtt)


def _loss(kind: str, draw: random.Random, chance: float, product: float) -> float:
    """The probability of a loss outside the queue: with it the window stays below what fills the path; 0 without."""
    if kind == "random_loss" or (kind == "mixed" and chance > 0.6):
        return min(draw.uniform(1, 4) / (0.3 * product) ** 2, 0.08)
    return draw.uniform(0.02, 0.08) if kind == "outage" else 0.0


def _links(rate: float, rtt: float, buffer: int, loss: float) -> list[dict[str, Any]]:
    """A link at the sender, the bottleneck, and one at the receiver that loses packets."""
    fast, near = f"{max(20 * rate, 1e9):.0f} bit/s", {"name": "drop_tail", "limit": "100000 packets"}
    narrow = {"name": "drop_tail", "limit": f"{buffer} packets"}
    delay = f"{0.48 * rtt * 1e3:.4f} ms"
    far: dict[str, Any] = {"name": "far", "rate": fast, "delay": "1 us", "queue": near}
    if loss:
        far["loss"] = {"name": "bernoulli", "probability": float(loss)}
    return [
        {"name": "host", "rate": fast, "delay": "1 us", "queue": near},
        {"name": "bottleneck", "rate": f"{rate:.0f} bit/s", "delay": delay, "queue": narrow},
        far,
    ]


def simulate(case: Case, directory: Path) -> Run:
    """The run of a case."""
    return ps.run(ps.Scenario.from_document(case.document), directory)


def events(run: Run) -> Log:
    """The sender's log: times in s, names, data."""
    (path,) = sorted(Path(run.directory or "").glob("repetitions/0000/qlog/*.sqlog"))
    lines = path.read_text().replace("\x1e", "").splitlines()[1:]
    read = [json.loads(line) for line in lines if line]
    return [(each["time"] * 1e-3, each["name"].partition(":")[2], each["data"]) for each in read]


def truth(case: Case, run: Run) -> Stretches:
    """What limited the flow: stretches of time with a cause, from its SYN to its last acknowledgement."""
    log = events(run)
    given = _given(run)
    outages, last_ack = _outages(log)
    full = _full(case, run)
    cuts = _cuts(case, run, log)
    began = next(at for at, name, _ in log if name == "packet_sent")
    opened = next(at for at, name, data in log if name == "packet_sent" and data["header"]["packet_type"] == "1RTT")
    stretches: Stretches = [(began, opened, "handshake")]
    state, window, sent = "slow_start", 0.0, 0
    for (at, name, data), (after, _, _) in pairwise(log):
        if name == "congestion_state_updated":
            state = data["new"]
        elif name == "metrics_updated":
            window = data.get("congestion_window", window)
        elif name == "packet_sent" and data["header"]["packet_type"] == "1RTT":
            for frame in data.get("frames", []):
                sent = max(sent, frame.get("offset", 0) + frame.get("length", 0))
        start, end = max(at, opened), min(after, last_ack)
        if end <= start:
            continue
        out = any(first <= start < last for first, last in outages)
        if out or sent >= given(start):
            cause = "outage" if out else "application"
        else:
            by_receiver = window >= case.window_bytes - 1
            cause = "receiver" if by_receiver else "slow_start" if state == "slow_start" else cuts(start)
            cause = "full_queue" if cause in ("random_loss", "sender") and full(start) else cause
        stretches.append((start, end, cause))
    return stretches


def _given(run: Run) -> Any:
    """The bytes that the application has handed over by a time; without end for a flow that sends for ever."""
    assert run.transfers is not None
    rows = run.transfers.sort("start_s")
    if rows.is_empty() or rows["size_bytes"].null_count():
        return lambda _: float("inf")
    starts = rows["start_s"].to_numpy()
    summed = np.concatenate([[0], rows["size_bytes"].cum_sum().to_numpy()])
    return lambda at: summed[np.searchsorted(starts, at + 1e-9, side="right")]


def _outages(log: Log) -> tuple[list[tuple[float, float]], float]:
    """Times without progress before a timeout, and the last progress."""
    found, progress, since = [], 0.0, 0.0
    for at, name, data in log:
        if name == "packet_received" and any(frame.get("acked_ranges") for frame in data.get("frames", [])):
            progress = since = at
        elif name == "loss_timer_updated":
            found.append((since, at))
            since = at
    return found, progress


def _full(case: Case, run: Run) -> Any:
    """Whether the bottleneck was busy for the round trip before a time."""
    rows = run.link_samples
    assert rows is not None
    bins = rows.filter(pl.col("link") == "bottleneck").sort("time_s")
    sent = bins["forwarded_bytes"].to_numpy() * 8.0
    could = bins["rate_bps"].to_numpy() * bins["bin_s"].to_numpy()
    width = float(bins["bin_s"][0])
    number = max(1, round(case.rtt_s / width))
    busy = np.convolve(sent, np.ones(number))[: sent.size] / np.convolve(could, np.ones(number))[: sent.size]
    return lambda at: bool(busy[min(int(at / width), busy.size - 1)] >= FULL)


def _cuts(case: Case, run: Run, log: Log) -> Any:
    """Why the window was reduced last before a time: where the packet was lost that was found lost first."""
    copies: dict[int, tuple[float, int]] = {}
    found: list[tuple[float, int, float]] = []
    for at, name, data in log:
        if name == "packet_sent":
            offset = next((frame["offset"] for frame in data.get("frames", []) if "offset" in frame), None)
            if offset is not None:
                copies[data["header"]["packet_number"]] = (at, offset)
        elif name == "packet_lost" and data["header"]["packet_number"] in copies:
            sent_at, offset = copies[data["header"]["packet_number"]]
            found.append((at, offset, sent_at))
    if not found:
        return lambda _: "sender"
    if "loss" not in case.document["links"][-1]:
        return lambda at: "full_queue" if at >= found[0][0] else "sender"
    passed = _passed(run, {offset for _, offset, _ in found})
    causes = ["random_loss" if passed(offset, sent_at) else "full_queue" for _, offset, sent_at in found]
    times = np.array([at for at, _, _ in found])

    def cause(at: float) -> str:
        place = int(np.searchsorted(times, at, side="right")) - 1
        return causes[place] if place >= 0 else "sender"

    return cause


def _passed(run: Run, offsets: set[int]) -> Any:
    """Whether a copy of a packet, sent at a time, has left the bottleneck."""
    left: dict[int, list[Packet]] = {}
    (path,) = run.captures("bottleneck")
    (host,) = run.captures("host")
    numbers: dict[int, set[int]] = {}
    for packet in packets(path):
        if packet.payload and packet.seq - 1 in offsets:
            numbers.setdefault(packet.seq - 1, set()).add(packet.identification)
    for packet in packets(host):
        if packet.payload and packet.seq - 1 in offsets:
            left.setdefault(packet.seq - 1, []).append(packet)

    def passed(offset: int, sent_at: float) -> bool:
        copies = left.get(offset, [])
        if not copies:
            return False
        copy = min(copies, key=lambda packet: abs(packet.time_ns * 1e-9 - sent_at))
        return copy.identification in numbers.get(offset, set())

    return passed


def shares(stretches: Stretches) -> dict[str, float]:
    """The share of the time of each cause."""
    total = sum(end - start for start, end, _ in stretches)
    return {cause: sum(end - start for start, end, each in stretches if each == cause) / total for cause in CAUSES}


def confusion(true: Stretches, found: Stretches) -> dict[tuple[str, str], float]:
    """Seconds that have the one cause in truth, and the other as found."""
    seconds: dict[tuple[str, str], float] = {}
    at = 0
    for start, end, cause in true:
        while at < len(found) and found[at][1] <= start:
            at += 1
        place = at
        while place < len(found) and found[place][0] < end:
            both = min(end, found[place][1]) - max(start, found[place][0])
            if both > 0:
                key = (cause, found[place][2])
                seconds[key] = seconds.get(key, 0.0) + both
            place += 1
    return seconds
