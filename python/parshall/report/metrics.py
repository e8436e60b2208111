"""What a run measured, by the names of `parshall.quantities.catalog`: source of the headline, the tables, comparisons.

A metric holds only what there is: a repetition without a value (no packet sent, no transfer finished) is absent
from it, and a metric without any repetition is not made at all.
"""

from __future__ import annotations

from parshall.quantities import measuring
from parshall.quantities.measuring import Metrics
from parshall.quantities.tables import Tables, backward, directed
from parshall.report import words
from parshall.report.figures.common import group_names, link_names
from parshall.report.source import RunLike


def tables_of(run: RunLike) -> Tables:
    """The tables of a run; a `Run` has them with what was computed from them."""
    found = getattr(run, "tables", None)
    if isinstance(found, Tables):
        return found
    return Tables(directed(lambda name: getattr(run, name, None), backward(words.document(run))))


def all_metrics(run: RunLike, link: str | None = None) -> Metrics:
    """Everything, in the order of the page; `link` is the one that metrics without a link's name speak of."""
    tables = tables_of(run)
    found = overall(run, link)
    links = tables.get("links")
    for name in [] if links is None else link_names(links):
        found |= of_link(run, name)
    for group in [] if tables.get("flows") is None else group_names(run):
        found |= of_group(run, group)
    return found


def overall(run: RunLike, link: str | None = None) -> Metrics:
    """Of all flows together, and of one link: `link`, or the busiest one."""
    return measuring.of_run(tables_of(run), link)


def of_link(run: RunLike, link: str) -> Metrics:
    """Of one link."""
    return measuring.of_place(tables_of(run), "link", link)


def of_group(run: RunLike, group: str) -> Metrics:
    """Of one group of flows."""
    return measuring.of_place(tables_of(run), "group", group)
