"""The container file, as far as it can be held to something without fetching images: its stages, and its commands."""

from __future__ import annotations

import fnmatch
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from bare import machine

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
KNOWN = ("FROM", "RUN", "COPY", "WORKDIR", "ENV", "ENTRYPOINT", "CMD")


def instructions() -> list[tuple[str, str]]:
    """Each instruction and what follows it, with continued lines joined."""
    text = (ROOT / "Containerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    found = [line.partition(" ") for line in joined if line.strip()]
    return [(word, rest.strip()) for word, _, rest in found]


def of(word: str) -> list[str]:
    return [rest for each, rest in instructions() if each == word]


def test_it_has_two_stages_on_debian_slim() -> None:
    assert {word for word, _ in instructions()} <= set(KNOWN)
    stages = of("FROM")
    assert len(stages) == 2
    assert all("bookworm" in stage and "slim" in stage for stage in stages)
    names = [stage.split()[-1] for stage in stages if " AS " in stage]
    taken = re.findall(r"--from=(\S+)", " ".join(of("COPY")))
    assert taken
    assert set(taken) <= set(names)


@pytest.mark.parametrize("command", of("RUN"))
def test_its_commands_are_shell(command: str) -> None:
    subprocess.run(["sh", "-n", "-c", command], check=True, capture_output=True)


def test_what_it_copies_is_there_and_not_left_out() -> None:
    ignored = (ROOT / ".containerignore").read_text(encoding="utf-8").splitlines()
    patterns = [line.removeprefix("**/") for line in ignored if line and not line.startswith("#")]
    needed = ["Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE", "requirements-dev.txt"]
    needed += ["crates", "python", "bpf"]
    for name in needed:
        assert (ROOT / name).exists(), name
        assert not any(fnmatch.fnmatch(name, pattern) for pattern in patterns), name
    for copied in of("COPY"):
        if not copied.startswith("--from"):
            assert all((ROOT / source).exists() for source in copied.split()[:-1])


def test_the_builder_is_pinned_with_hashes(tmp_path: Path) -> None:
    command = next(command for command in of("RUN") if "maturin.txt" in command)
    (tmp_path / "requirements-dev.txt").write_bytes((ROOT / "requirements-dev.txt").read_bytes())
    picking = next(part.strip() for part in command.split("&&") if part.strip().startswith("sed"))
    subprocess.run(["sh", "-e", "-c", picking], check=True, cwd=tmp_path)
    picked = (tmp_path / "maturin.txt").read_text(encoding="utf-8").splitlines()
    assert re.match(r"maturin==\d", picked[0])
    assert len([line for line in picked if "--hash=sha256:" in line]) > 3
    assert not any(re.match(r"\w", line) for line in picked[1:]), "other packages"


def test_the_image_starts_the_command_that_the_wheel_installs() -> None:
    (entry,) = of("ENTRYPOINT")
    assert entry == '["parshall"]'
    assert "parshall" in PROJECT["scripts"]
    extras = re.findall(r"\[([a-z,]+)\]", " ".join(of("RUN")))
    assert extras
    assert set(",".join(extras).split(",")) <= set(PROJECT["optional-dependencies"])


def test_its_packages_are_those_of_the_list(tmp_path: Path) -> None:
    """The commands run where nothing but what is copied is there, with an apt-get that notes what it is asked for."""
    for name in (".ci/packages", "python/parshall/foundations/debian.txt"):
        (tmp_path / name).parent.mkdir(parents=True)
        shutil.copy(ROOT / name, tmp_path / name)
        assert any(name in copied for copied in of("COPY"))
    commands = [each.split("&&")[0].replace("/source/", "") for each in of("RUN") if "packages install" in each]
    said = [machine(tmp_path, command).stdout for command in commands]
    assert [{"python3-venv", "ca-certificates"} <= set(each.split()) for each in said] == [True, True]
    assert [("clang" in each.split(), "libbpf1" in each.split()) for each in said] == [(True, False), (False, True)]


def test_the_guide_and_the_file_say_the_same_of_emulation() -> None:
    written = (ROOT / "Containerfile").read_text(encoding="utf-8").replace("#", "")
    guide = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    for text in (written, guide):
        words = " ".join(text.replace("\\", " ").split())
        assert "--cap-add NET_ADMIN --cap-add SYS_ADMIN --cap-add SYS_NICE --security-opt unmask=ALL" in words
        assert "--device /dev/net/tun" in words
