"""The delays of packets: the complementary distribution of the one-way delay, by group of flows."""

from __future__ import annotations

from parshall.report.figures.common import across_ranks, pooled, sentences
from parshall.report.figures.delays import of_groups
from parshall.report.figures.tails import tail_of, tails_panel
from parshall.report.plot import Figure, Missing, Plot
from parshall.results.records import Result


def prepare(run: Result) -> Plot | Missing:
    """One curve a group, percentiles as points on it."""
    histogram = run.tables.get("latency_histogram")
    if histogram is None:
        if run.groups is None:
            return Missing("No delays from end to end were recorded; `[probes] latency` turns this on.")
        return Missing("No packet arrived after the warm-up, so there is no one-way delay.")
    delays = of_groups(run.tables, "one_way_delay")
    if not delays:
        return Missing("No packet arrived after the warm-up, so there is no one-way delay.")
    tails = {group: tail_of(each) for group, each in delays.items()}
    chosen, left_out = across_ranks({group: float(tail.percentiles_s[2]) for group, tail in tails.items()}, "group")
    panel, note = tails_panel({group: tails[group] for group in chosen}, "One-way delay", "take")
    opening = (
        "From a packet's sending to its arrival at the receiver, propagation and all queues included, of each packet "
        "with data that arrived after the warm-up."
    )
    return Plot([panel], sentences(opening, note, pooled(histogram), left_out))


FIGURE = Figure("latency", "Distribution of the one-way delay by group", prepare)
