"""Runs on a cluster: the workers of a Dask scheduler do what processes of this machine would.

Dask does a run again elsewhere when its worker is lost, and gives it up after as many losses as its configuration
allows (``distributed.scheduler.allowed-failures``). Workers that see the store's directory write to it; others send
files. The files of congestion controls from outside are sent to all workers, whenever they come.

Several programs may use one scheduler: each names its tasks by a number of its own, so that none is given, or cancels,
what another one asked for. Certificates are those of Dask's configuration.
"""

from __future__ import annotations

import itertools
import logging
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from parshall.campaign.call import Call, CallError, Failed, Outcome
from parshall.campaign.work import execute
from parshall.foundations.errors import ClusterError
from parshall.foundations.extras import extra
from parshall.scenario.controls import receive, sent

_AHEAD = 3
"""Tasks for each place on a worker: the next ones are there when one is done."""

_COUNT_S = 2.0
"""Between two looks at how many workers there are."""

_PATIENCE_S = 60.0
"""Longest time that a scheduler may be without a worker, in seconds."""


class DaskPool:
    """The workers of a Dask scheduler.

    Parameters
    ----------
    address
        ``tcp://host:port``; or ``tls://host:port``, with the certificates of Dask's configuration.

    Raises
    ------
    MissingExtraError
        Dask is not installed.
    ClusterError
        The scheduler cannot be reached, or has no workers; or there is no certificate for it.
    """

    def __init__(self, address: str) -> None:
        self._address = address
        self._name, self._numbers = uuid.uuid4().hex, itertools.count()
        self._silence = ExitStack()
        self._client = self._connected()
        self._finished: SimpleQueue[Any] = SimpleQueue()
        self._tasks: dict[str, tuple[Any, Call]] = {}
        self._places = 0
        self._counted = self._last_seen = time.monotonic()
        with self._asking():
            if files := sent():
                self._send(files)
            self._wait_for_workers()

    def _connected(self) -> Any:
        """A client of the scheduler; what Dask logs of a connection is raised here, and left out there."""
        with extra("cluster", "--scheduler"):
            from distributed import Client  # noqa: PLC0415
            from distributed.utils import silence_logging_cmgr  # noqa: PLC0415

        if self._address.startswith("tls://") and (problem := _no_certificate()):
            raise ClusterError(f"--scheduler: {self._address}: {problem}")
        self._silence.enter_context(silence_logging_cmgr(logging.CRITICAL + 1))
        make: Any = Client
        try:
            return make(self._address, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError, TimeoutError) as error:
            self._silence.close()
            raise ClusterError(f"--scheduler: {self._address} cannot be reached: {error}") from None

    @contextmanager
    def _asking(self) -> Iterator[None]:
        """Say of a connection that broke that the scheduler was lost; Dask's errors of it are those of files."""
        from distributed import CancelledError  # noqa: PLC0415

        try:
            yield
        except (OSError, TimeoutError, CancelledError):
            raise self._lost() from None

    def _lost(self) -> ClusterError:
        return ClusterError(f"the scheduler at {self._address} was lost; the same command goes on when it is back")

    def _send(self, files: Mapping[str, bytes]) -> None:
        """Give all workers, those that come later too, the files of controls from outside, by their digests."""
        from distributed import WorkerPlugin  # noqa: PLC0415

        class Files(WorkerPlugin):
            def setup(self, worker: Any) -> None:  # noqa: ARG002 - Dask's
                receive(files)

        self._client.register_plugin(Files(), name="-".join(["parshall", *files]))

    @property
    def workers(self) -> int:
        """Runs at a time."""
        return max(1, self._places)

    @property
    def room(self) -> int:
        """Number of further tasks that it takes now."""
        return max(0, _AHEAD * self.workers - len(self._tasks))

    def submit(self, call: Call) -> None:
        """Have a call done."""
        key = f"parshall-{self._name}-{next(self._numbers)}-{call.key}"
        with self._asking():
            future = self._client.submit(execute, call, key=key, pure=False)
        self._tasks[future.key] = (future, call)
        future.add_done_callback(self._finished.put)

    def outcomes(self, timeout_s: float) -> list[Outcome]:
        """Return the tasks that are finished; wait for the first up to `timeout_s`."""
        self._count()
        outcomes: list[Outcome] = []
        with suppress(Empty):
            outcomes += self._outcome(self._finished.get(timeout=timeout_s))
            while True:
                outcomes += self._outcome(self._finished.get_nowait())
        return outcomes

    def live(self) -> tuple[float, int]:
        """Nothing is known of runs that others do before they are done."""
        return 0.0, 0

    def close(self) -> None:
        """Stop; what no worker has begun is not begun."""
        with suppress(Exception):
            self._client.cancel([future for future, _ in self._tasks.values()])
        with suppress(Exception):
            self._client.close()
        self._silence.close()

    def _outcome(self, future: Any) -> list[Outcome]:
        if future.key not in self._tasks:
            return []
        _, call = self._tasks.pop(future.key)
        if future.status in ("cancelled", "lost"):
            return [Failed(call.key, self._lost())]
        with self._asking():
            if future.status == "finished":
                return [future.result()]
            error = future.exception()
        return [Failed(call.key, CallError(f"{type(error).__name__}: {error}".strip()))]

    def _count(self) -> None:
        now = time.monotonic()
        if now - self._counted < _COUNT_S:
            return
        self._counted = now
        if self._client.status != "running":
            raise self._lost()
        with self._asking():
            self._places = sum(self._client.nthreads().values())
        if self._places:
            self._last_seen = now
        elif now - self._last_seen > _PATIENCE_S:
            raise ClusterError(f"the scheduler at {self._address} has had no worker for {_PATIENCE_S:.0f} s")

    def _wait_for_workers(self) -> None:
        with suppress(TimeoutError):
            self._client.wait_for_workers(1, timeout=_PATIENCE_S)
        self._places = sum(self._client.nthreads().values())
        if not self._places:
            self.close()
            raise ClusterError(f"the scheduler at {self._address} has had no worker for {_PATIENCE_S:.0f} s")


def _no_certificate() -> str | None:
    """Names what a client lacks of its certificates; None: nothing."""
    import dask  # noqa: PLC0415
    from distributed.security import Security  # noqa: PLC0415

    if dask.config.get("distributed.client.security-loader", None):
        return None
    make: Any = Security
    found = make().get_tls_config_for_role("client")
    missing = [f"{_TLS}{name}" for key, name in _VARIABLES.items() if key != "key" and not found.get(key)]
    if missing:
        return f"no certificate: set {' and '.join(missing)} (and ..._CLIENT__KEY, if the key is in a file of its own)"
    for key, name in _VARIABLES.items():
        if found.get(key) and "BEGIN" not in found[key] and not Path(found[key]).is_file():
            return f"{_TLS}{name}: found {found[key]}, which is no file"
    return None


_TLS = "DASK_DISTRIBUTED__COMM__TLS__"
_VARIABLES = {"ca_file": "CA_FILE", "cert": "CLIENT__CERT", "key": "CLIENT__KEY"}
"""The variables that set each part of Dask's configuration; it takes a file, or its text."""
