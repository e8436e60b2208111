"""The verbs, put together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer

from parshall.cli.added import ANYTHING, OF_EXTRAS, WithVerbs, absent, added
from parshall.cli.panels import line_of, order_of, panel_of
from parshall.cli.verb import Commands, verb

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
        of_packages = added("", VERBS)
        for name, does in of_packages.items():
            _add(made, name, does if isinstance(does, typer.Typer) else verb(does))
        for name in OF_EXTRAS:
            if "." not in name and name not in of_packages:
                made.command(name, hidden=True, context_settings=ANYTHING, add_help_option=False)(absent(name))
    return made


def _add(made: typer.Typer, name: str, does: Any) -> None:
    panel, line = panel_of(name), line_of(name)
    if isinstance(does, typer.Typer):
        made.add_typer(does, name=name, short_help=line, rich_help_panel=panel)
    else:
        of_extras = any(each.startswith(f"{name}.") for each in OF_EXTRAS)
        made.command(name, cls=WithVerbs if of_extras else None, short_help=line, rich_help_panel=panel)(does)


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
