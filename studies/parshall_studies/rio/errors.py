"""The page's section on the model's errors against the simulator: how large, of which reading, and where from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Panel, Plot, Points, Style
from parshall.studies.study import Findings
from parshall_studies.rio.comparison import Case, quantiles
from parshall_studies.routers.simulated import Setting

WORDS = {
    "load": "the total load",
    "session": "a session's rate",
    "session_less_noise": "a session's rate, less the simulation's noise",
    "queue": "the mean queue",
    "loss_out": "p_out",
}
GOALS = {"session_less_noise": (0.03, 0.10)}
"""What is asked of the median and the 90th percentile."""
_WORST = 10
_SMALL_BUFFER = 0.03
_SWINGING = 1.2


def section(cases: Sequence[Case], setting: Setting) -> Findings:
    """Checks, all beyond the source, and the section."""
    checks: list[Claim] = []
    rows: list[tuple[str, ...]] = []
    within = [case for case in cases if not case.out_of_range]
    readings = {
        "the source's formulas": [case.source for case in within],
        "random losses and SACK": [case.refined for case in within],
    }
    for name, title in WORDS.items():
        row: list[str] = [title]
        for reading, errors in readings.items():
            for label, value in zip(("median", "90th percentile"), quantiles(errors, name).tolist(), strict=True):
                row.append(f"{100 * value:.1f} %")
                quantity = f"{label} error of {title}, {reading}"
                checks.append(reported("comparison", quantity, exactly(value), _goal(name, label)))
        rows.append(tuple(row))
    header = ("", "Source: median", "90th percentile", "Refined: median", "90th percentile")
    tables = [Table("Absolute errors", header, rows, numbers=(1, 2, 3, 4)), _worst(within)]
    if outside := [case for case in cases if case.out_of_range]:
        tables.append(_outside(outside))
    figures = [_by_buffer(within), _by_window(within)]
    return Findings(
        checks, [Section("Model against simulator", _prose(cases, within, setting), tables=tables, figures=figures)]
    )


def _goal(name: str, label: str) -> str:
    if name not in GOALS:
        return ""
    return f"asked: below {100 * GOALS[name][0 if label == 'median' else 1]:.0f} %"


def _prose(cases: Sequence[Case], within: Sequence[Case], setting: Setting) -> tuple[str, ...]:
    noise = 100 * float(np.median([case.session_noise for case in within]))
    median, ninetieth = (
        100 * float(each) for each in quantiles([case.refined for case in within], "session_less_noise")
    )
    goals = GOALS["session_less_noise"]
    kept = median < 100 * goals[0] and ninetieth < 100 * goals[1]
    times = f"{setting.repetitions} times for {setting.duration_s - setting.warm_up_s:g} s with"
    errors = f"{median:.1f} % in the median and {ninetieth:.1f} % at the 90th percentile,{'' if kept else ' not'}"
    asked = " and ".join(f"{100 * goal:.0f} %" for goal in goals)
    return (
        f"{len(cases)} random networks (a Latin hypercube over sessions, capacity, round trips, access rates, "
        f"thresholds, probabilities, reservations and buckets), each solved and simulated {times} SACK TCP. With "
        "Reno's recovery, which takes a timeout where a window loses several packets, simulated loads are lower.",
        f"A session's rate is not known better than the simulation tells it: {noise:.1f} % in the median network. "
        "Errors are given as measured, and less this noise.",
        "The source's formulas make each lost packet the end of a period and 3/W of them timeouts. SACK senders "
        "answer the losses of one window once, and time out almost only where a retransmission is lost. The "
        "refined reading computes that, with random instead of periodic losses, as a Markov chain of a session's "
        f"window and bucket; nothing is fitted. Its sessions' rates are within {errors} as asked ({asked}).",
        "What is left has three causes, none of which a Poisson router has. Where out-packets have a buffer of a "
        "few hundredths of the bandwidth-delay product, windows arrive faster than it drains and losses come in "
        "bursts. Where the queue swings more than a Poisson queue would, sessions grow and shrink together. And "
        "then neighbours in RTT get different rates, by the phase in which their packets meet a full queue: "
        "simulated packets have one size and constant delays. Queues and losses of out-packets are worst.",
    )


def _worst(cases: Sequence[Case]) -> Table:
    rows = [
        (
            f"{case.sessions.count}",
            f"{100 * case.refined.load:+.1f} %",
            f"{100 * case.refined.session_less_noise:.1f} %",
            f"{100 * case.source.session_less_noise:.1f} %",
            f"{case.buffer_share:.3f}",
            f"{case.swing:.2f}",
            f"{100 * case.unevenness:.1f} %",
            _why(case),
        )
        for case in sorted(cases, key=lambda case: -case.refined.session)[:_WORST]
    ]
    header = ("Sessions", "T", "Rates", "By the source", "max_out / (C D)", "Swing", "Unevenness", "Why")
    return Table("The largest errors of the refined reading", header, rows, numbers=(0, 1, 2, 3, 4, 5, 6))


def _why(case: Case) -> str:
    reasons = []
    if case.buffer_share < _SMALL_BUFFER:
        reasons.append("small buffer")
    if case.swing > _SWINGING:
        reasons.append("swinging queue")
    if case.unevenness > 0.5 * case.refined.session_less_noise:
        reasons.append("phases")
    return ", ".join(reasons) or "none of the three"


def _outside(cases: Sequence[Case]) -> Table:
    rows = [
        (
            f"{case.sessions.count}",
            f"{100 * case.source.load:+.1f} %",
            f"{100 * case.source.session_less_noise:.1f} %",
            f"{100 * case.refined.session_less_noise:.1f} %",
            case.out_of_range,
        )
        for case in cases
    ]
    header = ("Sessions", "T", "Rates", "Refined", "Why")
    return Table("Out of the range of the source's formulas", header, rows, numbers=(0, 1, 2, 3))


def _pair(cases: Sequence[Case], x: Sequence[float], axis: Axis) -> Panel:
    marks: list[Points | Guide] = [
        Points(x, [100 * case.source.session_less_noise for case in cases], "source"),
        Points(x, [100 * case.refined.session_less_noise for case in cases], "refined", Style(1, 1)),
        Guide(3.0, "asked of the median"),
    ]
    return Panel(marks, axis, Axis("error of a session's rate", "%", minimum=0))


def _by_buffer(cases: Sequence[Case]) -> Chart:
    panel = _pair(cases, [case.buffer_share for case in cases], Axis("max_out over C D", log=True))
    return Chart("comparison", "Error of a session's rate by the buffer", Plot([panel], "Less the simulation's noise."))


def _by_window(cases: Sequence[Case]) -> Chart:
    panel = _pair(cases, [case.source.smallest_window for case in cases], Axis("smallest window W", "packets"))
    return Chart("comparison_windows", "The same by the window", Plot([panel], "W of the source's formulas."))
