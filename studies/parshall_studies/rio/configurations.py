"""The effects on Tables 1 to 3 of the settings of ns-2 that the source leaves open, one at a time.

Printed model, printed simulation and ours are on one scale (figure ``tables_scale``): 0 is the printed model, 1 the
printed simulation. The least timeout and the clock decide most: they say how long a session is silent, and how many
tokens it leaves unused (`parshall_studies.ns2` has the defaults of ns-2 by date). The joint design moves all at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Panel, Plot, Points, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies import ns2
from parshall_studies.rio.setting import PAPER, ROUTERS, Setting, scenario
from parshall_studies.rio.tables import ONE_DIGIT, UNITS, measured, title

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "ns-2 before May 2001": {},
    "limited transmit": {"limited_transmit": True},
    "a clock of 10 ms": {"rto_granularity": "10 ms"},
    "both, and a SYN: ns-2.35": ns2.LATER,
    "a least timeout of 0.5 s": {"min_rto": "500 ms"},
    "a least timeout of 1 s": {"min_rto": "1 s"},
    "an ACK for two packets": {"delayed_ack": "100 ms"},
    "no window limit": {"receive_window": "unlimited"},
    "NewReno": {"recovery": "newreno"},
    "Tahoe": {"recovery": "tahoe"},
}

_ENDS = (-4.0, 6.0)
"""Of the axis; what is beyond stands at its end."""


def points(setting: Setting) -> dict[Any, Measurement]:
    """The routers of section 4 with other configurations, in shorter runs."""
    short = replace(setting, duration_s=min(300.0, setting.duration_s / 2), repetitions=min(4, setting.repetitions))
    return {
        (name, table): Measurement(
            f"{title(table)}'s router, {name}", scenario(curves, short, **tcp), measured, (short.duration_s,)
        )
        for name, tcp in VARIANTS.items()
        for table, curves in ROUTERS.items()
    }


def claims(answers: Answers, _: Setting) -> list[Claim]:
    """How many of the printed values each configuration brings nearer to the source's simulation than its model is."""
    quantity = "values of Tables 1 to 3 within tolerance, {}"
    return [
        reported("configurations", quantity.format(name), exactly(sum(map(_is_near, _places(answers, name)))), "of 14")
        for name in VARIANTS
    ]


def _is_near(place: tuple[str, float, Interval]) -> bool:
    return abs(place[1] - 1) <= 0.5


def _places(answers: Answers, name: str) -> list[tuple[str, float, Interval]]:
    """By row of the tables, where a configuration's value is: 0 at the printed model, 1 at the printed simulation."""
    found = []
    for table in ROUTERS:
        model, simulated = (PAPER[f"{kind}.{table}"] for kind in ("analytic", "simulated"))
        for quantity in UNITS:
            if (table, quantity) != ONE_DIGIT:
                ours, apart = answers[name, table].interval(quantity), simulated[quantity] - model[quantity]
                ends = [
                    ((ours.mean if end is None else end) - model[quantity]) / apart for end in (ours.low, ours.high)
                ]
                mean = (ours.mean - model[quantity]) / apart
                found.append((f"{title(table)}, {quantity}", mean, Interval(mean, min(ends), max(ends), ours.n)))
    return found


def section(answers: Answers, _: Setting) -> Section:
    """Printed model, printed simulation and ours on one scale, and what each configuration moves."""
    by_name = {name: _places(answers, name) for name in VARIANTS}
    default, *others = by_name.values()
    names = tuple(name for name, *_ in default)
    at = np.arange(len(names), dtype=np.float64)
    others_x = np.clip([place for each in others for _, place, _ in each], *_ENDS)
    ends = [(each.low or each.mean, each.mean, each.high or each.mean) for _, _, each in default]
    low, mean, high = np.clip(np.array(ends).T, *_ENDS)
    marks: list[Points | Guide] = [
        Points(others_x, np.tile(at, len(others)), "other configurations", Style(1, faint=True)),
        Points(
            mean,
            at,
            "ns-2 before May 2001",
            Style(0),
            low,
            high,
            along="x",
        ),
        Guide(0.0, "model", along="x"),
        Guide(1.0, "simulation", along="x"),
    ]
    panel = Panel(
        marks, Axis("(ours - model)/(simulation - model)", minimum=_ENDS[0], maximum=_ENDS[1]), Axis("", names=names)
    )
    header = ("Configuration", *names, "nearer to 1")
    rows = [
        (name, *(f"{place:.1f}" for _, place, _ in each), f"{sum(map(_is_near, each))} of {len(each)}")
        for name, each in by_name.items()
    ]
    prose = (
        "The source does not say how its ns-2 was configured. The first row takes the defaults that ns-2 had before "
        "May 2001, the others change one thing each. What decides is how long a session is silent after a loss: "
        "meanwhile its bucket fills, and overflows. With ns-2.35's clock of 10 ms and limited transmit silences are "
        "shorter, so that more packets are in profile, fewer out, and these lose more (p_out of Table 2); a least "
        "timeout of 1 s overdoes it. NewReno and ACKs for two packets are far off. Where the configurations spread "
        "over more than the distance from 0 to 1, the printed value tells nothing of which one it was.",
    )
    chart = Chart("tables_scale", "Printed model, printed simulation and ours", Plot([panel], "Tables 1 to 3."))
    tables = [Table("0: the printed model, 1: the printed simulation", header, rows, numbers=range(1, len(header)))]
    return Section("Section 4: the simulator's configuration", prose, tables=tables, figures=[chart])


ARTEFACT: Artefact[Setting] = Artefact("configurations", points, claims, section)
