"""Section 5 by the model: Figs 6 to 13, and what its text says of throughput, delay and loss.

The source computes section 5 without the access delay of its tables. Its figures have no printed values: a claim is the
share of what we computed for which what the text says of them holds. Points at which a reading of the formulas has no
fixed point (`FixedPoint.converged`) are left out: the printed ones jump. Figs 8, 12 and 13 are functions of two
variables, and drawn as maps.

References: Malouch & Liu, INRIA RR-4469, 2002, §5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from parshall.analysis.models.diffserv import FixedPoint, Router, Sessions, fixed_point
from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style, cell_edges
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall.studies.study import Case
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
    scenario,
    surface,
)
from parshall_studies.rio.tables import Measured, measured, nothing

SLA_P_IN, LEAST_OUT = PAPER.number("sla_in_loss"), PAPER.number("least_out_probability")
_BOUNDS = (0.002, 0.004, 0.006, 0.008)
"""Bounds of p_in for which a feasible region has an edge."""
_SAME = 1e-6
_LOWS_OUT = np.linspace(5.0, 95.0, 19)
_LOWS_IN = np.linspace(20.0, 100.0, 17)


def holds(artefact: str, label: str, parts: Sequence[NDArray[np.bool_]], note: str = "") -> Claim:
    """The claim that something holds at every point."""
    share = float(np.mean(np.concatenate([np.ravel(part) for part in parts])))
    return equal(artefact, f"share of what we computed for which {label}", 1.0, exactly(share), note=note)


def _drawn(name: str, title: str, marks: Sequence[Grid | Line | Points | Guide], x: Axis, y: Axis) -> Chart:
    return Chart(name, title, Plot([Panel(marks, x, y)], "By the model; the source's figure has no printed values."))


def _map(x: FloatArray, y: FloatArray, values: FloatArray, label: str, *, log: bool = False) -> Grid:
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
        _drawn("fig6", "Throughput of sessions by RTT", [*sixth, at], Axis("RTT", "ms"), rate),
        _drawn("fig7", "Throughput by p_out^max", [*seventh, at], Axis("p_out^max", log=True), rate),
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


def _steps(values: FloatArray, solved: FixedPoint, axis: int) -> FloatArray:
    """Differences of neighbours along an axis, where both have a fixed point."""
    known = np.where(solved.converged, values, np.nan)
    steps = np.diff(known, axis=axis)
    return np.asarray(steps[np.isfinite(steps)])


@cache
def _by_thresholds(model: Model, probability: float) -> FixedPoint:
    """Fig. 9: steady states by min_in, min_out = 20."""
    return model.solve(Router(CAPACITY_PER_S, _LOWS_IN, 100, 0.01, 20.0, 100, probability))


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
        holds("fig8", "a lower p_out^max lengthens the mean queue", [_steps(queue, solved, 1) < 0]),
        holds("fig8", "a lower p_out^max raises utilisation", [_steps(used, solved, 1) < 0]),
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
            found = setting.model.solve(Router(CAPACITY_PER_S, _LOWS_IN, 100, 0.01, low, 100, probability))
            name = f"p_out^max = {probability:g}, min_out = {low:g}"
            ninth.append(Line(_LOWS_IN, found.queue_packets[:, 0], name, Style(len(ninth), number)))
    inside = setting.most_in_probability * INSIDE
    eighth = _map(OUTSIDE, inside, solved.queue_packets[..., 0], "mean queue, packets", log=True)
    x, y = Axis("p_out^max", log=True), Axis("p_in^max")
    figures = [
        _drawn("fig8", "Mean queue by the drop probabilities (section 4.1's thresholds)", [eighth], x, y),
        _drawn(
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


# --- 5.3: drop probability


@cache
def least_out(bound: float, model: Model) -> float:
    """The least p_out^max that keeps p_in below a bound, with tail drop for in-packets."""
    return float(
        brentq(lambda out: float(model.overlapped(0.0, out).loss_in[0]) - bound, 1e-3, 1.0, xtol=1e-7),
    )


@cache
def _thirteenth(model: Model, inside: float, outside: float) -> FixedPoint:
    """Fig. 13: steady states by min_out (rows) and min_in (columns); min_in is at least min_out."""
    lows = np.maximum(_LOWS_IN, _LOWS_OUT[:, None])
    return model.solve(Router(CAPACITY_PER_S, lows, 100, inside, _LOWS_OUT[:, None], 100, outside))


def loss_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Figs 10 to 13, and the text's advice."""
    solved: FixedPoint = answers["whole"]
    lost, known = solved.loss_in[..., 0], solved.converged
    low, high = float(lost[0, -1]), float(lost[-1, 0])
    thirteenth = _thirteenth(setting.model, setting.fig13_in_probability, setting.fig13_out_probability)
    by_threshold = np.where(thirteenth.converged, thirteenth.loss_in[..., 0], np.inf)
    return [
        *_least(setting.model),
        holds(
            "fig11",
            "p_in falls with p_out^max, grows with p_in^max: regions have one edge",
            [_steps(lost, solved, 1) < 0, _steps(lost, solved, 0) > 0],
        ),
        holds(
            "fig12",
            "p_in is least at (0, 1) and largest at (1, 0) of (p_in^max, p_out^max)",
            [np.array([low == lost[known].min(), high == lost[known].max()])],
        ),
        reported("fig12", "lower bound of p_in", exactly(low), "at p_in^max = 0, p_out^max = 1"),
        reported("fig12", "upper bound of p_in", exactly(high), f"at p_in^max = 1, p_out^max = {OUTSIDE[0]:g}"),
        holds("fig13", "p_in is least with min_in = max_in", [by_threshold[:, -1] <= by_threshold.min(axis=1)]),
        *_of_the_edge(solved),
        *_of_all_constraints(answers["long"]),
    ]


def _least(model: Model) -> Iterator[Claim]:
    """The printed value has two decimals of a per cent, and is to suffice: a least one is rounded up."""
    least = least_out(SLA_P_IN, model)
    note = f"unrounded {100 * least:.5f} %; rounded up: what is printed suffices, and a hundredth less does not"
    quantity = "least p_out^max for p_in <= 0.006 at p_in^max = 0"
    yield equal("fig10", quantity, LEAST_OUT, exactly(np.ceil(1e4 * least) / 1e4), note=note)


def _of_the_edge(solved: FixedPoint) -> Iterator[Claim]:
    """Fig. 11: the best feasible pair, for each bound."""
    used, lost = np.where(solved.converged, solved.utilisation[..., 0], -1.0), solved.loss_in[..., 0]
    at_edge, falls = [], []
    for bound in _BOUNDS:
        feasible = lost <= bound
        row, column = np.unravel_index(np.where(feasible, used, -1.0).argmax(), used.shape)
        at_edge.append(column == 0 or not feasible[row, column - 1])
        edge = [np.interp(-bound, -lost[k], used[k]) for k in range(len(used)) if lost[k, -1] <= bound < lost[k, 0]]
        falls.append(np.argmax(edge) == 0)
    yield holds("fig11", "the feasible pair of the best utilisation is at the edge", [np.array(at_edge)])
    yield holds("fig11", "utilisation along the edge is best at p_in^max = 0", [np.array(falls)])


def _of_all_constraints(solved: FixedPoint) -> Iterator[Claim]:
    """§5.3 with the five long sessions: what p_in^max and p_out^max are good for."""
    known = solved.converged
    used, lost = (np.where(known, each[..., 0], np.nan) for each in (solved.utilisation, solved.loss_in))
    longest = np.where(known, solved.session_per_s[..., -1], np.nan)
    label = "the p_out^max of the best utilisation is the worst for the longest session"
    yield holds("section5", label, [np.nanargmax(used, axis=1) == np.nanargmin(longest, axis=1)])
    best = [used[0] >= np.nanmax(used, axis=0) - _SAME, lost[0] <= np.nanmin(lost, axis=0) + _SAME]
    whole = known[0]
    yield holds("section5", "p_in^max = 0 is the best, by utilisation and by p_in", [each[whole] for each in best])
    reached, both = solved.session_per_s >= RESERVED_PER_S, known[:-1] & known[1:]
    better = (reached[:-1] | ~reached[1:])[both]
    yield holds("section5", "a lower p_in^max takes no session below 40 packets/s", [better])


def loss_section(answers: Answers, setting: Setting) -> Section:
    """Figs 10 to 13."""
    lost = answers["whole"].loss_in[..., 0]
    feasible = np.where(lost <= SLA_P_IN, 1000 * lost, np.nan)
    least = Points([LEAST_OUT], [0.0], f"printed least p_out^max, {LEAST_OUT:g}", Style(1, 1))
    eleventh = [
        Line(*_edge(lost, bound), f"p_SLA = {bound:g}", Style(number, number)) for number, bound in enumerate(_BOUNDS)
    ]
    inside, outside = setting.fig13_in_probability, setting.fig13_out_probability
    thirteenth = _thirteenth(setting.model, inside, outside).loss_in[..., 0]
    ours = f"p_in^max = {inside:g}, p_out^max = {outside:g} (ours; not in the source)"
    x, y = Axis("p_out^max", log=True), Axis("p_in^max")
    tenth = _map(OUTSIDE, INSIDE, feasible, "p_in, per mille", log=True)
    twelfth = _map(OUTSIDE, INSIDE, 1000 * lost, "p_in, per mille", log=True)
    by_threshold = _map(
        _LOWS_IN, _LOWS_OUT, np.where(_LOWS_OUT[:, None] <= _LOWS_IN, 1000 * thirteenth, np.nan), "p_in, per mille"
    )
    figures = [
        _drawn("fig10", "Feasible region for p_in of at most 0.006", [tenth, least], x, y),
        _drawn("fig11", "Edges of feasible regions: feasible is below", eleventh, x, y),
        _drawn("fig12", "p_in by the drop probabilities", [twelfth], x, y),
        _drawn(
            "fig13",
            f"p_in by the lower thresholds, {ours}",
            [by_threshold],
            Axis("min_in", "packets"),
            Axis("min_out", "packets"),
        ),
    ]
    prose = (
        f"A loss of in-packets of at most {SLA_P_IN:g} needs p_out^max of at least "
        f"{100 * least_out(SLA_P_IN, setting.model):.3f} %, even with tail drop for in-packets; the source prints "
        f"{100 * LEAST_OUT:.2f} %. p_in lies between the two bounds of Fig. 12 whatever the probabilities; between "
        "them, the regions' edges (Fig. 11) start at p_in^max = 0, where the link is used best.",
    )
    return Section("Section 5.3: drop probability", prose, figures=figures)


def _edge(lost: FloatArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """Where p_in crosses a bound, for each p_in^max."""
    crossed = (lost[:, 0] > bound) & (lost[:, -1] <= bound)
    return np.array([np.interp(-bound, -row, OUTSIDE) for row in lost[crossed]]), INSIDE[crossed]


# --- the same points simulated: ours, since the source has its model alone


def simulated_points(setting: Setting) -> dict[float | str, Measurement]:
    """The networks of Fig. 6, and that of the printed least p_out^max."""
    five = replace(setting, window_packets=None)
    made: dict[float | str, Measurement] = {
        probability: Measurement(
            f"sessions with long RTTs at p_out^max = {probability:g}",
            scenario(replace(OVERLAPPED, out_probability=probability), five, rtts_s=(*RTTS_S, *LONG_RTTS_S)),
            measured,
            (setting.duration_s,),
        )
        for probability in PAPER.by("reaching")
    }
    tail_drop = scenario(replace(OVERLAPPED, in_probability=0.0, out_probability=LEAST_OUT), setting)
    label = "the least p_out^max for p_in below 0.006"
    return made | {"sla": Measurement(label, tail_drop, measured, (setting.duration_s,))}


def simulated_claims(answers: Mapping[float | str, Measured], _: Setting) -> list[Claim]:
    """What a simulation makes of what the source's model says."""
    made = []
    for probability, by_model in PAPER.by("reaching").items():
        rates = answers[probability].session_per_s.mean(axis=0)[-len(LONG_RTTS_S) :]
        reached = single(float(np.sum(rates >= RESERVED_PER_S)))
        nulls = [Null(f"{each} of them", exactly(each)) for each in (0, len(LONG_RTTS_S)) if each != by_model]
        note = f"packets/s at RTTs of 0.4 to 0.8 s: {', '.join(f'{each:.1f}' for each in rates)}"
        quantity = f"long-RTT sessions that reach 40 packets/s at p_out^max = {probability:g}, simulated"
        made.append(equal("fig6", quantity, by_model, reached, basis="theory", nulls=nulls, note=note))
    quantity = f"p_in simulated at p_in^max = 0, p_out^max = {LEAST_OUT:g}"
    within = PAPER.within("apart", SLA_P_IN)
    p_in = answers["sla"].interval("p_in")
    return [*made, equal("fig10", quantity, SLA_P_IN, p_in, within=within, basis="theory")]


THROUGHPUT: Artefact[Setting] = Artefact("figs 6, 7", nothing, throughput_claims, throughput_section)
DELAY: Artefact[Setting] = Artefact("figs 8, 9", surfaces, delay_claims, delay_section)
LOSSES: Artefact[Setting] = Artefact("figs 10 to 13", surfaces, loss_claims, loss_section)
SIMULATED: Artefact[Setting] = Artefact("section 5", simulated_points, simulated_claims)
