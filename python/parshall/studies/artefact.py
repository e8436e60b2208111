"""A figure, table or sentence of a source, declared once: what is measured, what is claimed of it, how it is shown.

A *setting* is a frozen dataclass of the study with a field for each thing that its source leaves unsaid. An artefact is
a function of it, so that the same declaration serves three times:

| use | setting | instrument |
| --- | --- | --- |
| `part`: the study's page | the reconstruction, and other readings | simulated |
| `parshall_studies.on_linux`: real stacks | one of slower links | emulated, and simulated in the same network |
| `parshall.studies.joint`: joint design | points over all that the source leaves unsaid | simulated |

>>> from dataclasses import dataclass
>>> from parshall.analysis.stats.claim_rules import equal
>>> from parshall.analysis.stats.claims import Tolerance
>>> from parshall.analysis.stats.region import exactly
>>> digits = Tolerance(0.05, "half of the last digit")
>>> def miles(kilometres: float, mile_km: float) -> float:
...     return kilometres / mile_km
>>> @dataclass(frozen=True)
... class Setting:
...     mile_km: float = 1.609344
>>> road = Artefact(
...     "road",
...     lambda setting: {42: Case("42 km", miles, (42.195, setting.mile_km))},
...     lambda answers, _: [equal("road", "length, miles", 26.2, exactly(answers[42]), within=digits)],
... )
>>> [claim.verdict for claim in road.judged(Setting())], [claim.verdict for claim in road.judged(Setting(1.852))]
(['reproduced'], ['not_reproduced'])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from parshall.campaign.keys import call_of
from parshall.studies.study import Case, Findings, Part, Scale, emulated, replaced, simulated

if TYPE_CHECKING:
    from parshall.analysis.stats.claims import Claim
    from parshall.report.document import Section
    from parshall.scenario import Scenario

S = TypeVar("S")
Answers = Mapping[Any, Any]


@dataclass(frozen=True)
class Measurement:
    """A scenario, and a value that a function of a module takes from its run: by any instrument.

    Parameters
    ----------
    label
        Names the run in progress lines.
    measure, arguments
        The answer is ``measure(run, *arguments)``.
    """

    label: str
    scenario: Scenario
    measure: Callable[..., Any]
    arguments: tuple[Any, ...] = ()

    def simulated(self, seed: int | None = None) -> Case:
        """The case that simulates it, with a seed of its own where one is given."""
        scenario = self.scenario if seed is None else self.scenario.with_values({"seed": seed})
        return simulated(self.label, scenario, self.measure, *self.arguments)

    def emulated(self) -> Case:
        """The case that emulates it; its answer is an `Emulated`."""
        return emulated(self.label, self.scenario, self.measure, *self.arguments)


Points = Mapping[Any, Measurement | Case]


@dataclass(frozen=True)
class Artefact(Generic[S]):
    """A figure, table or sentence of a source.

    Parameters
    ----------
    name
        As claims name it: ``fig5``.
    points
        Its measurements in a setting, each under a key of its own. Nothing is run. A `Case` is computed without a run.
    claims
        The source's statements about the answers, which are under the same keys.
    section
        The part of the page that shows the answers; None: the artefact has none.
    """

    name: str
    points: Callable[[S], Points]
    claims: Callable[[Answers, S], Sequence[Claim]]
    section: Callable[[Answers, S], Section] | None = None

    def cases(self, setting: S) -> dict[Any, Case]:
        """Its simulated cases in a setting, by key."""
        return {
            key: each.simulated() if isinstance(each, Measurement) else each
            for key, each in self.points(setting).items()
        }

    def judged(self, setting: S, done: dict[str, Any] | None = None) -> Sequence[Claim]:
        """Its claims in a setting, all of whose cases are done here.

        Parameters
        ----------
        done
            Answers of cases by the keys of their calls. Those that are there are not done again; others are added.

        Raises
        ------
        ParshallError
            A case failed.
        """
        known = {} if done is None else done
        return self.claims({key: _answer(case, known) for key, case in self.cases(setting).items()}, setting)


def _answer(case: Case, done: dict[str, Any]) -> Any:
    key = call_of(case.function, case.arguments).key
    if key not in done:
        done[key] = case.function(*replaced(case.arguments, lambda before: _answer(before, done)))
    return done[key]


def part(
    title: str,
    artefacts: Sequence[Artefact[S]],
    readings: Callable[[Scale], Mapping[str, S]],
    *,
    priority: int = 0,
) -> Part:
    """A part of a study's page: artefacts in each reading, of which the first is drawn.

    Parameters
    ----------
    title
        Names the part.
    readings
        Settings at a scale by the name of the reading, which their claims bear; the reconstruction is the first one.
        A study without readings names its only one ``""``.
    priority
        As of a `Part`.
    """

    def cases(scale: Scale) -> dict[Any, Case]:
        return {
            (reading, artefact.name, key): case
            for reading, setting in readings(scale).items()
            for artefact in artefacts
            for key, case in artefact.cases(setting).items()
        }

    def findings(answers: Answers, scale: Scale) -> Findings:
        claims: list[Claim] = []
        sections: list[Section] = []
        for number, (reading, setting) in enumerate(readings(scale).items()):
            for artefact in artefacts:
                own = {key[2]: answer for key, answer in answers.items() if key[:2] == (reading, artefact.name)}
                claims += named(artefact.claims(own, setting), reading)
                if artefact.section is not None and number == 0:
                    sections.append(artefact.section(own, setting))
        return Findings(claims, sections)

    return Part(title, cases, findings, priority)


def named(claims: Sequence[Claim], reading: str) -> list[Claim]:
    """Claims that bear the name of a reading, but for those that have one."""
    return [each if each.reading else replace(each, reading=reading) for each in claims]
