"""One flow against ns-2's port of Linux controls: Westwood+, Hybla, Veno, Illinois, YeAH, Compound TCP, LP, and Reno.

The values are those of benches/ns2/linux_flow.tcl. Rates are within 3 % (10 % at random losses, which few sawteeth
average), losses and mean queues within 10 %; drops are few, so that one more or less is no difference. What is
outside is in `DIFFERENT`, with the port's rule behind it.

TCP-LP in a queue: test_lp_ns2.py. Not compared: Illinois on a lossy medium, where the port keeps beta of the window
instead of 1 - beta; Hybla at windows above 128 rho^2 packets, where the port's increase rounds to 0; Westwood+ on a
lossy medium, where a run of the port takes gigabytes.
"""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

VALUES = json.loads(Path(__file__).with_name("ns2_values.json").read_text())["linux_flow"]
PACKET_BITS = 8 * 1460
EXPONENTS = {"compound": 0.8}
"""The window goes with p to minus this; 1/2 for the others."""

_ROUNDS = "the port rounds rho^2/cwnd down to whole 128ths and so grows more slowly"
_WHOLE = "the port counts whole packets: alpha win^k - 1 is 1 instead of 1.7 at a window of 60"

DIFFERENT: dict[tuple[str, str], tuple[float, str]] = {
    ("hybla-100", "loss"): (1.23, _ROUNDS),
    ("hybla-25", "loss"): (1.12, _ROUNDS),
    ("compound-random", "rate"): (1.105, _WHOLE),
}
"""Ours over theirs, and why."""


def name(run: dict[str, Any]) -> str:
    return f"{run['cca']}-{'random' if run['p'] else run['buffer']}"


@pytest.mark.parametrize("run", [run for run in VALUES["runs"] if not run["p"]], ids=name)
def test_in_a_queue(linux_port: Any, run: dict[str, Any]) -> None:
    ours = linux_port(run, run["cca"], run["rtt"], run["buffer"], seed=1)
    found = {
        "rate": float(ours.flows["goodput_bps"][0]) / PACKET_BITS / run["acked_pps"],
        "mean_queue": ours.link["mean_queue_packets"] / run["mean_queue_packets"],
    }
    drops = run["loss"] * ours.link["arrivals_packets"]
    if abs(ours.link["dropped_packets"] - drops) > 1.5:
        found["loss"] = ours.link["dropped_packets"] / drops
    for what, ratio in found.items():
        known, _ = DIFFERENT.get((name(run), what), (1.0, ""))
        assert ratio == pytest.approx(known, rel=VALUES["tolerance"][what]), what


@pytest.mark.parametrize("cca", sorted({run["cca"] for run in VALUES["runs"] if run["p"]}))
def test_at_random_losses(linux_port: Any, cca: str) -> None:
    runs = [run for run in VALUES["runs"] if run["cca"] == cca and run["p"]]
    exponent = EXPONENTS.get(cca, 0.5)
    theirs = fmean(run["acked_pps"] * (run["loss"] / run["p"]) ** exponent for run in runs)
    ours = fmean(rate_at(linux_port, run, exponent) for run in runs)
    known, _ = DIFFERENT.get((f"{cca}-random", "rate"), (1.0, ""))
    assert ours / theirs == pytest.approx(known, rel=VALUES["tolerance"]["rate_at_random_losses"])


def rate_at(linux_port: Any, run: dict[str, Any], exponent: float) -> float:
    """Packets a second, brought from the losses there were to the nominal ones."""
    ours = linux_port(run, run["cca"], run["rtt"], run["buffer"], run["seed"])
    rate = float(ours.flows["goodput_bps"][0]) / PACKET_BITS
    return float(rate * (ours.link["loss_rate"] / run["p"]) ** exponent)
