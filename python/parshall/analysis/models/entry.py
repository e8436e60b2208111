"""The rows of the catalog of models: what users read about each, from ``entries.toml``.

They stand apart from the formulas, so that `parshall list` needs no numpy.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources


@dataclass(frozen=True, slots=True)
class Entry:
    """What users read about a model.

    Parameters
    ----------
    name
        What users write, and what results carry.
    family
        `throughput`, `variability`, `latency`, `queue` or `network`.
    summary, formula, reference
        One line each.
    validity
        The range outside which the model answers "out of range".
    controls
        Congestion controls it describes; empty for models of no congestion control.
    """

    name: str
    family: str
    summary: str
    formula: str
    reference: str
    validity: str
    controls: tuple[str, ...] = ()


@cache
def entries() -> dict[str, Entry]:
    """Every entry by its name, in the order of the file."""
    text = (resources.files("parshall.analysis.models") / "entries.toml").read_text(encoding="utf-8")
    return {
        name: Entry(name, **row | {"controls": tuple(row.get("controls", ()))})
        for name, row in tomllib.loads(text).items()
    }


def entry(name: str) -> Entry:
    """The entry of a model.

    Examples
    --------
    >>> entry("cubic").reference
    'RFC 9438 §5'
    """
    return entries()[name]
