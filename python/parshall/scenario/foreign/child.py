"""The process of foreign code: it loads what makes controls, and runs what calls them.

It answers in JSON, so that its parent never unpickles what foreign code may have made.

Each question comes with the memory that the process may take, in bytes.

| asked | answered |
| --- | --- |
| ``("load", ForeignCode, sys.path of the parent)`` | ``["described", needs, standard_slow_start, steering]`` |
| ``("simulate", makers, most_flows, arguments)``, and so on, as `_FUNCTIONS` | ``["value", text]`` |
| any of these | ``["refused", text, traceback]``: the code is no control |
| any of these | ``["raised", name of the exception, its arguments]``: the function failed |
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.scenario.foreign.code import ForeignCode, load, shortened

IDLE_S = 60.0
"""A process that is asked for nothing so long ends."""
_LOOK_S = 1.0
_LONGEST_TRACEBACK = 4000

EXCEPTIONS: dict[str, type[Exception]] = {
    "ControlFailed": _core.ControlFailed,
    "Interrupted": _core.Interrupted,
    "OSError": OSError,
    "RuntimeError": RuntimeError,
    "ValueError": ValueError,
}
"""Exceptions that the functions raise, by the names under which they are sent."""


def serve() -> None:
    """Do what comes through the connection until its other end is closed, or nothing comes any more."""
    for number in (signal.SIGINT, signal.SIGTERM):  # a terminal sends them to all; the owner decides
        signal.signal(number, signal.SIG_IGN)
    connection_file, page_file, parent = map(int, sys.argv[1:])
    sys.argv[1:] = []
    connection = Connection(connection_file)
    process = os.getpid()
    page = _core.ForeignPage(Path(f"/dev/fd/{page_file}"), parent)
    loaded: dict[str, Any] = {}
    while _asked(connection, parent):
        try:
            most_bytes, (what, *details) = connection.recv()
        except (EOFError, OSError):
            break
        monitor = _core.Monitor(None if what == "load" else details[1])
        page.begin(monitor, most_bytes)
        try:
            if what == "load":
                code, path = details
                answer = _loaded(code, path, loaded)
            else:
                answer = _done(what, details, loaded, monitor, page)
        finally:
            if os.getpid() != process:
                os._exit(1)  # a copy that foreign code made by os.fork
            page.end()
        _flush()
        connection.send_bytes(json.dumps(answer).encode())
    os._exit(0)  # without what foreign code has left for the end


def _asked(connection: Connection, parent: int) -> bool:
    """Wait until something is asked; False: nothing will be."""
    for _ in range(round(IDLE_S / _LOOK_S)):
        if connection.poll(_LOOK_S):
            return True
        if os.getppid() != parent:
            return False
    return False


def _loaded(code: ForeignCode, path: list[str], loaded: dict[str, Any]) -> list[Any]:
    sys.path.extend(each for each in path if each not in sys.path)
    try:
        made_by, description = load(code)
    except ValueError as error:
        return ["refused", str(error), _traceback(error.__cause__)]
    loaded[code.key()] = made_by
    return ["described", *description]


def _traceback(error: BaseException | None) -> str:
    if error is None:
        return ""
    try:
        return "".join(traceback.format_exception(error))[-_LONGEST_TRACEBACK:]
    except Exception as failed:  # noqa: BLE001 - of what foreign code raised
        return shortened(failed)


def _simulate(controls: Mapping[str, Any], monitor: _core.Monitor, page: _core.ForeignPage, given: list[Any]) -> str:
    resolved, repetition, directory, durable = given
    return _core.simulate(resolved, repetition, Path(directory), monitor, durable, controls, page)


def _check(controls: Mapping[str, Any], _: _core.Monitor, page: _core.ForeignPage, given: list[Any]) -> str:
    config, seed, series, events = given
    return _core.check_conformance(config, seed, series, events, controls, page)


def _replay(controls: Mapping[str, Any], _: _core.Monitor, page: _core.ForeignPage, given: list[Any]) -> str:
    recording, config, recorded = given
    return _core.replay(Path(recording), config, recorded, controls, page)


_FUNCTIONS: dict[str, Callable[[Mapping[str, Any], _core.Monitor, _core.ForeignPage, list[Any]], str]] = {
    "simulate": _simulate,
    "check_conformance": _check,
    "replay": _replay,
}


def _done(
    what: str, details: list[Any], loaded: Mapping[str, Any], monitor: _core.Monitor, page: _core.ForeignPage
) -> list[Any]:
    names, _, given = details
    controls = {name: loaded[key] for name, key in names.items()}
    try:
        return ["value", _FUNCTIONS[what](controls, monitor, page, given)]
    except OSError as error:
        return [
            "raised",
            "OSError",
            [error.errno, error.strerror or str(error), error.filename and str(error.filename)],
        ]
    except tuple(EXCEPTIONS.values()) as error:
        return ["raised", type(error).__name__, [str(each) for each in error.args]]
    except BaseException as error:  # noqa: BLE001 - foreign code may leave whatever behind
        return ["raised", "RuntimeError", [f"{type(error).__name__}: {shortened(error)}"]]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # foreign code may have replaced or closed it
            stream.flush()
