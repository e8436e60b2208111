"""The verbs, put together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from parshall.cli.console import Commands, verb
from parshall.foundations import plugins
from parshall.foundations.errors import InputError

VERBS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "run"),
    "rerun": ("rerun", "rerun"),
    "open": ("open", "open_"),
    "emulate": ("emulate", "emulate"),
    "shell": ("shell", "shell"),
    "replay": ("replay", "replay"),
    "observe": ("observe", "observe"),
    "list": ("listing", "list_"),
    "schema": ("schema", "schema"),
    "validate": ("validate", "validate"),
    "check-control": ("check_control", "check_control"),
    "predict": ("predict", "predict"),
    "ask": ("ask", "ask"),
    "explore": ("explore", "explore"),
    "report": ("report", "report"),
    "figure": ("figure", "figure"),
    "card": ("card", "card"),
    "compare": ("compare", "compare"),
    "sweep": ("sweep", "sweep"),
    "query": ("query", "query"),
    "store": ("store", "store"),
    "study": ("study", "study"),
    "suite": ("suite", "suite"),
    "itb": ("itb", "itb"),
    "design": ("design", "design"),
    "new": ("new", "new"),
    "doctor": ("doctor", "doctor"),
}
"""The module of each verb, and its name there, in the order of the help."""


def needed(arguments: Collection[str]) -> Collection[str]:
    """The verbs that a command line needs, of these arguments: the one that it begins with; else all, for their help.

    Of each verb Typer builds all options before it reads the first, which takes longer than most verbs.

    Examples
    --------
    >>> needed(["run", "quickstart.toml"]), needed(["--version"]), len(needed(["--help"])) == len(VERBS)
    (['run'], [], True)
    """
    first = next(iter(arguments), "")
    return [first] if first in VERBS else [] if first == "--version" else list(VERBS)


def application(verbs: Collection[str]) -> typer.Typer:
    """The command line with some of the verbs; with all, those of installed packages are among them."""
    made = typer.Typer(
        name="parshall",
        cls=Commands,
        help="Predict, simulate, emulate and observe how transport protocols share a bottleneck.",
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    made.callback()(root)
    for name in verbs:
        module, attribute = VERBS[name]
        _add(made, name, getattr(import_module(f"parshall.cli.{module}"), attribute))
    if set(verbs) == set(VERBS):
        for name, added in _of_packages():
            _add(made, name, added)
    return made


def _add(made: typer.Typer, name: str, does: Any) -> None:
    if isinstance(does, typer.Typer):
        made.add_typer(does, name=name)
    else:
        made.command(name)(does)


def _of_packages() -> Iterator[tuple[str, Any]]:
    """The verbs that installed packages add, by their names."""
    taken = set(VERBS)
    for where, name, added in plugins.loaded("verbs", "verb"):
        if name in taken:
            raise InputError(f'{where}: there is a verb "{name}" already; choose another name')
        if not callable(added):
            raise InputError(f"{where}: found {added!r}; accepted: a function, or a typer.Typer")
        taken.add(name)
        yield name, added if isinstance(added, typer.Typer) else verb(added)


def root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Predict, simulate, emulate and observe how transport protocols share a bottleneck."""
    if version:
        from parshall.foundations.version import __version__

        print(f"parshall {__version__}")
    elif context.invoked_subcommand is None:
        print(context.get_help())
