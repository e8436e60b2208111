"""The lists of studies and suites: Parshall's own, and those of installed packages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TypeVar

from parshall.foundations import plugins
from parshall.foundations.errors import InputError
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.studies.study import Study
from parshall.studies.suite import Suite

SUITES: tuple[Suite, ...] = (
    Suite(
        "rfc9743",
        "RFC 9743",
        "a congestion control alone, among its own, beside Reno and CUBIC, and under queue management",
        "RFC 9743 (BCP 133), Specifying New Congestion Control Algorithms, 2025",
        "congestion_controls",
        "parshall.suites.rfc9743",
        {"quick": "some 5 CPU seconds"},
    ),
)

Entry = TypeVar("Entry", Study, Suite)


def studies() -> tuple[Study, ...]:
    """Every study that there is: Parshall's own, and those of installed packages."""
    return (*STUDIES, *_studies_of_packages())


def suites() -> tuple[Suite, ...]:
    """Every suite that there is: Parshall's own, and those of installed packages."""
    return (*SUITES, *_suites_of_packages())


def find(name: str) -> Study:
    """The study of a name.

    Raises
    ------
    InputError
        There is none, or a package that brings studies cannot be used.
    """
    return _named("study", name, studies())


def find_suite(name: str) -> Suite:
    """The suite of a name; errors are those of `find`."""
    return _named("suite", name, suites())


def _named(kind: str, name: str, entries: Sequence[Entry]) -> Entry:
    known = {entry.name: entry for entry in entries}
    if name not in known:
        raise InputError(f'{kind}: found "{name}"; accepted: {quoted(list(known))}{did_you_mean(name, list(known))}')
    return known[name]


@cache
def _studies_of_packages() -> tuple[Study, ...]:
    return plugins.named("studies", "study", Study, [study.name for study in STUDIES])


@cache
def _suites_of_packages() -> tuple[Suite, ...]:
    return plugins.named("suites", "suite", Suite, [suite.name for suite in SUITES])
