"""Sections 5.1 and 5.2 by the model: Figs 6 to 9, and what the text says of throughput and delay.

The source computes section 5 without the access delay of its tables. Its figures have no printed values: a claim is the
share of what we computed for which what the text says of them holds. Points at which a reading of the formulas has no
fixed point (`FixedPoint.converged`) are left out: the printed ones jump. Figs 8, 12 and 13 are functions of two
variables, and drawn as maps.

References: Malouch & Liu, INRIA RR-4469, 2002, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style, cell_edges
from parshall.studies.artefact import Answers, Artefact
from parshall.studies.study import Case
from parshall_studies.diffserv import FixedPoint, Router, Sessions, fixed_point
from parshall_studies.rio.setting import (
    BURST_PACKETS,
    CAPACITY_PER_S,
    INSIDE,
    LONG_RTTS_S,
    OUTSIDE,
    OVERLAPPED,
    PAPER,
    RESERVED_PER_S,
    RTTS_S,
    Model,
    Setting,
    overlapped,
    surface,
)
from parshall_studies.rio.tables import nothing

LOWS_IN = np.linspace(20.0, 100.0, 17)
"""min_in of Figs 9 and 13, packets."""


def holds(artefact: str, label: str, parts: Sequence[NDArray[np.bool_]], note: str = "") -> Claim:
    """The claim that something holds at every point."""
    share = float(np.mean(np.concatenate([np.ravel(part) for part in parts])))
    return equal(artefact, f"share of what we computed for which {label}", 1.0, exactly(share), note=note)


def drawn(name: str, title: str, marks: Sequence[Grid | Line | Points | Guide], x: Axis, y: Axis) -> Chart:
    """A figure of one panel."""
    return Chart(name, title, Plot([Panel(marks, x, y)], "By the model; the source's figure has no printed values."))


def heat(x: FloatArray, y: FloatArray, values: FloatArray, label: str, *, log: bool = False) -> Grid:
    """A map over two axes, whose first and last cells begin and end at the ends of the axes."""
    columns, rows = (np.clip(cell_edges(at, log=each), at[0], at[-1]) for at, each in ((x, log), (y, False)))
    return Grid(columns, rows, values, label)


# --- 5.1: throughput


def throughput_claims(_: Answers, setting: Setting) -> list[Claim]:
    """Figs 6 and 7, and what the text says of section 4.1's sessions."""
    return [*_of_the_long(setting.model), *_of_section_4(setting.model), *_of_classes(setting.model)]


def _of_the_long(model: Model) -> Iterator[Claim]:
    ends = []
    by_probability = PAPER.by("reaching")
    for probability, published in by_probability.items():
        rates = model.overlapped(OVERLAPPED.in_probability, probability, long=True).session_per_s
        long_per_s = rates[-len(LONG_RTTS_S) :]
        reached = exactly(float(np.sum(long_per_s >= RESERVED_PER_S)))
        others = [Null(f"as many as at {at:g}", exactly(n)) for at, n in by_probability.items() if at != probability]
        note = f"packets/s: {', '.join(f'{rate:.3f}' for rate in long_per_s)}"
        quantity = f"sessions of 0.4 to 0.8 s that reach 40 packets/s at p_out^max = {probability:g}"
        yield equal("fig6", quantity, published, reached, note=note, nulls=others)
        ends.append(rates)
    low, high = ends
    label = "long sessions gain and short ones lose from p_out^max = 0.06 to 1"
    note = "the text has the two exchanged in one sentence of §5.1"
    yield holds("fig7", label, [high[-5:] > low[-5:], high[:50] < low[:50]], note)
    reaching = [int(np.sum(each >= RESERVED_PER_S)) for each in ends]
    label = "unequal sessions reach 40 packets/s more often at p_out^max = 1 than at 0.06"
    yield holds("section5", label, [np.array([reaching[1] > reaching[0]])], f"{reaching} of {len(low)}")


def _of_section_4(model: Model) -> Iterator[Claim]:
    solved = model.overlapped(OVERLAPPED.in_probability, OVERLAPPED.out_probability)
    label = f"a session of section 4.1 reaches {RESERVED_PER_S:g} packets/s"
    yield holds("section5", label, [solved.session_per_s >= RESERVED_PER_S])
    product = solved.session_per_s * solved.session_rtt_s
    apart = float(np.max(np.abs(product / product.mean() - 1)))
    note = f"a token bucket gives the same rate at each RTT; from {product.min():.3g} to {product.max():.3g} packets"
    quantity = "largest distance of rate times RTT from its mean over the sessions"
    null = Null("of the order of the values", exactly(1.0))
    yield equal("section5", quantity, 0.0, exactly(apart), within=PAPER.within("close"), note=note, nulls=[null])
    yield holds("section5", "out packets a second fall with the RTT", [np.diff(solved.session_out_per_s) < 0])


def _of_classes(model: Model) -> Iterator[Claim]:
    """§5.3: a class of sessions of one RTT."""
    alike = fixed_point(
        Sessions(np.full(100, 0.2), RESERVED_PER_S, BURST_PACKETS), overlapped(0.01, OUTSIDE), formulas=model.formulas
    )
    best = alike.session_per_s[int(np.where(alike.converged, alike.utilisation[:, 0], 0.0).argmax())]
    label = "sessions of one RTT all reach 40 packets/s at the p_out^max of the best utilisation"
    yield holds("section5", label, [best >= RESERVED_PER_S])


def throughput_section(_: Answers, setting: Setting) -> Section:
    """Figs 6 and 7."""
    rtts_ms = 1000 * np.array((*RTTS_S, *LONG_RTTS_S))
    sixth = [
        Line(
            rtts_ms,
            setting.model.overlapped(0.01, each, long=True).session_per_s,
            f"p_out^max = {each:g}",
            Style(number, number),
        )
        for number, each in enumerate(PAPER.by("reaching"))
    ]
    probabilities = np.geomspace(0.02, 1.0, 40)
    swept = setting.model.overlapped(0.01, probabilities, long=True).session_per_s
    seventh = [
        Line(probabilities, swept[:, i], f"RTT {rtts_ms[i]:.0f} ms", Style(k, k))
        for k, i in enumerate((0, 50, 99, 100, 102, 104))
    ]
    at, rate = Guide(RESERVED_PER_S, "reservation"), Axis("rate", "packets/s", minimum=0)
    figures = [
        drawn("fig6", "Throughput of sessions by RTT", [*sixth, at], Axis("RTT", "ms"), rate),
        drawn("fig7", "Throughput by p_out^max", [*seventh, at], Axis("p_out^max", log=True), rate),
    ]
    prose = (
        "Five sessions with round trips of 0.4 to 0.8 s join the hundred. At p_out^max = 0.06 none reaches its "
        "reservation. Dropping out-packets harder takes from the short sessions and gives to the long ones. At 1, "
        "four reach it with the formulas whose window jumps, and three with the others, of which the fourth has "
        "39.95 to 39.97 packets/s. No access delay is added here.",
    )
    return Section("Section 5.1: throughput", prose, figures=figures)


# --- 5.2: delay


def surfaces(setting: Setting) -> dict[str, Case]:
    """The steady states over p_in^max and p_out^max: of Fig. 8, of Figs 10 to 12, and with the long sessions."""
    model = setting.model
    return {
        "fig8": Case("section 5, Fig. 8", surface, (model, setting.most_in_probability)),
        "whole": Case("section 5, Figs 10 to 12", surface, (model,)),
        "long": Case("section 5, five long sessions", _long, (model,)),
    }


def _long(model: Model) -> FixedPoint:
    return surface(model, long=True)


def steps(values: FloatArray, solved: FixedPoint, axis: int) -> FloatArray:
    """Differences of neighbours along an axis, where both have a fixed point."""
    known = np.where(solved.converged, values, np.nan)
    steps = np.diff(known, axis=axis)
    return np.asarray(steps[np.isfinite(steps)])


@cache
def _by_thresholds(model: Model, probability: float) -> FixedPoint:
    """Fig. 9: steady states by min_in, min_out = 20."""
    return model.solve(Router(CAPACITY_PER_S, LOWS_IN, 100, 0.01, 20.0, 100, probability))


def delay_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Figs 8 and 9, and what goes with them."""
    solved: FixedPoint = answers["fig8"]
    queue, used = solved.queue_packets[..., 0], solved.utilisation[..., 0]
    known = np.where(solved.converged, queue, np.nan)
    by_out, by_in = (float(np.nanmean(np.nanmax(known, axis) - np.nanmin(known, axis))) for axis in (1, 0))
    note = (
        f"{by_out:.1f} and {by_in:.1f} packets, means over the other one; p_in^max to {setting.most_in_probability:g}"
    )
    quantity = "range of the mean queue with p_out^max less that with p_in^max"
    made = [
        holds("fig8", "the mean queue is longest with p_in^max = 0", [queue[0] >= np.nanmax(known, axis=0) - 1e-9]),
        holds("fig8", "a lower p_out^max lengthens the mean queue", [steps(queue, solved, 1) < 0]),
        holds("fig8", "a lower p_out^max raises utilisation", [steps(used, solved, 1) < 0]),
        sign("fig8", quantity, 1, exactly(by_out - by_in), note),
    ]
    for probability in (0.06, 0.5):
        lowered = _by_thresholds(setting.model, probability).utilisation[:, 0]
        label = "the use of the link varies by less than 0.5 % with min_in, and is best at min_in = max_in"
        made.append(
            holds(
                "fig9",
                f"{label}, p_out^max = {probability:g}",
                [np.array([np.ptp(lowered) < 0.005, np.argmax(lowered) == lowered.size - 1])],
            )
        )
    return made


def delay_section(answers: Answers, setting: Setting) -> Section:
    """Figs 8 and 9."""
    solved: FixedPoint = answers["fig8"]
    ninth: list[Line] = []
    for number, probability in enumerate((0.06, 0.5)):
        for low in (20.0, 60.0):
            found = setting.model.solve(Router(CAPACITY_PER_S, LOWS_IN, 100, 0.01, low, 100, probability))
            name = f"p_out^max = {probability:g}, min_out = {low:g}"
            ninth.append(Line(LOWS_IN, found.queue_packets[:, 0], name, Style(len(ninth), number)))
    inside = setting.most_in_probability * INSIDE
    eighth = heat(OUTSIDE, inside, solved.queue_packets[..., 0], "mean queue, packets", log=True)
    x, y = Axis("p_out^max", log=True), Axis("p_in^max")
    figures = [
        drawn("fig8", "Mean queue by the drop probabilities (section 4.1's thresholds)", [eighth], x, y),
        drawn(
            "fig9",
            "Mean queue by the lower thresholds",
            ninth,
            Axis("min_in", "packets"),
            Axis("mean queue", "packets", minimum=0),
        ),
    ]
    prose = (
        "The delay is bounded by max_in/C. Below that bound the mean queue is governed by p_out^max: the lower it is, "
        "the better the link is used, which is against the long sessions of section 5.1. Tail drop for in-packets "
        "(p_in^max = 0, or min_in = max_in) costs nothing.",
    )
    return Section("Section 5.2: delay", prose, figures=figures)


THROUGHPUT: Artefact[Setting] = Artefact("figs 6, 7", nothing, throughput_claims, throughput_section)
DELAY: Artefact[Setting] = Artefact("figs 8, 9", surfaces, delay_claims, delay_section)
