"""A release: one version everywhere, and a wheel that runs where there is no checkout."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Callable
from pathlib import Path

import pytest
from built import ROOT, is_current
from needs import need

import parshall
from parshall.campaign import store
from parshall.results.records import storage


@pytest.fixture
def problems() -> Callable[[Path], list[str]]:
    about = importlib.util.spec_from_file_location("release", ROOT / ".ci/release.py")
    assert about is not None
    assert about.loader is not None
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    checked: Callable[[Path], list[str]] = module.problems
    return checked


def sources(folder: Path, version: str, cited: str, heading: str) -> Path:
    (folder / "Cargo.toml").write_text(f'[workspace.package]\nversion = "{version}"\n')
    (folder / "CITATION.cff").write_text(f"title: it\nversion: {cited}\n")
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n- It is there.\n\n## [0.0.9] - 2025-01-01\n")
    return folder


def test_one_version_can_be_released(problems: Callable[[Path], list[str]], tmp_path: Path) -> None:
    assert problems(sources(tmp_path, "1.2.0", "1.2.0", "[1.2.0] - 2026-11-24")) == []


@pytest.mark.parametrize(
    ("cited", "heading", "said"),
    [
        ("1.1.0", "[1.2.0] - 2026-11-24", "CITATION.cff: found 1.1.0; accepted: version: 1.2.0"),
        ("1.2.0", "[Unreleased]", 'CHANGELOG.md: found "[Unreleased]" first; accepted: "[1.2.0] - YYYY-MM-DD"'),
        ("1.2.0", "[1.1.0] - 2026-11-24", 'CHANGELOG.md: found "[1.1.0] - 2026-11-24" first'),
        ("1.2.0", "[1.2.0]", 'CHANGELOG.md: found "[1.2.0]" first'),
    ],
)
def test_several_versions_cannot(
    problems: Callable[[Path], list[str]], tmp_path: Path, cited: str, heading: str, said: str
) -> None:
    (found,) = problems(sources(tmp_path, "1.2.0", cited, heading))
    assert found.startswith(said)


def test_further_distributions_have_the_same_version(problems: Callable[..., list[str]], tmp_path: Path) -> None:
    root = sources(tmp_path, "1.2.0", "1.2.0", "[1.2.0] - 2026-11-24")
    other = tmp_path / "studies"
    other.mkdir()
    for version, wanted in (("1.2.0", []), ("1.1.0", ["studies/pyproject.toml: found 1.1.0; accepted: version = "])):
        (other / "pyproject.toml").write_text(f'[project]\nname = "parshall-studies"\nversion = "{version}"\n')
        found = problems(root, [other])
        assert len(found) == len(wanted)
        assert all(each.startswith(begin) for each, begin in zip(found, wanted, strict=True))


def test_the_formats_have_the_versions_that_are_promised() -> None:
    text = (ROOT / "docs/project.md").read_text(encoding="utf-8")
    rows = dict(
        re.findall(r"^\| ([a-z]+)[^|]* \| ([^|]+) \|", text.split("## Formats")[1].split("## ")[0], re.MULTILINE)
    )
    header = (ROOT / "python/parshall/scenario/templates/control/parshall_control.h").read_text(encoding="utf-8")
    abi = re.search(r"#define PARSHALL_CONTROL_ABI (\d+)", header)
    assert abi is not None
    assert rows["results"] == str(storage.FORMAT)
    assert rows["store"] == str(store.FORMAT)
    assert rows["controls"] == abi[1]


def test_the_version_that_is_cited_is_that_of_the_package(problems: Callable[[Path], list[str]]) -> None:
    assert not [each for each in problems(ROOT) if each.startswith("CITATION")]
    assert parshall.__version__.split("+")[0] in (ROOT / "Cargo.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of `make wheel`, if nothing has changed since; else a new one, of the crates that `make setup` has built."""
    made = sorted((ROOT / "dist").glob("*.whl"), key=lambda path: path.stat().st_mtime)
    sources = ("Cargo.*", "pyproject.toml", "crates/**/*.rs", "python/**/*.py", "python/**/*.t*")
    if made and is_current(made[-1], *sources):
        return made[-1]
    need("cargo")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "maturin", "build", "--release", "--locked", "--quiet", "--out", str(folder)]
    same = {**os.environ, "VIRTUAL_ENV": sys.prefix}  # as `make setup` has it: nothing is built again
    done = subprocess.run(command, cwd=ROOT, env=same, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("*.whl")
    return built


@pytest.mark.slow
def test_the_wheel_runs_where_there_is_no_checkout(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own; only its dependencies are those of this one."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin/python"
    (target,) = place.glob("lib/python*/site-packages")
    installer = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    subprocess.run([*installer, "--disable-pip-version-check", str(wheel)], check=True, timeout=120)
    beside = {**os.environ, "PYTHONPATH": sysconfig.get_path("purelib")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    where = [str(python), "-c", "import parshall, parshall._core as c; print(parshall.__file__); print(c.__file__)"]
    files = subprocess.run(where, cwd=elsewhere, env=beside, capture_output=True, text=True, check=True).stdout.split()
    assert all(Path(file).is_relative_to(target) for file in files), files
    command = [str(place / "bin/parshall"), "run", "quickstart", "--set", "duration=4 s", "--set", "warm_up=1 s"]
    done = subprocess.run(
        [*command, "-o", "run"], cwd=elsewhere, env=beside, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Goodput" in (elsewhere / "run/report.html").read_text(encoding="utf-8")
