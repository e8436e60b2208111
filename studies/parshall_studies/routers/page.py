"""The answer of `parshall design rio` as a page: what to set, the feasible region, what it costs, the simulation."""

from __future__ import annotations

import numpy as np

from parshall.analysis.stats.confidence import Interval
from parshall.design import tc
from parshall.foundations.numbers import quantity, significant, with_half_width
from parshall.foundations.version import __version__
from parshall.report.dials import Dial, dials
from parshall.report.document import Block, Chart, Document, Section, Table
from parshall.report.plot import Axis, Grid, Guide, Line, Panel, Plot, Points, Style, cell_edges
from parshall.scenario.schema import writing
from parshall_studies.routers.agreement import LABELS, UNITS
from parshall_studies.routers.recommendation import Recommendation, answer
from parshall_studies.routers.rio import RioDesign
from parshall_studies.routers.simulated import scenario


def page(design: RioDesign, recommendation: Recommendation | None = None) -> Document:
    """The page; without a recommendation it is the model's alone."""
    problem = design.problem
    sections = [
        Section(
            "Answer",
            answer(design, recommendation),
            tables=[_asked(design, recommendation)],
            blocks=[] if recommendation is None else [_dials(design, recommendation)],
        ),
        Section("Feasible region", _about_region(design), figures=[region_figure(design, recommendation)]),
    ]
    if design.choice is not None:
        sections.append(
            Section("What each constraint costs", tables=[_costs(design)], figures=[_along(design, recommendation)])
        )
    if recommendation is not None:
        sections += [_simulated(design, recommendation), _taken_away(design, recommendation)]
    byline = (
        f"{problem.sessions.count} sessions",
        f"{significant(problem.capacity_per_s, 5)} packets/s",
        f"Parshall {__version__}",
    )
    return Document(
        "design",
        "RIO router for an agreement",
        "Thresholds and drop probabilities by the fixed point of Malouch & Liu, and a simulation.",
        byline,
        sections,
    )


def _asked(design: RioDesign, recommendation: Recommendation | None) -> Table:
    agreement = design.problem.agreement
    rows = []
    state = None if design.choice is None else design.choice.state
    margins = {} if state is None else agreement.margins(design.problem.sessions, state)
    judged = (
        {} if recommendation is None else {each.constraint: each for each in recommendation.nearest.confirmation.kept}
    )
    for name in agreement.asked:
        value = getattr(agreement, name)
        asked = "yes" if name == "reservations" else f"at most {quantity(value, UNITS[name])}"
        share = "—" if name not in margins else f"{100 * float(margins[name]):.1f} %"
        each = judged.get(name)
        simulated = "—" if each is None else f"{100 * each.value.mean / each.bound:.1f} %"
        verdict = "not simulated" if each is None else each.verdict
        rows.append((LABELS[name], asked, share if name != "delay_s" else "by max_in", simulated, verdict))
    header = (
        "Constraint",
        "Asked",
        "Used of the bound, model's point by the model",
        "Simulated, the answer's point",
        "Verdict",
    )
    return Table("The agreement", header, rows, numbers=(2, 3))


def _dials(design: RioDesign, recommendation: Recommendation) -> Block:
    """Return the demands, the model's values at the answer's point, and the simulated ones there."""
    point = recommendation.nearest
    agreement = design.problem.agreement
    margins = agreement.margins(design.problem.sessions, design.problem.solve(point.router))
    shown = []
    for each in point.confirmation.kept:
        name = each.constraint
        model = each.value.mean if name == "delay_s" else float(margins[name]) * each.bound  # max_in bounds the delay
        unit = "s" if UNITS[name] == "s" else "ratio" if name == "loss_in" else "1"
        label = "Reservation over rate of the worst session" if name == "reservations" else each.label
        label = f"{label[0].upper()}{label[1:]}"
        shown.append(Dial(label, unit, each.bound, False, model, "Model", each.value, each.verdict))
    return dials(shown)


def _about_region(design: RioDesign) -> list[str]:
    share = float(np.mean(design.region.kept))
    lines = [
        f"Of the {design.region.kept.size} pairs of maximum drop probabilities that the map shows, "
        f"{100 * share:.0f} % keep all constraints. Shades give the used share of the capacity where they do; cells "
        "where some constraint is broken are empty. Both curves of the map start at min_out, as in the source's "
        "figures 10 to 12. All of it is the model's."
    ]
    if design.choice is not None:
        lines.append(
            "The model's point lies on the lower edge: tail drop for in-packets, and out-packets dropped no more "
            "than the constraints ask. What the simulation keeps lies to the right of it, or there."
        )
    return lines


def region_figure(design: RioDesign, recommendation: Recommendation | None = None) -> Chart:
    """The map of feasible (p_out^max, p_in^max)."""
    region = design.region
    marks: list[Grid | Line | Points | Guide] = []
    if region.kept.any():
        shown = np.where(region.kept, 100 * region.utilisation, np.nan)
        edges = np.clip(cell_edges(np.sqrt(region.in_probability)), 0.0, 1.0) ** 2
        marks.append(Grid(cell_edges(region.out_probability, log=True), edges, shown, "used capacity, %"))
    for number, (name, margin) in enumerate(region.margins.items(), start=1):
        x, y = _boundary(region.out_probability, region.in_probability, margin)
        if x.size:
            marks.append(Points(x, y, f"bound: {LABELS[name]}", Style(number, number)))
    if design.choice is not None:
        marks.append(Points([design.choice.out_probability], [0.0], "the model's point", Style(5)))
    if recommendation is not None and recommendation.nearest is not recommendation.trials[0]:
        name = "confirmed by simulation" if recommendation.kept else "nearest of those simulated"
        marks.append(Points([recommendation.nearest.out_probability], [0.0], name, Style(6)))
    if not marks:
        marks.append(Guide(0.5, "no pair keeps the agreement"))
    panel = Panel(
        marks,
        Axis("maximum drop probability of out-packets", log=True),
        Axis("maximum drop probability of in-packets", minimum=-0.04, maximum=1.04),
    )
    return Chart("region", "Feasible maximum drop probabilities", Plot([panel], "Where the agreement is kept."))


def _boundary(outside: np.ndarray, inside: np.ndarray, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the points at which a margin crosses 1 along each row, interpolated in the logarithm."""
    xs, ys = [], []
    for row, y in zip(np.log(np.maximum(margin, 1e-300)), inside, strict=True):
        for j in np.flatnonzero(np.sign(row[:-1]) != np.sign(row[1:])):
            share = row[j] / (row[j] - row[j + 1])
            xs.append(float(outside[j] ** (1 - share) * outside[j + 1] ** share))
            ys.append(float(y))
    return np.array(xs), np.array(ys)


def _costs(design: RioDesign) -> Table:
    rows = []
    for cost in design.costs:
        if cost.out_probability is None or cost.utilisation is None or cost.lost_utilisation is None:
            rows.append((LABELS[cost.constraint], "—", "—", "the others cannot be kept without it"))
            continue
        rows.append(
            (
                LABELS[cost.constraint],
                significant(cost.out_probability, 3),
                f"{100 * cost.utilisation:.2f} %",
                f"{100 * cost.lost_utilisation:.2f} %",
            )
        )
    header = ("Without the constraint", "p_out^max", "Used capacity", "Its cost, of the capacity")
    return Table("", header, rows, numbers=(1, 2, 3))


def _along(design: RioDesign, recommendation: Recommendation | None) -> Chart:
    """Loss, queue and use along p_out^max, with tail drop for in-packets."""
    problem = design.problem
    scan = np.geomspace(1e-3, 1.0, 61)
    states = problem.solve(problem.router(scan))
    x = Axis("maximum drop probability of out-packets", log=True)
    chosen = [] if design.choice is None else [Guide(design.choice.out_probability, "model", along="x")]
    if recommendation is not None and recommendation.kept and recommendation.kept is not recommendation.trials[0]:
        chosen.append(Guide(recommendation.nearest.out_probability, "confirmed", along="x"))
    panels = [
        Panel([Line(scan, 100 * states.utilisation[:, 0]), *chosen], x, Axis("used capacity", "%")),
        Panel([Line(scan, states.queue_packets[:, 0]), *chosen], x, Axis("mean queue", "packets")),
        Panel(
            [
                Line(scan, np.maximum(states.loss_in[:, 0], 1e-8), "in"),
                Line(scan, states.loss_out[:, 0], "out", Style(1, 1)),
                *chosen,
            ],
            x,
            Axis("loss", log=True),
        ),
    ]
    return Chart("along", "What the drop probability of out-packets does", Plot(panels, "Tail drop for in-packets."))


def _simulated(design: RioDesign, recommendation: Recommendation) -> Section:
    """Return the simulated points, and the model beside the simulation where the answer is."""
    point = recommendation.nearest
    seen, setting = point.confirmation.simulated, point.confirmation.setting
    text = (
        f"Each simulation has {setting.repetitions} repetitions of {setting.duration_s:g} s, of which the first "
        f"{setting.warm_up_s:g} s do not count, with TCP {setting.recovery} and packets of {setting.packet_bytes} "
        "bytes. All have the same random numbers. A constraint holds, or fails, where its whole 95 % interval is on "
        "one side of the bound; else it is compatible or undecided, and longer or more repetitions would tell."
    )
    judged = [
        (
            significant(trial.out_probability, 4),
            each.label,
            _interval(each.value),
            significant(each.bound, 4),
            each.verdict,
            f"{100 * trial.confirmation.simulated.utilisation.mean:.2f} %",
        )
        for trial in recommendation.trials
        for each in trial.confirmation.kept
    ]
    header = ("p_out^max", "Constraint", "Simulated", "Bound", "Verdict", "Used capacity")
    state = design.problem.solve(point.router)
    pairs: list[tuple[str, float, Interval | None]] = [
        ("T, packets/s", float(state.load_per_s[0]), seen.load_per_s),
        ("T_in, packets/s", float(state.load_in_per_s[0]), seen.load_in_per_s),
        ("loss of in-packets", float(state.loss_in[0]), seen.loss_in),
        ("loss of out-packets", float(state.loss_out[0]), seen.loss_out),
        ("packets in the queue", float(state.queue_packets[0]), seen.queue_packets),
        ("used capacity", float(state.utilisation[0]), seen.utilisation),
    ]
    rows = [(label, significant(value, 4), _interval(interval)) for label, value, interval in pairs]
    where = f"Model and simulation at p_out^max = {point.out_probability:.4g}"
    tables = [
        Table("What was simulated, in order", header, judged, (0, 2, 3, 5)),
        Table(where, ("Quantity", "Model", "Simulated, 95 %"), rows, (1, 2)),
    ]
    return Section("Simulation", [text], tables=tables)


def _taken_away(design: RioDesign, recommendation: Recommendation) -> Section:
    """The router to be pasted into a scenario, and the scenario that was simulated."""
    point = recommendation.nearest
    tables = scenario(design.problem.sessions, point.router, point.confirmation.setting)
    queue = tables["bottleneck"]["queue"]
    typed = tc.commands({"name": queue["name"]}, point.confirmation.setting.packet_bytes)
    snippets = [
        {"title": "In a scenario", "text": f"queue = {writing.value_text(queue)}", "note": ""},
        {"title": "On Linux", "text": "\n".join(typed.lines), "note": typed.note},
    ]
    command = {"text": "parshall run scenario.toml", "scenario": writing.toml(tables)}
    return Section("Take it away", blocks=[Block("snippets", snippets), Block("command", command)], name="take-away")


def _interval(interval: Interval | None) -> str:
    if interval is None:
        return "—"
    half = interval.half_width
    return significant(interval.mean, 4) if half is None else with_half_width(interval.mean, half)
