"""Doing a sweep: what is in the store is not done again, what fails is recorded, the rest goes on.

One process decides (which run next, whether a point has enough); others do the runs. What decides is never the order in
which runs finish, so 1, 2 or 8 workers, here or on a cluster, give the same tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from parshall.campaign.compacting import Compactor
from parshall.campaign.contents import Contents
from parshall.campaign.locks import Lock
from parshall.campaign.plan import Plan
from parshall.campaign.pool import Pool, Workers
from parshall.campaign.preparing import Prepared, prepare
from parshall.campaign.progress import Estimate, Progress
from parshall.campaign.recorder import Recorder
from parshall.campaign.result import Sweep
from parshall.campaign.segments import COMPACTED_AT_ONCE
from parshall.campaign.shard import Shard
from parshall.campaign.stopping import Planner
from parshall.campaign.store import Store
from parshall.campaign.work import Outcome, Task
from parshall.controls import declare
from parshall.errors import InputError, StorageError, StoreError
from parshall.quantities.naming import named
from parshall.records import about
from parshall.records.storage import storage_error
from parshall.schema import external

POLL_S = 0.2
_SAVE_S = 1.0
"""Between two saves of the sweep's record while it goes on, at least; saving takes 5 % of the time at most."""

_UNSEEN_S = 120.0
"""How long a run may be done and not seen: a file system of several machines shows files a minute late."""

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
    progress: Callable[[Progress], None] | None = None,
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
        Congestion controls of your own, as `parshall.controls.declare` takes them, but of files: runs are done by other
        processes. Runs with other code are other runs; the workers of a cluster are sent the files.
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
    progress: Callable[[Progress], None] | None = None,
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
        return _Execution(prepared, place, by, progress, part, at_once).run()


@dataclass
class _Execution:
    """A sweep while it is done: hands out runs, takes what workers give, and decides what is next."""

    prepared: Prepared
    store: Store
    by: Workers
    progress: Callable[[Progress], None] | None
    shard: Shard | None
    at_once: bool
    failed: dict[str, str] = field(default_factory=dict)
    locks: dict[str, Lock] = field(default_factory=dict)
    waiting: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    """Runs that are being done, and for which points."""
    owned_by_others: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Runs that another process does."""
    unseen: dict[str, tuple[Outcome, float]] = field(default_factory=dict)
    """Runs that a worker has done and the store does not show yet, and until when it may."""
    estimate: Estimate = field(default_factory=Estimate)
    tasks: list[Task] = field(default_factory=list)
    """What is to be done as soon as there is a pool."""
    pool: Pool | None = None
    done: int = 0
    from_store: int = 0
    packets: int = 0
    fresh: int = 0
    """Runs that were published since some were compacted."""

    def __post_init__(self) -> None:
        self.code = about.code_version()
        self.plan, self.rule = self.prepared.plan, self.prepared.rule
        self.points, self.texts = self.prepared.points, self.prepared.texts
        self.planner = Planner(self.prepared.cells, self.rule, self.plan.budget.runs, self.shard)
        self.contents = Contents(self.prepared, self.store, self.code)
        self.recorder = Recorder(self.prepared, self.store, self.contents, self.planner, self.code, self.failed)
        self.compactor = Compactor(self.store)

    # --- from start to end ---

    def run(self) -> Sweep:
        status = "interrupted"
        try:
            self.contents.look()
            self.recorder.save("running")
            self._dispatch()
            if self.tasks or self.owned_by_others:
                in_turn = self.plan.instrument == "emulate" and not self.at_once
                most = 1 if in_turn else None  # emulations of a machine take turns
                here = any(external.known_here_alone(text) for text in self.texts)
                self._work(self.by.pool(most, here=here))
            self.compactor.start(_LEFT)
            self.compactor.finish()
            finished = "failures" if self.failed else "complete"
            status = finished if self.shard is None else "shard"
        except OSError as error:
            raise storage_error(error) from None
        finally:
            self._release()
            self._end(status)
        return Sweep(self.store, self.recorder.record(status))

    def _end(self, status: str) -> None:
        """Save the record; a disk that is full already has its error on the way."""
        if status == "interrupted":
            with suppress(Exception):
                self.recorder.save(status)
        else:
            self.recorder.save(status)

    def _release(self) -> None:
        if self.waiting:  # runs whose locks are given back must not go on
            self.by.close()
        self.compactor.wait()
        for lock in self.locks.values():
            with suppress(OSError):
                lock.release()
        with suppress(StorageError):  # a disk that is full
            self.store.remove_orphans()

    def _work(self, pool: Pool) -> None:
        self.pool = pool
        saved = looked = time.monotonic()
        pause_s = _SAVE_S
        for task in self.tasks:
            pool.submit(task)
        self.tasks.clear()
        while not self.planner.finished or self.waiting or self.owned_by_others:
            late = [outcome for outcome, _ in self.unseen.values()]
            for outcome in [*pool.outcomes(POLL_S), *late]:
                self._on_outcome(outcome)
            self._dispatch()
            now = time.monotonic()
            if self.progress is not None and now - looked > POLL_S:
                looked = now
                self.progress(self._progress())
            if now - saved > pause_s:
                self.recorder.save("running")
                saved = time.monotonic()
                pause_s = max(_SAVE_S, 20 * (saved - now))
            self._limits(now)
        if self.progress is not None:
            self.progress(self._progress())

    def _limits(self, now: float) -> None:
        limit = self.plan.budget.time_s
        if limit is not None and now - self.recorder.clock > limit and not self.planner.finished:
            self.planner.end("time")
        self.compactor.look()
        if self.fresh >= COMPACTED_AT_ONCE:
            self.fresh = 0
            self.compactor.start(COMPACTED_AT_ONCE)

    # --- handing out and taking ---

    def _dispatch(self) -> None:
        """Hand out what there is room for; runs of the store are taken at once."""
        self._follow_others()
        while self.pool is None or self.pool.room > 0:
            following = self.planner.next()
            if following is None:
                return
            task = self._task(*following)
            if task is None:
                continue
            if self.pool is None:  # nothing is started before there is something to do
                self.tasks.append(task)
                return
            self.pool.submit(task)

    def _task(self, point: int, repetition: int) -> Task | None:
        """What is to be done for a repetition; None if it is there, or somebody is at it."""
        run = self.contents.key(point, repetition)
        if run in self.contents:
            self._take(point, repetition, run)
        elif run in self.failed:
            self.planner.record(point, repetition, None)
        elif run in self.waiting:
            self.waiting[run].append((point, repetition))
        else:
            return self._locked(run, point, repetition)
        return None

    def _locked(self, run: str, point: int, repetition: int) -> Task | None:
        lock = self.store.lock(run)
        if lock is None:
            self.owned_by_others[run] = (point, repetition)
            return None
        if self.contents.has_now(run):
            lock.release()
            self._take(point, repetition, run)
            return None
        self.locks[run] = lock
        self.waiting[run] = [(point, repetition)]
        text = self.texts[point]
        wanted = tuple(name for name in self.prepared.deciding if not named(name).quantity.source)
        place = (str(self.store.directory), self.store.identity)
        controls, plan = external.codes(text), self.plan
        how = (plan.instrument, plan.accept_invalid)
        return Task(run, text, repetition, wanted, *place, self.code, controls, *how, self.at_once)

    def _follow_others(self) -> None:
        """Look after the runs that other processes had: done, or given up when the process ended."""
        for run, (point, repetition) in list(self.owned_by_others.items()):
            if self.pool is not None and self.pool.room == 0:
                return
            del self.owned_by_others[run]
            task = self._locked(run, point, repetition)
            if task is not None and self.pool is not None:
                self.pool.submit(task)
            elif task is not None:
                self.tasks.append(task)

    def _take(self, point: int, repetition: int, run: str) -> None:
        """Take a run of the store, unless it is one that the plan would not have accepted of a worker."""
        if run in self.contents.refused:
            self.failed[run] = _REFUSED
            self.planner.record(point, repetition, None)
        else:
            self.from_store += 1
            self._record_done(point, repetition, run)

    def _record_done(self, point: int, repetition: int, run: str) -> None:
        self.done += 1
        self.planner.record(point, repetition, self.contents.value(run, repetition))

    def _on_outcome(self, outcome: Outcome) -> None:
        """Take what a worker gives."""
        if outcome.run not in self.waiting:
            return  # a worker that was thought lost
        if outcome.fatal is not None:
            raise outcome.fatal
        if not self._is_kept(outcome):
            return
        places = self.waiting.pop(outcome.run)
        self.packets += outcome.packets
        if outcome.error is not None:
            self.failed[outcome.run] = outcome.error
            where = {"point": str(self.points[places[0][0]]), "repetition": places[0][1], "when": about.now()}
            self.store.record_failure(outcome.run, outcome.error, where)
        else:
            self.fresh += 1
            text = self.texts[places[0][0]]
            self.contents.add(outcome, text)
            self.estimate.learn(text, outcome)
        self.locks.pop(outcome.run).release()
        for point, repetition in places:
            if outcome.error is not None:
                self.planner.record(point, repetition, None)
            else:
                self._record_done(point, repetition, outcome.run)

    def _is_kept(self, outcome: Outcome) -> bool:
        """Whether the store has a run that was done, or it failed: a worker's word is not enough."""
        if outcome.error is not None:
            return True
        if outcome.files is not None:
            self._receive(outcome.run, outcome.files)
        if self.contents.has_now(outcome.run):
            self.unseen.pop(outcome.run, None)
            return True
        _, until = self.unseen.setdefault(outcome.run, (outcome, time.monotonic() + _UNSEEN_S))
        if time.monotonic() > until:
            raise StoreError(f"{self.store.directory}: a worker has done run {outcome.run}, which is not there")
        return False

    def _receive(self, run: str, files: Mapping[str, bytes]) -> None:
        """Write the files of a worker that does not see the store."""
        partial = self.store.partial(run)
        partial.mkdir()
        for name, content in files.items():
            (partial / Path(name).name).write_bytes(content)
        self.store.publish(run, partial)

    # --- what is told of it ---

    def _progress(self) -> Progress:
        left = [self.texts[point] for point, _ in self.planner.queued]
        left += [self.texts[places[0][0]] for places in self.waiting.values()]
        workers = self.pool.workers if self.pool is not None else 1
        return Progress(
            done=self.done,
            from_store=self.from_store,
            running=min(len(self.waiting), workers),
            failed=len(self.failed),
            planned=self.done + len(self.failed) + len(left) + len(self.owned_by_others),
            bounded=isinstance(self.rule, int),
            packets=self.packets + (self.pool.live()[1] if self.pool is not None else 0),
            elapsed_s=self.recorder.elapsed_s,
            remaining_s=self.estimate.remaining_s(sum(self.estimate.size(text) for text in left), workers),
            workers=workers,
        )
