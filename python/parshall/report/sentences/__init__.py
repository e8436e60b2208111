"""The sentences of pages and of what the terminal prints first, by their names: all that state what was found.

A sentence is made of values that are there: one that is empty, or the sign of what is not known, is refused. The tests
reach each of them by a state in which it is said (`tests/python/test_sentences.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from parshall.foundations.numbers import ABSENT
from parshall.report.sentences import (
    of_claims,
    of_comparisons,
    of_controls,
    of_inference,
    of_observations,
    of_predictions,
    of_rules,
    of_runs,
    of_sweeps,
)

TEMPLATES: Mapping[str, str] = {
    **of_runs.TEMPLATES,
    **of_comparisons.TEMPLATES,
    **of_sweeps.TEMPLATES,
    **of_observations.TEMPLATES,
    **of_inference.TEMPLATES,
    **of_claims.TEMPLATES,
    **of_controls.TEMPLATES,
    **of_predictions.TEMPLATES,
    **of_rules.TEMPLATES,
}
"""Every sentence that states what was found, and the parts of one, by name: of a run's page, else ``page.name``."""


@dataclass(frozen=True)
class Sentence:
    """A sentence, and the templates that it was made of."""

    text: str
    templates: tuple[str, ...]


def say(template: str, **values: str) -> Sentence:
    """Fill a template.

    Raises
    ------
    KeyError
        There is no such template, or a value is not given.
    ValueError
        A value is empty, or the sign of one that is not known.

    Examples
    --------
    >>> say("full", place="the bottleneck", busy="99 %").text
    'The bottleneck is the limit: it is 99 % busy.'
    >>> say("one_flow", got="—")
    Traceback (most recent call last):
    ValueError: one_flow: found no value of got
    """
    for name, value in values.items():
        if not value or ABSENT in value.split():
            raise ValueError(f"{template}: found no value of {name}")
    pattern = TEMPLATES[template]
    text = pattern.format(**values)
    return Sentence(capital(text) if pattern.startswith(_NOT_NAMES) else text, (template,))


_NOT_NAMES = ("{place} is", "{subject}")
"""Beginnings that are no names of the scenario, and get a capital."""


def joined(parts: Sequence[Sentence]) -> Sentence | None:
    """Parts of sentences as one; None of none."""
    if not parts:
        return None
    text = capital("; ".join(part.text for part in parts))
    return Sentence(f"{text}.", tuple(name for part in parts for name in part.templates))


def capital(text: str) -> str:
    """Return the text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def separated(text: str) -> list[str]:
    """The sentences of a text: no template has a full stop and a space within a sentence.

    Examples
    --------
    >>> separated("The bottleneck is 99.1 % busy. bbr has 3.2 Mbit/s.")
    ['The bottleneck is 99.1 % busy.', 'bbr has 3.2 Mbit/s.']
    >>> separated("")
    []
    """
    return re.split(r"(?<=\.) ", text) if text else []
