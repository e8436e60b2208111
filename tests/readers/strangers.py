"""Clients of the explorer that are no browsers: raw requests, and what a server's processes have used."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import httpx


def cookie(address: str) -> str:
    """The cookie that a server sets for its address with the secret."""
    return httpx.get(address, timeout=120).headers["set-cookie"].partition(";")[0]


def request(address: str, held: str, method: str, path: str, body: Any = None) -> bytes:
    """The bytes of a request as the page makes it."""
    host = address.partition("//")[2].partition("/")[0]
    content = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", f"Origin: http://{host}", f"Cookie: {held}"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*lines, "", ""]).encode() + content


def connected(address: str, timeout_s: float = 120.0) -> socket.socket:
    """A connection to a server."""
    port = int(address.partition("//")[2].partition("/")[0].rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=timeout_s)


def used_s(server: int) -> float:
    """Seconds of the processor that a server and its processes have used, those that have ended as well."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    ticks = sum(_times(server)) + sum(sum(_times(int(child))[:2]) for child in children)
    return ticks / os.sysconf("SC_CLK_TCK")


def _times(pid: int) -> tuple[int, int, int, int]:
    """User and system time of a process, and of its children that have ended, in ticks."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(words[11]), int(words[12]), int(words[13]), int(words[14])
