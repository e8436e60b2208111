"""All simulations of a report card: several at a time, several repetitions of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from parshall.records import about
from parshall.runs.single import recorded
from parshall.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl

Key = tuple[Any, ...]
"""Which course: the measure, its setting, the controls."""
Reading = Mapping[str, Any]
"""What one repetition gave."""
Found = Mapping[Key, list[Reading]]
"""By course, one a repetition."""


@dataclass(frozen=True)
class Course:
    """A scenario, and what is read from its tables."""

    document: Mapping[str, Any]
    read: Callable[[Mapping[str, pl.DataFrame]], Reading]
    tables: tuple[str, ...] = ("flows",)


def done(courses: Mapping[Key, Course], seed: int, repetitions: int, workers: int | None = None) -> Found:
    """Simulate all courses. Repetitions of the same number share their random numbers.

    Raises
    ------
    ControlError
        A control failed.
    """
    scenarios = {
        key: Scenario.from_document({**course.document, "seed": seed, "repetitions": repetitions}).resolve()
        for key, course in courses.items()
    }

    def run(key: Key, repetition: int) -> Reading:
        course = courses[key]
        return course.read(recorded(scenarios[key], *course.tables, repetition=repetition).tables)

    with ThreadPoolExecutor(workers or about.cores()) as pool:
        made = {key: [pool.submit(run, key, number) for number in range(repetitions)] for key in courses}
        try:
            return {key: [future.result() for future in futures] for key, futures in made.items()}
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
