"""The options of all verbs as a page of the documentation site: ``python -m tools.documentation.manual FILE``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from parshall.cli.added import WithVerbs
from parshall.cli.app import VERBS, application
from tools.documentation.markdown import table


def commands() -> str:
    """Every verb with its arguments and options, as its help has them."""
    return "\n".join(_described("parshall", get_command(application(VERBS))))


def _described(path: str, command: Any) -> Iterator[str]:
    children = getattr(command, "commands", {})
    if path != "parshall":
        yield f"## {path}\n\n{_clean(command.help)}\n"
        with command.context_class(command) as context:
            records = [parameter.get_help_record(context) for parameter in command.params]
        if rows := [(f"`{written}`", _clean(text)) for written, text in records if written]:
            yield table(("argument or option", "what"), rows) + "\n"
    below = command.below() if isinstance(command, WithVerbs) else {}
    for name, child in {**children, **below}.items():
        yield from _described(f"{path} {name}", child)


def _clean(text: str | None) -> str:
    """A help text in one line, in which Markdown changes nothing."""
    return re.sub(r"([*_<>\[\]])", r"\\\1", " ".join((text or "").split()))


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(commands(), encoding="utf-8")
