"""Bars of whole commands: what a user waits for before, after and around a simulation."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.record import Bar, Record

QUICKSTART = Path(__file__).parents[2] / "scenarios" / "quickstart.toml"
TURNS = 5
_PARSHALL = ("-m", "parshall")
_RUN = (*_PARSHALL, "run", str(QUICKSTART), "--quiet", "--force", "-o", "quickstart")

COMMANDS: Mapping[str, tuple[Sequence[str], float]] = {
    "import parshall": (("-c", "import parshall"), 0.05),
    "parshall list": ((*_PARSHALL, "list"), 0.4),
    "parshall run scenarios/quickstart.toml --no-page": ((*_RUN, "--no-page"), 0.5),
    "parshall run scenarios/quickstart.toml": (_RUN, 0.9),
}
"""What Python is told, and CPU seconds on an idle machine."""


def measure(record: Record) -> None:
    """CPU seconds of each, start of Python included: the best of some turns, as other work only adds."""
    with tempfile.TemporaryDirectory() as folder:
        for name, (arguments, bar) in COMMANDS.items():
            _cpu_s(arguments, folder)  # compiles what was changed since, as an installation has it
            best = min(_cpu_s(arguments, folder) for _ in range(TURNS))
            record.judge(Bar(f"{name}: CPU s", best, bar, at_least=False))


def _cpu_s(arguments: Sequence[str], folder: str) -> float:
    def spent() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(Path(folder) / "compiled")}
    before = spent()
    subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    return spent() - before
