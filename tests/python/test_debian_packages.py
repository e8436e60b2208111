"""The list of Debian's packages: who installs from it, and what is said where they are missing."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from bare import machine, path_without_programs
from needs import need

from parshall.foundations import debian

ROOT = Path(__file__).parents[2]
PURPOSES = "build run check"
INSTALL = f"{ROOT}/.ci/packages install {PURPOSES}"
NEEDED = [each.name for each in debian.packages() if set(PURPOSES.split()) & set(each.purposes)]


def asked(folder: Path) -> list[list[str]]:
    return [line.split() for line in (folder / "asked").read_text().splitlines()]


def test_ci_installs_what_is_missing_before_it_builds(tmp_path: Path) -> None:
    steps = (ROOT / ".ci/run").read_text(encoding="utf-8")
    assert steps.index(f".ci/packages install {PURPOSES}\n") < steps.index("make check")
    done = machine(tmp_path, INSTALL, installed=[each for each in NEEDED if each not in {"clang", "nginx"}])
    assert (done.returncode, done.stdout, done.stderr) == (0, "packages: installing clang nginx\n", "")
    update, install = asked(tmp_path)
    assert update[0] == "update"
    assert install[0] == "install"
    assert {"--yes", "--no-install-recommends"} <= set(install)
    assert install[-2:] == ["clang", "nginx"]


def test_nothing_is_asked_for_where_everything_is_there(tmp_path: Path) -> None:
    done = machine(tmp_path, INSTALL, installed=NEEDED)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "asked").exists()


def test_a_package_that_cannot_be_had_is_named_with_what_needs_it(tmp_path: Path) -> None:
    done = machine(tmp_path, INSTALL, refuses=["chromium"])
    assert done.returncode == 1
    reason = "tests of pages, explorer and site in a browser"
    assert done.stderr.splitlines() == [f"packages: could not install chromium, needed for: {reason}"]
    assert asked(tmp_path)[-1][-1] == NEEDED[-1], "the others are installed"


def test_who_is_not_root_is_told_the_command(tmp_path: Path) -> None:
    done = machine(tmp_path, INSTALL, installed=[each for each in NEEDED if each != "clang"], user=1000)
    assert done.returncode == 1
    command, reason = done.stderr.splitlines()
    assert command.endswith("apt-get install --no-install-recommends clang")
    assert reason.startswith("packages: could not install clang, needed for: the BPF programs")
    assert not (tmp_path / "asked").exists()


def test_the_list_is_whole() -> None:
    names = [each.name for each in debian.packages()]
    assert len(names) == len(set(names)) > 20
    assert all(set(each.purposes) <= debian.PURPOSES.keys() for each in debian.packages())
    shown = [Path(name).name for each in debian.packages() for group in each.shown_by for name in group]
    doubled = {name for name in shown if shown.count(name) > 1}
    assert doubled == {"libbpf.so.1", "tc"}, "in two places, of one package each"


def test_whoever_names_a_package_names_one_of_the_list() -> None:
    """Guides, messages and comments: all that says `apt install`, but what is no package of Debian 12."""
    names = {each.name for each in debian.packages()}
    folders = ("docs", "python", "studies", "tools", "crates", "benches", ".ci")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".md", ".py", ".rs"}]
    found = {
        (str(path.relative_to(ROOT)), package)
        for path in [*files, *ROOT.glob("*.md")]
        for command in re.findall(r"apt(?:-get)? install((?:\s+[a-z][a-z0-9.+-]+)+)", path.read_text(encoding="utf-8"))
        for package in command.split()
    }
    assert {package for _, package in found} >= {"clang", "libbpf-dev", "openmpi-bin", "nginx", "ns2"}
    assert {each for each in found if each[1] not in names} == set()


def test_a_missing_program_skips_a_test_and_fails_it_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    why = "^no ping, pdflatex: apt install iputils-ping texlive-latex-recommended$"
    monkeypatch.setenv("PATH", "/nowhere")
    for name in ("CI", "PARSHALL_EMULATE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(pytest.skip.Exception, match=why):
        need("ping", "pdflatex")
    for name, value in (("CI", "true"), ("PARSHALL_EMULATE", "required")):
        with monkeypatch.context() as told:
            told.setenv(name, value)
            with pytest.raises(pytest.fail.Exception, match=why):
                need("ping", "pdflatex")


AFFECTED = {
    "tests/python/test_pictures.py": "no pdflatex",
    "tests/python/test_report_browser.py": "no chromium: apt install chromium",
    "tests/python/test_captures.py": "no tshark: apt install tshark",
    "tests/python/test_own_control_elsewhere.py": "no cc: apt install gcc",
    "tests/python/test_study_real_stacks.py": "no mpirun, ip: apt install openmpi-bin iproute2",
    "tests/emulation/test_kernel_controls.py": "no clang",
}


@pytest.mark.slow
def test_without_programs_the_tests_that_need_them_are_skipped(tmp_path: Path) -> None:
    environment = {**os.environ, "PATH": path_without_programs(tmp_path)}
    for name in ("CI", "PARSHALL_EMULATE"):
        environment.pop(name, None)
    words = [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-m", "needs", *AFFECTED]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout
    assert " passed" not in done.stdout
    for reason in AFFECTED.values():
        assert re.search(rf"SKIPPED \[\d+\] \S+ {reason}", done.stdout), (reason, done.stdout)
