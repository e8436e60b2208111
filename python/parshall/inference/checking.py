"""The check of an inferred scenario: it is simulated, captured, and read by the same reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats import claim_rules
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import mean_interval
from parshall.inference.facts import Direction, span
from parshall.inference.simulated import simulated
from parshall.scenario.scenario import Scenario

REPETITIONS = 3

_SHARES = {
    "goodput_bps": (0.1, "a tenth: what differs by less has the same cause, and a run of Linux varies by some percent"),
    "rtt_p50_s": (0.1, "a tenth: a queue that is so near is the same one"),
    "rtt_p95_s": (0.15, "a seventh: the longest delays of one capture vary more than their median"),
    "loss_rate": (0.5, "a half: a capture has tens of losses, whose number varies by a third"),
    "completion_p50_s": (0.15, "a seventh: as delays"),
}
LABELS = {
    "goodput_bps": ("goodput of all flows", "bit/s"),
    "rtt_p50_s": ("median round trip", "s"),
    "rtt_p95_s": ("95th percentile of the round trip", "s"),
    "loss_rate": ("share of the packets that were lost", "ratio"),
    "completion_p50_s": ("median time of a transfer", "s"),
}
LEAST_LOSSES = 10
"""Losses of a capture below which their share is not compared."""


@dataclass(frozen=True)
class Check:
    """Captured quantities beside those of the scenario.

    Parameters
    ----------
    claims
        One for each quantity: the simulated mean with its interval against the captured value.
    """

    claims: Sequence[Claim]

    @property
    def missed(self) -> list[str]:
        """Labels of the quantities that the scenario does not explain."""
        return [LABELS[each.quantity][0] for each in self.claims if each.outcome == "fails"]

    @property
    def explains(self) -> bool:
        """True if it explains all of them."""
        return not self.missed


def check(scenario: Scenario, flows: Sequence[Direction], *, repetitions: int = REPETITIONS) -> Check:
    """Simulate a scenario and compare it with the flows that were captured."""
    seen = measured(flows)
    found = [measured(each) for each in simulated(scenario.document(), repetitions)]
    claims = []
    for name, value in seen.items():
        values = [each[name] for each in found if name in each]
        if not values:
            continue
        share, reason = _SHARES[name]
        within = Tolerance(share * value, reason)
        claims.append(claim_rules.equal("capture", name, value, mean_interval(values), within=within, basis="asked"))
    return Check(claims)


def measured(flows: Sequence[Direction]) -> dict[str, float]:
    """The quantities that are compared: those that the flows have."""
    begin, end = span(flows)
    weights = np.array([float(each.packets_sent) for each in flows])
    made = {"goodput_bps": 8 * sum(each.delivered_bytes for each in flows) / max(end - begin, 1e-3)}
    for name in ("rtt_p50_s", "rtt_p95_s"):
        values = [getattr(each, name) for each in flows]
        known = np.array([value is not None for value in values])
        if known.any():
            picked = np.array([value for value in values if value is not None])
            made[name] = float(np.average(picked, weights=weights[known]))
    lost = sum(each.packets_dropped for each in flows)
    if lost >= LEAST_LOSSES:
        made["loss_rate"] = lost / max(sum(each.packets_sent for each in flows), 1)
    ended = [each.end_s - each.start_s for each in flows if each.ended or each.end_s < end - 1.0]
    if len(ended) >= LEAST_LOSSES:
        made["completion_p50_s"] = float(np.median(ended))
    return made
