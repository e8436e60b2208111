"""Functions in processes: order, errors, processes that end, Ctrl-C; a study finds the same with any number of them."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from parshall.analysis.models.inputs import ModelInputError
from parshall.campaign.call import Call, Function
from parshall.campaign.calls import run_calls
from parshall.foundations.errors import InputError, ScenarioError, SimulationError
from parshall.scenario import Scenario
from parshall.studies.artefact import part
from parshall.studies.running import Execution, run
from parshall.studies.study import Part, Study
from parshall_studies.chains.loss import Bernoulli
from parshall_studies.large_deviations import on_off, theory
from parshall_studies.large_deviations.setting import Setting


@pytest.fixture(autouse=True)
def no_control_of_another_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """A control that another test declared as a class would have calls done in this very process."""
    monkeypatch.setattr("parshall.scenario.schema.external.known_here_alone", lambda: ())


def test_answers_come_in_the_order_of_the_calls() -> None:
    told: list[str] = []
    calls = [Call(f"root of {n}", Function(math.sqrt, (n,))) for n in range(7)]
    assert run_calls(calls, 2, lambda call: told.append(call.key)) == [math.sqrt(n) for n in range(7)]
    assert sorted(told) == [f"root of {n}" for n in range(7)]
    assert run_calls([], 2) == []


def test_what_goes_wrong_in_a_process_is_said_here() -> None:
    with pytest.raises(ModelInputError, match="packet_loss"):
        run_calls([Call("loss", Function(Bernoulli, (1.5,)))], 1)
    with pytest.raises(ScenarioError) as refused:
        run_calls([Call("run", Function(Scenario.from_document, ({"flows": []}, Path(), "mine.toml")))], 1)
    assert str(refused.value).splitlines()[0].startswith("mine.toml: ")
    with pytest.raises(SimulationError, match="root: ValueError: "):
        run_calls([Call("root", Function(math.sqrt, (-1,)))], 1)
    with pytest.raises(SimulationError, match="gone: its process ended 3 times, the last time with exit code 3"):
        run_calls([Call("gone", Function(os._exit, (3,))), Call("root", Function(math.sqrt, (4,)))], 2)
    with pytest.raises(InputError, match="workers: found 0"):
        run_calls([], 0)


def test_what_a_process_cannot_read_is_said_and_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    here_alone = ModuleType("here_alone")
    exec("def answer():\n    return 42", here_alone.__dict__)
    monkeypatch.setitem(sys.modules, "here_alone", here_alone)
    with pytest.raises(SimulationError, match="asked: ModuleNotFoundError: No module named 'here_alone'"):
        run_calls([Call("asked", Function(here_alone.answer))], 1)


def test_an_interruption_leaves_no_process() -> None:
    script = (
        "import time\n"
        "from parshall.campaign.calls import run_calls\n"
        "from parshall.campaign.call import Call, Function\n"
        "print('begun', flush=True)\n"
        "run_calls([Call(str(k), Function(time.sleep, (600,))) for k in range(3)], 2)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)  # the processes are being started
    # As the terminal does: to every process of the group.
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode != 0
    assert errors.count("KeyboardInterrupt") == 1, "the owner's alone"
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.slow
def test_a_study_finds_the_same_with_any_number_of_workers() -> None:
    parts = (
        Part.of("means", theory.figure_2),
        part(
            "flow", [replace(on_off.FIG5, section=None)], lambda _: {"": replace(Setting(), flow_s=300.0, beyond=False)}
        ),
    )
    study = Study("two_parts", "Two parts", "means and a flow", "Loiseau 2010", parts)
    told: list[str] = []
    one, two = (run(study, "quick", told.append, Execution(workers=n)) for n in (1, 2))
    assert [check.as_json() for check in one.checks] == [check.as_json() for check in two.checks]
    assert len(one.checks) > 10
    announced = "two_parts at quick scale: 2 cases"
    assert sorted(each.partition(" (")[0] for each in told) == ["flow", "flow", "means", "means", announced, announced]
