"""Where the code does otherwise than its sources is declared in code, in one form, and held by tests there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from parshall.scenario.schema.catalog import Deviation, deviations

ROOT = Path(__file__).parents[2]
PROSE = re.compile(r"//[/!].*(?:Deviations?|and deviations)\b[:.,]")
"""A comment that begins to list deviations."""

IN_HEADERS = {"bbr.rs", "bbr2.rs", "bbr3.rs"}
"""Controls whose deviations are still prose."""


@pytest.mark.parametrize("each", deviations(), ids=lambda each: each.id)
def test_a_deviation_has_a_test_of_its_name(each: Deviation) -> None:
    crate = ROOT / "crates" / each.crate
    tests = (crate / "src" / "deviations" / "still_deviates.rs").read_text(encoding="utf-8")
    assert f"fn {each.id}()" in tests
    assert (crate / each.file).is_file()
    assert all((each.source, each.there, each.here, each.why))


def test_ids_are_of_one_deviation() -> None:
    ids = [each.id for each in deviations()]
    assert len(ids) == len(set(ids)) >= 20


def prose(folder: Path) -> list[str]:
    """The files of a folder whose comments list deviations."""
    files = (path for path in sorted(folder.rglob("*.rs")) if path.name not in IN_HEADERS)
    return [str(path) for path in files if PROSE.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("crate", ["congestion", "net", "signals", "sim", "tcp", "workload"])
def test_no_comment_lists_deviations(crate: str) -> None:
    assert prose(ROOT / "crates" / crate / "src") == []


def test_a_comment_that_lists_deviations_is_found(tmp_path: Path) -> None:
    (tmp_path / "red.rs").write_text("//! RED.\n//!\n//! Deviations: the average is not one.\n", encoding="utf-8")
    (tmp_path / "rtt.rs").write_text("//! The deviation of RTTs (Jacobson 1988).\n", encoding="utf-8")
    assert [Path(path).name for path in prose(tmp_path)] == ["red.rs"]
