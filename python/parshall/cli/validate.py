"""``parshall validate``: check scenarios without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import BAD_INPUT, Json, Overrides, Quiet, print_json, verb


@verb
def validate(
    scenarios: Annotated[list[Path], typer.Argument(help="Scenarios in TOML.", show_default=False)],
    overrides: Overrides = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check scenarios: units, names, files, and whether their parts fit together."""
    problems = {str(path): _problems(path, overrides or []) for path in scenarios}
    if as_json:
        print_json([{"file": path, "valid": not found, "problems": found} for path, found in problems.items()])
    for path, found in problems.items():
        for problem in found:
            print(f"parshall: {path}: {problem}", file=sys.stderr)
        if not (found or as_json or quiet):
            print(f"{path}: valid")
    if any(problems.values()):
        raise typer.Exit(BAD_INPUT)


def _problems(path: Path, overrides: list[str]) -> list[str]:
    from parshall.errors import ScenarioError
    from parshall.scenario import Scenario

    try:
        Scenario.load(path, overrides)
    except ScenarioError as error:
        return error.problems
    return []
