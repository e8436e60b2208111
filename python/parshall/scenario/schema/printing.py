"""Text that others wrote, as messages and tables show it."""

from __future__ import annotations

import unicodedata

LONGEST = 80
"""Characters of a value or a key in a message."""

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode's categories of what is not seen, or is a command: control and format characters, line separators."""


def printable(text: str) -> str:
    """The text, with characters that are not seen as escapes; lines stay lines.

    >>> printable("red" + chr(27) + "[31m" + chr(0x202E)).count(chr(92))
    2
    """
    if text.isprintable():
        return text
    return "".join(
        character if character == "\n" or unicodedata.category(character) not in _HIDDEN else _escaped(character)
        for character in text
    )


def cut(text: str) -> str:
    """The beginning of a text, for a message: one line, nothing hidden."""
    text = printable(text[: LONGEST + 1]).replace("\n", "\\n")
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")
