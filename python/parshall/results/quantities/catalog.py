"""The one list of quantities that Parshall has.

A quantity that is listed here is on the page, in comparisons, sweeps and stopping rules; nothing else knows how it is
computed, or its label, unit and direction.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from parshall.results.quantities import completion, delay, fairness, goodput, loss, queue, window
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Per

OURS: Mapping[tuple[Per, str], Quantity] = {
    (each.per, each.key): each
    for each in (
        *goodput.RUN,
        fairness.RUN,
        *completion.RUN,
        *goodput.LINK,
        *loss.LINK,
        *queue.LINK,
        *goodput.GROUP,
        *loss.GROUP,
        *window.GROUP,
        delay.RTT,
        fairness.GROUP,
        *delay.GROUP,
        *completion.GROUP,
        *goodput.FLOW,
        *loss.FLOW,
        *window.FLOW,
        *delay.FLOW,
    )
}
"""Those that Parshall has, in the order of pages."""

SUMMARY = (
    "goodput_bps",
    "goodput_reverse_bps",
    "utilisation",
    "loss_rate",
    "loss_rate_in",
    "loss_rate_out",
    "queue_packets",
    "queueing_delay_s",
    "queueing_delay_p99_s",
    "jain",
    "completion_s",
    "completion_p50_s",
    "completion_p95_s",
)
"""Quantities that summarise a run; docs/json.md lists them."""


def built_in(key: str, per: Collection[Per]) -> Quantity | None:
    """A quantity of ours."""
    return next((OURS[each, key] for each in per if (each, key) in OURS), None)
