"""A run that was made: its description, its tables, its summary."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from parshall.errors import RunNotFoundError
from parshall.quantities.tables import Tables, backward, directed
from parshall.runs import storage
from parshall.scenario import Scenario
from parshall.schema import external

if TYPE_CHECKING:
    from parshall.quantities.measuring import Metric


_ATTRIBUTES = frozenset(
    {"flows", "links", "transfers", "rounds", "flow_samples", "link_samples", "internals"}
    | {"groups", "latency_histogram", "delay_histogram"}
)
"""Tables that a run has as attributes, and reads once."""


class Run:
    """What a scenario gave.

    Tables are Polars frames (``run.flows.to_pandas()`` for pandas), with a ``repetition`` column; one that was not
    recorded is None. The columns and their units: ``parshall list records``.

    Parameters
    ----------
    directory
        The run directory.
    metadata
        The content of its ``run.json``.
    """

    def __init__(self, directory: Path, metadata: Mapping[str, Any]) -> None:
        self.directory = directory
        self.metadata = metadata
        self._checked: set[Path] = set()

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a run.

        Raises
        ------
        RunNotFoundError
            The directory holds no run, or one that was killed before it ended.
        """
        path = Path(directory)
        return cls(path, storage.read_run(path))

    @cached_property
    def scenario(self) -> Scenario:
        """The scenario, every default filled in."""
        external.remember(self.metadata.get("controls", ()))
        scenario = Scenario(**self.metadata["scenario"])
        return scenario.placed(self.metadata["folder"], self.metadata["scenario_file"])

    @property
    def status(self) -> str:
        """``complete``, or ``interrupted``: then some repetitions are missing."""
        return str(self.metadata["status"])

    @property
    def repetitions(self) -> list[int]:
        """The repetitions that were finished."""
        return list(self.metadata["repetitions_finished"])

    @cached_property
    def tables(self) -> Tables:
        """What quantities are computed from."""
        # Another object of the same content reads them: a circle would keep a temporary run that nobody uses any more.
        reader = object.__new__(type(self))
        reader.__dict__ = self.__dict__
        return Tables(directed(reader._held, backward(self.metadata["scenario"])))

    def _held(self, name: str) -> pl.DataFrame | None:
        """A table, read once where it is one of the attributes below."""
        table: pl.DataFrame | None = getattr(self, name) if name in _ATTRIBUTES else self.table(name)
        return table

    @cached_property
    def summary(self) -> dict[str, Any]:
        """What the run is summarised by; `parshall.runs.summary` explains each.

        Quantities are computed again if they were computed by other code.
        """
        from parshall.runs.summary import estimated, of_this_code  # noqa: PLC0415 - most runs are only read

        stored: dict[str, Any] = self.metadata["summary"]
        if self.metadata.get("quantities") == of_this_code():
            return dict(stored)
        return stored | estimated(self.tables)

    def measured(self, name: str) -> Metric:
        """A quantity: its ``interval`` (mean, low, high), ``label``, ``unit``, and ``values`` by repetition.

        Parameters
        ----------
        name
            ``goodput_bps``, ``group/web/rtt_s``, ``link/uplink/loss_rate``, ``flow/3/goodput_bps``, or one of your own.

        Raises
        ------
        InputError
            No quantity has that name, or the run has no value of it.
        """
        from parshall.quantities.measuring import measured  # noqa: PLC0415 - it takes a while to load

        return measured(self.tables, name)

    @property
    def predicted(self) -> Sequence[Any]:
        """The analytic models' answers, one row each (`parshall.predict.flatten`)."""
        return list(self.metadata["predicted"])

    @property
    def totals(self) -> list[dict[str, Any]]:
        """Totals of each repetition: events, CPU time, packets of each link."""
        folders = (self.directory / storage.REPETITIONS / f"{number:04d}" for number in self.repetitions)
        return [self._totals(folder / storage.TOTALS_FILE) for folder in folders]

    def _totals(self, path: Path) -> dict[str, Any]:
        self._check(path)
        try:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise storage.damaged(path) from None
        return found

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row a flow."""
        return self._required("flows")

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row a link."""
        return self._required("links")

    @cached_property
    def transfers(self) -> pl.DataFrame | None:
        """One row a transfer."""
        return self.table("transfers")

    @cached_property
    def rounds(self) -> pl.DataFrame | None:
        """One row a round trip of a flow."""
        return self.table("rounds")

    @cached_property
    def flow_samples(self) -> pl.DataFrame | None:
        """Windows and round-trip times of sampled flows over time."""
        return self.table("flow_samples")

    @cached_property
    def link_samples(self) -> pl.DataFrame | None:
        """Binned series of each link."""
        return self.table("link_samples")

    @cached_property
    def internals(self) -> pl.DataFrame | None:
        """Inner variables of congestion controls and queues over time."""
        return self.table("internals")

    @cached_property
    def groups(self) -> pl.DataFrame | None:
        """Latency of each group of flows: one-way delays, jitter, round-trip times."""
        return self.table("groups")

    @cached_property
    def latency_histogram(self) -> pl.DataFrame | None:
        """One-way delays and round-trip times of each group, counted in bins."""
        return self.table("latency_histogram")

    @cached_property
    def delay_histogram(self) -> pl.DataFrame | None:
        """Queueing delays of each link, counted in bins."""
        return self.table("delay_histogram")

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
        return self._beside(f"captures/{link}.pcap")

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
        return self._beside(f"qlog/{group}-{flow}.sqlog")

    def _beside(self, name: str) -> list[Path]:
        """Files of the repetitions that are no tables: compared with their digests, as those are."""
        folders = (self.directory / storage.REPETITIONS / f"{number:04d}" for number in self.repetitions)
        paths = [folder / name for folder in folders]
        if not any(path.exists() for path in paths):
            raise RunNotFoundError(f"{self.directory} has no {name}; the scenario's [probes] say what is written")
        for path in paths:
            self._check(path)
        return paths

    def table(self, name: str) -> pl.DataFrame | None:
        """A table by its name."""
        lazy = self.scan(name)
        try:
            return None if lazy is None else lazy.collect()
        except (OSError, pl.exceptions.PolarsError):
            raise storage.damaged(self.directory / storage.REPETITIONS) from None

    def scan(self, name: str) -> pl.LazyFrame | None:
        """A table as a lazy frame, for those that are larger than memory.

        Raises
        ------
        RunNotFoundError
            A file of it is not what was written: each is compared with its digest once, which takes about as long as to
            read it.
        """
        paths = storage.tables(self.directory, name, self.repetitions)
        for path in {*paths, *self._written(name)}:
            self._check(path)
        return pl.scan_parquet(paths) if paths else None

    def _written(self, name: str) -> list[Path]:
        """The files of a table that were written, whether they are still there or not."""
        return [
            self.directory / file for file in self.metadata.get("files", {}) if Path(file).name == f"{name}.parquet"
        ]

    def _check(self, path: Path) -> None:
        """Compare a file with its digest, once; runs that an earlier version made have none."""
        digests = self.metadata.get("files")
        if digests is not None and path not in self._checked:
            storage.check(self.directory, path, digests)
            self._checked.add(path)

    def _required(self, name: str) -> pl.DataFrame:
        table = self.table(name)
        if table is None:
            raise RunNotFoundError(f"{self.directory} has no table {name}; files of the run are missing")
        return table

    def _repr_html_(self) -> str:
        """What a notebook shows: the numbers, and figures."""
        from parshall.report import summary_html  # noqa: PLC0415 - drawing is for those who look

        return summary_html(self)

    def __repr__(self) -> str:
        done = len(self.repetitions)
        return f"<Run {self.metadata['name']!r} in {self.directory}: {self.status}, {done} repetition(s)>"
