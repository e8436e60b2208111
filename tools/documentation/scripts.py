"""The outcomes of packetdrill's scripts, as a table: the list that the tests of the TCP endpoint keep."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath

from tools.documentation.markdown import table

ROOT = Path(__file__).parents[2]
LIST = ROOT / "crates" / "tcp" / "tests" / "packetdrill" / "google.tsv"
"""A line a script: verdict, name, and the fields not compared, the rule or the reason."""


def packetdrill() -> str:
    """The counts, and for each folder which scripts pass, which fail, and why others do not apply."""
    lines = [(*line.split("\t"), "")[:3] for line in LIST.read_text(encoding="utf-8").splitlines()]
    counts = Counter(verdict for verdict, _, _ in lines)
    folders: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for verdict, name, why in lines:
        path = PurePosixPath(name)
        folders[str(path.parent)].append((verdict, path.stem, why))
    rows = [(f"`{folder}`", _passing(each), _failing(each), _others(each)) for folder, each in folders.items()]
    return (
        f"Of all {len(lines)} scripts {counts['pass']} pass, {counts['fail']} fail, "
        f"and {counts['n/a']} do not apply:\n\n" + table(("folder", "pass", "fail, and the rule", "do not apply"), rows)
    )


def _passing(scripts: list[tuple[str, str, str]]) -> str:
    """The names, and with each the fields of ``tcp_info`` that the sender has not."""
    passing = [(name, missing) for verdict, name, missing in scripts if verdict == "pass"]
    return ", ".join(f"`{name}`" + (f" (but for {_quoted(missing)})" if missing else "") for name, missing in passing)


def _quoted(listed: str) -> str:
    return ", ".join(f"`{each}`" for each in listed.split(", "))


def _failing(scripts: list[tuple[str, str, str]]) -> str:
    return "; ".join(f"`{name}`: {rule}" for verdict, name, rule in scripts if verdict == "fail")


def _others(scripts: list[tuple[str, str, str]]) -> str:
    reasons = Counter(why for verdict, _, why in scripts if verdict == "n/a")
    return "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
