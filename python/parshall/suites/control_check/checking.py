"""`check`: the whole card of a control."""

from __future__ import annotations

import keyword
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from parshall.campaign import Execution
from parshall.foundations.errors import ControlError, InputError
from parshall.scenario import Scenario, controls
from parshall.scenario.schema import reading
from parshall.scenario.schema.catalog import family
from parshall.scenario.schema.external import declared
from parshall.scenario.schema.problems import did_you_mean
from parshall.suites.control_check import alone, harming, response, sharing
from parshall.suites.control_check.card import RIVALS, Card
from parshall.suites.control_check.conformance import Finding, conformance
from parshall.suites.control_check.networks import Control, flow, network
from parshall.suites.control_check.running import done

REPETITIONS = 5
CATALOG = "the catalog"


def check(
    control: Any,
    parameters: Mapping[str, Any] | Iterable[str] = (),
    *,
    seed: int = 1,
    repetitions: int = REPETITIONS,
    measured: bool = True,
    execution: Execution | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Card:
    """Put a congestion control to the test, and measure it beside Reno and CUBIC.

    Parameters
    ----------
    control
        A class, or the place of its code as ``FILE.py:CLASS`` or ``LIBRARY.so``; or a name: of the catalog, or one that
        was declared (`parshall.scenario.controls.declare`).
    parameters
        Of the control, by name, or as assignments such as ``increase=2``.
    seed
        What all random numbers follow from.
    repetitions
        Of each simulation; their spread gives the intervals.
    measured
        Whether to simulate; otherwise there is the conformance kit alone, which takes a second.
    execution
        Who simulates, and where what was measured is kept.
    progress
        Told in a few words what was simulated.

    Raises
    ------
    InputError
        There is no such control, or its parameters are refused.
    ParshallError
        As `parshall.campaign.calls.run_calls`.
    """
    if repetitions < 1:
        raise InputError(f"repetitions: found {repetitions}; accepted: 1 or more")
    begun = time.monotonic()
    name, source = _declared(control)
    value: dict[str, Any] = {"name": name}
    reading.apply(value, parameters if isinstance(parameters, Mapping) else tuple(parameters))
    scenario = Scenario.from_document({**network([flow("one", value)], 20), "seed": seed})
    findings = conformance(scenario.resolve()["flows"][0]["congestion_control"], seed)
    label = f"{name} (own)" if name in RIVALS and len(value) > 1 else name
    card = Card(label, source, seed, repetitions, findings, wall_s=time.monotonic() - begun)
    if not measured:
        return replace(card, not_measured="not asked for")
    failed = _failure(findings)
    if failed is not None:
        return replace(card, not_measured=failed)
    compared: dict[str, Control] = {label: value, **{rival: rival for rival in RIVALS if rival != label}}
    try:
        card = _measured(card, compared, execution or Execution(), progress)
    except ControlError as error:
        card = replace(card, not_measured=str(error))
    return replace(card, wall_s=time.monotonic() - begun)


def _measured(card: Card, compared: dict[str, Control], by: Execution, progress: Callable[[str], None]) -> Card:
    names = list(compared)
    parts = (response, alone, sharing, harming)
    courses = {key: course for part in parts for key, course in part.courses(compared).items()}
    readings = done(courses, card.seed, card.repetitions, by, progress)
    rows = [
        *response.rows(readings, card.control, names),
        *alone.rows(readings, names),
        *sharing.rows(readings, card.control, names),
        *harming.rows(readings, card.control, names),
    ]
    return replace(card, rows=rows, trajectories=alone.trajectories(readings, names))


def _failure(findings: list[Finding]) -> str | None:
    """Return the reason why a control cannot be simulated; None: it can."""
    failed = {"calls", "values"}
    broken = [finding for finding in findings if finding.name in failed and finding.outcome == "violated"]
    return f"it fails in the conformance kit: {broken[0].happened}: {broken[0].found}" if broken else None


def _declared(control: Any) -> tuple[str, str]:
    """Return the name of a control and its origin; it can be named in scenarios from now on."""
    catalog = [entry.name for entry in family("congestion_controls")]
    if isinstance(control, str | Path):
        place = str(control)
        if place in catalog:
            return place, CATALOG
        known = declared(place)
        if known is not None:
            return place, known.source
        if place.isidentifier():
            raise InputError(
                f'control: found "{place}"; accepted: FILE.py:CLASS, LIBRARY.so, or a name of the catalog'
                f"{did_you_mean(place, catalog)}"
            )
        title = place.rpartition(":")[2] if ".py:" in place else Path(place).stem
    else:
        title = getattr(control, "__name__", type(control).__name__)
    name = re.sub(r"\W", "_", title).lower()
    if name in catalog or not name.isidentifier() or keyword.iskeyword(name):
        name = f"own_{name}"
    controls.declare({name: control})
    made = declared(name)
    return name, made.source if made is not None else title
