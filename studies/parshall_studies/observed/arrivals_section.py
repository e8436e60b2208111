"""Arrivals of a trace on its page: how they depend on each other over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from parshall.foundations.numbers import quantity, significant
from parshall.instruments.observation.result import Observation
from parshall.report.document import Chart, Section, Table
from parshall.report.observation.additions import FoundOfTrace, TraceSection
from parshall.report.plot import Axis, Line, Panel, Plot, Style
from parshall.report.sentences import say
from parshall.report.thinning import extremes
from parshall_studies.hurst import Verdict
from parshall_studies.observed.arrivals import QUANTITIES, Arrivals, FloatArray, arrivals


def _found(observation: Observation, trace: int) -> FoundOfTrace:
    judged = arrivals(observation, trace)
    shown = replace(section(judged, str(trace)), closed="Estimates of H") if judged else None
    return FoundOfTrace([each.as_json() for each in judged], shown)


def section(estimates: Sequence[Arrivals], place: str) -> Section:
    """The page's section; `place` makes the names of its figures those of one trace."""
    sentences, tables, drawings = [], [], []
    for each in estimates:
        title = QUANTITIES[each.quantity]
        if each.verdict is None:
            sentences.append(say("observed.no_verdict", what=title.capitalize(), reason=each.reason).text)
            continue
        shown = {"what": title.capitalize(), "bin": quantity(each.bin_s, "s"), "verdict": each.verdict.sentence}
        sentences.append(say("observed.arrivals", **shown).text)
        tables.append(_estimates(title, each.verdict))
        drawings.append(Chart(f"arrivals-{each.quantity}-{place}", f"Arrivals: {title}", _over_time(each)))
    sentences.append(
        "All frames count, of every flow and in both directions. A long flow alone is bursty at the scale of its round "
        "trips and loss cycles; long-range dependence is of many flows whose sizes have a heavy tail."
    )
    return Section("Arrivals: how they depend on each other over time", sentences, tables, drawings)


def _estimates(title: str, verdict: Verdict) -> Table:
    rows = []
    for each in verdict.estimates:
        low, high = each.ci
        scales = (
            f"{quantity(each.scales.low * verdict.bin_s, 's')} to {quantity(each.scales.high * verdict.bin_s, 's')}"
        )
        rows.append((each.method, significant(each.h, 3), f"{low:.2f} to {high:.2f}", scales, "; ".join(each.warnings)))
    test = verdict.surrogates
    kinds = (("values", test.p_shuffled), ("blocks", test.p_blocks))
    rows += [
        (f"H of shuffled {kind} is as far from theirs", f"p = {significant(p, 2)}", "", "", "") for kind, p in kinds
    ]
    return Table(f"Hurst parameter: {title}", ("estimator", "H", "95 %", "scales", "against it"), rows, numbers=(1, 2))


def _over_time(each: Arrivals) -> Plot:
    time: FloatArray = np.arange(each.series.size, dtype=np.float64) * each.bin_s
    drawn = extremes(time, each.series)
    unit = "bytes" if each.quantity == "bytes" else ""
    axes = Axis("time", "s", minimum=0.0), Axis(f"{QUANTITIES[each.quantity]} a bin", unit, minimum=0.0)
    caption = f"{QUANTITIES[each.quantity].capitalize()} in bins of {quantity(each.bin_s, 's')}. {drawn.note}"
    return Plot([Panel([Line(drawn.x, drawn.y, "", Style(0, thin=True))], *axes)], caption.strip())


SECTION = TraceSection("arrivals", "arrivals: H by eight estimators (--no-arrivals leaves this out)", _found)
