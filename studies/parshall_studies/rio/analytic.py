"""The source's tables and figures by its model: checks, and the figures of the page.

Tables 1 to 3 are computed with 16 ms added to each RTT, section 5 without: so they were computed in the source.
Where a figure has no printed value, the check is the share of what we computed for which what the text
says of it holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style, cell_edges
from parshall.studies.study import Findings
from parshall_studies.diffserv import PRINTED, TABLES, FixedPoint, Formulas, Router, Sessions, fixed_point
from parshall_studies.rio.network import PAPER, PROPAGATION_S, Curves
from parshall_studies.rio.simulated import LONG_RTTS_S, RESERVED_PER_S, ROUTERS, SLA_P_IN, Measured

CAPACITY_PER_S = 6000.0
_FULL = (20.0, 100.0, 20.0, 100.0)

TABLE_ACCESS_DELAY_S = PAPER.number("table_access_delay")
LEAST_OUT_PROBABILITY = PAPER.number("least_out_probability")

READINGS = (
    (TABLES, "formulas as tabulated"),
    (PRINTED, "formulas as printed"),
    (Formulas(continuous=False, count_timeouts=False), "window as printed, timeouts as tabulated"),
    (Formulas(continuous=True, count_timeouts=True), "window as tabulated, timeouts as printed"),
)
"""The printed formulas do not give the tables of the source; which of them made its figures is not said."""

FIG13_IN_PROBABILITY, FIG13_OUT_PROBABILITY = 0.05, 0.06
"""p_in^max and p_out^max of Fig. 13: ours, the source does not say its own."""
FIG13 = f"p_in^max = {FIG13_IN_PROBABILITY:g}, p_out^max = {FIG13_OUT_PROBABILITY:g} (ours; not in the source)"


def sessions(extra_rtts_s: Sequence[float] = (), access_delay_s: float = 0.0) -> Sessions:
    """Section 4's hundred sessions, and others."""
    return Sessions((*PROPAGATION_S, *extra_rtts_s), RESERVED_PER_S, 20, access_delay_s=access_delay_s)


def router(curves: Curves) -> Router:
    """Its model."""
    return Router(
        CAPACITY_PER_S,
        curves.in_min,
        curves.in_max,
        curves.in_probability,
        curves.out_min,
        curves.out_max,
        curves.out_probability,
    )


def overlapped(in_probability: FloatArray | float, out_probability: FloatArray | float) -> Router:
    """Section 4.1's thresholds with other probabilities."""
    in_min, in_max, out_min, out_max = _FULL
    return Router(CAPACITY_PER_S, in_min, in_max, in_probability, out_min, out_max, out_probability)


def quantities(solution: FixedPoint) -> dict[str, float]:
    """The rows of the tables."""
    fields = {
        "T": solution.load_per_s,
        "T_in": solution.load_in_per_s,
        "p_in": solution.loss_in,
        "p_out": solution.loss_out,
        "q": solution.queue_packets,
    }
    return {name: float(field[..., 0]) for name, field in fields.items()}


def tables(simulated: Mapping[str, Measured]) -> Findings:
    """Tables 1 to 3, all columns."""
    checks, shown = [], []
    with_delay = sessions(access_delay_s=TABLE_ACCESS_DELAY_S)
    for table, printed in PAPER.group("analytic").items():
        ours = quantities(fixed_point(with_delay, router(ROUTERS[table])))
        literal = quantities(fixed_point(with_delay, router(ROUTERS[table]), formulas=PRINTED))
        rows = []
        for name, value in printed.items():
            near = PAPER.within("model_load" if name == "T" else "model", value)
            within = near + PAPER.digits(f"analytic.{table}", name)
            note = f"{ours[name] / value - 1:+.2%}; with 16 ms of access delay"
            checks.append(equal(table, f"{name} of the model", value, exactly(ours[name]), within=within, note=note))
            seen = simulated[table].intervals[name]
            half = "" if seen.half_width is None else f" ± {seen.half_width:.2g}"
            rows.append((name, f"{value:g}", f"{ours[name]:.6g}", f"{literal[name]:.6g}", f"{seen.mean:.5g}{half}"))
        header = ("", "Printed", "Ours", "As literally printed", "Our simulation")
        shown.append(
            Table(
                f"{table.replace('table', 'Table ')}: printed, by the model, and simulated",
                header,
                rows,
                numbers=(1, 2, 3, 4),
            )
        )
    prose = (
        "The analytic columns come out when the transmission of a packet on both access links, 16 ms, is part of each "
        "round trip; without it T is 0.3 % and p_in 14 % too high. Two details of the printed formulas are not what "
        "was computed. The window after a timeout falls back to that of an ordinary period, which jumps; with the "
        "bucket full, as it is after a timeout, it does not. And packets sent during timeouts are not counted in "
        "T_in. With both, all values come within 0.2 % of the printed ones; with the formulas taken literally "
        "T_in is 0.5 % off.",
    )
    return Findings(checks, [Section("Section 4: validation", prose, tables=shown)])


def throughput() -> Findings:
    """Figs 6 and 7."""
    five = sessions(LONG_RTTS_S)
    probabilities = np.geomspace(0.02, 1.0, 40)
    swept = fixed_point(five, overlapped(0.01, probabilities))
    checks: list[Claim] = []
    marks: list[Line] = []
    rtts_ms = 1000 * np.asarray(five.rtt_s)
    by_probability = PAPER.by("reaching")
    for number, (probability, published) in enumerate(by_probability.items()):
        other = [
            Null(f"as many as at {at:g}", exactly(count)) for at, count in by_probability.items() if at != probability
        ]
        for formulas, label in READINGS:
            solution = fixed_point(five, overlapped(0.01, probability), formulas=formulas)
            long_per_s = solution.session_per_s[-5:]
            reached = exactly(float(np.sum(long_per_s >= RESERVED_PER_S)))
            note = f"packets/s: {', '.join(f'{rate:.3f}' for rate in long_per_s)}"
            quantity = f"sessions of 0.4 to 0.8 s that reach 40 packets/s at p_out^max = {probability:g}"
            checks.append(equal("fig6", quantity, published, reached, note=note, nulls=other, reading=label))
        rates = fixed_point(five, overlapped(0.01, probability)).session_per_s
        marks.append(Line(rtts_ms, rates, f"p_out^max = {probability:g}", Style(number, number)))
    ends = fixed_point(five, overlapped(0.01, np.array([0.06, 1.0]))).session_per_s
    rising, falling = ends[1, -5:] > ends[0, -5:], ends[1, :50] < ends[0, :50]
    note = "the text has the two exchanged in one sentence of §5.1"
    checks.append(
        _holds("fig7", "long sessions gain and short ones lose from p_out^max = 0.06 to 1", [rising, falling], note)
    )
    seven: list[Line | Guide] = [
        Line(probabilities, swept.session_per_s[:, i], f"RTT {rtts_ms[i]:.0f} ms", Style(k, k))
        for k, i in enumerate((0, 50, 99, 100, 102, 104))
    ]
    at: list[Line | Guide] = [Guide(RESERVED_PER_S, "reservation")]
    rate = Axis("rate", "packets/s", minimum=0)
    sixth: list[Line | Guide] = list(marks)
    figures = [
        _drawn("fig6", "Throughput of sessions by RTT", [*sixth, *at], Axis("RTT", "ms"), rate),
        _drawn("fig7", "Throughput by p_out^max", [*seven, *at], Axis("p_out^max", log=True), rate),
    ]
    prose = (
        "Five sessions with round trips of 0.4 to 0.8 s join the hundred. At p_out^max = 0.06 none reaches its "
        "reservation. Dropping out-packets harder takes from the short sessions and gives to the long ones. At 1, "
        "four reach it as far as a figure can show: the fourth has 39.97 packets/s of 40 (39.996 with the formulas as "
        "printed). No access delay is added here.",
    )
    return Findings(checks, [Section("Section 5.1: throughput", prose, figures=figures)])


def delay() -> Findings:
    """Figs 8 and 9."""
    inside, outside = np.linspace(0.0, 1.0, 21), np.linspace(0.01, 1.0, 25)
    queue = fixed_point(sessions(), overlapped(inside[:, None], outside)).queue_packets[..., 0]
    checks = [
        _holds("fig8", "the mean queue is longest with p_in^max = 0", [queue[0] >= queue.max(axis=0) - 1e-9]),
        _holds("fig8", "a lower p_out^max lengthens the mean queue", [np.diff(queue, axis=1) < 0]),
    ]
    lows = np.linspace(5.0, 100.0, 20)
    shown: list[Line] = []
    for number, probability in enumerate((0.06, 0.5)):
        solutions = [
            fixed_point(sessions(), Router(CAPACITY_PER_S, lows, 100, 0.01, low, 100, probability))
            for low in (20.0, 60.0)
        ]
        for low, each in zip((20, 60), solutions, strict=True):
            name = f"p_out^max = {probability:g}, min_out = {low}"
            shown.append(Line(lows, each.queue_packets[:, 0], name, Style(len(shown), number)))
        used = solutions[0].utilisation[lows >= 20, 0]
        checks.append(
            _holds(
                "fig9",
                f"the use of the link varies by less than 0.5 % with min_in, and is best at min_in = max_in, "
                f"p_out^max = {probability:g}",
                [np.array([np.ptp(used) < 0.005, np.argmax(used) == used.size - 1])],
            )
        )
    curves = [Line(outside, queue[i], f"p_in^max = {inside[i]:g}", Style(k, k)) for k, i in enumerate((0, 1, 4, 20))]
    mean = Axis("mean queue", "packets", minimum=0)
    figures = [
        _drawn(
            "fig8",
            "Mean queue by the drop probabilities (min_in = min_out = 20, max_in = max_out = 100)",
            curves,
            Axis("p_out^max"),
            mean,
        ),
        _drawn("fig9", "Mean queue by the lower thresholds", shown, Axis("min_in", "packets"), mean),
    ]
    prose = (
        "The delay is bounded by max_in/C. Below that bound the mean queue is governed by p_out^max: the lower it is, "
        "the better the link is used, which is against the long sessions of section 5.1. Tail drop for in-packets "
        "(p_in^max = 0, or min_in = max_in) costs nothing.",
    )
    return Findings(checks, [Section("Section 5.2: delay", prose, figures=figures)])


def losses() -> Findings:
    """Figs 10 to 13."""
    checks = []
    for formulas, label in READINGS:
        least = least_out(SLA_P_IN, formulas)
        note = f"{least / LEAST_OUT_PROBABILITY - 1:+.1%}; the printed value has two decimals of a per cent"
        quantity = "least p_out^max for p_in <= 0.006 at p_in^max = 0"
        checks.append(
            equal(
                "fig10",
                quantity,
                LEAST_OUT_PROBABILITY,
                exactly(least),
                within=PAPER.within("least"),
                note=note,
                reading=label,
            )
        )
    inside, outside = np.linspace(0.0, 1.0, 21), np.linspace(0.0025, 1.0, 41)
    loss = fixed_point(sessions(), overlapped(inside[:, None], outside)).loss_in[..., 0]
    low, high = float(loss[0, -1]), float(loss[-1, 0])
    checks += [
        _holds(
            "fig11",
            "p_in falls with p_out^max, grows with p_in^max: regions have one edge",
            [np.diff(loss, axis=1) < 0, np.diff(loss, axis=0) > 0],
        ),
        _holds(
            "fig12",
            "p_in is least at (0, 1) and largest at (1, 0) of (p_in^max, p_out^max)",
            [np.array([low == loss.min(), high == loss.max()])],
        ),
        reported("fig12", "lower bound of p_in", exactly(low), "at p_in^max = 0, p_out^max = 1"),
        reported("fig12", "upper bound of p_in", exactly(high), "at p_in^max = 1, p_out^max = 0.0025"),
    ]
    lows = np.linspace(20.0, 100.0, 17)
    thirteen: list[Line] = []
    for low_out in (5.0, 20.0, 40.0, 60.0):
        levels = np.maximum(lows, low_out), 100, FIG13_IN_PROBABILITY, low_out, 100, FIG13_OUT_PROBABILITY
        solution = fixed_point(sessions(), Router(CAPACITY_PER_S, *levels))
        thirteen.append(
            Line(lows, solution.loss_in[:, 0], f"min_out = {low_out:g}", Style(len(thirteen), len(thirteen)))
        )
    best = [np.array([np.argmin(np.asarray(line.y)) == lows.size - 1]) for line in thirteen]
    checks.append(_holds("fig13", "p_in is least with min_in = max_in", best))
    sla = Guide(SLA_P_IN, "p_SLA")
    marks = [
        Grid(
            _inner_edges(outside),
            _inner_edges(inside),
            np.where(loss <= SLA_P_IN, 1000 * loss, np.nan),
            "p_in, per mille",
        )
    ]
    eleven = [
        Line(*_edge(outside, inside, loss, bound), f"p_SLA = {bound:g}", Style(k, k))
        for k, bound in enumerate((0.002, 0.004, 0.006, 0.008))
    ]
    twelve = [Line(outside, loss[i], f"p_in^max = {inside[i]:g}", Style(k, k)) for k, i in enumerate((0, 2, 10, 20))]
    x, y = Axis("p_out^max"), Axis("p_in^max")
    figures = [
        _drawn("fig10", "Feasible region for p_in of at most 0.006", [*marks, _least_point()], x, y),
        _drawn("fig11", "Edges of feasible regions: feasible is below", eleven, x, y),
        _drawn("fig12", "p_in by the drop probabilities", [*twelve, sla], x, Axis("p_in")),
        _drawn(
            "fig13", f"p_in by the lower thresholds, {FIG13}", [*thirteen, sla], Axis("min_in", "packets"), Axis("p_in")
        ),
    ]
    prose = (
        "A loss of in-packets of at most 0.006 needs p_out^max of at least 2.46 %, even with tail drop for "
        "in-packets; the source prints 2.49 %, its formulas taken literally give 2.44 %. p_in lies between the two "
        "bounds of Fig. 12 whatever the probabilities; between them, the regions' edges (Fig. 11) start at "
        "p_in^max = 0, where the link is used best.",
    )
    return Findings(checks, [Section("Section 5.3: drop probability", prose, figures=figures)])


def least_out(bound: float, formulas: Formulas = TABLES) -> float:
    """The least p_out^max that keeps p_in below a bound, with tail drop for in-packets."""

    def excess(probability: float) -> float:
        return float(fixed_point(sessions(), overlapped(0.0, probability), formulas=formulas).loss_in[0]) - bound

    return float(brentq(excess, 1e-3, 1.0, xtol=1e-6))


def _least_point() -> Points:
    return Points([LEAST_OUT_PROBABILITY], [0.0], "printed least p_out^max, 0.0249", Style(1, 1))


def _edge(outside: FloatArray, inside: FloatArray, loss: FloatArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """Where p_in crosses a bound, for each p_in^max."""
    xs, ys = [], []
    for row, y in zip(loss, inside, strict=True):
        if row[0] > bound >= row[-1]:
            xs.append(float(np.interp(-bound, -row, outside)))
            ys.append(float(y))
    return np.array(xs), np.array(ys)


def _inner_edges(centres: FloatArray) -> FloatArray:
    """Edges of cells around centres, of which the first and last cell begin and end at theirs."""
    return np.clip(cell_edges(centres), centres[0], centres[-1])


def _holds(artefact: str, label: str, parts: Sequence[NDArray[np.bool_]], note: str = "") -> Claim:
    share = float(np.mean(np.concatenate([np.ravel(part) for part in parts])))
    return equal(artefact, f"share of what we computed for which {label}", 1.0, exactly(share), note=note)


def _drawn(name: str, title: str, marks: Sequence[Grid | Line | Points | Guide], x: Axis, y: Axis) -> Chart:
    return Chart(name, title, Plot([Panel(marks, x, y)], "By the model; the source's figure has no printed values."))
