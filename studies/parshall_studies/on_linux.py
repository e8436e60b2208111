"""A study's artefacts once more with the TCP of Linux: the same declaration, emulated, and simulated beside it.

Both instruments have the same network (`parshall_studies.scaling`), and the simulator ``tcp = "linux"``. A published
value is Linux's only where the simulator does not contradict (`stacks.by_one_instrument`, which is symmetric), and is
judged where all points of the artefact could be emulated and none is invalid. Beside these, values of each point are
compared between the two instruments: ours against ours, which counts as nothing published.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from parshall.analysis.stats.claims import Claim
from parshall.instruments.emulation import kernel_name
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.studies.artefact import Answers, Artefact, Measurement, named
from parshall.studies.study import Case, Emulated, Findings, Part, Scale
from parshall_studies import scaling, stacks

S = TypeVar("S")
RUNS = 3
"""Simulated runs beside each emulation."""


@dataclass(frozen=True)
class Compared:
    """A value of an answer that both instruments have.

    Parameters
    ----------
    quantity
        Its words, with the unit.
    value
        Takes it from the answer.
    share, least
        The difference that does not matter: of the simulated mean, and in the quantity's unit; the larger counts.
    """

    quantity: str
    value: Callable[[Any], float]
    share: float = 0.05
    least: float = 0.0


@dataclass(frozen=True)
class OnLinux(Generic[S]):
    """How artefacts are done with real stacks.

    Parameters
    ----------
    title
        Names the part and its section.
    artefacts
        Those of the study.
    setting
        Of the emulation at a scale: shorter, and with fewer points, than the reconstruction.
    compared
        The values of the point under a key that are compared.
    factor
        Of all rates, queues, windows and files, so that this machine keeps pace.
    keep
        Options of the source's TCP that hosts of Linux have, too.
    text
        Paragraphs of the section.
    """

    title: str
    artefacts: Sequence[Artefact[S]]
    setting: Callable[[Scale], S]
    compared: Callable[[Any], Sequence[Compared]]
    factor: float = 1.0
    keep: tuple[str, ...] = ()
    text: tuple[str, ...] = ()

    @property
    def part(self) -> Part:
        """The part of the study."""
        return Part(self.title, self.cases, self.findings, emulates=True)

    @property
    def reading(self) -> str:
        """The reading that its claims bear."""
        return kernel_name() if self.factor == 1 else f"{kernel_name()}, {1 / self.factor:g} times less rate"

    def measurements(self, scale: Scale) -> dict[tuple[str, Any], Measurement]:
        """By artefact and key, what is measured with hosts of Linux; points that are only computed are left out."""
        setting = self.setting(scale)
        return {
            (artefact.name, key): replace(each, scenario=self._on_hosts(each.scenario))
            for artefact in self.artefacts
            for key, each in artefact.points(setting).items()
            if isinstance(each, Measurement)
        }

    def _on_hosts(self, scenario: Scenario) -> Scenario:
        return scaling.for_linux(scaling.scaled(scenario, self.factor), self.keep)

    def cases(self, scale: Scale) -> dict[Any, Case]:
        """Each point emulated, and simulated `RUNS` times; points whose controls the kernel lacks are left out."""
        made: dict[Any, Case] = {}
        for (name, key), each in self.measurements(scale).items():
            if stacks.missing(*scaling.controls(each.scenario)) is None:
                made[name, key, "linux"] = each.emulated()
                made |= {(name, key, seed): each.simulated(seed) for seed in range(1, RUNS + 1)}
        return made

    def findings(self, answers: Answers, scale: Scale) -> Findings:
        """Claims of Linux that the simulator does not contradict, values side by side, and the artefacts' sections."""
        wanted = self.measurements(scale)
        done = {(name, key): each for (name, key, which), each in answers.items() if which == "linux"}
        claims: list[Claim] = []
        rows: list[tuple[str, ...]] = []
        sections: list[Section] = []
        for artefact in self.artefacts:
            own = {key: each for (name, key), each in done.items() if name == artefact.name}
            simulated = {seed: {key: answers[artefact.name, key, seed] for key in own} for seed in range(1, RUNS + 1)}
            complete = len(own) == sum(name == artefact.name for name, _ in wanted)
            if complete and own and all(map(stacks.usable, own.values())):
                found, section = self._stated(artefact, own, simulated[1], scale)
                claims += found
                sections += section
            for key, linux in own.items():
                beside, row = self._beside(artefact.name, key, linux, [simulated[seed][key] for seed in simulated])
                claims += beside
                rows += row
        return Findings(claims, [self._section(wanted, done, rows), *sections])

    def _stated(
        self, artefact: Artefact[S], linux: Mapping[Any, Emulated], simulated: Answers, scale: Scale
    ) -> tuple[list[Claim], list[Section]]:
        """The source's statements, of Linux; and the artefact's section of the same answers."""
        setting = self.setting(scale)
        seen = {key: each.answer for key, each in linux.items()}
        ours, theirs = (named(artefact.claims(each, setting), self.reading) for each in (seen, simulated))
        claims = stacks.by_one_instrument(ours, theirs)
        if artefact.section is None:
            return claims, []
        drawn = artefact.section(seen, setting)
        figures = [replace(each, name=f"{each.name}-linux") for each in drawn.figures]
        return claims, [replace(drawn, heading=f"{drawn.heading}, {kernel_name()}", figures=figures)]

    def _beside(
        self, name: str, key: Any, linux: Emulated, simulated: Sequence[Any]
    ) -> tuple[list[Claim], list[tuple[str, ...]]]:
        """The values of a point that both instruments have."""
        claims: list[Claim] = []
        rows: list[tuple[str, ...]] = []
        for each in self.compared(key):
            values = [each.value(answer) for answer in simulated]
            ours = each.value(linux.answer)
            if stacks.usable(linux):
                claims.append(
                    stacks.beside_simulated(
                        f"{name}-linux", each.quantity, linux, ours, values, share=each.share, least=each.least
                    )
                )
            rows.append((name, each.quantity, stacks.cell(values, 3, 2), f"{ours:.3g}", linux.validity.level))
        return claims, rows

    def _section(
        self,
        wanted: Mapping[tuple[str, Any], Measurement],
        done: Mapping[tuple[str, Any], Emulated],
        rows: Sequence[tuple[str, ...]],
    ) -> Section:
        controls = dict.fromkeys(
            control
            for place, each in wanted.items()
            if place not in done
            for control in scaling.controls(each.scenario)
        )
        absent = stacks.missing(*controls) if controls else None
        left_out = [f"Points are left out, and claims that need them: {absent}."] if absent else []
        remarks = stacks.remarks((wanted[place].label, each) for place, each in done.items())
        header = ("artefact", "quantity", "simulated, the same network", kernel_name(), "emulation")
        tables = [Table("Linux beside the simulator", header, rows, numbers=(2, 3))] if rows else []
        return Section(self.title, (*self.text, *left_out, *remarks), tables)
