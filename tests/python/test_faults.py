"""A panic in Rust is a line with its place, once, and nothing on standard error."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest

from parshall import _core
from parshall.instruments.emulation import child

SAID = r"the test failed at crates/python/src/faults\.rs:\d+: {}; this is a fault in Parshall, please report it"


@pytest.mark.parametrize(("elsewhere", "words"), [(False, "on purpose"), (True, "elsewhere")])
def test_a_panic_is_an_error_of_one_line(elsewhere: bool, words: str) -> None:
    with pytest.raises(RuntimeError) as raised:
        _core.fault_for_tests(elsewhere)
    assert re.fullmatch(SAID.format(words), str(raised.value))


@pytest.mark.parametrize("elsewhere", [False, True])
def test_nothing_is_printed_of_a_panic(elsewhere: bool) -> None:
    code = f"""
from parshall import _core
try:
    _core.fault_for_tests({elsewhere})
except RuntimeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert len(done.stdout.splitlines()) == 1


def test_a_panic_in_an_emulation_is_its_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "emulate", lambda *_: _core.fault_for_tests(False))
    monkeypatch.setattr(_core, "die_with_parent", lambda _: None)
    order: dict[str, Any] = {"parent": 1, "directory": ".", "scenario": "", "repetition": 0, "extras": ""}
    answer = child.answer(order)
    assert list(answer) == ["failed"]
    assert re.fullmatch(SAID.format("on purpose"), answer["failed"])
