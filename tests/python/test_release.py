"""A release: one version everywhere, and a wheel that runs where there is no checkout."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from built import ROOT, is_current
from needs import need

import parshall


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
    (folder / "pyproject.toml").write_text(
        f'[project.optional-dependencies]\nstudies = ["parshall-studies=={version}"]\n'
    )
    (folder / "studies").mkdir()
    (folder / "studies/pyproject.toml").write_text(
        f'[project]\nversion = "{version}"\ndependencies = ["parshall=={version}", "numpy"]\n'
    )
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


def test_both_distributions_have_the_version(problems: Callable[[Path], list[str]], tmp_path: Path) -> None:
    root = sources(tmp_path, "1.2.0", "1.2.0", "[1.2.0] - 2026-11-24")
    (root / "studies/pyproject.toml").write_text('[project]\nversion = "1.1.0"\ndependencies = ["parshall"]\n')
    assert problems(root) == [
        "studies/pyproject.toml: version: found 1.1.0; accepted: 1.2.0",
        "studies/pyproject.toml: dependencies: found parshall; accepted: parshall==1.2.0",
    ]
    assert not [each for each in problems(ROOT) if "pyproject" in each]


def test_both_distributions_have_the_licence(studies: Path) -> None:
    licence = (ROOT / "LICENSE").read_bytes()
    assert (ROOT / "studies/LICENSE").read_bytes() == licence
    with zipfile.ZipFile(studies) as archive:
        (name,) = (each for each in archive.namelist() if each.endswith("licenses/LICENSE"))
        assert archive.read(name) == licence


def test_the_version_that_is_cited_is_that_of_the_package(problems: Callable[[Path], list[str]]) -> None:
    assert not [each for each in problems(ROOT) if each.startswith("CITATION")]
    assert parshall.__version__.split("+")[0] in (ROOT / "Cargo.toml").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of `make wheel`, if nothing has changed since; else a new one, of the crates that `make setup` has built."""
    made = sorted((ROOT / "dist").glob("parshall-*.whl"), key=lambda path: path.stat().st_mtime)
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


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the studies; it is built in a second."""
    pytest.importorskip("flit_core", reason="make setup installs flit_core, which builds it")
    folder = tmp_path_factory.mktemp("dist")
    code = f"from flit_core import buildapi; buildapi.build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT / "studies", check=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


def test_no_file_of_the_studies_is_where_the_wheel_takes_its_files_from() -> None:
    folders = {path.name for path in (ROOT / "python").iterdir() if path.name != "__pycache__"}
    assert folders == {"parshall"}
    package = ROOT / "python" / "parshall"
    named = {path.parent.name for path in (ROOT / "studies" / "parshall_studies").rglob("published.toml")}
    assert named == {"itb", "large_deviations", "multiple_time_scale", "rio", "tail_index"}
    assert not [path for path in package.rglob("*") if path.is_dir() and path.name in named | {"documentation"}]
    assert not list(package.rglob("published.toml"))


@pytest.mark.slow
def test_the_sources_have_what_a_build_reads(tmp_path: Path) -> None:
    """Beside the crates: a build without the BPF programs succeeds, and has none."""
    need("cargo")
    command = [sys.executable, "-m", "maturin", "sdist", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300, check=True)
    (made,) = tmp_path.glob("parshall-*.tar.gz")
    with tarfile.open(made) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    crates = [path for path in ROOT.glob("crates/*/src/**/*.rs") if path.relative_to(ROOT).parts[1] != "web"]
    read = [*ROOT.glob("bpf/*.[ch]"), *crates, *ROOT.glob("python/parshall/**/*.rs")]
    assert {str(path.relative_to(ROOT)) for path in read} <= names


@pytest.mark.slow
def test_a_wheel_has_no_file_of_the_other(wheel: Path, studies: Path) -> None:
    core, others = (zipfile.ZipFile(each).namelist() for each in (wheel, studies))
    assert {name.split("/")[0].partition("-")[0] for name in core} <= {"parshall", "parshall.libs"}
    assert {name.split("/")[0].partition("-")[0] for name in others} == {"parshall_studies"}
    assert sum(name.endswith("published.toml") for name in others) == 5


@pytest.mark.slow
def test_the_wheels_run_where_there_is_no_checkout(wheel: Path, studies: Path, tmp_path: Path) -> None:
    """In an environment of its own; only its dependencies are those of this one."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin/python"
    (target,) = place.glob("lib/python*/site-packages")
    installer = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "--quiet"]
    alone = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}  # nothing is there already
    wheels = ["--disable-pip-version-check", str(wheel), str(studies)]
    subprocess.run([*installer, *wheels], check=True, timeout=120, env=alone)
    beside = {**alone, "PYTHONPATH": sysconfig.get_path("purelib")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    code = "import parshall as p, parshall._core as c, parshall_studies as s; print(p.__file__, c.__file__, s.__file__)"
    where = [str(python), "-c", code]
    files = subprocess.run(where, cwd=elsewhere, env=beside, capture_output=True, text=True, check=True).stdout.split()
    assert all(Path(file).is_relative_to(target) for file in files), files
    command = [str(place / "bin/parshall"), "run", "quickstart", "--set", "duration=4 s", "--set", "warm_up=1 s"]
    done = subprocess.run(
        [*command, "-o", "run"], cwd=elsewhere, env=beside, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Goodput" in (elsewhere / "run/report.html").read_text(encoding="utf-8")
    for words in (["study", "rio", "--quiet"], ["itb", "--help"]):
        done = subprocess.run(
            [command[0], *words], cwd=elsewhere, env=beside, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr
