"""Labs for a lecture: exercises on the simulator in the page, with answers that are simulated.

docs/labs/exercises.toml has the questions, and answers with a place for each value. `exercises` writes them into the
pages of the labs, `slides` makes the slides of a lab out of its page.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import urlencode

from markdown_it import MarkdownIt
from markupsafe import escape

from parshall.explore import knobs
from parshall.explore.form import explicit
from parshall.explore.offline import own_scenarios
from parshall.foundations import numbers
from parshall.instruments.simulation import run
from tools.documentation.tables import ROOT

FOLDER = ROOT / "docs" / "labs"
LABS = ("aimd", "buffers", "bbr", "slow-transfer")
IN_THE_PAGE = LABS[:3]
"""The labs that need a browser only."""


@dataclass(frozen=True)
class Look:
    """A scenario of the playground with some fields changed, and the quantity that is read off."""

    scenario: str
    quantity: str
    values: Mapping[str, str]

    @property
    def address(self) -> str:
        """The part of the playground's address behind ``#``, which sets these fields."""
        return urlencode({"scenario": self.scenario, **self.values})

    def answer(self) -> str:
        """The quantity with its unit, from one simulation, to two significant digits."""
        scenario = {each.name: each for _, each in own_scenarios()}[self.scenario]
        metric = run(knobs.changed(explicit(scenario), self.values).scenario).quantity(self.quantity)
        return numbers.quantity(metric.value, metric.unit, 2)


@dataclass(frozen=True)
class Exercise:
    """A question of a lab, what to look at, and the answer with the looks' values in it."""

    lab: str
    question: str
    answer: str
    looks: tuple[Look, ...]

    @property
    def answered(self) -> str:
        """The answer, its values simulated now."""
        return self.answer.format(*(look.answer() for look in self.looks))


@cache
def exercises(lab: str) -> tuple[Exercise, ...]:
    """The exercises of a lab, in order."""
    listed = tomllib.loads((FOLDER / "exercises.toml").read_text(encoding="utf-8"))["exercise"]
    return tuple(
        Exercise(each["lab"], each["question"], each["answer"], tuple(Look(**look) for look in each["looks"]))
        for each in listed
        if each["lab"] == lab
    )


def section(lab: str) -> str:
    """The exercises as Markdown: question, links into the simulator, and the answer folded."""
    return "\n\n".join(_exercise(number, each) for number, each in enumerate(exercises(lab), 1))


def _exercise(number: int, exercise: Exercise) -> str:
    words = (
        ["open it"] if len(exercise.looks) == 1 else [f"open {place}" for place in range(1, len(exercise.looks) + 1)]
    )
    links = " · ".join(
        f'<a href="../../playground.html#{escape(look.address)}">{word}</a>'
        for word, look in zip(words, exercise.looks, strict=True)
    )
    question = f"{number}. {exercise.question} {links}"
    return f"{question}\n\n:::{{dropdown}} Answer {number}\n{exercise.answered}\n:::"


# --- slides ---


def slides(lab: str) -> str:
    """A page of HTML: a slide for each section of a lab, two for each exercise (with the simulator, and answered)."""
    text = (FOLDER / f"{lab}.md").read_text(encoding="utf-8")
    title, _, rest = text.partition("\n")
    lead, *sections = re.split(r"^## ", rest, flags=re.MULTILINE)
    parts = [f"<h1>{escape(title.removeprefix('# '))}</h1>{_html(lead)}"]
    own = [each for each in sections if not each.startswith("Exercises") or not exercises(lab)]
    parts += [_html(f"## {each}") for each in own]
    parts += [each for exercise in exercises(lab) for each in _slides_of(exercise)]
    shown = "\n".join(f"<section>{part}</section>" for part in parts)
    template = Path(__file__).with_name("slides.html").read_text(encoding="utf-8")
    return template.replace("{title}", str(escape(title.removeprefix("# ")))).replace("{slides}", shown)


def _slides_of(exercise: Exercise) -> Iterator[str]:
    first = exercise.looks[0]
    source = f"../playground.html#{escape(first.address)}"
    frame = f'<iframe src="{source}" title="The simulator" loading="lazy"></iframe>'
    yield f"<h2>{escape(exercise.question)}</h2>{frame}"
    yield f"<h2>{escape(exercise.question)}</h2>{_html(exercise.answered)}"


def _html(text: str) -> str:
    made: str = (
        MarkdownIt("commonmark")
        .enable("table")
        .render(re.sub(r"^:::.*?^:::$", "", text, flags=re.MULTILINE | re.DOTALL))
    )
    return made
