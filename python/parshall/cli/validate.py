"""``parshall validate``: check scenarios without running them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import BAD_INPUT, print_json
from parshall.cli.groups import Changes, Printed
from parshall.cli.verb import verb


@verb
def validate(
    scenarios: Annotated[list[Path], typer.Argument(help="Scenarios in TOML.", show_default=False)],
    *,
    changes: Changes,
    printed: Printed,
) -> None:
    """Check scenarios without running them: units, names, files, and that their parts fit together."""
    checked = {str(path): _checked(path, changes) for path in scenarios}
    if printed.as_json:
        print_json([{"file": path, "valid": not verdict["problems"], **verdict} for path, verdict in checked.items()])
    for path, verdict in checked.items():
        for problem in verdict["problems"]:
            print(f"parshall: {path}: {problem}", file=sys.stderr)
        for warning in verdict["warnings"]:
            print(f"parshall: {path}: warning: {warning}", file=sys.stderr)
        if not (verdict["problems"] or printed.silent):
            print(f"{path}: valid")
    if any(verdict["problems"] for verdict in checked.values()):
        raise typer.Exit(BAD_INPUT)


def _checked(path: Path, changes: Changes) -> dict[str, list[str]]:
    """Return the errors of a scenario, or else the reasons to doubt its numbers."""
    from parshall.foundations.errors import ScenarioError

    try:
        return {"problems": [], "warnings": changes.scenario(path).warnings()}
    except ScenarioError as error:
        return {"problems": error.problems, "warnings": []}
