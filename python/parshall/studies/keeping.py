"""What studies keep between runs: what was measured of a scenario, in the user's cache.

A finished point is kept below ``XDG_CACHE_HOME``, under a digest of all that decides it: its resolved scenario, the
number of repetitions, Parshall's code, and what measures. So an interrupted study goes on where it was, and another
simulator or another definition starts anew. The code is the compiled simulator and all of Parshall's Python: a measure
imports from much of it, and a digest of less would have to follow these imports and their data. Quantities of users
count too.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from parshall.files import write_atomically
from parshall.quantities import digest
from parshall.records import about
from parshall.scenario import Scenario

Measured = TypeVar("Measured")


def kept(study: str, scenario: Scenario, measure: Callable[[Scenario], Measured]) -> Measured:
    """What was measured of a scenario before with this function and this code, or now."""
    named = [
        about.python_digest(),
        measure.__module__,
        measure.__qualname__,
        digest.of_function(measure),
        digest.of_users(),
    ]
    path = place(study, scenario, *named).with_suffix(".pickle")
    if path.exists():
        found: Measured = pickle.loads(path.read_bytes())  # noqa: S301 (written by us, below the user's own cache)
        return found
    made = measure(scenario)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pickle.dumps(made))
    return made


def place(study: str, scenario: Scenario, *measure: str) -> Path:
    """Where a study keeps what came of a scenario; it names all that decides that."""
    text = json.dumps([about.code_version(), *measure, scenario.repetitions, scenario.resolve()], sort_keys=True)
    return folder(study) / hashlib.sha256(text.encode()).hexdigest()[:24]


def folder(study: str) -> Path:
    """A study's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "parshall" / "studies" / study
