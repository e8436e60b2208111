"""The waits of packets: the complementary distribution of the queueing delay at each link."""

from __future__ import annotations

from parshall.report.figures.common import across_ranks, pooled, sentences
from parshall.report.figures.delays import of_link
from parshall.report.figures.tails import DrawnTail, tail_of, tails_panel
from parshall.report.plot import Figure, Missing, Plot
from parshall.results.quantities.measuring import links_in
from parshall.results.records import Result


def prepare(run: Result) -> Plot | Missing:
    """One curve a link, percentiles as points on it."""
    histogram = run.tables.get("delay_histogram")
    if histogram is None:
        return Missing("No packet was forwarded after the warm-up, so there is no queueing delay.")
    tails: dict[str, DrawnTail] = {}
    for link in links_in(histogram):
        delays = of_link(run.tables, link)
        if delays is not None:
            tails[link] = tail_of(delays)
    if not tails:
        return Missing("No packet was forwarded after the warm-up, so there is no queueing delay.")
    chosen, left_out = across_ranks({link: float(tail.percentiles_s[2]) for link, tail in tails.items()}, "link")
    panel, note = tails_panel({link: tails[link] for link in chosen}, "Queueing delay", "wait")
    opening = "Waiting time in the queue, without the packet's own transmission, after the warm-up."
    return Plot([panel], sentences(opening, note, pooled(histogram), left_out))


FIGURE = Figure("delay", "Distribution of the queueing delay", prepare)
