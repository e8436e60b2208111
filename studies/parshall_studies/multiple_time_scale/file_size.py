"""The gain against the size of a file: it decides if long-range dependence pays, which the source never says.

At a given load the clients' idle time is the size of a file: 32 clients carry 5 Mbit/s with some 45 packets on average
and pauses of 2 s, or with 4 and 0.1 s. With large files of a light tail every one ends in a burst of slow start, so
that short-range dependent traffic is the harsher one; with small ones it is nearly Poisson. Under a heavy tail most
files are small either way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from parshall.analysis.stats.claims import Claim
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Panel, Plot
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid, tails
from parshall_studies.multiple_time_scale.claims import CONTROLS, NAMES, beyond, gain_curves, percent, table
from parshall_studies.multiple_time_scale.grid import Cases, FloatArray, Point, Results
from parshall_studies.multiple_time_scale.setting import Setting


def _settings(setting: Setting) -> list[Setting]:
    return [replace(setting, idle_s=each) for each in setting.idles_s]


def _ends(setting: Setting, control: str) -> tuple[Point, Point]:
    """Steered at the heaviest and the lightest tail."""
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    return tails.steered(setting, control, heavy), tails.steered(setting, control, light)


def _points(setting: Setting) -> Cases:
    """Each control at both ends of the tail indices, by idle time."""
    made = [each for one in _settings(setting) for control in CONTROLS for each in _ends(one, control)]
    return grid.cases([*made, *(each.plain for each in made)], setting)


def _premium(found: Results, setting: Setting, control: str) -> FloatArray:
    """Gain under the heavy tail less that under the light one, by seed."""
    heavy, light = _ends(setting, control)
    return np.asarray(found.gain(heavy) - found.gain(light))


def _lighter(found: Results, setting: Setting, control: str) -> FloatArray:
    """Throughput of the plain control under the light tail over the heavy one (§5.4), by seed."""
    heavy, light = _ends(setting, control)
    return found.over(light.plain, heavy.plain)


def _packets(found: Results, setting: Setting) -> float:
    """Mean size of a file at the lightest tail."""
    row = found.backgrounds[_ends(setting, "reno")[1].key]
    return float(np.mean([each.background.mean_packets for each in row]))


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """The gain that the heavy tail adds, by the size of a file."""
    found = grid.results(answers)
    return [
        beyond(
            f"gain of {NAMES[control]} under the heaviest tail less that under the lightest, idle {one.idle_s:g} s",
            _premium(found, one, control),
        )
        for control in CONTROLS
        for one in _settings(setting)
    ]


def _section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    all_settings = _settings(setting)
    sizes = [_packets(found, one) for one in all_settings]
    x = Axis("mean size of a file under the lightest tail", "packets", log=True)
    gains = {NAMES[each]: [found.gain(_ends(one, each)[0]) for one in all_settings] for each in CONTROLS}
    more = {NAMES[each]: [_premium(found, one, each) for one in all_settings] for each in CONTROLS}
    panels = [
        Panel(gain_curves(sizes, drawn), x, Axis(name, "%"))
        for name, drawn in (("gain under the heaviest tail", gains), ("what the heavy tail adds", more))
    ]
    heavy, light = setting.tail_indices[0], setting.tail_indices[-1]
    columns: dict[str, Callable[[tuple[Setting, str]], str]] = {
        "control": lambda row: NAMES[row[1]],
        "idle (s)": lambda row: f"{row[0].idle_s:g}",
        "packets a file": lambda row: f"{_packets(found, row[0]):.1f}",
        f"gain at α = {heavy:g}": lambda row: percent(found.gain(_ends(*row)[0])),
        f"at {light:g}": lambda row: percent(found.gain(_ends(*row)[1])),
        "difference": lambda row: percent(_premium(found, *row)),
        "plain at the lightest over the heaviest": lambda row: percent(_lighter(found, *row)),
    }
    caption = f"RTT of {setting.tail_rtt_ms} ms, clients of 5 Mbit/s; bars are 95 % intervals over seeds."
    text = (
        "At a given load the clients' idle time is the size of their files. Steering gains by long-range dependence "
        "where the curves of the second panel are above 0."
    )
    chart = Chart("file-size", "Gain against the size of a file", Plot(panels, caption))
    listed = table("", [(one, control) for control in CONTROLS for one in all_settings], columns)
    return Section("When does long-range dependence pay?", (text,), [listed], [chart])


FILE_SIZE = Artefact("file-size", _points, _claims, _section)
