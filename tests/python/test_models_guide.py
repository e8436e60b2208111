"""The examples of docs/models.md give what the guide says."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "models.md"


def test_examples_of_the_guide() -> None:
    pytest.importorskip("parshall._core")
    failures, tests = doctest.testfile(str(GUIDE), module_relative=False, encoding="utf-8")
    assert tests >= 20
    assert failures == 0
