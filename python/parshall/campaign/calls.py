"""Functions called in processes of this machine: for work that is more than runs, as the parts of a study.

What comes back does not depend on how many processes there are: each call is done by one of them, alone, and even a
single one is a process of its own, with the same libraries and one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from parshall.campaign.pool import LocalPool
from parshall.campaign.work import Call
from parshall.errors import InputError, SimulationError
from parshall.records import about


def called(
    calls: Sequence[Call], workers: int | None = None, progress: Callable[[Call], None] = lambda _: None
) -> list[Any]:
    """What each call returns, in their order; begun in their order, so that long ones are best first.

    Parameters
    ----------
    calls
        Of different names.
    workers
        Processes; by default as many as there are cores.
    progress
        Told of each call when it is done.

    Raises
    ------
    ParshallError
        What the first call to fail raised.
    SimulationError
        A call raised something else, or its process ended again and again.
    InputError
        `workers` is below 1.
    """
    if workers is not None and workers < 1:
        raise InputError(f"workers: found {workers}; accepted: 1 or more")
    names = {each.run: place for place, each in enumerate(calls)}
    if len(names) != len(calls):
        raise ValueError("calls: names must differ")
    values: dict[str, Any] = {}
    waiting = list(reversed(calls))
    # One call at a time and process: calls are long, and one that waits behind another could be done elsewhere.
    pool = LocalPool(min(workers or about.cores(), max(1, len(calls))))
    try:
        running = 0
        while len(values) < len(calls):
            while waiting and running < pool.workers:
                pool.submit(waiting.pop())
                running += 1
            for outcome in pool.outcomes(1.0):
                if outcome.fatal is not None:
                    raise outcome.fatal
                if outcome.error is not None:
                    raise SimulationError(f"{outcome.run}: {outcome.error}")
                running -= 1
                values[outcome.run] = outcome.value
                progress(calls[names[outcome.run]])
    finally:
        pool.close()
    return [values[each.run] for each in calls]
