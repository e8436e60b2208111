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
import importlib.util
import inspect
import json
import keyword
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.errors import InputError
from parshall.schema import external
from parshall.schema.catalog import family
from parshall.schema.external import NEEDS, STEERING, External

__all__ = ["conformance", "declare", "declare_once", "read"]

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


@cache
def declare_once(assignments: tuple[str, ...]) -> None:
    """`declare`, in a process that does many runs for another."""
    declare(assignments)


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
    title = f"class {getattr(code, '__qualname__', code)}"
    return _of_class(name, code, title, _digest_of_class(code), _place_of_class(code))


def conformance(resolved: Mapping[str, Any], *, seed: int, series: int, events: int) -> list[dict[str, Any]]:
    """What a resolved congestion control keeps of the conformance kit (`parshall.control_check`): one object a check.

    Parameters
    ----------
    resolved
        As a resolved scenario has it.
    seed, series, events
        Of the random events: what they follow from, how many series there are, and how many events in each.
    """
    told: list[dict[str, Any]] = json.loads(
        _core.check_conformance(json.dumps(resolved), external.makers(), seed, series, events)
    )
    return told


def _assignment(text: str) -> tuple[str, str]:
    name, equals, code = text.partition("=")
    if not equals or not code:
        raise InputError(f'control: found "{text}"; accepted: NAME=FILE.py:CLASS, NAME=LIBRARY.so, or NAME=FILE.bpf.o')
    return name, code


def _of_file(name: str, code: str) -> External:
    if Path(code).suffix in _LIBRARIES:
        return _of_library(name, Path(code))
    if code.endswith(external.BPF_SUFFIX):
        return _of_bpf(name, Path(code))
    file, _, attribute = code.rpartition(":") if ":" in code else (code, "", "")
    path = Path(file)
    if path.suffix != ".py" or not attribute:
        raise InputError(f'control "{name}": found "{code}"; accepted: FILE.py:CLASS, LIBRARY.so, or FILE.bpf.o')
    module = _imported(name, path)
    if not hasattr(module, attribute):
        raise InputError(f'control "{name}": {path} has no class {attribute}')
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _of_class(name, getattr(module, attribute), code, digest, f"{path.absolute()}:{attribute}")


def _imported(name: str, path: Path) -> Any:
    """The module in a file, which is run for that."""
    spec = importlib.util.spec_from_file_location(f"parshall_control_{name}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise InputError(f'control "{name}": there is no file {path}')
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise InputError(f'control "{name}": {path} cannot be run: {type(error).__name__}: {error}') from error
    return module


def _of_library(name: str, path: Path) -> External:
    try:
        code = hashlib.sha256(path.read_bytes()).hexdigest()
        library = _core.ControlLibrary(path.absolute())
    except (OSError, ValueError) as error:
        raise InputError(f'control "{name}": {path}: {error}') from None
    place = str(path.absolute())
    needs, steering = tuple(library.needs), tuple(library.steering)
    return External(name, str(path), code, place, needs, library.standard_slow_start, steering, library)


def _of_bpf(name: str, path: Path) -> External:
    try:
        code = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f'control "{name}": {path}: {error.strerror}') from None
    return External(name, str(path), code, str(path.absolute()))


def _of_class(name: str, made_by: Any, source: str, code: str, place: str | None) -> External:
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
    return External(name, source, code, place, needs, standard, steering, made_by)


def _place_of_class(made_by: type) -> str | None:
    """The file of a class at the top of a module; a script that is running is not run again for it."""
    module, qualified = getattr(made_by, "__module__", "__main__"), getattr(made_by, "__qualname__", "")
    if module == "__main__" or getattr(sys.modules.get(module), qualified, None) is not made_by:
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
    return hashlib.sha256(text.encode()).hexdigest()
