"""The conformance kit of ``crates/congestion/src/conformance``, asked of one control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from parshall.scenario import controls

SERIES, EVENTS = 50, 300
"""Random series of events, and events of each."""


@dataclass(frozen=True)
class Finding:
    """A check of the kit, and what it found: the yes or no of a program, and no claim, which has a value.

    Parameters
    ----------
    name, sentence, source
        The check: its name, what must hold, and who asks for it.
    required
        Whether a control that violates it fails; otherwise it is advice.
    outcome
        ``passed``, ``violated``, ``not_reached`` (the control failed before that could be seen), or ``not_asked`` (it
        does not concern a control of this kind).
    series, event
        Of the first violation: number of the series of random events, None for a scripted course, and of the event in
        it.
    happened, found
        What happened then, and what the control did.
    """

    name: str
    sentence: str
    source: str
    required: bool
    outcome: str
    series: int | None = None
    event: int | None = None
    happened: str | None = None
    found: str | None = None

    @property
    def fails(self) -> bool:
        """True if the control fails by it."""
        return self.required and self.outcome in {"violated", "not_reached"}

    @property
    def text(self) -> str:
        """Return the finding in words."""
        if self.outcome != "violated":
            return self.outcome.replace("_", " ")
        where = "" if self.series is None else f" (event {self.event} of series {self.series})"
        return f"{'violated' if self.required else 'advice'}: {self.happened}: {self.found}{where}"

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return asdict(self)


def conformance(resolved: Mapping[str, Any], seed: int) -> list[Finding]:
    """Try a resolved congestion control."""
    events = controls.conformance(resolved, seed=seed, series=SERIES, events=EVENTS)
    return [Finding(**each) for each in events]
