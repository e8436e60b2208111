"""Debian's packages that parts of Parshall need: what of `debian.txt`, the one list of them, this machine has.

Whether a package is there is seen by its programs and files, so that it is known on other distributions too.

``python -m parshall.foundations.debian NAME...`` says in one line which of these programs and files are missing, how to
install them and what needs them; the exit code is 1 then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from os import X_OK, access, get_exec_path
from pathlib import Path

PURPOSES = {
    "build": "building from source",
    "run": "running",
    "study": "parts of a study that are left out, or done otherwise, without it",
    "check": "`make check`",
    "bench": "benchmarks, recordings",
}
"""The purposes of packages, in words."""

_ELSEWHERE = {"cargo": "https://rustup.rs"}
"""Sources of programs that are in no package of the list."""


@dataclass(frozen=True)
class Package:
    """A line of the list."""

    name: str
    purposes: tuple[str, ...]
    shown_by: tuple[tuple[str, ...], ...]
    """Programs and files that are there with it, each with alternatives; none if it cannot be seen."""
    reason: str

    @property
    def found(self) -> list[str]:
        """Paths of its programs and files, as far as they are there."""
        return [path for alternatives in self.shown_by if (path := _first(alternatives)) is not None]

    @property
    def is_there(self) -> bool:
        """True if all that shows it is there."""
        return len(self.found) == len(self.shown_by)


@cache
def packages() -> tuple[Package, ...]:
    """The list.

    >>> next(each for each in packages() if each.name == "iputils-ping").shown_by
    (('ping',),)
    """
    lines = Path(__file__).with_name("debian.txt").read_text(encoding="utf-8").splitlines()
    return tuple(_package(line) for line in lines if not line.startswith("#"))


def _package(line: str) -> Package:
    name, purposes, shown_by, reason = line.split(None, 3)
    shown = () if shown_by == "-" else tuple(tuple(each.split("|")) for each in shown_by.split(","))
    return Package(name, tuple(purposes.split(",")), shown, reason)


def find(name: str) -> str | None:
    """The path of a program or file of the list, or of an alternative to it; None if there is none.

    Raises
    ------
    KeyError
        The list has no such name.
    """
    return _first(_entry(name)[1])


def lacks(*names: str) -> str | None:
    """Return the missing ones of these programs and files with commands that install them; None: all are there.

    >>> lacks("cc") in (None, "no cc: apt install gcc")
    True
    """
    missing = [name for name in names if find(name) is None]
    remedies = [_ELSEWHERE[name] for name in missing if name in _ELSEWHERE]
    if owners := _owners(missing):
        remedies.insert(0, install(owners))
    return f"no {', '.join(missing)}: {'; '.join(remedies)}" if missing else None


def install(wanted: Iterable[Package]) -> str:
    """The command that installs packages."""
    return " ".join(["apt install", *(each.name for each in wanted)])


def _owners(names: Iterable[str]) -> list[Package]:
    """The packages with these programs and files, each once."""
    return list(dict.fromkeys(owner for name in names if (owner := _entry(name)[0]) is not None))


def _entry(name: str) -> tuple[Package | None, tuple[str, ...]]:
    """The package with a program or file of this name, and the alternatives of which one is to be there."""
    if name in _ELSEWHERE:
        return None, (name,)
    for package in packages():
        for alternatives in package.shown_by:
            if name in {Path(each).name for each in alternatives}:
                return package, alternatives
    raise KeyError(name)


def _first(alternatives: Iterable[str]) -> str | None:
    return next((path for each in alternatives for path in _paths(each)), None)


def _paths(pattern: str) -> list[str]:
    """Return the files that match, or, if the pattern has no folder, the programs."""
    if "/" in pattern:
        return [str(path) for path in Path("/").glob(pattern[1:])]
    found = [path for folder in get_exec_path() for path in Path(folder).glob(pattern)]
    return [str(path) for path in found if access(path, X_OK)]


def main(names: list[str]) -> int:
    """See the module's docstring."""
    why = lacks(*names)
    if why is None:
        return 0
    reasons = dict.fromkeys(each.reason for each in _owners(names) if not each.is_there)
    sys.stderr.write(f"parshall: {why} ({'; '.join(reasons)})\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
