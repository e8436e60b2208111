"""Whether the sources can be released: ``python .ci/release.py [FOLDER ...]`` (`make release` asks it first).

A version has one number, in Cargo.toml. CITATION.cff names the same, CHANGELOG.md begins with it and the day, under
which nothing is still unreleased, and so does the pyproject.toml of every further distribution, each in its FOLDER.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(root: Path = ROOT, others: Sequence[Path] = ()) -> list[str]:
    """Return what is to be done before the sources in `root` and `others` can be released; nothing if they can."""
    cargo = tomllib.loads((root / "Cargo.toml").read_text(encoding="utf-8"))
    version = cargo["workspace"]["package"]["version"]
    found = []
    cited = re.search(r"^version: *(\S+)$", (root / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    if cited is None or cited[1].strip("\"'") != version:
        has = "no version" if cited is None else cited[1]
        found.append(f"CITATION.cff: found {has}; accepted: version: {version}, as in Cargo.toml")
    headings = re.findall(r"^## (.*)$", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    first = headings[0] if headings else "no heading"
    if not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d", first):
        found.append(f'CHANGELOG.md: found "{first}" first; accepted: "[{version}] - YYYY-MM-DD", as in Cargo.toml')
    for folder in others:
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        if project.get("version") != version:
            has = project.get("version", "no version")
            found.append(
                f'{folder.name}/pyproject.toml: found {has}; accepted: version = "{version}", as in Cargo.toml'
            )
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems(others=[Path(name) for name in sys.argv[1:]])) or 0)
