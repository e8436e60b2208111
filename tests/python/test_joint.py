"""The joint design of a study finds the parameters that decide a claim, and names none where chance decides."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.region import exactly
from parshall.campaign.shard import Shard
from parshall.foundations.errors import InputError, SimulationError
from parshall.foundations.numbers import NO_BREAK
from parshall.studies.artefact import Answers, Artefact, Points, part
from parshall.studies.joint import Joint, Judged, Judgement, Open, judge
from parshall.studies.joint_page import document, headline
from parshall.studies.register import parsed
from parshall.studies.running import Execution, run, run_joint
from parshall.studies.study import Case, Study
from tools.documentation import verdicts

WITHIN = Tolerance(0.2, "what can be read off")
OPENED = (
    Open("buffer", "buffer, packets", "not said", low=1, high=100, log=True, whole=True),
    Open("sack", "SACK", "not said", values=(False, True)),
    Open("noise", "noise", "does nothing", low=0, high=1),
)


@dataclass(frozen=True)
class Setting:
    """What the invented source leaves unsaid."""

    buffer: int = 2
    sack: bool = False
    noise: float = 0.5


def doubled(buffer: int, sack: bool) -> float:
    """A value that rests on two parameters."""
    return 2.0 * buffer + (1.0 if sack else 0.0)


def failing(buffer: int) -> float:
    """A case that large buffers break."""
    if buffer > 50:
        raise SimulationError("too large a buffer")
    return 1.0


def points(setting: Setting) -> Points:
    """One case a setting."""
    return {"value": Case("doubled", doubled, (setting.buffer, setting.sack))}


def claims(answers: Answers, setting: Setting) -> list[Claim]:
    """A claim by the buffer, one by SACK, one by chance, one that nothing carries."""
    value = answers["value"]
    chance = float(np.random.default_rng(int(1e6 * setting.noise) % 9973).random())
    return [
        equal("fig1", "buffer", 1.0, exactly(1.0 if value > 20 else 5.0), within=WITHIN),
        equal("fig1", "SACK", 1.0, exactly(value % 2), within=Tolerance(0.1, "digits")),
        equal("fig2", "chance", 1.0, exactly(1.0 if chance < 0.5 else 5.0), within=WITHIN),
        equal("fig2", "never", 1.0, exactly(9.0), within=WITHIN),
    ]


FIGURE = Artefact("fig", points, claims)
STUDY = Study("invented", "Invented", "s", "r", __name__)
JOINT = Joint((FIGURE,), OPENED, lambda _: Setting())


def judgement(count: int) -> Judgement:
    """The joint design of the invented source."""
    answers = {number: case.answer() for number, case in JOINT.cases(count, "quick").items()}
    return JOINT.judgement(answers, "quick", None)


def test_claims_to_which_the_reconstruction_was_fitted_are_judged() -> None:
    """A design fits nothing, so that they say as much as others."""
    text = """
source = "an invention"
[[claim]]
id = "fig1.buffer"
artefact = "Figure 1"
kind = "value"
states = "It is 1"
refuted_by = "it is not"
check = ["fig1: buffer"]
calibrated = "the buffer was chosen for it"
"""
    answers = {number: case.answer() for number, case in JOINT.cases(4, "quick").items()}
    found = JOINT.judgement(answers, "quick", parsed(text, "claims.toml"))
    assert found.names == judgement(4).names


def test_the_deciding_parameter_is_named_and_chance_is_not() -> None:
    found = judgement(128)
    buffer, sack = found.decision("fig1: buffer"), found.decision("fig1: SACK")
    assert buffer is not None
    assert (buffer.parameter.name, buffer.fails) == ("buffer", 0.0)
    assert buffer.holds > 0.9
    assert sack is not None
    assert (sack.parameter.name, sack.best, sack.share) == ("sack", "yes", pytest.approx(1.0))
    assert found.decision("fig2: chance") is None
    assert found.decision("fig2: never") is None
    assert found.in_none == ["fig2: never"]


def test_chance_alone_is_rarely_named() -> None:
    settings = JOINT.settings(128, "quick")
    named = 0
    for seed in range(60):
        toss = np.random.default_rng(seed).random(len(settings)) < 0.5
        answers = [Judged([equal("a", "b", 1.0, exactly(1.0 if each else 9.0), within=WITHIN)]) for each in toss]
        named += Judgement(OPENED, settings, answers).decision("a: b") is not None
    assert named <= 8  # 5 % of 60 are 3; more than 8 come once in 200


def test_the_best_setting_carries_most_and_the_reconstruction_is_the_first() -> None:
    found = judgement(64)
    carried = found.held.sum(axis=0)
    assert found.settings[0] == Setting()
    assert carried[found.best] == carried.max() == 3
    assert headline(found).replace(NO_BREAK, " ") == (
        "Of 4 claims of the source's experiments, the best of 64 settings reproduces 3, the reconstruction 0, and some "
        "setting or other 3. In none of 64 settings: 1 claim."
    )


def test_more_settings_begin_with_the_same_ones() -> None:
    assert JOINT.settings(100, "quick")[:60] == JOINT.settings(60, "quick")
    values = [each.buffer for each in JOINT.settings(129, "quick")[1:]]
    assert min(values) >= 1
    assert max(values) <= 100
    assert 0.4 < np.mean([each.sack for each in JOINT.settings(129, "quick")[1:]]) < 0.6


def test_an_artefact_that_fails_leaves_the_others() -> None:
    broken = Artefact("broken", lambda setting: {0: Case("", failing, (setting.buffer,))}, claims)
    made = judge((broken, FIGURE), Setting(buffer=60))
    assert list(made.failures) == ["broken"]
    assert len(made.claims) == 4


def test_definitions_of_the_register_are_not_counted() -> None:
    register = parsed(
        'source = "s"\n[[claim]]\nid = "fig2.never"\nartefact = "Fig. 2"\nkind = "definition"\nstates = "x"\n'
        'refuted_by = "y"\ncheck = ["fig2: never"]\n',
        "claims.toml",
    )
    answers = {number: case.answer() for number, case in JOINT.cases(8, "quick").items()}
    assert "fig2: never" not in JOINT.judgement(answers, "quick", register).names


def test_a_design_is_done_by_shards_and_collected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Study, "joint", lambda _: JOINT)
    for number in (1, 2):
        assert run_joint(STUDY, 16, "quick", lambda _: None, Execution(tmp_path, 1, None, Shard(number, 2))) is None
    told: list[str] = []
    found = run_joint(STUDY, 16, "quick", told.append, Execution(tmp_path, 1))
    assert found is not None
    assert "of which the store has 16" in told[0]
    assert json.loads(json.dumps(found.as_json()))["best"] == found.best
    page = document(STUDY, "quick", found)
    assert [each.heading for each in page.sections][:2] == ["Claims carried together", "What the source leaves open"]


def test_a_reconstruction_may_lie_outside_what_is_tried() -> None:
    settings = [Setting(buffer=None, sack="partly"), *JOINT.settings(64, "quick")[1:]]  # type: ignore[arg-type]
    held = [each.buffer is not None and each.buffer > 10 for each in settings]
    answers = [Judged([equal("a", "b", 1.0, exactly(1.0 if each else 9.0), within=WITHIN)]) for each in held]
    found = Judgement(OPENED, settings, answers)
    decision = found.decision("a: b")
    assert decision is not None
    assert (decision.parameter.name, decision.worst) == ("buffer", "1 to 2")
    assert len(document(STUDY, "quick", found).sections) == 3


def test_the_table_of_verdicts_has_what_was_stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Study, "joint", lambda _: JOINT)
    monkeypatch.setattr(verdicts, "STORED", tmp_path)
    study = Study("invented", "s", "", "", [part("figure", [FIGURE], lambda _: {"": Setting(buffer=20, sack=True)})])
    found = verdicts.counts(study, "quick", 8, Execution(None, 1))
    (tmp_path / "invented.json").write_text(json.dumps(found), encoding="utf-8")
    held = judgement(8).held
    best, some = int(held.sum(axis=0).max()), int(held.any(axis=1).sum())
    reproduced = [each.outcome == "holds" for each in FIGURE.judged(Setting(buffer=20, sack=True))].count(True)
    row = (
        f"| `invented` | quick | 4 | {reproduced} | {reproduced} | 0 | 0 | 8 | {best} of 4 | {some} of 4 | {4 - some} |"
    )
    assert row in verdicts.verdicts()


def test_fewer_than_two_settings_are_refused() -> None:
    with pytest.raises(InputError, match="--joint: found 1; accepted: 2 settings or more"):
        JOINT.settings(1, "quick")


def test_a_part_draws_the_first_reading_and_judges_all() -> None:
    readings = {"small": Setting(), "large": Setting(buffer=20)}
    study = Study("s", "s", "", "", [part("figure", [FIGURE], lambda _: readings)])
    found = run(study, "quick", lambda _: None)
    assert {(each.reading, each.verdict) for each in found.checks if each.quantity == "buffer"} == {
        ("small", "not_reproduced"),
        ("large", "reproduced"),
    }
