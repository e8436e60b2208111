"""``parshall validate``: check scenarios without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import (
    BAD_INPUT,
    Controls,
    Json,
    Overrides,
    Quiet,
    declare_controls,
    print_json,
    verb,
)


@verb
def validate(
    scenarios: Annotated[list[Path], typer.Argument(help="Scenarios in TOML.", show_default=False)],
    overrides: Overrides = None,
    controls: Controls = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check scenarios: units, names, files, and whether their parts fit together."""
    declare_controls(controls)
    checked = {str(path): _checked(path, overrides or []) for path in scenarios}
    if as_json:
        print_json([{"file": path, "valid": not verdict["problems"], **verdict} for path, verdict in checked.items()])
    for path, verdict in checked.items():
        for problem in verdict["problems"]:
            print(f"parshall: {path}: {problem}", file=sys.stderr)
        for warning in verdict["warnings"]:
            print(f"parshall: {path}: warning: {warning}", file=sys.stderr)
        if not (verdict["problems"] or as_json or quiet):
            print(f"{path}: valid")
    if any(verdict["problems"] for verdict in checked.values()):
        raise typer.Exit(BAD_INPUT)


def _checked(path: Path, overrides: list[str]) -> dict[str, list[str]]:
    """What keeps a scenario from running, or else what its numbers suffer from."""
    from parshall.foundations.errors import ScenarioError
    from parshall.scenario import Scenario

    try:
        return {"problems": [], "warnings": Scenario.load(path, overrides).warnings()}
    except ScenarioError as error:
        return {"problems": error.problems, "warnings": []}
