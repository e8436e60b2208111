"""The study of RIO routers (Malouch & Liu, INRIA RR-4469, 2002).

| module | what |
| --- | --- |
| `published` | what the source prints |
| `analytic` | Tables 1 to 3 and section 5 by the model |
| `network`, `simulated` | the source's network in the simulator |
| `comparison` | model against simulator on random networks |
| `beyond` | many sessions, several routers, UDP, short transfers and over-booking |
"""

from __future__ import annotations

from collections.abc import Callable

from parshall.design.simulated import Setting
from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Panel, Plot, Points
from parshall.runs import run as execute
from parshall.studies.check import Check
from parshall.studies.rio import analytic, beyond, comparison, network, simulated
from parshall.studies.study import Findings

CASES = {"quick": 24, "paper": 200}
SETTINGS = {
    "quick": Setting(90, 30, 2, recovery="sack"),
    "paper": Setting(330, 30, 10, recovery="sack"),
}
ERRORS = {
    "load_error": "the total load",
    "session_error": "a session's rate",
    "queue_error": "the mean queue",
    "loss_out_error": "p_out",
}


def run(scale: str, progress: Callable[[str], None]) -> Findings:
    """Regenerate the source's tables and figures, and go beyond them."""
    measured = simulated.measure(scale, progress)
    progress("solving the source's tables and figures")
    parts = [analytic.tables(dict(measured.tables)), analytic.queue_lengths(*_longest_queue())]
    parts += [analytic.throughput(), analytic.delay(), analytic.losses()]
    parts.append(_compared(scale, progress))
    progress("many sessions, several routers, UDP, over-booking")
    more, sections = beyond.all_of(SETTINGS[scale])
    checks = [*measured.checks, *(check for found, _ in parts for check in found), *more]
    return Findings(checks, [*(section for _, section in parts), *sections])


def _longest_queue() -> tuple[float, float]:
    """Longest queue and utilisation of five minutes of the fully overlapped network."""
    parameters = network.Parameters(network.FULLY_OVERLAPPED)
    links = execute(network.scenario(parameters, duration_s=300, repetitions=1)).links
    return float(links["max_queue_packets"][0]) + 1.0, float(links["utilisation"][0])  # and the one in service


def _compared(scale: str, progress: Callable[[str], None]) -> tuple[list[Check], Section]:
    """The model against the simulator."""
    setting = Setting(150, 30, 1, recovery="sack")
    cases = comparison.compare(CASES[scale], setting, progress)
    within = [case for case in cases if not case.out_of_range]
    checks, rows = [], []
    for name, words in ERRORS.items():
        median, ninetieth = (float(each) for each in comparison.quantiles(within, name))
        rows.append((words, f"{100 * median:.1f} %", f"{100 * ninetieth:.1f} %"))
        for label, value in (("median", median), ("90th percentile", ninetieth)):
            checks.append(Check("comparison", f"{label} error of {words}", None, value, None, None, 0))
    outside = [
        (
            f"{case.sessions.count}",
            f"{100 * case.load_error:+.1f} %",
            f"{100 * case.session_error:.1f} %",
            case.out_of_range,
        )
        for case in cases
        if case.out_of_range
    ]
    tables = [Table("Absolute errors in range", ("", "Median", "90th percentile"), rows, numbers=(1, 2))]
    if outside:
        tables.append(Table("Out of the model's range", ("Sessions", "T", "Rates", "Why"), outside, numbers=(0, 1, 2)))
    windows = [case.smallest_window for case in cases]
    errors = [100 * case.load_error for case in cases]
    panel = Panel(
        [Points(windows, errors), Guide(0.0, "")], Axis("smallest window W", "packets"), Axis("error of T", "%")
    )
    prose = (
        f"{len(cases)} random networks (a Latin hypercube over sessions, capacity, round trips, access "
        f"rates, thresholds, "
        f"probabilities, reservations and buckets), each solved and simulated for {setting.duration_s:g} s "
        f"with SACK TCP. "
        "With Reno's recovery, which takes a timeout where a window loses several packets, simulated loads are lower. "
        "Total load is predicted best: it is the capacity less what is left unused. Queues and losses of out-packets "
        "are worst: packets of one size that access links have spaced are smoother than Poisson traffic, and "
        "losses come in bursts.",
    )
    figure = Drawn("comparison", "Error of the total load", Plot([panel], "Model over simulation less 1."))
    return checks, Section("Model against simulator", prose, tables=tables, figures=[figure])


__all__ = ["run"]
