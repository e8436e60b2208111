"""Files over HTTP, one after another, each over a connection of its own: a program, which needs nothing but Python.

``pages.py HOST PORT COUNT FILE`` fetches ``/0``, ``/1``, ... and writes how long each took, in s, from the first packet
of the connection to the last byte, to a file of JSON.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.5.1.
"""

from __future__ import annotations

import json
import sys
import time
from http.client import HTTPConnection
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
        if response.status != 200:  # RFC 9110, §15.3.1
            raise OSError(f"http://{host}:{port}/{number}: {response.status} {response.reason}")
        taken.append(time.monotonic() - began)
    return taken


if __name__ == "__main__":
    found = fetched(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    Path(sys.argv[4]).write_text(json.dumps(found), encoding="utf-8")
