"""A result: what an instrument gave of a scenario, or found in files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from parshall.foundations.errors import InputError, RunNotFoundError
from parshall.foundations.files import Scratch
from parshall.foundations.has_figures import HasFigures
from parshall.results.records import schema, storage

if TYPE_CHECKING:
    import polars as pl

    from parshall.results.quantities.measuring import Metric, Metrics
    from parshall.results.quantities.tables import Tables

PROVENANCE = ("instrument", "name", "scenario_file", "sources", "seed", "started", "wall_s", "versions", "host")
"""Keys of `Result.provenance`, as far as they are known."""


class Result(HasFigures, page="parshall.results.loading:page_of"):
    """Tables, where they come from, and quantities of them: the same whatever the instrument.

    Tables are Polars frames (``result.flows.to_pandas()`` for pandas), with a ``repetition`` column; one that was not
    recorded is None.

    Parameters
    ----------
    directory
        Where it is; None: in memory alone.
    metadata
        The content of its ``run.json``.
    tables
        The tables by name, of a result that is in memory alone.
    ends_s
        When each of its repetitions ended, in s.
    """

    __slots__ = ("_scratch",)  # beside __dict__, which `tables` shares: not part of its circle

    instruments: ClassVar[Collection[str]] = ("simulate", "emulate", "observe", "predict")
    """Instruments that may have made a result of this class."""

    def __init__(
        self,
        directory: Path | None,
        metadata: Mapping[str, Any],
        tables: Mapping[str, pl.DataFrame | None] | None = None,
        ends_s: Mapping[int, float] | None = None,
    ) -> None:
        self.directory = directory
        self.metadata = metadata
        self._given = tables
        self._given_ends = ends_s or {}
        self._read: dict[str, pl.DataFrame | None] = {}
        self._checked: set[Path] = set()
        self._scratch = None if directory is None else Scratch.holding(directory)  # which lasts as long as this object

    @classmethod
    def load(cls, directory: str | Path) -> Self:
        """Read a result that was written before; `parshall.load` reads one of any instrument.

        Raises
        ------
        RunNotFoundError
            The directory holds none, one of another instrument, or one that was not finished.
        """
        path = Path(directory)
        return cls(path, cls.described(path))

    @classmethod
    def described(cls, directory: Path) -> dict[str, Any]:
        """The ``run.json`` of a directory.

        Raises
        ------
        RunNotFoundError
            As `load`.
        """
        metadata = storage.read(directory)
        if metadata["instrument"] not in cls.instruments:
            accepted = " or ".join(f'"{each}"' for each in cls.instruments)
            raise RunNotFoundError(f'{directory} holds a result of "{metadata["instrument"]}"; accepted: {accepted}')
        return metadata

    @property
    def instrument(self) -> str:
        """Return the instrument that made it: ``simulate``, ``emulate``, ``observe`` or ``predict``."""
        return str(self.metadata.get("instrument", "simulate"))

    @property
    def name(self) -> str:
        """Return its name; empty if it has none."""
        return str(self.metadata.get("name") or "")

    @property
    def place(self) -> str:
        """Its directory, or else its name: what tells results apart."""
        return str(self.directory or self.name or self.instrument)

    @property
    def status(self) -> str:
        """``complete``, or ``interrupted``: then some repetitions are missing."""
        return str(self.metadata["status"])

    @property
    def provenance(self) -> dict[str, Any]:
        """The origin: instrument, scenario or source files, seed, time, versions, machine."""
        return {key: self.metadata[key] for key in PROVENANCE if self.metadata.get(key) is not None}

    @property
    def repetitions(self) -> list[int]:
        """The repetitions that were finished; of an observation, the traces."""
        return list(self.metadata.get("repetitions_finished", ()))

    # --- tables ---

    def table(self, name: str) -> pl.DataFrame | None:
        """A table by its name; it is read once.

        Raises
        ------
        RunNotFoundError
            A file of it is damaged.
        """
        if name not in self._read:
            self._read[name] = self._given.get(name) if self._given is not None else self._collected(name)
        return self._read[name]

    def scan(self, name: str) -> pl.LazyFrame | None:
        """A table as a lazy frame, for those that are larger than memory.

        Raises
        ------
        RunNotFoundError
            A file of it is not what was written: each is compared with its digest once, which takes about as long as to
            read it.
        """
        import polars as pl  # noqa: PLC0415 - a prediction has no tables

        if self.directory is None:
            held = self.table(name)
            return None if held is None else held.lazy()
        paths = storage.tables(self.directory, name, self.repetitions)
        written = {self.directory / file for file in self._digests or () if Path(file).name == f"{name}.parquet"}
        for path in {*paths, *written}:
            self._check(path)
        return pl.scan_parquet(paths) if paths else None

    def columns(self, table: str) -> Mapping[str, schema.Column]:
        """Types, units and descriptions of a table's columns, as the schema of the records has them.

        Raises
        ------
        InputError
            There is no such table.
        """
        return schema.columns(table)

    @property
    def flows(self) -> pl.DataFrame:
        """One row a flow."""
        return self._required("flows")

    @property
    def links(self) -> pl.DataFrame | None:
        """One row a link; None of a trace, which shows none."""
        return self.tables.get("links")

    @property
    def transfers(self) -> pl.DataFrame | None:
        """One row a transfer."""
        return self.table("transfers")

    @property
    def rounds(self) -> pl.DataFrame | None:
        """One row a round trip of a flow: its window, and whether a packet of it was lost."""
        return self.table("rounds")

    @property
    def flow_samples(self) -> pl.DataFrame | None:
        """Windows, packets in flight, round-trip times and progress of flows over time."""
        return self.table("flow_samples")

    @property
    def link_samples(self) -> pl.DataFrame | None:
        """Binned series of each link."""
        return self.table("link_samples")

    @property
    def group_samples(self) -> pl.DataFrame | None:
        """Bytes that the flows of each group delivered, in bins of time."""
        return self.table("group_samples")

    @property
    def internals(self) -> pl.DataFrame | None:
        """Inner variables of congestion controls and queues over time."""
        return self.table("internals")

    @property
    def groups(self) -> pl.DataFrame | None:
        """Latency of each group of flows: one-way delays, jitter, round-trip times."""
        return self.table("groups")

    @property
    def latency_histogram(self) -> pl.DataFrame | None:
        """One-way delays and round-trip times of each group, counted in bins."""
        return self.table("latency_histogram")

    @property
    def delay_histogram(self) -> pl.DataFrame | None:
        """Queueing delays of each link, counted in bins."""
        return self.table("delay_histogram")

    @cached_property
    def tables(self) -> Tables:
        """Return the tables that quantities are computed from."""
        from parshall.results.quantities.tables import Tables, backward, directed, ending  # noqa: PLC0415 - it loads Polars

        # Another object of the same content reads them: a circle would keep a temporary run that nobody uses any more.
        reader = object.__new__(type(self))
        reader.__dict__ = self.__dict__
        read = directed(reader.table, backward(self.metadata.get("scenario") or {}))
        return Tables(ending(read, lambda: reader.ends_s))

    @property
    def ends_s(self) -> Mapping[int, float]:
        """End of each repetition, in s; empty where that was not recorded."""
        return self._given_ends

    # --- quantities ---

    def quantity(self, name: str) -> Metric:
        """A quantity: its ``interval`` (mean, low, high), ``label``, ``unit``, and ``values`` by repetition.

        Parameters
        ----------
        name
            ``goodput_bps``, ``group/web/rtt_s``, ``link/uplink/loss_rate``, ``flow/3/goodput_bps``, or one of your own.

        Raises
        ------
        InputError
            No quantity has that name, or the result has no value of it.
        """
        from parshall.results.quantities.measuring import measured  # noqa: PLC0415 - it takes a while to load

        return measured(self.tables, name)

    def quantities(self, link: str | None = None, groups: Collection[str] | None = None) -> pl.DataFrame:
        """Return every quantity as a row: of all flows, of each link and of each group.

        The columns are ``name``, as `quantity` takes it; ``place``, the link or group, empty for all flows; ``unit``;
        ``mean``, ``low`` and ``high``, the estimate over repetitions and its 95 % confidence interval (of a prediction,
        the value and range of the model); and ``n``, the number of values behind the estimate. What is not known is
        null.

        Parameters
        ----------
        link, groups
            As of `metrics`.
        """
        from parshall.results.quantities.measuring import frame  # noqa: PLC0415 - it takes a while to load

        return frame(self.metrics(link, groups))

    def metrics(self, link: str | None = None, groups: Collection[str] | None = None) -> Metrics:
        """Return every quantity by its name: of all flows, of each link and of each group.

        Parameters
        ----------
        link
            The link that names without a link speak of; else the busiest one.
        groups
            The groups of which it is asked; else all.
        """
        from parshall.results.quantities.measuring import everything  # noqa: PLC0415 - it takes a while to load

        return everything(self.tables, link, groups)

    def lacking(self, link: str | None = None, groups: Collection[str] | None = None) -> Metrics:
        """The metrics without a value, as a quantile that too few transfers reached, with the reason.

        Parameters
        ----------
        link, groups
            As of `metrics`.
        """
        from parshall.results.quantities.measuring import lacking  # noqa: PLC0415 - it takes a while to load

        return lacking(self.tables, link, groups)

    def of_all_flows(self) -> Metrics:
        """Return the quantities of a group, of all flows as if they were one group."""
        from parshall.results.quantities.measuring import of_all_flows  # noqa: PLC0415 - it takes a while to load

        return of_all_flows(self.tables)

    def group_names(self) -> list[str]:
        """The groups of flows, in the order of their first flows; of a trace each flow is one."""
        from parshall.results.quantities.measuring import places  # noqa: PLC0415 - it takes a while to load

        return places(self.tables, "group")

    # --- files ---

    def save(self, directory: str | Path, *, overwrite: bool = False) -> Path:
        """Copy it to a new directory, of which `parshall.load` reads it again, and return the directory.

        Parameters
        ----------
        directory
            A new or empty directory.
        overwrite
            Whether to replace a result of the same instrument that is there. Nothing else is ever overwritten.

        Raises
        ------
        InputError
            It is in memory alone, as a preview of the explorer.
        OutputExistsError
            Something is in `directory`.
        StorageError
            It cannot be written.
        """
        if self.directory is None:
            raise InputError(f"{self.place} is in memory alone, without files that could be copied")
        target = Path(directory)
        storage.copy(self.directory, target, overwrite=overwrite, instrument=self.instrument)
        return target

    # --- pages and pictures ---

    def card(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write a picture of the answer, 1200 x 630 pixels: its name, first sentences, main numbers and main figure.

        Parameters
        ----------
        path
            A file that ends in ``.png`` or ``.svg``.
        overwrite
            Whether to replace a file that is there.

        Raises
        ------
        InputError
            The file ends otherwise, or the result has no finding, as a prediction.
        OutputExistsError
            The file is there already.
        MissingExtraError
            matplotlib is not installed.
        StorageError
            It cannot be written.
        """
        written: Path = import_module("parshall.report.card").write_card(self._document, path, overwrite=overwrite)
        return written

    # --- beside the tables ---

    @property
    def predicted(self) -> list[dict[str, Any]]:
        """The analytic models' answers, one row each (`parshall.instruments.prediction.predict.flatten`)."""
        return list(self.metadata.get("predicted", ()))

    def files(self, name: str) -> list[Path]:
        """Files of the repetitions that are no tables, one each: ``captures/bottleneck.pcap``.

        Raises
        ------
        RunNotFoundError
            It was not recorded, or a file is not what was written.
        """
        paths = [folder / name for folder in self._folders()]
        if not any(path.exists() for path in paths):
            raise RunNotFoundError(f"{self.place} has no {name}; the scenario's [probes] say what is written")
        for path in paths:
            self._check(path)
        return paths

    def _folders(self) -> list[Path]:
        if self.directory is None:
            return []
        return [self.directory / storage.REPETITIONS / f"{number:04d}" for number in self.repetitions]

    def _collected(self, name: str) -> pl.DataFrame | None:
        import polars as pl  # noqa: PLC0415 - a prediction has no tables

        lazy = self.scan(name) if self.directory is not None else None
        try:
            return None if lazy is None else lazy.collect()
        except (OSError, pl.exceptions.PolarsError):
            raise storage.damaged(Path(self.place) / storage.REPETITIONS) from None

    @property
    def _digests(self) -> Mapping[str, str] | None:
        """Digests of the files that were written; None of a result that is not written yet, or in memory."""
        files: Mapping[str, str] | None = self.metadata.get("files")
        return files

    def _check(self, path: Path) -> None:
        """Compare a file with its digest, once."""
        if self._digests is not None and self.directory is not None and path not in self._checked:
            storage.check(self.directory, path, self._digests)
            self._checked.add(path)

    def _required(self, name: str) -> pl.DataFrame:
        table = self.table(name)
        if table is None:
            raise RunNotFoundError(f"{self.place} has no table {name}; files of the result are missing")
        return table

    def __repr__(self) -> str:
        count = len(self.repetitions)
        done = f"{self.status}, {count} repetition{'' if count == 1 else 's'}"
        return f"<{type(self).__name__} {self.name!r} in {self.directory or 'memory'}: {done}>"
