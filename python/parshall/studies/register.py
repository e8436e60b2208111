"""The claims of a source: each sentence, figure, table and equation, and the check that judges it or why none can.

The file is ``claims.toml`` beside the study, and is written from the source alone, before anything is run:

```toml
source = "Malouch & Liu, INRIA RR-4469, 2002"

[[claim]]
id = "table1.T"
artefact = "Table 1"
kind = "value"
states = "The throughput of all flows is 5927.97 packets/s by the model"
refuted_by = "a model value farther than half its last digit"
check = ["table1: T of the model, packets/s"]
```

`check` names claims of the study (`parshall.analysis.stats.claims.Claim.name`) in full, or by their beginning up to the
end of a word: ``table1`` is ``table1: T of the model``, and not ``table10: ...``. Other entries say ``not_checked``.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StrictStr, model_validator

from parshall.analysis.stats.claims import Claim
from parshall.foundations.errors import InputError
from parshall.studies.published import validated

Kind = Literal["value", "figure", "sentence", "equation", "definition", "arithmetic", "announced"]
Text = Annotated[StrictStr, Field(min_length=1)]

APART: tuple[Kind, ...] = ("definition", "arithmetic")
"""Kinds that are counted apart from experiments."""
FILE = "claims.toml"

_ID = re.compile(r"[A-Za-z0-9_]+(\.[A-Za-z0-9_-]+)+")


class Entry(BaseModel):
    """A claim of the source."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Text = Field(description="Stable and unique: the artefact, a dot, a noun")
    artefact: Text = Field(description="As the source calls it: Table 1, section 4.2")
    kind: Kind = Field(description="What it is; definitions and arithmetic are counted apart from experiments")
    states: Text = Field(description="The claim, in our own words")
    refuted_by: Text = Field(description="What would refute it")
    check: tuple[Text, ...] | None = Field(
        None, description="The study's claims that judge it, by their names", min_length=1
    )
    not_checked: Text | None = Field(None, description="Why it cannot be checked")
    readings: tuple[Text, ...] = Field((), description="Readings of what the source leaves open, in which it is tried")
    calibrated: Text | None = Field(None, description="Which parameter was fitted to this very value")
    scale: Literal["quick", "paper"] = Field("quick", description="The shortest scale at which its check is made")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if not _ID.fullmatch(self.id):
            raise ValueError(f"id: found {self.id!r}; accepted: an artefact, a dot and a noun, such as table1.T")
        if (self.check is None) == (self.not_checked is None):
            found = "neither" if self.check is None else "both"
            raise ValueError(f"check, not_checked: found {found}; accepted: one of them")
        return self

    def judged_by(self, claim: Claim) -> int:
        """Return the number of characters of the longest check that matches a claim's name; 0: none matches."""
        return max((len(each) for each in self.check or () if _begins(claim.name, each)), default=0)


@dataclass(frozen=True)
class Register:
    """The claims of a source."""

    source: str
    entries: Sequence[Entry]

    def entry_of(self, claim: Claim) -> Entry | None:
        """The entry that names a claim most closely; None: the source does not make it."""
        best = max(self.entries, key=lambda each: each.judged_by(claim), default=None)
        return best if best is not None and best.judged_by(claim) else None

    def annotated(self, claims: Iterable[Claim]) -> list[Claim]:
        """Claims with their kind, and what was fitted to them."""
        return [self._annotated(each) for each in claims]

    def _annotated(self, claim: Claim) -> Claim:
        entry = None if claim.basis == "theory" else self.entry_of(claim)
        if entry is None:
            return claim
        return replace(claim, kind=entry.kind, calibrated=claim.calibrated or entry.calibrated or "")

    def without_claim(self, claims: Sequence[Claim], scale: str) -> list[str]:
        """Ids and checks that name no claim among those that were made at a scale, though they should be made there."""
        return [
            f"{entry.id}: {check}"
            for entry in self.entries
            for check in entry.check or ()
            if entry.scale in ("quick", scale) and not any(_begins(claim.name, check) for claim in claims)
        ]


def register_of(package: str) -> Register | None:
    """The register of a study's package; None: it has none.

    Raises
    ------
    InputError
        It is refused; the message names the file and the entry.
    """
    if not hasattr(importlib.import_module(package), "__path__"):
        return None  # a module of one file has no data beside it
    path = resources.files(package) / FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    return parsed(text, str(path))


def parsed(text: str, path: str) -> Register:
    """The register that a text holds; `path` is for messages.

    Raises
    ------
    InputError
        As `register_of`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from None
    source, tables = document.pop("source", ""), document.pop("claim", [])
    if not isinstance(source, str) or not source:
        raise InputError(f"{path}: source: missing; write what is cited")
    if document or not isinstance(tables, list):
        raise InputError(f"{path}: found {sorted(document) or tables!r}; accepted: source, and tables [[claim]]")
    entries: list[Entry] = []
    for number, table in enumerate(tables, 1):
        name = table.get("id", f"claim {number}") if isinstance(table, dict) else f"claim {number}"
        entries.append(validated(Entry, table, f"{path}: {name}"))
    ids = [each.id for each in entries]
    if twice := sorted({each for each in ids if ids.count(each) > 1}):
        raise InputError(f"{path}: id: found twice: {', '.join(twice)}; accepted: each once")
    return Register(source, entries)


def _begins(name: str, check: str) -> bool:
    """True if a claim's name is, or begins with, a check up to the end of a word or number."""
    rest = name.removeprefix(check)
    return name.startswith(check) and (not check[-1].isalnum() or not re.match(r"[\w-]|\.\d", rest))
