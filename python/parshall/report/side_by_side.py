"""Results side by side, however they are given: results, directories of results, or scenarios, which are simulated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from parshall.analysis.stats.verdict import AT_LEAST
from parshall.instruments.simulation import run
from parshall.report.comparison import Comparison
from parshall.report.comparison import compare as of_results
from parshall.results.loading import load_result
from parshall.results.records import Result, storage
from parshall.scenario import Scenario


def compare(
    *results: Result | Scenario | str | Path | Mapping[str, Any],
    baseline: Result | str | None = None,
    at_least: float | None = None,
    names: Sequence[str] | None = None,
    accept_invalid: bool = False,
) -> Comparison:
    """Compare results of any instruments with the first, quantity by quantity.

    A quantity without the name of a link is that of the link that is busiest over all results, of those that all have.

    Parameters
    ----------
    results
        Two or more: results, directories of results, or scenarios as `parshall.run` takes them, which are simulated.
    baseline
        One of them, or its name: what the others are compared with, in place of the first.
    at_least
        Share of the baseline's value below which a difference does not matter (default: 0.01).
    names
        Names of the results; by default those of their directories or scenarios.
    accept_invalid
        Whether to compare emulations that cannot be believed.

    Raises
    ------
    InputError
        There are fewer than two, or `baseline` is none of them.
    InvalidEmulationError
        One is an invalid emulation, and that is not accepted.
    ParshallError
        As `parshall.run`, of a scenario.
    """
    labelled = [_labelled(each) for each in results]
    return of_results(
        *(result for _, result in labelled),
        baseline=baseline,
        at_least=AT_LEAST if at_least is None else at_least,
        names=names or _told_apart([label for label, _ in labelled]),
        accept_invalid=accept_invalid,
    )


def _labelled(given: Result | Scenario | str | Path | Mapping[str, Any]) -> tuple[str, Result]:
    """Return a label and a result: the one that is given, the one in a directory, or that of simulating a scenario."""
    if isinstance(given, str | Path) and storage.holds_result(Path(given)):
        given = load_result(given)
    if isinstance(given, Result):
        return given.place, given
    made = run(given)
    return made.name, made


def _told_apart(labels: Sequence[str]) -> list[str]:
    """Return labels, with a number where several are the same.

    >>> _told_apart(["home", "office", "home"])
    ['home 1', 'office', 'home 2']
    """
    counts = [labels[: place + 1].count(label) for place, label in enumerate(labels)]
    return [
        label if labels.count(label) == 1 else f"{label} {count}" for label, count in zip(labels, counts, strict=True)
    ]
