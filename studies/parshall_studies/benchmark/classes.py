"""The problem sizes of the benchmark, A to L: combinations of K, RTT, C_g and R.

Where the source has "K = 1 or 10" it is 10 here; `--factor K=1` asks for the other.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.6, Table 3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from parshall.foundations.errors import InputError
from parshall.scenario.schema.problems import did_you_mean, quoted


@dataclass(frozen=True)
class ItbClass:
    """A class: its letter, what it stands for, and its factors."""

    name: str
    meaning: str
    aggregation: float
    rtt_s: float
    congestion: float
    reverse: float


_LOADS = (("Low loaded", 0.8, 0.0), ("Highly congested (forward)", 2.0, 0.8), ("Highly congested (reverse)", 1.0, 1.5))
_PLACES = (
    ("Metropolitan area Internet", 1000.0, 0.020),
    ("Metropolitan area DataCenter", 10.0, 0.020),
    ("Transcontinental Internet", 1000.0, 0.200),
    ("Transcontinental Datacenter", 10.0, 0.200),
)

CLASSES: tuple[ItbClass, ...] = tuple(
    ItbClass(chr(ord("A") + 4 * row + column), f"{load} {place} environment", k, rtt_s, level, reverse)
    for row, (load, level, reverse) in enumerate(_LOADS)
    for column, (place, k, rtt_s) in enumerate(_PLACES)
)
"""Table 3."""


def classes(text: str) -> list[ItbClass]:
    """The classes that a text names: letters and ranges, such as ``A-D,H``.

    Raises
    ------
    InputError
        There is no such class.

    Examples
    --------
    >>> [each.name for each in classes("A-C,h")]
    ['A', 'B', 'C', 'H']
    """
    known = {each.name: each for each in CLASSES}
    chosen: dict[str, ItbClass] = {}
    for part in (part.strip().upper() for part in text.split(",")):
        ends = re.fullmatch(r"([A-Z])(?:-([A-Z]))?", part)
        first, last = (ends[1], ends[2] or ends[1]) if ends else ("", "")
        if first not in known or last not in known or first > last:
            hint = did_you_mean(part, known) or ". Did you mean a range, such as A-L?" * (len(part) > 1)
            raise InputError(f'--class: found "{part}"; accepted: {quoted(known)}, and ranges such as A-D{hint}')
        chosen |= {name: each for name, each in known.items() if first <= name <= last}
    return [each for each in CLASSES if each.name in chosen]
