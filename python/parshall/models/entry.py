"""One row of the catalog of models."""

from __future__ import annotations

from dataclasses import dataclass


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
