"""The runs of a sweep that a store has, and of each the metric that decides whether a point has enough."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import polars as pl

from parshall.campaign.call import Call, Returned, Written
from parshall.campaign.executor import Archive
from parshall.campaign.keys import key_of
from parshall.campaign.measured import series_of
from parshall.campaign.plan import Stopping
from parshall.campaign.preparing import Prepared
from parshall.campaign.snapshot import Snapshot, reading
from parshall.campaign.stopping import Value
from parshall.campaign.store import Store
from parshall.campaign.work import measure
from parshall.results.quantities.naming import named


class Contents(Archive):
    """The runs of a sweep in its store, by their keys.

    Parameters
    ----------
    code
        The version of the simulator, on which keys depend.
    """

    def __init__(self, prepared: Prepared, store: Store, code: str) -> None:
        self._prepared = prepared
        super().__init__(store)
        self._store = store
        self._code = code
        self._keys: dict[tuple[int, int], str] = {}
        self._known: set[str] = set()
        self._values: dict[str, Value] = {}
        self._segments: list[Path] = []
        self._emulates = prepared.plan.instrument == "emulate" and not prepared.plan.accept_invalid
        self.refused: frozenset[str] = frozenset()
        """Emulations that cannot be believed, and that the plan does not accept; another one had them done."""

    def __contains__(self, run: object) -> bool:
        return run in self._known

    def key(self, point: int, repetition: int) -> str:
        """The key of a run."""
        place = (point, repetition)
        if place not in self._keys:
            self._keys[place] = key_of(self._prepared.texts[point], repetition, self._code)
        return self._keys[place]

    def look(self) -> None:
        """Look at all that is there."""
        self._segments = self._store.segment_directories()
        known, values = reading(self._store, self._read)
        if self._emulates:
            self.refused = reading(self._store, _invalid)
        self._known |= known
        self._values |= values

    def has(self, call: Call) -> bool:
        """True if a run is in the store, also if it came since the last look."""
        run = call.key
        if run in self._known:
            return True
        has_directory = self._store.has_directory(run)
        if has_directory and not self._emulates:
            self._known.add(run)
        elif has_directory or self._store.segment_directories() != self._segments:
            self.look()
        return run in self._known

    def take(self, call: Call, outcome: Written | Returned) -> None:
        """Write the files of a worker that does not see the store."""
        if not isinstance(outcome, Written) or outcome.files is None:
            return
        with self._store.writing(call.key) as partial:
            for name, content in outcome.files.items():
                (partial / Path(name).name).write_bytes(content)
            self._store.publish(call.key, partial)

    def add(self, outcome: Written, scenario: str) -> None:
        """Take note of a run that was just done."""
        self._known.add(outcome.key)
        rule = self._prepared.rule
        if isinstance(rule, Stopping):
            with suppress(FileNotFoundError):  # compacted in between: it is read from there
                self._values[outcome.key] = self._decides(outcome, rule.metric, scenario)

    def value(self, run: str, repetition: int) -> Value:
        """The deciding metric of a run."""
        if not isinstance(self._prepared.rule, Stopping):
            return None
        if run not in self._values:
            self._values |= reading(self._store, lambda snapshot: self._deciding_of(snapshot, {run: repetition}))
        return self._values.get(run)

    def _read(self, snapshot: Snapshot) -> tuple[set[str], dict[str, Value]]:
        known, rule = set(snapshot.compacted) | set(snapshot.directories), self._prepared.rule
        if not isinstance(rule, Stopping) or not known:
            return known, {}
        own = {
            run: number
            for point in self._prepared.points
            for number in range(rule.maximum)
            if (run := self.key(point.number, number)) in known and run not in self._values
        }
        return known, self._deciding_of(snapshot, own)

    def _deciding_of(self, snapshot: Snapshot, runs: Mapping[str, int]) -> dict[str, Value]:
        """The deciding metric of runs in the store, of each under the number of its repetition."""
        rule = self._prepared.rule
        if not isinstance(rule, Stopping) or not runs:
            return {}
        order = {run: place for place, run in enumerate(runs)}
        series = series_of(snapshot, order, [rule.metric], None).get(rule.metric)
        return {run: series and series.numbered({place: runs[run]}) for run, place in order.items()}

    def _decides(self, outcome: Written, name: str, scenario: str) -> Value:
        """The deciding metric of a run that was just done; workers do not know those that this program defines."""
        if not named(name).quantity.source:
            return outcome.metrics.get(name)
        return measure(self._store.run_directory(outcome.key), (name,), scenario, outcome.simulated_s).get(name)


def _invalid(snapshot: Snapshot) -> frozenset[str]:
    """The runs that are emulations which cannot be believed."""
    runs = snapshot.scan("runs")
    if runs is None:
        return frozenset()
    return frozenset(runs.filter(pl.col("validity") == "invalid").select("run").collect()["run"])
