"""Functions that all verbs share: exit codes, errors, output."""

from __future__ import annotations

import json
import logging
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

FAILURE = 1
BAD_INPUT = 2
INVALID = 3
"""An emulation cannot be believed."""
INTERRUPTED = 130
"""As shells say of a program that SIGINT ended: 128 and the signal's number."""


def declare_controls(controls: Sequence[str] | None) -> None:
    """Say what makes the controls of ``--control``."""
    if controls:
        from parshall.scenario.controls import declare

        declare(controls)


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """SIGTERM is as SIGINT: what was finished is kept, and the message says where."""

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


OPTIONS = {
    "overwrite=True": "--force",
    "accept_invalid=True": "--accept-invalid",
    "at_once=True": "--at-once",
    "unreferenced=True": "--unreferenced",
    "workers=N": "--workers N",
}
"""Arguments in Python that messages name, and the options with the same meaning."""


def in_options(message: str) -> str:
    """Return a message of the library in words of the command line.

    >>> in_options("out exists; write the name of a new directory, or overwrite=True")
    'out exists; write the name of a new directory, or --force'
    """
    for argument, option in OPTIONS.items():
        message = message.replace(argument, option)
    return message


class _InOptions(logging.Formatter):
    """Formats warnings in words of the command line."""

    def format(self, record: logging.LogRecord) -> str:
        return in_options(super().format(record))


def log_in_options() -> None:
    """Write warnings to the standard error, in words of the command line."""
    handler = logging.StreamHandler()
    handler.setFormatter(_InOptions())
    logging.getLogger("parshall").addHandler(handler)


def fail(message: str, code: int) -> None:
    """Print the error in words of the command line, and exit."""
    from parshall.scenario.schema.printing import printable

    print(f"parshall: {printable(in_options(message))}", file=sys.stderr)
    raise typer.Exit(code) from None


def note(message: str) -> None:
    """Say something that is no result; a terminal breaks lines where it likes."""
    from parshall.foundations.numbers import NO_BREAK
    from parshall.scenario.schema.printing import printable

    print(printable(message.replace(NO_BREAK, " ")), file=sys.stderr)


def hush(asked: bool) -> None:
    """No more words on the standard error but of errors, if that is asked for."""
    if asked:
        logging.getLogger("parshall").setLevel(logging.ERROR)


def print_json(value: Any) -> None:
    """Print one JSON value."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def console() -> Console:
    """Return the console for tables. Text is printed as it is: square brackets and colons of data are no markup."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, width=None if sys.stdout.isatty() else 160)


def table(title: str, *columns: str) -> Table:
    """An empty table with these columns, for `console`."""
    from rich.table import Table
    from rich.text import Text

    from parshall.scenario.schema.printing import printable

    class Plain(Table):
        """A table whose cells are text, and nothing in it a command to the terminal."""

        def add_row(self, *cells: RenderableType | None, **options: Any) -> None:
            super().add_row(*(Text(printable(cell)) if isinstance(cell, str) else cell for cell in cells), **options)

    made = Plain(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, header_style="dim")
    for name in columns:
        made.add_column(Text(printable(name)), overflow="fold")
    return made
