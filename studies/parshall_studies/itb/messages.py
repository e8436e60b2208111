"""A ping-pong of messages between two hosts, as PA's of MPI: a program of its own, which needs nothing but Python.

``messages.py reply ADDRESS PORT BYTES`` sends each message back as soon as it has all of it, over one connection;
``messages.py ask ADDRESS PORT BYTES COUNT FILE`` sends so many, each when the reply to the one before is complete, and
writes the time that each exchange took, in s, to a file of JSON.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.4.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from pathlib import Path


def reply(address: str, port: int, size: int) -> None:
    """Answer one client until it leaves."""
    with socket.create_server((address, port)) as server:
        connection, _ = server.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            message = bytearray(size)
            while _whole(connection, message):
                connection.sendall(message)


def ask(address: str, port: int, size: int, count: int) -> list[float]:
    """How long each of so many exchanges took, s.

    Raises
    ------
    ConnectionError
        The other end left before the last one.
    """
    taken: list[float] = []
    message = bytearray(size)
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(count):
            began = time.monotonic()
            connection.sendall(message)
            if not _whole(connection, message):
                raise ConnectionError(f"{address}: the connection ended after {len(taken)} of {count} messages")
            taken.append(time.monotonic() - began)
    return taken


def _whole(connection: socket.socket, message: bytearray) -> bool:
    """Whether all of a message came, into `message`; not: the connection ended."""
    view, there = memoryview(message), 0
    while there < len(message):
        read = connection.recv_into(view[there:])
        if not read:
            return False
        there += read
    return True


if __name__ == "__main__":
    role, host, *numbers = sys.argv[1:]
    if role == "reply":
        reply(host, int(numbers[0]), int(numbers[1]))
    else:
        found = ask(host, int(numbers[0]), int(numbers[1]), int(numbers[2]))
        Path(numbers[3]).write_text(json.dumps(found), encoding="utf-8")
