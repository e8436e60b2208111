"""What all verbs share: errors, exit codes, output."""

from __future__ import annotations

import functools
import json
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, Literal, ParamSpec, TypeVar, overload

import typer
from typer.core import TyperGroup

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table

    from parshall.campaign.shard import Shard as ShardNumber

FAILURE = 1
BAD_INPUT = 2
INVALID = 3
"""An emulation cannot be believed."""
INTERRUPTED = 130
"""As shells say of a program that SIGINT ended: 128 and the signal's number."""

P = ParamSpec("P")

Overrides = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY.PATH=VALUE",
        help='Change a value of the scenario, e.g. flows.0.count=10 or bottleneck.rate="10 Mbit/s"; repeatable.',
        show_default=False,
    ),
]
Controls = Annotated[
    list[str] | None,
    typer.Option(
        "--control",
        metavar="NAME=FILE.py:CLASS",
        help="A control of your own that scenarios may name; or NAME=LIBRARY.so, or, to emulate, NAME=FILE.bpf.o.",
        show_default=False,
    ),
]
OUTPUT = "A new directory for the results."
STORE = "The store: a directory that keeps what was done, so that it is not done again."


def output_option(default: str | bool) -> Any:
    """Say where a new directory of results goes; its verb has `Force` too."""
    return typer.Option("--output", "-o", help=OUTPUT, show_default=default)


Output = Annotated[Path | None, output_option("runs/NAME-N")]
Force = Annotated[bool, typer.Option("--force", help="Replace an earlier result, or the file, that is there.")]
WithPage = Annotated[bool, typer.Option("--page/--no-page", help="Whether to write the page.")]
Store = Annotated[Path, typer.Option("--store", metavar="DIR", help=STORE)]
Workers = Annotated[int | None, typer.Option(help="How many runs at a time.", show_default="one a core", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Have the workers of a Dask scheduler do the runs.", show_default=False),
]
SCALES: tuple[Literal["quick", "paper"], ...] = ("quick", "paper")
Scale = Annotated[str, typer.Option(help="quick: minutes; paper: as published.", autocompletion=lambda: [*SCALES])]
INSTRUMENTS: tuple[Literal["simulate", "emulate", "both"], ...] = ("simulate", "emulate", "both")
Instrument = Annotated[
    str,
    typer.Option(
        help="simulate; emulate: with real Linux TCP, what can be; or both.", autocompletion=lambda: [*INSTRUMENTS]
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON value for other programs.")]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="K/N", help="Do the K-th of N parts only; the same without --shard collects.", show_default=False
    ),
]
AcceptInvalid = Annotated[
    bool, typer.Option("--accept-invalid", help="Take an emulation that cannot be believed as if it could.")
]
AtOnce = Annotated[
    bool, typer.Option("--at-once", help="Do not wait for other emulations on this machine: they disturb each other.")
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Print nothing but errors, and the answer where no file has it.")
]


class Commands(TyperGroup):
    """Verbs of which one that is not known is answered with those that are."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The verb that a command line begins with."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from parshall.scenario.schema.problems import did_you_mean, quoted

            meant = did_you_mean(args[0], known)
            where = f"{ctx.info_name}: " if ctx.parent is not None else ""
            accepted = f"{' Accepted' if meant else '; accepted'}: {quoted(known)}"
            fail(f'{where}found "{args[0]}"{meant}{accepted}', BAD_INPUT)
        return super().resolve_command(ctx, args)


def declare_controls(controls: Sequence[str] | None) -> None:
    """Say what makes the controls of ``--control``."""
    if controls:
        from parshall.scenario.controls import declare

        declare(controls)


def verb(command: Callable[P, None]) -> Callable[P, None]:
    """Turn what goes wrong into one message and an exit code."""

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        from parshall.foundations.errors import InputError, InvalidEmulationError, ParshallError

        try:
            command(*args, **kwargs)
            sys.stdout.flush()
        except InputError as error:
            fail(str(error), BAD_INPUT)
        except InvalidEmulationError as error:
            fail(f"{error}\n--accept-invalid takes it as if it could be believed", INVALID)
        except ParshallError as error:
            fail(str(error), FAILURE)
        except KeyboardInterrupt:
            fail("interrupted", INTERRUPTED)
        except BrokenPipeError:
            # Whoever read our output has stopped: nothing is left to say, not even at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(FAILURE) from None

    return guarded


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


def fail(message: str, code: int) -> None:
    """Say what went wrong, and exit."""
    from parshall.scenario.schema.printing import printable

    print(f"parshall: {printable(message)}", file=sys.stderr)
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


@overload
def duration_s(option: str, text: str) -> float: ...
@overload
def duration_s(option: str, text: str | None) -> float | None: ...
def duration_s(option: str, text: str | None) -> float | None:
    """A time with its unit as seconds; None stays None.

    Raises
    ------
    InputError
        It is no time above 0.

    Examples
    --------
    >>> duration_s("--rtt", "100 ms")
    0.1
    """
    if text is None:
        return None
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.quantities import PS_PER_S

    # Divided: a product with 1e-12 is 0.09999999999999999 for 100 ms.
    seconds = parsed(option, "duration", text) / PS_PER_S
    if seconds <= 0:
        raise InputError(f'{option}: found "{text}"; accepted: times above 0, e.g. "100 ms"')
    return seconds


def parsed(option: str, kind: str, text: str) -> float:
    """The quantity that an option was given, in the smallest unit of its kind (`parshall.scenario.schema.quantities`).

    Raises
    ------
    InputError
        The text is none of that kind.

    Examples
    --------
    >>> parsed("--rate", "rate", "10 Mbit/s")
    10000000.0
    """
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.quantities import parse

    try:
        return float(parse(kind, text.strip()))
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


Name = TypeVar("Name", bound=str)


def one_of(option: str, found: str, known: Sequence[Name]) -> Name:
    """The known name that was found.

    Raises
    ------
    InputError
        It is none; the message has those that it may have been meant to be.
    """
    for name in known:
        if name == found:
            return name
    from parshall.foundations.errors import InputError
    from parshall.scenario.schema.problems import did_you_mean, quoted

    raise InputError(f'{option}: found "{found}"; accepted: {quoted(known)}{did_you_mean(found, known)}')


def scale_named(name: str) -> Literal["quick", "paper"]:
    """The scale of a study.

    Raises
    ------
    InputError
        There is none of that name.
    """
    return one_of("--scale", name, SCALES)


def shard_of(text: str | None, output: Path | None, *, as_json: bool) -> ShardNumber | None:
    """The part of ``--shard``; all without any.

    Raises
    ------
    InputError
        It is none, or stands beside ``--output`` or ``--json``.
    """
    if text is None:
        return None
    from parshall.campaign import shard
    from parshall.foundations.errors import InputError

    if output is not None or as_json:
        raise InputError("--shard: found beside --output or --json; a shard has no page, the same without it collects")
    return shard.Shard.parse(text)


def console() -> Console:
    """Where tables go. Text is printed as it is: square brackets and colons of data are no markup."""
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


AtLeast = Annotated[
    str | None,
    typer.Option(
        "--at-least",
        metavar="SHARE",
        help="Differences below this share of A's value do not matter: 1 %, or 0.01.",
        show_default="1 %",
    ),
]


def share(text: str | None) -> float:
    """A share as it is given, ``2 %`` or ``0.02``; the default threshold without any.

    Raises
    ------
    InputError
        It is neither.

    Examples
    --------
    >>> share("2 %"), share("0.02"), share(None)
    (0.02, 0.02, 0.01)
    """
    from parshall.analysis.stats.verdict import AT_LEAST

    if text is None:
        return AT_LEAST
    return _share("--at-least", text, lambda value: 0 <= value < 1, 'a share such as "1 %" or 0.01')


def asked_share(option: str, text: str) -> float:
    """A share that is asked of something, ``98 %`` or ``0.98``: above 0, and possibly all.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> asked_share("--utilisation", "98 %"), asked_share("--utilisation", "1")
    (0.98, 1.0)
    """
    return _share(option, text, lambda value: 0 < value <= 1, 'above 0 and at most 1, such as "98 %" or 0.98')


def part(option: str, text: str) -> float:
    """A share that may be nothing: ``1 %`` or ``0.01``, from 0 to 1.

    Raises
    ------
    InputError
        It is none.

    Examples
    --------
    >>> part("--loss", "1 %"), part("--loss", "0")
    (0.01, 0.0)
    """
    return _share(option, text, lambda value: 0 <= value <= 1, 'a share from 0 to 1, such as "1 %" or 0.01')


def _share(option: str, text: str, fits: Callable[[float], bool], accepted: str) -> float:
    """The share that a text is, if it fits; `accepted` says which do."""
    from parshall.foundations.errors import InputError

    value = _as_share(text)
    if not fits(value):
        raise InputError(f'{option}: found "{text}"; accepted: {accepted}')
    return value


def _as_share(text: str) -> float:
    """The number of ``98 %`` or ``0.98``; NaN: it is neither."""
    stripped = text.strip()
    try:
        return float(stripped.removesuffix("%")) / (100 if stripped.endswith("%") else 1)
    except ValueError:
        return float("nan")
