"""Figs 8 and 9: tracking ability and gain against the RTT; and whether the gain is that of prediction.

The source compares a steered connection with the control that it wraps. That mixes two things: slopes that follow what
is predicted, and slopes that are larger on average. So there is a third connection here, whose slope is always the mean
of the inverse linear schedule, (A + a)/2: what the steered one gains over it, prediction gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Mark, Panel, Plot
from parshall.stats.confidence import mean_interval
from parshall.studies.check import Check
from parshall.studies.multiple_time_scale.claims import CONTROLS, NAMES, STEERED, beyond, claim, curve, sign_of, signed
from parshall.studies.multiple_time_scale.grid import Point, Results, Size
from parshall.studies.multiple_time_scale.published import LARGEST_GAIN

MODERN = (("recovery", "sack"), ("initial_window", "10 packets"))
BLIND = (("schedule", "threshold"), ("threshold", 8.0), ("aggressiveness", 3.5))
"""Always the mean slope, whatever is predicted."""


def steered(control: str, rtt_ms: int) -> Point:
    """A steered connection on the source's usual background."""
    return Point(1.05, 5.0, rtt_ms, control, STEERED)


def blind(point: Point) -> Point:
    """The same connection with the mean slope."""
    return replace(point, parameters=BLIND)


def modern(rtt_ms: int) -> Point:
    """CUBIC with SACK and an initial window of 10."""
    return Point(1.05, 5.0, rtt_ms, "cubic", STEERED, tcp=MODERN)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for rtt_ms in size.rtts_ms:
        for point in _at(rtt_ms, size):
            yield from (point, point.plain)
            if _is_end(rtt_ms, size):
                yield blind(point)


def _at(rtt_ms: int, size: Size) -> list[Point]:
    """Steered connections at an RTT."""
    source = [steered(control, rtt_ms) for control in CONTROLS]
    return [*source, modern(rtt_ms)] if _is_end(rtt_ms, size) else source


def _is_end(rtt_ms: int, size: Size) -> bool:
    """Whether it is the smallest or the largest RTT: there is CUBIC too, and the mean slope to compare with."""
    return rtt_ms in (size.rtts_ms[0], size.rtts_ms[-1])


def checks(found: Results, size: Size) -> Iterator[Check]:
    """Figs 8 and 9."""
    low, high = size.rtts_ms[0], size.rtts_ms[-1]
    for control in CONTROLS:
        near, far = (found.gain(steered(control, rtt)) for rtt in (low, high))
        yield claim("fig9", f"gain of {NAMES[control]} at {high} ms less that at {low} ms", 1, far - near, "%")
    at_450 = mean_interval(found.gain(steered("tcp_rate", high)))
    yield Check(
        "fig9",
        f"gain of TCP Rate at {high} ms",
        LARGEST_GAIN,
        at_450.mean,
        at_450.low,
        at_450.high,
        0.05,
        f"published: up to 45 %; {signed(at_450, '%')}",
    )
    for worse, better in pairwise(CONTROLS):
        differences = np.mean(
            [
                found.tracking(steered(better, rtt).plain) - found.tracking(steered(worse, rtt).plain)
                for rtt in size.rtts_ms
            ],
            axis=0,
        )
        yield claim("fig8a", f"correlation of {NAMES[better]} less that of {NAMES[worse]}", -1, differences)
    for control in CONTROLS:
        differences = np.mean(
            [
                found.tracking(steered(control, rtt)) - found.tracking(steered(control, rtt).plain)
                for rtt in size.rtts_ms
            ],
            axis=0,
        )
        yield claim("fig8b", f"correlation of {NAMES[control]}, steered less plain", -1, differences)
        plain = [found.tracking(steered(control, rtt).plain) for rtt in (low, high)]
        yield claim(
            "fig8a", f"correlation of {NAMES[control]} at {high} ms less that at {low} ms", 1, plain[1] - plain[0]
        )
    for control in CONTROLS:
        yield _over_blind(found, steered(control, high), f"{NAMES[control]} at {high} ms")
    yield beyond(f"gain of CUBIC (SACK, initial window 10) at {high} ms", found.gain(modern(high)))
    yield beyond(f"gain of CUBIC (SACK, initial window 10) at {low} ms", found.gain(modern(low)))


def _over_blind(found: Results, point: Point, name: str) -> Check:
    return beyond(f"gain of {name} over the same mean slope without prediction", found.over(point, blind(point)))


def section(found: Results, size: Size) -> Section:
    """The figures and the table."""
    rtts = [float(rtt) for rtt in size.rtts_ms]
    gains: list[Mark] = [Guide(0.0, "no gain")]
    plain: list[Mark] = []
    tracked: list[Mark] = []
    for number, control in enumerate(CONTROLS):
        row = [steered(control, rtt) for rtt in size.rtts_ms]
        gains += curve(rtts, [found.gain(each) for each in row], NAMES[control], number, 100.0)
        plain += curve(rtts, [found.tracking(each.plain) for each in row], NAMES[control], number)
        tracked += curve(rtts, [found.tracking(each) for each in row], "", number)
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
            "linear schedule. Every difference is between runs of the same seed.",
            _answer(found, size),
        ),
        [_table(found, size)],
        [
            Drawn("fig9", "Gain against the RTT (Fig. 9)", gain),
            Drawn("fig8", "Tracking ability against the RTT (Fig. 8)", tracking),
        ],
    )


def _answer(found: Results, size: Size) -> str:
    """Whether prediction is what gains."""
    rtt_ms = size.rtts_ms[-1]
    gains, over = [], []
    for control in CONTROLS:
        point = steered(control, rtt_ms)
        gains.append(found.gain(point))
        over.append(found.over(point, blind(point)))
    gain, rest = mean_interval(np.mean(gains, axis=0)), mean_interval(np.mean(over, axis=0))
    verdict = {
        1: "so that prediction gains something beyond its steeper slopes",
        0: "so that the gain is that of a steeper slope: prediction adds nothing that shows",
        -1: "so that prediction loses against a slope that is always steeper",
    }[sign_of(rest)]
    return (
        f"At an RTT of {rtt_ms} ms the three controls gain {signed(gain, '%')} together. Over a connection whose "
        f"slope is always the schedule's mean, 3.5, without any prediction, they gain {signed(rest, '%')}, {verdict}."
    )


def _table(found: Results, size: Size) -> Table:
    rows = []
    for rtt in size.rtts_ms:
        for point in _at(rtt, size):
            plain, over = found.goodput(point.plain), ""
            if _is_end(rtt, size):
                over = signed(mean_interval(found.over(point, blind(point))), "%")
            others = np.array([[each.background_mbps, each.loss_rate] for each in found.found[point]])
            before = np.array([[each.background_mbps, each.loss_rate] for each in found.found[point.plain]])
            change = (others - before) / before
            rows.append(
                (
                    NAMES[point.control],
                    f"{rtt}",
                    f"{plain.mean():.3f}",
                    signed(mean_interval(found.gain(point)), "%"),
                    over,
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
