"""Doing a sweep: what is in the store is not done again, what fails is recorded, the rest goes on.

One process decides (which run next, whether a point has enough); others do the runs. What decides is never the order in
which runs finish, so 1, 2 or 8 workers, here or on a cluster, give the same tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

from parshall.campaign.call import Call, Repetition, Returned, Written
from parshall.campaign.contents import Contents
from parshall.campaign.executor import Agenda, Executor
from parshall.campaign.plan import Plan
from parshall.campaign.pool import Workers
from parshall.campaign.preparing import Prepared, prepare
from parshall.campaign.progress import CostEstimate, SweepProgress
from parshall.campaign.recorder import Recorder
from parshall.campaign.result import Sweep
from parshall.campaign.segments import COMPACTED_AT_ONCE, compact
from parshall.campaign.shard import Shard
from parshall.campaign.stopping import Planner
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError, ParshallError, StorageError
from parshall.results.quantities.naming import named
from parshall.results.records import about
from parshall.results.records.storage import storage_error
from parshall.scenario.controls import declare
from parshall.scenario.schema import external

_LOOK_S = 0.2
"""Between two reports of progress, at least."""

_SAVE_S = 1.0
"""Between two saves of the sweep's record while it goes on, at least; saving takes 5 % of the time at most."""

_REFUSED = (
    "the store has this emulation, of a sweep that accepts it; it cannot be believed: accept_invalid = true takes it"
)

_LEFT = 256
"""So many runs may keep their directories when a sweep ends."""


def sweep(
    plan: Plan | str | Path,
    store: str | Path | Store = "store",
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Callable[[SweepProgress], None] | None = None,
    shard: Shard | str | None = None,
    controls: Mapping[str, Any] | Iterable[str] = (),
    at_once: bool = False,
) -> Sweep:
    """Do what is missing of a sweep, and give all of it.

    Parameters
    ----------
    plan
        What is varied, or the file that says so.
    store
        Where runs are kept; made if it is not there.
    workers
        Runs at a time on this machine; by default as many as it has cores. The results are the same. Of emulations it
        is one, unless they are done `at_once`.
    scheduler
        The address of a Dask scheduler (``tcp://host:port``), whose workers then do the runs.
    progress
        Called a few times a second.
    shard
        The part that is done, such as ``"3/40"``; by default all. When all parts are done, in one store or in several
        that were merged, the same call without it collects them, and does what is missing.
    controls
        Congestion controls of your own, as `parshall.scenario.controls.declare` takes them, but of files: runs are done
        by other processes. Runs with other code are other runs; the workers of a cluster are sent the files.
    at_once
        Whether emulations do not wait for others on this machine, each other included: they measure each other, and
        their verdicts say how much.

    Raises
    ------
    InputError
        There is no such shard, or the sweep has a budget of runs, which is of all parts together; or a control is
        refused, or in no file.
    ScenarioError
        The sweep, or a scenario of it, is refused; nothing was run.
    StoreError
        The store is damaged, or of another version.
    StorageError
        Results cannot be written; what was finished is kept, and the same call goes on from there.
    ClusterError
        The scheduler cannot be reached, or its workers run other code.
    KeyboardInterrupt
        After an interruption; what was finished is kept.
    """
    declare(controls)
    with Workers(workers, scheduler) as by:
        return swept(plan, store, by, progress=progress, shard=shard, at_once=at_once)


def swept(
    plan: Plan | str | Path,
    store: str | Path | Store,
    by: Workers,
    *,
    progress: Callable[[SweepProgress], None] | None = None,
    shard: Shard | str | None = None,
    at_once: bool = False,
) -> Sweep:
    """`sweep`, by workers that may do others before and after; parameters and errors are the same."""
    part = Shard.parse(shard) if isinstance(shard, str) else shard
    read = plan if isinstance(plan, Plan) else Plan.load(plan)
    if part is not None and read.budget.runs is not None:
        raise InputError(f"shard {part}: found budget.runs, which is of all shards together; leave one of them out")
    prepared = prepare(read)
    if by.elsewhere:
        for text in prepared.texts:
            external.check_found(text)
    place = store if isinstance(store, Store) else Store(store, create=True)
    place.check_writable()
    place.remove_orphans()
    with place.working():
        return _Sweeping(prepared, place, by, progress, part, at_once=at_once).run()


class _Sweeping(Agenda):
    """A sweep while it is done, as an agenda of its runs; the planner decides which is next."""

    def __init__(
        self,
        prepared: Prepared,
        store: Store,
        by: Workers,
        progress: Callable[[SweepProgress], None] | None,
        shard: Shard | None,
        *,
        at_once: bool,
    ) -> None:
        self.prepared, self.plan, self.store = prepared, prepared.plan, store
        self.progress, self.shard, self.at_once = progress, shard, at_once
        self.code = about.code_version()
        self.failures: dict[str, str] = {}
        self.planner = Planner(prepared.cells, prepared.rule, self.plan.budget.runs, shard)
        self.contents = Contents(prepared, store, self.code)
        self.recorder = Recorder(prepared, store, self.contents, self.planner, self.code, self.failures)
        in_turn = self.plan.instrument == "emulate" and not at_once  # emulations of a machine take turns
        here = any(external.known_here_alone(text) for text in prepared.texts)
        self.executor = Executor(self, self.contents, by, most=1 if in_turn else None, here=here)
        self.wanted: dict[str, list[tuple[int, int]]] = {}
        """The points and repetitions of each run that was given out."""
        self.estimate = CostEstimate()
        self.done_runs = self.from_store = self.packets = 0
        self.fresh = 0
        """Runs that were published since some were compacted."""
        self._beside = ThreadPoolExecutor(1)  # reading and writing runs holds no interpreter lock for long
        self._compaction: Future[int] | None = None
        self._looked = self._saved = time.monotonic()
        self._pause_s = _SAVE_S

    # --- from start to end ---

    def run(self) -> Sweep:
        """Do it."""
        status = "interrupted"
        try:
            self.contents.look()
            self.recorder.save("running")
            self.executor.run()
            self._tell()
            self._compact(_LEFT)
            self._compacted()
            finished = "failures" if self.failures else "complete"
            status = finished if self.shard is None else "shard"
        except OSError as error:
            raise storage_error(error) from None
        finally:
            self._beside.shutdown()
            with suppress(StorageError):  # a disk that is full
                self.store.remove_orphans()
            # Of a disk that is full the error is on the way already.
            with suppress(*([Exception] if status == "interrupted" else [])):
                self.recorder.save(status)
        return Sweep(self.store, self.recorder.record(status))

    def look(self) -> None:
        """Tell how far it is, save the record, end the sweep if its time is over, and have runs compacted."""
        now = time.monotonic()
        if now - self._looked > _LOOK_S:
            self._looked = now
            self._tell()
        if now - self._saved > self._pause_s:
            self.recorder.save("running")
            self._saved = time.monotonic()
            self._pause_s = max(_SAVE_S, 20 * (self._saved - now))
        limit = self.plan.budget.time_s
        if limit is not None and now - self.recorder.clock > limit and not self.planner.finished:
            self.planner.end("time")
        if self._compaction is not None and self._compaction.done():
            self._compacted()
        if self.fresh >= COMPACTED_AT_ONCE:
            self.fresh = 0
            self._compact(COMPACTED_AT_ONCE)

    def _compact(self, least: int) -> None:
        """Have runs compacted beside the work, if there are so many."""
        self._compacted()
        self._compaction = self._beside.submit(compact, self.store, least=least)

    def _compacted(self) -> None:
        """Wait until runs are compacted; an error of it becomes ours."""
        compaction, self._compaction = self._compaction, None
        if compaction is not None:
            compaction.result()

    # --- its runs ---

    @property
    def finished(self) -> bool:
        """True if no further run will be wanted."""
        return self.planner.finished

    def next(self) -> Call | None:
        """The next run that is not given out already, for another point of the same scenario."""
        while (place := self.planner.next()) is not None:
            run = self.contents.key(*place)
            if run in self.failures:
                self.planner.record(*place, None)
            elif run in self.wanted:
                self.wanted[run].append(place)
            else:
                self.wanted[run] = [place]
                return self._call(run, *place)
        return None

    def _call(self, run: str, point: int, repetition: int) -> Call:
        text, plan = self.prepared.texts[point], self.plan
        wanted = tuple(name for name in self.prepared.deciding if not named(name).quantity.source)
        place = (str(self.store.directory), self.store.identity)
        does = Repetition(text, repetition, place, wanted, plan.instrument, plan.accept_invalid)
        return Call(run, does, controls=external.codes(text), at_once=self.at_once, code=self.code)

    def done(self, call: Call, outcome: Written | Returned | None) -> None:
        """Take a run of the store, unless it is one that the plan would not have accepted of a worker."""
        places = self.wanted.pop(call.key)
        if call.key in self.contents.refused:
            self._fail(call.key, places, _REFUSED)
            return
        if isinstance(outcome, Written):
            text = self.prepared.texts[places[0][0]]
            self.contents.add(outcome, text)
            self.estimate.learn(text, outcome)
            self.packets += outcome.packets
            self.fresh += 1
        else:
            self.from_store += len(places)
        self.done_runs += len(places)
        for point, repetition in places:
            self.planner.record(point, repetition, self.contents.value(call.key, repetition))

    def failed(self, call: Call, error: ParshallError) -> None:
        """Record why a run failed; the others go on."""
        places = self.wanted.pop(call.key)
        point, repetition = places[0]
        where = {"point": str(self.prepared.points[point]), "repetition": repetition, "when": about.now()}
        self.store.record_failure(call.key, str(error), where)
        self._fail(call.key, places, str(error))

    def _fail(self, run: str, places: Iterable[tuple[int, int]], why: str) -> None:
        self.failures[run] = why
        for place in places:
            self.planner.record(*place, None)

    # --- how far it is ---

    def _tell(self) -> None:
        if self.progress is None:
            return
        running, workers = self.executor.running, self.executor.workers
        left = [self.prepared.texts[point] for point, _ in self.planner.queued]
        left += [self.prepared.texts[self.wanted[run][0][0]] for run in running]
        self.progress(
            SweepProgress(
                done=self.done_runs,
                from_store=self.from_store,
                running=min(len(running), workers),
                failed=len(self.failures),
                planned=self.done_runs + len(self.failures) + len(left) + len(self.executor.of_others),
                bounded=isinstance(self.prepared.rule, int),
                packets=self.packets + self.executor.packets,
                elapsed_s=self.recorder.elapsed_s,
                remaining_s=self.estimate.remaining_s(sum(self.estimate.size(text) for text in left), workers),
                workers=workers,
            )
        )
