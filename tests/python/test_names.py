"""Words of the code: a docstring says in a sentence what there is, and no two classes have one name.

Ruff has the rules of pydocstyle; this has those of the house.
"""

from __future__ import annotations

import ast
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

KNOWN = {"Datagrams", "Pair", "Table", "Verdict"}
"""Names that several classes have still: this set only becomes smaller."""


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
    assert several.keys() == KNOWN, several
