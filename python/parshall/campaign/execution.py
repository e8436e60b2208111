"""The workers and the store of runs: the same class for the benchmark, designs, report cards and studies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from parshall.campaign.plan import Plan
from parshall.campaign.pool import Workers
from parshall.campaign.progress import SweepProgress
from parshall.campaign.result import Sweep
from parshall.campaign.runner import swept
from parshall.campaign.shard import Shard
from parshall.campaign.store import Store
from parshall.foundations.errors import InputError


@dataclass(frozen=True)
class Execution:
    """The workers of runs, and the store that keeps them.

    Parameters
    ----------
    store
        Where what was done is kept, so that the same is not done again; None: nowhere.
    workers
        Runs at a time on this machine; by default as many as it has cores.
    scheduler
        The address of a Dask scheduler, whose workers do them instead.
    shard
        The part that is done, where the whole is known before it begins; by default all.
    at_once
        Whether emulations do not wait for others on this machine.
    progress
        Called a few times a second by what sweeps.
    """

    store: str | Path | Store | None = None
    workers: int | None = None
    scheduler: str | None = None
    shard: Shard | None = None
    at_once: bool = False
    progress: Callable[[SweepProgress], None] | None = field(default=None, compare=False, repr=False, kw_only=True)

    @contextmanager
    def sweeping(self) -> Iterator[Callable[[Plan], Sweep]]:
        """Yield a function that does sweeps one after another, by the same workers, and returns all of their runs.

        Without a store they have a temporary one: what is to be known of a sweep is asked of it before the end.

        Raises
        ------
        InputError
            A shard was asked for: what is done next depends on all that came before.
        SimulationError
            A run failed.
        ParshallError
            As `parshall.campaign.sweep`.
        """
        if self.shard is not None:
            raise InputError(f"shard {self.shard}: found beside a search, of which each step depends on those before")
        with ExitStack() as stack:
            place = self.store
            if place is None:
                place = Path(stack.enter_context(TemporaryDirectory(prefix="parshall-"))) / "store"
            by = stack.enter_context(Workers(self.workers, self.scheduler))
            yield lambda plan: swept(plan, place, by, progress=self.progress, at_once=self.at_once).without_failures(
                plan.name
            )

    @property
    def kept(self) -> Store | None:
        """The store, made if it is not there."""
        if self.store is None or isinstance(self.store, Store):
            return self.store
        return Store(self.store, create=True)
