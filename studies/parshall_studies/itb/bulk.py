"""Figs 3, 8, 9, 10: files from many hosts at once.

| artefact | claim of the source | how it is checked |
| --- | --- | --- |
| Fig. 3 | starting together: larger spread (83 to 28 s), smaller mean (409 to 425 s) | sd over mean, signs |
| Fig. 8 | the mean time is linear in the congestion level for most variants | R^2 of a line over C_g of 1 and more |
| Fig. 9 | only reverse traffic that congests matters | mean at R = 0.8 and 1.5 over that without |
| Fig. 10 | Scalable's spread is well above CUBIC's, 294 to 114 s at C_g = 2.1 | both, and their ratio |

At quick scale files are smaller: times are over the file's own time at 1 Gbit/s, or scaled to 30 GB, and starts are as
much closer together as files are smaller. Slow start is not scaled, so it is a larger part. The source shows one run
of each, so its values are held against the interval in which one run of ours falls.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.3, §5.5.2, §5.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import bent, equal, one_run, reported, sign
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.analysis.stats.region import exactly, single
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Band, Guide, Line, Mark, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.itb.network import PAPER, PAYLOAD_SHARE, Recorded, Size, hosts

_FIG10_SD = PAPER["fig10_sd"]

RTT_MS = 19.8
FIG3_FLOWS = 17
FIG8 = ("reno", "bic", "cubic_2005", "highspeed", "htcp", "scalable")
FIG9_LEVELS = (0.8, 1.0, 1.2)
REVERSE = (0.0, 0.8, 1.5)
_APART_S = 4.0
"""Between two starts of Fig. 3."""
_SAMPLES = 400
_BINS = 24

Statistic = Callable[[NDArray[np.float64]], float | np.floating]


Key = tuple[str, Any, Any]
"""Figure, and what varies in it."""


def scenarios(size: Size) -> dict[Key, Scenario]:
    """The runs of all four figures."""
    levels = {("levels", name, level): files(size, name, level) for name in FIG8 for level in size.levels}
    return {**_starts(size), **levels, **_reversed(size)}


def findings(runs: Mapping[Key, Recorded], size: Size) -> Findings:
    """All four figures."""
    of = {name: {key[1:]: run for key, run in runs.items() if key[0] == name} for name in ("fig3", "levels", "fig9")}
    fig3, figure3 = _fig3({start: run for (start, _), run in of["fig3"].items()}, size)
    fig8, figure8 = _fig8(of["levels"], size)
    fig10, table10, figure10 = _fig10(of["levels"], size)
    fig9, table9, figure9 = _fig9(of["fig9"], size)
    text = (
        f"Files of {size.fig3_gb:g} GB (Fig. 3) and {size.bulk_gb:g} GB, RTT {RTT_MS:g} ms. Times are over what the "
        "file takes at 1 Gbit/s, or, in seconds, scaled to the source's 30 GB."
    )
    figures = [figure3, figure8, figure9, figure10]
    section = Section("Figs 3, 8, 9, 10: bulk transfers", (text,), [table9, table10], figures)
    return Findings([*fig3, *fig8, *fig9, *fig10], [section])


def times(run: Recorded) -> list[np.ndarray]:
    """Completion times of the files, by repetition, s; those that did not end count to the end."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    end = run.duration_s
    rows = run.transfers.filter(run.transfers["group"] == "forward")
    taken = rows.with_columns(taken=rows["completion_s"].fill_null(end) - rows["start_s"])
    return [part["taken"].to_numpy() for part in taken.partition_by("repetition", maintain_order=True)]


def alone_s(gigabytes: float) -> float:
    """What a file takes at 1 Gbit/s, headers included."""
    return 8 * gigabytes / PAYLOAD_SHARE


_ALONE_30_GB_S = alone_s(30.0)
"""That of the source's files, in whose seconds its Figs 8 and 9 are."""


def starts(gigabytes: float) -> dict[str, dict[str, str]]:
    """The two ways of Fig. 3: within a second, and 4 s apart; closer together as files are smaller than 30 GB."""
    apart_s = _APART_S * gigabytes / 30.0
    return {"together": {"uniform": f"{min(1.0, apart_s):g} s"}, "staggered": {"staggered": f"{apart_s:g} s"}}


def _starts(size: Size) -> dict[Key, Scenario]:
    """The runs of Fig. 3."""
    duration_s = 4 * alone_s(size.fig3_gb) + FIG3_FLOWS * _APART_S * size.fig3_gb / 30.0
    return {
        ("fig3", name, None): hosts(
            "bic", FIG3_FLOWS, RTT_MS, duration_s=duration_s, file_gb=size.fig3_gb, start=start,
            repetitions=size.repetitions, samples_s=duration_s / _SAMPLES,
        )
        for name, start in starts(size.fig3_gb).items()
    }  # fmt: skip


def _fig3(runs: Mapping[str, Recorded], size: Size) -> tuple[list[Claim], Chart]:
    ideal = alone_s(size.fig3_gb)
    checks = []
    for name, (mean, sd) in PAPER["fig3"].items():
        checks += [
            _one_run("fig3", f"sd over mean, starts {name}", sd / mean, runs[name], lambda t: np.std(t) / np.mean(t)),
            _one_run(
                "fig3", f"mean over 30 GB at 1 Gbit/s, starts {name}", mean / alone_s(30), runs[name],
                lambda t: np.mean(t) / ideal,
            ),
        ]  # fmt: skip
    together, apart = runs["together"], runs["staggered"]
    for quantity, published, statistic in (
        ("sd over mean, starts together less staggered", 1, lambda t: np.std(t) / np.mean(t)),
        ("mean, starts together less staggered", -1, np.mean),
        ("longest time, starts together less staggered", 1, np.max),
    ):
        checks.append(sign("fig3", quantity, published, _paired(together, apart, statistic, ratio=False)))
    return checks, _goodputs(runs, size)


def _goodputs(runs: Mapping[str, Recorded], size: Size) -> Chart:
    """Fig. 3: goodput of each flow over time, for both ways to start."""
    longest_s = max(float(run.flow_samples["time_s"].max()) for run in runs.values())  # type: ignore[index, arg-type]
    x = Axis("time", "s", minimum=0, maximum=longest_s)
    # What arrives when a hole is filled counts at once: some samples are above the line's rate.
    y = Axis("goodput", "Mbit/s", minimum=0, maximum=1200)
    panels = []
    for name, run in runs.items():
        marks: list[Mark] = []
        for number in range(FIG3_FLOWS):
            time_s, goodput = goodput_over_time(run, number)
            marks.append(Line(time_s, goodput / 1e6, "", Style(series=number, thin=True)))
        panels.append(Panel(marks, x, y, f"starts {name}", height=1.6))
    caption = f"Goodput of each of {FIG3_FLOWS} flows of BIC with files of {size.fig3_gb:g} GB, one repetition of each."
    return Chart("fig3", "Fig. 3: goodput of each flow", Plot(panels, caption))


def goodput_over_time(run: Recorded, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle of each interval between samples, s, and the goodput of a flow in it, bit/s; first repetition."""
    assert run.flow_samples is not None, "the probe is on"  # noqa: S101
    rows = run.flow_samples.filter((run.flow_samples["repetition"] == 0) & (run.flow_samples["flow"] == flow))
    rows = rows.sort("time_s")
    time_s = rows["time_s"].to_numpy()
    delivered = rows["delivered_bytes"].to_numpy().astype(np.float64)
    return (time_s[1:] + time_s[:-1]) / 2, 8 * np.diff(delivered) / np.diff(time_s)


def files(size: Size, control: str, level: float, factor: float = 1.0, reverse: float = 0.0) -> Scenario:
    """Files of `factor` times the study's size, from as many hosts as make the congestion level and that of reverse.

    Repeated where Fig. 10 asks for their spread.
    """
    gigabytes = factor * size.bulk_gb
    ideal = alone_s(gigabytes)
    repeated = factor == 1.0 and level == size.levels[-1] and control in _FIG10_SD
    return hosts(
        control, round(10 * level), RTT_MS, duration_s=6 * ideal * max(1.0, level), file_gb=gigabytes,
        start={"uniform": f"{ideal / 240:g} s"}, reverse=round(10 * reverse),
        repetitions=size.repetitions if repeated else 1,
    )  # fmt: skip


FROM_A_LINE = "largest distance of times from a line over C_g, over its rise"
MOST_ARE_LINES = "variants whose times are a line over C_g, less half of them"


def most_are_lines(fits: Sequence[float], levels: NDArray[np.float64]) -> Claim:
    """The claim of Fig. 8, of what `bent` says of each variant: its nulls are variants whose times are curves."""

    def lines(values: Iterable[float]) -> Interval:
        near = PAPER.within("line").value
        return single(sum(0 <= each <= near for each in values) - len(fits) / 2)

    curves = {"the square of C_g": levels**2, "its logarithm": np.log(levels), "times that fall": -levels}
    nulls = [Null(name, lines([bent(levels, curve)] * len(fits))) for name, curve in curves.items()]
    return replace(sign("fig8", MOST_ARE_LINES, 1, lines(fits)), nulls=tuple(nulls))


def _fig8(runs: Mapping[tuple[str, float], Recorded], size: Size) -> tuple[list[Claim], Chart]:
    ideal, levels = alone_s(size.bulk_gb), np.array(size.levels)
    fits, marks = {}, []
    for number, name in enumerate(FIG8):
        means = np.array([_over(runs[name, level], np.mean).mean / ideal for level in size.levels])
        congested = levels >= 1
        fits[name] = bent(levels[congested], means[congested])
        marks.append(Points(levels, _ALONE_30_GB_S * means, name, Style(series=number)))
    checks = [
        most_are_lines(list(fits.values()), levels[congested]),
        *(reported("fig8", f"{FROM_A_LINE}, {name}", single(fit)) for name, fit in fits.items()),
    ]
    line = Line(
        [1.0, size.levels[-1]], [_ALONE_30_GB_S, _ALONE_30_GB_S * size.levels[-1]], "C_g times that at 1 Gbit/s"
    )
    axes = Axis("C_g"), Axis("mean completion time, scaled to 30 GB", "s", minimum=0)
    return checks, Chart("fig8", "Fig. 8: congestion level", Plot([Panel([line, *marks], *axes)], "Means over files."))


def _fig10(runs: Mapping[tuple[str, float], Recorded], size: Size) -> tuple[list[Claim], Table, Chart]:
    last, scaled = size.levels[-1], 30.0 / size.bulk_gb
    spread = {name: runs[name, last] for name in _FIG10_SD}
    checks = [
        _one_run("fig10", f"sd of completion times, {name}, s", published, spread[name], lambda t: scaled * np.std(t))
        for name, published in _FIG10_SD.items()
    ]
    ratio = _paired(spread["scalable"], spread["cubic_2005"], np.std, ratio=True)
    published = _FIG10_SD["scalable"] / _FIG10_SD["cubic_2005"]
    checks += [
        equal(
            "fig10", "sd of Scalable over that of CUBIC", published, ratio, within=PAPER.within("seconds", published)
        ),
        sign(
            "fig10", "sd of completion times, Scalable less CUBIC", 1,
            _paired(spread["scalable"], spread["cubic_2005"], np.std, ratio=False)
        ),
    ]  # fmt: skip
    rows = []
    for name, run in spread.items():
        mean, sd = (scaled * _over(run, statistic).mean for statistic in (np.mean, np.std))
        rows.append((f"`{name}`", f"{_FIG10_SD[name]:g}", f"{sd:.0f}", f"{mean:.0f}", f"{sd / mean:.3f}"))
        checks.append(reported("fig10", f"sd over mean, {name}", single(sd / mean)))
    header = ("control", "published sd (s)", "ours", "our mean", "our sd over mean")
    caption = f"Fig. 10: completion times at C_g = {last:g}, s, scaled to 30 GB"
    table = Table(caption, header, rows, numbers=(1, 2, 3, 4))
    return checks, table, _histograms(spread, last, scaled)


def _histograms(spread: Mapping[str, Recorded], level: float, scaled: float) -> Chart:
    """Fig. 10: how many files take how long, CUBIC above, Scalable below."""
    every = {name: scaled * np.concatenate(times(spread[name])) for name in ("cubic_2005", "scalable")}
    together = np.concatenate(list(every.values()))
    edges = np.linspace(together.min(), together.max(), _BINS + 1)
    x = Axis("completion time, scaled to 30 GB", "s")
    counts = {name: np.histogram(each, edges)[0].astype(np.float64) for name, each in every.items()}
    y = Axis("files", minimum=0, maximum=float(max(each.max() for each in counts.values())) + 1)
    panels = []
    for number, (name, count) in enumerate(counts.items()):
        # The outline of the bars: each edge twice, from 0 to 0.
        outline = np.repeat(edges, 2)
        high = np.concatenate([[0.0], np.repeat(count, 2), [0.0]])
        style = Style(series=number)
        marks: list[Mark] = [
            Band(outline, np.zeros_like(high), high, "", style),
            Line(outline, high, name, style),
            Guide(float(every[name].mean()), "mean", along="x"),
        ]
        panels.append(Panel(marks, x, y, f"{name}, sd {np.std(every[name]):.0f} s", height=1.3))
    caption = f"All repetitions, C_g = {level:g}; published: sd of 114 s (CUBIC) and 294 s (Scalable)."
    return Chart("fig10", "Fig. 10: distribution of completion times", Plot(panels, caption))


def _reversed(size: Size) -> dict[Key, Scenario]:
    """The runs of Fig. 9; without reverse traffic they are those of Fig. 8."""
    return {
        ("fig9", level, reverse): files(size, "cubic_2005", level, reverse=reverse)
        for level in FIG9_LEVELS
        for reverse in REVERSE
    }


def _fig9(runs: Mapping[tuple[float, float], Recorded], size: Size) -> tuple[list[Claim], Table, Chart]:
    ideal = alone_s(size.bulk_gb)
    means = {point: _over(run, np.mean).mean / ideal for point, run in runs.items()}
    checks = []
    for level in FIG9_LEVELS:
        _, half, full = (means[level, reverse] / means[level, 0.0] for reverse in REVERSE)
        quantity = f"completion time at R = 0.8 over that without, C_g = {level:g}"
        checks.append(equal("fig9", quantity, 1.0, single(half), within=PAPER.within("costs")))
        # One run has no interval.
        change = single(full / half - 1)
        quantity = f"completion time, change from R = 0.8 to R = 1.5, C_g = {level:g}"
        checks.append(sign("fig9", quantity, 1, change, negligible=PAPER.within("costs")))
    rows = [(f"{level:g}", *(f"{means[level, reverse]:.3f}" for reverse in REVERSE)) for level in FIG9_LEVELS]
    header = ("C_g", *(f"R = {reverse:g}" for reverse in REVERSE))
    table = Table("Fig. 9: CUBIC, mean completion time over that at 1 Gbit/s", header, rows, numbers=(1, 2, 3))
    marks = [
        Line(
            FIG9_LEVELS,
            [_ALONE_30_GB_S * means[level, reverse] for level in FIG9_LEVELS],
            f"R = {reverse:g}",
            Style(series=number),
        )
        for number, reverse in enumerate(REVERSE)
    ]
    axes = Axis("C_g"), Axis("mean completion time, scaled to 30 GB", "s", minimum=0)
    return (
        checks,
        table,
        Chart("fig9", "Fig. 9: reverse traffic", Plot([Panel(marks, *axes)], "CUBIC; means over files.")),
    )


def _over(run: Recorded, statistic: Statistic) -> Interval:
    """A statistic of the completion times, over repetitions."""
    return mean_interval([float(statistic(each)) for each in times(run)])


def _paired(after: Recorded, before: Recorded, statistic: Statistic, *, ratio: bool) -> Interval:
    """A statistic of one run over that of another, or less it, repetition by repetition."""
    pairs = [(float(statistic(a)), float(statistic(b))) for a, b in zip(times(after), times(before), strict=True)]
    return mean_interval([a / b if ratio else a - b for a, b in pairs])


def _one_run(artefact: str, quantity: str, published: float, run: Recorded, statistic: Statistic) -> Claim:
    """The source's one run beside ours; it prints whole seconds, of some hundred.

    Where nothing is drawn (staggered starts in a strictly periodic network), repetitions are copies: one run, without
    an interval.
    """
    ours = [float(statistic(each)) for each in times(run)]
    within = PAPER.within("seconds", published)
    if np.ptp(ours) == 0.0:
        return equal(artefact, quantity, published, exactly(ours[0]), within=within, note="nothing is random here")
    return one_run(artefact, quantity, published, ours, within=within)
