"""The record of a check: what its steps took, how many tests they ran, and a line for each whole check."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
from built import ROOT

PRINTED = """
SKIPPED [2] tests/python/test_captures.py:406: tshark is not installed.
SKIPPED [1] tests/python/test_pictures.py:109: tshark is not installed
3 passed, 3 skipped, 1 warning in 2.00s
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
"""


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    about = importlib.util.spec_from_file_location("steps", ROOT / ".ci/steps.py")
    assert about is not None
    assert about.loader is not None
    module = importlib.util.module_from_spec(about)
    about.loader.exec_module(module)
    monkeypatch.setattr(module, "STEPS", tmp_path / "build/steps.jsonl")
    monkeypatch.setattr(module, "CHECKED", tmp_path / "build/checked.json")
    return module


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("3634 passed, 17 skipped in 214.76s (0:03:34)", {"passed": 3634, "skipped": 17}),
        ("1 failed, 2 passed, 1 error in 0.20s", {"failed": 2, "passed": 2}),
        ("===== 5 passed, 3 deselected in 1.00s =====", {"passed": 5}),
        ("test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured", {"passed": 1, "failed": 2}),
        ("12 packets in 3.0s", {}),
        ("no tests ran in 0.01s", {}),
    ],
)
def test_what_runners_print_is_counted(steps: ModuleType, line: str, counts: dict[str, int]) -> None:
    assert steps.counted(line) == Counter(counts)


def test_a_check_is_recorded_with_what_was_run(
    steps: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "printed").write_text(PRINTED)
    assert steps.main(["run", "tests", "cat", str(tmp_path / "printed")]) == 0
    assert steps.main(["run", "busy", "python3", "-c", "sum(range(20_000_000))"]) == 0
    assert steps.main(["table", "check-all"]) == 0
    told = capfd.readouterr().out
    assert "skipped: tshark is not installed (3)\n15 passed, 0 failed, 4 skipped\n" in told
    record = json.loads(steps.CHECKED.read_text())
    assert (record["passed"], record["tests"]) == (True, {"passed": 15, "skipped": 4})
    assert [step["step"] for step in record["steps"]] == ["tests", "busy"]
    assert 0 < record["steps"][1]["cpu_s"] <= 1.5 * record["steps"][1]["wall_s"] + 0.1
    assert record["commit"]
    assert not steps.STEPS.exists()


def test_a_failed_step_fails_the_check_and_is_named(steps: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    assert steps.main(["run", "lint", "sh", "-c", "exit 7"]) == 7
    assert steps.main(["table", "check-all"]) == 1
    assert "failed (7)" in capfd.readouterr().out
    assert json.loads(steps.CHECKED.read_text())["passed"] is False


def test_a_check_without_steps_has_checked_nothing(steps: ModuleType) -> None:
    assert steps.main(["table", "check"]) == 1
    assert not steps.CHECKED.exists(), "only a whole check is recorded"


def test_other_arguments_are_refused(steps: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    assert steps.main(["run", "lint"]) == 2
    assert "steps.py run NAME COMMAND" in capfd.readouterr().err
