"""Additions of installed packages to Parshall, by entry points.

| group | each names |
| --- | --- |
| ``parshall.models`` | a `parshall.analysis.models.answer.ThroughputModel`, or the `ModelEntry` of another model |
| ``parshall.predictions`` | a function that predicts networks with the queue of the entry's name |
| ``parshall.quantities`` | a module, or an object of one, that defines quantities (`parshall.quantity`) |
| ``parshall.figures`` | a `parshall.report.plot.Figure` |
| ``parshall.sections`` | a section of an observation's page (`parshall.report.observation.additions`) |
| ``parshall.studies`` | a `parshall.studies.study.Study` |
| ``parshall.suites`` | a `parshall.studies.suite.Suite` |
| ``parshall.verbs`` | a function with Typer's annotations, or a `typer.Typer`; `design.rio` adds a verb to `design` |

A package is loaded when its group is asked for, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cache
from importlib import metadata
from typing import Any, Protocol, TypeVar

from parshall.foundations.errors import InputError, ParshallError


class NamedAddition(Protocol):
    """Names by which users call additions."""

    @property
    def name(self) -> str:
        """Return the addition as its author writes it."""


Kind = TypeVar("Kind", bound=NamedAddition)


def named(group: str, what: str, kind: type[Kind], taken: Collection[str]) -> tuple[Kind, ...]:
    """The objects of a group, which have a name.

    Parameters
    ----------
    group
        As ``models``.
    what
        One of them, for messages.
    kind
        Their class.
    taken
        Names that Parshall's own have.

    Raises
    ------
    InputError
        A package cannot be loaded, what it names is of another class, or a name is taken.
    """
    entries: dict[str, Kind] = {}
    for where, _, content in loaded(group, what):
        if not isinstance(content, kind):
            raise InputError(f"{where}: found {content!r}; accepted: a {kind.__module__}.{kind.__name__}")
        if content.name in entries or content.name in taken:
            raise InputError(f'{where}: there is a {what} "{content.name}" already; choose another name')
        entries[content.name] = content
    return tuple(entries.values())


def loaded(group: str, what: str, chosen: Callable[[str], bool] = bool) -> Iterator[tuple[str, str, Any]]:
    """Give the origin of each entry of a group, for messages; its entry point's name; and the loaded object.

    Parameters
    ----------
    chosen
        True for the names that are wanted; other entries are not loaded.

    Raises
    ------
    InputError
        A package cannot be loaded.
    """
    for entry in sorted(each for each in _entries().select(group=f"parshall.{group}") if chosen(each.name)):
        package = "" if entry.dist is None else f" of {entry.dist.name} {entry.dist.version}"
        where = f'{what} of the plug-in "{entry.name}"{package}'
        try:
            yield where, entry.name, entry.load()
        except ParshallError:
            raise
        except Exception as error:
            raise InputError(f"{where}: {type(error).__name__}: {error}") from error


@cache
def _entries() -> Any:
    """Of all packages, by group (of another class in each version of Python); to look takes some 20 ms."""
    return metadata.entry_points()
