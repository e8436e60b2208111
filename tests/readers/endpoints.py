"""Scenarios for what holds of TCP as the RFCs have it: formulas, other simulators, rules of one RFC."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.scenario.schema.catalog import sends_datagrams


def of_the_rfcs(scenario: Mapping[str, Any]) -> dict[str, Any]:
    """The tables of a scenario in which the groups that name no TCP have that of the RFCs; datagrams have none."""
    return {
        **scenario,
        "flows": [group if _has_none(group) else {"tcp": "rfc", **group} for group in scenario["flows"]],
    }


def _has_none(group: Mapping[str, Any]) -> bool:
    load = group.get("workload", "bulk")
    return sends_datagrams(load if isinstance(load, str) else load["name"])
