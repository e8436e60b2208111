"""Pings from a host: ``python ping.py PROCESS THREAD SOURCE DESTINATION SECONDS INTERVAL_S``.

It enters the network namespace of that thread, and prints the round-trip times as JSON, in seconds. When an answer came
is the kernel's time stamp (SO_TIMESTAMPNS), so that Python's own slowness is not measured.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import struct
import sys
import time
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
SO_TIMESTAMPNS = 35
ECHO_REQUEST, ECHO_REPLY = 8, 0


def enter(process: int, thread: int) -> None:
    """Enters the namespaces of another process's thread (setns(2)): the user namespace unless it is ours."""
    libc = ctypes.CDLL(None, use_errno=True)
    user = Path(f"/proc/{process}/ns/user")
    wanted = [(Path(f"/proc/{process}/task/{thread}/ns/net"), CLONE_NEWNET)]
    if user.stat().st_ino != Path("/proc/self/ns/user").stat().st_ino:
        wanted.insert(0, (user, CLONE_NEWUSER))
    for path, kind in wanted:
        with path.open("rb") as namespace:
            if libc.setns(namespace.fileno(), kind) != 0:
                number = ctypes.get_errno()
                raise OSError(number, os.strerror(number), str(path))


def checksum(data: bytes) -> int:
    """RFC 1071."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def ping(source: str, destination: str, seconds: float, interval_s: float) -> list[float]:
    """Round-trip times of those that were answered within a second."""
    times, number, end = [], 0, time.monotonic() + seconds
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP) as echo:
        echo.bind((source, 0))
        echo.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        echo.settimeout(1.0)
        while time.monotonic() < end:
            number += 1
            header = struct.pack("!BBHHH", ECHO_REQUEST, 0, 0, os.getpid() & 0xFFFF, number & 0xFFFF)
            header = header[:2] + struct.pack("!H", checksum(header)) + header[4:]
            sent_ns = time.clock_gettime_ns(time.CLOCK_REALTIME)
            echo.sendto(header, (destination, 0))
            came_ns = _answered(echo, number)
            if came_ns is not None:
                times.append((came_ns - sent_ns) / 1e9)
            time.sleep(interval_s)
    return times


def _answered(echo: socket.socket, number: int) -> int | None:
    """When the answer came, by CLOCK_REALTIME; None: it did not."""
    while True:
        try:
            packet, control, _, _ = echo.recvmsg(2048, 64)
        except TimeoutError:
            return None
        icmp = packet[(packet[0] & 15) * 4 :]
        kind, _, _, identifier, sequence = struct.unpack("!BBHHH", icmp[:8])
        if (kind, identifier, sequence) == (ECHO_REPLY, os.getpid() & 0xFFFF, number & 0xFFFF):
            seconds, ns = next(
                struct.unpack("qq", data[:16])
                for level, kind, data in control
                if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS)
            )
            return int(seconds * 1_000_000_000 + ns)


if __name__ == "__main__":
    process, thread, source, destination, seconds, interval_s = sys.argv[1:]
    enter(int(process), int(thread))
    json.dump(ping(source, destination, float(seconds), float(interval_s)), sys.stdout)
