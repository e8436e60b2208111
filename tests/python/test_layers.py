"""The arrows of ARCHITECTURE.md: who may use whom, among the crates, in the TCP endpoint and among the Python packages.

The three tables there, between ``<!-- arrows: ... -->`` and ``<!-- end -->``, are the rules; what they must never
allow is said here once more, so that no edit of the tables allows it by mistake.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

Arrows = Mapping[str, frozenset[str]]
Edge = tuple[str, str, str]
"""Who uses whom, and where that is written."""

SANS_IO = ("units", "congestion", "signals", "tcp", "net", "workload")
OUTSIDE = re.compile(r"\bstd::(time|net|fs|thread|env|process|io)\b")
"""Clocks, sockets, files and threads of the standard library."""
OWN_GENERATORS = {"rand", "fastrand", "getrandom", "tokio", "mio", "rustix", "libc", "socket2", "chrono", "nix"}


def arrows(name: str) -> Arrows:
    """The table of that name in ARCHITECTURE.md: the part in the first column may use those in the second."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.split(f"<!-- arrows: {name} -->")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.strip().splitlines()[2:]]
    return {row[0].strip("`"): frozenset(re.findall(r"`(\w+)`", row[1])) for row in rows}


def violations(edges: Iterator[Edge], rules: Arrows) -> list[str]:
    """What of `edges` the rules do not allow, and parts that have no rule."""
    found = []
    for user, used, where in edges:
        if user not in rules:
            found.append(f"{where}: ARCHITECTURE.md does not say what {user} may use")
        elif used not in rules[user]:
            found.append(f"{where}: {user} must not use {used}")
    return found


# --- crates ---


def crate_edges(crates: Path) -> Iterator[Edge]:
    """Dependencies between our crates; those of tests too."""
    for manifest in sorted(crates.glob("*/Cargo.toml")):
        document = tomllib.loads(manifest.read_text(encoding="utf-8"))
        tables = [document.get(f"{kind}dependencies", {}) for kind in ("", "dev-", "build-")]
        for name in sorted({key for table in tables for key in table}):
            if name.startswith("parshall-"):
                yield manifest.parent.name, name.removeprefix("parshall-"), str(manifest)


def external(manifest: Path) -> set[str]:
    """Names of the libraries that a crate is built with."""
    document = tomllib.loads(manifest.read_text(encoding="utf-8"))
    return {name for name in document.get("dependencies", {}) if not name.startswith("parshall-")}


def outside_world(crates: Path, crate: str) -> list[str]:
    """Lines of a crate, but for its tests, that name a clock, a socket, a file or a thread."""
    found = []
    for path in sorted((crates / crate / "src").rglob("*.rs")):
        if path.name == "tests.rs":
            continue
        code = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        for number, line in enumerate(code.splitlines(), 1):
            if OUTSIDE.search(line) and not line.lstrip().startswith("//"):
                found.append(f"{path}:{number}: {line.strip()}")
    return found


def test_crates_use_only_what_they_may() -> None:
    edges = list(crate_edges(ROOT / "crates"))
    assert len(edges) > 10
    assert violations(iter(edges), arrows("crates")) == []


def test_every_crate_has_a_rule_and_every_rule_a_crate() -> None:
    crates = {manifest.parent.name for manifest in (ROOT / "crates").glob("*/Cargo.toml")}
    assert arrows("crates").keys() == crates


def test_the_rules_for_crates_never_allow() -> None:
    rules = arrows("crates")
    assert not any("python" in used for used in rules.values())
    assert rules["units"] == rules["reading"] == frozenset()
    for crate in ("units", "congestion", "signals", "net", "tcp", "workload", "records"):
        assert not rules[crate] & {"sim", "emu", "trace", "python"}, crate
    assert not rules["hosts"] & {"sim", "emulator", "net", "tcp", "trace", "python"}
    assert rules["congestion"] <= {"units"}
    assert rules["signals"] <= {"units", "congestion"}
    assert rules["net"] <= {"units"}


def test_one_crate_knows_python() -> None:
    manifests = (ROOT / "crates").glob("*/Cargo.toml")
    knowing = {manifest.parent.name for manifest in manifests if external(manifest) & {"pyo3", "numpy", "pyo3-ffi"}}
    assert knowing == {"python"}


@pytest.mark.parametrize("crate", SANS_IO)
def test_sans_io(crate: str) -> None:
    assert outside_world(ROOT / "crates", crate) == []
    assert external(ROOT / "crates" / crate / "Cargo.toml") & OWN_GENERATORS == set()


def test_the_check_of_crates_can_fail(tmp_path: Path) -> None:
    """An engine in a queue's crate, a clock in a congestion control, and a crate without a rule."""
    crates = tmp_path / "crates"
    for name, dependencies in {"net": ["units", "sim"], "congestion": ["units"], "stray": ["units"]}.items():
        (crates / name / "src").mkdir(parents=True)
        lines = [f"parshall-{each}.workspace = true" for each in dependencies]
        (crates / name / "Cargo.toml").write_text("\n".join(["[dependencies]", *lines]))
    code = "//! std::time is named in words only.\nuse std::time::Instant;\n#[cfg(test)]\nmod tests { use std::fs; }\n"
    (crates / "congestion" / "src" / "lib.rs").write_text(code)
    found = violations(crate_edges(crates), arrows("crates"))
    assert len(found) == 2
    assert found[0].endswith("net must not use sim")
    assert found[1].endswith("ARCHITECTURE.md does not say what stray may use")
    assert [line.split(":", 1)[1] for line in outside_world(crates, "congestion")] == ["2: use std::time::Instant;"]


# --- the TCP endpoint ---


def rust_code(path: Path) -> str:
    """A file without its comments and tests."""
    code = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("//"))


def module_edges(source: Path) -> Iterator[Edge]:
    """Uses of `crate::...` between the modules of a crate, but for those of its configuration, which all know."""
    exported = re.findall(r"^pub use (\w+)::\{?([\w, ]+)\}?;", rust_code(source / "lib.rs"), re.MULTILINE)
    home = {name.strip(): module for module, names in exported for name in names.split(",")}
    for path in sorted(source.rglob("*.rs")):
        user = path.relative_to(source).with_suffix("").parts[0]
        named = re.findall(r"\bcrate::(?:(\w+)|\{([^}]*)\})", rust_code(path))
        for name in sorted({each for one, several in named for each in re.findall(r"(?:^|,)\s*(\w+)", one or several)}):
            used = home.get(name, name)
            if "config" not in (user, used) and user not in (used, "lib"):
                yield user, used, str(path)


def test_modules_of_tcp_use_only_what_they_may() -> None:
    edges = list(module_edges(ROOT / "crates" / "tcp" / "src"))
    assert len(edges) > 15
    assert violations(iter(edges), arrows("tcp")) == []


def test_the_rules_for_tcp_have_no_circle() -> None:
    rules = arrows("tcp")
    graphlib.TopologicalSorter(rules).prepare()
    assert not rules["connection"] & {"recovery", "sender"}
    assert "sender" not in rules["recovery"]


def test_the_check_of_modules_can_fail(tmp_path: Path) -> None:
    """A recovery that knows the sender, by its re-exported name; comments and tests may name it."""
    (tmp_path / "recovery").mkdir()
    (tmp_path / "lib.rs").write_text("pub use config::TcpConfig;\npub use sender::{Sender, ENDLESS};\n")
    code = "use crate::Sender;\nuse crate::TcpConfig;\n#[cfg(test)]\nmod tests { use crate::sender::Phase; }\n"
    (tmp_path / "recovery" / "classic.rs").write_text(code)
    (tmp_path / "recovery" / "sack.rs").write_text("use crate::{TcpConfig, Sender};\n")
    (tmp_path / "connection.rs").write_text("/// As [`crate::Sender`] says.\nuse crate::segment::Ack;\n")
    found = violations(module_edges(tmp_path), arrows("tcp"))
    assert [each.rsplit(": ", 1)[1] for each in found] == ["recovery must not use sender"] * 2


# --- Python ---


def imports(path: Path, package: Path) -> Iterator[tuple[str, bool]]:
    """Modules of ours that a file imports, wherever in it; and whether for annotations only."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    annotations: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in {"TYPE_CHECKING", "typing.TYPE_CHECKING"}:
            annotations |= {id(inner) for statement in node.body for inner in ast.walk(statement)}
    here = list(path.relative_to(package.parent).with_suffix("").parts)[:-1]
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = [*here[: len(here) - node.level + 1]] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.split(".")[0] == package.name:
                yield name, id(node) in annotations


@functools.cache
def own_edges() -> tuple[Edge, ...]:
    """Those of our Python package: it is read once for all tests."""
    return tuple(python_edges(ROOT / "python" / "parshall"))


def python_edges(package: Path) -> Iterator[Edge]:
    """Imports between the parts of a Python package; imports for annotations end in ``(type)``."""
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        user = inside[0] if inside != ("__init__",) else "__init__"
        for name, annotation in imports(path, package):
            used = name.split(".")[1] if "." in name else "__init__"
            if used != user:
                yield user, used, f"{path}{' (type)' if annotation else ''}"


def own_names(package: Path) -> set[str]:
    """The parts of a package: its modules and packages."""
    modules = {path.stem for path in package.glob("*.py")} | {path.stem for path in package.glob("*.pyi")}
    return modules | {path.parent.name for path in package.glob("*/__init__.py")}


def run_time(edges: Iterator[Edge]) -> Iterator[Edge]:
    """Edges that are more than annotations."""
    return (edge for edge in edges if not edge[2].endswith("(type)"))


def through_the_face(edges: Iterator[Edge], parts: set[str]) -> Iterator[Edge]:
    """Edges to parts; ``from parshall import run`` means the face, ``__init__``."""
    for user, used, where in edges:
        yield user, used if used in parts else "__init__", where


def test_python_uses_only_what_it_may() -> None:
    package = ROOT / "python" / "parshall"
    edges = list(through_the_face(run_time(iter(own_edges())), own_names(package)))
    assert len(edges) > 30
    assert violations(iter(edges), arrows("python")) == []


def test_every_python_part_has_a_rule() -> None:
    parts = own_names(ROOT / "python" / "parshall")
    assert arrows("python").keys() == parts - {"_core", "__init__"}


def test_the_rules_for_python_never_allow() -> None:
    rules = arrows("python")
    simulator = {"_core", "runs", "scenario", "schema", "report", "cli"}
    assert not rules["models"] & simulator
    assert rules["stats"] <= {"distributions", "errors", "extras"}
    assert rules["quantities"] <= {"stats", "errors", "files", "plugins"}
    assert not any("cli" in used for part, used in rules.items() if part != "__main__")
    doors = {
        "distributions",
        "files",
        "schema",
        "properties",
        "controls",
        "records",
        "runs",
        "emulation",
        "foreign",
        "replaying",
        "traces",
        "cli",
    }
    assert {user for user, used in rules.items() if "_core" in used} <= doors


@pytest.mark.parametrize("part", ["models", "quantities", "stats"])
def test_not_even_annotations_know_the_instrument(part: str) -> None:
    edges = [edge for edge in own_edges() if edge[0] == part]
    assert edges
    assert violations(iter(edges), arrows("python")) == []


def test_the_check_of_python_can_fail(tmp_path: Path) -> None:
    """A model that simulates, an estimator that knows runs, relative and nested imports; annotations are let pass."""
    package = tmp_path / "parshall"
    files = {
        "__init__.py": "",
        "runs.py": "",
        "models/__init__.py": "",
        "models/guess.py": "def guess():\n    from parshall import _core\n    return _core",
        "stats/__init__.py": "",
        "stats/spectrum.py": "from ..runs import Run\nimport parshall.foundations.errors",
        "schema/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from parshall.cli import app",
        "stray.py": "from parshall.foundations.errors import InputError",
    }
    for name, code in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(code)
    found = violations(run_time(python_edges(package)), arrows("python"))
    assert [each.rsplit(": ", 1)[1] for each in found] == [
        "models must not use _core",
        "stats must not use runs",
        "ARCHITECTURE.md does not say what stray may use",
    ]
    with_annotations = violations(python_edges(package), arrows("python"))
    assert [each for each in with_annotations if "schema must not use cli" in each]
