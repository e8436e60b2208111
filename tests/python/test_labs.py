"""The labs: exercises on the simulator in the page, their answers, and slides."""

from __future__ import annotations

import re
import tomllib
from html import unescape
from urllib.parse import parse_qsl

import pytest

from parshall.explore import knobs
from parshall.explore.form import explicit
from parshall.explore.offline import CONTROLS, QUEUES, own_scenarios
from tools.documentation.labs import FOLDER, IN_THE_PAGE, LABS, exercises, section, slides

KEYS = {
    scenario.name: {knob.key: knob for each in knobs.fields(explicit(scenario)) for knob in each.knobs}
    for _, scenario in own_scenarios()
}


def test_each_exercise_belongs_to_a_lab() -> None:
    listed = tomllib.loads((FOLDER / "exercises.toml").read_text(encoding="utf-8"))["exercise"]
    assert {each["lab"] for each in listed} == {*IN_THE_PAGE} < {*LABS}
    assert all(len(exercises(lab)) >= 3 for lab in IN_THE_PAGE)


@pytest.mark.parametrize("lab", IN_THE_PAGE)
def test_links_set_fields_that_the_playground_has(lab: str) -> None:
    links = re.findall(r'playground.html#([^"]+)"', section(lab))
    assert len(links) == sum(len(each.looks) for each in exercises(lab))
    for link in links:
        values = dict(parse_qsl(unescape(link)))
        fields = KEYS[values.pop("scenario")]
        assert {*values} <= {*fields}, link
        for key, value in values.items():
            assert not fields[key].choices or value in {*CONTROLS, *QUEUES}, link


@pytest.mark.parametrize("lab", IN_THE_PAGE)
def test_answers_have_each_value_that_was_simulated(lab: str) -> None:
    for exercise in exercises(lab):
        for look in exercise.looks:
            assert look.answer() in exercise.answered
        assert re.sub(r"[{}]", "", exercise.answered) == exercise.answered


@pytest.mark.parametrize("lab", IN_THE_PAGE)
def test_slides_show_the_question_with_the_simulator_and_then_the_answer(lab: str) -> None:
    shown = slides(lab)
    assert shown.count("<iframe") == len(exercises(lab))
    assert shown.count("<section>") >= 2 + 2 * len(exercises(lab))
    for exercise in exercises(lab):
        assert shown.index("<iframe") < shown.rindex(exercise.looks[0].answer())
