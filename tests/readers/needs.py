"""Programs that tests need and a machine may lack: ``@pytest.mark.needs("ping")``, or `need` within a test.

A test is skipped without them, and the reason says which package has them (python/parshall/foundations/debian.txt). In
CI, where everything is to be tested, it fails.
"""

from __future__ import annotations

import os

import pytest

from parshall.foundations.debian import lacks


def need(*names: str) -> None:
    """Go on with the test if these programs and files are there."""
    why = lacks(*names)
    if why is None:
        return
    if os.environ.get("CI") or os.environ.get("PARSHALL_EMULATE") == "required":
        pytest.fail(why, pytrace=False)
    pytest.skip(why)
