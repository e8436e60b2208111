"""Doing a study: its cases by workers, each once, and then its findings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from parshall.analysis.stats.claims import Claim, unfinished
from parshall.campaign import execution as campaign
from parshall.campaign.answers import count_answers
from parshall.campaign.call import Call, Function
from parshall.campaign.calls import run_calls
from parshall.campaign.keys import call_of
from parshall.foundations.errors import InputError
from parshall.instruments.emulation import abilities, left_out
from parshall.report.document import Section
from parshall.studies.joint import Judgement
from parshall.studies.study import Case, Findings, Instruments, Part, Progress, Scale, Study, replaced

Key = TypeVar("Key")


@dataclass(frozen=True)
class Execution(campaign.Execution):
    """The execution of a study.

    Parameters
    ----------
    store
        Where answers are kept; `None`: at ``paper`` scale in the user's cache, at ``quick`` scale nowhere.
    workers, scheduler, shard, at_once
        Who does the cases, and which of them; whether emulations do not wait for others.
    instrument
        Whether what is simulated is done, what is emulated, or both.
    """

    instrument: Instruments = "simulate"

    def at(self, study: str, scale: Scale) -> Execution:
        """With the store that a study has at a scale."""
        if self.store is None and scale == "paper":
            return replace(self, store=folder(study) / "store")
        if self.store is None and self.shard is not None:
            raise InputError(
                f"--shard {self.shard}: found no --store; accepted: --shard {self.shard} --store DIRECTORY"
            )
        return self


def folder(study: str) -> Path:
    """A study's folder in the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "parshall" / "studies" / study


def run(study: Study, scale: Scale, progress: Progress, execution: Execution | None = None) -> Findings:
    """Do a study, or a shard of it: then the findings are empty, and a later run without a shard has them.

    Raises
    ------
    InputError
        The study emulates nothing, and was asked to; its register is refused; or a claim lacks a null, or the reason of
        its tolerance.
    NoEmulationError
        This machine cannot emulate, and nothing else was asked for.
    SimulationError
        A case failed; the answers of those that were done are kept.
    ParshallError
        As `parshall.campaign.calls.run_calls`.
    """
    chosen = (execution or Execution()).at(study.name, scale)
    register = study.register()
    parts = _chosen(study, chosen.instrument)
    declared = [{key: _Piece(case) for key, case in part.cases(scale).items()} for part in parts]
    order = sorted(range(len(parts)), key=lambda number: -parts[number].priority)
    pieces = list({piece.key: piece for number in order for piece in declared[number].values()}.values())
    takes = f"; the whole {study.kind} takes {study.cost[scale]}" if scale in study.cost else ""
    answers = _of_shard(pieces, f"{study.name} at {scale} scale", takes, progress, chosen)
    if chosen.shard is not None:
        return Findings([], [])
    findings = [
        part.findings({key: answers[piece.key] for key, piece in own.items()}, scale)
        for part, own in zip(parts, declared, strict=True)
    ]
    checks = [check for each in findings for check in each.checks]
    _complete(study, checks)
    annotated = checks if register is None else register.annotated(checks)
    return Findings(annotated, [section for each in findings for section in each.sections], register)


def run_joint(
    study: Study, count: int, scale: Scale, progress: Progress, execution: Execution | None = None
) -> Judgement | None:
    """The outcome of every claim of a study in so many settings (`parshall.studies.joint`); None: of a shard.

    Raises
    ------
    InputError
        The study has no joint design, or fewer than two settings are asked for.
    SimulationError
        A case failed otherwise than by a `ParshallError`; the answers of those that were done are kept.
    ParshallError
        As `parshall.campaign.calls.run_calls`.
    """
    chosen, design = (execution or Execution()).at(study.name, scale), study.joint()
    pieces = {number: _Piece(case) for number, case in design.cases(count, scale).items()}
    answers = _of_shard(list(pieces.values()), f"joint design of {study.name} at {scale} scale", "", progress, chosen)
    if chosen.shard is not None:
        return None
    return design.judgement({number: answers[piece.key] for number, piece in pieces.items()}, scale, study.register())


def _complete(study: Study, checks: Sequence[Claim]) -> None:
    """Refuse claims without a null or a reason of their tolerance, and those of the other kind of study.

    Raises
    ------
    InputError
        There are some; the message names them.
    """
    for each in checks:
        if (each.basis == "asked") != (study.kind == "suite") and each.region is not None:
            raise InputError(
                f"{study.name}: {each.name}: found a claim of {each.basis}; a {study.kind} has "
                + ("criteria alone" if study.kind == "suite" else "claims of a source or of theory alone")
            )
    if problems := unfinished(checks):
        raise InputError("\n".join(f"{study.name}: {problem}" for problem in problems))


def _chosen(study: Study, instrument: Instruments) -> Sequence[Part]:
    """The parts that are done; those that emulate only say why not, where this machine cannot."""
    parts = study.loaded()
    simulating, emulating = ([part for part in parts if part.emulates is emulates] for emulates in (False, True))
    if instrument == "simulate":
        return simulating
    if not emulating:
        raise InputError(f"--instrument: found {instrument}; {study.name} emulates nothing; accepted: simulate")
    why = left_out(abilities().problem, instrument)
    if why is None:
        return emulating if instrument == "emulate" else parts
    return [_without_answers(part.name, f"Left out: {why}") if part.emulates else part for part in parts]


def _without_answers(name: str, text: str) -> Part:
    """A part that only says why it has no answers."""
    return Part(name, lambda _: {}, lambda _, __: Findings([], [Section(name, (text,))]))


def _of_shard(
    pieces: Sequence[_Piece], what: str, takes: str, progress: Progress, execution: Execution
) -> dict[str, Any]:
    """The answers of the pieces, or of those of the shard; how many there are is said before they begin."""
    mine = pieces if execution.shard is None else execution.shard.of(pieces)
    store = execution.kept
    known, unread = (0, 0) if store is None else count_answers(store, (piece.key for piece in mine))
    count = f"{len(mine)} case{'' if len(mine) == 1 else 's'}"
    count += f", of which the store has {known}" if known else ""
    count += f"; {unread} that it has in a format that is not read are done again" if unread else ""
    progress(f"{what}: {count}{takes}")
    return _answered(mine, progress, execution)


def answered(cases: Mapping[Key, Case], execution: Execution | None = None) -> dict[Key, Any]:
    """The answers of cases, under their keys.

    Raises
    ------
    ParshallError
        As `run`.
    """
    pieces = {key: _Piece(case) for key, case in cases.items()}
    different = list({piece.key: piece for piece in pieces.values()}.values())
    answers = _answered(different, lambda _: None, execution or Execution())
    return {key: answers[piece.key] for key, piece in pieces.items()}


@dataclass(frozen=True)
class _Piece:
    """A case with its key, and those that come before it."""

    case: Case

    @cached_property
    def key(self) -> str:
        """Of its answer."""
        return call_of(self.case.function, self.case.arguments).key

    @cached_property
    def before(self) -> list[_Piece]:
        """The cases whose answers it is given."""
        return [_Piece(case) for case in _cases(self.case.arguments)]

    @cached_property
    def depth(self) -> int:
        """Length of the longest chain of pieces before it."""
        return 1 + max((piece.depth for piece in self.before), default=-1)

    def call(self, answers: Mapping[str, Any], *, at_once: bool) -> Call:
        """It as workers take it."""
        arguments = replaced(self.case.arguments, lambda case: answers[_Piece(case).key])
        return Call(self.key, Function(self.case.function, arguments), self.case.label, at_once=at_once)


def _answered(pieces: Sequence[_Piece], progress: Progress, execution: Execution) -> dict[str, Any]:
    """The answers of pieces and of all that come before them."""
    everything: dict[str, _Piece] = {}
    waiting = list(pieces)
    while waiting:
        everything |= {piece.key: piece for piece in waiting}
        waiting = [before for piece in waiting for before in piece.before if before.key not in everything]
    store = execution.kept
    answers: dict[str, Any] = {}
    for depth in range(max((piece.depth for piece in everything.values()), default=-1) + 1):
        here = [piece for piece in everything.values() if piece.depth == depth]
        counted = _Counted(progress, len(here))
        # Workers of a cluster emulate one after another by themselves.
        alone = 1 if execution.scheduler is None and not execution.at_once else execution.workers
        for emulates, workers in ((False, execution.workers), (True, alone)):
            mine = (piece for piece in here if piece.case.emulates is emulates)
            calls = [piece.call(answers, at_once=execution.at_once) for piece in mine]
            values = run_calls(calls, workers, counted, scheduler=execution.scheduler, store=store)
            answers |= {call.key: value for call, value in zip(calls, values, strict=True)}
    return answers


@dataclass
class _Counted:
    """Tells what was done, and how many that are of all."""

    progress: Progress
    count: int
    done: int = 0

    def __call__(self, call: Call) -> None:
        self.done += 1
        self.progress(f"{call.label} ({self.done} of {self.count})")


def _cases(value: Any) -> list[Case]:
    """The cases among arguments."""
    cases: list[Case] = []
    replaced(value, cases.append)
    return cases
