"""How well `parshall infer` finds the scenario of a capture: random scenarios, simulated, captured and inferred.

    python benches/infer.py --count 300 --seed 1 [--controls ""]

prints a row a scenario, a table of the share of each quantity within its bound, and of the intervals that cover the
truth, and a confusion matrix of the controls. With `--controls ""` only the path is inferred, which is fast.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "readers"))

from infer_truth import CAPTURED, CONTROLS, drawn, true_loss

import parshall as ps
from parshall.inference import Inferred, infer
from parshall.inference.path import PathEstimate
from parshall.inference.response import CONTROLS as CATALOG

LEAST_EVENTS = 20
BOUNDS = {"rate": 0.03, "buffer": 0.15, "loss": 0.2}
NAMES = ("rate", "round trip", "buffer", "loss", "loss that happened", "no loss", "control", "explained")


@dataclass
class Tally:
    """Counts of what was found."""

    outcomes: Counter[tuple[str, bool | None]] = field(default_factory=Counter)
    covered: Counter[tuple[str, bool]] = field(default_factory=Counter)
    matrix: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, name: str, estimate: PathEstimate | None, truth: float) -> None:
        """Count an estimate: None and guesses are not told."""
        if estimate is None or estimate.guess:
            self.outcomes[name, None] += 1
            return
        self.outcomes[name, abs(estimate.value - truth) <= BOUNDS[name.partition(" ")[0]] * truth] += 1
        if estimate.low is not None and estimate.high is not None:
            self.covered[name, estimate.low <= truth <= estimate.high] += 1

    def text(self) -> str:
        """The table, and the matrix where controls were told."""
        rows = []
        for name in NAMES:
            good, bad, untold = (self.outcomes[name, each] for each in (True, False, None))
            inside, out = self.covered[name, True], self.covered[name, False]
            covered = f"{inside} of {inside + out}" if inside + out else ""
            rows.append(f"{name:20} {good:4} of {good + bad:4}, {untold:4} not told   intervals cover {covered}")
        told = sorted({found for _, found in self.matrix})
        if told:
            rows.append("\n" + " " * 12 + "".join(f"{each[:9]:>10}" for each in told))
            rows += [
                f"{true:12}" + "".join(f"{self.matrix[true, each] or '.':>10}" for each in told) for true in CONTROLS
            ]
        return "\n".join(rows)


def judge(scenario: dict[str, Any], made: Inferred, link: dict[str, Any], tally: Tally) -> None:
    """Count which quantities are within their bounds."""
    bottleneck = scenario["links"][1]
    tally.add("rate", made.path.rate_bps, float(bottleneck["rate"].split()[0]) * 1e6)
    packets = int(bottleneck["queue"]["limit"].split()[0])
    tally.add("buffer", made.path.buffer_bytes, packets * made.forward[0].packet_bytes)
    has_loss = "loss" in bottleneck
    is_told = made.path.loss is not None and not made.path.loss.guess
    if not has_loss:
        tally.outcomes["no loss", not is_told] += 1
    else:
        offered = link["arrivals_packets"] + link["medium_losses_packets"]
        happened = link["medium_losses_packets"] / max(offered, 1)
        tally.add("loss", made.path.loss, true_loss(scenario))
        tally.add("loss that happened", made.path.loss, happened)
    rtt_ms = min(float(each["rtt"].split()[0]) for each in scenario["flows"])
    found_ms = 1e3 * min(group.min_rtt_s for group in made.groups if group.forward)
    tally.outcomes["round trip", abs(found_ms - rtt_ms) <= max(1.0, 0.02 * rtt_ms)] += 1
    _judge_control(scenario, made, tally)


def _judge_control(scenario: dict[str, Any], made: Inferred, tally: Tally) -> None:
    if made.response is None or sum(each.loss_events for each in made.forward) < LEAST_EVENTS:
        return
    true = [each["congestion_control"] for each in scenario["flows"]]
    found = made.response.control if made.response.told else "cannot tell"
    tally.outcomes["control", made.response.control in true if made.response.told else None] += 1
    if len(true) == 1:
        tally.matrix[true[0], found] += 1


def row(number: int, scenario: dict[str, Any], made: Inferred, took_s: float) -> str:
    """A line: the scenario, and what was found."""
    bottleneck, group = scenario["links"][1], scenario["flows"][0]
    path = made.path
    known = f"{'+'.join(each['congestion_control'] for each in scenario['flows'])} x{group['count']} "
    known += f"{bottleneck['rate']} {group['rtt']} {bottleneck['queue']['limit']} loss {true_loss(scenario):.2g}"
    parts = []
    for name, each, unit in (("rate", path.rate_bps, 1e6), ("buffer", path.buffer_bytes, 1500), ("loss", path.loss, 1)):
        parts.append(f"{name} -" if each is None or each.guess else f"{name} {each.value / unit:.4g}")
    response = made.response
    if response is not None:
        parts.append(f"{response.control if response.told else '?' + response.control} ({response.queue})")
    return f"{number:3} {scenario['name']:20} {known:70} -> {', '.join(parts)}  {took_s:.1f} s"


def main() -> None:
    """Draw, capture, infer, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--controls", default=",".join(CATALOG), help="those that are tried; empty: none, and no check")
    given = parser.parse_args()
    controls = [each for each in given.controls.split(",") if each]
    draw, tally = random.Random(given.seed), Tally()
    for number in range(given.count):
        scenario = drawn(draw)
        with TemporaryDirectory() as folder:
            run = ps.run(scenario, Path(folder) / "run")
            captures = run.captures(CAPTURED[scenario["name"].split()[1]])
            links = {each["link"]: each for each in run.links.to_dicts()}
            begun = time.process_time()
            try:
                made = infer(*captures, controls=controls)
            except ps.ParshallError as error:
                sys.stdout.write(f"{number:3} {scenario['name']:20} {error}\n")
                tally.outcomes["rate", None] += 1
                continue
            took_s = time.process_time() - begun
        judge(scenario, made, links["bottleneck"], tally)
        if controls:
            tally.outcomes["explained", made.check(repetitions=2).explains] += 1
        sys.stdout.write(row(number, scenario, made, took_s) + "\n")
        sys.stdout.flush()
    sys.stdout.write(tally.text() + "\n")


if __name__ == "__main__":
    main()
