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
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from parshall import _core
from parshall.foundations.errors import InputError
from parshall.foundations.files import read_file
from parshall.scenario.foreign.code import LIBRARIES, ForeignCode, described, of_class, shortened
from parshall.scenario.foreign.process import call, describe
from parshall.scenario.schema import external
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.external import Code, External

__all__ = ["conformance", "declare", "declare_sent", "read", "receive", "sent"]


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
    ControlError
        The code of a file ended the process that loaded it, or was not loaded in time.
    """
    given = dict(controls) if isinstance(controls, Mapping) else dict(map(_assignment, controls))
    external.declare([read(name, code) for name, code in given.items()])


_received: dict[str, bytes] = {}
"""Files of controls that another process sent, by their digests."""


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
        if known is not None and known.code == wanted and known.maker is not None:
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
    check_name(name)
    if name in {entry.name for entry in family("congestion_controls")}:
        raise InputError(f'control "{name}": this is the name of one of the catalog; choose another')
    if isinstance(code, str | Path):
        return _of_file(name, str(code))
    title, place = f"class {getattr(code, '__qualname__', None) or shortened(repr(code))}", _place_of_class(code)
    try:
        description = described(code, title)
    except ValueError as error:
        raise InputError(f'control "{name}": {error}') from None
    content = None if place is None else Path(place.rpartition(":")[0]).read_bytes()
    digest = _digest_of_class(code) if content is None else _digest(content)
    return External(name, title, digest, place, *description, of_class(name, code, title), content or b"")


def check_name(name: str) -> None:
    """Refuse a name that no control can have.

    Raises
    ------
    InputError
        It says why.
    """
    if keyword.iskeyword(name):
        raise InputError(f"control {name!r}: this is a keyword of Python; choose another name")
    if not name.isidentifier():
        accepted = "accepted: a name of letters, digits and _, beginning with a letter"
        raise InputError(f"control {shortened(repr(name))}: {accepted}")
    if name == "external":
        raise InputError(f"control {name!r}: this is what all controls from outside are called; choose another name")


def conformance(resolved: Mapping[str, Any], *, seed: int, series: int, events: int) -> list[dict[str, Any]]:
    """What a resolved congestion control keeps of the conformance kit (`parshall.control_check`): one object a check.

    Parameters
    ----------
    resolved
        As a resolved scenario has it.
    seed, series, events
        Of the random events: what they follow from, how many series there are, and how many events in each.
    """
    text = json.dumps(resolved)
    if controls := external.runnable(text):
        checked = call("check_conformance", controls, text, seed, series, events)
    else:
        checked = _core.check_conformance(text, seed, series, events)
    findings: list[dict[str, Any]] = json.loads(checked)
    return findings


def _assignment(text: str) -> tuple[str, str]:
    name, equals, code = text.partition("=")
    if not equals or not code:
        raise InputError(f'control: found "{text}"; accepted: NAME=FILE.py:CLASS, NAME=LIBRARY.so, or NAME=FILE.bpf.o')
    return name, code


def _of_file(name: str, code: str, content: bytes | None = None) -> External:
    """The control of a file; of its `content`, if that is known and the file may be another, or not there."""
    path, attribute = Path(code), ""
    if path.suffix not in LIBRARIES and not code.endswith(external.BPF_SUFFIX):
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
    place, digest = str(path.absolute()), _digest(content)
    if code.endswith(external.BPF_SUFFIX):
        return External(name, code, digest, place, content=content)
    maker = ForeignCode("module" if attribute else "library", name, code, place, attribute, content)
    if attribute:
        place = f"{place}:{attribute}"
    return External(name, code, digest, place, *describe(maker), maker, content)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


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
