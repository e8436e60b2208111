"""Beyond the source: the rate-based control over UDP, other ways to steer, and T_L from the correlation.

The source says that its results "when running on top of UDP are analogous to that of TCP" (§3.6.4) and omits them. So
there is no published value; the claim is a gain that is positive, and that grows with the RTT as TCP's does. Selective
level control (§3.1) shifts the rate by half of what the plain control reaches beside clients of 5 Mbit/s, about: the
source has no value. Each way to steer is compared with the plain control, and with a slope that is always (A + a)/2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from parshall.analysis.stats.claim_rules import reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.artefact import Answers, Artefact
from parshall.studies.study import Case
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import BEYOND, beyond, claim, percent, table
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Normalised, Point, Results
from parshall_studies.multiple_time_scale.measure import Measured
from parshall_studies.multiple_time_scale.network import ALONE_BIN_S, BASE_RTT_MS, INTERVAL_S
from parshall_studies.multiple_time_scale.rtt import blind
from parshall_studies.multiple_time_scale.setting import BLIND, STEERED, Parameters, Setting
from parshall_studies.time_scale import TimeScale, time_scale

SHIFT = 150.0
"""Packets/s."""
SLOPE, MEAN, LEVEL = "selective slope control", "always the mean slope", "selective level control"
OVER_UDP: dict[str, Parameters] = {SLOPE: STEERED, MEAN: BLIND, LEVEL: (("coupling", "level"), ("shift", SHIFT))}


def _ends(setting: Setting) -> tuple[int, int]:
    return setting.rtts_ms[0], setting.rtts_ms[-1]


def datagrams(setting: Setting, rtt_ms: int, how: str = "plain") -> Point:
    """Datagrams at a rate that grows linearly and shrinks exponentially."""
    made = grid.point(setting, "rate_based", rtt_ms=rtt_ms, datagrams=True)
    return made if how == "plain" else replace(made, parameters=OVER_UDP[how])


def _datagram_points(setting: Setting) -> Cases:
    """Each way to steer at the ends of the RTTs."""
    made = (datagrams(setting, rtt, how) for rtt in _ends(setting) for how in ("plain", *OVER_UDP))
    return grid.cases(made, setting)


def _datagram_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Analogous to TCP: a gain, larger at a longer RTT; and level control, and what prediction adds."""
    found = grid.results(answers)
    low, high = _ends(setting)
    gains = {(rtt, how): found.gain(datagrams(setting, rtt, how)) for rtt in (low, high) for how in OVER_UDP}
    grows = f"gain of datagrams with {SLOPE} at {high} ms less that at {low} ms"
    made = [
        claim("§3.6.4", f"gain of datagrams with {SLOPE}, RTT {rtt} ms", 1, gains[rtt, SLOPE], "%")
        for rtt in (low, high)
    ]
    made.append(claim("§3.6.4", grows, 1, gains[high, SLOPE] - gains[low, SLOPE], "%"))
    for rtt in (low, high):
        made.append(beyond(f"gain of datagrams with {LEVEL}, RTT {rtt} ms", gains[rtt, LEVEL]))
        over = found.over(datagrams(setting, rtt, SLOPE), datagrams(setting, rtt, MEAN))
        made.append(beyond(f"gain of datagrams with {SLOPE} over the same mean slope, RTT {rtt} ms", over))
    return made


def _datagram_section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)

    def beside(point: Point, values: FloatArray) -> str:
        return "" if point.parameters is None else percent(values)

    columns: dict[str, Callable[[tuple[str, Point]], str]] = {
        "datagrams": lambda row: row[0],
        "RTT (ms)": lambda row: f"{row[1].rtt_ms}",
        "throughput (Mbit/s)": lambda row: f"{found.goodput(row[1]).mean():.3f}",
        "gain": lambda row: beside(row[1], found.gain(row[1])),
        "clients' throughput": lambda row: beside(row[1], found.change(row[1], "background_mbps")),
        "loss rate of the link": lambda row: f"{found.of(row[1], 'loss_rate').mean():.3f}",
        "correlation with the clients": lambda row: f"{found.tracking(row[1]).mean():.2f}",
    }
    rows = [(how, datagrams(setting, rtt, how)) for rtt in _ends(setting) for how in ("plain", *OVER_UDP)]
    text = (
        "A flow of datagrams whose rate grows by 100 packets/s each second and falls to 1/e in a second of losses "
        "(the receiver reports once a round trip), beside the clients of 5 Mbit/s. Slope control multiplies the "
        f"growth as it does TCP's; level control moves the rate by up to {SHIFT:g} packets/s."
    )
    return Section("Rate-based control over UDP", (text,), [table("", rows, columns)])


DATAGRAMS = Artefact("datagrams", _datagram_points, _datagram_claims, _datagram_section)


def ways(setting: Setting) -> dict[str, Point]:
    """Reno, steered in different ways, by name."""
    low, high = _ends(setting)

    def at(rtt_ms: int, *more: tuple[str, object]) -> Point:
        return grid.point(setting, "reno", (*STEERED, *more), rtt_ms=rtt_ms)

    return {
        **{f"usual, RTT {rtt} ms": at(rtt) for rtt in (low, high)},
        **{f"T_L = {each}, RTT {high} ms": at(high, ("interval", each)) for each in ("1 s", "5 s", "10 s")},
        f"conservative: slope 0.5 at the highest contention, RTT {high} ms": at(high, ("conservativeness", 0.5)),
        f"coupled to slow start, RTT {high} ms": at(high, ("coupling", "slow_start")),
        f"coupled to both, RTT {high} ms": at(high, ("coupling", "both")),
    }


def _ways_points(setting: Setting) -> Cases:
    """Each way, the plain control, and the mean slope."""
    return grid.cases(
        (each for point in ways(setting).values() for each in (point, point.plain, blind(point))), setting
    )


def _ways_claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The gain over the plain control by variant; the source has none of them."""
    found = grid.results(answers)
    return [beyond(f"gain of Reno, {name}", found.gain(point)) for name, point in ways(setting).items()]


def _ways_section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    columns: dict[str, Callable[[tuple[str, Point]], str]] = {
        "variant": lambda row: row[0],
        "plain (Mbit/s)": lambda row: f"{found.goodput(row[1].plain).mean():.3f}",
        "gain": lambda row: percent(found.gain(row[1])),
        "gain over the mean slope": lambda row: percent(found.over(row[1], blind(row[1]))),
        "correlation, plain": lambda row: f"{found.tracking(row[1].plain).mean():.2f}",
    }
    text = "Reno beside clients of 5 Mbit/s, tail index 1.05; usual are T_L = 2 s and congestion avoidance alone."
    return Section("What the gain depends on", (text,), [table("", ways(setting).items(), columns)])


WAYS = Artefact("ways", _ways_points, _ways_claims, _ways_section)
_LONGEST_S = 20.0
"""Of the intervals considered for T_L."""


def usual(setting: Setting, tail_index: float) -> Point:
    """Steered Reno with T_L = 2 s, at the largest RTT."""
    return grid.point(setting, "reno", STEERED, tail_index=tail_index, rtt_ms=setting.rtts_ms[-1])


def _tails(setting: Setting) -> tuple[float, float]:
    return setting.tail_indices[0], setting.tail_indices[-1]


def of_backgrounds(backgrounds: Sequence[Normalised]) -> TimeScale:
    """T_L from what the clients of all seeds carry alone."""
    series = [np.array(each.alone.levels) for each in backgrounds]
    return time_scale(series, ALONE_BIN_S, rtt_s=BASE_RTT_MS / 1000, longest_s=_LONGEST_S)


def _interval_points(setting: Setting) -> Cases:
    """T_L at each end of the tail indices, and steering with it."""
    compared = [usual(setting, alpha) for alpha in _tails(setting)]
    made = grid.cases([*compared, *(each.plain for each in compared)], setting)
    for point in compared:
        clients = [made[point.key, number] for number in range(setting.seeds)]
        scale = made["scale", point] = Case("T_L from the correlation", of_backgrounds, (tuple(clients),))
        for number, each in enumerate(clients):
            arguments = (point, scale, each, setting.duration_s)
            made[("chosen", point), number] = Case("with that T_L", with_chosen, arguments)
    return made


def with_chosen(point: Point, scale: TimeScale, normalised: Normalised, duration_s: float) -> Measured | None:
    """Steering with the interval that was chosen; None where there is nothing to predict."""
    if scale.interval_s is None:
        return None
    interval_s = max(scale.interval_s, point.rtt_ms / 1000)  # the module refuses less than the RTT
    chosen = replace(point, parameters=(*(point.parameters or ()), ("interval", f"{interval_s:g} s")))
    return grid.on_background(chosen, normalised, duration_s)


def _chosen(answers: Answers, found: Results, setting: Setting, point: Point) -> FloatArray:
    """Gain over the plain control, by seed."""
    with_it = np.array([answers[("chosen", point), number].goodput_mbps for number in range(setting.seeds)])
    return grid.over_mean(with_it, found.goodput(point.plain))


def _interval_claims(answers: Answers, setting: Setting) -> list[Claim]:
    return list(_intervals(answers, setting))


def _intervals(answers: Answers, setting: Setting) -> Iterator[Claim]:
    found = grid.results(answers)
    for alpha in _tails(setting):
        point = usual(setting, alpha)
        scale: TimeScale = answers["scale", point]
        best = max(scale.correlations, key=lambda each: each.correlation)
        name = f"T_L from the correlation at α = {alpha:g}, s (0: nothing to predict)"
        note = f"the largest correlation is {best.correlation:.2f} at {best.interval_s:g} s"
        yield reported(BEYOND, name, exactly(scale.interval_s or 0.0), note)
        if scale.interval_s is not None:
            gain = _chosen(answers, found, setting, point)
            yield beyond(f"gain of Reno with that T_L, α = {alpha:g}", gain)
            name = f"gain of Reno with that T_L less that with {INTERVAL_S:g} s, α = {alpha:g}"
            yield beyond(name, gain - found.gain(point))


def _interval_section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    marks: list[Mark] = []
    rows = []
    for number, alpha in enumerate(_tails(setting)):
        point = usual(setting, alpha)
        scale: TimeScale = answers["scale", point]
        at = [each.interval_s for each in scale.correlations]
        values = [each.correlation for each in scale.correlations]
        low, high = ([each.correlation + sign * each.standard_error for each in scale.correlations] for sign in (-1, 1))
        marks += [
            Line(at, values, "", Style(number, thin=True)),
            Points(at, values, f"α = {alpha:g}", Style(number), low, high),
        ]
        if scale.interval_s is None:
            rows.append(f"At α = {alpha:g} no interval says anything of the next")
        else:
            gain = percent(_chosen(answers, found, setting, point))
            rows.append(f"At α = {alpha:g} T_L = {scale.interval_s:g} s, with which Reno gains {gain}")
    axes = Axis("interval T", "s"), Axis("correlation of successive intervals")
    caption = "Correlation of the clients' traffic in successive intervals; bars are standard errors."
    text = (
        "T_L need not be guessed: it is the shortest interval that says as much of the next one as any, at least ten "
        "RTTs of the clients. " + ". ".join(rows) + "."
    )
    drawn = Chart("time-scale", "What an interval says of the next", Plot([Panel(marks, *axes)], caption))
    return Section("T_L from the measured correlation", (text,), figures=[drawn])


INTERVAL = Artefact("interval", _interval_points, _interval_claims, _interval_section)
