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

STUDIES: tuple[Study, ...] = (
    Study(
        "itb",
        "ITB: the experiments behind the benchmark",
        "high-speed controls at 10 Gbit/s: starts, RTT, load, reverse traffic, spread (Figs 3 to 10, Tables 1 to 6)",
        "Guillier, Hablot & Vicat-Blanc Primet, INRIA RR-6244, 2007",
        "parshall.studies.itb",
        {"quick": "4.4 CPU minutes", "paper": "50 CPU minutes"},
    ),
    Study(
        "large_deviations",
        "Throughput variability by large deviations",
        "spectra of a Reno flow's throughput at several time scales, theory and simulation (Figs 1 to 9)",
        "Loiseau, Gonçalves, Barral & Vicat-Blanc Primet, Performance Evaluation 67, 2010",
        "parshall.studies.large_deviations",
        {"quick": "some 2 CPU minutes", "paper": "7 CPU minutes"},
    ),
    Study(
        "multiple_time_scale",
        "Multiple time scale TCP",
        "what a slope that follows predicted contention gains under self-similar traffic (Figs 1, 6 to 13)",
        "Park & Tuan, ACM TOMACS 10(2), 2000",
        "parshall.studies.multiple_time_scale",
        {"quick": "4 CPU minutes", "paper": "some 2 CPU hours"},
    ),
    Study(
        "rio",
        "TCP sessions and RIO routers",
        "TCP sessions with token buckets and a RIO router: fixed point, simulation, and how to set thresholds.",
        "Malouch & Liu, INRIA RR-4469, 2002",
        "parshall.studies.rio",
        {"quick": "23 CPU seconds", "paper": "8 CPU minutes"},
    ),
    Study(
        "tail_index",
        "The tail index of flow sizes and TCP",
        "what heavy-tailed flow sizes do to loss, delay and throughput, and to the Hurst parameter",
        "Goga, Loiseau & Gonçalves 2011; Park & Tuan 2000, §4",
        "parshall.studies.tail_index",
        {"quick": "some 5 CPU minutes", "paper": "some 75 CPU minutes"},
    ),
)


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
