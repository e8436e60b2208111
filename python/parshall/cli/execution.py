"""Options that verbs with many runs share: the workers, the store, and the bar of progress."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import INTERRUPTED, STORE, fail, termination_interrupts

if TYPE_CHECKING:
    from parshall.campaign import Execution
    from parshall.campaign.progress import SweepProgress

Kept = Annotated[Path | None, typer.Option("--store", metavar="DIR", help=STORE, show_default="nothing is kept")]


@contextmanager
def execution(
    store: Path | None, workers: int | None, scheduler: str | None, *, bar: str | None = None
) -> Iterator[Execution]:
    """Who does runs. An interruption says what was kept; a terminal shows how far sweeps are, if `bar` names them."""
    from parshall.campaign import Execution

    try:
        with termination_interrupts(), _bar(bar) as progress:
            yield Execution(store, workers, scheduler, progress=progress)
    except KeyboardInterrupt:
        if store is None:
            raise
        fail(f"interrupted; what was finished is in {store}, and the same command goes on from there", INTERRUPTED)


def _bar(name: str | None) -> AbstractContextManager[Callable[[SweepProgress], None] | None]:
    if name is None or not sys.stderr.isatty():
        return nullcontext()
    from parshall.cli.progress import sweep_bar

    return sweep_bar(name)
