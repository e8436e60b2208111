"""What `make setup` installs is locked: every dependency with its version and hashes, wherever it is taken from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")


def entries() -> dict[str, str]:
    """What stands behind each package's name, its hashes included."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", re.sub(r"(?m)^\s*#.*\n", "", LOCK)):
        name = re.match(r"([a-z0-9-]+)==", entry)
        assert name is not None, entry
        found[name[1]] = found.get(name[1], "") + entry
    return found


def test_every_dependency_is_there_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    studies = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    others = [each for each in studies["dependencies"] if not each.startswith("parshall==")]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"], *others]
    names = {re.split(r"[<>=!~\[; ]", each)[0].lower() for each in wanted}
    locked = entries()
    assert names <= set(locked)
    assert all("--hash=sha256:" in entry for entry in locked.values())


def test_it_names_no_place_to_take_them_from() -> None:
    assert "://" not in LOCK
    assert "index" not in re.sub(r"--hash=\S+", "", LOCK)


def test_setup_uses_the_locks() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "--require-hashes --requirement $(LOCK)" in makefile
    assert all(
        "--locked" in line for line in makefile.splitlines() if "maturin develop" in line or "maturin build" in line
    )
