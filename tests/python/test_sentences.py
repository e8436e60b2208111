"""Every sentence that states what was found, on all pages and on the terminal, and the states in which it is said.

The states are in `tests/sentences`, a file a page: networks that are simulated, results in memory, and the same with
something missing: no transfer ended, one repetition, copies, a group without packets, an interval of no width, an
interruption. Words around the numbers are recomputed from the records by the states themselves. A template that no
state reaches fails, and so does a state of which nothing is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from string import Formatter
from types import ModuleType

import claim_states
import comparison_states
import control_states
import explorer_states
import inference_states
import observation_states
import prediction_states
import pytest
import rules_states
import run_states
import sweep_states
from saying import Heard, State, heard

import parshall
from parshall.foundations.numbers import ABSENT
from parshall.report.finding import finding
from parshall.report.sentences import TEMPLATES, say

PACKAGE = Path(parshall.__file__).parent
PAGES: Mapping[str, ModuleType] = {
    "run": run_states,
    "comparison": comparison_states,
    "sweep": sweep_states,
    "observation": observation_states,
    "inference": inference_states,
    "claims": claim_states,
    "control": control_states,
    "prediction": prediction_states,
    "rules": rules_states,
    "explorer": explorer_states,
}
STATES: Mapping[str, State] = {
    f"{page}: {name}": s for page, module in PAGES.items() for name, s in module.STATES.items()
}


WRONG = re.compile(rf"\b(nan|inf|None(?! of))\b|[{{}}]|<function|  |(^|\s){ABSENT}(\s|$)")
"""Words that no sentence has: values that are none, and what was not filled."""


def flat(text: str) -> str:
    """Without regard to lines, spaces and capitals: the terminal breaks lines, and parts of sentences are joined."""
    return re.sub(r"\s+", "", text).lower()


@cache
def found(state: str) -> Heard:
    return heard(STATES[state].says)


@pytest.mark.parametrize("state", STATES)
def test_what_is_said_in_a_state(state: str) -> None:
    said = found(state)
    assert STATES[state].templates <= said.templates
    assert said.sentences, "every state has something to say"
    told = flat(said.text)
    for template, sentence in said.sentences:
        assert flat(sentence) in told, f"{template} was made and not said"
        assert not WRONG.search(sentence), sentence
    STATES[state].oracle(said.text)


def test_every_template_is_reached() -> None:
    reached = {name for state in STATES for name in found(state).templates}
    assert reached | run_states.NOT_REACHED.keys() == TEMPLATES.keys(), sorted(TEMPLATES.keys() - reached)
    assert not reached & run_states.NOT_REACHED.keys()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_value_that_is_missing_is_refused(template: str) -> None:
    """Whichever it is, and whatever says that it is missing."""
    names = [name for _, name, _, _ in Formatter().parse(TEMPLATES[template]) if name]
    whole = dict.fromkeys(names, "1 ms")
    say(template, **whole)
    for name in names:
        for missing in ("", ABSENT):
            with pytest.raises(ValueError, match=f"{template}: found no value of {name}"):
                say(template, **{**whole, name: missing})


CAPTION = "how a figure is drawn, or what of it is not"
REMARK = "how a table or its numbers are meant"
TITLE = "what the page is about"
MADE_ELSEWHERE: Mapping[str, str] = {
    "explore/knobs.py": "what was left out of the scenario, and no finding",
    "report/bounded.py": "how many groups the page lists, and where the others are",
    "report/predicted.py": "how many predictions the page lists",
    "cli/predict.py": "where the predictions are that are not listed",
    "campaign/figures.py": CAPTION,
    "suites/control_check/page.py": REMARK,
    "report/comparison_figures.py": CAPTION,
    "report/comparison_page.py": TITLE,
    "report/description.py": TITLE,
    "report/dials.py": CAPTION,
    "report/headline.py": REMARK,
    "report/network.py": CAPTION,
    "report/page.py": TITLE,
    "report/predicted_summary.py": CAPTION,
    "report/tables.py": REMARK,
    "report/thinning.py": CAPTION,
    "studies/forest.py": CAPTION,
    "studies/page.py": REMARK,
    "report/observation/overview.py": CAPTION,
    "report/observation/short.py": REMARK,
    **{f"report/figures/{path.name}": CAPTION for path in (PACKAGE / "report/figures").glob("*.py")},
}
"""Modules in which values stand in sentences that are no templates, and what these say."""

VERBS = ("check_control", "compare", "observe", "predict", "study", "suite", "sweep")
MODULES = [
    *(
        path
        for folder in ("campaign", "suites/control_check", "explore", "instruments/observation")
        for path in (PACKAGE / folder).glob("*.py")
    ),
    *(PACKAGE / "report").rglob("*.py"),
    *(PACKAGE / "studies").glob("*.py"),
    *(PACKAGE / "cli" / f"{verb}.py" for verb in VERBS),
]
"""Of pages, and of what the terminal prints beside them."""


def sentences_in(path: Path) -> Iterator[str]:
    """The texts of a module into which values are put, and which are sentences: with a capital and a full stop."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
            if re.match(r"\s?[A-Z].* .*\.$", text, re.DOTALL):
                yield text


def test_no_sentence_is_made_elsewhere() -> None:
    """One that states what was found is a template, so that it is tried in a state in which something is missing."""
    made = {str(path.relative_to(PACKAGE)): found for path in MODULES if (found := [*sentences_in(path)])}
    assert made.keys() <= MADE_ELSEWHERE.keys(), {name: made[name] for name in made.keys() - MADE_ELSEWHERE.keys()}
    folder = "report/figures/"
    assert {each for each in MADE_ELSEWHERE if not each.startswith(folder)} <= made.keys(), (
        "no module is listed in vain"
    )


def test_advice_that_runs_refute_is_not_given() -> None:
    """A faster link changes much where windows still grow, and where ACKs fill the way back something else helps."""
    for state in STATES:
        assert "faster link" not in found(state).text
    growing = run_states.simulated(
        run_states.bulk("x", initial_ssthresh="20 packets"), bottleneck={"rate": "100 Mbit/s"}
    )
    assert "faster link" not in finding(growing).text


def test_the_noun_is_what_the_number_is() -> None:
    """Losses on the medium and in the queue are two numbers."""
    text = found("run: losses on the medium and in the queue").text
    medium, queue = re.search(
        r"the medium loses ([\d.]+)\xa0% of packets, the queue drops ([\d.]+)\xa0%", text
    ).groups()  # type: ignore[union-attr]
    assert float(medium) == pytest.approx(0.2, rel=0.15)
    assert 0 < float(queue) < float(medium)


@pytest.mark.parametrize(("instrument", "did"), [("simulate", "simulated"), ("emulate", "emulated")])
def test_models_of_completion_times_stand_beside_what_was_done(instrument: str, did: str) -> None:
    """Their conditions and their columns name the instrument."""
    text = prediction_states.of_view(prediction_states.beside_transfers(instrument))
    assert not WRONG.search(text.replace("\n", ". "))
    assert f"At the {did} RTT and rate of loss events\ncardwell" in text
    assert f"{did.capitalize()} " in text
