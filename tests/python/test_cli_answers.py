"""Answers of the command line to what users type in the first minutes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from typer.testing import CliRunner

import parshall as ps
from parshall.cli.app import VERBS, application
from parshall.foundations.errors import ScenarioError

SMALL = 'duration = "1 s"\n[bottleneck]\nrate = "5 Mbit/s"\n[[flows]]\nrtt = "20 ms"\n'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small")
    (folder / "a.toml").write_text(SMALL)
    for name in "ab":
        ps.run(ps.Scenario.load(folder / "a.toml"), folder / name)
    return folder


def _asked(*words: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(application(VERBS), list(words))
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("words", [("new", "quickstart", "q"), ("new", "control", "mine")])
def test_what_cannot_be_written_is_one_line(words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc")  # nobody can write there, not even root
    status, _, words_said = _asked(*words)
    assert status == 1
    assert words_said.startswith("parshall: results cannot be written: ")
    assert words_said.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("new", "foo"), 'parshall: new: found "foo"; accepted: "control", "'),
        (("new", "quickstrat"), 'parshall: new: found "quickstrat". Did you mean "quickstart"? Accepted: "'),
        (("rnu",), 'parshall: found "rnu". Did you mean "run"? Accepted: "run", "'),
        (("design", "bufer"), 'parshall: design: found "bufer". Did you mean "buffer"? Accepted: "'),
        (("ask", "transfers"), 'parshall: ask: found "transfers". Did you mean "transfer"? Accepted: "transfer"'),
        (("store", "verfy"), 'parshall: store: found "verfy". Did you mean "verify"? Accepted: "'),
    ],
)
def test_a_verb_that_there_is_not_is_answered_with_those_that_there_are(words: tuple[str, ...], said: str) -> None:
    status, out, answer = _asked(*words)
    assert (status, out) == (2, "")
    assert answer.startswith(said)


def test_a_loss_is_a_share_as_elsewhere() -> None:
    asked = ("ask", "transfer", "--size", "10 kB", "--rate", "10 Mbit/s", "--rtt", "20 ms", "--repetitions", "2", "-q")
    answers = [_asked(*asked, "--loss", loss) for loss in ("1%", "1 %", "0.01")]
    assert [status for status, *_ in answers] == [0, 0, 0]
    assert len({out for _, out, _ in answers}) == 1
    assert _asked(*asked, "--loss", "much")[2].startswith(
        'parshall: --loss: found "much"; accepted: a share from 0 to 1'
    )


@pytest.mark.parametrize("words", [("compare", "a", "b"), ("predict", "a.toml")])
def test_quiet_leaves_the_answer_alone(words: tuple[str, ...], small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(small)
    (_, loud, notes), (status, quiet, none) = _asked(*words), _asked(*words, "-q")
    assert (status, none) == (0, "")
    assert quiet == loud
    assert notes


def test_a_baseline_is_shown_as_it_was_written(tmp_path: Path) -> None:
    scenario = {"duration": "1 s", "bottleneck": {"rate": "5 Mbit/s"}, "flows": [{"rtt": "20 ms"}]}
    compare = {"parameter": "flows.0.count", "baseline": dt.date(1979, 5, 27)}
    plan = ps.Plan(name="s", scenario=scenario, parameters={"flows.0.count": [1, 2]}, compare=compare)
    with pytest.raises(ScenarioError, match=r"compare\.baseline: found 1979-05-27, which flows\.0\.count never is"):
        ps.sweep(plan, tmp_path / "store")
