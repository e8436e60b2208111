"""``parshall schema``: the JSON Schema of scenarios and of sweeps."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from parshall.cli.console import print_json
from parshall.cli.verb import verb


class Kind(StrEnum):
    """Kinds of files that have a schema."""

    SCENARIO = "scenario"
    SWEEP = "sweep"


@verb
def schema(kind: Annotated[Kind, typer.Argument(help="The kind of files.")] = Kind.SCENARIO) -> None:
    """Print the JSON Schema of scenario or sweep files; editors complete and check TOML with it."""
    if kind is Kind.SWEEP:
        from parshall.campaign import Plan

        print_json(Plan.json_schema())
    else:
        from parshall.scenario import Scenario

        print_json(Scenario.json_schema())
