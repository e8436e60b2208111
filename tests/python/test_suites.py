"""Suites: criteria and their verdicts, what is refused, a suite of a package, and the one of RFC 9743."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from parshall.analysis.stats.claim_rules import at_least, at_most, equal, reported
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.foundations.errors import InputError
from parshall.instruments.simulation import Run
from parshall.report.document import document_html
from parshall.scenario import Scenario, controls
from parshall.studies import page
from parshall.studies.catalog import find_suite
from parshall.studies.headline import of_criteria
from parshall.studies.running import Execution, run
from parshall.studies.study import Findings, Part, Study, simulated
from parshall.studies.suite import Suite
from parshall.suites import rfc9743
from tools.documentation.markdown import blocks

Cli = Callable[..., Result]

WIDE, NARROW = Interval(1.0, 0.5, 1.5, n=5), Interval(1.0, 0.9, 1.1, n=5)
CRITERIA = [
    at_most("§1", "at most", 1.2, NARROW),
    at_least("§1", "at least", 1.2, NARROW),
    at_most("§2", "too wide", 1.2, WIDE, note="of five"),
    reported("§2", "alone", WIDE, basis="asked"),
    at_most("§3", "not there", 1.0, None),
]


def test_the_interval_decides() -> None:
    assert [each.verdict for each in CRITERIA] == ["holds", "fails", "compatible", "reported", "undecided"]
    assert of_criteria(CRITERIA) == (
        "Of 4\u00a0criteria, holding: 1; failing: 1; compatible: 1; undecided: 1. Only reported: 1\u00a0value."
    )
    within, beyond = (at_most("§1", "one repetition", 2.0, single(value)) for value in (1.0, 3.0))
    assert (within.verdict, beyond.verdict) == ("compatible", "undecided"), "of one run nothing is known of its spread"
    assert within.as_json()["ci_low"] is None


def criteria() -> Findings:
    return Findings(CRITERIA, [])


def checks() -> Findings:
    return Findings([equal("a", "b", 1.0, exactly(1.0))], [])


def small(parts: list[Part]) -> Suite:
    return Suite("small", "Small", "some criteria", "nobody", "queues", lambda _: parts)


def test_a_suite_is_done_and_shown_as_a_study() -> None:
    study = small([Part.of("all", criteria)]).of("codel")
    found = run(study, "quick", lambda _: None, Execution(workers=1))
    assert found.checks == CRITERIA
    html = document_html(page.document(study, "quick", found))
    for words in ("Small: codel", of_criteria(CRITERIA), "at least 1.2", "of five", "Values and bounds"):
        assert words in html
    assert "fails" in found._repr_html_()
    assert list(found.figures) == ["value-and-bound"]


def test_a_suite_has_no_checks_and_a_study_no_criteria() -> None:
    with pytest.raises(InputError, match="small: a: b: found a claim of published; a suite has criteria alone"):
        run(small([Part.of("all", checks)]).of("codel"), "quick", lambda _: None, Execution(workers=1))
    with pytest.raises(InputError, match="s: §1: at most: found a claim of asked; a study has claims of a source"):
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
    assert "holding: 2; failing: 0; compatible: 0; undecided: 0." in short.stdout
    assert (tmp_path / "page" / "suite.html").is_file()
    long = done("suite", "my_suite", "drop_tail", "--store", "store", "--json")
    assert long.returncode == 1, "packets wait for longer"
    assert [each["verdict"] for each in json.loads(long.stdout)] == ["holds", "fails"]
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.glob("store/answers/*/*")}
    assert len(kept) == 2
    assert done("suite", "my_suite", "codel", "--store", "store").stdout == short.stdout
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("store/answers/*/*")} == kept


# --- RFC 9743 ---


def verdicts_of(subject: str) -> dict[str, str]:
    """Verdicts by section and quantity."""
    found = run(find_suite("rfc9743").of(subject), "quick", lambda _: None, Execution(workers=2))
    return {f"{each.artefact.split()[-1]} {each.quantity.split(';')[0]}": each.verdict for each in found.checks}


@pytest.mark.slow
def test_reno_is_as_the_standard_ones() -> None:
    verdicts = verdicts_of("reno")
    assert len(verdicts) == len(set(verdicts)) == 21
    assert set(verdicts.values()) <= {"holds", "reported", "compatible", "undecided"}
    assert sum(each == "holds" for each in verdicts.values()) >= 16


@pytest.mark.slow
def test_the_first_bbr_fails_where_the_rfc_says_so() -> None:
    """§5.1.3 names it: sustained loss where several flows share a buffer of less than one and a half BDP."""
    failed = {each for each, verdict in verdicts_of("bbr").items() if verdict == "fails"}
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
                lambda answers, _: Findings([at_most("§1", "bit/s", 1e6, mean_interval([answers[1]]))], []),
            )
        ]

    study = Suite("own", "Own", "", "", "congestion_controls", parts).of("mine")
    (criterion,) = run(study, "quick", lambda _: None, Execution(workers=1)).checks
    assert criterion.value is not None
    assert 0.8e6 < criterion.value.mean < 1.2e6  # 4 packets of 1460 B each 40 ms


def test_cases_are_those_of_the_paths() -> None:
    quick, paper = (
        [key for part in rfc9743.parts("bbr3") for key in part.cases(scale)] for scale in ("quick", "paper")
    )
    assert len(paper) == 3 * len(quick)
    assert {path for path, _ in quick} == {rfc9743.PATHS["quick"][0]}
