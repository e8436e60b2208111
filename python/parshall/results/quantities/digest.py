"""A digest of what computes a quantity: what was computed with other code is computed again.

Of our own quantities it is that of the files of `parshall.results.quantities` and `parshall.stats`. A function of
somebody else is followed through what it calls, as far as that belongs to the same package or notebook: byte code,
constants, the values of closures, defaults and globals. Libraries count by name, and files that it reads not at all.
"""

from __future__ import annotations

import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from parshall.foundations.files import digest as digest_of_file
from parshall.results.quantities import own
from parshall.results.quantities.definition import Quantity

_OURS = "parshall"


def of_quantities(quantities: Iterable[Quantity]) -> str:
    """Of all that decides the values of these."""
    parts = [_of_files()]
    for each in quantities:
        parts += [each.key, each.unit, each.per, repr(each.range), of_function(each.of)]
    return _hashed(parts)


def of_users() -> str:
    """Of all quantities that are not ours."""
    return of_quantities(own.defined())


def of_function(function: Callable[..., object]) -> str:
    """Of what a function does, and what it calls in its own package."""
    return _hashed(_parts(function, _package(function), set()))


@cache
def _of_files() -> str:
    """Of the Python that computes quantities and estimates."""
    here = Path(__file__).parent
    folders = (here, here.parents[1] / "analysis" / "stats")
    return _hashed(f"{path.name} {digest_of_file(path)}" for each in folders for path in sorted(each.rglob("*.py")))


def _parts(value: Any, package: str, seen: set[int]) -> Iterator[str]:
    """What a value contributes; functions of the package are followed, each once."""
    if isinstance(value, partial):
        yield from _parts((value.func, value.args, value.keywords), package, seen)
    elif isinstance(value, tuple | list | set | frozenset):
        ordered = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        for each in ordered:
            yield from _parts(each, package, seen)
    elif isinstance(value, dict):
        yield from _parts(list(value.items()), package, seen)
    elif isinstance(value, FunctionType):
        yield f"{value.__module__}.{value.__qualname__}"
        if _package(value) == package and id(value) not in seen:
            seen.add(id(value))
            yield from _of_python(value, package, seen)
    elif isinstance(value, ModuleType | type):
        yield getattr(value, "__qualname__", value.__name__)
        if _package(value) == package and package != _OURS and id(value) not in seen:
            seen.add(id(value))
            yield from _of_source(value)
    else:
        yield _text(value)


def _of_python(function: FunctionType, package: str, seen: set[int]) -> Iterator[str]:
    names: set[str] = set()
    for code in _codes(function.__code__):
        yield code.co_code.hex()
        names |= {*code.co_names}
        yield from _parts([each for each in code.co_consts if not isinstance(each, CodeType)], package, seen)
    yield from sorted(names)
    yield from _parts([function.__defaults__, function.__kwdefaults__], package, seen)
    for cell in function.__closure__ or ():
        yield from _parts(cell.cell_contents, package, seen)
    if package == _OURS:  # what else our files do is known by their own digest
        return
    for name in sorted(names & function.__globals__.keys()):
        yield from _parts(function.__globals__[name], package, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _of_source(value: ModuleType | type) -> Iterator[str]:
    try:
        yield inspect.getsource(value)
    except (OSError, TypeError):  # of a class that was typed in
        yield ""


def _text(value: object) -> str:
    """A value in a form that is the same in another process."""
    try:
        return hashlib.sha256(pickle.dumps(value)).hexdigest()
    except Exception:  # noqa: BLE001 - whatever cannot be sent to another process counts by its type
        return type(value).__qualname__


def _package(value: object) -> str:
    module = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
    return module.partition(".")[0]


def _hashed(parts: Iterable[str]) -> str:
    content = hashlib.sha256()
    for part in parts:
        content.update(f"{len(part)} {part}".encode())
    return content.hexdigest()[:24]
