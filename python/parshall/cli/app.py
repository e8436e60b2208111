"""The verbs, put together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from parshall.cli.panels import line_of, order_of, panel_of
from parshall.cli.verb import Commands, verb
from parshall.foundations import plugins
from parshall.foundations.errors import InputError
from parshall.foundations.extras import missing

VERBS: Mapping[str, tuple[str, str]] = {
    "run": ("run", "run"),
    "rerun": ("rerun", "rerun"),
    "open": ("open", "open_"),
    "emulate": ("emulate", "emulate"),
    "shell": ("shell", "shell"),
    "replay": ("replay", "replay"),
    "observe": ("observe", "observe"),
    "infer": ("infer", "infer"),
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
    "design": ("design", "design"),
    "new": ("new", "new"),
    "doctor": ("doctor", "doctor"),
}
"""The module of each verb, and its name there; `parshall.cli.panels` has their order in the help."""

OF_EXTRAS: Mapping[str, tuple[str, str]] = {"itb": ("studies", "parshall-studies")}
"""Verbs of distributions that an extra installs: the extra, and the distribution."""


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
    for name in sorted(verbs, key=order_of):
        module, attribute = VERBS[name]
        _add(made, name, getattr(import_module(f"parshall.cli.{module}"), attribute))
    if set(verbs) == set(VERBS):
        added = dict(_of_packages())
        for name, does in added.items():
            _add(made, name, does)
        for name in OF_EXTRAS.keys() - added.keys():
            made.command(name, hidden=True, context_settings=_ANYTHING, add_help_option=False)(_absent(name))
    return made


_ANYTHING = {"allow_extra_args": True, "ignore_unknown_options": True}


def _absent(name: str) -> Callable[[], None]:
    """A verb that says which extra has it."""

    def say() -> None:
        raise missing(OF_EXTRAS[name][0], name, OF_EXTRAS[name][1])

    return verb(say)


def _add(made: typer.Typer, name: str, does: Any) -> None:
    panel, line = panel_of(name), line_of(name)
    if isinstance(does, typer.Typer):
        made.add_typer(does, name=name, short_help=line, rich_help_panel=panel)
    else:
        made.command(name, short_help=line, rich_help_panel=panel)(does)


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
