"""The worked examples of CONTRIBUTING.md: applied to a copy of the crates, formatted, linted and tested there."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from needs import need

from tools.documentation.markdown import Block, blocks

ROOT = Path(__file__).parents[2]
CRATES = ("units", "congestion", "net")
TARGET = ROOT / "target" / "worked-examples"
"""Kept, so that only the first run compiles what the crates depend on. Cargo takes the crates of two copies for the
same, wherever they are: one test at a time uses it."""

FAST_TO_BUILD = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_INCREMENTAL": "0"}
SECTIONS = {"congestion": "## Add a congestion control", "net": "## Add a queue"}


def example(crate: str) -> list[Block]:
    """The code blocks of a section that show files."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.split(SECTIONS[crate] + "\n")[1].split("\n## ")[0]
    return [block for block in blocks(section) if block.file is not None]


def apply(block: Block, workspace: Path) -> None:
    """Write the file that a block shows, or make the change that it shows."""
    path = workspace / str(block.file)
    if block.language != "diff":
        assert not path.exists(), f"{block.file} exists already"
        path.write_text(block.text, encoding="utf-8")
        return
    lines = block.text.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines)
    text = path.read_text(encoding="utf-8")
    places = f"\n{text}".count(f"\n{before}")
    assert places == 1, f"{block.file}: found {places} places for the change:\n{block.text}"
    path.write_text(f"\n{text}".replace(f"\n{before}", f"\n{after}")[1:], encoding="utf-8")


def cargo(workspace: Path, *arguments: str) -> str:
    """Run cargo on the copy; what it printed."""
    environment = {**os.environ, **FAST_TO_BUILD, "CARGO_TARGET_DIR": str(TARGET)}
    command = ["cargo", *arguments]
    done = subprocess.run(
        command, cwd=workspace, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    """A copy of the crates that the examples change."""
    need("cargo")
    for crate in CRATES:
        shutil.copytree(ROOT / "crates" / crate, tmp_path / "crates" / crate)
    for name in ("Cargo.toml", "Cargo.lock", "clippy.toml", "rustfmt.toml"):
        shutil.copy2(ROOT / name, tmp_path / name)
    TARGET.mkdir(parents=True, exist_ok=True)
    with (TARGET / "in-use").open("w") as in_use:
        fcntl.flock(in_use, fcntl.LOCK_EX)
        yield tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crate", "name"), [("congestion", "binomial"), ("net", "early_random_drop")], ids=["congestion-control", "queue"]
)
def test_an_example_passes_the_conformance_tests(workspace: Path, crate: str, name: str) -> None:
    shown = example(crate)
    created = [block.file for block in shown if block.language == "rust"]
    assert len(created) == 1
    for block in shown:
        apply(block, workspace)
    cargo(workspace, "fmt", "--check")
    # A test of the copy makes sure that what the kit ran over has the new entry.
    probe = workspace / "crates" / crate / "tests" / "the_example_is_listed.rs"
    catalog = {"congestion": "parshall_congestion::catalog", "net": "parshall_net::queues::catalog"}[crate]
    listed = f'{catalog}::CATALOG.iter().any(|entry| entry.name == "{name}")'
    probe.write_text(f"//! The example.\n#[test]\nfn listed() {{\n    assert!({listed});\n}}\n")
    printed = cargo(
        workspace, "test", "--offline", "-p", f"parshall-{crate}", "--test", "conformance", "--test", probe.stem
    )
    assert printed.count("test result: ok.") == 2
    assert "test listed ... ok" in printed
    assert " 0 passed" not in printed


@pytest.mark.slow
def test_a_broken_control_fails_the_conformance_tests(workspace: Path) -> None:
    """The kit can fail: the example with a sign that makes losses a reason to grow."""
    for block in example("congestion"):
        apply(block, workspace)
    path = workspace / str(example("congestion")[0].file)
    text = path.read_text(encoding="utf-8")
    assert text.count("1.0 - self.0.decrease") == 1
    path.write_text(text.replace("1.0 - self.0.decrease", "1.0 + self.0.decrease"), encoding="utf-8")
    with pytest.raises(AssertionError, match=r"every_control_passes_the_kit \.\.\. FAILED"):
        cargo(workspace, "test", "--offline", "-p", "parshall-congestion", "--test", "conformance")
