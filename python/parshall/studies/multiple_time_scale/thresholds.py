"""Figs 6 and 7: throughput against the aggressiveness threshold, at three loads.

A curve is *unimodal* if its best inner point is above both ends, *increasing* or *decreasing* if its ends differ and no
inner point is above the better end; each difference is paired and its 95 % interval is on one side of 0. The first
end is the plain control (theta = 0). Anything else is *flat*. The best point is chosen by the same data, so that a peak
is found a little too easily.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Mark, Panel, Plot
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import NAMES, curve, sign_of, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.published import LOADS_MBPS, THRESHOLD_PEAK

PUBLISHED = {5.0: "unimodal", 2.5: "increasing", 7.5: "decreasing"}
CONTROLS = ("reno", "tcp_rate")


def thetas(size: Size, rtt_ms: int) -> tuple[int, ...]:
    """Thresholds, the plain control first; at the shortest RTT, where curves fall from the beginning, fewer."""
    return (0, *(size.thresholds if rtt_ms > size.rtts_ms[0] else size.near_thresholds))


def steered(control: str, load: float, rtt_ms: int, threshold: int) -> Point:
    """A connection that is aggressive up to a threshold; 0: never."""
    parameters = (("schedule", "threshold"), ("threshold", float(threshold)), ("aggressiveness", 6.0))
    return Point(1.05, load, rtt_ms, control, parameters if threshold else None)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for control in CONTROLS:
        for rtt in (size.rtts_ms[0], size.rtts_ms[-1]):
            for load in LOADS_MBPS:
                yield from (steered(control, load, rtt, each) for each in thetas(size, rtt))


def shape(rows: Sequence[NDArray[np.float64]]) -> str:
    """What a curve looks like; a vector of seeds a point.

    Examples
    --------
    >>> noise = np.array([0.0, 0.01, -0.01])
    >>> shape([1 + noise, 2 - noise, 1 + 2 * noise]), shape([1 + noise, 1.5 - noise, 2 + noise])
    ('unimodal', 'increasing')
    >>> shape([1 + noise, 1 - noise, 1 - 2 * noise])
    'flat'
    """
    first, last = rows[0], rows[-1]
    best = max(rows[1:-1], key=lambda row: float(row.mean()))
    over_first, over_last = sign_of(mean_interval(best - first)), sign_of(mean_interval(best - last))
    ends = sign_of(mean_interval(last - first))
    if over_first > 0 and over_last > 0:
        return "unimodal"
    if ends > 0 and over_last <= 0:
        return "increasing"
    if ends < 0 and over_first <= 0:
        return "decreasing"
    return "flat"


def _rows(found: Results, size: Size, control: str, load: float, rtt: int) -> list[NDArray[np.float64]]:
    return [found.goodput(steered(control, load, rtt, each)) for each in thetas(size, rtt)]


def checks(found: Results, size: Size) -> Iterator[Check]:
    """The shapes and the peak, at both RTTs: the source does not say which."""
    yield from _peaks(found, size)
    for artefact, control in (("fig6", "reno"), ("fig7", "tcp_rate")):
        for rtt in (size.rtts_ms[0], size.rtts_ms[-1]):
            for load in LOADS_MBPS:
                rows = _rows(found, size, control, load, rtt)
                ours, wanted = shape(rows), PUBLISHED[load]
                ends = mean_interval((rows[-1] - rows[0]) / rows[0])
                peak = thetas(size, rtt)[int(np.argmax([row.mean() for row in rows]))]
                yield Check(
                    artefact,
                    f"{NAMES[control]} against the threshold is {wanted} at {load:g} Mbit/s, RTT {rtt} ms (1: yes)",
                    1.0,
                    float(ours == wanted),
                    None,
                    None,
                    0.0,
                    f"{'confirmed' if ours == wanted else f'not confirmed: {ours}'}; always aggressive against plain "
                    f"{signed(ends, '%')}; best threshold {peak}",
                )


def _peaks(found: Results, size: Size) -> Iterator[Check]:
    """Where the curves peak that the source draws as unimodal."""
    for rtt in (size.rtts_ms[0], size.rtts_ms[-1]):
        rows = _rows(found, size, "reno", 5.0, rtt)
        peak = thetas(size, rtt)[int(np.argmax([row.mean() for row in rows]))]
        name = f"best threshold of Reno at 5 Mbit/s, RTT {rtt} ms"
        yield Check("fig6", name, float(THRESHOLD_PEAK), float(peak), None, None, 1.0, "0: plain, 8: always aggressive")


def section(found: Results, size: Size) -> Section:
    """The figures and their values."""
    columns = thetas(size, size.rtts_ms[-1])
    drawn, listed = [], []
    for artefact, control in (("fig6", "reno"), ("fig7", "tcp_rate")):
        for rtt in (size.rtts_ms[0], size.rtts_ms[-1]):
            marks: list[Mark] = []
            for number, load in enumerate(LOADS_MBPS):
                rows = _rows(found, size, control, load, rtt)
                marks += curve([float(theta) for theta in thetas(size, rtt)], rows, f"{load:g} Mbit/s", number)
                means = {theta: f"{row.mean():.3f}" for theta, row in zip(thetas(size, rtt), rows, strict=True)}
                listed.append((NAMES[control], f"{rtt}", f"{load:g}", *(means.get(theta, "") for theta in columns)))
            panel = Panel(marks, Axis("aggressiveness threshold θ"), Axis("reliable throughput", "Mbit/s"))
            caption = (
                f"{NAMES[control]} at an RTT of {rtt} ms, A = 6; θ = 0 is the plain control, θ = 8 always aggressive."
            )
            drawn.append(
                Drawn(
                    f"{artefact}-{rtt}",
                    f"Throughput against the threshold ({artefact.replace('fig', 'Fig. ')})",
                    Plot([panel], caption),
                )
            )
    header = ("control", "RTT (ms)", "load (Mbit/s)", *(f"θ = {theta}" for theta in columns))
    return Section(
        "Threshold curves",
        ("How selective must aggressiveness be? Means over seeds, Mbit/s.",),
        [Table("", header, listed, numbers=range(1, len(header)))],
        drawn,
    )
