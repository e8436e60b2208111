"""The keys of a scenario, as tables: from the schema, so that they cannot say anything else."""

from __future__ import annotations

import json
from typing import Any

from parshall.scenario import Scenario
from parshall.scenario.schema.flows import TCP_PARAMETERS
from parshall.scenario.schema.profiles import LINUX, RFC
from tools.documentation.markdown import table

_TCP = frozenset(parameter.name for parameter in TCP_PARAMETERS)
_ELSEWHERE = dict.fromkeys(("Bottleneck", "ReverseLink", "Probes", "KernelOptions"), "a table, see below")
_FAMILIES = {
    "queue": "[queue](catalogs.md#queues)",
    "marker": "[marker](catalogs.md#markers)",
    "loss": "[loss](catalogs.md#losses)",
    "jitter": "[jitter](#jitter)",
    "reverse_jitter": "[jitter](#jitter)",
    "distribution": "[distribution](catalogs.md#distributions) of times",
    "congestion_control": "[congestion control](catalogs.md#congestion-controls)",
    "workload": "[workload](catalogs.md#workloads)",
    "rules": '`"rfc"`, `"linux"`, or [a table](linux.md#rules-one-by-one)',
    "rtt": "duration, or [one a flow](#one-value-a-flow)",
    "start": "duration, or [one a flow](#one-value-a-flow)",
}
_QUANTITIES = {
    "h|packets": "duration, or packets' time",
    "bit/s": "rate",
    "ms": "duration",
    "BDP": "queue limit",
    "packets": "packets or size",
    "GiB": "size",
}
"""Quantities, by a unit that only their pattern has (the first that fits)."""


def scenario_keys() -> str:
    """The keys at the top level."""
    schema = Scenario.json_schema()
    return _table(schema, schema, schema["properties"])


def link_keys() -> str:
    """The keys of ``[bottleneck]`` and ``[[links]]``."""
    schema = Scenario.json_schema()
    link = schema["$defs"]["NamedLink"]
    bottleneck = schema["$defs"]["Bottleneck"]
    own = {"name": link["properties"]["name"], "reverse": bottleneck["properties"]["reverse"]}
    shared = {name: link["properties"][name] for name in link["properties"] if name not in own}
    where = {"name": " (only in `[[links]]`, required there)", "reverse": " (only in `[bottleneck]`)"}
    return _table(schema, {"required": []}, {**shared, **own}, where)


def jitter_keys() -> str:
    """The keys of ``jitter`` and ``reverse_jitter``."""
    schema = Scenario.json_schema()
    jitter = schema["$defs"]["Jitter"]
    return _table(schema, jitter, jitter["properties"])


def flow_keys() -> str:
    """The keys of ``[[flows]]``, without the TCP endpoint's."""
    schema = Scenario.json_schema()
    group = schema["$defs"]["FlowGroup"]
    return _table(schema, group, {name: each for name, each in group["properties"].items() if name not in _TCP})


def tcp_keys() -> str:
    """The keys of ``[[flows]]`` that are parameters of the TCP endpoint."""
    schema = Scenario.json_schema()
    group = schema["$defs"]["FlowGroup"]
    return _table(schema, group, {name: each for name, each in group["properties"].items() if name in _TCP})


def kernel_keys() -> str:
    """The keys of ``[flows.kernel]``."""
    schema = Scenario.json_schema()
    options = schema["$defs"]["KernelOptions"]
    return _table(schema, options, options["properties"])


def probe_keys() -> str:
    """The keys of ``[probes]``."""
    schema = Scenario.json_schema()
    probes = schema["$defs"]["Probes"]
    return _table(schema, probes, probes["properties"])


def _table(
    schema: dict[str, Any], owner: dict[str, Any], properties: dict[str, Any], notes: dict[str, str] | None = None
) -> str:
    required = owner.get("required", [])
    rows = []
    for name, each in properties.items():
        default = "required" if name in required else _defaults(name, each.get("default"))
        form = _FAMILIES.get(name) or _form(schema, each)
        rows.append((f"`{name}`", form, default, each.get("description", "") + (notes or {}).get(name, "")))
    return table(("key", "value", "default", "what"), rows)


def _defaults(name: str, value: Any) -> str:
    """The default; of a key that is another with TCP of the RFCs, both."""
    if LINUX.defaults.get(name, value) == value:
        return _default(value)
    return f"{_default(LINUX.defaults[name])}; `{RFC}`: {_default(value)}"


def _default(value: Any) -> str:
    return "" if value is None or isinstance(value, dict) else f"`{json.dumps(value)}`"


def _form(schema: dict[str, Any], each: dict[str, Any]) -> str:
    """Return the accepted values, in a few words."""
    if "$ref" in each:
        return _ELSEWHERE.get(each["$ref"].rpartition("/")[2], "tables")
    if "anyOf" in each:
        options = (_form(schema, option) for option in each["anyOf"] if option.get("type") != "null")
        return ", or ".join(dict.fromkeys(options))
    if "enum" in each:
        return ", ".join(f"`{json.dumps(value)}`" for value in each["enum"])
    if "const" in each:
        return f"`{json.dumps(each['const'])}`"
    if each.get("type") == "array":
        return "tables, see below" if "$ref" in each["items"] else f"list: {_form(schema, each['items'])}"
    if "pattern" in each and "examples" in each:
        return next(kind for unit, kind in _QUANTITIES.items() if unit in each["pattern"])
    return _plain(each)


def _plain(each: dict[str, Any]) -> str:
    names = {
        "string": "text",
        "integer": "whole number",
        "number": "number",
        "boolean": "`true`, `false`",
        "object": "table",
    }
    form = names[each["type"]]
    if each["type"] == "integer" and each.get("minimum"):
        form += f", {each['minimum']} or more"
    return form
