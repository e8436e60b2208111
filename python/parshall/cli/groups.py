"""Groups of options that verbs share: a parameter of a verb whose type is a group stands for all options of the group.

`parshall.cli.verb` puts them into the command line; what is common to their use is a method here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from parshall.cli.console import INTERRUPTED, declare_controls, fail, hush, note, termination_interrupts
from parshall.cli.options import (
    WIDTH,
    AcceptInvalid,
    AtOnce,
    Controls,
    Force,
    Formats,
    Json,
    Output,
    Overrides,
    PageOutput,
    Quiet,
    Scheduler,
    Shard,
    Store,
    Width,
    WithPage,
    Workers,
    store_option,
)
from parshall.cli.pages import Files, files, write_page

if TYPE_CHECKING:
    from parshall.campaign import Execution
    from parshall.campaign.progress import SweepProgress
    from parshall.report.document import Document
    from parshall.scenario import Scenario


@dataclass(frozen=True)
class Changes:
    """Changes to a scenario, and controls that it may name."""

    overrides: Overrides = None
    controls: Controls = None

    def declare(self) -> None:
        """Declare the controls of ``--control``."""
        declare_controls(self.controls)

    def scenario(self, path: Path) -> Scenario:
        """Return the scenario of a file, with the changes, after the controls are declared."""
        from parshall.scenario import Scenario

        self.declare()
        return Scenario.load(path, self.overrides or ())


@dataclass(frozen=True)
class Printed:
    """The form in which a verb prints its answer."""

    as_json: Json = False
    quiet: Quiet = False

    @property
    def silent(self) -> bool:
        """True if nothing is said on the way to the answer."""
        return self.as_json or self.quiet

    def hush(self) -> None:
        """Log no warnings, if nothing is to be said."""
        hush(self.silent)

    def note(self, message: str) -> None:
        """Say on the standard error what is being done, unless nothing is to be said."""
        if not self.silent:
            note(message)

    def written(self, path: Path) -> None:
        """Say where a page was written, unless the verb is to be quiet."""
        if not self.quiet:
            note(f"page: {path}")

    def bar(self, name: str) -> str | None:
        """Return the title of the bar of progress; None: there is no bar."""
        return None if self.silent else name


@dataclass(frozen=True)
class Results:
    """The directory of results, and their page in it."""

    output: Output = None
    force: Force = False
    page: WithPage = True


@dataclass(frozen=True)
class PageOptions:
    """The directory of a page, and its figures as files."""

    output: PageOutput = None
    force: Force = False
    formats: Formats = None
    width: Width = WIDTH

    def files(self, default: str | None = None) -> Files:
        """Return the files that are wanted of each figure, checked; of the `default` formats without ``--format``."""
        return files(self.formats or default, self.width, self.output, force=self.force)

    def write(self, make: Callable[[], Document], name: str, drawn: Files, printed: Printed) -> None:
        """Write the page and its figures if there is an ``--output``, and say where."""
        if self.output is not None:
            printed.written(write_page(make, self.output, name, drawn))


@dataclass(frozen=True)
class Emulations:
    """Decisions about emulations."""

    accept_invalid: AcceptInvalid = False
    at_once: AtOnce = False


@dataclass(frozen=True)
class Work:
    """The store and the workers of a verb with many runs."""

    store: Annotated[Path | None, store_option("nothing is kept")] = None
    workers: Workers = None
    scheduler: Scheduler = None

    @contextmanager
    def execution(self, *, bar: str | None = None) -> Iterator[Execution]:
        """Give what does the runs; a terminal shows how far sweeps are, if `bar` names them."""
        from parshall.campaign import Execution

        try:
            with termination_interrupts(), _bar(bar) as progress:
                yield Execution(self.store, self.workers, self.scheduler, progress=progress)
        except KeyboardInterrupt:
            if self.store is None:
                raise
            kept = f"what was finished is in {self.store}, and the same command goes on from there"
            fail(f"interrupted; {kept}", INTERRUPTED)


@dataclass(frozen=True)
class StudyWork(Work):
    """The store and the workers of a study, which may be done in parts."""

    store: Annotated[Path | None, store_option("at paper scale, in the user's cache")] = None
    shard: Shard = None


@dataclass(frozen=True)
class SweepWork(StudyWork):
    """The store and the workers of a sweep, which always has a store."""

    store: Store = Path("store")


def _bar(name: str | None) -> AbstractContextManager[Callable[[SweepProgress], None] | None]:
    if name is None or not sys.stderr.isatty():
        return nullcontext()
    from parshall.cli.progress import sweep_bar

    return sweep_bar(name)
