"""The versions of Parshall's formats: docs/project.md says what each promises, `tests/formats` lists their elements."""

from __future__ import annotations

RESULTS = 1
"""The directory of a run, an observation or a prediction; ``format`` in its ``run.json``."""
STORE = 1
"""The store of sweeps; ``format`` in its ``store.json``."""
SCENARIOS = 1
"""Scenario and sweep files."""
JSON = 1
"""JSON on the standard output of verbs."""
PLUGINS = 1
"""Entry points for packages of users, and the classes that they name."""
