"""A run: the result of a scenario whose packets went through a network, simulated or emulated."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from parshall.results.records import Result, storage

if TYPE_CHECKING:
    import polars as pl

    from parshall.scenario import Scenario


class Run(Result):
    """The result of a scenario: a `Result` that knows its scenario and its summary."""

    instruments = ("simulate", "emulate")

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario, every default filled in."""
        from parshall.scenario import Scenario  # noqa: PLC0415 - it takes a while, and many a run is only measured
        from parshall.scenario.schema import external  # noqa: PLC0415

        external.remember(self.metadata.get("controls", ()))
        scenario = Scenario(**self.metadata["scenario"])
        return scenario.placed(self.metadata["folder"], self.metadata["scenario_file"])

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Return the summary of the run; `parshall.instruments.simulation.summary` explains each key.

        Quantities are computed again if they were computed by other code.
        """
        from parshall.instruments.simulation.summary import estimated, of_this_code  # noqa: PLC0415 - most runs are only read

        stored: dict[str, Any] = self.metadata["summary"]
        if self.metadata.get("quantities") == of_this_code():
            return dict(stored)
        return stored | estimated(self.tables)

    @property
    def links(self) -> pl.DataFrame:
        """One row a link."""
        return self._required("links")

    @property
    def totals(self) -> list[dict[str, Any]]:
        """Totals of each repetition: events, CPU time, packets of each link."""
        return [self._totals(folder / storage.TOTALS_FILE) for folder in self._folders()]

    @property
    def ends_s(self) -> Mapping[int, float]:
        """End of each repetition, in s."""
        if self.directory is None:
            return super().ends_s
        return {int(each["repetition"]): float(each["simulated_s"]) for each in self.totals}

    def captures(self, link: str) -> list[Path]:
        """The captures of a link, one a repetition (`probes.pcap`; docs/captures.md).

        Parameters
        ----------
        link
            Its name.

        Raises
        ------
        RunNotFoundError
            It was not captured, or a file is not what was written.
        """
        return self.files(f"captures/{link}.pcap")

    def qlogs(self, group: str, flow: int) -> list[Path]:
        """The logs of a flow, one a repetition (`probes.qlog`; docs/captures.md).

        Parameters
        ----------
        group
            The name of its group.
        flow
            Its number, as in the tables.

        Raises
        ------
        RunNotFoundError
            It was not logged, or a file is not what was written.
        """
        return self.files(f"qlog/{group}-{flow}.sqlog")

    def _totals(self, path: Path) -> dict[str, Any]:
        self._check(path)
        try:
            totals: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise storage.damaged(path) from None
        return totals

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the numbers, and figures."""
        shown: str = import_module("parshall.report.page").summary_html(self)
        return shown
