"""What calls of functions returned: kept in a store, under the keys of the calls (`parshall.campaign.keys`).

An answer is JSON (`parshall.campaign.encoding`) below ``answers/`` of the store, behind its digest: one that was cut or
damaged, or that is something else, counts as not there. Reading it runs nothing, whoever wrote it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from parshall.campaign.call import Call, Function, Returned, Written
from parshall.campaign.damage import answer_of, behind_digest, is_answer
from parshall.campaign.encoding import ACCEPTED, NoEncodingError, decoded, encoded
from parshall.campaign.store import ANSWERS, Store
from parshall.errors import InputError
from parshall.files import write_atomically
from parshall.records.storage import storage_error


class Memory:
    """Answers that are kept as long as they are asked for."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        """Those that were found or taken, by the keys of their calls."""

    def has(self, call: Call) -> bool:
        """Whether an answer is there; then `values` has it."""
        return call.key in self.values

    def claim(self, _: Call) -> Callable[[], None] | None:
        """The right to do a call, which nobody else wants."""
        return lambda: None

    def take(self, call: Call, outcome: Written | Returned) -> None:
        """Keep what a call returned."""
        self.values[call.key] = outcome.value if isinstance(outcome, Returned) else None


class Answers(Memory):
    """The answers of a store."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self.store = store

    def has(self, call: Call) -> bool:
        """Whether an answer is there, and can be read; then `values` has it.

        Raises
        ------
        StorageError
            The store cannot be read.
        """
        try:
            content = answer_of(self._path(call.key))
            if content is not None:
                self.values[call.key] = decoded(content, _packages(call))
        except (FileNotFoundError, NoEncodingError):
            return False
        except OSError as error:
            raise storage_error(error) from None
        return content is not None

    def claim(self, call: Call) -> Callable[[], None] | None:
        """The right to do a call, until what is returned is called; None if another program has it."""
        lock = self.store.lock(call.key)
        return None if lock is None else lock.release

    def take(self, call: Call, outcome: Written | Returned) -> None:
        """Write what a call returned.

        Raises
        ------
        InputError
            It returned something that cannot be kept.
        StorageError
            It cannot be written.
        """
        super().take(call, outcome)
        try:
            content = encoded(self.values[call.key], _packages(call))
        except NoEncodingError as error:
            raise InputError(f"{call.label or call.key}: {error}, which a store cannot keep; {ACCEPTED}") from None
        path = self._path(call.key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, behind_digest(content.encode()), self.store.partial("answer"))
        except OSError as error:
            raise storage_error(error) from None

    def count(self, keys: Iterable[str]) -> tuple[int, int]:
        """How many of these answers are there, damaged or not; and how many in a format that is not read."""
        found = [is_answer(path) for path in map(self._path, keys) if path.exists()]
        return sum(found), len(found) - sum(found)

    def _path(self, key: str) -> Path:
        return self.store.directory / ANSWERS / key[:2] / key


def _packages(call: Call) -> frozenset[str]:
    """The packages whose classes an answer may have: of the function, and of the functions that it is given."""
    if not isinstance(call.does, Function):
        return frozenset()
    functions = [call.does.function, *(each for each in call.does.arguments if callable(each))]
    return frozenset(each.__module__.partition(".")[0] for each in functions if hasattr(each, "__module__"))
