"""How long one waits for the explorer: its first picture, and the answer to a change.

Bars: 1.5 s from the command to the first picture, 0.3 s from a change to its figures, at the quickstart's size. The
exit status is 1 if one is not met. A machine that does other things as well is slower: its load is printed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time

import httpx

TIMES = 5
CHANGES = 30
FIRST_PICTURE_S, CHANGE_S = 1.5, 0.3


def main() -> int:
    first = [first_picture_s() for _ in range(TIMES)]
    figures, models = changes_s()
    rows = [
        ("first picture", first, FIRST_PICTURE_S),
        ("a change: figures", figures, CHANGE_S),
        ("a change: models too", models, None),
    ]
    print(
        f"{'':22}{'median':>9}{'longest':>9}{'bar':>7}   load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    )
    for name, found, bar in rows:
        shown = "" if bar is None else f"{bar:.1f} s"
        print(f"{name:22}{statistics.median(found):7.2f} s{max(found):7.2f} s{shown:>7}")
    return int(any(bar is not None and statistics.median(found) > bar for _, found, bar in rows))


def first_picture_s() -> float:
    """From the command to a page with a drawing in it."""
    started = time.perf_counter()
    process, address = server()
    page = httpx.get(address, timeout=60, follow_redirects=True).text
    taken = time.perf_counter() - started
    process.terminate()
    process.communicate()
    if "<svg" not in page:
        raise SystemExit(f"the first page has no picture: {page[:500]}")
    return taken


def changes_s() -> tuple[list[float], list[float]]:
    """From a change to its first part, the figures, and to its second, the models."""
    process, address = server()
    figures, models = [], []
    base = address.partition("/?")[0]
    with httpx.Client(base_url=base, timeout=60, headers={"origin": base}, follow_redirects=True) as client:
        client.get(address)
        for number in range(CHANGES):
            request = {"tab": "bench", "number": number, "values": {"bottleneck.rate": f"{10 + number} Mbit/s"}}
            started = time.perf_counter()
            with client.stream("POST", "/simulate", json=request) as answer:
                lines = answer.iter_lines()
                if "simulated" not in json.loads(next(lines)):
                    raise SystemExit("a change was refused")
                figures.append(time.perf_counter() - started)
                list(lines)
                models.append(time.perf_counter() - started)
    process.terminate()
    process.communicate()
    return figures, models


def server() -> tuple[subprocess.Popen[str], str]:
    command = [sys.executable, "-m", "parshall", "explore", "quickstart", "--no-browser", "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


if __name__ == "__main__":
    sys.exit(main())
