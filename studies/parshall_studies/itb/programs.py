"""Programs that hosts of an emulation run, which need nothing but Python: a ping-pong of messages, and files by HTTP.

| command | what it does |
| --- | --- |
| ``reply ADDRESS PORT BYTES`` | sends each message back as soon as it has all of it, over one connection |
| ``ask ADDRESS PORT BYTES COUNT FILE`` | sends so many, each when the reply to the one before is complete |
| ``serve ADDRESS PORT FOLDER`` | serves the files of a folder, without a word about each |
| ``fetch ADDRESS PORT COUNT FILE`` | fetches ``/0``, ``/1``, ..., each over a connection of its own |

``ask`` and ``fetch`` write the time that each took, in s, to a file of JSON: of a message with its reply, and from the
first packet of a connection to the last byte.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.1, §4.5.4.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
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
    """The time of each of so many exchanges, s.

    Raises
    ------
    ConnectionError
        The other end left before the last one.
    """
    message = bytearray(size)
    with socket.create_connection((address, port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def exchange(number: int) -> None:
            connection.sendall(message)
            if not _whole(connection, message):
                raise ConnectionError(f"{address}: the connection ended after {number} of {count} messages")

        return _times(exchange, count)


def _whole(connection: socket.socket, message: bytearray) -> bool:
    """True when all of a message came, into `message`; false where the connection ended."""
    view, read = memoryview(message), 0
    while read < len(message):
        more = connection.recv_into(view[read:])
        if not more:
            return False
        read += more
    return True


def fetch(address: str, port: int, count: int) -> list[float]:
    """The time of each of so many files, s.

    Raises
    ------
    OSError
        A file or the server is missing.
    """

    def one(number: int) -> None:
        connection = HTTPConnection(address, port, timeout=60)
        try:
            connection.request("GET", f"/{number}")
            response = connection.getresponse()
            response.read()
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise OSError(f"http://{address}:{port}/{number}: {response.status} {response.reason}")

    return _times(one, count)


def _times(does: Callable[[int], None], count: int) -> list[float]:
    taken = []
    for number in range(count):
        began = time.monotonic()
        does(number)
        taken.append(time.monotonic() - began)
    return taken


class _Silent(SimpleHTTPRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of what was answered."""


def serve(address: str, port: int, folder: str) -> None:
    """Serve until this process is ended."""
    with ThreadingHTTPServer((address, port), partial(_Silent, directory=folder)) as server:
        server.serve_forever()


if __name__ == "__main__":
    role, host, at, *rest = sys.argv[1:]
    if role == "serve":
        serve(host, int(at), rest[0])
    elif role == "reply":
        reply(host, int(at), int(rest[0]))
    else:
        *numbers, file = rest
        found = (
            ask(host, int(at), int(numbers[0]), int(numbers[1]))
            if role == "ask"
            else fetch(host, int(at), int(numbers[0]))
        )
        Path(file).write_text(json.dumps(found), encoding="utf-8")
