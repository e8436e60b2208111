"""Section 5.3 by the model: Figs 10 to 13, and the text's advice; and points of section 5 simulated, which are ours."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache

import numpy as np
from scipy.optimize import brentq

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Section
from parshall.report.plot import Axis, Line, Points, Style
from parshall.studies.artefact import Answers, Artefact, Measurement
from parshall_studies.diffserv import FixedPoint, Router
from parshall_studies.rio.section5 import LOWS_IN, drawn, heat, holds, steps, surfaces
from parshall_studies.rio.setting import (
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
    scenario,
)
from parshall_studies.rio.tables import Measured, measured

SLA_P_IN, LEAST_OUT = PAPER.number("sla_in_loss"), PAPER.number("least_out_probability")
_BOUNDS = (0.002, 0.004, 0.006, 0.008)
"""Bounds of p_in for which a feasible region has an edge."""
_SAME = 1e-6
_LOWS_OUT = np.linspace(5.0, 95.0, 19)


@cache
def least_out(bound: float, model: Model) -> float:
    """The least p_out^max that keeps p_in below a bound, with tail drop for in-packets."""
    return float(
        brentq(lambda out: float(model.overlapped(0.0, out).loss_in[0]) - bound, 1e-3, 1.0, xtol=1e-7),
    )


@cache
def _thirteenth(model: Model, inside: float, outside: float) -> FixedPoint:
    """Fig. 13: steady states by min_out (rows) and min_in (columns); min_in is at least min_out."""
    lows = np.maximum(LOWS_IN, _LOWS_OUT[:, None])
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
            [steps(lost, solved, 1) < 0, steps(lost, solved, 0) > 0],
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
    tenth = heat(OUTSIDE, INSIDE, feasible, "p_in, per mille", log=True)
    twelfth = heat(OUTSIDE, INSIDE, 1000 * lost, "p_in, per mille", log=True)
    by_threshold = heat(
        LOWS_IN, _LOWS_OUT, np.where(_LOWS_OUT[:, None] <= LOWS_IN, 1000 * thirteenth, np.nan), "p_in, per mille"
    )
    figures = [
        drawn("fig10", "Feasible region for p_in of at most 0.006", [tenth, least], x, y),
        drawn("fig11", "Edges of feasible regions: feasible is below", eleventh, x, y),
        drawn("fig12", "p_in by the drop probabilities", [twelfth], x, y),
        drawn(
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


LOSSES: Artefact[Setting] = Artefact("figs 10 to 13", surfaces, loss_claims, loss_section)
SIMULATED: Artefact[Setting] = Artefact("section 5", simulated_points, simulated_claims)
