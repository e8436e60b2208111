r"""Markdown files: generated sections, code blocks, links.

A generated section stands between two comments; what is between them is replaced:

>>> text = "<!-- generated: queues -->\nold\n<!-- end -->\n"
>>> print(renew(text, {"queues": lambda: "new"}), end="")
<!-- generated: queues -->
new
<!-- end -->

A comment before a code block names the file that it shows: ``<!-- file: slow.toml -->``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from parshall.foundations.errors import InputError

_SECTION = re.compile(r"(<!-- generated: (?P<name>[\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_LINK = re.compile(r"(?<!!)\[[^\]]+\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<title>.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A code block: its language, its text, the file it shows if it says so, and its line."""

    language: str
    text: str
    file: str | None
    line: int


def renew(text: str, sections: Mapping[str, Callable[[], str]]) -> str:
    """The text with every generated section made anew.

    Raises
    ------
    InputError
        A section has a name that is not in `sections`.
    """

    def made(match: re.Match[str]) -> str:
        name = match["name"]
        if name not in sections:
            raise InputError(f'found the section "{name}"; accepted: {", ".join(sorted(sections))}')
        return f"{match[1]}{sections[name]().strip()}\n{match[3]}"

    return _SECTION.sub(made, text)


def blocks(text: str) -> list[Block]:
    """The code blocks of a text, in order."""
    return [
        Block(found["language"], found["text"], found["file"], text.count("\n", 0, found.start("language")) + 1)
        for found in _BLOCK.finditer(text)
    ]


def table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    r"""A table.

    >>> print(table(("a", "b"), [("1", "x | y"), ("2", "")]))
    | a | b |
    | --- | --- |
    | 1 | x \| y |
    | 2 | |
    """
    lines = [head, ("---",) * len(head), *(tuple(cell.replace("|", "\\|") for cell in row) for row in rows)]
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in lines)


def broken_links(path: Path) -> list[str]:
    """Links of a file to other files, and to headings, that lead nowhere; addresses of other hosts are not tried."""
    text = path.read_text(encoding="utf-8")
    prose = _BLOCK.sub("", text)
    broken = []
    for match in _LINK.finditer(prose):
        target, _, anchor = match["target"].partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = path.parent / target if target else path
        if not file.exists():
            broken.append(f"{path}: {match['target']}: no such file")
        elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text(encoding="utf-8")):
            broken.append(f"{path}: {match['target']}: no such heading")
    return broken


def anchors(text: str) -> set[str]:
    r"""The names under which the headings of a text can be linked to.

    >>> sorted(anchors("# A guide\n## `cubic`: what, and why?"))
    ['a-guide', 'cubic-what-and-why']
    """
    titles = (found["title"] for found in _HEADING.finditer(_BLOCK.sub("", text)))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}
