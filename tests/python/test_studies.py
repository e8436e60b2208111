"""The registry of studies, and what a check says of itself."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

import pytest
from typer.testing import Result

from parshall.studies import catalog
from parshall.studies.check import Check, Verdict

Cli = Callable[..., Result]


@pytest.fixture
def study(monkeypatch: pytest.MonkeyPatch) -> str:
    """A study, registered as any other: a package, and a line in the catalog."""
    package = ModuleType("parshall.studies.example")

    def checks(scale: str) -> Sequence[Check]:
        ours = {"quick": 2.1, "paper": 2.01}[scale]
        return [
            Check("table1", "mean, s", 2.0, ours, ours - 0.1, ours + 0.1, 0.05),
            Check("table1", "loss rate", 0.5, 0.1, None, None, 0.01, "one run"),
            Check("fig2", "median, s", None, 1.5, 1.4, 1.6, 0.0),
        ]

    vars(package)["checks"] = checks
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setattr(catalog, "STUDIES", (catalog.Study("example", "an example", "nobody 2026"),))
    return "example"


def test_a_study_prints_its_checks_as_json(cli: Cli, study: str) -> None:
    done = cli("study", study, "--json")
    assert done.exit_code == 0
    first, second, third = json.loads(done.stdout)
    assert first == {
        "artefact": "table1",
        "quantity": "mean, s",
        "published": 2.0,
        "ours": 2.1,
        "ci_low": 2.0,
        "ci_high": pytest.approx(2.2),
        "tolerance": 0.05,
        "verdict": "reproduced",
        "note": "",
    }
    assert (second["verdict"], second["note"]) == ("not_reproduced", "one run")
    assert (third["verdict"], third["published"]) == ("extended", None)
    assert json.loads(cli("study", study, "--json", "--scale", "paper").stdout)[0]["ours"] == 2.01


def test_a_study_prints_a_table(cli: Cli, study: str) -> None:
    shown = cli("study", study).stdout
    assert "not_reproduced" in shown
    assert "2 .. 2.2" in shown
    assert study in cli("list", "studies").stdout


def test_an_unknown_study_gets_a_suggestion(cli: Cli, study: str) -> None:
    done = cli("study", study[:-1])
    assert done.exit_code == 2
    assert 'Did you mean "example"?' in done.stderr


@pytest.mark.parametrize(
    ("published", "low", "high", "verdict"),
    [
        (2.0, 1.9, 2.2, "reproduced"),
        (2.0, 2.1, 2.3, "reproduced"),  # the interval comes within the tolerance of 0.1
        (2.0, 2.11, 2.3, "not_reproduced"),
        (2.0, 1.5, 1.89, "not_reproduced"),
        (None, 1.5, 1.89, "extended"),
    ],
)
def test_verdicts(published: float | None, low: float, high: float, verdict: Verdict) -> None:
    assert Check("a", "q", published, (low + high) / 2, low, high, 0.1).verdict == verdict


def test_a_check_without_an_interval_is_its_value() -> None:
    assert Check("a", "q", 2.0, 2.05, None, None, 0.1).verdict == "reproduced"
    assert Check("a", "q", 2.0, 2.2, None, None, 0.1).verdict == "not_reproduced"


def test_no_result_is_no_check() -> None:
    with pytest.raises(ValueError, match="must be finite"):
        Check("a", "q", 2.0, math.nan, None, None, 0.1)
