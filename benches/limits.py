"""How well `parshall observe` names what limits a flow: in scenarios of which the simulator knows it.

`python benches/limits.py 100` simulates the scenarios 0 to 99 of tests/readers/limit_truth.py, captures them at three
places, and prints for each place how many have all shares within 5 points of the truth, and the confusion of causes as
a table for docs/observe.md. A scenario takes some seconds.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "readers"))

from limit_truth import CAUSES, PLACES, Stretches, case, confusion, shares, simulate, truths

from parshall.instruments.observation import Observation, observe
from parshall.instruments.observation.limits import limits

BAR = 0.05


Found = dict[str, tuple[float, dict[tuple[str, str], float]]]
"""For each place the largest error of a share, and the confusion as shares of the time."""


def measured(number: int) -> tuple[str, Found]:
    """The kind of a scenario, and what was found of it."""
    each = case(number)
    found: Found = {}
    with tempfile.TemporaryDirectory() as folder:
        run = simulate(each, Path(folder) / "run")
        known = truths(each, run)
        for place in PLACES:
            found[place] = _compared(observe(*run.captures(place)), known)
    return each.kind, found


def _compared(observation: Observation, known: dict[str, Stretches]) -> tuple[float, dict[tuple[str, str], float]]:
    """The largest error of a share of any flow, and the confusion as shares of the time of each flow."""
    worst, confused = 0.0, dict[tuple[str, str], float]()
    # A capture's times begin with its first packet, the simulation's with the run.
    began = observation.captures[0]["started_unix_s"]
    for flow in limits(observation):
        true = known[flow.name.partition(" ")[0]]
        true_shares = shares(true)
        worst = max(worst, *(abs(flow.shares.get(cause, 0.0) - true_shares[cause]) for cause in CAUSES))
        periods = observation.periods(flow.flow).select("start_s", "end_s", "limited_by").rows()
        moved = [(start + began, end + began, cause) for start, end, cause in periods]
        total = sum(end - start for start, end, _ in true)
        for key, seconds in confusion(true, moved).items():
            confused[key] = confused.get(key, 0.0) + seconds / total
    return worst, confused


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", type=int, nargs="?", default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    numbers = range(options.first, options.first + options.cases)
    within: dict[str, Counter[str]] = defaultdict(Counter)
    kinds: Counter[str] = Counter()
    confused: dict[str, Counter[tuple[str, str]]] = defaultdict(Counter)
    with ProcessPoolExecutor(options.workers) as pool:
        for number, (kind, found) in zip(numbers, pool.map(measured, numbers), strict=True):
            kinds[kind] += 1
            for place, (worst, seconds) in found.items():
                within[place][kind] += worst <= BAR
                confused[place].update(seconds)
            told = ", ".join(f"{place} {100 * worst:.1f}" for place, (worst, _) in found.items())
            print(f"{number} {kind}: largest error in points: {told}", flush=True)
    for place in PLACES:
        print(f"\n{place}: {sum(within[place].values())} of {options.cases} within {100 * BAR:.0f} points")
        print(", ".join(f"{kind} {within[place][kind]} of {number}" for kind, number in kinds.items()))
        table(confused[place])


def table(shares: Counter[tuple[str, str]]) -> None:
    """Prints the confusion: of the time that each cause has in truth, the percentage that is found to be of each."""
    print("| truth | share | " + " | ".join(CAUSES) + " |")
    print("| --- |" + " --- |" * (len(CAUSES) + 1))
    whole = sum(shares.values())
    for true in CAUSES:
        total = sum(shares[true, found] for found in CAUSES)
        if total > 0:
            cells = [f"{100 * shares[true, found] / total:.1f}" for found in CAUSES]
            print(f"| {true} | {100 * total / whole:.1f} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
