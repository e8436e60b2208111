"""The joint design of a study: every claim of a source at points over all that the source leaves unsaid.

Parameters interact: a reading that moves one thing away from a reconstruction misses those that carry a claim together.
So points fill the whole space (a Sobol sequence, scrambled; A. Owen, J. Complexity 14, 1998), the reconstruction itself
is the first of them, and all claims are judged at each. A point is one case, so a design is sharded and goes on where
it was interrupted; more points of the same sequence are added to those that the store has.

What a parameter decides of a claim is the part of the variance of "the claim holds" between the parameter's values, or
eighths of its range (epsilon squared; T. Kelley, PNAS 21, 1935). The null is the largest such part over all parameters
when the outcomes are shuffled: what exceeds 95 % of `SHUFFLES` of these is named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import Outcome
from parshall.foundations.errors import InputError, ParshallError
from parshall.studies.artefact import Artefact
from parshall.studies.register import APART, Register
from parshall.studies.study import Case, Scale

S = TypeVar("S")
FloatArray = NDArray[np.float64]

PARTS = 8
"""Parts of a range that are compared."""
SHUFFLES, LEVEL = 200, 0.95
SEED = 20_070_131
"""Of the scrambled sequence and of the shuffles."""


@dataclass(frozen=True)
class Open:
    """Something that a source leaves unsaid: a field of the setting, and the values that are tried.

    Parameters
    ----------
    name
        The field of the setting.
    meaning
        Words for it, with the unit.
    reason
        Why these values: the place of the source that is silent, and what is likely.
    values
        The values; empty: a range.
    low, high
        The range.
    log
        Points are equally dense in the logarithm.
    whole
        Values are whole numbers.

    Examples
    --------
    >>> buffer = Open("buffer", "buffer, packets", "not said", low=8, high=128, log=True, whole=True)
    >>> buffer.at(0.0), buffer.at(0.5), Open("sack", "SACK", "not said", values=(False, True)).at(0.5)
    (8, 32, True)
    """

    name: str
    meaning: str
    reason: str
    values: tuple[Any, ...] = ()
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    whole: bool = False

    def at(self, place: float) -> Any:
        """The value at a place in [0, 1), of three significant digits."""
        if self.values:
            return self.values[int(place * len(self.values))]
        low, high = np.log((self.low, self.high)) if self.log else (self.low, self.high)
        value = low + place * (high - low)
        value = float(np.exp(value) if self.log else value)
        return round(value) if self.whole else float(f"{value:.3g}")

    @property
    def parts(self) -> int:
        """The number of values, or of parts of the range."""
        return len(self.values) or PARTS

    def label(self, number: int) -> str:
        """A value, or a part of the range."""
        if self.values:
            return shown(self.values[number])
        return f"{shown(self.at(number / PARTS))} to {shown(self.at((number + 1) / PARTS))}"

    @property
    def tried(self) -> str:
        """All values, or the range."""
        if self.values:
            return ", ".join(map(shown, self.values))
        return f"{shown(self.at(0))} to {shown(self.at(1))}{', logarithmic' if self.log else ''}"


def shown(value: Any) -> str:
    """The value of a parameter in words."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, int | float) else "none" if value is None else str(value)


@dataclass(frozen=True)
class Judged:
    """The claims of a setting, and why artefacts have none."""

    claims: Sequence[Claim]
    failures: Mapping[str, str] = field(default_factory=dict)


def judge(artefacts: Sequence[Artefact[S]], setting: S) -> Judged:
    """Every claim of the artefacts in a setting; an artefact whose case fails has none."""
    done: dict[str, Any] = {}
    claims: list[Claim] = []
    failures: dict[str, str] = {}
    for artefact in artefacts:
        try:
            claims += artefact.judged(setting, done)
        except ParshallError as error:
            failures[artefact.name] = str(error)
    return Judged(claims, failures)


@dataclass(frozen=True)
class Joint(Generic[S]):
    """A joint design, which a study has as ``JOINT`` beside its ``PARTS``.

    Parameters
    ----------
    artefacts
        Those whose claims are judged.
    opened
        All that the source leaves unsaid.
    base
        The reconstruction at a scale: its fields of `opened` are replaced.
    """

    artefacts: Sequence[Artefact[S]]
    opened: Sequence[Open]
    base: Callable[[Scale], S]

    def places(self, count: int) -> FloatArray:
        """Points of the sequence in the unit cube, shape (count, parameters).

        Raises
        ------
        InputError
            There are fewer than 2 points.
        """
        from scipy.stats import qmc  # noqa: PLC0415 - takes longer to import than the list of studies

        if count < 2:
            raise InputError(f"--joint: found {count}; accepted: 2 settings or more")
        sequence = qmc.Sobol(len(self.opened), scramble=True, rng=np.random.default_rng(SEED))
        places: FloatArray = sequence.random_base2((count - 1).bit_length())[:count]
        return places

    def settings(self, count: int, scale: Scale) -> list[S]:
        """So many settings; the first one is the reconstruction."""
        base = self.base(scale)
        rest = self.places(count)[1:]
        return [base, *(self._setting(base, row) for row in rest)]

    def _setting(self, base: S, places: FloatArray) -> S:
        made: S = replace(base, **{each.name: each.at(place) for each, place in zip(self.opened, places, strict=True)})  # type: ignore[type-var]
        return made

    def cases(self, count: int, scale: Scale) -> dict[int, Case]:
        """A case a setting, by its number."""
        return {
            number: Case(f"setting {number}", judge, (tuple(self.artefacts), setting))
            for number, setting in enumerate(self.settings(count, scale))
        }

    def judgement(self, answers: Mapping[int, Judged], scale: Scale, register: Register | None) -> Judgement:
        """The outcome of every claim in every setting."""
        ordered = [answers[number] for number in sorted(answers)]
        return Judgement(self.opened, self.settings(len(ordered), scale), ordered, register)


@dataclass(frozen=True)
class Decision:
    """The parameter that decides most of a claim.

    Parameters
    ----------
    parameter
        The parameter.
    share
        Of the variance of "the claim holds", 0 to 1.
    best, worst
        Its value, or part of its range, in which the claim holds most and least often.
    holds, fails
        In which part of the settings the claim holds there.
    """

    parameter: Open
    share: float
    best: str
    worst: str
    holds: float
    fails: float


@dataclass(frozen=True)
class Judgement:
    """The outcome of every claim in every setting.

    Parameters
    ----------
    opened, settings, answers
        The parameters; the settings; their claims, in the same order.
    register
        Tells definitions, which are not counted here.
    """

    opened: Sequence[Open]
    settings: Sequence[Any]
    answers: Sequence[Judged]
    register: Register | None = None

    @cached_property
    def outcomes(self) -> dict[str, list[Outcome | None]]:
        """By the claim's name, an outcome a setting; None: the artefact failed, or the claim was not made.

        Claims that are not counted in any setting are left out: theory, definitions, and those that cannot fail.
        Those to which the reconstruction was fitted are there: the other settings were fitted to nothing.
        """
        made: dict[str, list[Outcome | None]] = {}
        for number, answer in enumerate(self.answers):
            claims = answer.claims if self.register is None else self.register.annotated(answer.claims)
            for each in claims:
                if each.basis != "published" or not replace(each, calibrated="").counted or each.kind in APART:
                    continue
                row = made.setdefault(each.name, [None] * len(self.answers))
                row[number] = each.outcome
        return made

    @cached_property
    def held(self) -> NDArray[np.bool_]:
        """True where a claim holds, shape (claims, settings)."""
        rows = [[outcome == "holds" for outcome in row] for row in self.outcomes.values()]
        return np.array(rows, dtype=bool).reshape(len(rows), len(self.settings))

    @property
    def names(self) -> list[str]:
        """The claims, in the order of `held`."""
        return list(self.outcomes)

    @cached_property
    def best(self) -> int:
        """The setting that carries most claims; of several, the first one."""
        return int(np.argmax(self.held.sum(axis=0)))

    @cached_property
    def in_none(self) -> list[str]:
        """The claims that no setting carries."""
        return [name for name, row in zip(self.names, self.held, strict=True) if not row.any()]

    @cached_property
    def failures(self) -> Counter[tuple[str, str]]:
        """Artefacts that failed and why, and in how many settings."""
        return Counter(each for answer in self.answers for each in answer.failures.items())

    @cached_property
    def groups(self) -> list[NDArray[np.intp]]:
        """By parameter, the number of each setting's value or part of the range."""
        return [np.array([_group(each, setting) for setting in self.settings]) for each in self.opened]

    @cached_property
    def decisions(self) -> dict[str, Decision | None]:
        """By claim, the parameter that decides most of it."""
        return {name: self.decision(name) for name in self.names}

    def decision(self, name: str) -> Decision | None:
        """The parameter that decides most of a claim; None: no more than chance."""
        held = self.held[self.names.index(name)].astype(float)
        if held.all() or not held.any() or len(held) < 2 * PARTS:  # too few for its parts
            return None
        shares = _epsilon_squared(held[None, :], self.groups, self.opened)[0]
        shuffled = np.array([np.random.default_rng([SEED, number]).permutation(held) for number in range(SHUFFLES)])
        chance = _epsilon_squared(shuffled, self.groups, self.opened).max(axis=1)
        at = int(np.argmax(shares))
        if shares[at] <= np.quantile(chance, LEVEL):
            return None
        present = [int(part) for part in np.unique(self.groups[at]) if part < self.opened[at].parts]
        means = [held[self.groups[at] == part].mean() for part in present]
        high, low = int(np.argmax(means)), int(np.argmin(means))
        parameter = self.opened[at]
        labels = parameter.label(present[high]), parameter.label(present[low])
        return Decision(parameter, float(shares[at]), *labels, float(means[high]), float(means[low]))

    def as_json(self) -> dict[str, Any]:
        """As ``parshall study NAME --joint N --json`` prints it; docs/json.md describes it."""
        return {
            "settings": [
                {
                    "values": {each.name: getattr(setting, each.name) for each in self.opened},
                    "outcomes": {name: row[number] for name, row in self.outcomes.items()},
                    "failures": dict(answer.failures),
                }
                for number, (setting, answer) in enumerate(zip(self.settings, self.answers, strict=True))
            ],
            "claims": {
                name: {
                    "carried": int(row.sum()),
                    "decided_by": None if (chosen := self.decisions[name]) is None else chosen.parameter.name,
                    "share": None if chosen is None else chosen.share,
                }
                for name, row in zip(self.names, self.held, strict=True)
            },
            "best": self.best,
            "in_none": self.in_none,
        }


def _group(parameter: Open, setting: Any) -> int:
    """The number of a setting's value, or of the part of the range that it is in."""
    value = getattr(setting, parameter.name)
    if parameter.values:
        return parameter.values.index(value) if value in parameter.values else len(parameter.values)
    if value is None:
        return PARTS  # the reconstruction may have no limit where the others have one
    edges = [parameter.at(part / PARTS) for part in range(1, PARTS)]
    return int(np.searchsorted(edges, value, side="right"))


def _epsilon_squared(outcomes: FloatArray, groups: Sequence[NDArray[np.intp]], opened: Sequence[Open]) -> FloatArray:
    """By row of outcomes and parameter, the part of the variance between groups, corrected for their number."""
    count = outcomes.shape[1]
    centred = outcomes - outcomes.mean(axis=1, keepdims=True)
    total = (centred**2).sum(axis=1)
    shares = np.zeros((len(outcomes), len(opened)))
    for number, group in enumerate(groups):
        present, inverse = np.unique(group, return_inverse=True)
        member = (inverse[:, None] == np.arange(len(present))).astype(float)
        sums, sizes = centred @ member, member.sum(axis=0)
        between = (sums**2 / sizes).sum(axis=1)
        within = (total - between) / max(1, count - len(present))
        shares[:, number] = (between - (len(present) - 1) * within) / total
    return shares
