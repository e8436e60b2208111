"""Files over HTTP, one after another, each over a connection of its own: a program, which needs nothing but Python.

``pages.py serve HOST PORT FOLDER`` serves the files of a folder by Python's own server, without a word about each.
``pages.py fetch HOST PORT COUNT FILE`` fetches ``/0``, ``/1``, ... and writes how long each took, in s, from the first
packet of the connection to the last byte, to a file of JSON.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.1.
"""

from __future__ import annotations

import json
import sys
import time
from functools import partial
from http import HTTPStatus
from http.client import HTTPConnection
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def fetched(host: str, port: int, count: int) -> list[float]:
    """How long each of so many files took, s.

    Raises
    ------
    OSError
        A file is not there, or the server is not.
    """
    taken: list[float] = []
    for number in range(count):
        began = time.monotonic()
        connection = HTTPConnection(host, port, timeout=60)
        try:
            connection.request("GET", f"/{number}")
            response = connection.getresponse()
            response.read()
        finally:
            connection.close()
        if response.status != HTTPStatus.OK:
            raise OSError(f"http://{host}:{port}/{number}: {response.status} {response.reason}")
        taken.append(time.monotonic() - began)
    return taken


class _Silent(SimpleHTTPRequestHandler):
    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        """Say nothing of what was answered."""


def serve(host: str, port: int, folder: str) -> None:
    """Serve until this process is ended."""
    with ThreadingHTTPServer((host, port), partial(_Silent, directory=folder)) as server:
        server.serve_forever()


if __name__ == "__main__":
    role, *arguments = sys.argv[1:]
    address, number = arguments[0], int(arguments[1])
    if role == "serve":
        serve(address, number, arguments[2])
    else:
        found = fetched(address, number, int(arguments[2]))
        Path(arguments[3]).write_text(json.dumps(found), encoding="utf-8")
