"""The files of a crate import each other in one direction: a circle of files is read, tested and changed as one.

A file may name items of the crate's root, which all know, and a facade (`lib.rs`, or a module's `pub use`) stands for
the file that an item comes from.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

CRATES = Path(__file__).parents[2] / "crates"

CIRCULAR = {
    "congestion": "a kind of control may stand before another of any kind",
    "net": "a queue may hold others of any kind",
    "python": "pages and controls",
    "reading": "a document is an input",
    "sim": "the state of a run and its endpoints",
    "tcp": "recoveries share what their module has",
    "trace": "readers of series share what their module has",
    "workload": "catalogs with what their entries share",
}
"""Crates with a circle, and why; nothing is added, and what has none any more goes."""

Module = tuple[str, ...]
"""The path of a module below its crate; the root is `()`."""


@dataclass(frozen=True)
class File:
    """The code of a module, without comments and tests, and what it declares and imports."""

    code: str
    children: frozenset[str]
    exports: Mapping[str, Module]
    """Public names and where they come from, relative to the module."""


def code_of(path: Path) -> str:
    """The text of a file without its comments and tests."""
    text = path.read_text(encoding="utf-8")
    text = re.split(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*mod tests \{", text)[0]
    text = re.sub(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod \w+;", "", text)
    return re.sub(r"//.*", "", text)


def tree(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """The paths of a use tree, each with the name that it gets here: `a::{b, c as d}` has two."""
    head, brace, rest = text.partition("{")
    if not brace:
        path, _, alias = text.strip().partition(" as ")
        parts = tuple(part.strip() for part in path.split("::") if part.strip())
        yield parts, alias.strip() or (parts[-1] if parts else "")
        return
    prefix = tuple(part.strip() for part in head.split("::") if part.strip())
    for item in top_level(rest.rpartition("}")[0]):
        for inner, name in tree(item):
            yield prefix + inner, name


def top_level(text: str) -> Iterator[str]:
    """Items between commas that are not within braces."""
    depth, begin = 0, 0
    for place, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            yield text[begin:place]
            begin = place + 1
    if text[begin:].strip():
        yield text[begin:]


def files(source: Path) -> dict[Module, File]:
    """All modules of a crate but those of its tests."""
    found = {}
    for path in sorted(source.rglob("*.rs")):
        parts = path.relative_to(source).with_suffix("").parts
        if "tests" in parts or "testing" in parts:
            continue
        module = parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts
        code = code_of(path)
        exports = re.findall(r"\bpub(?:\([\w ]+\))? use ([^;]+);", code)
        named = {name: target for text in exports for target, name in tree(text)}
        children = frozenset(re.findall(r"\bmod (\w+);", code))
        found[module] = File(code, children, named)
        for child in re.findall(r"#\[path = [^\]]*\]\s*mod (\w+);", code):  # a file outside the crate
            found[(*module, child)] = File("", frozenset(), {})
    return found


def absolute(path: tuple[str, ...], module: Module, children: frozenset[str]) -> Module | None:
    """A path as it is written in a module, from the root; `None`: it is of another crate, or begins with an import."""
    if path[0] == "crate":
        return path[1:]
    if path[0] == "self":
        return module + path[1:]
    if path[0] == "super":
        depth = next(index for index, part in enumerate((*path, "")) if part != "super")
        return module[: len(module) - depth] + path[depth:]
    return module + path if path[0] in children else None


def home(target: Module, known: Mapping[Module, File], left: int = 8) -> Module:
    """The file that an item comes from, behind all facades."""
    module = target
    while module not in known:
        module = module[:-1]
    name = target[len(module) : len(module) + 1]
    if name and left and name[0] in known[module].exports:
        file = known[module]
        behind = absolute(file.exports[name[0]], module, file.children)
        if behind is not None and behind != target:
            return home(behind, known, left - 1)
    return module


def uses(module: Module, file: File) -> Iterator[Module]:
    """Absolute paths of items that a module names, but for those that it only exports."""
    code = re.sub(r"\bpub(?:\([\w ]+\))? use [^;]+;", "", file.code)
    paths = [path for text in re.findall(r"\buse ([^;]+);", code) for path, _ in tree(text)]
    code = re.sub(r"\buse [^;]+;", "", code)
    heads = "|".join(["crate", "super", "self", *sorted(file.children)])
    paths += [tuple(text.split("::")) for text in re.findall(rf"(?<![\w:])(?:{heads})(?:::\w+)+", code)]
    for path in paths:
        target = absolute(path, module, file.children) if path else None
        if target:
            yield target


def graph(source: Path) -> dict[Module, set[Module]]:
    """Who imports whom, among the files of a crate but for its root."""
    known = files(source)
    found: dict[Module, set[Module]] = {}
    for module, file in known.items():
        if module:
            used = {home(target, known) for target in uses(module, file)}
            found[module] = used - {module, ()}
    return found


def circle(source: Path) -> list[str]:
    """The files of a circle, if there is one."""
    try:
        graphlib.TopologicalSorter(graph(source)).prepare()
    except graphlib.CycleError as error:
        return ["/".join(module) for module in error.args[1]]
    return []


@pytest.mark.parametrize("crate", sorted({path.parent.name for path in CRATES.glob("*/Cargo.toml")} - CIRCULAR.keys()))
def test_files_of_a_crate_have_no_circle(crate: str) -> None:
    assert circle(CRATES / crate / "src") == []


@pytest.mark.parametrize("crate", sorted(CIRCULAR))
def test_a_crate_in_the_list_has_a_circle(crate: str) -> None:
    assert circle(CRATES / crate / "src"), f"{crate} has no circle any more: take it from the list"


def test_many_imports_are_found() -> None:
    found = graph(CRATES / "hosts" / "src")
    assert {("host",), ("receiver",), ("sender",), ("shared",)} <= found[("hosts",)]
    assert ("sender", "context") in found[("sender", "tcp")]


def test_the_check_of_circles_can_fail(tmp_path: Path) -> None:
    """A circle by a facade and a parent's function; comments, tests and items of the root make none."""
    (tmp_path / "sender").mkdir()
    files = {
        "lib.rs": "mod row; mod sender;\npub use row::Row;\npub struct Error;\n",
        "row.rs": "use crate::Error; // crate::sender\n#[cfg(test)]\nmod tests { use crate::sender::Sender; }\n",
        "sender.rs": "mod tcp;\npub use tcp::Tcp;\nuse crate::{Error, Row};\npub fn now() -> u64 { 0 }\n",
        "sender/tcp.rs": "use crate::Row;\npub struct Tcp(Row);\n",
    }
    for name, code in files.items():
        (tmp_path / name).write_text(code)
    assert circle(tmp_path) == []
    (tmp_path / "sender" / "tcp.rs").write_text("use super::now;\npub struct Tcp(u64);\n")
    assert circle(tmp_path) == []  # the parent only exports it
    (tmp_path / "sender.rs").write_text("mod tcp;\nuse tcp::Tcp;\npub fn now() -> u64 { 0 }\n")
    assert sorted(set(circle(tmp_path))) == ["sender", "sender/tcp"]
    (tmp_path / "sender" / "tcp.rs").write_text("pub struct Tcp(u64);\n")
    (tmp_path / "row.rs").write_text("pub struct Row(crate::sender::Sender);\n")
    (tmp_path / "sender.rs").write_text("use crate::Row;\n")
    assert sorted(set(circle(tmp_path))) == ["row", "sender"]
