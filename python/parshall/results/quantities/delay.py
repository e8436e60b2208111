"""Latency of packets, from sending to arrival and there and back."""

from __future__ import annotations

import polars as pl

from parshall.analysis.stats.estimates import BinnedQuantiles
from parshall.results.quantities.computing import (
    PERCENTILES,
    Of,
    aggregated,
    column,
    largest,
    mean_of,
    quantile_of_bins,
)
from parshall.results.quantities.definition import Quantity
from parshall.results.quantities.tables import Per, Tables


def _percentile(measure: str, level: int) -> Of:
    rows, most = pl.col("measure") == measure, f"max_{measure}_s"

    def of(tables: Tables) -> BinnedQuantiles:
        longest = largest(tables.get("groups"), most)
        return quantile_of_bins(tables["latency_histogram"].filter(rows), "samples", level / 100, longest)

    return of


def _packets(per: Per, table: str) -> tuple[Quantity, ...]:
    return tuple(
        Quantity(key, label, "s", "lower", per, column(table, name), what=what)
        for key, label, name, what in (
            ("one_way_delay_s", "mean one-way delay", "mean_one_way_delay_s", "over packets, propagation included"),
            (
                "max_one_way_delay_s",
                "largest one-way delay of a repetition",
                "max_one_way_delay_s",
                "mean over the repetitions",
            ),
            (
                "jitter_s",
                "jitter",
                "jitter_s",
                "between packets that arrive one after another (RFC 3550, section 6.4.1)",
            ),
        )
    )


RTT = Quantity(
    "rtt_s",
    "mean round-trip time",
    "s",
    "lower",
    "group",
    aggregated("flows", mean_of("mean_rtt_s")),
    what="mean over the flows of the mean of each one's samples; one through which nothing got has none",
)

GROUP = (
    *_packets("group", "groups"),
    *(
        Quantity(
            f"{measure}_p{level}_s",
            f"{words} {of}",
            "s",
            "lower",
            "group",
            _percentile(measure, level),
            what=what,
        )
        for measure, of, what in (
            ("one_way_delay", "one-way delay", "of all packets"),
            ("rtt", "round-trip time", "of all measurements"),
        )
        for level, words in PERCENTILES.items()
    ),
)

FLOW = (
    Quantity(
        "rtt_s",
        "mean round-trip time",
        "s",
        "lower",
        "flow",
        column("flows", "mean_rtt_s"),
        what="of its samples, each of which counts once",
    ),
    *_packets("flow", "flows"),
)
