"""``parshall schema``: the JSON Schema of scenarios."""

from __future__ import annotations

from parshall.cli.console import print_json, verb


@verb
def schema() -> None:
    """Print the JSON Schema of scenario files; editors complete and check TOML with it."""
    from parshall.scenario import Scenario

    print_json(Scenario.json_schema())
