"""``python -m tools.documentation [--check]``: see the package's docstring."""

from __future__ import annotations

import sys
from pathlib import Path

from tools.documentation.markdown import broken_links, renew
from tools.documentation.tables import ROOT, SECTIONS


def guides(root: Path = ROOT) -> list[Path]:
    """Every Markdown file that users and developers read."""
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").glob("**/*.md")), *sorted(root.glob("benches/*.md"))]


def stale(root: Path = ROOT) -> dict[Path, str]:
    """The files whose generated sections are not what the catalogs say, with what they should hold."""
    outdated = {}
    for path in guides(root):
        text = path.read_text(encoding="utf-8")
        renewed = renew(text, SECTIONS)
        if renewed != text:
            outdated[path] = renewed
    return outdated


def say(line: str) -> None:
    """Print a line where people look for messages."""
    sys.stderr.write(line + "\n")


def main(arguments: list[str]) -> int:
    """Bring the guides up to date, or say what is not; the exit code is 1 if something is wrong."""
    checking = "--check" in arguments
    outdated = stale()
    for path, text in outdated.items():
        if checking:
            say(f"{path}: generated sections are not up to date: run `make docs`")
        else:
            path.write_text(text, encoding="utf-8")
            say(f"{path}: brought up to date")
    broken = [problem for path in guides() for problem in broken_links(path)]
    for problem in broken:
        say(problem)
    return 1 if broken or (checking and outdated) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
