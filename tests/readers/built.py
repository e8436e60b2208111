"""What `make` has built: tests look at that, if nothing has changed since."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]


def is_current(built: Path, *patterns: str) -> bool:
    """Whether this file is there, and newer than all files of the checkout with such paths."""
    sources = (path.stat().st_mtime for pattern in patterns for path in ROOT.glob(pattern) if path.is_file())
    return built.is_file() and built.stat().st_mtime > max(sources)
