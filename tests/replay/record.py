"""Records the calls of this machine's kernel that the tests of replays are held against: ``tests/data/linux-6.18``.

``python tests/replay/record.py [DIRECTORY [CONTROL ...]]``, as root, on a quiet machine with the program zstd. Each
recording is one flow over a bottleneck of 4 Mbit/s and 40 ms, in one of the situations of `SITUATIONS`. What is
committed was recorded on Linux 6.18.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import parshall as ps
from parshall.instruments.emulation.process import CALLS_FILE

CONTROLS: dict[str, str | dict[str, Any]] = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr": "bbr",
    # Twenty intervals in four seconds, of which each is longer than the RTT with its queue of up to 100 ms.
    "multiple_time_scale": {"name": "multiple_time_scale", "interval": "200 ms"},
}

BULK: dict[str, Any] = {"rtt": "40 ms"}


def _constant(value: str) -> dict[str, str]:
    return {"name": "constant", "value": value}


def on_off(size: str, off: str) -> dict[str, Any]:
    """Transfers on one connection, with pauses between them."""
    return {**BULK, "persistent": True, "workload": {"name": "on_off", "size": _constant(size), "off": _constant(off)}}


DROP_TAIL = {"name": "drop_tail", "limit": "20 packets"}
LARGE = {"name": "drop_tail", "limit": "1000 packets"}
RED = {"name": "red", "ecn": True, "weight": 0.02}

SITUATIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "clean": (BULK, {"queue": LARGE}),
    "overflow": (BULK, {"queue": DROP_TAIL}),
    "loss": (BULK, {"queue": LARGE, "loss": {"name": "bernoulli", "probability": 0.01}}),
    "ecn": ({**BULK, "ecn": True}, {"queue": RED}),
    "application_limited": (on_off("30 kB", "20 ms"), {"queue": LARGE}),
    "idle_restart": (on_off("200 kB", "900 ms"), {"queue": DROP_TAIL}),
}
"""The flow and the bottleneck of each."""


def scenario(control: str, situation: str) -> dict[str, Any]:
    flow, bottleneck = SITUATIONS[situation]
    seconds = 12 if (control, situation) == ("bbr", "clean") else 4  # BBR looks for a smaller RTT after 10 s
    return {
        "name": f"{control}-{situation}",
        "duration": f"{seconds} s",
        "bottleneck": {"rate": "4 Mbit/s", **bottleneck},
        "flows": [{**flow, "congestion_control": CONTROLS[control]}],
        "probes": {"transfers": False},
    }


def main() -> None:
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "data" / "linux-6.18"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as directory:
        for control in sys.argv[2:] or CONTROLS:
            for situation in SITUATIONS:
                place = Path(directory) / f"{control}-{situation}"
                run = ps.emulate(scenario(control, situation), place, record_controls=True)
                calls = place / "repetitions" / "0000" / CALLS_FILE
                smaller = target / f"{control}-{situation}.csv.zst"
                plain = subprocess.run(["zstd", "-dc", calls], check=True, capture_output=True).stdout
                subprocess.run(["zstd", "-19", "-qfo", smaller], input=plain, check=True)
                sys.stdout.write(f"{smaller.name}: {run.metadata['recording']}, {smaller.stat().st_size} bytes\n")


if __name__ == "__main__":
    main()
