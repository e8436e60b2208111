"""The key ``rules``: the policies in which Linux's TCP and the RFCs differ, and the form that each of them has.

>>> names()[:3]
('acks', 'sack_compression', 'receive_buffer')
>>> table({"base": "linux", "undo": "rfc"})["undo"], table("linux")["undo"]
('rfc', 'linux')
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.scenario.schema.catalog import policies
from parshall.scenario.schema.problems import did_you_mean, quoted, shown

FORMS = ("rfc", "linux")
"""The forms that a policy can have, and the bundles of all policies in one form."""
BASE = "base"
"""The key of the bundle from which a table differs."""


def names() -> tuple[str, ...]:
    """The names of all policies, in the order of the documentation."""
    return tuple(policy.name for policy in policies())


def read(value: object) -> str | dict[str, str]:
    """A value of the key as a scenario gives it.

    Raises
    ------
    ValueError
        It is neither a bundle's name nor a table of policies and forms.
    """
    match value:
        case str():
            return _form(value, "")
        case dict():
            return {_key(key): _form(form, f"{key}: ") for key, form in value.items()}
        case _:
            raise ValueError(f'found {shown(value)}; accepted: {quoted(FORMS)}, or a table, e.g. {{undo = "rfc"}}')


def _form(value: object, where: str) -> str:
    if isinstance(value, str) and value in FORMS:
        return value
    table_too = "" if where else ', or a table, e.g. {base = "linux", undo = "rfc"}'
    raise ValueError(f"{where}found {shown(value)}; accepted: {quoted(FORMS)}{table_too}{did_you_mean(value, FORMS)}")


def _key(key: object) -> str:
    accepted = (BASE, *names())
    if isinstance(key, str) and key in accepted:
        return key
    raise ValueError(
        f"found {shown(key)}, which is no policy; accepted: {quoted(accepted)}{did_you_mean(key, accepted)}"
    )


def table(value: str | Mapping[str, str], base: str = FORMS[0]) -> dict[str, str]:
    """The form of each policy.

    Parameters
    ----------
    value
        As a scenario gives it.
    base
        The bundle from which a table without `BASE` differs.
    """
    given = {BASE: value} if isinstance(value, str) else value
    return {name: given.get(name, given.get(BASE, base)) for name in names()}


def schema() -> dict[str, Any]:
    """The JSON Schema of the key's values."""
    form = {"enum": list(FORMS), "type": "string"}
    known: dict[str, Any] = {BASE: {**form, "description": "What the other policies have"}}
    known |= {policy.name: {**form, "description": policy.summary} for policy in policies()}
    return {"anyOf": [form, {"type": "object", "properties": known, "additionalProperties": False}]}
