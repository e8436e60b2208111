"""Emulations at once: what is asked for on the command line, or in Python, reaches whoever emulates."""

from __future__ import annotations

from typing import Any

import pytest

from parshall.studies import running
from parshall.studies.running import Execution, answered
from parshall.studies.study import Case


@pytest.mark.parametrize(("at_once", "workers"), [(True, [3, 3]), (False, [3, 1])])
def test_a_study_emulates_as_many_cases_at_a_time_as_it_is_told(
    at_once: bool, workers: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[int | None, list[bool]]] = []

    def called(calls: list[Any], workers: int | None, *_: Any, **__: Any) -> list[Any]:
        told.append((workers, [call.at_once for call in calls]))
        return [call.does.function(*call.does.arguments) for call in calls]

    monkeypatch.setattr(running, "run_calls", called)
    cases = {"simulated": Case("one", abs, (-1,)), "emulated": Case("other", abs, (-2,), emulates=True)}
    assert answered(cases, Execution(workers=3, at_once=at_once)) == {"simulated": 1, "emulated": 2}
    assert told == [(number, [at_once]) for number in workers]
