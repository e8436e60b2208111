"""The explorer's answer."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from saying import State

from parshall.explore import preview
from parshall.explore.subject import Base
from parshall.foundations.errors import InputError

SCENARIO: dict[str, Any] = {
    "duration": "4 s",
    "warm_up": "1 s",
    "repetitions": 1,
    "bottleneck": {"rate": "5 Mbit/s"},
    "flows": [
        {"name": "near", "rtt": "20 ms", "congestion_control": "reno"},
        {"name": "far", "rtt": "60 ms", "congestion_control": "reno"},
    ],
}


def answer(**more: Any) -> str:
    parts = list(preview.shown(Base(SCENARIO | more, ".", None, "parshall run x"), {}, lambda: False))
    assert "problems" not in parts[0], parts[0]
    return "\n".join([parts[0]["finding"], parts[0]["extent"], parts[1]["predicted"].replace("&#39;", "'")])


def without_models() -> str:
    def fails(*_: Any) -> None:
        raise InputError("flows: found nothing that a model describes")

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys.modules["parshall.predict"], "predict", fails)
        return answer()


def one_repetition(text: str) -> None:
    """Nothing is known of chance."""
    assert "one repetition" in text
    assert "In its one repetition, a flow of near gets" in text


def _cut_short(text: str) -> None:
    assert "of 4000\xa0s" in text.replace("\u202f", ""), text


LONG = {"duration": "4000 s", "warm_up": "1000 s", "bottleneck": {"rate": "100 Mbit/s"}}

STATES: dict[str, State] = {
    "a short scenario": State(answer, {"explored.whole", "two_once"}, one_repetition),
    "a scenario of several repetitions": State(lambda: answer(repetitions=3), {"explored.repetitions"}, one_repetition),
    "a long scenario": State(lambda: answer(**LONG), {"explored.time"}, _cut_short),
    "a long scenario of several repetitions": State(
        lambda: answer(**LONG, repetitions=3), {"explored.part"}, _cut_short
    ),
    "a scenario that models fail at": State(without_models, {"explored.no_answer"}),
}
