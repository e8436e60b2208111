"""The code of a control from outside: as the parent sends it, and as the process of foreign code loads it.

The functions of the first half run nothing that is foreign, except that `described` reads the attributes of a class
that the parent has already. Those of the second, from `load` on, are called in the process of foreign code alone.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from parshall import _core
from parshall.foundations.errors import InputError
from parshall.scenario.schema.external import NEEDS, STEERING

METHODS = ("on_ack", "on_loss", "on_timeout")
"""Methods that every class must have."""

LIBRARIES = {".so", ".dylib", ".dll"}
"""Suffixes of shared libraries."""


class ForeignCode(NamedTuple):
    """The code that makes a control, as it is sent between processes."""

    kind: Literal["module", "library", "class"]
    """A file in Python, a shared library, or a class that was pickled."""
    name: str
    """The control's."""
    source: str
    """Origin of the code, for people: ``mine.py:Mine``."""
    path: str
    """Of its file; empty for a class."""
    attribute: str
    """The name of the class in the module; empty for others."""
    content: bytes
    """Of the file, or the pickled class."""

    def key(self) -> str:
        """A digest that tells code apart."""
        told = "\0".join((self.kind, self.name, self.path, self.attribute)).encode()
        return hashlib.sha256(told + b"\0" + self.content).hexdigest()


class Description(NamedTuple):
    """Properties of a control that the endpoint must know."""

    needs: tuple[str, ...]
    """As `NEEDS`."""
    standard_slow_start: bool
    """True: its slow start is that of RFC 5681, which another can replace."""
    steering: tuple[str, ...]
    """As `STEERING`."""


def of_class(name: str, made_by: Any, source: str) -> ForeignCode:
    """Return the code of a class of this process, with everything that it refers to, as it is now.

    Raises
    ------
    InputError
        It cannot be sent to another process.
    """
    import cloudpickle  # noqa: PLC0415 - most controls are files

    try:
        with _whole(made_by):
            content = cloudpickle.dumps(made_by)
    except Exception as error:  # noqa: BLE001 - whatever the class refers to decides that
        why = f"{type(error).__name__}: {shortened(error)}"
        remedy = f"write it to a file of its own: {name}=FILE.py:CLASS"
        raise InputError(
            f'control "{name}": {source} runs in a process of its own, to which it cannot be sent: {why}; {remedy}'
        ) from None
    return ForeignCode("class", name, source, "", "", content)


@contextmanager
def _whole(made_by: Any) -> Iterator[None]:
    """Within, a class is pickled with its methods, and not as the name of something that the other process imports.

    Its module may be a script, a test, or changed since it was imported.
    """
    import cloudpickle  # noqa: PLC0415 - most controls are files

    name = getattr(made_by, "__module__", None) or ""
    module = sys.modules.get(name)
    python = str(getattr(module, "__file__", None)).endswith(".py")
    if module is None or not python or name in cloudpickle.list_registry_pickle_by_value():
        yield
        return
    cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def described(made_by: Any, source: str) -> Description:
    """Return the description of a class.

    Raises
    ------
    ValueError
        It is no control, and why.
    """
    if not callable(made_by):
        raise ValueError(f"{source} is no class")
    missing = [method for method in METHODS if not callable(getattr(made_by, method, None))]
    if missing:
        raise ValueError(f"{source} lacks {', '.join(missing)}")
    needs = getattr(made_by, "needs", ())
    accepted = f"accepted: {', '.join(NEEDS)}"
    if isinstance(needs, str) or not isinstance(needs, tuple | list | set | frozenset):
        raise ValueError(f"{source} has needs = {shortened(repr(needs))}; write a tuple; {accepted}")
    unknown = [need for need in needs if need not in NEEDS]
    if unknown:
        raise ValueError(f"{source} needs {shortened(repr(unknown[0]))}; {accepted}")
    standard = bool(getattr(made_by, "standard_slow_start", False))
    return Description(
        tuple(needs), standard, tuple(what for what in STEERING if callable(getattr(made_by, f"set_{what}", None)))
    )


_LONGEST_TEXT = 500


def shortened(told: object) -> str:
    """The text of something foreign, which may be of any length, or raise an error."""
    try:
        text = str(told)
    except Exception as error:  # noqa: BLE001 - whatever its __str__ does
        return f"(its text cannot be had: __str__ raises {type(error).__name__[:_LONGEST_TEXT]})"
    return text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + " ... (cut)"


# --- in the process of foreign code ---


def load(code: ForeignCode) -> tuple[Any, Description]:
    """Return what makes the control, a class or a `_core.ControlLibrary`, and its description.

    Raises
    ------
    ValueError
        It is no control, and why.
    """
    match code.kind:
        case "library":
            return _library(code)
        case "module":
            made_by = _of_module(code)
        case "class":
            made_by = _of_pickle(code)
    return made_by, described(made_by, code.source)


def _of_module(code: ForeignCode) -> Any:
    module = ModuleType(f"parshall_control_{code.name}")
    module.__file__ = code.path
    sys.modules[module.__name__] = module  # where dataclasses look for their module
    try:
        # The very bytes of the digest: what Python has compiled of the file before may be older.
        exec(compile(code.content, code.path, "exec"), module.__dict__)  # noqa: S102 - the user's own code
    except BaseException as error:
        raise ValueError(f"{code.path} cannot be run: {_named(error)}") from error
    if not hasattr(module, code.attribute):
        raise ValueError(f"{code.path} has no class {code.attribute}")
    return getattr(module, code.attribute)


def _of_pickle(code: ForeignCode) -> Any:
    try:
        return pickle.loads(code.content)  # noqa: S301 - of this process's parent
    except BaseException as error:
        raise ValueError(f"{code.source} cannot be loaded in a process of its own: {_named(error)}") from error


def _named(error: BaseException) -> str:
    return f"{type(error).__name__[:_LONGEST_TEXT]}: {shortened(error)}"


_loaded: dict[str, str] = {}
"""Libraries that this process has loaded, and the digests that their files had then."""


def _library(code: ForeignCode) -> tuple[_core.ControlLibrary, Description]:
    """The library of a file; of a copy, where the system would give what it had loaded from there before."""
    path, digest = Path(code.path), hashlib.sha256(code.content).hexdigest()
    try:
        here = path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
        if here and _loaded.setdefault(code.path, digest) == digest:
            library = _core.ControlLibrary(path)
        else:
            with tempfile.TemporaryDirectory(prefix="parshall-") as folder:
                copy = Path(folder) / path.name
                copy.write_bytes(code.content)
                library = _core.ControlLibrary(copy)
    except (OSError, ValueError) as error:
        raise ValueError(f"{code.source}: {shortened(error)}") from None
    return library, Description(tuple(library.needs), library.standard_slow_start, tuple(library.steering))
