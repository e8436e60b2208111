"""Who may use whom, among the crates, in the TCP endpoint and among the Python packages.

The rules of Rust are tables of ARCHITECTURE.md (crates) and crates/LAYERS.md (their parts), between
``<!-- arrows: ... -->`` and ``<!-- end -->``; those of
Python are the layers of pyproject.toml. What they must never allow stands here once more, so that no edit of them
allows it by mistake.
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

SANS_IO = ("units", "congestion", "tcp", "net", "workload", "engine")
OUTSIDE = re.compile(r"\bstd::(time|net|fs|thread|env|process|io)\b")
"""Clocks, sockets, files and threads of the standard library."""
OWN_GENERATORS = {"rand", "fastrand", "getrandom", "tokio", "mio", "rustix", "libc", "socket2", "chrono", "nix"}


RULES = ("ARCHITECTURE.md", "crates/LAYERS.md")
"""The files with the tables."""


def arrows(name: str) -> Arrows:
    """The table of that name in `RULES`: the part in the first column may use those in the second."""
    text = "\n".join((ROOT / file).read_text(encoding="utf-8") for file in RULES)
    section = text.split(f"<!-- arrows: {name} -->")[1].split("<!-- end -->")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.strip().splitlines()[2:]]
    return {row[0].strip("`"): frozenset(re.findall(r"`(\w+)`", row[1])) for row in rows}


def violations(edges: Iterator[Edge], rules: Arrows) -> list[str]:
    """What of `edges` the rules do not allow, and parts that have no rule."""
    found = []
    for user, used, where in edges:
        if user not in rules:
            found.append(f"{where}: no table says what {user} may use")
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
    for crate in ("units", "congestion", "net", "tcp", "workload", "records"):
        assert not rules[crate] & {"sim", "emu", "trace", "python"}, crate
    assert not rules["hosts"] & {"sim", "realtime", "net", "tcp", "trace", "python"}
    assert rules["congestion"] <= {"units"}
    assert rules["net"] <= {"units"}
    assert rules["engine"] <= {"units", "net"}


def test_one_crate_knows_python() -> None:
    manifests = (ROOT / "crates").glob("*/Cargo.toml")
    knowing = {manifest.parent.name for manifest in manifests if external(manifest) & {"pyo3", "numpy", "pyo3-ffi"}}
    assert knowing == {"python"}


def test_the_engine_knows_no_table_and_no_file_format() -> None:
    assert external(ROOT / "crates" / "engine" / "Cargo.toml") <= {"rand_core", "rand_xoshiro"}


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
    assert found[1].endswith("no table says what stray may use")
    assert [line.split(":", 1)[1] for line in outside_world(crates, "congestion")] == ["2: use std::time::Instant;"]


# --- within crates ---


def rust_code(path: Path) -> str:
    """A file without its comments and tests; modules of tests in files of their own may be declared anywhere."""
    code = re.sub(r"#\[cfg\(test\)\]\s*mod \w+;", "", path.read_text(encoding="utf-8")).split("#[cfg(test)]")[0]
    return "\n".join(line for line in code.splitlines() if not line.lstrip().startswith("//"))


def module_edges(source: Path) -> Iterator[Edge]:
    """Uses of `crate::...` between the modules of a crate, but for those of its configuration, which all know."""
    exported = re.findall(r"^pub use (?:crate::)?(\w+)::\{?([\w, ]+)\}?;", rust_code(source / "lib.rs"), re.MULTILINE)
    home = {name.strip(): module for module, names in exported for name in names.split(",")}
    for path in sorted(source.rglob("*.rs")):
        if {"tests", "testing"} & set(path.relative_to(source).with_suffix("").parts):
            continue
        user = path.relative_to(source).with_suffix("").parts[0]
        named = re.findall(r"(?<!\$)\bcrate::(?:(\w+)|\{([^}]*)\})", rust_code(path))
        for name in sorted({each for one, several in named for each in re.findall(r"(?:^|,)\s*(\w+)", one or several)}):
            used = home.get(name, name)
            if "config" not in (user, used) and user not in (used, "lib"):
                yield user, used, str(path)


@pytest.mark.parametrize("crate", ["tcp", "engine", "sim"])
def test_modules_use_only_what_they_may(crate: str) -> None:
    edges = list(module_edges(ROOT / "crates" / crate / "src"))
    assert len(edges) > 15
    assert violations(iter(edges), arrows(crate)) == []


@pytest.mark.parametrize("crate", ["tcp", "engine", "sim"])
def test_every_module_has_a_rule_and_no_rule_makes_a_circle(crate: str) -> None:
    source = ROOT / "crates" / crate / "src"
    modules = set(re.findall(r"^(?:pub )?mod (\w+);", rust_code(source / "lib.rs"), re.MULTILINE))
    assert arrows(crate).keys() == modules - {"config"}
    graphlib.TopologicalSorter(arrows(crate)).prepare()


def test_the_rules_for_tcp_never_allow() -> None:
    rules = arrows("tcp")
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
    """Imports between the modules of a package, by dotted names below it; imports for annotations end in ``(type)``."""
    for path in sorted(package.rglob("*.py")):
        user = ".".join(path.relative_to(package).with_suffix("").parts)
        for name, annotation in imports(path, package):
            yield user, name.partition(".")[2] or "__init__", f"{path}{' (type)' if annotation else ''}"


def layers() -> list[str]:
    """The layers of pyproject.toml, the highest first. The command line may use the face; `_core` is below all."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    listed: list[str] = next(each["layers"] for each in settings["contracts"] if each["type"] == "layers")
    face = listed.index("cli") + 1
    return [*listed[:face], "__init__", *listed[face:], "_core"]


def upwards(edges: Iterator[Edge], order: list[str]) -> list[str]:
    """Imports that a layer makes of one above it, and modules without a layer."""
    height = {name: -at for at, name in enumerate(order)}
    found = []
    for user, used, where in edges:
        above, below = (each.split(".")[0] for each in (user, used))
        below = below if below in height else "__init__"
        if above not in height:
            found.append(f"{where}: pyproject.toml has no layer {above}")
        elif height[below] > height[above]:
            found.append(f"{where}: {above} must not use {below}")
    return found


def run_time(edges: Iterator[Edge]) -> Iterator[Edge]:
    """Edges that are more than annotations."""
    return (edge for edge in edges if not edge[2].endswith("(type)"))


def below(part: str) -> list[Edge]:
    """The imports of a package's modules, those for annotations too."""
    return [edge for edge in own_edges() if f"{edge[0]}.".startswith(f"{part}.")]


def test_layers_use_those_below() -> None:
    edges = list(run_time(iter(own_edges())))
    assert len(edges) > 1000
    assert upwards(iter(edges), layers()) == []


def test_every_package_has_a_layer() -> None:
    package = ROOT / "python" / "parshall"
    parts = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    assert set(layers()) == parts | {"_core"}


def imports_of_the_studies(folder: Path) -> list[str]:
    """Lines that import the package of the studies: for annotations, in functions and by its name as well."""
    found = re.compile(r"^\s*(from|import) parshall_studies\b|import_module\(.*parshall_studies", re.MULTILINE)
    files = (path for path in sorted(folder.rglob("*.py*")) if path.suffix in {".py", ".pyi"})
    return [path.name for path in files if found.search(path.read_text(encoding="utf-8"))]


def test_the_core_does_not_import_the_studies(tmp_path: Path) -> None:
    assert imports_of_the_studies(ROOT / "python" / "parshall") == []
    (tmp_path / "late.py").write_text("def late():\n    from parshall_studies import rio\n")
    (tmp_path / "named.py").write_text('import_module("parshall_studies.rio")\n')
    assert imports_of_the_studies(tmp_path) == ["late.py", "named.py"]


DOORS = (
    "cli.doctor",
    "foundations.distributions",
    "foundations.files",
    "instruments",
    "results.records",
    "scenario",
)
"""Who may use the compiled module."""


def test_the_compiled_module_has_few_doors() -> None:
    users = {user for user, used, _ in own_edges() if used.startswith("_core")}
    assert users
    assert [user for user in users if not f"{user}.".startswith(tuple(f"{door}." for door in DOORS))] == []


@pytest.mark.parametrize(
    ("part", "may_use"),
    [
        ("analysis.stats", ("analysis.stats", "foundations")),
        ("analysis.models", ("analysis.models", "foundations", "scenario.properties")),
        ("results.quantities", ("results.quantities", "analysis.stats", "foundations")),
    ],
)
def test_not_even_annotations_know_the_instrument(part: str, may_use: tuple[str, ...]) -> None:
    edges = below(part)
    assert edges
    allowed = tuple(f"{each}." for each in may_use)
    assert [where for _, used, where in edges if not f"{used}.".startswith(allowed)] == []


def test_the_check_of_python_can_fail(tmp_path: Path) -> None:
    """A model that simulates, an estimator that knows runs, relative and nested imports; annotations are let pass."""
    package = tmp_path / "parshall"
    files = {
        "__init__.py": "",
        "instruments/__init__.py": "",
        "analysis/guess.py": "def guess():\n    from parshall.instruments import run\n    return run",
        "analysis/spectrum.py": "from ..results import Run\nimport parshall.foundations.errors",
        "scenario/__init__.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from parshall.cli import app",
        "stray.py": "from parshall.foundations.errors import InputError",
        "foundations/face.py": "from parshall import sweep",
    }
    for name, code in files.items():
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text(code)
    found = upwards(run_time(python_edges(package)), layers())
    assert [each.rsplit(": ", 1)[1] for each in found] == [
        "analysis must not use instruments",
        "analysis must not use results",
        "foundations must not use __init__",
        "pyproject.toml has no layer stray",
    ]
    with_annotations = upwards(python_edges(package), layers())
    assert [each for each in with_annotations if "scenario must not use cli" in each]
