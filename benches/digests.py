"""Digests of records: of the shipped scenarios, and of one scenario a congestion control, queue and loss recovery.

Whether a change of the code leaves all records as they are, anybody can see: `python benches/digests.py > before.json`
with the code before, and `python benches/digests.py --against before.json` with the code after, which lists what
differs and then ends with exit status 1.
A digest is of the first repetition's tables: names, types and values of all columns, however the files store them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import parshall as ps
from parshall.instruments.simulation.single import recorded
from parshall.results.records import about
from parshall.scenario.schema.catalog import family
from parshall.scenario.templates.shipped import shipped

LINK: dict[str, Any] = {"rate": "10 Mbit/s", "queue": {"name": "drop_tail", "limit": "40 packets"}}
LONG: dict[str, Any] = {"count": 3, "rtt": {"first": "20 ms", "step": "30 ms"}}
"""Long-lived flows."""
SHORT: dict[str, Any] = {
    "count": 3,
    "rtt": "40 ms",
    "workload": {
        "name": "on_off",
        "size": {"name": "pareto", "mean": "50 kB", "tail_index": 1.5},
        "off": {"name": "exponential", "mean": "0.5 s"},
    },
}
"""Short transfers, pauses."""
DATAGRAMS: dict[str, Any] = {"rtt": "30 ms", "workload": {"name": "rate_controlled"}}


def scenarios() -> Iterator[tuple[str, ps.Scenario]]:
    """What is simulated, by name."""
    for each in shipped():
        if not each.is_sweep:
            yield f"shipped/{each.name}", ps.Scenario.load(each.path)
    for name in _names("congestion_controls"):
        yield f"control/{name}", _of(LINK, *({**group, "congestion_control": name} for group in (LONG, SHORT)))
        try:
            yield f"datagrams/{name}", _of(LINK, {**DATAGRAMS, "congestion_control": name}, LONG)
        except ps.ScenarioError:
            continue  # it cannot send any
    for name in _names("queues"):
        ecn = [{**group, "ecn": True} for group in (LONG, SHORT)]
        yield f"queue/{name}", _of({**LINK, "queue": name}, *ecn, {**LONG, "count": 1, "congestion_control": "prague"})
    for name in _names("recoveries"):
        yield f"recovery/{name}", _of(LINK, *({**group, "recovery": name} for group in (LONG, SHORT)))
    yield "tcp/linux", _of(LINK, *({**group, "tcp": "linux"} for group in (LONG, SHORT)))


def _names(of: str) -> list[str]:
    return [entry.name for entry in family(of)]


def _of(link: dict[str, Any], *groups: dict[str, Any]) -> ps.Scenario:
    made = ps.Scenario.from_document({"duration": "20 s", "bottleneck": link, "flows": list(groups)})
    made.resolve()  # which refuses what its schema cannot
    return made


def digest(scenario: ps.Scenario) -> str:
    """Of all tables of the first repetition."""
    found = hashlib.sha256()
    for name, table in sorted(recorded(scenario.resolve()).tables.items()):
        for column in table:
            found.update(f"{name} {column.name} {column.dtype} {column.to_list()!r}\n".encode())
    return found.hexdigest()


def different(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is not as it was, a line each."""
    words = {True: "other records", False: "not there now"}
    lost = [f"{name}: {words[name in now]}" for name, old in before.items() if now.get(name) != old]
    return [*lost, *(f"{name}: not there before" for name in now if name not in before)]


def main() -> int:
    """Print the digests, or what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", type=Path, metavar="FILE", help="digests of before: say what differs")
    parser.add_argument("--only", default="", metavar="TEXT", help="scenarios whose name has this in it")
    options = parser.parse_args()
    chosen = {name: made for name, made in scenarios() if options.only in name}
    with ThreadPoolExecutor(about.cores()) as pool:
        now = dict(zip(chosen, pool.map(digest, chosen.values()), strict=True))
    if options.against is None:
        print(json.dumps(now, indent=1))
        return 0
    before = json.loads(options.against.read_text(encoding="utf-8"))
    lines = different({name: old for name, old in before.items() if options.only in name}, now)
    print("\n".join(lines) or f"the records of {len(now)} scenarios are the same")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
