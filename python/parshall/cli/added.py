"""Verbs that installed packages add to the command line.

An entry of the group ``parshall.verbs`` has the name of its verb; ``design.rio`` is the verb `rio` of
`parshall design`, and ``predict.throughput`` what `parshall predict throughput` does.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand
from typer.main import get_command

from parshall.cli.verb import verb
from parshall.foundations import plugins
from parshall.foundations.errors import InputError
from parshall.foundations.extras import missing

OF_EXTRAS: Mapping[str, tuple[str, str]] = dict.fromkeys(
    ("itb", "design.rio", "design.time-scale", "predict.throughput"), ("studies", "parshall-studies")
)
"""Verbs of distributions that an extra installs: the extra, and the distribution."""

ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}


def added(parent: str = "", taken: Collection[str] = ()) -> dict[str, Any]:
    """The verbs that installed packages add below a verb, or beside all, by name.

    Parameters
    ----------
    parent
        The verb, as ``design``; empty: those beside all.
    taken
        Names that Parshall's own verbs have.

    Returns
    -------
    dict
        Functions as they are defined, and whole groups (`typer.Typer`).

    Raises
    ------
    InputError
        A package cannot be loaded, what it names is no verb, or a name is taken.
    """
    found: dict[str, Any] = {}
    for where, name, content in plugins.loaded("verbs", "verb", lambda name: name.rpartition(".")[0] == parent):
        own = name.rpartition(".")[2]
        if own in taken or own in found:
            raise InputError(f'{where}: there is a verb "{own}" already; choose another name')
        if not callable(content):
            raise InputError(f"{where}: found {content!r}; accepted: a function, or a typer.Typer")
        found[own] = content
    return found


def extend(group: typer.Typer, parent: str) -> None:
    """Add to a group of verbs those of packages; in the place of one that an extra would install, one that says so."""
    for name, does, settings in _below(parent, [command.name or "" for command in group.registered_commands]):
        group.command(name, **settings)(does)


class WithVerbs(TyperCommand):
    """A verb that one of a package may follow, as ``throughput`` follows ``predict``, unless a file has that name."""

    def below(self) -> dict[str, Any]:
        """The commands that may follow, by name."""
        made = {}
        for name, does, settings in _below(self.name or ""):
            alone = typer.Typer(add_completion=False)
            alone.command(name, **settings)(does)
            made[name] = get_command(alone)
        return made

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the verb, or of the one that follows it."""
        word = next(iter(args), "")
        if word and not word.startswith("-") and not Path(word).exists() and word in (below := self.below()):
            return below[word].make_context(f"{info_name} {word}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _below(parent: str, taken: Collection[str] = ()) -> Iterator[tuple[str, Callable[..., None], dict[str, Any]]]:
    """Names, functions and settings of the verbs below a verb, those too that an extra would install."""
    found = added(parent, taken)
    for name, does in found.items():
        yield name, verb(does), {}
    for name in OF_EXTRAS:
        above, _, last = name.rpartition(".")
        if above == parent and last not in found:
            yield last, absent(name), {"hidden": True, "context_settings": ANYTHING, "add_help_option": False}


def absent(name: str) -> Callable[[], None]:
    """A verb that says which extra has the verb of this name, as ``design.rio``."""

    def say() -> None:
        extra, distribution = OF_EXTRAS[name]
        raise missing(extra, name.replace(".", " "), distribution)

    return verb(say)
