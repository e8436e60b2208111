"""What studies keep between runs: what was measured of a scenario, in the user's cache.

A finished point is kept below ``XDG_CACHE_HOME``, under a digest of its resolved scenario and of Parshall's version, so
that an interrupted study goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import TypeVar

from parshall.files import write_atomically
from parshall.scenario import Scenario

Measured = TypeVar("Measured")


def kept(study: str, scenario: Scenario, measure: Callable[[Scenario], Measured]) -> Measured:
    """What was measured of a scenario before, or now."""
    text = json.dumps([metadata.version("parshall"), scenario.resolve()], sort_keys=True)
    folder = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "parshall" / "studies" / study
    path = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.pickle"
    if path.exists():
        found: Measured = pickle.loads(path.read_bytes())  # noqa: S301 (written by us, below the user's own cache)
        return found
    made = measure(scenario)
    folder.mkdir(parents=True, exist_ok=True)
    write_atomically(path, pickle.dumps(made))
    return made
