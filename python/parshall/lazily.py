"""Packages whose names are imported when they are asked for: commands and workers need few of them, and start fast."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def named(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """A package's ``__getattr__`` (PEP 562).

    Parameters
    ----------
    package
        The package's ``__name__``.
    homes
        The module that defines each of its names. A name must not be that of a module of the package as well: importing
        the module would hide it.
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return find
