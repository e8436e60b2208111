"""Does it still pay? CUBIC with SACK and an initial window of 10 at 1 Gbit/s, beside connections of today.

The clients' files are as heavy-tailed as the source's, bring half of the capacity, and are sent by CUBIC; the buffer is
the bandwidth-delay product of their RTT. Beside the measured connection there are an endless one of Reno and one of
CUBIC with its RTT: what they, and the clients, lose is the harm of steering.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.verdict import sign_of
from parshall.report.description import listed
from parshall.report.document import Section, Table
from parshall_studies.multiple_time_scale import harm
from parshall_studies.multiple_time_scale.claims import NAMES, STEERED, beyond, signed
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import TODAY
from parshall_studies.multiple_time_scale.rtt import blind

RTTS_MS = (30, 150)
CONTROLS = ("cubic", "reno")


def steered(control: str, rtt_ms: int) -> Point:
    """A steered connection of today's kind."""
    return Point(1.05, 500.0, rtt_ms, control, STEERED, network=TODAY, competing=harm.COMPETING)


def _points() -> Iterator[Point]:
    return (steered(control, rtt) for control in CONTROLS for rtt in RTTS_MS)


def points(size: Size) -> Iterator[Point]:  # noqa: ARG001 - as the other parts
    """Everything that is shown."""
    for point in _points():
        yield from (point, point.plain, blind(point))


def checks(results: Results, size: Size) -> Iterator[Claim]:  # noqa: ARG001 - as the other parts
    """Gains, whether they are those of prediction, and what the others lose."""
    for point in _points():
        name = f"{NAMES[point.control]} (SACK) at 1 Gbit/s, RTT {point.rtt_ms} ms"
        yield beyond(f"gain of {name}", results.gain(point))
        yield beyond(f"gain of {name} over the same mean slope without prediction", results.over(point, blind(point)))
        for who, change in harm.losses(results, point).items():
            yield beyond(f"{who} beside steered {name}", change)


def section(results: Results, size: Size) -> Section:
    """The paragraph and the table."""
    rows = [
        (*row[:4], signed(mean_interval(results.over(point, blind(point))), "%"), *row[4:])
        for point, row in ((point, harm.row(results, point)) for point in _points())
    ]
    header = (*harm.HEADER[:4], "gain over the mean slope", *harm.HEADER[4:])
    return Section(
        "Does it still pay?",
        (
            "At 1 Gbit/s, with CUBIC clients of 500 Mbit/s, SACK and initial windows of 10, beside an endless "
            f"connection of Reno and one of CUBIC ({size.fast_seeds} seeds of {size.fast_duration_s:g} s).",
            answer(results),
        ),
        [Table("", header, rows, numbers=range(1, len(header)))],
    )


def answer(results: Results) -> str:
    """Whether it pays, for whom, and at whose expense."""
    all_points = list(_points())
    gains = [f"{harm.where(point)} {signed(mean_interval(results.gain(point)), '%')}" for point in all_points]
    paying = [point for point in all_points if _sign(results.gain(point)) > 0]
    first = {0: "It does not pay", len(all_points): "It pays for who is steered"}.get(
        len(paying), f"It pays in {len(paying)} of {len(all_points)} cases"
    )
    beaten = [harm.where(point) for point in all_points if _sign(results.over(point, blind(point))) > 0]
    prediction = (
        f"prediction gains over a slope that is always 3.5 for {listed(beaten)}"
        if beaten
        else "in none of them does prediction gain anything that shows over a slope that is always 3.5"
    )
    shares, network = harm.changes(results, all_points)
    lows = [mean_interval(change).low for _, change in shares]
    least = min((low for low in lows if low is not None), default=0.0)
    taken, costs = harm.shown_changes(shares, -1), harm.shown_changes(network, 1)
    others = (
        f"It takes from others: {taken}."
        if taken
        else f"What the others lose does not show, though the intervals are wide: the worst one ends at {least:+.0%}."
    )
    pays = f"The network pays too: {costs}." if costs else "Loss rate and queueing delay grow in no case."
    return f"{first}: {listed(gains)}; {prediction}. {others} {pays}"


def _sign(values: NDArray[np.float64]) -> int:
    return sign_of(mean_interval(values))
