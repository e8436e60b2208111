"""Figs 8 and 9: tracking ability and gain against the RTT of the measured connection."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np

from parshall.analysis.stats.claim_rules import one_run
from parshall.analysis.stats.claims import Claim
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Mark, Panel, Plot
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import (
    CONTROLS,
    NAMES,
    beyond,
    claim,
    curve,
    gain_curves,
    percent,
    table,
)
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Point, Results
from parshall_studies.multiple_time_scale.network import PAPER
from parshall_studies.multiple_time_scale.setting import BLIND, MEAN_SLOPE, STEERED, Setting


def steered(setting: Setting, control: str, rtt_ms: int) -> Point:
    """A steered connection on the source's usual background."""
    return grid.point(setting, control, STEERED, rtt_ms=rtt_ms)


def single(setting: Setting) -> Point:
    """TCP Rate at the longest RTT in runs as long as the source's one run, with which it is compared."""
    return replace(steered(setting, "tcp_rate", setting.rtts_ms[-1]), normalised_s=setting.single_s)


def blind(point: Point) -> Point:
    """The same connection with the mean slope: what the steered one gains over it, prediction gives."""
    return replace(point, parameters=BLIND)


def _points(setting: Setting) -> Cases:
    """Each control at each RTT: plain, steered, and with the mean slope."""
    made = [steered(setting, control, rtt_ms) for rtt_ms in setting.rtts_ms for control in CONTROLS]
    more = [*map(blind, made), single(setting), single(setting).plain] if setting.drawn else []
    return grid.cases([*made, *(each.plain for each in made), *more], setting)


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Signs of both figures and of the text beside them, the largest gain, and what prediction adds."""
    found = grid.results(answers)
    made = [*_tracking(found, setting), *_gains(found, setting)]
    if not setting.drawn:
        return made
    far = setting.rtts_ms[-1]
    gain = found.gain(single(setting))
    name, published = f"gain of TCP Rate at {far} ms", PAPER["largest_gain"]
    made.append(one_run("fig9", name, published, gain, within=PAPER.within("gain"), note=percent(gain)))
    for control in CONTROLS:
        for rtt_ms in (setting.rtts_ms[0], far):
            point = steered(setting, control, rtt_ms)
            name = f"gain of {NAMES[control]} at {rtt_ms} ms over the same mean slope without prediction"
            made.append(beyond(name, found.over(point, blind(point))))
    return [*made, *_always(found, setting)]


def _mean(rows: Iterator[FloatArray]) -> FloatArray:
    return np.asarray(np.mean(list(rows), axis=0))


def _tracking(found: Results, setting: Setting) -> Iterator[Claim]:
    """Fig. 8 (§5.2.3)."""
    near, far = setting.rtts_ms[0], setting.rtts_ms[-1]

    def of(control: str, rtt_ms: int, *, plain: bool = True) -> FloatArray:
        point = steered(setting, control, rtt_ms)
        return found.tracking(point.plain if plain else point)

    def mean(control: str, *, plain: bool = True) -> FloatArray:
        return _mean(of(control, each, plain=plain) for each in setting.rtts_ms)

    for worse, better in pairwise(CONTROLS):
        name = f"correlation of {NAMES[better]} less that of {NAMES[worse]}, mean over RTTs"
        yield claim("fig8a", name, -1, mean(better) - mean(worse))
    for control in CONTROLS:
        name = NAMES[control]
        yield claim("fig8a", f"correlation of plain {name}, mean over RTTs", -1, mean(control))
        longer = of(control, far) - of(control, near)
        yield claim("fig8a", f"correlation of {name} at {far} ms less that at {near} ms", 1, longer)
        change = mean(control, plain=False) - mean(control)
        yield claim("fig8b", f"correlation of {name}, steered less plain, mean over RTTs", -1, change)


def _gains(found: Results, setting: Setting) -> Iterator[Claim]:
    """Fig. 9 (§5.3), and how plain controls stand to each other and to the RTT."""
    near, far = setting.rtts_ms[0], setting.rtts_ms[-1]

    def mean(control: str) -> FloatArray:
        return _mean(found.gain(steered(setting, control, each)) for each in setting.rtts_ms)

    def plain(control: str) -> FloatArray:
        return _mean(found.goodput(steered(setting, control, each).plain) for each in setting.rtts_ms)

    for control in CONTROLS:
        name = NAMES[control]
        long, short = (steered(setting, control, each) for each in (far, near))
        yield claim("fig9", f"gain of {name}, mean over RTTs", 1, mean(control), "%")
        grows = found.gain(long) - found.gain(short)
        yield claim("fig9", f"gain of {name} at {far} ms less that at {near} ms", 1, grows, "%")
        longer = found.over(long.plain, short.plain)
        yield claim("§5.3", f"throughput of plain {name} at {far} ms less that at {near} ms", -1, longer, "%")
    for less, more in pairwise(CONTROLS):
        name = f"gain of {NAMES[more]} less that of {NAMES[less]}, mean over RTTs"
        yield claim("fig9", name, 1, mean(more) - mean(less), "%")
        name = f"throughput of plain {NAMES[more]} less that of plain {NAMES[less]}, mean over RTTs"
        yield claim("fig9", name, 1, grid.over_mean(plain(more), plain(less)), "%")


def _always(found: Results, setting: Setting) -> Iterator[Claim]:
    """§3.1: a conservative increase costs more at long RTTs."""
    near, far = setting.rtts_ms[0], setting.rtts_ms[-1]
    for control in CONTROLS:
        long, short = (steered(setting, control, each) for each in (far, near))
        change = found.over(blind(long), long.plain) - found.over(blind(short), short.plain)
        name = f"gain of {NAMES[control]} with a slope that is always the mean at {far} ms less that at {near} ms"
        yield claim("§3.1", name, 1, change, "%")


def _section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    rtts = [float(rtt) for rtt in setting.rtts_ms]
    plain: list[Mark] = []
    tracked: list[Mark] = []
    for number, control in enumerate(CONTROLS):
        row = [steered(setting, control, rtt) for rtt in setting.rtts_ms]
        plain += curve(rtts, [found.tracking(each.plain) for each in row], NAMES[control], number)
        tracked += curve(rtts, [found.tracking(each) for each in row], "", number)
    gains = gain_curves(
        rtts,
        {NAMES[each]: [found.gain(steered(setting, each, rtt)) for rtt in setting.rtts_ms] for each in CONTROLS},
    )
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
        [_table(found, setting)],
        [
            Chart("fig9", "Gain against the RTT (Fig. 9)", gain),
            Chart("fig8", "Tracking ability against the RTT (Fig. 8)", tracking),
        ],
    )


def _table(found: Results, setting: Setting) -> Table:
    columns: dict[str, Callable[[Point], str]] = {
        "control": lambda point: NAMES[point.control],
        "RTT (ms)": lambda point: f"{point.rtt_ms}",
        "plain (Mbit/s)": lambda point: f"{found.goodput(point.plain).mean():.3f}",
        "gain": lambda point: percent(found.gain(point)),
        "gain over the mean slope": lambda point: percent(found.over(point, blind(point))),
        "clients' throughput": lambda point: percent(found.change(point, "background_mbps")),
        "loss rate": lambda point: percent(found.change(point, "loss_rate")),
    }
    steered_ones = [steered(setting, control, rtt) for rtt in setting.rtts_ms for control in CONTROLS]
    return table("What steering gains, and what it costs the clients", steered_ones, columns)


FIGS8_9 = Artefact("fig9", _points, _claims, _section)
