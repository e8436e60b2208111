"""The number of a source's claims that are reproduced: four numbers, by the readings of its open points.

A claim that is tried in several readings counts once. The numbers are those that the best single reading reproduces;
those that some reading reproduces; definitions and arithmetic, apart from experiments; and those to which a parameter
was fitted. Claims that cannot fail are counted in none of the first three.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import Outcome
from parshall.foundations.numbers import counted
from parshall.report.document import Table
from parshall.report.sentences import Sentence, say
from parshall.studies.register import APART

Key = tuple[str, str]
"""Artefact and quantity of a claim, whatever its reading."""

SIGNS = {"holds": "+", "compatible": "○", "undecided": "?", "fails": "−"}
MEANING = (
    "+ reproduced; ○ compatible (the interval meets the tolerance and is wider: the record is too short to say more); "
    "? undecided (the source's own value is one run, or two instruments contradict); − not reproduced; "
    "· cannot fail: it would accept an answer without the effect."
)
NONE_OPEN = "in every reading"
"""The row of claims that rest on no reading."""


@dataclass(frozen=True)
class Counts:
    """Claims of a source, by what can be said of them."""

    claims: Sequence[Claim]

    @cached_property
    def experiments(self) -> dict[Key, dict[str, Claim]]:
        """Claims that count and are no definitions or arithmetic: by key, and by reading."""
        return _by_key(each for each in self._published if each.counted and each.kind not in APART)

    @cached_property
    def apart(self) -> dict[Key, dict[str, Claim]]:
        """Definitions and arithmetic."""
        return _by_key(each for each in self._published if each.counted and each.kind in APART)

    @cached_property
    def calibrated(self) -> set[Key]:
        """Claims to whose value a parameter was fitted."""
        return {_key(each) for each in self._published if each.calibrated}

    @cached_property
    def cannot_fail(self) -> set[Key]:
        """Claims that accept a null in all readings."""
        silent = {_key(each) for each in self._published if each.cannot_fail and not each.calibrated}
        return silent - self.experiments.keys() - self.apart.keys()

    @property
    def _published(self) -> list[Claim]:
        return [each for each in self.claims if each.basis == "published" and each.region is not None]

    @cached_property
    def readings(self) -> list[str]:
        """Readings in the order in which they come; without any, the one that is none."""
        return list(dict.fromkeys(reading for row in self.experiments.values() for reading in row if reading)) or [""]

    def reproduced(self, reading: str) -> set[Key]:
        """Claims that a reading reproduces, and those that rest on none."""
        return {
            key
            for key, row in self.experiments.items()
            if any(row[each].outcome == "holds" for each in (reading, "") if each in row)
        }

    def tried(self, reading: str) -> set[Key]:
        """Claims that were tried in a reading, or rest on none."""
        return {key for key, row in self.experiments.items() if reading in row or "" in row}

    @cached_property
    def best(self) -> str:
        """The reading that reproduces most claims; empty: none adds to those that rest on no reading."""
        without = [""] if any("" in row for row in self.experiments.values()) else []
        return max((*without, *self.readings), key=lambda each: len(self.reproduced(each)))

    @cached_property
    def by_some(self) -> set[Key]:
        """Claims that some reading reproduces."""
        return {key for key, row in self.experiments.items() if any(each.outcome == "holds" for each in row.values())}

    @cached_property
    def rest(self) -> Counter[str]:
        """The other claims, by the best that a reading says of them."""
        order = ("compatible", "undecided", "fails")
        rows = (row for key, row in self.experiments.items() if key not in self.by_some)
        return Counter(min((each.outcome for each in row.values()), key=order.index) for row in rows)

    @cached_property
    def artefacts(self) -> dict[str, list[Key]]:
        """The claims of each artefact."""
        artefacts: dict[str, list[Key]] = {}
        for key in self.experiments:
            artefacts.setdefault(key[0], []).append(key)
        return artefacts

    @cached_property
    def whole(self) -> list[str]:
        """Artefacts of which one reading has all claims."""
        by_reading = [self.reproduced(each) for each in self.readings]
        return [
            name for name, keys in self.artefacts.items() if any(set(keys) <= reproduced for reproduced in by_reading)
        ]


def headline(claims: Sequence[Claim]) -> str:
    """The first sentences of a study: what is reproduced by the best single reading, by some, and apart."""
    counts = Counts(claims)
    said = _of_experiments(counts)
    if counts.apart:
        held = sum(any(each.outcome == "holds" for each in row.values()) for row in counts.apart.values())
        said.append(say("claims.apart", held=f"{held}", of=f"{len(counts.apart)}"))
    if counts.calibrated:
        said.append(say("claims.calibrated", number=f"{len(counts.calibrated)}"))
    if counts.cannot_fail:
        said.append(say("claims.cannot_fail", number=f"{len(counts.cannot_fail)}"))
    return " ".join(each.text for each in said or [say("claims.nothing")])


def _of_experiments(counts: Counts) -> list[Sentence]:
    """Return sentences on the source's experiments that are reproduced; nothing where there are none."""
    if not counts.experiments:
        return []
    claims, reproduced = counted(len(counts.experiments), "claim"), len(counts.reproduced(counts.best))
    if len(counts.readings) > 1 and counts.best:
        some = f"{len(counts.by_some)}"
        first = say("claims.readings", claims=claims, best=counts.best, reproduced=f"{reproduced}", by_some=some)
    else:
        are = "is" if reproduced == 1 else "are"
        first = say("claims.one_reading", claims=claims, reproduced=f"{reproduced}", are=are)
    rest = {each: f"{counts.rest[each]}" for each in ("fails", "compatible", "undecided")}
    whole = f"{len(counts.whole)}: {', '.join(counts.whole)}" if counts.whole else "none"
    artefacts = say("claims.artefacts", artefacts=counted(len(counts.artefacts), "artefact"), whole=whole)
    return [first, say("claims.rest", **rest), artefacts]


def further(claims: Sequence[Claim]) -> str:
    """Of claims that are not the source's: ours against our theory, and values beyond the source; empty: none."""
    theory = [each for each in claims if each.basis == "theory" and each.region is not None and not each.cannot_fail]
    beyond = sum(each.region is None for each in claims)
    said = []
    if theory:
        values = counted(len(theory), "value")
        said.append(say("claims.theory", values=values, **_by_outcome(theory)))
    if beyond:
        said.append(say("claims.beyond", values=counted(beyond, "value")))
    return " ".join(each.text for each in said)


def of_criteria(claims: Sequence[Claim]) -> str:
    """Return the number of criteria that hold: the first sentence of a suite."""
    asked = [each for each in claims if each.outcome != "reported"]
    reported = len(claims) - len(asked)
    number = counted(len(asked), "criterion", "criteria")
    said = [say("claims.criteria", asked=number, **_by_outcome(asked)) if asked else say("claims.no_criteria")]
    if reported:
        said.append(say("claims.reported", values=counted(reported, "value")))
    return " ".join(each.text for each in said)


def _by_outcome(claims: Sequence[Claim]) -> dict[str, str]:
    by = Counter(each.outcome for each in claims)
    outcomes: tuple[Outcome, ...] = ("holds", "fails", "compatible", "undecided")
    return {each: f"{by[each]}" for each in outcomes}


def matrix(claims: Sequence[Claim]) -> list[Table]:
    """Reading by artefact with sums, and reading by claim for those that are tried in several readings."""
    counts = Counts(claims)
    if not counts.experiments:
        return []
    header = ("reading", *counts.artefacts, "all claims")
    rows = [_row(counts, reading) for reading in counts.readings]
    tables = [Table("Claims reproduced, of those tried, by reading", header, rows, numbers=range(1, len(header)))]
    several = {key: row for key, row in counts.experiments.items() if len(row) > 1}
    if several:
        columns = [f"{number}" for number in range(1, len(counts.readings) + 1)]
        named = "; ".join(f"{number}: {name}" for number, name in zip(columns, counts.readings, strict=True))
        cells = [
            (f"{artefact}: {quantity}", *(_sign(row.get(reading)) for reading in counts.readings))
            for (artefact, quantity), row in several.items()
        ]
        tables.append(Table(f"Claims by reading ({named})", ("claim", *columns), cells))
    return tables


def _row(counts: Counts, reading: str) -> tuple[str, ...]:
    tried, reproduced = counts.tried(reading), counts.reproduced(reading)
    cells = [
        f"{len(reproduced.intersection(keys))}/{len(own)}" if (own := tried.intersection(keys)) else ""
        for keys in counts.artefacts.values()
    ]
    return (reading or NONE_OPEN, *cells, f"{len(reproduced)}/{len(tried)}")


def _sign(claim: Claim | None) -> str:
    if claim is None:
        return ""
    return "·" if claim.cannot_fail else SIGNS[claim.outcome]


def _key(claim: Claim) -> Key:
    return claim.artefact, claim.quantity


def _by_key(claims: Iterable[Claim]) -> dict[Key, dict[str, Claim]]:
    rows: dict[Key, dict[str, Claim]] = {}
    for each in claims:
        rows.setdefault(_key(each), {})[each.reading] = each
    return rows
