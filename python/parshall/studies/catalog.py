"""The one list of studies."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from parshall.errors import InputError
from parshall.schema.problems import did_you_mean, quoted

if TYPE_CHECKING:
    from parshall.report.document import Document
    from parshall.studies.study import Execution, Findings, Progress, Scale


@dataclass(frozen=True)
class Study:
    """A study: the package of its name in this folder, imported when it is run."""

    name: str
    title: str
    summary: str
    reference: str
    campaign: bool = False
    """Whether its runs can be kept in a store, and done by several workers or a cluster: `Execution`."""
    parallel: bool = False
    """Whether its parts are done by several workers of this machine; the rest of `Execution` is not for it."""

    def run(self, scale: Scale, progress: Progress, execution: Execution | None = None) -> Findings:
        """Run it: ``quick``, or ``paper`` for everything as published.

        Raises
        ------
        InputError
            It does not run as a campaign, and `execution` asks for one.
        """
        package = importlib.import_module(f"parshall.studies.{self.name}")
        from parshall.studies.study import Execution  # noqa: PLC0415 - the list of studies is read without pages

        chosen = execution or Execution()
        if not self.campaign:
            if chosen.store is not None or chosen.scheduler is not None:
                able = quoted([study.name for study in STUDIES if study.campaign])
                raise InputError(f"--store, --scheduler: found with {self.name}; accepted with {able}")
            if chosen.workers is not None and not self.parallel:
                able = quoted([study.name for study in STUDIES if study.campaign or study.parallel])
                raise InputError(f"--workers: found with {self.name}; accepted with {able}")
        told = self.campaign or self.parallel
        findings: Findings = package.run(scale, progress, chosen) if told else package.run(scale, progress)
        return findings

    def page(self, scale: Scale, findings: Findings) -> Document:
        """Its page."""
        from parshall.studies.study import document  # noqa: PLC0415 - as above

        return document(self.title, self.summary, self.reference, scale, findings)


STUDIES: tuple[Study, ...] = (
    Study(
        "itb",
        "ITB: the experiments behind the benchmark",
        "high-speed controls at 10 Gbit/s: starts, RTT, load, reverse traffic, spread (Figs 3 to 10, Tables 1 to 6)",
        "Guillier, Hablot & Vicat-Blanc Primet, INRIA RR-6244, 2007",
    ),
    Study(
        "large_deviations",
        "Throughput variability by large deviations",
        "spectra of a Reno flow's throughput at several time scales, theory and simulation (Figs 1 to 9)",
        "Loiseau, Gonçalves, Barral & Vicat-Blanc Primet, Performance Evaluation 67, 2010",
        parallel=True,
    ),
    Study(
        "multiple_time_scale",
        "Multiple time scale TCP",
        "what a slope that follows predicted contention gains under self-similar traffic (Figs 1, 6 to 13)",
        "Park & Tuan, ACM TOMACS 10(2), 2000",
    ),
    Study(
        "rio",
        "TCP sessions and RIO routers",
        "TCP sessions with token buckets and a RIO router: fixed point, simulation, and how to set thresholds.",
        "Malouch & Liu, INRIA RR-4469, 2002",
    ),
    Study(
        "tail_index",
        "The tail index of flow sizes and TCP",
        "what heavy-tailed flow sizes do to loss, delay and throughput, and to the Hurst parameter",
        "Goga, Loiseau & Gonçalves 2011; Park & Tuan 2000, §4",
        campaign=True,
    ),
)


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
