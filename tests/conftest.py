"""What all tests share: the mark `needs`."""

from __future__ import annotations

import pytest
from needs import need


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs a program which is missing, before its fixtures are made."""
    for mark in item.iter_markers("needs"):
        need(*mark.args)
