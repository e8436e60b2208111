"""The sentences of a state: their text, the templates that made it, and words that are checked against the records."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from parshall.report import sentences

Oracle = Callable[[str], None]
"""Asserts that the words of a text are those of the records, which it reads for itself."""

_SCALES = {"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "%": 0.01, "packets": 1.0}


def folder() -> Path:
    """A new folder, which goes when the tests do."""
    made = Path(tempfile.mkdtemp(prefix="parshall-states-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def unchecked(_: str) -> None:
    """No words of the text depend on the records."""


@dataclass(frozen=True)
class State:
    """A state of what is shown.

    Parameters
    ----------
    says
        Gives the text of its page, or of what the terminal prints.
    templates
        Those that make it, among others.
    oracle
        Checks its words.
    """

    says: Callable[[], str]
    templates: set[str]
    oracle: Oracle = unchecked


@dataclass
class Heard:
    """A text, and the sentences of it: by template, in the order in which they were made."""

    text: str = ""
    sentences: list[tuple[str, str]] = field(default_factory=list)

    @property
    def templates(self) -> set[str]:
        """The names of the templates."""
        return {name for name, _ in self.sentences}


class _Pattern(str):
    """A template that remembers what it was filled to."""

    __slots__ = ("heard", "name")

    def __new__(cls, text: str, name: str, heard: Heard) -> _Pattern:
        made = super().__new__(cls, text)
        made.name, made.heard = name, heard
        return made

    def format(self, *_: object, **values: object) -> str:
        text = str(self).format(**values)
        self.heard.sentences.append((self.name, text))
        return text


class _Listening(Mapping[str, str]):
    """The templates, of which each tells what it was filled to."""

    def __init__(self, heard: Heard) -> None:
        self._heard, self._templates = heard, sentences.TEMPLATES

    def __getitem__(self, name: str) -> str:
        return _Pattern(self._templates[name], name, self._heard)

    def __iter__(self) -> Iterator[str]:
        return iter(self._templates)

    def __len__(self) -> int:
        return len(self._templates)


def heard(says: Callable[[], str]) -> Heard:
    """The text, and what templates made meanwhile."""
    found = Heard()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sentences, "TEMPLATES", _Listening(found))
        found.text = says()
    return found


def number(text: str) -> float:
    """A quantity as it is printed, in the base unit."""
    digits, _, unit = text.replace("\u202f", "").replace("\u2212", "-").replace("\xa0", " ").strip().partition(" ")
    return float(digits) * _SCALES[unit.split(" ")[0] or "packets"]


def moves(text: str) -> None:
    """A value that rises ends higher than it began, and one that falls ends lower."""
    for way, first, last in re.findall(
        r"(rises|falls) from (\S+\s\S+?)(?: at .*?| in the first.*?)? to (\S+\s\S+)", text
    ):
        assert (number(last.rstrip(".")) > number(first)) == (way == "rises"), text
