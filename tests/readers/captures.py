"""Captures read byte by byte, by the formats' own documents: what the tests of captures stand on."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FIN, SYN, PSH, ACK, ECE, CWR = 1, 2, 8, 16, 64, 128
TCP, UDP = 6, 17


@dataclass(frozen=True)
class Packet:
    """A packet of raw IPv4, whose payload was not kept."""

    time_ns: int
    wire_bytes: int
    headers: bytes
    protocol: int
    source: str
    destination: str
    tos: int
    identification: int
    source_port: int
    destination_port: int
    payload: int
    seq: int = 0
    ack: int = 0
    flags: int = 0
    window: int = 0
    options: bytes = b""

    def option(self, kind: int) -> bytes | None:
        """The value of a TCP option (RFC 9293, section 3.2)."""
        rest = self.options
        while rest and rest[0]:
            if rest[0] == 1:
                rest = rest[1:]
                continue
            if rest[0] == kind:
                return rest[2 : rest[1]]
            rest = rest[rest[1] :]
        return None

    def checksums_fit(self) -> bool:
        """Whether both checksums are right, the payload being zeros (RFC 791, RFC 9293, section 3.1)."""
        segment = self.headers[20:]
        pseudo = self.headers[12:20] + struct.pack(">BBH", 0, self.protocol, len(segment) + self.payload)
        return ones_sum(self.headers[:20]) == 0xFFFF and ones_sum(pseudo + segment) == 0xFFFF


def ones_sum(data: bytes) -> int:
    """Sum of the 16-bit words with end-around carry (RFC 1071)."""
    total: int = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def packets(path: Path) -> list[Packet]:
    """The packets of a capture, in its order."""
    return [_packet(*record) for record in records(path)]


def records(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Time in ns, length on the wire, and what was kept: of pcap with times in ns, raw IP."""
    content = path.read_bytes()
    magic, major, minor, _, _, snap, link_type = struct.unpack_from("<IHHiIII", content)
    assert (magic, major, minor, link_type) == (0xA1B23C4D, 2, 4, 101)
    at = 24
    while at < len(content):
        seconds, ns, kept, wire = struct.unpack_from("<IIII", content, at)
        assert kept <= snap
        yield seconds * 10**9 + ns, wire, content[at + 16 : at + 16 + kept]
        at += 16 + kept
    assert at == len(content)


def complete(path: Path, target: Path) -> Path:
    """The same capture with its payloads of zeros, so that others can check the checksums of all packets."""
    written = [struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65_535, 101)]
    for time_ns, wire, kept in records(path):
        whole = kept + bytes(wire - len(kept))
        written += [struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, wire, wire), whole]
    target.write_bytes(b"".join(written))
    return target


def _packet(time_ns: int, wire_bytes: int, kept: bytes) -> Packet:
    version, tos, total, identification, fragment, ttl, protocol = struct.unpack_from(">BBHHHBB", kept)
    assert (version, fragment, ttl) == (0x45, 0x4000, 64)
    assert total <= wire_bytes
    ports = struct.unpack_from(">HH", kept, 20)
    common = {
        "time_ns": time_ns,
        "wire_bytes": wire_bytes,
        "headers": kept,
        "protocol": protocol,
        "source": ".".join(map(str, kept[12:16])),
        "destination": ".".join(map(str, kept[16:20])),
        "tos": tos,
        "identification": identification,
        "source_port": ports[0],
        "destination_port": ports[1],
        "payload": total - len(kept),
    }
    if protocol == UDP:
        assert struct.unpack_from(">H", kept, 24)[0] == total - 20
        return Packet(**common)
    seq, ack, offset, flags, window = struct.unpack_from(">IIBBH", kept, 24)
    assert 20 + offset // 16 * 4 == len(kept)
    return Packet(**common, seq=seq, ack=ack, flags=flags, window=window, options=kept[40:])
