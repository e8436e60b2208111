"""A store of runs, addressed by what makes them: resolved scenario, repetition, code version.

| path | what | written |
| --- | --- | --- |
| ``store.json`` | format, and the store's identity | once, by whoever comes first |
| ``runs/ab/KEY/`` | a run that was finished: its tables and ``run.json`` | in ``partial/``, then renamed |
| ``segments/ID/`` | many small runs in one: a Parquet file a table | in ``partial/``, then renamed |
| ``failures/KEY.json`` | why a run failed | in ``partial/``, then renamed |
| ``sweeps/NAME.json`` | a sweep: its parameters, points and runs | in ``partial/``, then renamed |
| ``pages/NAME.html``, ``report.html`` | the page of a sweep, and of the store | in ``partial/``, then renamed |
| ``partial/`` | what is being written, or was when its writer was killed | |
| ``claims/KEY`` | locked by the process that does the run | |
| ``claims/working`` | locked, in common, by the processes that do sweeps | |
| ``damaged/`` | what was found damaged, set aside | |
| ``answers/ab/KEY`` | what a call of a study returned (`parshall.campaign.answers`) | in ``partial/``, then renamed |

A rename either happened or did not, so a kill at any moment leaves complete runs, and unfinished ones in ``partial/``,
never half a run. Several processes may write: a run that two of them finish has the same content, and the first one's
stays. Files with other names are not ours: nothing reads or removes them, and `Store.strays` finds them.

Runs are not forced to the disk one by one (that would take longer than many of them); a crash of the machine may lose
the last ones or leave files without content. Digests in ``run.json`` tell (`parshall.campaign.maintenance`).
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import shutil
import socket
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from parshall.campaign import locks
from parshall.campaign.locks import Lock
from parshall.foundations import formats, notebook
from parshall.foundations.errors import InputError, StorageError, StoreError
from parshall.foundations.files import sync, write_atomically
from parshall.results.records.storage import REPORT_FILE, storage_error

FORMAT = formats.STORE
STORE_FILE = "store.json"
RUN_FILE = "run.json"
_FOLDERS = ("runs", "segments", "failures", "sweeps", "pages", "partial", "claims")
_DAMAGED = "damaged"
ANSWERS = "answers"
_COUNTER = itertools.count()

_SHARD = re.compile("[0-9a-f]{2}")
_KEY = re.compile("[0-9a-f]{32}")
_SEGMENT = re.compile("[0-9a-f]{16}")
_PARTIAL = re.compile(r".+\.(?P<host>[^.]+)\.(?P<process>[0-9]{1,9})\.[0-9]+")


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
        if create and not _is_described(self.directory):
            _make(self.directory, str(directory))
        elif not (self.directory / STORE_FILE).exists():
            problem = "is no store of runs: it has no store.json" if self.directory.is_dir() else "does not exist"
            raise InputError(f"{directory} {problem}; `parshall sweep --store DIR` makes one")
        self.identity = _identity(self.directory)

    @classmethod
    def mended(cls, directory: str | Path) -> Self:
        """A store, whose ``store.json`` is made again if it is lost or damaged; its runs are those that are there."""
        folders = [Path(directory) / name for name in _FOLDERS]
        return cls(directory, create=all(folder.is_dir() for folder in folders))

    @classmethod
    def at(cls, directory: str, identity: str) -> Self | None:
        """The store of that identity, or None if this machine does not see it there."""
        try:
            store = cls(directory)
        except (InputError, StoreError):
            return None
        return store if store.identity == identity else None

    @property
    def sweeps(self) -> list[str]:
        """The names of its sweeps."""
        return sorted(path.stem for path in (self.directory / "sweeps").glob("*.json") if path.name[0] != ".")

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
        """Return the path of a run that has a directory of its own."""
        return self.directory / "runs" / run[:2] / run

    def has_directory(self, run: str) -> bool:
        """True if a run has a directory of its own."""
        return (self.run_directory(run) / RUN_FILE).exists()

    def run_directories(self) -> dict[str, Path]:
        """Every run with a directory of its own, in the order of their keys."""
        directories: dict[str, Path] = {}
        for shard in _entries(self.directory / "runs"):
            if _SHARD.fullmatch(shard.name) and shard.is_dir():
                directories |= {
                    entry.name: Path(entry.path) for entry in _entries(shard.path) if _KEY.fullmatch(entry.name)
                }
        return dict(sorted(directories.items()))

    def segment_directories(self) -> list[Path]:
        """Every segment, replaced ones too, in the order of their names."""
        entries = _entries(self.directory / "segments")
        return sorted(Path(entry.path) for entry in entries if _SEGMENT.fullmatch(entry.name))

    def answers(self) -> list[Path]:
        """The files of calls' answers (`parshall.campaign.answers`)."""
        return sorted(path for path in (self.directory / ANSWERS).glob("??/*") if path.is_file())

    def strays(self) -> list[Path]:
        """Return the paths beside runs and segments that somebody else put there; nothing reads them."""
        entries: list[os.DirEntry[str]] = []
        for shard in _entries(self.directory / "runs"):
            if _SHARD.fullmatch(shard.name) and shard.is_dir():
                entries += [entry for entry in _entries(shard.path) if not _KEY.fullmatch(entry.name)]
            else:
                entries.append(shard)
        entries += [entry for entry in _entries(self.directory / "segments") if not _SEGMENT.fullmatch(entry.name)]
        return sorted(Path(entry.path) for entry in entries)

    def partial(self, name: str) -> Path:
        """A path below ``partial/`` that nobody else uses; it says who does."""
        return self.directory / "partial" / f"{name}.{_writer()}"

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[Path]:
        """A directory below ``partial/``, for what is renamed when it is complete; it is gone if an error is raised."""
        partial = self.partial(name)
        try:
            partial.mkdir()
            yield partial
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

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

    def quarantine(self, path: Path) -> Path:
        """Move something that is damaged out of the way; returns where it is now."""
        folder = self.directory / _DAMAGED
        folder.mkdir(exist_ok=True)
        target = folder / f"{path.name}.{uuid.uuid4().hex[:8]}"
        path.rename(target)
        return target

    def remove_orphans(self, *, is_alone: bool = False) -> int:
        """Remove what killed processes of this machine left in ``partial/``; returns how many things.

        A process that is not found may be one of another container with the same host name, so locks decide: a run is
        being written while its claim is held, other files while sweeps are done, stores merged or runs compacted.

        Parameters
        ----------
        is_alone
            Whether the caller holds `alone`.
        """
        left = [entry for entry in _entries(self.directory / "partial") if _is_left(entry)]
        if not left:
            return 0
        with contextlib.ExitStack() as stack:
            nobody_works = is_alone or stack.enter_context(self.alone())
            if not (nobody_works and stack.enter_context(self.exclusive())):
                merged = locks.is_held_alone(self.directory / "claims" / locks.WORKING)
                left = [] if merged else [entry for entry in left if self._is_given_up(entry.name.partition(".")[0])]
            for entry in left:
                remove(Path(entry.path))
        return len(left)

    def _is_given_up(self, run: str) -> bool:
        """True if no process has the claim of a run."""
        if not _KEY.fullmatch(run) or (lock := self.lock(run)) is None:
            return False
        lock.release()
        return True

    # --- failures ---

    def record_failure(self, run: str, error: str, made: Mapping[str, Any]) -> None:
        """Say why a run failed."""
        content = {"format": FORMAT, "run": run, "error": error, **made}
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_atomically(self._failure(run), text, self.partial("failure"))

    def failures(self) -> dict[str, dict[str, Any]]:
        """The failed runs and what is known of each."""
        by_run = {}
        for entry in _entries(self.directory / "failures"):
            if entry.name.endswith(".json") and not entry.name.startswith("."):
                with contextlib.suppress(OSError, ValueError):
                    by_run[entry.name.removesuffix(".json")] = json.loads(Path(entry.path).read_text(encoding="utf-8"))
        return dict(sorted(by_run.items()))

    def _failure(self, run: str) -> Path:
        return self.directory / "failures" / f"{run}.json"

    # --- locks ---

    def lock(self, run: str) -> Lock | None:
        """The right to do a run, or None if another process has it."""
        return Lock.take(self.directory / "claims" / run)

    def working(self) -> contextlib.AbstractContextManager[None]:
        """Say that a sweep is being done: until then `alone` is held by nobody."""
        return locks.shared(self.directory / "claims" / locks.WORKING)

    def alone(self) -> contextlib.AbstractContextManager[bool]:
        """Keep sweeps from beginning; gives False if one is being done."""
        return locks.alone(self.directory / "claims" / locks.WORKING)

    def release_unused_locks(self) -> None:
        """Remove the files of locks that nobody holds: whoever did was killed."""
        for entry in _entries(self.directory / "claims"):
            is_ours = _KEY.fullmatch(entry.name) and entry.is_file()
            if is_ours and (lock := self.lock(entry.name)) is not None:
                lock.release()

    @contextlib.contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Hold the store's own lock, which one process at a time has; gives whether it is held."""
        held = Lock.take(self.directory / "claims" / "store")
        try:
            yield held is not None
        finally:
            if held is not None:
                held.release()

    def _repr_html_(self) -> str:
        """Return what a notebook shows: its sweeps."""
        rows = ([name] for name in self.sweeps)
        return notebook.fragment("Store", str(self.directory), notebook.table(("sweep",), rows))

    def __repr__(self) -> str:
        return f"<Store in {self.directory}>"


def _make(path: Path, shown: str) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
        ours = {*_FOLDERS, _DAMAGED, ANSWERS, STORE_FILE, REPORT_FILE}
        foreign = sorted(entry.name for entry in path.iterdir() if entry.name not in ours)
        foreign = [name for name in foreign if not name.startswith(f".{STORE_FILE}.")]
        if foreign:
            raise InputError(f"{shown} holds {foreign[0]} and is no store of runs; write the name of a new directory")
        for name in _FOLDERS:
            (path / name).mkdir(exist_ok=True)
        aside = path / f".{STORE_FILE}.{_writer()}"
        with aside.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"format": FORMAT, "identity": uuid.uuid4().hex}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        if (path / STORE_FILE).exists():  # it cannot be read
            aside.replace(path / STORE_FILE)
        else:
            with contextlib.suppress(FileExistsError):  # another process was faster
                os.link(aside, path / STORE_FILE)
        aside.unlink(missing_ok=True)
        sync(path)
    except FileExistsError:
        raise InputError(f"{shown} is a file; write the name of a new directory") from None
    except NotADirectoryError:
        raise StorageError(f"results cannot be written: {shown} is not in a directory") from None
    except OSError as error:
        raise storage_error(error) from None


def _is_described(path: Path) -> bool:
    """True if there is a readable description of a store, of any format."""
    try:
        _description(path)
    except (FileNotFoundError, ValueError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def _identity(path: Path) -> str:
    try:
        number, identity = _description(path)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path / STORE_FILE} cannot be read: {error}. `parshall store gc` makes it again; runs and sweeps are not "
            "touched"
        ) from None
    if number != FORMAT:
        raise StoreError(
            f"{path}: found a store of format {number}; this Parshall reads and writes format {FORMAT}. "
            "Nothing was changed; use the Parshall that made it, or write the name of a new store"
        )
    return identity


def _description(path: Path) -> tuple[Any, str]:
    """Format and identity of a store; ValueError if they cannot be told."""
    content = json.loads((path / STORE_FILE).read_text(encoding="utf-8"))
    if not isinstance(content, dict) or "format" not in content or "identity" not in content:
        raise ValueError("it has no format and identity")
    return content["format"], str(content["identity"])


def _entries(folder: str | Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def name_of(content: str) -> str:
    """The name of something that a store has by its content: 128 bits of SHA-256."""
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _host() -> str:
    return socket.gethostname().replace(".", "-")


def _writer() -> str:
    """A name for what is being written, by whom; nobody else has it."""
    return f"{_host()}.{os.getpid()}.{next(_COUNTER)}"


def _is_left(entry: os.DirEntry[str]) -> bool:
    """True if the writer of an entry in ``partial/`` ran on this machine and has ended."""
    match = _PARTIAL.fullmatch(entry.name)
    if match is None or match["host"] != _host():
        return False
    try:
        written_s = entry.stat(follow_symlinks=False).st_mtime
    except FileNotFoundError:
        return False
    return not _alive(int(match["process"]), written_s)


def _alive(process: int, since_s: float) -> bool:
    """True if a process of that number is alive and existed at that time: numbers are given again.

    One that was killed has its number until its parent asks for it.
    """
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        booted = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return True  # no Linux, or it has just ended: whoever asks next finds out
    began_s = int(status[19]) / os.sysconf("SC_CLK_TCK") + (0 if booted is None else int(booted[1]))
    return status[0] not in {"Z", "X"} and began_s <= since_s + _CLOCK_S


_CLOCK_S = 2.0
"""The time of booting is known to a second, and files have the clock's last tick."""


def remove(path: Path) -> None:
    """Remove a file, or a directory and all that is in it."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
