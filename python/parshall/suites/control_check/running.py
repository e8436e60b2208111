"""All simulations of a report card: calls of a campaign, one a course and repetition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from parshall.campaign import Execution
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of
from parshall.instruments.simulation.single import recorded
from parshall.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

Key = tuple[Any, ...]
"""Key of a course: the measure, its setting, the controls."""
Reading = Mapping[str, Any]
"""Measurements of one repetition."""
Readings = Mapping[Key, list[Reading]]
"""By course, one a repetition."""


@dataclass(frozen=True)
class RepetitionCourse:
    """A scenario, and what is read from its tables by a function of a module."""

    document: Mapping[str, Any]
    read: Callable[[Mapping[str, pl.DataFrame]], Reading]
    tables: tuple[str, ...] = ("flows",)


def done(
    courses: Mapping[Key, RepetitionCourse],
    seed: int,
    repetitions: int,
    execution: Execution,
    progress: Callable[[str], None] = lambda _: None,
) -> Readings:
    """Simulate all courses. Repetitions of the same number share their random numbers.

    Parameters
    ----------
    progress
        Told in a few words what was done.

    Raises
    ------
    ControlError
        A control failed.
    ParshallError
        As `parshall.campaign.calls.run_calls`.
    """
    calls = {}
    for key, course in courses.items():
        resolved = Scenario.from_document({**course.document, "seed": seed, "repetitions": repetitions}).resolve()
        for number in range(repetitions):
            call = call_of(_reading, (resolved, number, course.read, course.tables))
            calls[key, number] = replace(call, label=f"{' '.join(map(str, key))}, repetition {number}")
    different = {call.key: call for call in calls.values()}
    numbers = iter(range(1, len(different) + 1))
    answers = run_calls(
        list(different.values()),
        execution.workers,
        lambda call: progress(f"{call.label} ({next(numbers)} of {len(different)})"),
        scheduler=execution.scheduler,
        store=execution.kept,
    )
    readings = dict(zip(different, answers, strict=True))
    return {key: [readings[calls[key, number].key] for number in range(repetitions)] for key in courses}


def _reading(
    resolved: Mapping[str, Any],
    repetition: int,
    read: Callable[[Mapping[str, pl.DataFrame]], Reading],
    tables: tuple[str, ...],
) -> Reading:
    return read(recorded(resolved, *tables, repetition=repetition).tables)
