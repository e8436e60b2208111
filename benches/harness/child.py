"""Simulates one repetition in a process of its own, and prints its summary and memory as one JSON line.

`python child.py SCENARIO [KEY=VALUE ...] [--control=NAME=PLACE ...]`: as for `parshall run`, its `--set` and
`--control`. The process does nothing else, so that its high-water mark of resident memory is the simulation's, but for
what the interpreter and the imports take; how much that is shows in a run with a single flow. With a control from
outside, the simulation is done in another process, and its memory is not known here.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import parshall as ps
from parshall.instruments.simulation import single
from parshall.scenario.controls import declare


def high_water_bytes() -> int:
    """The largest resident memory so far; of this program alone, unlike getrusage's, which survives exec."""
    match = re.search(r"^VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match
    return int(match[1]) * 1024


_CONTROL = "--control="


def main(path: str, *arguments: str) -> None:
    declare([each.removeprefix(_CONTROL) for each in arguments if each.startswith(_CONTROL)])
    assignments = tuple(each for each in arguments if not each.startswith(_CONTROL))
    scenario = ps.Scenario.load(path, assignments)
    resolved = json.dumps(scenario.resolve())
    with TemporaryDirectory(prefix="parshall-bench-") as directory:
        summary = single.simulate(resolved, 0, Path(directory), single.Monitor())
    print(json.dumps(summary | {"high_water_bytes": high_water_bytes()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
