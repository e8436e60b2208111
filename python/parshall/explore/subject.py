"""The subject of the explorer: a scenario, a result, a folder of results or a store of sweeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from parshall.scenario import Scenario


@dataclass(frozen=True)
class Base:
    """A scenario as it was when the exploration began.

    Parameters
    ----------
    document
        Its tables, without defaults.
    folder
        Where its relative paths start.
    source
        Its file.
    command
        What runs it, without changes: ``parshall run quickstart.toml``.
    """

    document: Mapping[str, Any]
    folder: str
    source: str | None
    command: str

    def scenario(self) -> Scenario:
        """The scenario itself."""
        from parshall.scenario import Scenario  # noqa: PLC0415 - who serves pages does not need it

        return Scenario.from_document(self.document, self.folder, self.source)


@dataclass(frozen=True)
class Subject:
    """The subject of the explorer.

    Parameters
    ----------
    base
        The scenario, if there is one.
    results
        The directory whose results are listed, if there is one.
    save_in
        The directory into which scenarios may be saved, if there is one.
    """

    base: Base | None
    results: str | None
    save_in: str | None = None


def named_tables(scenario: Scenario) -> dict[str, Any]:
    """The tables of a scenario, and its name: a file need not say it."""
    return {"name": scenario.name, **scenario.document()}
