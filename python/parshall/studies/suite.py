"""The shape of a suite: a study of what users choose, with criteria in place of published values.

A suite is done as a study is (`parshall.studies.running`), and has the same parts. But its parts are those of a
**subject**, an entry of a catalog or a congestion control of the user's, and its findings are
claims on a bound (`parshall.analysis.stats.claim_rules.at_most`, `at_least`) that a document asks for.

A suite is listed in `catalog.SUITES`; one of another package is an entry point of the group ``parshall.suites``, which
names a `Suite`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from parshall.foundations.errors import InputError
from parshall.scenario.schema import catalog
from parshall.scenario.schema.external import declared
from parshall.scenario.schema.problems import did_you_mean, quoted
from parshall.studies.study import Part, Scale, Study


@dataclass(frozen=True)
class Suite:
    """A suite.

    Parameters
    ----------
    name, title, summary, reference, cost
        As of a `Study`.
    family
        Of which catalog its subjects are, as ``parshall list`` names it: ``congestion_controls``, ``queues``.
    parts
        The parts for a subject; or the module that has this function as ``parts``, which is imported when it is needed.
    """

    name: str
    title: str
    summary: str
    reference: str
    family: str
    parts: Callable[[str], Sequence[Part]] | str
    cost: Mapping[Scale, str] = field(default_factory=dict)

    def of(self, subject: str) -> Study:
        """The suite for a subject.

        Raises
        ------
        InputError
            There is no such entry in the catalog, and no declared control of that name.
        """
        known = [entry.name for entry in catalog.family(self.family)]
        own = self.family == "congestion_controls" and declared(subject) is not None
        if subject not in known and not own:
            what = self.family.removesuffix("s").replace("_", " ")
            raise InputError(f'{what}: found "{subject}"; accepted: {quoted(known)}{did_you_mean(subject, known)}')
        parts = importlib.import_module(self.parts).parts if isinstance(self.parts, str) else self.parts
        title = f"{self.title}: {subject}"
        return Study(self.name, title, self.summary, self.reference, parts(subject), self.cost, kind="suite")
