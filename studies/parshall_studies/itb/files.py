"""Figs 3, 8, 9, 10: files from many hosts at once.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Fig. 3 | starting together: larger spread (83 to 28 s), smaller mean (409 to 425 s) | sd over mean, signs |
| Fig. 8 | the mean time is linear in the congestion level for most variants | distance from the line that is drawn |
| Fig. 9 | only reverse traffic that congests matters | mean at R = 0.8 and 1.5 over that without |
| Fig. 10 | Scalable's spread is well above CUBIC's, 294 to 114 s at C_g = 2.1 | both, and their ratio |

Times are over the file's own time at 1 Gbit/s, or scaled to the source's 30 GB; starts are as much closer together as
files are smaller. Slow start is not scaled, so it is a larger part of a small file. The source shows one run of each,
so its values are held against the interval in which one run of ours falls.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.3, §5.5.2, §5.6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from parshall.analysis.stats.claim_rules import bent, equal, one_run, reported, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Band, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.artefact import Artefact, Measurement
from parshall_studies.itb.network import (
    ACCESS_BPS,
    CAPACITY_BPS,
    PAPER,
    PAYLOAD_SHARE,
    RTT_MS,
    VARIANTS,
    Measured,
    Place,
    Setting,
    Values,
    bed,
    by_place,
    together,
)

FIG3_FLOWS = 17
REVERSE = (0.0, 0.8, 1.5)
TOGETHER, STAGGERED = "fig3-together", "fig3-staggered"
HOSTS_AT_1 = CAPACITY_BPS / ACCESS_BPS
"""Hosts at a congestion level of 1."""
SOURCE_GB = 30.0
_APART_S = 4.0
"""Between two starts of Fig. 3."""
_SAMPLES, _BINS = 400, 24
_SD = PAPER["fig10_sd"]

Statistic = Callable[[Values], float | np.floating]
Times = Mapping[str, Sequence[Values]]
"""Completion times by place, s, an array a repetition."""


def alone_s(gigabytes: float) -> float:
    """The time of a file at 1 Gbit/s, headers included, s."""
    return 8 * gigabytes / PAYLOAD_SHARE


_SOURCE_S = alone_s(SOURCE_GB)
"""That of the source's files, in whose seconds its Figs 8 and 9 are."""


def completions(run: Run, slower: int = 1) -> Measured:
    """Completion times by place, s, a file that did not end counting to the end; goodputs where flows are sampled."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    rows = run.transfers.filter(pl.col("transfer") == 0)
    taken = rows.with_columns(taken=pl.col("completion_s").fill_null(run.scenario.duration_s) - pl.col("start_s"))
    return Measured(by_place(taken, "taken"), _goodputs(run, slower))


def _goodputs(run: Run, slower: int) -> dict[str, tuple[Values, Values]]:
    """Each flow's goodput between samples in the first repetition, bit/s of the source's network."""
    if run.flow_samples is None:
        return {}
    curves = {}
    groups = run.flows.select("flow", "repetition", "group")
    first = run.flow_samples.filter(pl.col("repetition") == 0).join(groups, on=["repetition", "flow"], how="left")
    for (group, flow), rows in first.sort("time_s").group_by(["group", "flow"], maintain_order=True):
        time_s = rows["time_s"].to_numpy()
        bits = 8 * slower * rows["delivered_bytes"].to_numpy().astype(np.float64)
        curves[f"{group}:{flow}"] = ((time_s[1:] + time_s[:-1]) / 2, np.diff(bits) / np.diff(time_s))
    return curves


def per_run(times: Times, place: str, statistic: Statistic) -> list[float]:
    """A statistic of a place's times, one value a repetition."""
    return [float(statistic(values)) for values in times[place]]


def compared(times: Times, one: str, other: str, statistic: Statistic, *, ratio: bool = False) -> list[float]:
    """A statistic of one place less that of another, or over it, one value a repetition."""
    pairs = zip(per_run(times, one, statistic), per_run(times, other, statistic), strict=True)
    return [a / b if ratio else a - b for a, b in pairs]


def _spread(times: Values) -> float:
    return float(np.std(times) / np.mean(times))


def _one_run(artefact: str, quantity: str, published: float, ours: Sequence[float]) -> Claim:
    """The source's one run beside ours; it prints whole seconds, of some hundred."""
    within = PAPER.within("seconds", published)
    if np.ptp(ours) == 0.0:
        value = exactly(ours[0]) if len(ours) > 1 else single(ours[0])
        return equal(artefact, quantity, published, value, within=within)
    return one_run(artefact, quantity, published, ours, within=within)


# --- Fig. 3 ---


def _fig3_points(setting: Setting) -> dict[str, Measurement]:
    """Both ways to start, side by side: within a second, and 4 s apart, or as much less as files are smaller."""
    apart_s = _APART_S * setting.fig3_gb / SOURCE_GB
    starts = {TOGETHER: ("uniform", min(1.0, apart_s)), STAGGERED: ("staggered", apart_s)}
    places = [Place(name, "bic", FIG3_FLOWS, setting.fig3_gb, start) for name, start in starts.items()]
    duration_s = 4 * alone_s(setting.fig3_gb) + FIG3_FLOWS * apart_s
    samples_s = 2.2 * alone_s(setting.fig3_gb) / _SAMPLES if setting.drawn else None
    scenario = bed(places, setting, RTT_MS, duration_s, samples_s=samples_s)
    return {"starts": Measurement("Fig. 3", scenario, completions, (setting.slower,))}


def _fig3_claims(answers: Mapping[str, Measured], setting: Setting) -> list[Claim]:
    times, ideal_s = together(answers).values, alone_s(setting.fig3_gb)
    claims: list[Claim] = []
    for place, (mean, sd) in zip((TOGETHER, STAGGERED), PAPER["fig3"].values(), strict=True):
        name = place.removeprefix("fig3-")
        means = [value / ideal_s for value in per_run(times, place, np.mean)]
        claims += [
            _one_run("fig3", f"sd over mean, starts {name}", sd / mean, per_run(times, place, _spread)),
            _one_run("fig3", f"mean over 30 GB at 1 Gbit/s, starts {name}", mean / _SOURCE_S, means),
        ]
    signs: tuple[tuple[str, int, Statistic], ...] = (
        ("sd over mean", 1, _spread),
        ("mean", -1, np.mean),
        ("longest time", 1, np.max),
    )
    for what, published, statistic in signs:
        change = mean_interval(compared(times, TOGETHER, STAGGERED, statistic))
        claims.append(sign("fig3", f"{what}, starts together less staggered", published, change))
    return claims


def _fig3_section(answers: Mapping[str, Measured], setting: Setting) -> Section:
    """Goodput of each flow over time, for both ways to start."""
    curves = together(answers).curves
    longest_s = max((float(time_s[-1]) for time_s, _ in curves.values()), default=1.0)
    # A hole that is filled counts at once: some samples are above the line's rate.
    axes = Axis("time", "s", minimum=0, maximum=longest_s), Axis("goodput", "Mbit/s", minimum=0, maximum=1200)
    panels = []
    for place in (TOGETHER, STAGGERED):
        own = [curve for name, curve in curves.items() if name.startswith(place)]
        marks: list[Mark] = [
            Line(time_s, bps / 1e6, "", Style(series=number, thin=True)) for number, (time_s, bps) in enumerate(own)
        ]
        panels.append(Panel(marks, *axes, f"starts {place.removeprefix('fig3-')}", height=1.6))
    caption = f"Goodput of each of {FIG3_FLOWS} flows of BIC with files of {setting.fig3_gb:g} GB, one run of each."
    return Section("Fig. 3: starts", (), [], [Chart("fig3", "Fig. 3: goodput of each flow", Plot(panels, caption))])


# --- Figs 8 and 10 ---


def place_name(variant: str, level: float) -> str:
    """The place of Figs 8 and 10 with a control and a congestion level."""
    return f"fig8-{variant}-{round(10 * level)}"


def _at_level(setting: Setting, level: float) -> dict[tuple[float, tuple[str, ...]], Measurement]:
    """Files at a congestion level, by the controls of a bed."""
    ideal_s, count = alone_s(setting.bulk_gb), round(HOSTS_AT_1 * level)
    points = {}
    for names in setting.batches:
        start = ("uniform", ideal_s / 240)
        places = [Place(place_name(name, level), name, count, setting.bulk_gb, start) for name in names]
        scenario = bed(places, setting, RTT_MS, 6 * ideal_s * max(1.0, level))
        points[level, names] = Measurement(f"C_g = {level:g}, {', '.join(names)}", scenario, completions)
    return points


def _fig8_points(setting: Setting) -> dict[tuple[float, tuple[str, ...]], Measurement]:
    return {key: each for level in setting.levels for key, each in _at_level(setting, level).items()}


FROM_A_LINE = "largest distance of times from a line over C_g, over its rise"
MOST_ARE_LINES = "variants whose times are a line over C_g, less half of them"


def most_are_lines(fits: Sequence[Sequence[float]], levels: Values) -> Claim:
    """The claim of Fig. 8, of what `bent` says of each variant in each repetition.

    Its nulls are variants whose times are curves.
    """

    def lines(distances: Sequence[float]) -> float:
        near = PAPER.within("line").value
        return sum(0 <= distance <= near for distance in distances) - len(distances) / 2

    curves = {"the square of C_g": levels**2, "its logarithm": np.log(levels), "times that fall": -levels}
    nulls = [Null(name, exactly(lines([bent(levels, curve)] * len(fits[0])))) for name, curve in curves.items()]
    return replace(sign("fig8", MOST_ARE_LINES, 1, mean_interval(list(map(lines, fits)))), nulls=tuple(nulls))


def _congested(setting: Setting) -> Values:
    return np.array([level for level in setting.levels if level >= 1])


def _fig8_claims(answers: Mapping[tuple[float, tuple[str, ...]], Measured], setting: Setting) -> list[Claim]:
    times, levels = together(answers).values, _congested(setting)
    means = {
        name: np.transpose([per_run(times, place_name(name, level), np.mean) for level in levels]) for name in VARIANTS
    }
    fits = {name: [bent(levels, run) for run in runs] for name, runs in means.items()}
    by_run = list(zip(*fits.values(), strict=True))
    distances = (reported("fig8", f"{FROM_A_LINE}, {name}", mean_interval(fit)) for name, fit in fits.items())
    return [most_are_lines(by_run, levels), *distances]


def _fig8_section(answers: Mapping[tuple[float, tuple[str, ...]], Measured], setting: Setting) -> Section:
    """Mean times over the congestion level, and the line that each variant is judged by."""
    times, congested, factor = together(answers).values, _congested(setting), SOURCE_GB / setting.bulk_gb
    marks: list[Mark] = []
    for number, name in enumerate(VARIANTS):
        means = factor * np.array([np.mean(per_run(times, place_name(name, x), np.mean)) for x in setting.levels])
        slope, height = np.polyfit(congested, means[-congested.size :], 1)
        marks += [
            Points(setting.levels, means, name, Style(series=number)),
            Line(congested, height + slope * congested, "", Style(series=number, thin=True)),
        ]
    axes = Axis("C_g"), Axis("mean completion time, scaled to 30 GB", "s", minimum=0)
    caption = f"Means over files of {setting.bulk_gb:g} GB and over runs; lines are fitted to levels of 1 and more."
    return Section(
        "Fig. 8: congestion level",
        (),
        [],
        [Chart("fig8", "Fig. 8: congestion level", Plot([Panel(marks, *axes)], caption))],
    )


def _fig10_points(setting: Setting) -> dict[tuple[float, tuple[str, ...]], Measurement]:
    """Those runs of Fig. 8 at the highest level that have CUBIC or Scalable."""
    points = _at_level(setting, setting.levels[-1])
    return {key: point for key, point in points.items() if set(key[1]) & set(_SD)}


def _fig10_claims(answers: Mapping[tuple[float, tuple[str, ...]], Measured], setting: Setting) -> list[Claim]:
    times, scaled = together(answers).values, SOURCE_GB / setting.bulk_gb
    scalable, cubic = (place_name(name, setting.levels[-1]) for name in ("scalable", "cubic_2005"))
    claims = []
    for name, published in _SD.items():
        spreads = [scaled * value for value in per_run(times, place_name(name, setting.levels[-1]), np.std)]
        claims.append(_one_run("fig10", f"sd of completion times, {name}, s", published, spreads))
        relative = mean_interval(per_run(times, place_name(name, setting.levels[-1]), _spread))
        claims.append(reported("fig10", f"sd over mean, {name}", relative))
    published = _SD["scalable"] / _SD["cubic_2005"]
    ratio = mean_interval(compared(times, scalable, cubic, np.std, ratio=True))
    within = PAPER.within("seconds", published)
    less = mean_interval(compared(times, scalable, cubic, np.std))
    return [
        *claims,
        equal("fig10", "sd of Scalable over that of CUBIC", published, ratio, within=within),
        sign("fig10", "sd of completion times, Scalable less CUBIC", 1, less),
    ]


def _fig10_section(answers: Mapping[tuple[float, tuple[str, ...]], Measured], setting: Setting) -> Section:
    """How many files take how long, CUBIC above, Scalable below."""
    times, last = together(answers).values, setting.levels[-1]
    scaled = SOURCE_GB / setting.bulk_gb
    every = {name: scaled * np.concatenate(times[place_name(name, last)]) for name in ("cubic_2005", "scalable")}
    together_s = np.concatenate(list(every.values()))
    edges = np.linspace(together_s.min(), together_s.max(), _BINS + 1)
    counts = {name: np.histogram(values, edges)[0].astype(np.float64) for name, values in every.items()}
    axes = (
        Axis("completion time, scaled to 30 GB", "s"),
        Axis("files", minimum=0, maximum=float(max(count.max() for count in counts.values())) + 1),
    )
    panels, rows = [], []
    for number, (name, count) in enumerate(counts.items()):
        # The outline of the bars: each edge twice, from 0 to 0.
        outline, high = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(count, 2), [0.0]])
        style = Style(series=number)
        marks: list[Mark] = [
            Band(outline, np.zeros_like(high), high, "", style),
            Line(outline, high, name, style),
            Guide(float(every[name].mean()), "mean", along="x"),
        ]
        mean, sd = (scaled * np.mean(per_run(times, place_name(name, last), f)) for f in (np.mean, np.std))
        panels.append(Panel(marks, *axes, f"{name}, sd {sd:.0f} s", height=1.3))
        rows.append((f"`{name}`", f"{_SD[name]:g}", f"{sd:.0f}", f"{mean:.0f}", f"{sd / mean:.3f}"))
    caption = f"All runs, C_g = {last:g}; published: sd of 114 s (CUBIC) and 294 s (Scalable)."
    header = ("control", "published sd (s)", "ours", "our mean", "our sd over mean")
    table = Table(f"Fig. 10: times at C_g = {last:g}, s, scaled to 30 GB", header, rows, numbers=(1, 2, 3, 4))
    chart = Chart("fig10", "Fig. 10: distribution of completion times", Plot(panels, caption))
    return Section("Fig. 10: spread", (), [table], [chart])


# --- Fig. 9 ---


def reverse_name(level: float, reverse: float) -> str:
    """The place of Fig. 9 with a congestion level and one of reverse traffic."""
    return f"fig9-{round(10 * level)}-{round(10 * reverse)}"


def _fig9_points(setting: Setting) -> dict[float, Measurement]:
    ideal_s = alone_s(setting.bulk_gb)
    points = {}
    for level in setting.reversed_levels:
        count, start = round(HOSTS_AT_1 * level), ("uniform", ideal_s / 240)
        places = [
            Place(reverse_name(level, r), "cubic_2005", count, setting.bulk_gb, start, round(HOSTS_AT_1 * r))
            for r in REVERSE
        ]
        points[level] = Measurement(f"Fig. 9, C_g = {level:g}", bed(places, setting, RTT_MS, 6 * ideal_s), completions)
    return points


def _fig9_claims(answers: Mapping[float, Measured], setting: Setting) -> list[Claim]:
    times, claims = together(answers).values, []
    for level in setting.reversed_levels:
        none, half, full = (reverse_name(level, reverse) for reverse in REVERSE)
        cost = mean_interval(compared(times, half, none, np.mean, ratio=True))
        quantity = f"completion time at R = 0.8 over that without, C_g = {level:g}"
        claims.append(equal("fig9", quantity, 1.0, cost, within=PAPER.within("costs")))
        change = mean_interval([value - 1 for value in compared(times, full, half, np.mean, ratio=True)])
        quantity = f"completion time, change from R = 0.8 to R = 1.5, C_g = {level:g}"
        claims.append(sign("fig9", quantity, 1, change, negligible=PAPER.within("costs")))
    return claims


def _fig9_section(answers: Mapping[float, Measured], setting: Setting) -> Section:
    times, levels = together(answers).values, setting.reversed_levels
    means = {
        r: np.array([np.mean(per_run(times, reverse_name(x, r), np.mean)) for x in levels]) / alone_s(setting.bulk_gb)
        for r in REVERSE
    }
    rows = [(f"{level:g}", *(f"{means[r][row]:.3f}" for r in REVERSE)) for row, level in enumerate(levels)]
    header = ("C_g", *(f"R = {r:g}" for r in REVERSE))
    table = Table("Fig. 9: CUBIC, mean completion time over that at 1 Gbit/s", header, rows, numbers=(1, 2, 3))
    marks = [Line(levels, _SOURCE_S * means[r], f"R = {r:g}", Style(series=n)) for n, r in enumerate(REVERSE)]
    axes = Axis("C_g"), Axis("mean completion time, scaled to 30 GB", "s", minimum=0)
    chart = Chart("fig9", "Fig. 9: reverse traffic", Plot([Panel(marks, *axes)], "CUBIC; means over files and runs."))
    return Section("Fig. 9: reverse traffic", (), [table], [chart])


FIG3 = Artefact("fig3", _fig3_points, _fig3_claims, _fig3_section)
FIG8 = Artefact("fig8", _fig8_points, _fig8_claims, _fig8_section)
FIG9 = Artefact("fig9", _fig9_points, _fig9_claims, _fig9_section)
FIG10 = Artefact("fig10", _fig10_points, _fig10_claims, _fig10_section)
