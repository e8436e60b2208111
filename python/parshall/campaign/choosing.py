"""Any metric of a sweep against any of its parameters: what the fields of its page choose from."""

from __future__ import annotations

from parshall.campaign.figures import families, of_family
from parshall.campaign.result import Sweep
from parshall.report.document import Block, Chart, Chooser

MOST = 60
"""Figures to choose from: a page carries them all."""


def chooser(sweep: Sweep) -> list[Block]:
    """Fields that choose a metric and a parameter; none where there is nothing to choose."""
    metrics, keys = families(sweep), [each.key for each in sweep.record.parameters]
    if len(keys) < 2 and len(metrics) < 2:
        return []
    shown = metrics[: MOST // max(1, len(keys))]
    drawn: dict[tuple[str, ...], Chart] = {
        (family.title, key): figure
        for family in shown
        for key in keys
        for figure in list(of_family(sweep, family, key))[:1]
    }
    return [Block("chooser", Chooser(("Metric", "Against"), drawn))] if len(drawn) > 1 else []
