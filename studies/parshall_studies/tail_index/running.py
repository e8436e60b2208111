"""How the study's scenarios are run: all repetitions one after another, in the memory of the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import polars as pl

from parshall.instruments.simulation.single import is_sampled, recorded
from parshall.scenario import Scenario
from parshall.studies.study import Case

_TABLES = ("links", "flows", "transfers", "link_samples", "flow_samples")


@dataclass(frozen=True)
class Tables:
    """What a scenario's repetitions recorded; each table has the column ``repetition``."""

    warm_up_s: float
    links: pl.DataFrame
    flows: pl.DataFrame
    transfers: pl.DataFrame
    link_samples: pl.DataFrame
    flow_samples: pl.DataFrame


def case(label: str, scenario: Scenario, measure: Callable[..., Any], *more: Any) -> Case:
    """A case that answers ``measure(tables, *more)``."""
    return Case(label, _measured, (scenario, measure, *more))


def _measured(scenario: Scenario, measure: Callable[..., Any], *more: Any) -> Any:
    return measure(tables(scenario), *more)


def tables(scenario: Scenario) -> Tables:
    """What its repetitions record."""
    resolved = scenario.resolve()
    names = [name for name in _TABLES if name not in resolved["probes"] or is_sampled(resolved, name)]
    made = [
        recorded(resolved, *names, repetition=repetition, source=scenario.source).tables
        for repetition in range(scenario.repetitions)
    ]
    return Tables(
        float(resolved["warm_up_ps"]) / 1e12,
        *(pl.concat([each[name] for each in made]) if name in names else pl.DataFrame() for name in _TABLES),
    )
