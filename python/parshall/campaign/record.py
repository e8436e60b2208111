"""The record of a sweep in a store: its parameters, its points, and their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from parshall.campaign.store import FORMAT, Store
from parshall.campaign.values import SUFFIXES, UNITS, label, measured
from parshall.foundations.errors import InputError, StoreError
from parshall.foundations.files import write_atomically
from parshall.results.records.storage import storage_error
from parshall.scenario.schema.problems import did_you_mean, quoted

FINISHED = ("complete", "failures")


@dataclass(frozen=True)
class SweepParameter:
    """A parameter of a sweep.

    Parameters
    ----------
    key
        Its key path in the scenario.
    name
        Its column in tables: text as the scenario has it, or the number.
    kind
        That of all its values (`parshall.campaign.values`), or None if they are names or tables.
    """

    key: str
    name: str
    kind: str | None

    @property
    def number_column(self) -> str | None:
        """The column of its numbers; that of the name itself for plain numbers, None for names and tables."""
        return None if self.kind is None else self.name + SUFFIXES.get(self.kind, "")

    @property
    def unit(self) -> str:
        """The unit of its numbers."""
        return UNITS.get(self.kind or "", "1")


@dataclass(frozen=True)
class PointRecord:
    """A point of a sweep.

    Parameters
    ----------
    values
        One value a parameter, in their order.
    runs
        The keys of its runs, in the order of repetitions.
    reason
        Why its repetitions ended.
    """

    values: tuple[Any, ...]
    runs: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class SweepRecord:
    """A sweep in a store."""

    name: str
    description: str
    status: str
    """``complete``, ``failures`` (some runs failed), ``shard`` (a part was done), ``interrupted`` or ``running``."""
    plan: Mapping[str, Any]
    code: str
    parameters: tuple[SweepParameter, ...]
    points: tuple[PointRecord, ...]
    failed: Mapping[str, str]
    """Reason of each failure, by the key of the run."""
    metrics: tuple[str, ...]
    """Metrics that the page shows first."""
    compare: Mapping[str, Any] | None
    started: str
    wall_s: float
    seed: int | None
    """That of the scenario."""
    random_numbers: str = "common"
    scenarios: tuple[str, ...] = ()
    """The digests of its points' scenarios, and until it is finished of those that it had before: so long, all their
    runs are the sweep's, whether a point lists them yet or not."""

    @property
    def runs(self) -> int:
        """Number of runs, without failed ones."""
        return sum(run not in self.failed for point in self.points for run in point.runs)

    @property
    def finished(self) -> bool:
        """True if the points list all runs."""
        return self.status in FINISHED

    def members(self) -> pl.DataFrame:
        """One row a run that did not fail: sweep, point, repetition, run, and the parameters."""
        rows = [
            (number, repetition, run)
            for number, point in enumerate(self.points)
            for repetition, run in enumerate(point.runs)
            if run not in self.failed
        ]
        schema = {"point": pl.UInt32, "repetition": pl.UInt32, "run": pl.String}
        members = pl.DataFrame(rows, schema=schema, orient="row")
        joined = members.join(self.points_frame(), on="point", how="left", maintain_order="left")
        return joined.select(pl.lit(self.name).alias("sweep"), pl.all())

    def points_frame(self) -> pl.DataFrame:
        """One row a point: its number and the parameters."""
        columns: dict[str, pl.Series] = {"point": pl.Series(range(len(self.points)), dtype=pl.UInt32)}
        for index, parameter in enumerate(self.parameters):
            values = [point.values[index] for point in self.points]
            if parameter.kind is None or parameter.kind in SUFFIXES:
                columns[parameter.name] = pl.Series([label(value) for value in values], dtype=pl.String)
            if parameter.kind is not None:
                columns[str(parameter.number_column)] = _numbers(parameter.kind, values)
        return pl.DataFrame(columns)

    def save(self, store: Store) -> None:
        """Write it to the store."""
        content = {"format": FORMAT, **asdict(self)}
        try:
            text = json.dumps(content, ensure_ascii=False, allow_nan=False) + "\n"
            write_atomically(_path(store, self.name), text, store.partial("sweep"))
        except OSError as error:
            raise storage_error(error) from None


def load(store: Store, name: str) -> SweepRecord:
    """The sweep of that name.

    Raises
    ------
    InputError
        There is none.
    StoreError
        It cannot be read.
    """
    path = _path(store, name)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
            raise ValueError("it is not the record of a sweep, or of another format")
        if content["name"] != name:  # files are named by it
            raise ValueError(f"found the name {content['name']!r}")
        return SweepRecord(
            **{
                **content,
                "parameters": tuple(SweepParameter(**each) for each in content["parameters"]),
                "points": tuple(
                    PointRecord(tuple(each["values"]), tuple(each["runs"]), each["reason"])
                    for each in content["points"]
                ),
                "metrics": tuple(content["metrics"]),
                "failed": dict(content["failed"]),
                "scenarios": tuple(content.get("scenarios", ())),
            }
        )
    except FileNotFoundError:
        known = store.sweeps
        accepted = f"accepted: {quoted(known)}{did_you_mean(name, known)}" if known else "the store has no sweep"
        raise InputError(f'{store.directory}: found no sweep "{name}"; {accepted}') from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"{path} is damaged: {str(error) or type(error).__name__}; run the sweep again, which writes it anew"
        ) from None


def chosen(store: Store, wanted: Sequence[str]) -> list[SweepRecord]:
    """The sweeps of these names; without names the only one.

    Raises
    ------
    InputError
        There is none, or there are several and none is named.
    """
    if wanted:
        return [load(store, name) for name in wanted]
    known = store.sweeps
    if len(known) != 1:
        present = f"{len(known)} sweeps: {quoted(known)}; name one or more of them" if known else "no sweep"
        raise InputError(f"{store.directory}: found {present}")
    return [load(store, known[0])]


def _path(store: Store, name: str) -> Path:
    return store.directory / "sweeps" / f"{name}.json"


def _numbers(kind: str, values: Sequence[Any]) -> pl.Series:
    """Numbers behind the values of one parameter; integers are exact if 64 bits hold them."""
    if kind == "integer" and all(-(2**63) <= value < 2**64 for value in values):
        exact = pl.UInt64 if any(value >= 2**63 for value in values) else pl.Int64
        if exact == pl.Int64 or min(values) >= 0:
            return pl.Series(values, dtype=exact)
    return pl.Series([_number(value) for value in values], dtype=pl.Float64)


def _number(value: Any) -> float | None:
    quantity = measured(value)
    return None if quantity is None else quantity.number
