"""Suites: criteria and their verdicts, what is refused, a suite of a package, and the one of RFC 9743."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from parshall import controls
from parshall.documentation.markdown import blocks
from parshall.errors import InputError
from parshall.report.document import document_html
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.stats.confidence import Interval, mean_interval
from parshall.studies import page
from parshall.studies.catalog import find_suite
from parshall.studies.check import Check
from parshall.studies.criterion import Criterion, headline
from parshall.studies.running import Execution, run
from parshall.studies.study import Findings, Part, Study, simulated
from parshall.studies.suite import Suite
from parshall.suites import rfc9743

Cli = Callable[..., Result]

WIDE, NARROW = Interval(1.0, 0.5, 1.5, n=5), Interval(1.0, 0.9, 1.1, n=5)
CRITERIA = [
    Criterion("§1", "at most", NARROW, 1.2),
    Criterion("§1", "at least", NARROW, 1.2, at_least=True),
    Criterion("§2", "too wide", WIDE, 1.2, note="of five"),
    Criterion("§2", "alone", WIDE),
    Criterion("§3", "not there", None, 1.0),
]


def test_the_interval_decides() -> None:
    assert [each.verdict for each in CRITERIA] == ["passed", "failed", "undecided", "reported", "undecided"]
    assert headline(CRITERIA) == "Of 4\u00a0criteria, passed: 1; failed: 1; undecided: 2. Only reported: 1\u00a0value."
    once = Criterion("§1", "one repetition", Interval(1.0, None, None, n=1), 2.0)
    assert once.verdict == "undecided"
    assert once.as_json()["ci_low"] is None


def criteria() -> Findings:
    return Findings([], [], CRITERIA)


def checks() -> Findings:
    return Findings([Check("a", "b", 1.0, 1.0, None, None, 0.1)], [])


def small(parts: list[Part]) -> Suite:
    return Suite("small", "Small", "some criteria", "nobody", "queues", lambda _: parts)


def test_a_suite_is_done_and_shown_as_a_study() -> None:
    study = small([Part.of("all", criteria)]).of("codel")
    found = run(study, "quick", lambda _: None, Execution(workers=1))
    assert found.criteria == CRITERIA
    assert found.listed is found.criteria
    html = document_html(page.document(study, "quick", found))
    for words in ("Small: codel", headline(CRITERIA), "at least 1.2", "of five", "Value over bound"):
        assert words in html
    assert "failed" in found._repr_html_()
    assert list(found.figures) == ["value-over-bound"]


def test_a_suite_has_no_checks_and_a_study_no_criteria() -> None:
    with pytest.raises(InputError, match="small: a study has checks alone, a suite criteria alone; it is a suite"):
        run(small([Part.of("all", checks)]).of("codel"), "quick", lambda _: None, Execution(workers=1))
    with pytest.raises(InputError, match="it is a study"):
        run(Study("s", "", "", "", [Part.of("all", criteria)]), "quick", lambda _: None, Execution(workers=1))


def test_what_is_not_there_is_refused(cli: Cli) -> None:
    for words, message in (
        (("rfc9742", "reno"), 'suite: found "rfc9742"'),
        (("rfc9743", "codel"), 'congestion control: found "codel"'),
        (("rfc9743", "cubi"), 'Did you mean "cubic"?'),
    ):
        done = cli("suite", *words)
        assert done.exit_code == 2
        assert message in done.stderr
    with pytest.raises(InputError, match='queue: found "reno"'):
        small([]).of("reno")


@pytest.mark.slow
def test_the_suite_of_the_guide_can_be_installed(
    tmp_path: Path, installed: Callable[..., Path], command: Callable[..., list[str]]
) -> None:
    guide = Path(__file__).parents[2] / "docs" / "suites.md"
    (code,) = (block for block in blocks(guide.read_text(encoding="utf-8")) if block.file == "my_suite.py")
    site = installed("my_suite", code.text, "[parshall.suites]\nmine = my_suite:SUITE\n")

    def done(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command(arguments, site), cwd=tmp_path, capture_output=True, text=True, check=False)

    listed = json.loads(done("list", "suites", "--json").stdout)
    assert {each["name"] for each in listed} == {"rfc9743", "my_suite"}
    short = done("suite", "my_suite", "codel", "--store", "store", "-o", "page")
    assert short.returncode == 0, short.stderr
    assert "passed: 2; failed: 0; undecided: 0." in short.stdout
    assert (tmp_path / "page" / "suite.html").is_file()
    long = done("suite", "my_suite", "drop_tail", "--store", "store", "--json")
    assert long.returncode == 1, "packets wait for longer"
    assert [each["verdict"] for each in json.loads(long.stdout)] == ["passed", "failed"]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("store/answers/*/*")}
    assert len(kept) == 2
    assert done("suite", "my_suite", "codel", "--store", "store").stdout == short.stdout
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("store/answers/*/*")} == kept


# --- RFC 9743 ---


def verdicts_of(subject: str) -> dict[str, str]:
    """Verdicts by section and quantity."""
    found = run(find_suite("rfc9743").of(subject), "quick", lambda _: None, Execution(workers=2))
    return {f"{each.asked_by.split()[-1]} {each.quantity.split(';')[0]}": each.verdict for each in found.criteria}


@pytest.mark.slow
def test_reno_is_as_the_standard_ones() -> None:
    verdicts = verdicts_of("reno")
    assert len(verdicts) == len(set(verdicts)) == 21
    assert set(verdicts.values()) <= {"passed", "reported", "undecided"}
    assert sum(each == "passed" for each in verdicts.values()) >= 16


@pytest.mark.slow
def test_the_first_bbr_fails_where_the_rfc_says_so() -> None:
    """§5.1.3 names it: sustained loss where several flows share a buffer of less than one and a half BDP."""
    failed = {each for each, verdict in verdicts_of("bbr").items() if verdict == "failed"}
    assert "§5.1.3 loss rate over the standard ones'" in failed


class Mine:
    """A control of somebody's own: the window is a constant."""

    def __init__(self, _start: object) -> None:
        self.cwnd = 4.0

    def on_ack(self, ack: object) -> None: ...

    def on_loss(self, event: object) -> None: ...

    def on_timeout(self, event: object) -> None: ...


def delivered(run: Run) -> float:
    """What is measured."""
    return float(run.flows["goodput_bps"][0])


def test_a_control_of_ones_own_is_a_subject() -> None:
    """Other processes read scenarios that name it."""
    controls.declare({"mine": Mine})

    def parts(subject: str) -> list[Part]:
        flows = [{"rtt": "40 ms", "congestion_control": subject}]
        scenario = Scenario.from_document({"duration": "2 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": flows})
        return [
            Part(
                "one",
                lambda _: {1: simulated("one flow", scenario, delivered)},
                lambda answers, _: Findings([], [], [Criterion("§1", "bit/s", mean_interval([answers[1]]), 1e6)]),
            )
        ]

    study = Suite("own", "Own", "", "", "congestion_controls", parts).of("mine")
    (criterion,) = run(study, "quick", lambda _: None, Execution(workers=1)).criteria
    assert criterion.value is not None
    assert 0.8e6 < criterion.value.mean < 1.2e6  # 4 packets of 1460 B each 40 ms


def test_cases_are_those_of_the_paths() -> None:
    quick, paper = (
        [key for part in rfc9743.parts("bbr3") for key in part.cases(scale)] for scale in ("quick", "paper")
    )
    assert len(paper) == 3 * len(quick)
    assert {path for path, _ in quick} == {rfc9743.PATHS["quick"][0]}
