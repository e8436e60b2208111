"""The goals of `benches/emulation.py speed`: what misses them is not passed."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import parshall as ps

sys.path.insert(0, str(Path(__file__).parents[2] / "benches"))

from harness import emulated_speed
from harness.emulated import Emulation


def emulation(goodput_bps: float = 950e6, late_s: float = 150e-6, level: str = "valid") -> Any:
    flows = pl.DataFrame({"goodput_bps": [goodput_bps / 2] * 2})
    run = ps.Run(None, {"instrument": "emulate"}, {"flows": flows})
    return Emulation(run, level, [], {"lateness_p99_s": late_s}, {}, 0.01)


def test_each_goal_is_missed_by_itself() -> None:
    case = emulated_speed.cases(4.0)["1 cubic flow, 1 Gbit/s"]
    assert emulated_speed.missed(emulation(), case) == []
    assert emulated_speed.missed(emulation(goodput_bps=930e6), case) == ["goodput"]
    assert emulated_speed.missed(emulation(late_s=300e-6), case) == ["lateness"]
    assert emulated_speed.missed(emulation(level="invalid"), case) == ["valid"]
    assert emulated_speed.missed(replace(emulation(), set_up_s=3.0), case) == ["set-up"]
    fast = emulated_speed.cases(4.0)["1 cubic flow, 4 Gbit/s"]
    assert emulated_speed.missed(emulation(goodput_bps=3.4e9), fast) == ["goodput"]
    assert emulated_speed.missed(emulation(goodput_bps=3.6e9), fast) == []
    many = emulated_speed.cases(4.0)["100 reno flows, 1 Gbit/s"]
    assert emulated_speed.missed(emulation(goodput_bps=930e6), many) == [], "no goodput is asked of many flows"


@pytest.mark.parametrize(("good", "bad", "passed"), [(1, 0, True), (2, 1, True), (1, 1, False), (1, 2, False)])
def test_more_than_half_of_the_runs_must_reach_the_goals(good: int, bad: int, passed: bool) -> None:
    case = emulated_speed.cases(4.0)["1 cubic flow, 1 Gbit/s"]
    runs = [emulation()] * good + [emulation(late_s=1e-3)] * bad
    assert emulated_speed.passed(runs, case) == passed
