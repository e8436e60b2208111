"""What the source leaves open, and where its claims hold: each claim in every reading that can change it.

The readings are those of `readings`, each moving one thing from the base reading; windows and buffers are also crossed
for Fig. 6. A claim holds in a reading if each of its signs is the published one, with a 95 % interval on that side of
0, on the seeds on which a range is chosen and again on the seeds on which it is confirmed. Where the first say so and
the second do not, it is not counted: nothing is chosen and confirmed on the same runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import sign
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import Outcome
from parshall.report.description import listed
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale import grid, lockouts
from parshall_studies.multiple_time_scale.claims import signed
from parshall_studies.multiple_time_scale.contrasts import CONTRASTS, HIGH_MS, LOW_MS, Contrast, figures
from parshall_studies.multiple_time_scale.grid import Results, Size
from parshall_studies.multiple_time_scale.network import FIRST_SEED, SOURCE
from parshall_studies.multiple_time_scale.readings import BASE, READINGS, Reading

CROSSED = "window limit and buffer"
SIGNS: dict[Outcome, str] = {"holds": "+", "compatible": "·", "undecided": "·", "fails": "−"}
"""In the table of all claims and readings."""


def tried(size: Size) -> tuple[Reading, ...]:
    """The readings of a scale; the base reading comes first."""
    return (BASE, *(each for each in READINGS if size.readings is None or each.name in size.readings))


def crossed(size: Size) -> tuple[Reading, ...]:
    """Windows and buffers, each with each; without those that `tried` has."""
    known = {each.network for each in tried(size)}
    networks = [
        replace(SOURCE, window=window, buffer=buffer) for window in size.crossed[0] for buffer in size.crossed[1]
    ]
    return tuple(
        Reading(CROSSED, f"{_window(each.window)} and {each.buffer} packets", each)
        for each in networks
        if each not in known
    )


def _window(window: int | None) -> str:
    return "none" if window is None else f"{window}"


def applies(contrast: Contrast, reading: Reading) -> bool:
    """Whether a reading can change a claim; of crossed windows and buffers only Fig. 6 is asked."""
    if reading.parameter == CROSSED:
        return contrast.artefact == "fig6"
    return not reading.parameter or reading.parameter in contrast.depends


def both_halves(differences: NDArray[np.float64]) -> Interval:
    """The interval that spans those of the first and of the second half of the seeds.

    Examples
    --------
    >>> found = both_halves(np.array([1.0, 1.1, 1.2, 0.9, 1.0, 1.1]))
    >>> round(found.low, 2), round(found.high, 2)
    (0.75, 1.35)
    """
    middle = differences.size // 2
    halves = [mean_interval(half) for half in (differences[:middle], differences[middle:])]
    lows = [half.mean if half.low is None else half.low for half in halves]
    highs = [half.mean if half.high is None else half.high for half in halves]
    return Interval(float(differences.mean()), min(lows), max(highs), differences.size)


def sized(size: Size) -> Size:
    """How much is simulated of a reading."""
    return replace(
        size,
        duration_s=size.reading_s,
        seeds=size.reading_seeds,
        course_s=size.reading_s,
        single_s=None,
        several_s=None,
        rtts_ms=(LOW_MS, HIGH_MS),
    )


CLOSE_BUFFERS = (12, 16, 20)
"""Packets: with 12 Fig. 6 (a) holds, and 16 and 20 are next to that."""


def lasting(claim: Contrast, reading: Reading, size: Size) -> Reading:
    """A reading with the duration of a claim's runs in it: Fig. 6 (a) is close where it holds."""
    close = claim.figure.startswith("Fig. 6 (a)") and reading.network.buffer in CLOSE_BUFFERS
    return replace(reading, lasts_s=size.close_s) if close and reading.parameter != CROSSED else reading


def claimed(size: Size) -> list[Contrast]:
    """The claims that are tried."""
    return [each for each in CONTRASTS if size.claimed is None or each.artefact in size.claimed]


def first_seed(size: Size) -> int:
    """The second half begins where the other parts begin."""
    return FIRST_SEED - size.reading_seeds // 2


def cases(size: Size) -> grid.Cases:
    """Every claim's points in every reading."""
    points = [
        point
        for reading in (*tried(size), *crossed(size))
        for claim in claimed(size)
        if applies(claim, reading)
        for point in claim.points(lasting(claim, reading, size), sized(size))
    ]
    return grid.cases(points, sized(size), first_seed(size))


class Reconstruction:
    """What was found."""

    def __init__(self, results: Results, size: Size) -> None:
        self._results = results
        self._size = sized(size)
        self._readings = (*tried(size), *crossed(size))
        self._claims = claimed(size)
        self._first = first_seed(size)

    def check(self, claim: Contrast, reading: Reading) -> Claim:
        """A claim in a reading, by both halves of the seeds."""
        interval = both_halves(claim.differences(self._results, lasting(claim, reading, self._size), self._size))
        note = f"{signed(interval, claim.unit)} spans both halves of {interval.n} seeds"
        return sign(claim.artefact, claim.quantity, claim.published, interval, note, reading=reading.name)

    def checks(self) -> Iterator[Claim]:
        """Every claim in every reading but the base one, which the other parts check on longer runs."""
        for reading in self._readings[1:]:
            for claim in self._claims:
                if applies(claim, reading):
                    yield self.check(claim, reading)

    def verdict(self, claims: Sequence[Contrast], reading: Reading) -> Outcome | None:
        """Of a figure's claims in a reading; None where it cannot change them."""
        verdicts = {self.check(each, reading).outcome for each in claims if applies(each, reading)}
        if not verdicts:
            return None
        if "fails" in verdicts:
            return "fails"
        return "holds" if verdicts == {"holds"} else "compatible"

    def section(self) -> Section:
        """Ranges, and the table behind them."""
        size = self._size
        groups = {name: row for name, row in figures().items() if any(each in self._claims for each in row)}
        ranges = [(name, *self._range(row)) for name, row in groups.items()]
        rows = [
            (
                reading.name or "base reading",
                *(_shown(self.verdict(row, reading)) for row in groups.values()),
            )
            for reading in self._readings
        ]
        labels = [f"{number}: {name}" for number, name in enumerate(groups, 1)]
        buffers = listed([f"{each}" for each in CLOSE_BUFFERS])
        close = f" ({size.close_s:g} s for Fig. 6 (a) with buffers of {buffers} packets)" if size.close_s else ""
        return Section(
            "Reconstruction: where the claims hold",
            (
                "The source does not state everything that its results depend on. Each claim is tried in every reading "
                "that could change it, one parameter moved at a time from the base reading (window limit 32 packets, "
                "buffer 16 packets, all links of 10 Mbit/s, the timers of ns-2 before May 2001, the RTT of the "
                f"measured connection, ranks). There are {size.seeds} seeds of {size.duration_s:g} s{close}, from "
                f"{self._first} on: a range is chosen on the first half of them and confirmed on the second.",
                "In the second table + stands for a claim that holds on both halves, − for one of which some sign is "
                f"another one on both, · for one that the record is too short for. Columns: {'; '.join(labels)}.",
                lockouts.answer(self._results),
            ),
            [
                Table(
                    "Ranges", ("claim", "verdict", "holds for", "too short to tell for", "does not hold for"), ranges
                ),
                Table("All readings", ("reading", *(f"{number}" for number in range(1, len(groups) + 1))), rows),
                lockouts.table(self._results),
            ],
        )

    def _range(self, claims: Sequence[Contrast]) -> tuple[str, str, str, str]:
        """In which readings it holds, in which the record is too short to tell, and in which it does not hold."""
        by: dict[Outcome, dict[str, list[str]]] = {"holds": {}, "compatible": {}, "fails": {}}
        for reading in self._readings:
            shown = self.verdict(claims, reading)
            if shown is not None:
                by[shown].setdefault(reading.parameter, []).append(reading.value)
        verdict = "reproduced in this range" if by["holds"] else "in none tried"
        holds, open_in, fails = (_ranges(values) for values in by.values())
        return verdict, holds, open_in, fails


def _ranges(values: Mapping[str, Sequence[str]]) -> str:
    """Values by parameter, in words.

    Examples
    --------
    >>> _ranges({"": [""], "buffer": ["8 packets", "32 packets"]})
    'the base reading; buffer: 8 packets, 32 packets'
    """
    texts = (f"{name}: {', '.join(tried)}" if name else "the base reading" for name, tried in values.items())
    return "; ".join(texts)


def _shown(verdict: Outcome | None) -> str:
    return "" if verdict is None else SIGNS[verdict]
