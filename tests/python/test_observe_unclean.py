"""Sentences of the page on captures that are not clean, each made here."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

import parshall as ps
from parshall.report.observation.page import document

CLIENT, SERVER = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
SYN, ACK = 2, 16
MSS = b"\x02\x04\x05\xb4"


@dataclass(frozen=True)
class Segment:
    """A segment at a time, in microseconds."""

    at_us: int
    from_client: bool
    seq: int
    ack: int
    payload: int = 0
    flags: int = ACK
    window: int = 60_000
    stamps: tuple[int, int] | None = None

    def packet(self) -> tuple[bytes, int]:
        """Its headers, and its length on the wire."""
        options = MSS if self.flags & SYN else b""
        if self.stamps:
            options += b"\x01\x01\x08\x0a" + struct.pack("!II", *self.stamps)
        ports, ends = ((4000, 80), (CLIENT, SERVER)) if self.from_client else ((80, 4000), (SERVER, CLIENT))
        header = 20 + len(options)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + header + self.payload, 0, 0x4000, 64, 6, 0) + b"".join(ends)
        tcp = struct.pack("!HHIIBBHHH", *ports, self.seq, self.ack, header // 4 << 4, self.flags, self.window, 0, 0)
        return ip + tcp + options, 20 + header + self.payload


def capture(path: Path, segments: list[Segment]) -> ps.Observation:
    """The observation of these segments, in order of time."""
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 101)
    for segment in sorted(segments, key=lambda each: each.at_us):
        packet, length = segment.packet()
        data += struct.pack("<IIII", 1_700_000_000, segment.at_us, len(packet), length) + packet
    path.write_bytes(data)
    return ps.observe(path)


def opened(before_us: int, beyond_us: int) -> list[Segment]:
    """A handshake, with so much time before the capture point and beyond it."""
    return [
        Segment(0, True, 99, 0, flags=SYN),
        Segment(beyond_us, False, 499, 100, flags=SYN | ACK),
        Segment(beyond_us + before_us, True, 100, 500),
    ]


def text(observation: ps.Observation) -> str:
    """The sentences of its page, with plain blanks."""
    sections = document(observation, without=("arrivals",)).sections
    return " ".join(" ".join(section.paragraphs) for section in sections).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_that_the_order_is_not_that_on_the_wire(tmp_path: Path) -> None:
    segments = opened(20_000, 10)
    for i in range(100):
        at = 50_000 + 200 * i
        segments.append(Segment(at, True, 100 + 1000 * i, 500, 1000))
        segments.append(Segment(at + (8 if i % 10 else -3), False, 500, 1100 + 1000 * i))
    observation = capture(tmp_path / "order.pcap", segments)
    said = text(observation)
    assert observation.flows["retransmissions"].to_list() == [0]
    assert "10 segments stand after the acknowledgement in the file: its order is not that on the wire" in said
    assert "by up to 3 us" in said, "of the trace as a whole, too"
    assert "stand after" not in text(capture(tmp_path / "clean.pcap", segments[:3] + segments[5:7]))


def test_the_page_says_what_the_receiver_discarded(tmp_path: Path) -> None:
    segments = opened(40_000, 10)
    for i in range(10):
        at = 100_000 + 1000 * i
        segments.append(Segment(at, True, 100 + 1000 * i, 500, 1000))
        number, window = (i + 1, 0 if i else 20_000) if i < 2 else (2, 0)
        segments.append(Segment(at + 10, False, 500, 100 + 1000 * number, window=window))
    segments.append(Segment(500_000, False, 500, 2100, window=20_000))
    for i in range(2, 10):
        segments.append(Segment(540_000 + 1000 * i, True, 100 + 1000 * i, 500, 1000))
        segments.append(Segment(540_010 + 1000 * i, False, 500, 1100 + 1000 * i, window=20_000))
    observation = capture(tmp_path / "closed.pcap", segments)
    assert observation.trace_flows["discarded_by_receiver"].to_list() == [8]
    assert observation.flows["packets_dropped"].to_list() == [0]
    assert "discarded 8 packets that lay beyond its window" in text(observation)


def test_the_page_says_where_round_trip_times_are_lower_bounds(tmp_path: Path) -> None:
    segments = opened(15_000, 40_000)
    for i in range(100):
        at = 100_000 + 1000 * i
        segments.append(Segment(at, True, 100 + 1000 * i, 500, 1000))
        segments.append(Segment(at + 40_000, False, 500, 1100 + 1000 * i))
    observation = capture(tmp_path / "middle.pcap", segments)
    assert "They are lower bounds, at least 55.0 ms on average" in text(observation)
    row = observation.flows.to_dicts()[0]
    assert abs(row["rtt_p50_s"] - 0.055) < 0.001
    assert row["rtt_p50_s"] <= row["rtt_p95_s"] <= row["rtt_p99_s"]
