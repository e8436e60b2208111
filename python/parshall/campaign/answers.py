"""Answers of functions, kept in a store under the keys of the calls (`parshall.campaign.keys`).

An answer is JSON (`parshall.campaign.encoding`) below ``answers/`` of the store, behind its digest: one that was cut or
damaged, or that is something else, counts as not there. Reading it runs nothing, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from parshall.campaign.call import Call, Function, Returned, Written
from parshall.campaign.damage import answer_of, behind_digest, is_answer
from parshall.campaign.encoding import ACCEPTED, NoEncodingError, decoded, encoded
from parshall.campaign.executor import Archive
from parshall.campaign.store import ANSWERS, Store
from parshall.foundations.errors import InputError
from parshall.foundations.files import write_atomically
from parshall.results.records.storage import storage_error


class Answers(Archive):
    """The answers of a store; without one, those that were taken.

    Attributes
    ----------
    values
        Those that were found or taken, by the keys of their calls.
    """

    def __init__(self, store: Store | None) -> None:
        super().__init__(store)
        self.values: dict[str, Any] = {}

    def has(self, call: Call) -> bool:
        """True if an answer is in the store and can be read; then `values` has it.

        Raises
        ------
        StorageError
            The store cannot be read.
        """
        if call.key in self.values or self.store is None:
            return call.key in self.values
        try:
            content = answer_of(_path(self.store, call.key))
            if content is not None:
                self.values[call.key] = decoded(content, _packages(call))
        except (FileNotFoundError, NoEncodingError):
            return False
        except OSError as error:
            raise storage_error(error) from None
        return content is not None

    def take(self, call: Call, outcome: Written | Returned) -> None:
        """Write what a call returned.

        Raises
        ------
        InputError
            It returned something that cannot be kept.
        StorageError
            It cannot be written.
        """
        value = outcome.value if isinstance(outcome, Returned) else None
        if self.store is None:
            self.values[call.key] = value
            return
        try:
            content = encoded(value, _packages(call))
        except NoEncodingError as error:
            raise InputError(f"{call.label or call.key}: {error}, which a store cannot keep; {ACCEPTED}") from None
        path = _path(self.store, call.key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, behind_digest(content.encode()), self.store.partial("answer"))
        except OSError as error:
            raise storage_error(error) from None


def count_answers(store: Store, keys: Iterable[str]) -> tuple[int, int]:
    """Return the number of these answers in a store, damaged or not, and of those in an unknown format."""
    found = [is_answer(path) for key in keys if (path := _path(store, key)).exists()]
    return sum(found), len(found) - sum(found)


def _path(store: Store, key: str) -> Path:
    return store.directory / ANSWERS / key[:2] / key


def _packages(call: Call) -> frozenset[str]:
    """The packages whose classes an answer may have: of the function, and of the functions that it is given."""
    if not isinstance(call.does, Function):
        return frozenset()
    functions = [call.does.function, *(each for each in call.does.arguments if callable(each))]
    return frozenset(each.__module__.partition(".")[0] for each in functions if hasattr(each, "__module__"))
