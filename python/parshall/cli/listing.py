"""``parshall list``: every catalog, straight from where it is defined."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from parshall.cli import completion
from parshall.cli.console import Json, console, print_json, table, verb


@verb
def list_(
    family: Annotated[
        str | None,
        typer.Argument(
            help="One family, or one entry such as cubic, with its parameters.",
            show_default=False,
            autocompletion=completion.listed,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List what scenarios can be made of: congestion controls, queues, workloads, ..."""
    families = _families()
    if family is None:
        listed = {name: entries() for name, entries in families.items()}
        if as_json:
            print_json(listed)
        else:
            _show_all(listed)
        return
    name = family.replace("-", "_")
    if name not in families:
        entries = {
            kind: matching
            for kind, listed in families.items()
            if (matching := [each for each in listed() if each["name"] == family])
        }
        if entries:
            if as_json:
                print_json(entries)
            else:
                for kind, matching in entries.items():
                    _show_one(kind, matching)
            return
        from parshall.foundations.errors import InputError
        from parshall.scenario.schema.problems import did_you_mean, quoted

        raise InputError(
            f'list: found "{family}"; '
            f"accepted: {quoted(families)}, or the name of an entry"
            f"{did_you_mean(name, [*families, *(each['name'] for listed in families.values() for each in listed())])}"
        )
    if as_json:
        print_json(families[name]())
    else:
        _show_one(name, families[name]())


def _families() -> Mapping[str, Callable[[], list[dict[str, Any]]]]:
    from parshall.scenario.schema import catalog

    return {
        **{name: _of_rust(name) for name in catalog.families()},
        "models": _models,
        "studies": _studies,
        "suites": _suites,
        "records": _records,
        "scenarios": _scenarios,
    }


def _of_rust(name: str) -> Callable[[], list[dict[str, Any]]]:
    def entries() -> list[dict[str, Any]]:
        from dataclasses import asdict

        from parshall.scenario.schema import catalog

        return [asdict(entry) for entry in catalog.family(name)]

    return entries


def _models() -> list[dict[str, Any]]:
    from parshall.analysis.models.catalog import catalog

    return catalog()


def _studies() -> list[dict[str, Any]]:
    from parshall.studies.catalog import studies

    return [{"name": study.name, "summary": study.summary, "reference": study.reference} for study in studies()]


def _suites() -> list[dict[str, Any]]:
    from parshall.studies.catalog import suites

    return [{"name": suite.name, "summary": suite.summary, "reference": suite.reference} for suite in suites()]


def _records() -> list[dict[str, Any]]:
    from parshall.results.records.schema import tables

    return [{**each, "summary": each["description"], "reference": ""} for each in tables()]


def _scenarios() -> list[dict[str, Any]]:
    from parshall.scenario.templates.shipped import shipped

    return [
        {"name": each.name, "summary": each.summary, "reference": f"parshall {each.command} {each.name}"}
        for each in shipped()
    ]


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
