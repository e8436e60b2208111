"""Random scenarios: those that are accepted run, and their numbers hold together; the others are refused in words.

``make test-random`` has a thousand valid ones, each with its page, and five hundred invalid ones; a part of them
is among the usual tests. ``PARSHALL_SCENARIOS`` is the number of valid ones; one in ``PARSHALL_PAGE_IN`` gets a page.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import invariants
import pytest
import random_scenarios as generator
import spoiled_scenarios
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall.report import write_page
from parshall.report.figures import CATALOG
from parshall.scenario.schema.catalog import families
from parshall.scenario.schema.flows import TCP_KEYS

SCENARIOS = int(os.environ.get("PARSHALL_SCENARIOS", "200"))
IN_A_TEST = 25
"""Scenarios of one test: a failure lists all that are wrong among them."""
A_PAGE_IN = int(os.environ.get("PARSHALL_PAGE_IN", "10"))
"""One of so many runs gets its page, the others only what the figures show."""
SEEDS_APART = 10_000
"""Between two seeds that are tried for one scenario."""

ONLY_SEEN_BY_RUNNING = "warm_up: lasts"
"""The refusal of a warm-up longer than the transfers that end the run: how long they take is not known before."""

pytestmark = pytest.mark.filterwarnings("default")  # a warning is no fault of the scenario, and must not hide one


def chunks(total: int) -> list[Any]:
    """The seeds of each test; the first test is among the quick ones."""
    return [
        pytest.param(
            range(first, min(first + IN_A_TEST, total)),
            id=f"from {first}",
            marks=pytest.mark.slow if first else (),
        )
        for first in range(0, total, IN_A_TEST)
    ]


def folder_with_files(tmp_path: Path) -> Path:
    generator.write_files(tmp_path)
    return tmp_path


def accepted(seed: int, folder: Path) -> ps.Scenario | None:
    try:
        return ps.Scenario.from_document(generator.valid(seed), folder)
    except ps.ScenarioError:
        return None


@pytest.mark.parametrize("numbers", chunks(SCENARIOS))
def test_what_is_accepted_runs_and_its_numbers_hold_together(numbers: range, tmp_path: Path) -> None:
    folder = folder_with_files(tmp_path)
    wrong = [f"seed {seed}: {problem}" for number in numbers for seed, problem in problems(number, folder)]
    assert not wrong, "\n".join(wrong)


def seeds_of(number: int) -> Iterator[int]:
    """The seeds that are tried for a scenario of that number: of the first that is accepted it is made."""
    return iter(range(number, number + 1000 * SEEDS_APART, SEEDS_APART))


def problems(number: int, folder: Path) -> Iterator[tuple[int, str]]:
    """What is wrong with one scenario, and with the refusals on the way to it, by seed.

    A generator, so that what was found before a failure is told too.
    """
    for seed in seeds_of(number):
        document = generator.valid(seed)
        try:
            scenario = ps.Scenario.from_document(document, folder)
        except ps.ScenarioError as error:
            yield from ((seed, each) for each in wordy(error.problems))
            continue
        yield from ((seed, each) for each in problems_of_run(scenario, folder, with_page=number % A_PAGE_IN == 0))
        return


def problems_of_run(scenario: ps.Scenario, folder: Path, *, with_page: bool) -> Iterator[str]:
    """What is wrong with the run of a scenario, and with its page or what the figures show."""
    try:
        run = ps.run(scenario, workers=1)
        yield from dict.fromkeys(invariants.violations(run))
        if run.metadata["prediction_problem"]:
            yield from unexplained(run.metadata["prediction_problem"])
        if with_page:
            page = write_page(run, folder / "page.html").read_text()
            if "</html>" not in page:
                yield "the page is not complete"
        else:
            for figure in CATALOG:
                figure.prepare(run)
    except ps.ScenarioError as error:
        if not str(error).startswith(ONLY_SEEN_BY_RUNNING):
            yield f"valid, but refused by run: {error}"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what this test looks for
        yield f"{type(error).__name__}: {error}"


def wordy(problems: list[str]) -> Iterator[str]:
    """Refusals that do not begin with the place, or take a screen."""
    for problem in problems:
        if ": " not in problem or len(problem.splitlines()) > 1 or "Traceback" in problem:
            yield f"a refusal that says no place: {problem!r}"


def unexplained(problem: str) -> Iterator[str]:
    if not problem[0].isalpha() or "division" in problem:
        yield f"no predictions, for no reason that a reader understands: {problem}"


@pytest.mark.parametrize("seeds", chunks(SCENARIOS // 2))
def test_what_is_invalid_is_refused_in_one_message(seeds: range, tmp_path: Path) -> None:
    folder = folder_with_files(tmp_path)
    wrong = [f"seed {seed}: {problem}" for seed in seeds for problem in badly_refused(seed, folder)]
    assert not wrong, "\n".join(wrong)


def badly_refused(seed: int, folder: Path) -> Iterator[str]:
    sound = next(made for made in seeds_of(seed) if accepted(made, folder) is not None)
    what, text = spoiled_scenarios.invalid(seed, generator.valid(sound))
    path = folder / "spoiled.toml"
    path.write_text(text, encoding="utf-8")
    for command in (["validate"], ["run", "--no-page", "--output", str(folder / "run")]):
        done = CliRunner().invoke(application(VERBS), [command[0], str(path), *command[1:]])
        lines = done.stderr.splitlines()
        if done.exit_code != 2 or not isinstance(done.exception, SystemExit):
            yield f"{what}: {command[0]} ends with {done.exit_code}, {done.exception!r}:\n{text}"
        elif not 1 <= len(lines) <= 4 or len(done.stderr) > 4000 or "Traceback" in done.stderr:
            yield f"{what}: {command[0]} says\n{done.stderr}"
        elif not all(": " in line.replace(str(path), "") for line in lines):
            yield f"{what}: {command[0]} does not say where: {done.stderr}"


@pytest.mark.slow
def test_every_entry_and_key_is_drawn(tmp_path: Path) -> None:
    """A new entry of a catalog, or a new key, is tried by the random scenarios without a change of theirs."""
    folder = folder_with_files(tmp_path)
    seen: set[str] = set()
    for seed in range(2000):
        scenario = accepted(seed, folder)
        if scenario is not None:
            seen |= set(drawn(scenario.document()))
    listed = {
        f"{entry.name}.{parameter.name}"
        for name, entries in families().items()
        if name not in {"tcp", "recoveries"}
        for entry in entries
        for parameter in entry.parameters
        if parameter.kind != "cdf_points"
    }
    keys = {f".{key}" for key in (*TCP_KEYS, *ps.FlowGroup.model_fields, *ps.Scenario.model_fields)} - {".description"}
    assert not (listed | keys) - seen


_ENTRIES = {entry.name for entries in families().values() for entry in entries}


def drawn(value: Any) -> Iterator[str]:
    """``entry.parameter`` of each entry of a catalog, ``.key`` of each other key."""
    if isinstance(value, list):
        for each in value:
            yield from drawn(each)
    elif isinstance(value, dict):
        entry = value.get("name", "")
        for key, inner in value.items():
            yield f"{entry if entry in _ENTRIES else ''}.{key}"
            yield from drawn(inner)
