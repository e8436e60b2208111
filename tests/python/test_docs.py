"""The guides: their code runs, their scenarios are valid, their tables are up to date, their links lead somewhere."""

from __future__ import annotations

import copy
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import parshall as ps
from parshall.campaign.preparing import prepare
from parshall.cli.run import result
from parshall.foundations.errors import InputError
from parshall.results.quantities import own
from tools.documentation.__main__ import guides, stale
from tools.documentation.markdown import GuideBlock, anchors, blocks, broken_links, renew
from tools.documentation.tables import SECTIONS

ROOT = Path(__file__).parents[2]
BIN = Path(sys.prefix) / "bin"
RUN = {"python", "console", "toml"}


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def with_code() -> list[Path]:
    """The guides with code that can be run."""
    return [path for path in guides() if any(block.language in RUN for block in blocks(read(path)))]


# --- code ---

BASE: dict[str, Any] = {"duration": "60 s", "bottleneck": {"rate": "48 Mbit/s"}, "flows": [{"rtt": "100 ms"}]}
"""What a scenario that a guide shows only in part is completed with."""


def check_toml(text: str, folder: Path) -> None:
    """Validate a scenario, or a part of one; or a sweep."""
    document = tomllib.loads(text)
    if "scenario" in document:
        prepare(ps.Plan(**document))
        return
    if "duration" not in document:
        document = {**copy.deepcopy(BASE), **document}
    ps.Scenario.from_document(document, folder)


def check_console(text: str, folder: Path) -> None:
    """Run commands, and look for what the guide shows in what they print; shown errors are expected."""
    environment = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *shown = part.splitlines()
        arguments = shlex.split(command)
        assert arguments[0] == "parshall", f"only parshall is run here, not {command}"
        done = subprocess.run(
            arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
        )
        refused = any(line.startswith("parshall: ") for line in shown)
        printed = done.stdout + done.stderr
        assert done.returncode == (2 if refused else 0), f"{command}\n{printed}"
        for line in shown:
            assert line in printed.splitlines(), f"{command}\nshown:   {line}\nprinted: {printed}"


def check(block: GuideBlock, folder: Path, names: dict[str, Any]) -> None:
    """Try one block."""
    if block.file is not None and block.language == "toml":
        (folder / block.file).write_text(block.text, encoding="utf-8")
    match block.language:
        case "toml":
            check_toml(block.text, folder)
        case "console":
            check_console(block.text, folder)
        case "python":
            exec(compile(block.text, f"line {block.line}", "exec"), names)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with what a checkout has in it; quantities that a guide defines are for it alone."""
    before = own.defined()
    for name in ("docs", "scenarios", "fuzz"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{BIN}{os.pathsep}{os.environ['PATH']}")
    yield tmp_path
    for each in own.defined():
        if each not in before:
            own.forget(each.key, each.per)


SLOW = (
    "README.md",
    "getting-started.md",
    "design.md",
    "figures.md",
    "itb.md",
    "observe.md",
    "campaigns.md",
    "suites.md",
    "self_similar.md",
)
"""Guides whose commands run for eight seconds or more; those of docs/how-to do, too."""


def is_slow(path: Path) -> bool:
    return path.name in SLOW or path.parent.name == "how-to"


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.name, marks=pytest.mark.slow if is_slow(path) else ()) for path in with_code()],
)
def test_code_blocks(path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (BIN / "parshall").exists(), "make setup"
    module = ModuleType("__guide__")
    module.__file__ = "__guide__.py"  # as of a script: a control of it is sent whole to a process of its own
    monkeypatch.setitem(sys.modules, "__guide__", module)  # dataclasses look their module up
    names = vars(module)
    tried = 0
    for block in blocks(read(path)):
        if block.language in RUN:
            check(block, folder, names)
            tried += 1
    assert tried > 0


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("toml", 'duration = "60 s"\ncolour = "red"'),
        ("toml", '[bottleneck]\nrate = "48 Mbps"'),
        ("console", "$ parshall validate nothing.toml"),
        ("console", "$ parshall --version\nparshall 99.0"),
        ("console", "$ ls"),
        ("python", "import parshall\nparshall.levitate"),
    ],
)
def test_a_wrong_block_fails(language: str, text: str, folder: Path) -> None:
    with pytest.raises((AssertionError, AttributeError, InputError)):
        check(GuideBlock(language, text, None, 1), folder, {})


def test_every_guide_is_found() -> None:
    names = {path.name for path in guides()}
    assert {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "scenario.md", "records.md", "json.md"} <= names
    fenced = {block.language for path in guides() for block in blocks(read(path))}
    assert fenced <= RUN | {"sh", "text", "rust", "diff", "pycon"}, "a language that no test knows"


# --- tables and links ---


def test_generated_tables_are_up_to_date() -> None:
    assert [str(path) for path in stale()] == [], "run `make docs`"


def test_every_generated_section_is_shown_once() -> None:
    shown = [name for path in guides() for name in re.findall(r"<!-- generated: ([\w-]+) -->", read(path))]
    assert sorted(shown) == sorted(SECTIONS)


def test_a_stale_table_is_noticed(tmp_path: Path) -> None:
    guide = tmp_path / "docs" / "catalogs.md"
    guide.parent.mkdir()
    text = read(ROOT / "docs" / "catalogs.md")
    assert "additive increase" in text
    guide.write_text(text.replace("additive increase", "subtractive increase"), encoding="utf-8")
    assert stale(tmp_path) == {guide: text}
    with pytest.raises(InputError, match='found the section "wishes"'):
        renew("<!-- generated: wishes -->\n<!-- end -->", SECTIONS)


def test_links_lead_somewhere() -> None:
    assert [problem for path in guides() for problem in broken_links(path)] == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text(
        "# One part\n[a](#one-part) [b](guide.md#one-part) [c](https://example.org) [d](gone.md) [e](#two)\n"
        "```text\n# Not a part\n[f](shown.md)\n```\n[g](#not-a-part)\n"
    )
    found = [problem.split(": ", 1)[1] for problem in broken_links(guide)]
    assert found == ["gone.md: no such file", "#two: no such heading", "#not-a-part: no such heading"]
    assert anchors(read(guide)) == {"one-part"}


# --- what is said of the program ---


def keys_of(section: str) -> set[str]:
    """The keys that a section of docs/json.md lists in the first column of its tables."""
    text = read(ROOT / "docs" / "json.md").split(f"\n## {section}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_json_of_a_run_is_what_the_guide_says() -> None:
    flows = [{"rtt": "40 ms", "workload": {"name": "transfer", "size": "20 kB"}}, {"rtt": "40 ms"}]
    run = ps.run(ps.Scenario(duration="5 s", repetitions=2, bottleneck={"rate": "5 Mbit/s"}, flows=flows))
    printed = result(run)
    answer, half = set(printed["predicted"][0]), set(printed["halves"][0])
    assert keys_of("parshall run") == set(printed) | answer | half


def test_json_of_a_comparison_is_what_the_guide_says() -> None:
    scenario = ps.Scenario(duration="5 s", bottleneck={"rate": "5 Mbit/s"}, flows=[{"rtt": "40 ms"}])
    run = ps.run(scenario)
    assert keys_of("parshall compare") == set(ps.compare(run, run).differences[0].to_json())


def test_json_of_a_check_is_what_the_guide_says() -> None:
    from parshall.analysis.stats.claim_rules import at_most, equal
    from parshall.analysis.stats.region import exactly
    from parshall.studies.joint import Judged, Judgement

    claim = equal("table1", "mean, s", 1.0, exactly(1.0))
    joint = Judgement((), [None], [Judged([claim])]).as_json()
    parts = set(joint["settings"][0]) | {"carried", "decided_by", "share"}
    assert keys_of("parshall study") == set(claim.as_json()) | set(joint) | parts
    assert keys_of("parshall suite") == set(at_most("§1", "mean, s", 1.0, exactly(1.0)).as_json())


def test_verbs_of_the_guide_are_those_of_the_program() -> None:
    from parshall.cli.app import VERBS, application

    verbs = {str(command.name) for command in application(VERBS).registered_commands}
    named = set(re.findall(r"`(\w+)`", read(ROOT / "CHANGELOG.md").split("The command line: ")[1].split(";")[0]))
    assert named <= verbs
    told = set(re.findall(r"^## parshall ([\w-]+)$", read(ROOT / "docs" / "json.md"), re.MULTILINE))
    assert told == verbs - {"card", "figure", "report", "shell", "open", "explore"}, "every other verb prints JSON"


# --- bibliography ---


def sources() -> str:
    """The text of the code, tests aside."""
    kinds = ("crates/**/*.rs", "python/**/*.py", "studies/**/*.py", "python/parshall/analysis/models/*.toml")
    paths = [path for kind in kinds for path in sorted(ROOT.glob(kind))]
    return "\n".join(read(path) for path in paths)


def test_bibliography_and_code_agree() -> None:
    listed = tomllib.loads(read(ROOT / "docs" / "references.toml"))
    code = sources()
    assert {int(number) for number in re.findall(r"RFC (\d{4})", code)} == {each["rfc"] for each in listed["rfc"]}
    flat = re.sub(r"\s+(//!|///)?\s*", " ", code)
    assert [each["cited"] for each in listed["work"] if each["cited"] not in flat] == []
    assert [each["rfc"] for each in listed["rfc"]] == sorted({each["rfc"] for each in listed["rfc"]})
