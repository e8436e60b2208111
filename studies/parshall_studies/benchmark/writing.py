"""Scenarios of the benchmark as TOML files, for ``parshall run``."""

from __future__ import annotations

from pathlib import Path

from parshall.foundations.files import write_atomically
from parshall.scenario.schema.writing import toml
from parshall_studies.benchmark.benchmark import Entry
from parshall_studies.benchmark.building import Case


def write_scenarios(cases: list[Case], points: list[Entry], directory: Path) -> list[Path]:
    """Write every case with every point as a file of its own.

    Raises
    ------
    OSError
        A file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    written = []
    for case in cases:
        for point in points:
            document = case.document(point.control, point.beside)
            written.append(write_atomically(directory / f"{document['name']}.toml", toml(document)))
    return written
