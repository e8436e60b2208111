"""Your own congestion control, in Python, in a shared library, or for the kernel as a BPF object.

A control in Python is a class:

>>> class Mine:
...     def __init__(self, start, increase=1.0):
...         self.cwnd = start.cwnd
...         self.increase = increase
...
...     def on_ack(self, ack):
...         if ack.may_grow:
...             self.cwnd += self.increase * ack.credit / self.cwnd
...
...     def on_loss(self, event):
...         self.cwnd = max(2.0, event.in_flight / 2)
...
...     def on_timeout(self, event):
...         self.cwnd = 1.0

A scenario names it, with parameters if it likes, and the run is told what makes it:

>>> import parshall as ps
>>> declare({"mine": Mine})
>>> scenario = ps.Scenario(
...     duration="5 s",
...     bottleneck={"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
...     flows=[{"rtt": "40 ms", "congestion_control": {"name": "mine", "increase": 2.0}}],
... )
>>> run = ps.run(scenario)
>>> run.flows["goodput_bps"][0] > 4e6
True

On the command line: ``parshall run S.toml --control mine=mine.py:Mine``. ``docs/own_control.md`` has what such a class
is told and asked, and the same for shared libraries.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import keyword
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from parshall import _core
from parshall.errors import InputError
from parshall.files import read_file
from parshall.schema import external
from parshall.schema.catalog import family
from parshall.schema.external import NEEDS, STEERING, Code, External

__all__ = ["conformance", "declare", "declare_sent", "read", "receive", "sent"]

METHODS = ("on_ack", "on_loss", "on_timeout")
"""What every class must have."""

_LIBRARIES = {".so", ".dylib", ".dll"}


def declare(controls: Mapping[str, Any] | Iterable[str]) -> None:
    """Say what makes controls that scenarios name.

    Parameters
    ----------
    controls
        Classes, or places of code as ``FILE.py:CLASS``, ``LIBRARY.so`` or, to emulate, ``FILE.bpf.o``, by name; or
        assignments such as ``mine=mine.py:Mine``.

    Raises
    ------
    InputError
        A name is taken, a file cannot be read, or a class lacks a method.
    """
    given = dict(controls) if isinstance(controls, Mapping) else dict(map(_assignment, controls))
    external.declare([read(name, code) for name, code in given.items()])


_received: dict[str, bytes] = {}
"""Files of controls that another process sent, by their digests."""

_loaded: dict[Path, str] = {}
"""Libraries that this process has loaded, and the digests that their files had then."""


def sent() -> dict[str, bytes]:
    """The files of all controls that other processes are to declare, by their digests."""
    declared_names = {each.digest: external.declared(each.name) for each in external.codes()}
    return {digest: control.content for digest, control in declared_names.items() if control is not None}


def receive(files: Mapping[str, bytes]) -> None:
    """Keep what `sent` gave in another process, for `declare_sent`."""
    _received.update(files)


def declare_sent(codes: Iterable[Code]) -> None:
    """Declare what another process has declared, in a process that does runs for it: the very same code.

    Raises
    ------
    InputError
        A file is not here, or has other code than there.
    """
    for name, place, wanted in codes:
        known = external.declared(name)
        if known is not None and known.code == wanted and known.make is not None:
            continue
        kernels = place.endswith(external.BPF_SUFFIX)  # which takes it from its file
        control = _of_file(name, place, None if kernels else _received.get(wanted))
        if control.code != wanted:
            changed = f'control "{name}": {place} was changed while it was in use'
            raise InputError(f"{changed}; the same command takes what is there now")
        external.declare([control])


def read(name: str, code: Any) -> External:
    """The control of a name: of a class, or of the place of its code.

    Raises
    ------
    InputError
        As `declare`.
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name == "external":
        raise InputError(f"control {name!r}: accepted: a name of letters, digits and _, beginning with a letter")
    if name in {entry.name for entry in family("congestion_controls")}:
        raise InputError(f'control "{name}": this is the name of one of the catalog; choose another')
    if isinstance(code, str | Path):
        return _of_file(name, str(code))
    title, place = f"class {getattr(code, '__qualname__', code)}", _place_of_class(code)
    content = None if place is None else Path(place.rpartition(":")[0]).read_bytes()
    return _of_class(name, code, title, place, content)


def conformance(resolved: Mapping[str, Any], *, seed: int, series: int, events: int) -> list[dict[str, Any]]:
    """What a resolved congestion control keeps of the conformance kit (`parshall.control_check`): one object a check.

    Parameters
    ----------
    resolved
        As a resolved scenario has it.
    seed, series, events
        Of the random events: what they follow from, how many series there are, and how many events in each.
    """
    findings: list[dict[str, Any]] = json.loads(
        _core.check_conformance(json.dumps(resolved), external.makers(), seed, series, events)
    )
    return findings


def _assignment(text: str) -> tuple[str, str]:
    name, equals, code = text.partition("=")
    if not equals or not code:
        raise InputError(f'control: found "{text}"; accepted: NAME=FILE.py:CLASS, NAME=LIBRARY.so, or NAME=FILE.bpf.o')
    return name, code


def _of_file(name: str, code: str, content: bytes | None = None) -> External:
    """The control of a file; of its `content`, if that is known and the file may be another, or not there."""
    path = Path(code)
    attribute: str | None = None
    if path.suffix not in _LIBRARIES and not code.endswith(external.BPF_SUFFIX):
        file, _, attribute = code.rpartition(":") if ":" in code else (code, "", "")
        path = Path(file)
        if path.suffix != ".py" or not attribute:
            raise InputError(f'control "{name}": found "{code}"; accepted: FILE.py:CLASS, LIBRARY.so, or FILE.bpf.o')
    if content is None:
        try:
            content = read_file(path, "controls")
        except OSError as error:
            raise InputError(f'control "{name}": {path}: {error.strerror}') from None
        except ValueError as error:
            raise InputError(f'control "{name}": {path}: {error}') from None
    if attribute is not None:
        return _of_module(name, path, attribute, content)
    if path.suffix in _LIBRARIES:
        return _of_library(name, path, content)
    return External(name, str(path), _digest(content), str(path.absolute()), content=content)


def _of_module(name: str, path: Path, attribute: str, content: bytes) -> External:
    """A class of a Python file, which is run for that."""
    module = ModuleType(f"parshall_control_{name}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # where dataclasses look for their module
    try:
        # The very bytes of the digest: what Python has compiled of the file before may be older.
        exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102 - the user's own code
    except Exception as error:
        raise InputError(f'control "{name}": {path} cannot be run: {type(error).__name__}: {error}') from error
    if not hasattr(module, attribute):
        raise InputError(f'control "{name}": {path} has no class {attribute}')
    place = f"{path.absolute()}:{attribute}"
    return _of_class(name, getattr(module, attribute), f"{path}:{attribute}", place, content)


def _of_library(name: str, path: Path, content: bytes) -> External:
    """A shared library."""
    place, code = path.absolute(), _digest(content)
    try:
        library = _library(place, content, code)
    except (OSError, ValueError) as error:
        raise InputError(f'control "{name}": {path}: {error}') from None
    needs, steering = tuple(library.needs), tuple(library.steering)
    standard = library.standard_slow_start
    return External(name, str(path), code, str(place), needs, standard, steering, library, content)


def _library(place: Path, content: bytes, code: str) -> _core.ControlLibrary:
    """The library of a file; of a copy, where the system would give what it had loaded from there before."""
    here = place.is_file() and _digest(place.read_bytes()) == code
    if here and _loaded.setdefault(place, code) == code:
        return _core.ControlLibrary(place)
    with tempfile.TemporaryDirectory(prefix="parshall-") as folder:
        copy = Path(folder) / place.name
        copy.write_bytes(content)
        return _core.ControlLibrary(copy)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _of_class(name: str, made_by: Any, source: str, place: str | None, content: bytes | None) -> External:
    """A class, and the file that has it, if there is one."""
    if not callable(made_by):
        raise InputError(f'control "{name}": {source} is no class')
    missing = [method for method in METHODS if not callable(getattr(made_by, method, None))]
    if missing:
        raise InputError(f'control "{name}": {source} lacks {", ".join(missing)}')
    needs = tuple(getattr(made_by, "needs", ()))
    unknown = [need for need in needs if need not in NEEDS]
    if unknown:
        raise InputError(f'control "{name}": {source} needs {unknown[0]!r}; accepted: {", ".join(NEEDS)}')
    standard = bool(getattr(made_by, "standard_slow_start", False))
    steering = tuple(what for what in STEERING if callable(getattr(made_by, f"set_{what}", None)))
    code = _digest_of_class(made_by) if content is None else _digest(content)
    return External(name, source, code, place, needs, standard, steering, made_by, content or b"")


def _place_of_class(made_by: type) -> str | None:
    """The file of a class at the top of a module; a script that is running is not run again for it.

    None for a module of a package: run as a file it would not find what it imports from beside it.
    """
    module, qualified = getattr(made_by, "__module__", "__main__"), getattr(made_by, "__qualname__", "")
    if module == "__main__" or "." in module or getattr(sys.modules.get(module), qualified, None) is not made_by:
        return None
    try:
        file = inspect.getsourcefile(made_by)
    except TypeError:
        return None
    return None if file is None else f"{Path(file).absolute()}:{qualified}"


def _digest_of_class(made_by: Any) -> str:
    """A digest of the file, or notebook cell, that has the class; of what it is called where there is no source."""
    try:
        text = inspect.getsource(inspect.getmodule(made_by) or made_by)
    except (OSError, TypeError):
        try:
            text = inspect.getsource(made_by)
        except (OSError, TypeError):
            text = f"{getattr(made_by, '__module__', '')}.{getattr(made_by, '__qualname__', made_by)}"
    return _digest(text.encode())
