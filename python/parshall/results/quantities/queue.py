"""Queues: how long they are, and how long packets wait in them, without their own transmission."""

from __future__ import annotations

from parshall.analysis.stats.estimates import BinnedQuantiles
from parshall.results.quantities.computing import PERCENTILES, Of, column, largest, quantile_of_bins
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Tables


def _percentile(level: int) -> Of:
    def of(tables: Tables) -> BinnedQuantiles:
        longest = largest(tables.get("links"), "max_queueing_delay_s")
        return quantile_of_bins(tables["delay_histogram"], "packets", level / 100, longest)

    return of


LINK = (
    Quantity(
        "queue_packets",
        "mean queue",
        "packets",
        None,
        "link",
        column("links", "mean_queue_packets"),
        what="over time, without the packet in transmission",
    ),
    Quantity(
        "queueing_delay_s",
        "mean queueing delay",
        "s",
        "lower",
        "link",
        column("links", "mean_queueing_delay_s"),
        what="over packets",
    ),
    *(
        Quantity(
            f"queueing_delay_p{level}_s",
            f"{PERCENTILES[level]} queueing delay",
            "s",
            "lower",
            "link",
            _percentile(level),
            what="of all packets",
        )
        for level in (50, 99)
    ),
    Quantity(
        "max_queueing_delay_s",
        "largest queueing delay of a repetition",
        "s",
        None,
        "link",
        column("links", "max_queueing_delay_s"),
        what="mean over the repetitions",
    ),
)
