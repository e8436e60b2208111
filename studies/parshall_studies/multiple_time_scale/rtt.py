"""Figs 8 and 9: tracking ability and gain against the RTT of the measured connection."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from parshall.analysis.stats.claim_rules import one_run
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, STEERED, beyond, curve, signed
from parshall_studies.multiple_time_scale.contrasts import contrasts
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import PAPER
from parshall_studies.multiple_time_scale.readings import BASE, BLIND, MEAN_SLOPE


def steered(control: str, rtt_ms: int) -> Point:
    """A steered connection on the source's usual background."""
    return BASE.point(control, STEERED, rtt_ms=rtt_ms)


def single(size: Size, control: str) -> Point:
    """The steered connection at the longest RTT in runs as long as the source's one run, with which it is compared."""
    return replace(steered(control, size.rtts_ms[-1]), normalised_s=size.single_s)


def blind(point: Point) -> Point:
    """The same connection with the mean slope: what the steered one gains over it, prediction gives."""
    return replace(point, parameters=BLIND)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for rtt_ms in size.rtts_ms:
        for control in CONTROLS:
            point = steered(control, rtt_ms)
            yield from (point, point.plain, blind(point))
    yield from (single(size, "tcp_rate"), single(size, "tcp_rate").plain)
    for each in contrasts("fig8a", "fig8b", "fig9"):
        yield from each.points(BASE, size)


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """Figs 8 and 9, and what prediction adds."""
    yield from (each.check(results, size) for each in contrasts("fig8a", "fig8b", "fig9"))
    far = size.rtts_ms[-1]
    yield one_run(
        "fig9",
        f"gain of TCP Rate at {far} ms",
        PAPER["largest_gain"],
        results.gain(single(size, "tcp_rate")),
        within=PAPER.within("gain"),
        note=signed(mean_interval(results.gain(single(size, "tcp_rate"))), "%"),
    )
    for control in CONTROLS:
        for rtt_ms in (size.rtts_ms[0], far):
            point = steered(control, rtt_ms)
            name = f"gain of {NAMES[control]} at {rtt_ms} ms over the same mean slope without prediction"
            yield beyond(name, results.over(point, blind(point)))


def section(results: Results, size: Size) -> Section:
    """The figures and the table."""
    rtts = [float(rtt) for rtt in size.rtts_ms]
    gains: list[Mark] = [Guide(0.0, "no gain")]
    plain: list[Mark] = []
    tracked: list[Mark] = []
    for number, control in enumerate(CONTROLS):
        row = [steered(control, rtt) for rtt in size.rtts_ms]
        gains += curve(rtts, [results.gain(each) for each in row], NAMES[control], number, 100.0)
        plain += curve(rtts, [results.tracking(each.plain) for each in row], NAMES[control], number)
        tracked += curve(rtts, [results.tracking(each) for each in row], "", number)
    x = Axis("RTT", "ms")
    tracking = Plot(
        [
            Panel(plain, x, Axis("correlation, plain"), height=0.8),
            Panel(tracked, x, Axis("correlation, steered"), height=0.8),
        ],
        "Correlation of the connection's throughput with the background's in intervals of 2 s; -1 would be perfect.",
    )
    gain = Plot([Panel(gains, x, Axis("gain", "%"))], "Gain of the steered connection, with 95 % intervals over seeds.")
    return Section(
        "Gain and tracking against the RTT",
        (
            "One endless connection beside the 32 clients (tail index 1.05, normalised to 5 Mbit/s); A = 6, inverse "
            "linear schedule. Every difference is between runs of the same seed. The gain over the mean slope is that "
            f"over a connection whose slope is always {MEAN_SLOPE:g}: what it gains over it, prediction gives.",
        ),
        [_table(results, size)],
        [
            Chart("fig9", "Gain against the RTT (Fig. 9)", gain),
            Chart("fig8", "Tracking ability against the RTT (Fig. 8)", tracking),
        ],
    )


def _table(results: Results, size: Size) -> Table:
    rows = []
    for rtt in size.rtts_ms:
        for control in CONTROLS:
            point = steered(control, rtt)
            others = np.array([[each.background_mbps, each.loss_rate] for each in results.runs[point]])
            before = np.array([[each.background_mbps, each.loss_rate] for each in results.runs[point.plain]])
            change = (others - before) / before
            rows.append(
                (
                    NAMES[control],
                    f"{rtt}",
                    f"{results.goodput(point.plain).mean():.3f}",
                    signed(mean_interval(results.gain(point)), "%"),
                    signed(mean_interval(results.over(point, blind(point))), "%"),
                    signed(mean_interval(change[:, 0]), "%"),
                    signed(mean_interval(change[:, 1]), "%"),
                )
            )
    header = (
        "control",
        "RTT (ms)",
        "plain (Mbit/s)",
        "gain",
        "gain over the mean slope",
        "clients' throughput",
        "loss rate",
    )
    return Table("What steering gains, and what it costs the clients", header, rows, numbers=(1, 2, 3, 4, 5, 6))
