"""``parshall list``: every catalog, straight from where it is defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from parshall.cli import completion
from parshall.cli.console import console, print_json, table
from parshall.cli.options import Json
from parshall.cli.verb import verb


@verb
def list_(
    family: Annotated[
        str | None,
        typer.Argument(
            help="A family such as controls, or an entry such as cubic, with its parameters.",
            show_default=False,
            autocompletion=completion.listed,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the catalogs: congestion controls, queues, workloads, models, scenarios and more."""
    from parshall.scenario import catalogs

    families = catalogs.families()
    if family is None:
        _print({name: catalogs.entries(name) for name in families}, as_json=as_json, show=_show_all)
        return
    name = _family(family)
    if name in families:
        _print({name: catalogs.entries(name)}, as_json=as_json, show=_show_each, alone=True)
        return
    wanted = family.casefold()
    listed = {kind: catalogs.entries(kind) for kind in families}
    entries = {
        kind: matching for kind, all_ in listed.items() if (matching := [e for e in all_ if e["name"] == wanted])
    }
    if entries:
        _print(entries, as_json=as_json, show=_show_each)
        return
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.problems import did_you_mean, quoted

    raise InputError(
        f'list: found "{family}"; accepted: {quoted(families)}, or the name of an entry'
        f"{did_you_mean(name, [*families, *(each['name'] for all_ in listed.values() for each in all_)])}"
    )


SHORT = {"controls": "congestion_controls", "congestion": "congestion_controls"}
"""Families by shorter names."""


def _family(given: str) -> str:
    """Return the name of a family as the catalogs have it: case and dashes do not matter."""
    name = given.casefold().replace("-", "_")
    return SHORT.get(name, name)


def _print(
    listed: Mapping[str, list[dict[str, Any]]],
    *,
    as_json: bool,
    show: Callable[[Mapping[str, list[dict[str, Any]]]], None],
    alone: bool = False,
) -> None:
    """Print entries by family as JSON, of one family `alone` without its name; or show them."""
    if not as_json:
        show(listed)
    else:
        print_json(next(iter(listed.values())) if alone else listed)


def _show_each(listed: Mapping[str, list[dict[str, Any]]]) -> None:
    for name, entries in listed.items():
        _show_one(name, entries)


def _show_all(listed: Mapping[str, list[dict[str, Any]]]) -> None:
    from rich.text import Text

    out = console()
    for name, entries in listed.items():
        shown = table(name, "name", "what", "reference")
        for entry in entries:
            shown.add_row(entry["name"], entry["summary"], entry["reference"])
        out.print(shown if entries else Text.assemble((name, "bold"), ": none yet"))
        out.print()


def _show_one(name: str, entries: list[dict[str, Any]]) -> None:
    from rich.text import Text

    out = console()
    for entry in entries:
        reference = f" ({entry['reference']})" if entry.get("reference") else ""
        line = Text.assemble((entry["name"], "bold"), f": {entry['summary']}", (reference, "dim"))
        out.print(line, soft_wrap=True)
        if entry.get("parameters"):
            shown = table("", "parameter", "default", "what")
            shown.title = None
            for parameter in entry["parameters"]:
                default = "(required)" if parameter["default"] is None else parameter["default"]
                shown.add_row(f"  {parameter['name']}", default, parameter["description"])
            out.print(shown)
        if entry.get("variables"):
            shown = table("", "inner variable", "unit", "what")
            shown.title = None
            for variable in entry["variables"]:
                shown.add_row(f"  {variable['name']}", variable["unit"], variable["description"])
            out.print(shown)
        if entry.get("columns"):
            shown = table("", "column", "type", "unit", "what")
            shown.title = None
            for column in entry["columns"]:
                shown.add_row(f"  {column['name']}", column["type"], column["unit"], column["description"])
            out.print(shown)
        out.print()
    if not entries:
        out.print(f"{name}: none yet")
