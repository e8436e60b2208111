"""The scenarios and sweeps that come with Parshall: found by their names, and copied to be changed."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from parshall.foundations.errors import InputError, OutputExistsError

FOLDER = Path(__file__).parent / "scenarios"

_QUOTED = re.compile(r'"([^"\n]+\.(?:toml|gz))"')
"""Files that a scenario names."""
_NAME = re.compile(r'^name = "[^"]*"$', re.MULTILINE)


@dataclass(frozen=True)
class Shipped:
    """A scenario or a sweep: its name, its file, and what it shows."""

    name: str
    path: Path
    summary: str

    @property
    def is_sweep(self) -> bool:
        """True if it is a sweep."""
        return self.path.parent.name == "sweeps"

    @property
    def command(self) -> str:
        """The verb that does it."""
        return "sweep" if self.is_sweep else "run"


@cache
def paths() -> dict[str, Path]:
    """The file of each, by its name."""
    return {path.stem: path for pattern in ("*.toml", "sweeps/*.toml") for path in sorted(FOLDER.glob(pattern))}


def shipped() -> list[Shipped]:
    """All of them, the scenarios first."""
    templates = []
    for name, path in paths().items():
        described = tomllib.loads(path.read_text(encoding="utf-8"))
        templates.append(Shipped(name, path, described["description"]))
    return templates


def located(path: Path, folder: Path = Path()) -> Path:
    """The file that is meant: of a mere name that is no file of the folder, the shipped one.

    >>> located(Path("quickstart")).name, located(Path("nothing")).name
    ('quickstart.toml', 'nothing')
    """
    known = paths().get(path.name) if path.parent == Path() else None
    here = folder / path
    return here if known is None or here.exists() else known


def write_copy(of: Shipped, name: str, folder: Path) -> list[Path]:
    """Write a shipped scenario as ``folder/name.toml``, with the files that it names.

    Returns
    -------
    list of Path
        What was written, the scenario first.

    Raises
    ------
    InputError
        The name is no name of a file.
    OutputExistsError
        A file is there already.
    """
    if not re.fullmatch(r"[\w.-]+", name) or name.startswith("."):
        raise InputError(f'found the name "{name}"; accepted: letters, digits, "-", "_" and "."')
    text = of.path.read_text(encoding="utf-8")
    beside = {file: of.path.parent / file for file in _QUOTED.findall(text) if (of.path.parent / file).is_file()}
    for file, source in beside.items():
        text = text.replace(f'"{file}"', f'"{source.name}"')
    text = _NAME.sub(f'name = "{name}"', text, count=1)
    made = {folder / f"{name}.toml": text.encode()}
    made |= {folder / source.name: source.read_bytes() for source in beside.values()}
    for path, content in made.items():
        if path.exists() and path.read_bytes() != content:
            raise OutputExistsError(f"{path} exists; nothing is written over it")
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in made.items():
        path.write_bytes(content)
    return list(made)
