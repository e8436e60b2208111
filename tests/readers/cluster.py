"""A Dask cluster for tests: a real scheduler, and worker processes of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path


class Cluster:
    """A scheduler and workers, each a process."""

    def __init__(self, directory: Path, workers: int = 2, certificates: Mapping[str, str] | None = None) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        protocol = "tcp" if certificates is None else "tls"
        self.address = f"{protocol}://127.0.0.1:{port}"
        self._directory = directory
        self._environment = {**os.environ, **(certificates or {})}
        listen = ["--host", f"{protocol}://127.0.0.1", "--port", str(port), "--no-dashboard", "--no-show"]
        self.scheduler = self._start("distributed.cli.dask_scheduler", *listen)
        time.sleep(1)
        self.workers = [self._worker() for _ in range(workers)]

    def close(self) -> None:
        for process in reversed(self._processes):
            process.kill()
            process.wait()

    def _worker(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self._directory)]
        return self._start("distributed.cli.dask_worker", self.address, *options)

    def _start(self, module: str, *arguments: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-m", module, *arguments]
        quiet = subprocess.DEVNULL
        process = subprocess.Popen(words, stdout=quiet, stderr=quiet, env=self._environment)
        self.__dict__.setdefault("_processes", []).append(process)
        return process
