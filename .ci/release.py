"""Whether the sources can be released: ``python .ci/release.py`` (`make release` asks it first).

A version has one number, in Cargo.toml. CITATION.cff names the same, as do both distributions
(``studies/pyproject.toml``, and the extra ``studies``), and CHANGELOG.md begins with it and
the day, under which nothing is still unreleased.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def problems(root: Path = ROOT) -> list[str]:
    """Return what is to be done before the sources in `root` can be released; nothing if they can."""
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
    return [*found, *_of_distributions(root, version)]


def _of_distributions(root: Path, version: str) -> list[str]:
    """Versions of the studies, and those that one distribution asks of the other, that are not this one."""
    core = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    studies = tomllib.loads((root / "studies" / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {
        "studies/pyproject.toml: version": (studies["version"], version),
        "studies/pyproject.toml: dependencies": (studies["dependencies"][0], f"parshall=={version}"),
        "pyproject.toml: studies": (core["optional-dependencies"]["studies"][0], f"parshall-studies=={version}"),
    }
    return [f"{where}: found {has}; accepted: {wanted}" for where, (has, wanted) in named.items() if has != wanted]


if __name__ == "__main__":
    sys.exit("\n".join(problems()) or 0)
