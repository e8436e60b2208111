"""How well `parshall infer` finds the scenario of a capture: random scenarios, simulated, captured and inferred.

    python benches/infer.py --count 40 --seed 1

prints a row a scenario, and the share of each quantity that is within its bound: rate within 3 %, round trip within
1 ms or 2 %, buffer within 15 %, losses within 20 %, the control named where the capture has 20 loss events.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import parshall as ps
from parshall.inference import Inferred, infer

CONTROLS = ("reno", "cubic", "bbr", "bbr3", "vegas", "westwood", "htcp", "illinois")
LEAST_EVENTS = 20


def drawn(draw: random.Random) -> dict[str, Any]:
    """A scenario: one bottleneck, one group, one reason why it is not faster."""
    rate_mbps = 10 ** draw.uniform(0, 2.3)
    rtt_ms = 10 ** draw.uniform(0.7, 2.3)
    packets = max(10, round(draw.uniform(0.3, 2.0) * rate_mbps * 1e3 * rtt_ms / 12_000))
    group: dict[str, Any] = {
        "name": "a",
        "rtt": f"{rtt_ms:.3f} ms",
        "congestion_control": draw.choice(CONTROLS),
        "tcp": "linux",
        "handshake": True,
        "header_size": "52 B",
        "count": draw.choice((1, 1, 2, 4)),
        "start": {"uniform": "0.5 s"},
    }
    bottleneck: dict[str, Any] = {
        "rate": f"{rate_mbps:.4g} Mbit/s",
        "delay": "1 ms",
        "queue": {"name": "drop_tail", "limit": f"{packets} packets"},
    }
    reason = draw.choice(("queue", "queue", "loss", "window", "application"))
    if reason == "loss":
        bottleneck["loss"] = {"name": "bernoulli", "probability": float(f"{10 ** draw.uniform(-3.5, -2):.3g}")}
    if reason == "window":
        product = rate_mbps * 1e6 * rtt_ms / 1e3 / 8
        group |= {"receive_window": f"{max(6000, round(draw.uniform(0.2, 0.7) * product))} B", "count": 1}
    if reason == "application":
        size = round(draw.uniform(0.2, 1.0) * rate_mbps * 1e6 / 8)
        off = {"name": "exponential", "mean": "0.7 s"}
        group["workload"] = {"name": "on_off", "size": {"name": "constant", "value": f"{size} B"}, "off": off}
    return {
        "name": reason,
        "duration": "30 s",
        "warm_up": "0 s",
        "seed": draw.randrange(1000),
        "bottleneck": bottleneck,
        "flows": [group],
        "probes": {"pcap": True, "flow_samples": False, "link_samples": False},
    }


def judged(scenario: dict[str, Any], made: Inferred) -> dict[str, bool | None]:
    """Whether each quantity is within its bound; None where the capture cannot show it."""
    truth, found = (each.resolve() for each in (ps.Scenario.from_document(scenario), made.scenario))
    link, own = truth["links"][0], found["links"][0]
    rtts = [_least(group["rtt_ps"]) for group in found["flows"]]
    true_rtt = _least(truth["flows"][0]["rtt_ps"])
    events = sum(each.loss_events for each in made.forward)
    result: dict[str, bool | None] = dict.fromkeys(("rate", "rtt", "buffer", "loss", "control"))
    if not made.path.rate_bps.guess:
        result["rate"] = abs(own["rate"]["constant"] / link["rate"]["constant"] - 1) <= 0.03
    result["rtt"] = abs(min(rtts) - true_rtt) <= max(1e9, 0.02 * true_rtt)
    if made.path.buffer_bytes is not None and made.response is not None and made.response.queue.startswith("drop_tail"):
        result["buffer"] = abs(own["queue"]["limit"]["packets"] / link["queue"]["limit"]["packets"] - 1) <= 0.15
    if scenario["name"] == "loss":
        told = own["loss"].get("probability", 0.0)
        result["loss"] = abs(told / scenario["bottleneck"]["loss"]["probability"] - 1) <= 0.2
    if events >= LEAST_EVENTS and made.response is not None:
        named = scenario["flows"][0]["congestion_control"]
        result["control"] = made.response.control == named if made.response.told else None
    return result


def _least(value: Any) -> float:
    if "constant" in value:
        return float(value["constant"])
    return float(min(value["list"]))


def main() -> None:
    """Draw, capture, infer, and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    counts: Counter[tuple[str, bool | None]] = Counter()
    for number in range(given.count):
        scenario = drawn(draw)
        with TemporaryDirectory() as folder:
            run = ps.run(scenario, Path(folder) / "run")
            begun = time.process_time()
            made = infer(*run.captures("bottleneck"))
            took = time.process_time() - begun
        check = made.check(repetitions=2)
        result = judged(scenario, made)
        counts.update([*result.items(), ("explained", check.explains)])
        group = scenario["flows"][0]
        known = f"{group['congestion_control']} x{group['count']} {scenario['bottleneck']['rate']} {group['rtt']}"
        control = "-" if made.response is None else f"{made.response.control} ({made.response.queue})"
        wrong = [name for name, each in result.items() if each is False]
        told = f"{took:5.1f} s wrong: {wrong} missed: {check.missed}"
        sys.stdout.write(f"{number:3} {scenario['name']:12} {known:40} -> {control:32} {told}\n")
        sys.stdout.flush()
    for name in ("rate", "rtt", "buffer", "loss", "control", "explained"):
        good, bad, untold = (counts[name, each] for each in (True, False, None))
        sys.stdout.write(f"{name}: {good} of {good + bad} within the bound, {untold} not told\n")


if __name__ == "__main__":
    main()
