"""The one list of studies."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from parshall.errors import InputError
from parshall.schema.problems import did_you_mean, quoted
from parshall.studies.check import Check


@dataclass(frozen=True)
class Study:
    """A study: the package of its name in this folder, imported when it is run."""

    name: str
    summary: str
    reference: str

    def run(self, scale: str) -> Sequence[Check]:
        """Run it.

        Parameters
        ----------
        scale
            ``quick``, or ``paper`` for everything as published.
        """
        package = importlib.import_module(f"parshall.studies.{self.name}")
        checks: Sequence[Check] = package.checks(scale)
        return checks


STUDIES: tuple[Study, ...] = ()


def find(name: str) -> Study:
    """The study of a name.

    Raises
    ------
    InputError
        There is none.
    """
    for study in STUDIES:
        if study.name == name:
            return study
    known = [study.name for study in STUDIES]
    accepted = f"accepted: {quoted(known)}{did_you_mean(name, known)}" if known else "there are none yet"
    raise InputError(f'study: found "{name}"; {accepted}')
