"""The section of a flow's page about how its throughput varies, and its values for ``--json``."""

from __future__ import annotations

from typing import Any

import numpy as np

from parshall.foundations.errors import InputError
from parshall.foundations.numbers import significant
from parshall.instruments.observation.flow import TracedFlow
from parshall.report.document import Chart
from parshall.report.observation.additions import FlowSection, FoundOfFlow
from parshall.report.plot import Axis, Band, Line, Panel, Plot, Points, Style
from parshall.report.sentences import say
from parshall_studies.chains.variants import CONTROLS
from parshall_studies.observed.spectra import Variability, variability


def _found(flow: TracedFlow, control: str) -> FoundOfFlow:
    try:
        spread = variability(flow, control)
    except InputError as error:  # too short for any scale
        return FoundOfFlow({"reason": f"{error}.", "scales": []}, [f"{error}."])
    place = f"{flow.row['repetition']}-{flow.row['flow']}"
    chart = Chart(f"spectrum-{place}", "How throughput varies", spectra(spread))
    warning = spread.reason if spread.fitted is not None else ""
    return FoundOfFlow(_values(flow, spread), [in_words(flow, spread)], [chart], warning)


def spectra(variability: Variability) -> Plot:
    """Empirical spectra, their bands, and the fitted chain's."""
    marks: list[Line | Band | Points] = []
    for index, each in enumerate(variability.empirical):
        bounded = np.isfinite(each.low)
        style = Style(index + 1)
        marks.append(Band(each.alpha[bounded], each.low[bounded], each.high[bounded], "", style))
        marks.append(Points(each.alpha, each.f, f"n = {each.scale}", style))
    if variability.fitted is not None and variability.predicts:
        finite = np.isfinite(variability.fitted.f)
        marks.append(
            Line(
                variability.fitted.alpha[finite],
                variability.fitted.f[finite],
                f"{variability.control}'s chain, fitted on p(w)",
                Style(0),
            )
        )
    panel = Panel(marks, Axis("mean throughput", "packets per RTT"), Axis("f", "1/RTT"))
    return Plot(
        [panel],
        "Logarithm, over n, of the share of intervals of n round trips with this mean; bands are 95 % intervals.",
    )


def in_words(flow: TracedFlow, spread: Variability) -> str:
    """Return the ranges at each scale, and whether the chain describes the flow, in sentences."""
    parts = []
    for each in spread.empirical:
        observed = f"n = {each.scale}: {significant(each.lowest)} to {significant(each.highest)} packets"
        bounds = spread.bounds(flow.windows.size, each.scale)
        if bounds is not None:
            low, high = bounds
            observed += f" (chain: {significant(low)} to {significant(high)})"
        parts.append(observed)
    said = [say("observed.spread", spread="; ".join(parts))]
    if spread.superposition is not None:
        template = "observed.scales_differ" if spread.superposition.differ else "observed.scales_alike"
        said.append(say(template, p=significant(spread.superposition.p_value, 2)))
    if spread.reason:
        said.append(say("observed.no_chain", reason=f"{spread.reason[0].upper()}{spread.reason[1:]}"))
        return " ".join(each.text for each in said)
    if spread.fitted is not None:
        mean, chain = significant(float(flow.windows.mean())), significant(spread.fitted.mean)
        said.append(say("observed.chain", mean=mean, control=spread.control, chain=chain))
    if spread.control == "Reno" and flow.changes().is_reno is False:
        said.append(say("observed.not_reno"))
    return " ".join(each.text for each in said)


def _values(flow: TracedFlow, spread: Variability) -> dict[str, Any]:
    """Ranges of the throughput at each scale, observed and of the fitted chain, and why there are none."""
    scales: list[dict[str, Any]] = []
    for each in spread.empirical:
        low, high = spread.bounds(flow.windows.size, each.scale) or (None, None)
        seen = {"scale_rtts": each.scale, "lowest": float(each.lowest), "highest": float(each.highest)}
        scales.append({**seen, "chain_lowest": low, "chain_highest": high})
    return {
        "congestion_control": spread.control.lower(),
        "mean_packets": float(flow.windows.mean()),
        "chain_mean_packets": None if spread.fitted is None else float(spread.fitted.mean),
        "superposition_p": None if spread.superposition is None else float(spread.superposition.p_value),
        "reason": spread.reason or None,
        "scales": scales,
    }


SECTION = FlowSection("variability", "how the throughput varies, against the chain of {control}", CONTROLS, _found)
