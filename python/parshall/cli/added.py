"""Verbs that installed packages add to the command line.

An entry of the group ``parshall.verbs`` has the name of its verb; ``design.rio`` is the verb `rio` of
`parshall design`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import typer

from parshall.cli.verb import verb
from parshall.foundations import plugins
from parshall.foundations.errors import InputError, MissingExtraError
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
    own = [command.name or "" for command in group.registered_commands]
    found = added(parent, own)
    for name, does in found.items():
        group.command(name)(verb(does))
    for name in OF_EXTRAS:
        above, _, last = name.rpartition(".")
        if above == parent and last not in found:
            group.command(last, hidden=True, context_settings=ANYTHING, add_help_option=False)(absent(name))


def one(name: str) -> Callable[..., None]:
    """Return the function of a verb of an extra, as ``predict.throughput``.

    Raises
    ------
    MissingExtraError
        It is not installed.
    """
    parent, _, own = name.rpartition(".")
    found: Callable[..., None] | None = added(parent).get(own)
    if found is None:
        raise _missing(name)
    return found


def absent(name: str) -> Callable[[], None]:
    """A verb that says which extra has the verb of this name, as ``design.rio``."""

    def say() -> None:
        raise _missing(name)

    return verb(say)


def _missing(name: str) -> MissingExtraError:
    extra, distribution = OF_EXTRAS[name]
    return missing(extra, name.replace(".", " "), distribution)
