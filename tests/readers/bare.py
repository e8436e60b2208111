"""Machines that lack programs: for the step that installs packages, and for tests that need them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Collection
from pathlib import Path

from parshall.foundations.debian import packages


def script(place: Path, text: str) -> None:
    place.parent.mkdir(exist_ok=True)
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)


def machine(
    folder: Path, command: str, *, installed: Collection[str] = (), refuses: Collection[str] = (), user: int = 0
) -> subprocess.CompletedProcess[str]:
    """What a command does in a folder, for this user, on a machine with some packages whose apt-get refuses some."""
    tools = folder / "tools"
    script(tools / "id", f"echo {user}")
    script(tools / "dpkg-query", "".join(f"echo {each} installed\n" for each in installed) + "exit 1")
    cases = "".join(f"*' {each} '*) exit 100 ;; " for each in refuses)
    script(tools / "apt-get", f'echo "$@" >> {folder}/asked\ncase "$* " in {cases} *) ;; esac')
    path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(["sh", "-c", command], cwd=folder, env=path, capture_output=True, text=True, check=False)


def path_without_programs(folder: Path) -> str:
    """A PATH with the programs of this machine but those that are in packages of the list."""
    hidden = {each for package in packages() for alternatives in package.shown_by for each in alternatives}
    for place in map(Path, reversed(os.get_exec_path())):
        for program in place.glob("*"):
            link = folder / program.name
            if not any(program.match(each) for each in hidden if "/" not in each):
                link.unlink(missing_ok=True)
                link.symlink_to(program)
    return str(folder)
