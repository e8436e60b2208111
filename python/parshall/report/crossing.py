"""The groups of flows that send their data over a link."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from parshall.report import description
from parshall.results.quantities.measuring import places
from parshall.results.records import Result


def crossing(run: Result, link: str) -> list[str]:
    """The groups whose data go over `link`, in the order of pages; all of them where the scenario is not known."""
    described = {
        str(group.get("name")): group
        for group in description.document(run).get("flows") or ()
        if isinstance(group, Mapping) and group.get("path")
    }
    flows = run.tables.get("flows")
    back = set() if flows is None else set(flows.filter(~pl.col("forward"))["group"].to_list())
    groups = []
    for group in places(run.tables, "group"):
        crosses = link in described[group]["path"] if group in described else (group in back) == (link == "reverse")
        if crosses:
            groups.append(group)
    return groups
