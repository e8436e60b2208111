"""What the processes behind the server do: each task by its name, and the loop that reads tasks from a connection.

Everything that takes time is done here and not in the server: simulations, models, pages. A process does one task at a
time; if that takes too long, the server ends the process and starts another (`parshall.explore.workers`).
"""

from __future__ import annotations

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from parshall.explore.subject import Base, Subject
from parshall.foundations.errors import InputError, ParshallError
from parshall.foundations.files import Scratch

Answer = dict[str, Any]
Task = Callable[[Subject, Mapping[str, Any], Callable[[], bool]], Iterator[Answer]]

LONGEST_NAME = 64


def opened(_: Subject, request: Mapping[str, Any], __: Callable[[], bool]) -> Iterator[Answer]:
    """What is to be explored; refused, if it is nothing."""
    from parshall.explore import opening  # noqa: PLC0415 - each task loads what it needs

    yield {"subject": opening.opened(request["place"])}


def explorer(subject: Subject, request: Mapping[str, Any], stopped: Callable[[], bool]) -> Iterator[Answer]:
    """The page of a scenario, its first picture in it."""
    from parshall.explore import pages, preview  # noqa: PLC0415

    base = _base(subject, request)
    first = next(preview.shown(base, {}, stopped), {})
    yield {"html": pages.explorer(subject, base, request.get("of") or "", first)}


def simulate(subject: Subject, request: Mapping[str, Any], stopped: Callable[[], bool]) -> Iterator[Answer]:
    """What a scenario with changed values gives (`parshall.explore.preview`)."""
    from parshall.explore import preview  # noqa: PLC0415

    yield from preview.shown(_base(subject, request), request, stopped)


def save(subject: Subject, request: Mapping[str, Any], _: Callable[[], bool]) -> Iterator[Answer]:
    """Write a scenario with changed values into the directory that was named for it, as a new file."""
    from parshall.explore import knobs  # noqa: PLC0415
    from parshall.foundations.files import write_atomically  # noqa: PLC0415
    from parshall.results.records.storage import guarded  # noqa: PLC0415
    from parshall.scenario.schema import reading, writing  # noqa: PLC0415

    if subject.save_in is None:
        raise InputError("nothing is saved here: the command was given no --save-in DIR")
    name = request.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]*", name) or len(name) > LONGEST_NAME:
        raise InputError(
            f'found the name "{str(name)[:LONGEST_NAME]}"; accepted: up to {LONGEST_NAME} letters, digits, "-" and "_"'
        )
    scenario = knobs.changed(_base(subject, request).scenario(), request.get("values") or {}).scenario
    target = Path(subject.save_in) / f"{name}.toml"
    if target.exists() or target.is_symlink():
        raise InputError(f"{target.name} exists; nothing is written over it")
    document = {**reading.with_absolute_paths(scenario.document(), scenario.folder), "name": name}
    guarded(lambda: write_atomically(target, writing.toml(document)))
    yield {"saved": str(target)}


def listing(subject: Subject, _: Mapping[str, Any], __: Callable[[], bool]) -> Iterator[Answer]:
    """The page that lists results."""
    from parshall.explore import lists  # noqa: PLC0415

    yield {"html": lists.listing(subject)}


def result(subject: Subject, request: Mapping[str, Any], _: Callable[[], bool]) -> Iterator[Answer]:
    """The page of a result or of a sweep."""
    from parshall.explore import results  # noqa: PLC0415

    yield {"html": results.page(_place(subject), request["name"])}


def comparison(subject: Subject, request: Mapping[str, Any], _: Callable[[], bool]) -> Iterator[Answer]:
    """The page of a comparison."""
    from parshall.explore import results  # noqa: PLC0415

    yield {"html": results.comparison(_place(subject), request["names"])}


def sweep(subject: Subject, request: Mapping[str, Any], _: Callable[[], bool]) -> Iterator[Answer]:
    """A metric of a sweep against a parameter."""
    from parshall.explore import lists  # noqa: PLC0415

    yield {"html": lists.sweep(subject, _place(subject), request)}


TASKS: Mapping[str, Task] = {
    task.__name__: task for task in (opened, explorer, simulate, save, listing, result, comparison, sweep)
}


def _base(subject: Subject, request: Mapping[str, Any]) -> Base:
    """The scenario that a request speaks of: that of a result of the list, or that of the command."""
    if of := request.get("of"):
        from parshall.explore import results  # noqa: PLC0415

        return results.base_of(_place(subject), str(of))
    if subject.base is None:
        raise InputError("no scenario is explored; choose one of the results")
    return subject.base


def _place(subject: Subject) -> Path:
    if subject.results is None:
        raise InputError("there is no list of results: a scenario is explored")
    return Path(subject.results)


# --- in the process ---


def serve() -> None:
    """Do what comes through the connection until its other end is closed.

    A task is ``(name, subject, request)``. Its answers are sent one by one, and then None; instead of an answer, what
    was refused is sent as an exception. Whatever else comes while a task is done means that nobody waits for it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides
    connection = Connection(int(sys.argv[1]))
    if controls := sys.argv[2:]:
        from parshall.scenario.controls import declare  # noqa: PLC0415 - as each task

        declare(controls)
    try:
        while True:
            message = connection.recv()
            if message is not None:
                _do(connection, *message)
    except (EOFError, OSError):  # the server has ended
        pass
    finally:
        Scratch.remove_of(Path(tempfile.gettempdir()))  # the process has one of its own
        os._exit(0)


def _do(connection: Connection, name: str, subject: Subject, request: Mapping[str, Any]) -> None:
    """Do a task; whatever goes wrong in it is an answer."""
    try:
        for answer in TASKS[name](subject, request, connection.poll):
            connection.send(answer)
    except ParshallError as error:
        connection.send(InputError(str(error)))
    except (EOFError, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 - the server goes on, and the reader learns of it
        connection.send(InputError(f"this is a fault in Parshall: {type(error).__name__}: {error}"))
    connection.send(None)
