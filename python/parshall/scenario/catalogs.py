"""The catalogs: the names that scenarios, sweeps and questions may use, with what is known of each entry.

>>> names("queues")[:2]
['drop_tail', 'red']
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from parshall.foundations.errors import InputError
from parshall.scenario.schema import catalog
from parshall.scenario.schema.problems import did_you_mean, quoted

__all__ = ["entries", "families", "names"]

Entries = list[dict[str, Any]]


def families() -> list[str]:
    """Return the names of all catalogs."""
    return list(_families())


def names(family: str) -> list[str]:
    """Return the names of the entries of a catalog, in its order.

    Raises
    ------
    InputError
        There is no such catalog.
    """
    return [str(each["name"]) for each in entries(family)]


def entries(family: str) -> Entries:
    """Return the entries of a catalog: each with its name, a summary, a reference, and what else is known of it.

    Parameters
    ----------
    family
        One of `families`.

    Raises
    ------
    InputError
        There is no such catalog.
    """
    known = _families()
    if family not in known:
        raise InputError(f'catalog: found "{family}"; accepted: {quoted(known)}{did_you_mean(family, list(known))}')
    return known[family]()


def _families() -> Mapping[str, Callable[[], Entries]]:
    return {
        **{name: _of_rust(name) for name in catalog.families()},
        "models": lambda: import_module("parshall.analysis.models.catalog").catalog(),
        "quantities": _quantities,
        "studies": lambda: _cited(import_module("parshall.studies.catalog").studies()),
        "suites": lambda: _cited(import_module("parshall.studies.catalog").suites()),
        "records": _records,
        "scenarios": _scenarios,
    }


def _of_rust(name: str) -> Callable[[], Entries]:
    return lambda: [asdict(entry) for entry in catalog.family(name)]


def _quantities() -> Entries:
    ours = import_module("parshall.results.quantities.catalog").OURS.values()
    own = import_module("parshall.results.quantities.own").defined()
    return [
        {"name": f"{_PREFIX[each.per]}{each.key}", "summary": f"{each.label} ({each.unit})", "reference": ""}
        for each in (*ours, *own)
    ]


_PREFIX = {"run": "", "link": "link/NAME/", "group": "group/NAME/", "flow": "flow/NUMBER/"}


def _cited(listed: Any) -> Entries:
    return [{"name": each.name, "summary": each.summary, "reference": each.reference} for each in listed]


def _records() -> Entries:
    tables = import_module("parshall.results.records.schema").tables()
    return [{**each, "summary": each["description"], "reference": ""} for each in tables]


def _scenarios() -> Entries:
    shipped = import_module("parshall.scenario.templates.shipped").shipped()
    return [
        {"name": each.name, "summary": each.summary, "reference": f"parshall {each.command} {each.name}"}
        for each in shipped
    ]
