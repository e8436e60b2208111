"""Formats: none changes without a new version, and what a version promises is in docs/project.md."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from parshall import Scenario
from parshall.campaign import store
from parshall.results.records import storage
from tools import formats

ROOT = Path(__file__).parents[2]
RUST = ROOT / "python/parshall/scenario/templates/control/rust/src/abi.rs"


@pytest.mark.parametrize("name", formats.FORMATS)
def test_a_format_has_the_elements_of_its_version(name: str) -> None:
    written = (formats.PLACE / f"{name}.txt").read_text(encoding="utf-8")
    assert formats.problem(name, written, formats.text(name)) is None


def test_a_renamed_column_needs_a_new_version() -> None:
    written = (formats.PLACE / "results.txt").read_text(encoding="utf-8")
    renamed = written.replace("links.utilisation:", "links.used_share:")
    assert formats.problem("results", written, renamed) == (
        "results: gone or changed without a new version: links.utilisation: double, 1"
    )
    assert "is not written down" in str(formats.problem("results", written, renamed.replace("version 1", "version 2")))


def test_a_new_column_is_written_down() -> None:
    written = (formats.PLACE / "results.txt").read_text(encoding="utf-8")
    assert formats.problem("results", written, f"{written}links.new: double, s\n") == (
        "results: new: links.new: double, s; run `python -m tools.formats`"
    )


def test_a_key_that_is_refused_is_no_key_of_scenarios() -> None:
    written = (formats.PLACE / "scenarios.txt").read_text(encoding="utf-8")
    assert "scenario scenario.duration" in written
    with pytest.raises(Exception, match="durations"):
        Scenario.from_document({"durations": "1 s"})


def test_the_guide_has_the_versions() -> None:
    text = (ROOT / "docs/project.md").read_text(encoding="utf-8").split("## Formats")[1].split("## ")[0]
    rows = dict(re.findall(r"^\| (\w+)[^|]* \| (\d+) \|", text, re.MULTILINE))
    assert rows == {name: str(version) for name, (version, _) in formats.FORMATS.items()}


def test_files_have_the_versions() -> None:
    assert formats.FORMATS["results"][0] == storage.FORMAT
    assert formats.FORMATS["store"][0] == store.FORMAT
    rust = re.search(r"pub const ABI: u32 = (\d+);", RUST.read_text(encoding="utf-8"))
    assert rust is not None
    assert int(rust[1]) == formats.abi()


def test_a_version_after_the_first_is_in_the_changelog() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for name, (version, _) in formats.FORMATS.items():
        assert version == 1 or f"Format {name}: version {version}" in changelog


def test_elements_do_not_depend_on_the_process() -> None:
    """Sets have another order in each process."""
    command = [sys.executable, "-c", "from tools import formats; print(formats.text('plugins'), end='')"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == formats.text("plugins")
