"""A run directory that is not what was written: the file is named, exit code 2, never a traceback or other numbers."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import parshall as ps
from parshall.foundations.errors import RunNotFoundError


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("damaged") / "run"
    ps.run(
        ps.Scenario(duration="1 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"rtt": "50 ms"}], repetitions=2), directory
    )
    return directory


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 0x01
    path.write_bytes(content)


def halved(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize("how", [flipped, halved, Path.unlink])
@pytest.mark.parametrize("name", ["flows.parquet", "links.parquet", "link_samples.parquet"])
def test_a_damaged_file_is_named(how: Callable[[Path], None], name: str, made: Path, tmp_path: Path, cli: Any) -> None:
    directory = shutil.copytree(made, tmp_path / "run")
    how(directory / "repetitions" / "0001" / name)
    for words in (("report", directory), ("compare", made, directory)):
        done = cli(*words)
        if words[0] == "compare" and done.exit_code == 0:
            continue  # it does not read that table
        assert done.exit_code == 2, (words, done.exception)
        assert f"0001/{name}" in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("how", [flipped, halved, Path.unlink])
def test_damaged_totals_are_named(how: Callable[[Path], None], made: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(made, tmp_path / "run")
    how(directory / "repetitions" / "0001" / "totals.json")
    with pytest.raises(RunNotFoundError, match=r"0001/totals\.json"):
        _ = ps.Run.load(directory).totals


@pytest.mark.parametrize("content", ["", "{", "null", "[]", '{"format": 1}', '{"format": 2}', "[" * 100_000])
def test_a_damaged_description_is_named(content: str, made: Path, tmp_path: Path, cli: Any) -> None:
    directory = shutil.copytree(made, tmp_path / "run")
    (directory / "run.json").write_text(content)
    for words in (("report", directory), ("compare", made, directory)):
        done = cli(*words)
        assert done.exit_code == 2, (words, done.exception)
        assert "run.json" in done.stderr


@pytest.mark.parametrize("key", ["status", "scenario", "summary", "predicted", "repetitions_finished", "seed"])
def test_a_description_without_a_part_is_named(key: str, made: Path, tmp_path: Path) -> None:
    content = json.loads((made / "run.json").read_text())
    for damaged in ({name: value for name, value in content.items() if name != key}, {**content, key: None}):
        (tmp_path / "run.json").write_text(json.dumps(damaged))
        with pytest.raises(RunNotFoundError, match=f'has no "{key}"'):
            ps.Run.load(tmp_path)


def test_a_run_of_an_earlier_version_has_no_digests(made: Path, tmp_path: Path) -> None:
    directory = shutil.copytree(made, tmp_path / "run")
    content = json.loads((directory / "run.json").read_text())
    del content["files"]
    (directory / "run.json").write_text(json.dumps(content))
    assert ps.Run.load(directory).flows.height == 2
    halved(directory / "repetitions" / "0000" / "flows.parquet")
    with pytest.raises(RunNotFoundError, match="is damaged"):
        _ = ps.Run.load(directory).flows
