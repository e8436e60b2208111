"""Runs are compacted beside the work: in a thread, as reading and writing them holds no interpreter lock for long."""

from __future__ import annotations

import threading

from parshall.campaign.segments import compact
from parshall.campaign.store import Store


class Compactor:
    """Gathers runs of a store, once at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._error: Exception | None = None
        self._thread: threading.Thread | None = None

    def start(self, least: int) -> None:
        """Gather if there are so many; an error of the last time is raised now."""
        self.finish()
        self._thread = threading.Thread(target=self._run, args=(least,))
        self._thread.start()

    def look(self) -> None:
        """If it has ended, raise its error."""
        if self._thread is not None and not self._thread.is_alive():
            self.finish()

    def finish(self) -> None:
        """Wait until runs are compacted; an error of it becomes ours."""
        self.wait()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def wait(self) -> None:
        """Wait until runs are compacted, whatever comes of it."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _run(self, least: int) -> None:
        try:
            compact(self._store, least=least)
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            self._error = error
