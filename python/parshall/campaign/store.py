"""A store of runs, addressed by what makes them: resolved scenario, repetition, code version.

| path | what | written |
| --- | --- | --- |
| ``store.json`` | format, and the store's identity | once, by whoever comes first |
| ``runs/ab/KEY/`` | a run that was finished: its tables and ``run.json`` | in ``partial/``, then renamed |
| ``segments/ID/`` | many small runs in one: a Parquet file a table | in ``partial/``, then renamed |
| ``failures/KEY.json`` | why a run failed | in ``partial/``, then renamed |
| ``sweeps/NAME.json`` | a sweep: its parameters, points and runs | in ``partial/``, then renamed |
| ``pages/NAME.html`` | the page of a sweep | in ``partial/``, then renamed |
| ``partial/`` | what is being written, or was when its writer was killed | |
| ``claims/KEY`` | locked by the process that does the run | |
| ``damaged/`` | what was found damaged, set aside | |

A rename either happened or did not, so a kill at any moment leaves complete runs and litter in ``partial/``, never
half a run. Several processes may write: a run that two of them finish has the same content, and the first one's
stays. A claim is a lock of the file system: it ends with the process that holds it, however that ends.

Runs are not forced to the disk one by one (that would take longer than many of them); a crash of the machine may lose
the last ones or leave files without content. Digests in ``run.json`` tell (`parshall.campaign.maintenance`).
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import json
import os
import shutil
import socket
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from parshall.errors import InputError, StorageError, StoreError
from parshall.files import write_atomically
from parshall.runs.storage import storage_error

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
STORE_FILE = "store.json"
RUN_FILE = "run.json"
_FOLDERS = ("runs", "segments", "failures", "sweeps", "pages", "partial", "claims")
_COUNTER = itertools.count()


class Store:
    """A store of runs.

    Parameters
    ----------
    directory
        Where it is.
    create
        Whether to make one in a directory that is new or empty.

    Raises
    ------
    InputError
        There is none, or something else is there.
    StoreError
        It is of another version.
    StorageError
        It cannot be made.
    """

    def __init__(self, directory: str | Path, *, create: bool = False) -> None:
        self.directory = Path(directory).absolute()
        if not (self.directory / STORE_FILE).exists():
            if not create:
                found = "is no store of runs: it has no store.json" if self.directory.is_dir() else "does not exist"
                raise InputError(f"{directory} {found}; `parshall sweep --store DIR` makes one")
            _make(self.directory, str(directory))
        self.identity = _identity(self.directory)

    @classmethod
    def at(cls, directory: str, identity: str) -> Self | None:
        """The store of that identity, or None if this machine does not see it there."""
        try:
            found = cls(directory)
        except (InputError, StoreError):
            return None
        return found if found.identity == identity else None

    @property
    def sweeps(self) -> list[str]:
        """The names of its sweeps."""
        return sorted(path.stem for path in (self.directory / "sweeps").glob("*.json") if path.name[0] != ".")

    def query(self, sql: str, sweeps: Sequence[str] = ()) -> pl.DataFrame:
        """The answer to a question in SQL (`parshall.campaign.query`), about the runs of these sweeps.

        Raises
        ------
        InputError
            The statement is refused, or there are several sweeps and none is named.
        StoreError
            The store is damaged.
        """
        from parshall.campaign.query import query  # noqa: PLC0415 - DuckDB takes a moment to load

        return query(self, sql, sweeps)

    def check_writable(self) -> None:
        """Raise StorageError if nothing can be written."""
        try:
            for name in _FOLDERS:
                (self.directory / name).mkdir(exist_ok=True)
            probe = self.partial("probe")
            probe.write_text("")
            probe.unlink()
        except OSError as error:
            raise storage_error(error) from None

    # --- runs ---

    def run_directory(self, run: str) -> Path:
        """Where a run is if it has a directory of its own."""
        return self.directory / "runs" / run[:2] / run

    def has_directory(self, run: str) -> bool:
        """Whether a run has a directory of its own."""
        return (self.run_directory(run) / RUN_FILE).exists()

    def run_directories(self) -> dict[str, Path]:
        """Every run with a directory of its own, in the order of their keys."""
        found: dict[str, Path] = {}
        for shard in _entries(self.directory / "runs"):
            for entry in _entries(Path(shard.path)):
                found[entry.name] = Path(entry.path)
        return dict(sorted(found.items()))

    def partial(self, name: str) -> Path:
        """A path below ``partial/`` that nobody else uses; it says who does."""
        return self.directory / "partial" / f"{name}.{_writer()}"

    def publish(self, run: str, partial: Path) -> None:
        """Make a run that was written completely one of the store."""
        target = self.run_directory(run)
        target.parent.mkdir(exist_ok=True)
        try:
            partial.rename(target)
        except OSError:
            if not self.has_directory(run):
                raise
            shutil.rmtree(partial, ignore_errors=True)  # somebody else was faster, with the same content
        if (failure := self._failure(run)).exists():
            failure.unlink(missing_ok=True)

    def set_aside(self, path: Path) -> Path:
        """Move something that is damaged out of the way; returns where it is now."""
        folder = self.directory / "damaged"
        folder.mkdir(exist_ok=True)
        target = folder / f"{path.name}.{uuid.uuid4().hex[:8]}"
        path.rename(target)
        return target

    def sweep_litter(self) -> int:
        """Remove what killed processes of this machine left in ``partial/``; returns how many things."""
        removed = 0
        for entry in _entries(self.directory / "partial"):
            _, host, process, _ = entry.name.rsplit(".", 3) if entry.name.count(".") >= 3 else ("", "", "0", "")
            if host == _host() and not _alive(int(process)):
                _remove(Path(entry.path))
                removed += 1
        return removed

    # --- failures ---

    def record_failure(self, run: str, error: str, made: Mapping[str, Any]) -> None:
        """Say why a run failed."""
        content = {"format": FORMAT, "run": run, "error": error, **made}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(self._failure(run), text, self.partial("failure"))

    def failures(self) -> dict[str, dict[str, Any]]:
        """The failed runs and what is known of each."""
        found = {}
        for entry in _entries(self.directory / "failures"):
            if entry.name.endswith(".json") and not entry.name.startswith("."):
                with contextlib.suppress(OSError, ValueError):
                    found[entry.name.removesuffix(".json")] = json.loads(Path(entry.path).read_text(encoding="utf-8"))
        return dict(sorted(found.items()))

    def _failure(self, run: str) -> Path:
        return self.directory / "failures" / f"{run}.json"

    # --- locks ---

    def claim(self, run: str) -> Claim | None:
        """The right to do a run, or None if another process has it."""
        return Claim.take(self.directory / "claims" / run)

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Hold the store's own lock, which one process at a time has; gives whether it is held."""
        held = Claim.take(self.directory / "claims" / "store")
        try:
            yield held is not None
        finally:
            if held is not None:
                held.release()

    def __repr__(self) -> str:
        return f"<Store in {self.directory}>"


class Claim:
    """A lock on a file, for as long as this process lives or until it is released."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    @classmethod
    def take(cls, path: Path) -> Claim | None:
        """The claim, or None if somebody else has it."""
        while True:
            try:
                descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            except OSError as error:
                raise storage_error(error) from None
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            except OSError:  # a file system without locks: work may be done twice, with the same result
                return cls(path, descriptor)
            if _same_file(path, descriptor):
                return cls(path, descriptor)
            os.close(descriptor)  # its last holder removed it between our opening and locking

    def release(self) -> None:
        """Let others have it."""
        self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def _make(path: Path, shown: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        foreign = sorted(entry.name for entry in path.iterdir() if entry.name not in {*_FOLDERS, STORE_FILE})
        foreign = [name for name in foreign if not name.startswith(f".{STORE_FILE}.")]
        if foreign:
            raise InputError(f"{shown} holds {foreign[0]} and is no store of runs; write the name of a new directory")
        for name in _FOLDERS:
            (path / name).mkdir(exist_ok=True)
        aside = path / f".{STORE_FILE}.{_writer()}"
        aside.write_text(json.dumps({"format": FORMAT, "identity": uuid.uuid4().hex}) + "\n", encoding="utf-8")
        with contextlib.suppress(FileExistsError):  # another process was faster
            os.link(aside, path / STORE_FILE)
        aside.unlink()
    except FileExistsError:
        raise InputError(f"{shown} is a file; write the name of a new directory") from None
    except NotADirectoryError:
        raise StorageError(f"results cannot be written: {shown} is not in a directory") from None
    except OSError as error:
        raise storage_error(error) from None


def _identity(path: Path) -> str:
    try:
        content = json.loads((path / STORE_FILE).read_text(encoding="utf-8"))
        number, identity = content["format"], content["identity"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(f"{path / STORE_FILE} cannot be read: {error}") from None
    if number != FORMAT:
        raise StoreError(
            f"{path}: found a store of format {number}; this Parshall reads and writes format {FORMAT}. "
            "Nothing was changed; use the Parshall that made it, or write the name of a new store"
        )
    return str(identity)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except FileNotFoundError:
        return []


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        there, held = path.stat(), os.fstat(descriptor)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino)


def _host() -> str:
    return socket.gethostname().replace(".", "-")


def _writer() -> str:
    """A name for what is being written, by whom; nobody else has it."""
    return f"{_host()}.{os.getpid()}.{next(_COUNTER)}"


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
