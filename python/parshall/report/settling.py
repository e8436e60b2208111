"""The settling of a network while it was measured: both halves of the time beside each other.

Of each run: the goodput of groups, their shares, and the queue of the busiest link, as far as they are recorded
(`parshall.results.quantities.halves`), judged together (`parshall.analysis.stats.halves`). Where one differs, the means
of the page are those of a transient.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from parshall.analysis.stats.halves import Change, changes
from parshall.foundations.numbers import quantity
from parshall.report.figures.common import warm_up_s
from parshall.report.sentences import Sentence, say
from parshall.results.quantities.definition import link_name
from parshall.results.quantities.halves import halves
from parshall.results.quantities.measuring import busiest
from parshall.results.quantities.naming import named
from parshall.results.records import Result


def settling(run: Result) -> dict[str, Change]:
    """Both halves of each quantity, by its name; empty where the records do not tell."""
    links = run.tables.get("links")
    if links is None:
        return {}
    return changes(halves(run.tables, busiest(links), warm_up_s(run)))


def as_json(run: Result) -> list[dict[str, Any]]:
    """Plain values for ``halves`` of ``--json``; docs/json.md describes them."""
    return [
        {"quantity": name, "unit": named(name).unit, **asdict(change), "differs": change.differs}
        for name, change in settling(run).items()
    ]


def sentence(run: Result) -> Sentence | None:
    """The sentence on the largest change between both halves; None where nothing differs, or that is not known."""
    differing = {name: each for name, each in settling(run).items() if each.differs}
    if not differing:
        return None
    name = max(differing, key=lambda each: (_RANK[_key(each)], abs(differing[each].relative)))
    change, (_, place, key) = differing[name], name.split("/")
    unit = named(name).unit
    return say(
        f"transient_{key.partition('_')[0]}",
        place=link_name(place) if key == "queue_packets" else place,
        moves="rises" if change.second > change.first else "falls",
        first=quantity(change.first, unit),
        second=quantity(change.second, unit),
    )


_RANK = {"share": 2, "goodput_bps": 1, "queue_packets": 0}
"""Ranks of quantities, of which one that differs is told: a share says most."""


def _key(name: str) -> str:
    return name.rpartition("/")[2]
