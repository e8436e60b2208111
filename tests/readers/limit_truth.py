"""Scenarios of which it is known what limits their flow, and what a simulation of them knows of it at each instant.

The sender's own log (qlog), the captures of all links and the transfers say it.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import partial
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


KINDS = (
    "receiver",
    "application",
    "full_queue",
    "random_loss",
    "slow_start",
    "sender",
    "outage",
    "mixed",
    "mixed_controls",
)
CONTROLS = ("reno", "cubic", "bbr", "vegas", "highspeed", "bic")
"""Controls that share a bottleneck."""


@dataclass(frozen=True)
class Case:
    """A scenario, its number and what it was made for."""

    number: int
    kind: str
    document: dict[str, Any]
    rtts_s: dict[str, float]
    """Round trips without a queue, by flow."""
    window_bytes: float
    """The receiver's; infinite without a limit."""


def case(number: int) -> Case:
    """Scenario `number`: its kind in turn, all else drawn."""
    draw = random.Random(number)
    kind = KINDS[number % len(KINDS)]
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
    flows, rtts = [flow], {"flow": rtt}
    if kind == "mixed_controls":
        rtts = {f"flow-{place}": rtt for place in range(draw.randint(2, 3))}
        flows = [
            {
                **flow,
                "name": name,
                "rtt": f"{own * 1e3:.4f} ms",
                "congestion_control": control,
                "start": f"{draw.uniform(0, 0.3) * duration:.4f} s",
            }
            for (name, own), control in zip(rtts.items(), draw.sample(CONTROLS, len(rtts)), strict=True)
        ]
    document = {
        "name": f"limit-{number}",
        "duration": f"{duration:.4f} s",
        "seed": number + 1,
        "links": _links(rate, rtt, buffer, loss),
        "flows": [{**each, "path": list(PLACES)} for each in flows],
        "probes": {"pcap": True, "qlog": True, "flow_samples": f"{max(rtt / 4, 2e-4) * 1e3:.4f} ms", "internals": True},
    }
    return Case(number, kind, document, rtts, window * PAYLOAD)


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


def events(run: Run) -> dict[str, Log]:
    """The senders' logs by flow: times in s, names, data."""
    found = {}
    for path in sorted(Path(run.directory or "").glob("repetitions/0000/qlog/*.sqlog")):
        lines = path.read_text().replace("\x1e", "").splitlines()[1:]
        read = [json.loads(line) for line in lines if line]
        found[path.stem.rpartition("-")[0]] = [
            (each["time"] * 1e-3, each["name"].partition(":")[2], each["data"]) for each in read
        ]
    return found


def truths(case: Case, run: Run) -> dict[str, Stretches]:
    """What limited each flow, by the address and port of its sender.

    Stretches of time with a cause, from its SYN to its last acknowledgement.
    """
    busy = _busy(case, run)
    passed = _passed(run)
    found = {}
    for number, (name, log) in enumerate(events(run).items()):
        sender = next(data for _, event, data in log if event == "connection_started")
        address = f"{sender['src_ip']}:{sender['src_port']}"
        rtt_s = case.rtts_s[name]
        known = _Knowledge(run, number, lambda at, rtt_s=rtt_s: busy(at, rtt_s) >= FULL, partial(passed, address))
        found[address] = _stretches(case, log, known)
    return found


class _Knowledge:
    """What the simulator knows of a flow beside the sender's log."""

    def __init__(self, run: Run, number: int, full: Any, passed: Any) -> None:
        self.given = _given(run, number)
        self.started = _started(run, number)
        self.full = full
        self.passed = passed


def _stretches(case: Case, log: Log, known: _Knowledge) -> Stretches:
    outages, last_ack = _outages(log)
    cuts = _cuts(case, known, log)
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
        # What is lost of what it gave is repaired without the application.
        repairs = state in ("recovery", "loss")
        if out or (sent >= known.given(start) and not repairs):
            cause = "outage" if out else "application"
        else:
            by_receiver = window >= case.window_bytes - 1
            starts = state == "slow_start" and start < known.started
            cause = "receiver" if by_receiver else "slow_start" if starts else cuts(start)
            cause = "full_queue" if cause in ("random_loss", "sender") and known.full(start) else cause
        stretches.append((start, end, cause))
    return stretches


def _given(run: Run, flow: int) -> Any:
    """The bytes that the application has handed over by a time; without end for a flow that sends for ever."""
    assert run.transfers is not None
    rows = run.transfers.filter(pl.col("flow") == flow).sort("start_s")
    if rows.is_empty() or rows["size_bytes"].null_count():
        return lambda _: float("inf")
    starts = rows["start_s"].to_numpy()
    summed = np.concatenate([[0], rows["size_bytes"].cum_sum().to_numpy()])
    return lambda at: summed[np.searchsorted(starts, at + 1e-9, side="right")]


def _started(run: Run, flow: int) -> float:
    """When a control without a threshold (BBR) left its Startup, s; infinite of the others, whose state the log has."""
    if run.internals is None:
        return float("inf")
    rows = run.internals.filter((pl.col("variable") == "state") & (pl.col("flow") == flow))
    left = rows.filter(pl.col("value") > 0)["time_s"]
    return float("inf") if rows.is_empty() or left.is_empty() else float(left.min())  # type: ignore[arg-type]


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


def _busy(case: Case, run: Run) -> Any:
    """The share of a round trip before a time in which the bottleneck transmitted: by its own capture, exact."""
    (path,) = run.captures("bottleneck")
    rate_bps = float(case.document["links"][1]["rate"].split()[0])
    passed = [(packet.time_ns * 1e-9, packet.wire_bytes * 8 / rate_bps) for packet in packets(path) if packet.payload]
    ends = np.array([end for end, _ in passed])
    lasted = np.array([service for _, service in passed])
    total = np.cumsum(lasted)
    starts = ends - lasted
    times = np.stack([starts, ends], axis=1).ravel()
    sums = np.stack([total - lasted, total], axis=1).ravel()

    def busy(at: float, rtt_s: float) -> float:
        first, last = np.interp([at - rtt_s, at], times, sums)
        return float(last - first) / rtt_s

    return busy


def _cuts(case: Case, known: _Knowledge, log: Log) -> Any:
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
    causes = ["random_loss" if known.passed(offset, sent_at) else "full_queue" for _, offset, sent_at in found]
    times = np.array([at for at, _, _ in found])

    def cause(at: float) -> str:
        place = int(np.searchsorted(times, at, side="right")) - 1
        return causes[place] if place >= 0 else "sender"

    return cause


def _passed(run: Run) -> Any:
    """Whether a copy of a packet of a sender, sent at a time, has left the bottleneck."""
    (path,) = run.captures("bottleneck")
    (host,) = run.captures("host")
    left: dict[tuple[str, int], list[Packet]] = {}
    numbers: dict[tuple[str, int], set[int]] = {}
    for packet in packets(path):
        if packet.payload:
            key = (f"{packet.source}:{packet.source_port}", packet.seq - 1)
            numbers.setdefault(key, set()).add(packet.identification)
    for packet in packets(host):
        if packet.payload:
            key = (f"{packet.source}:{packet.source_port}", packet.seq - 1)
            left.setdefault(key, []).append(packet)

    def passed(sender: str, offset: int, sent_at: float) -> bool:
        copies = left.get((sender, offset), [])
        if not copies:
            return False
        copy = min(copies, key=lambda packet: abs(packet.time_ns * 1e-9 - sent_at))
        return copy.identification in numbers.get((sender, offset), set())

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
