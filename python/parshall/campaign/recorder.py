"""The record of a sweep while it is done, and when it ends."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from parshall.campaign import record as records
from parshall.campaign.contents import Contents
from parshall.campaign.plan import Stopping
from parshall.campaign.preparing import Prepared
from parshall.campaign.record import FINISHED, PointRecord, SweepRecord
from parshall.campaign.stopping import Planner
from parshall.campaign.store import Store, name_of
from parshall.foundations.errors import ParshallError
from parshall.results.records import about


@dataclass
class Recorder:
    """Says and saves what is known of a sweep.

    Parameters
    ----------
    failed
        The runs that failed so far, and why; whoever does the sweep adds to it.
    """

    prepared: Prepared
    store: Store
    contents: Contents
    planner: Planner
    code: str
    failed: Mapping[str, str]
    started: str = field(default_factory=about.now)
    clock: float = field(default_factory=time.monotonic)
    _digests: list[str] = field(default_factory=list)
    """Of the points' scenarios."""

    @property
    def elapsed_s(self) -> float:
        """Since the sweep began."""
        return time.monotonic() - self.clock

    def save(self, status: str) -> None:
        """Save the record. While the sweep is not finished, it has what the record on the disk has, and more."""
        earlier = None if status in FINISHED else _earlier(self.store, self.prepared.plan.name)
        self.record(status, earlier).save(self.store)

    def record(self, status: str, earlier: SweepRecord | None = None) -> SweepRecord:
        """What is known now."""
        prepared, plan = self.prepared, self.prepared.plan
        listed = {point.runs[0]: point.runs for point in earlier.points if point.runs} if earlier is not None else {}
        failed = dict(self.failed)
        points = []
        for point in prepared.points:
            runs = self._runs(point.number, status)
            before = listed.get(self.contents.key(point.number, 0), ())
            if len(before) > len(runs):  # keys follow from scenario and repetition: those are the first of these
                runs = before
            if earlier is not None:
                failed |= {
                    run: earlier.failed[run] for run in runs if run in earlier.failed and run not in self.contents
                }
            values = tuple(point.values[each.key] for each in prepared.parameters)
            points.append(PointRecord(values, runs, self.planner.reason(point.number)))
        seeds = {point.values.get("seed", prepared.seed) for point in prepared.points}
        return SweepRecord(
            name=plan.name,
            description=plan.description,
            status=status,
            plan=plan.document(),
            code=self.code,
            parameters=prepared.parameters,
            points=tuple(points),
            failed=dict(sorted(failed.items())),
            metrics=tuple(dict.fromkeys([*plan.metrics, *prepared.deciding, "goodput_bps"])),
            compare=None if plan.compare is None else plan.compare.model_dump(),
            started=self.started,
            wall_s=round(self.elapsed_s, 3),
            seed=seeds.pop() if len(seeds) == 1 and plan.random_numbers == "common" else None,
            random_numbers=plan.random_numbers,
            scenarios=self._scenarios(earlier),
        )

    def _runs(self, point: int, status: str) -> tuple[str, ...]:
        """The runs of a point: its first repetitions, up to one that is not there."""
        count, rule = self.planner.repetitions(point), self.prepared.rule
        if status not in FINISHED:
            most = rule.maximum if isinstance(rule, Stopping) else rule
            while count < most and self.contents.key(point, count) in self.contents:
                count += 1
        return tuple(self.contents.key(point, each) for each in range(count))

    def _scenarios(self, earlier: SweepRecord | None) -> tuple[str, ...]:
        """The scenarios whose runs are the sweep's; until it is finished, those that it had before are among them."""
        if not self._digests:
            self._digests = [name_of(text) for text in self.prepared.texts]
        return tuple(dict.fromkeys([*self._digests, *(() if earlier is None else earlier.scenarios)]))


def _earlier(store: Store, name: str) -> SweepRecord | None:
    """The record of a sweep on the disk; None without one, or if it cannot be read."""
    try:
        return records.load(store, name)
    except ParshallError:
        return None
