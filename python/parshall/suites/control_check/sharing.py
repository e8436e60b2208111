"""Flows of one control among themselves: four alike, two with RTTs as 1 to 4, and a second one that comes later.

| row | what |
| --- | --- |
| Jain's index | of the goodputs of four flows, `parshall.analysis.stats.fairness` |
| least share | the smallest of them over an equal share; below 1 % is starvation, as in `parshall.report.starved` |
| RTT fairness | goodput with 20 ms over that with 80 ms |
| convergence | from the second flow's start until Jain's index of both is 0.9, as in `results.quantities.fairness` |

References: RFC 9743 §5.1.4; R. Jain, D. Chiu, W. Hawe, DEC TR-301, 1984.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from parshall.analysis.stats.claim_rules import at_least
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.report.starved import SHARE
from parshall.results.quantities.fairness import convergence
from parshall.results.quantities.tables import Tables
from parshall.suites.control_check.card import CardRow, interval
from parshall.suites.control_check.networks import WARM_UP_S, Control, flow, network
from parshall.suites.control_check.running import Key, Reading, Readings, RepetitionCourse

FLOWS = 4
_DURATION_S = 40 + WARM_UP_S
_SECOND_STARTS_S = 10
_SAMPLES_S = 0.5
SEEN_S = 40
"""Longest wait for convergence, in seconds."""


def courses(controls: Mapping[str, Control]) -> dict[Key, RepetitionCourse]:
    """The three courses of each control."""
    made: dict[Key, RepetitionCourse] = {}
    for name, control in controls.items():
        four = flow("four", control, count=FLOWS, start={"uniform": ["0 s", "1 s"]})
        short, long = flow("short", control, rtt="20 ms"), flow("long", control, rtt="80 ms")
        second = flow("second", control, start=f"{_SECOND_STARTS_S} s")
        until_s = _SECOND_STARTS_S + SEEN_S
        later = network([flow("first", control), second], until_s, warm_up_s=0, samples_s=_SAMPLES_S)
        made["four", name] = RepetitionCourse(network([four], _DURATION_S), _shares)
        made["rtts", name] = RepetitionCourse(network([short, long], _DURATION_S), _ratio)
        made["later", name] = RepetitionCourse(later, _convergence, ("flow_samples",))
    return made


def _shares(tables: Mapping[str, pl.DataFrame]) -> Reading:
    goodputs = tables["flows"]["goodput_bps"].to_list()
    return {"jain": jain(goodputs), "least": FLOWS * min(goodputs) / sum(goodputs) if sum(goodputs) else None}


def _ratio(tables: Mapping[str, pl.DataFrame]) -> Reading:
    short, long = (tables["flows"].filter(group=name)["goodput_bps"][0] for name in ("short", "long"))
    return {"ratio": short / long if long else None}


def _convergence(tables: Mapping[str, pl.DataFrame]) -> Reading:
    delivered = pl.col("delivered_bytes").cast(pl.Int64)
    first = pl.col("flow") == pl.col("flow").min()
    rates = (
        tables["flow_samples"]
        .sort("flow", "time_s")
        .with_columns(
            goodput_bps=8.0 * (delivered - delivered.shift(1).over("flow").fill_null(0)) / _SAMPLES_S,
            start_s=pl.when(first).then(0.0).otherwise(float(_SECOND_STARTS_S)),
            completion_s=pl.lit(float(_SECOND_STARTS_S + SEEN_S)),
        )
        .filter(pl.col("time_s") > pl.col("start_s"))
    )
    return {"convergence_s": next(iter(convergence(Tables({"rates": rates}.get)).values()), None)}


def rows(readings: Readings, own: str, names: list[str]) -> list[CardRow]:
    """One row a measure."""

    def of(course: str, key: str, name: str) -> list[float | None]:
        return [reading[key] for reading in readings[course, name]]

    def row(course: str, key: str, label: str, unit: str = "", claim: Claim | None = None) -> CardRow:
        values = {name: interval(of(course, key, name)) for name in names}
        return CardRow("fairness", f"{course}_{key}", label, unit, values, claim=claim)

    least = f"least share of {FLOWS} flows, of an equal one"
    fed = not_starved("RFC 9743 §5.1.4", least, of("four", "least", own))
    later = row("later", "convergence_s", "a second flow's convergence", "s")
    return [
        row("four", "jain", f"Jain's index of {FLOWS} flows"),
        row("four", "least", least, "ratio", fed),
        row("rtts", "ratio", "goodput at 20 ms over that at 80 ms"),
        _with_reasons(later, {name: of("later", "convergence_s", name) for name in names}),
    ]


def not_starved(asked_by: str, quantity: str, shares: Sequence[float | None]) -> Claim:
    """The claim that no share of an equal one is starvation.

    It is of the least of these repetitions, which is known exactly: a mean would hide one that starves.
    """
    known = [share for share in shares if share is not None]
    least = exactly(min(known)) if len(known) == len(shares) else None
    return at_least(asked_by, quantity, SHARE, least, "in every repetition")


def _with_reasons(row: CardRow, times: Mapping[str, Sequence[float | None]]) -> CardRow:
    """The row of convergence, with how often it was seen where it was not in each repetition: then it has no mean."""
    seen = {name: sum(time is not None for time in own) for name, own in times.items()}
    some = {name: number for name, number in seen.items() if number < len(times[name])}
    return replace(
        row, lacking={name: f"within {SEEN_S} s in {number} of {len(times[name])}" for name, number in some.items()}
    )
