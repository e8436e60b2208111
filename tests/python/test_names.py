"""Words of the code: a docstring says in a sentence what there is, and no two classes have one name.

Ruff has the rules of pydocstyle; this has those of the house.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import parshall

PACKAGE = Path(parshall.__file__).parent

RIDDLES = ("How", "What", "When", "Where", "Whether", "Which", "Who", "Whose", "Why")
"""First words of docstrings that ask where they should answer."""

NOT_ALONE = ("studies",)
"""Packages with names that several distributions have: cases, parts, entries."""


def modules() -> Iterator[Path]:
    yield from sorted(PACKAGE.rglob("*.py"))


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Each docstring of a module, its classes, functions and attributes, with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                text = statement.value.value
                if isinstance(text, str):
                    yield statement.lineno, text


def first_word(text: str) -> str:
    return text.split(maxsplit=1)[0].rstrip(",") if text.split() else ""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("What was found.", "What"),
        ("When, in s.", "When"),
        ("Return the results.", "Return"),
        ("", ""),
        ("Whatever", "Whatever"),
    ],
)
def test_the_first_word_is_found(text: str, word: str) -> None:
    assert first_word(text) == word


def test_no_docstring_is_a_riddle() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {text.splitlines()[0]}"
        for path in modules()
        for line, text in strings(path)
        if first_word(text) in RIDDLES
    ]
    assert not found, "\n".join(found)


def test_no_two_classes_have_one_name() -> None:
    places = defaultdict(list)
    for path in modules():
        if path.relative_to(PACKAGE).parts[0] in NOT_ALONE:
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    several = {name: where for name, where in places.items() if len(where) > 1}
    assert not several


RUST = Path(__file__).parents[2] / "crates"
DESCRIPTIONS = "records/src/schema.rs"
"""Its comments travel in the Parquet files of results."""
QUESTION = re.compile(r"\s*//[/!] (How|What|Whether)\b")


def public_questions(text: str) -> Iterator[int]:
    """Each line of Rust on which the comment of a public item, or of a module, begins with a question."""
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if not QUESTION.match(line) or (place and lines[place - 1].lstrip().startswith(("///", "//!"))):
            continue
        item = next((each.strip() for each in lines[place:] if not each.strip().startswith(("//", "#["))), "")
        if "//!" in line or item.startswith("pub"):
            yield place + 1


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("/// What it is.\n#[must_use]\npub fn it() {}\n", [1]),
        ("//! How it goes.\n", [1]),
        ("/// What it is.\nfn it() {}\n", []),
        ("/// Its name.\n/// What else.\npub fn it() {}\n", []),
    ],
)
def test_questions_of_rust_are_found(text: str, lines: list[int]) -> None:
    assert list(public_questions(text)) == lines


def test_no_comment_of_a_public_item_is_a_riddle() -> None:
    found = [
        f"{path.relative_to(RUST)}:{line}"
        for path in sorted(RUST.glob("*/src/**/*.rs"))
        if path.name != "tests.rs" and not path.match(DESCRIPTIONS)
        for line in public_questions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)
