"""Runs scenarios and gives the bytes of their tables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall import _core

Bytes = dict[str, bytes]


@pytest.fixture
def tables(tmp_path: Path) -> Callable[..., Path]:
    """Simulates one repetition of a scenario; returns the directory of its tables."""
    count = 0

    def run(scenario: dict[str, Any], repetition: int = 0) -> Path:
        nonlocal count
        count += 1
        directory = tmp_path / f"{count:04}"
        resolved = ps.Scenario.from_document(scenario).resolve()
        _core.simulate(json.dumps(resolved), repetition, directory, _core.Monitor())
        return directory

    return run


@pytest.fixture
def content() -> Callable[[Path], Bytes]:
    """The bytes of every table below a directory."""

    def read(directory: Path) -> Bytes:
        files = sorted(directory.rglob("*.parquet"))
        return {str(file.relative_to(directory)): file.read_bytes() for file in files}

    return read
