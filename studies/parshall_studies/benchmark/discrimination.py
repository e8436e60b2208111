"""Which classes tell controls apart: the calibration of the benchmark, class by class.

| symbol | meaning |
| --- | --- |
| pairs | of controls: n (n - 1)/2 |
| differing | pairs whose mean completion times are shown to differ, and by more than matters |
| undecided | pairs that one repetition says nothing about |
| span | longest over shortest mean completion time of a control |
| enough | few cases that tell apart what all together do (§6: minimal redundancy) |

A class in which no pair is shown to differ says nothing about the controls. The source makes this the task of TU, the
tuning application (§5.2), before anything larger is run. What is shown is decided for the pairs of all classes together
(`parshall_studies.benchmark.score.Differences`). Where repetitions are copies of each other (one source in a strictly
periodic network) there is no noise, and the threshold of what matters decides alone.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.3.2, §5.2, §5.5.1, §6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from parshall.analysis.stats.verdict import AT_LEAST, reaches
from parshall_studies.benchmark import score
from parshall_studies.benchmark.benchmark import CaseResult

_LEAST = 2
"""Repetitions, for a noise to be known."""


@dataclass(frozen=True)
class Discrimination:
    """The differences between controls that a case shows; the table above has the symbols.

    Parameters
    ----------
    span
        None where a control has no completion time.
    used
        Lowest and highest mean goodput of a source, over its access rate C_a.
    """

    case: CaseResult
    pairs: int
    differing: int
    undecided: int
    span: float | None
    used: tuple[float, float] | None

    @property
    def verdict(self) -> str:
        """In a word: ``tells apart``, ``not shown``, or ``undecided``."""
        if self.differing:
            return "tells apart"
        return "undecided" if self.undecided else "not shown"


def told_apart(
    case: CaseResult, controls: Sequence[str], differences: score.Differences, at_least: float = AT_LEAST
) -> dict[tuple[str, str], bool | None]:
    """For each pair of controls, whether a case shows them to differ, as `differ` has it."""
    times = {control: score.values(case, control, "completion_s") for control in controls}
    return {
        (a, b): differ(times[a], times[b], differences.sign(case, a, b), at_least) for a, b in combinations(controls, 2)
    }


def discrimination(
    case: CaseResult, controls: Sequence[str], differences: score.Differences, at_least: float = AT_LEAST
) -> Discrimination:
    """The differences between these controls that a case shows."""
    differing = list(told_apart(case, controls, differences, at_least).values())
    means = [value for control in controls if (value := _mean(case, control, "completion_s")) is not None]
    goodputs = [value for control in controls if (value := _mean(case, control, "file_goodput_bps")) is not None]
    known = len(means) == len(controls) and min(means, default=0.0) > 0
    access_bps = case.case.factors.access_bps
    return Discrimination(
        case,
        pairs=len(differing),
        differing=sum(each is True for each in differing),
        undecided=sum(each is None for each in differing),
        span=max(means) / min(means) if known else None,
        used=(min(goodputs) / access_bps, max(goodputs) / access_bps) if goodputs else None,
    )


def _mean(case: CaseResult, control: str, key: str) -> float | None:
    found = score.values(case, control, key)
    return sum(found.values()) / len(found) if found else None


@dataclass(frozen=True)
class Sufficient:
    """Few cases that tell apart every pair of controls that all cases together do: least redundancy, the source's aim.

    Parameters
    ----------
    cases
        Their names, that which adds most pairs first; of several, the first one. No set of fewer may be known, since
        each is chosen after the other.
    told, pairs
        Pairs that some case tells apart, and all pairs.
    """

    cases: tuple[str, ...]
    told: int
    pairs: int


def sufficient(
    cases: Sequence[CaseResult], controls: Sequence[str], differences: score.Differences, at_least: float = AT_LEAST
) -> Sufficient:
    """The cases that are enough, by greedy covering: at each step that which adds most pairs."""
    shown = {
        case.case.name: {pair for pair, each in told_apart(case, controls, differences, at_least).items() if each}
        for case in cases
    }
    missing: set[tuple[str, str]] = set().union(*shown.values())
    told, chosen = len(missing), []
    while missing:
        best = max(shown, key=lambda name: len(shown[name] & missing))
        chosen.append(best)
        missing -= shown[best]
    return Sufficient(tuple(chosen), told, len(controls) * (len(controls) - 1) // 2)


def differ(a: dict[int, float], b: dict[int, float], sign: int | None, at_least: float = AT_LEAST) -> bool | None:
    """Whether two controls' values, by repetition, are shown to differ by more than matters.

    None: one repetition, or none, says nothing. Where repetitions are copies of each other, the means decide.

    Parameters
    ----------
    sign
        What their family shows (`parshall_studies.benchmark.score.signs`).

    Examples
    --------
    >>> differ({0: 10.0, 1: 11.0, 2: 12.0}, {0: 9.0, 1: 9.9, 2: 11.1}, 1)
    True
    >>> differ({0: 10.0, 1: 11.0}, {0: 10.5, 1: 10.4}, 0)
    False
    >>> differ({0: 10.0, 1: 10.0}, {0: 11.0, 1: 11.0}, None), differ({0: 10.0}, {0: 11.0}, None)
    (True, None)
    """
    if sign is not None:
        return sign != 0
    common = sorted(a.keys() & b.keys())
    if len(common) < _LEAST:
        return None
    of_a, of_b = (sum(each[n] for n in common) / len(common) for each in (a, b))
    return reaches(of_a, of_b, at_least)
