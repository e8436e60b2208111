"""Wheels in an empty environment: ``python .ci/smoke.py dist/*.whl`` (`make release` runs it last).

All wheels are installed together, by pip, with what they depend on; no compiler is on the path. Then Parshall runs and
sweeps there, lists its controls, and computes a study, in a folder of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

COMMANDS: Sequence[Sequence[str]] = (
    ("--version",),
    ("run", "quickstart", "--set", "duration=4 s", "--set", "warm_up=1 s", "-o", "run"),
    ("sweep", "sweep.toml", "--store", "store"),
    ("emulate", "--help"),
    ("list", "controls"),
)
OF_STUDIES: Sequence[Sequence[str]] = (("list", "studies"), ("study", "rio", "--output", "rio"))
"""With the wheel of the studies."""

SWEEP = """scenario = "quickstart"
repetitions = 1
[set]
duration = "2 s"
warm_up = "0.5 s"
[parameters]
"bottleneck.rate" = ["10 Mbit/s", "20 Mbit/s"]
"""


def tried(wheels: Sequence[Path], folder: Path, *, options: Sequence[str] = ()) -> None:
    """Install `wheels` into a new environment in `folder` and run the commands there.

    Parameters
    ----------
    options
        Of ``pip install``.

    Raises
    ------
    subprocess.CalledProcessError
        An installation or a command failed.
    """
    place, work = folder / "environment", folder / "work"
    venv.create(place, with_pip=True)
    work.mkdir()
    (work / "sweep.toml").write_text(SWEEP, encoding="utf-8")
    without_compiler = {"HOME": str(work), "PATH": str(place / "bin"), "LANG": "C.UTF-8"}
    network = {
        key: value for key, value in os.environ.items() if key.lower().endswith("_proxy") or key.startswith("PIP_")
    }
    install = [str(place / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    only_wheels = ["--only-binary", ":all:", *options]
    subprocess.run([*install, *only_wheels, *map(str, wheels)], env=without_compiler | network, check=True)
    studies = any(wheel.name.startswith("parshall_studies") for wheel in wheels)
    for command in (*COMMANDS, *(OF_STUDIES if studies else ())):
        print("smoke: parshall", *command)
        subprocess.run([str(place / "bin/parshall"), *command], cwd=work, env=without_compiler, check=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="parshall-smoke-") as made:
        tried([Path(name).resolve() for name in sys.argv[1:]], Path(made))
