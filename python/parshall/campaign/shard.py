"""Shards: a plan that several programs do without knowing of each other, each its own part.

Part k of n has every n-th piece of work, from the k-th on. Which piece is whose follows from the plan alone, so
programs on machines that share nothing agree on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self, TypeVar

from parshall.foundations.errors import InputError

Work = TypeVar("Work")


@dataclass(frozen=True)
class Shard:
    """Part `number` of `count`.

    Raises
    ------
    InputError
        There is no such part.
    """

    number: int
    count: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.count:
            raise InputError(f"shard: found {self}; accepted: K/N with K from 1 to N, such as 3/40")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard that ``3/40`` names.

        >>> Shard.parse("3/40")
        Shard(number=3, count=40)
        """
        match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text)
        if match is None:
            raise InputError(f"shard: found {text}; accepted: K/N with K from 1 to N, such as 3/40")
        return cls(int(match[1]), int(match[2]))

    def of(self, work: Sequence[Work]) -> list[Work]:
        """What of the work is this shard's.

        >>> Shard(2, 3).of(["a", "b", "c", "d", "e"])
        ['b', 'e']
        """
        return list(work[self.number - 1 :: self.count])

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"
