"""The figures of a flow of a trace."""

from __future__ import annotations

import numpy as np

from parshall.instruments.observation.flow import LossBin, TracedFlow
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.report.thinning import extremes


def windows(flow: TracedFlow) -> Plot:
    """Windows over time, with the slots that lost a packet."""
    drawn = extremes(flow.starts_s, flow.windows)
    marks: list[Line | Points] = [Line(drawn.x, drawn.y, "window", Style(0, thin=True))]
    events = flow.events
    if events.any():
        shown = np.flatnonzero(events)
        shown = shown[:: -(-len(shown) // 400)]
        marks.append(Points(flow.starts_s[shown], flow.windows[shown], "a loss event begins", Style(3)))
    time = Axis("time", "s", minimum=0.0)
    caption = "Packets in consecutive slots of one round-trip time. " + drawn.note
    return Plot([Panel(marks, time, Axis("window", "packets", minimum=0.0))], caption.strip())


def round_trips(flow: TracedFlow) -> Plot | None:
    """Smoothed round-trip time over time; None where it was not sampled."""
    known = flow.samples.drop_nulls("srtt_s")
    if known.height < 2:
        return None
    x, y = (known[name].to_numpy().astype(np.float64) for name in ("time_s", "srtt_s"))
    drawn = extremes(x, 1e3 * y)
    panel = Panel(
        [Line(drawn.x, drawn.y, "", Style(1))], Axis("time", "s", minimum=0.0), Axis("RTT", "ms", minimum=0.0)
    )
    return Plot([panel], ("Smoothed round-trip time. " + drawn.note).strip())


def in_flight(flow: TracedFlow) -> Plot | None:
    """Congestion window, or packets in flight, of a sampled flow; None where neither was seen."""
    for column, title in (("cwnd_packets", "congestion window"), ("in_flight_packets", "packets in flight")):
        known = flow.samples.drop_nulls(column)
        if known.height >= 2:
            x, y = (known[name].to_numpy().astype(np.float64) for name in ("time_s", column))
            drawn = extremes(x, y)
            axes = Axis("time", "s", minimum=0.0), Axis(title, "packets", minimum=0.0)
            return Plot([Panel([Line(drawn.x, drawn.y)], *axes)], (f"The {title}, sampled. " + drawn.note).strip())
    return None


def loss_function(bins: list[LossBin]) -> Plot:
    """p(w) with its binomial intervals."""
    values = {name: [getattr(each, name) for each in bins] for name in ("window", "p", "p_low", "p_high")}
    points = Points(values["window"], values["p"], "", Style(0), values["p_low"], values["p_high"])
    panel = Panel([points], Axis("window", "packets"), Axis("p(w)", "", minimum=0.0))
    return Plot(
        [panel],
        "Share of the round trips with a window of about w that begin a loss event, with 95 % binomial intervals.",
    )
