"""Functions called by workers: for work that is more than runs, as the cases of a study.

What comes back does not depend on how many workers there are: each call is done by one of them, alone, and even a
single one is a process of its own, with the same libraries and one thread. With a store, what is there is not done
again, and what another program is doing is waited for (`parshall.campaign.executor`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any

from parshall.campaign.answers import Answers
from parshall.campaign.call import Call, CallError, Returned, Written
from parshall.campaign.executor import Agenda, Executor
from parshall.campaign.pool import Workers
from parshall.campaign.store import Store
from parshall.foundations.errors import ParshallError, SimulationError
from parshall.scenario.schema import external


def run_calls(
    calls: Sequence[Call],
    workers: int | None = None,
    progress: Callable[[Call], None] = lambda _: None,
    *,
    scheduler: str | None = None,
    store: Store | None = None,
) -> list[Any]:
    """Yield the answer of each call, in their order; they begin in their order, so that long ones are best first.

    Parameters
    ----------
    calls
        Of functions, with different keys; with a store, those of `parshall.campaign.keys.call_of`.
    workers
        Processes; by default as many as there are cores.
    progress
        Told of each call when its answer is there, whether it was done now or found.
    scheduler
        The address of a Dask scheduler, whose workers do the calls instead.
    store
        Where what they return is kept.

    Raises
    ------
    ParshallError
        What the first call to fail raised.
    SimulationError
        A call raised something else, or its process ended again and again.
    InputError
        As `parshall.campaign.pool.Workers`.
    """
    if len({each.key for each in calls}) != len(calls):
        raise ValueError("calls: keys must differ")
    with ExitStack() as stack:
        by = stack.enter_context(Workers(workers, scheduler))
        if store is not None:
            store.check_writable()
            store.remove_orphans()
            stack.enter_context(store.working())
        answers = Answers(store)
        left = []
        for call in calls:
            if answers.has(call):
                progress(call)
            else:
                left.append(call)
        here = scheduler is None and bool(external.known_here_alone())
        Executor(_Calling(left, progress), answers, by, most=len(left), here=here, ahead=False).run()
        return [answers.values[each.key] for each in calls]


class _Calling(Agenda):
    """Calls in their order, of which none may fail."""

    def __init__(self, calls: Iterable[Call], progress: Callable[[Call], None]) -> None:
        self._calls = deque(calls)
        self._progress = progress

    @property
    def finished(self) -> bool:
        """True if all calls were given out."""
        return not self._calls

    def next(self) -> Call | None:
        """The next one."""
        return self._calls.popleft() if self._calls else None

    def done(self, call: Call, _: Written | Returned | None) -> None:
        """Tell of a call whose answer is there."""
        self._progress(call)

    def failed(self, call: Call, error: ParshallError) -> None:
        """Raise the error."""
        raise SimulationError(f"{call.label or call.key}: {error}") if isinstance(error, CallError) else error
