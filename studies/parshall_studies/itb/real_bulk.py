"""Figs 3, 8, 9 and 10 on real stacks: files from many hosts of Linux at once.

Rates, queues, windows and files are `SLOWER` times smaller than the source's, as in `real_rtts`; the RTT and all times
are its own. The hosts are the tuned ones of `bulk`: a window that fills the path and a part of the interface's queue,
so that nothing is lost before the bottleneck. The simulator runs both networks with ``tcp = "linux"``: their difference
is what the scaling does.

| figure | here |
| --- | --- |
| 3 | 17 files of BIC that start together, and one after the other |
| 8 | each control at congestion levels of 1 and more; below 1 nobody waits for anybody |
| 9 | CUBIC at C_g = 1 with R = 0, 0.8 and 1.5 of reverse traffic |
| 10 | CUBIC and Scalable at the highest level of Fig. 8 |

Places that do not fill this machine are emulated at once, each with a bottleneck of its own. A run of Linux is one run:
it has the interval of one more of the simulated ones. Files are smaller than the source's, so slow start is a larger
part of their time; times are over what a file takes alone, or in seconds scaled to 30 GB.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.3, §5.5.2, §5.6.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import EXACT, bent, equal, sign
from parshall.analysis.stats.claims import Claim, Tolerance
from parshall.analysis.stats.confidence import Interval, prediction_interval
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.itb import bulk
from parshall_studies.itb.network import ACCESS_BPS, BUFFER, CAPACITY_BPS, PAPER, SIZES, VARIANTS, window
from parshall_studies.itb.real_rtts import SLOWER, control

RUNS = 3
"""Simulated runs of the slower network, with random numbers of their own."""
AT_ONCE = 3
"""Places: 600 Mbit/s. Those with reverse traffic count twice."""
WITHIN = 0.05
"""Of a time: what difference does not matter."""
READING = f"{kernel_name()}, {SLOWER} times less rate"
TOGETHER, STAGGERED = "fig3-together", "fig3-staggered"

Statistic = bulk.Statistic
Times = Mapping[str, NDArray[np.float64]]
"""Completion times by place, s; of one run."""


@dataclass(frozen=True)
class Place:
    """Files of a control, one a host, through a bottleneck of their own."""

    name: str
    variant: str
    count: int
    file_gb: float
    start: Mapping[str, str] = field(hash=False)
    reverse: int = 0

    @property
    def back(self) -> list[str]:
        """The bottleneck of the other way, where that has traffic."""
        return [f"{self.name}-back"] if self.reverse else []

    def links(self, slower: float) -> list[dict[str, Any]]:
        """Its bottleneck."""
        queue = {"name": "drop_tail", "limit": f"{round(BUFFER / slower)} packets"}
        rest = {"rate": f"{round(CAPACITY_BPS / slower)} bit/s", "delay": "10 us", "queue": queue}
        return [{"name": name, **rest} for name in (self.name, *self.back)]

    def flows(self, slower: float) -> list[dict[str, Any]]:
        """Its files, and hosts that send the other way for the whole time."""
        common = {
            "rtt": f"{bulk.RTT_MS:g} ms",
            "access_rate": f"{round(ACCESS_BPS / slower)} bit/s",
            "congestion_control": control(self.variant),
            "receive_window": f"{round(window(bulk.RTT_MS) / slower)} packets",
            "kernel": {"sysctls": AMPLE_BUFFERS},
            **stacks.PROFILE,
        }
        sizes = f"{round(1e9 * self.file_gb / slower)} B"
        workload = {"name": "transfer", "sizes": sizes}
        files = {**common, "name": self.name, "count": self.count, "start": dict(self.start), "workload": workload}
        if not self.reverse:
            return [{**files, "path": [self.name]}]
        ways = {"path": [self.name], "reverse_path": self.back}
        others = {"name": f"{self.name}-back", "count": self.reverse, "path": self.back, "reverse_path": [self.name]}
        return [{**files, **ways}, {**common, **others, "start": {"uniform": "200 ms"}}]

    @property
    def alone_s(self) -> float:
        """What a file takes alone, in either network."""
        return bulk.alone_s(self.file_gb)


def level_name(variant: str, level: float) -> str:
    """A place of Figs 8 and 10, with so many files."""
    return f"fig8-{variant}-{round(10 * level)}"


def reverse_name(reverse: float) -> str:
    """A place of Fig. 9, with so many hosts that send the other way."""
    return f"fig9-reverse-{round(10 * reverse)}"


def levels(scale: Scale) -> tuple[float, ...]:
    """Of Fig. 8: those that congest."""
    return tuple(level for level in SIZES[scale].levels if level >= 1)


def variants() -> list[str]:
    """Those of Fig. 8 that this kernel can have."""
    return [each for each in bulk.FIG8 if stacks.missing(control(each)) is None]


def of_fig3() -> str:
    """BIC as in the source, if the hosts can have it."""
    return "bic" if "bic" in variants() else "cubic_2005"


def beds(scale: Scale) -> list[list[Place]]:
    """Places that are emulated at once."""
    size = SIZES[scale]
    fig3 = [
        Place(f"fig3-{name}", of_fig3(), bulk.FIG3_FLOWS, size.fig3_gb, start)
        for name, start in bulk.starts(size.fig3_gb).items()
    ]
    groups = [fig3]
    known = variants()
    for level in levels(scale):
        start = {"uniform": f"{bulk.alone_s(size.bulk_gb) / 240:g} s"}
        of_level = [Place(level_name(each, level), each, round(10 * level), size.bulk_gb, start) for each in known]
        groups += [of_level[first : first + AT_ONCE] for first in range(0, len(of_level), AT_ONCE)]
    fig9 = [
        Place(reverse_name(each), "cubic_2005", 10, size.bulk_gb, {"uniform": "200 ms"}, round(10 * each))
        for each in bulk.REVERSE
    ]
    return [*groups, fig9[:2], fig9[2:]]


def scenario(places: Sequence[Place], slower: float, runs: int = 1) -> Scenario:
    """Some places; it ends with the last of their files."""
    longest = max(each.alone_s * max(1.0, each.count / 10) for each in places)
    return Scenario.from_document(
        {
            "duration": f"{4 * longest + 4:g} s",
            "ends_with": [each.name for each in places],
            "repetitions": runs,
            "processing_time": "1 packet",
            "links": [link for each in places for link in each.links(slower)],
            "flows": [flow for each in places for flow in each.flows(slower)],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


def times(run: Run) -> list[dict[str, NDArray[np.float64]]]:
    """Of each run, the completion times by place; a file that did not end counts to the end."""
    assert run.transfers is not None  # noqa: S101 - the probe is on
    files = run.transfers.filter(~run.transfers["group"].cast(pl.String).str.ends_with("-back"))
    taken = files.with_columns(taken=files["completion_s"].fill_null(run.scenario.duration_s))
    taken = taken.with_columns(taken=taken["taken"] - taken["start_s"]).sort("repetition", "flow")
    by_repetition: dict[int, dict[str, NDArray[np.float64]]] = {}
    for (repetition, name), rows in taken.group_by(["repetition", "group"], maintain_order=True):
        by_repetition.setdefault(int(str(repetition)), {})[str(name)] = rows["taken"].to_numpy()
    return list(by_repetition.values())


def cases(scale: Scale) -> dict[Any, Case]:
    """Each bed in both simulated networks and on Linux."""
    declared: dict[Any, Case] = {}
    for number, places in enumerate(beds(scale)):
        label = f"files, {', '.join(each.name for each in places)}"
        declared[number, 1] = simulated(f"{label}, simulated", scenario(places, 1), times)
        declared[number, SLOWER] = simulated(f"{label}, simulated", scenario(places, SLOWER, RUNS), times)
        declared[number, "linux"] = emulated(f"{label}, Linux", scenario(places, SLOWER), times)
    return declared


# --- what the source says ---


@dataclass(frozen=True)
class Stated:
    """A published value, or the sign of one where `sign_only`; `value` makes it of a run.

    `near`: what is accepted of a value, or counts as no change of a sign.
    """

    artefact: str
    quantity: str
    published: float
    value: Callable[[Times], float]
    near: Tolerance
    sign_only: bool = False

    def check(self, ours: float, spread: Sequence[float]) -> Claim:
        """One run, with the interval of one more of others."""
        half = prediction_interval(spread).half_width or 0.0
        interval = Interval(ours, ours - half, ours + half, n=1)
        if self.sign_only:
            note = f"{ours:+.3g} ± {half:.2g}"
            published = int(self.published)
            return sign(self.artefact, self.quantity, published, interval, note, negligible=self.near, reading=READING)
        return equal(self.artefact, self.quantity, self.published, interval, within=self.near, reading=READING)


def _cv(values: NDArray[np.float64]) -> float:
    return float(np.std(values) / np.mean(values))


def claims(scale: Scale) -> Iterator[Stated]:
    """What the source says of all four figures, of places that are there."""
    size, known = SIZES[scale], variants()
    if "bic" in known:
        yield from _starts(size.fig3_gb)
    last = levels(scale)[-1]
    if set(known) == set(VARIANTS):
        yield Stated(
            "fig8",
            bulk.MOST_ARE_LINES,
            1,
            lambda of: (
                bulk.most_are_lines([line(of, each, scale) for each in known], np.array(levels(scale))).ours or 0.0
            ),
            EXACT,
            sign_only=True,
        )
    without, half, full = (reverse_name(each) for each in bulk.REVERSE)
    yield Stated(
        "fig9",
        "completion time at R = 0.8 over that without, C_g = 1",
        1.0,
        lambda of: float(of[half].mean() / of[without].mean()),
        PAPER.within("costs"),
    )
    yield Stated(
        "fig9",
        "completion time, change from R = 0.8 to R = 1.5, C_g = 1",
        1,
        lambda of: float(of[full].mean() / of[half].mean() - 1),
        PAPER.within("costs"),
        sign_only=True,
    )
    if {"cubic_2005", "scalable"} <= set(known):
        yield from _spreads(level_name("cubic_2005", last), level_name("scalable", last), 30.0 / size.bulk_gb)


def _starts(gigabytes: float) -> Iterator[Stated]:
    alone_s = bulk.alone_s(gigabytes)
    for name, (mean, sd) in PAPER["fig3"].items():
        place = f"fig3-{name}"
        published = sd / mean
        yield Stated(
            "fig3",
            f"sd over mean, starts {name}",
            published,
            partial(_of, place, _cv),
            PAPER.within("seconds", published),
        )
        published = mean / bulk.alone_s(30.0)
        quantity = f"mean over 30 GB at 1 Gbit/s, starts {name}"
        yield Stated(
            "fig3",
            quantity,
            published,
            partial(_of, place, np.mean, factor=1 / alone_s),
            PAPER.within("seconds", published),
        )
    of_both: tuple[tuple[str, int, Statistic], ...] = (
        ("sd over mean", 1, _cv),
        ("mean", -1, np.mean),
        ("longest time", 1, np.max),
    )
    for name, published, statistic in of_both:
        quantity = f"{name}, starts together less staggered"
        yield Stated("fig3", quantity, published, partial(_less, TOGETHER, STAGGERED, statistic), EXACT, sign_only=True)


def _spreads(cubic: str, scalable: str, scaled: float) -> Iterator[Stated]:
    for variant, place in (("cubic_2005", cubic), ("scalable", scalable)):
        published = PAPER["fig10_sd"][variant]
        quantity = f"sd of completion times, {variant}, s"
        yield Stated(
            "fig10", quantity, published, partial(_of, place, np.std, factor=scaled), PAPER.within("seconds", published)
        )
    published = PAPER["fig10_sd"]["scalable"] / PAPER["fig10_sd"]["cubic_2005"]
    ratio = partial(_over, scalable, cubic)
    yield Stated("fig10", "sd of Scalable over that of CUBIC", published, ratio, PAPER.within("seconds", published))
    sign_quantity = "sd of completion times, Scalable less CUBIC"
    yield Stated("fig10", sign_quantity, 1, partial(_less, scalable, cubic, np.std), EXACT, sign_only=True)


def _of(place: str, statistic: Statistic, of: Times, *, factor: float = 1.0) -> float:
    return factor * float(statistic(of[place]))


def _less(one: str, other: str, statistic: Statistic, of: Times) -> float:
    return float(statistic(of[one]) - statistic(of[other]))


def _over(one: str, other: str, of: Times) -> float:
    return float(of[one].std() / of[other].std())


def line(of: Times, variant: str, scale: Scale) -> float:
    """The largest distance of the mean times from a line over the congestion level, over its rise."""
    levels_of_figure = levels(scale)
    means = [float(of[level_name(variant, level)].mean()) for level in levels_of_figure]
    return bent(levels_of_figure, means)


# --- what is found ---


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """Published claims, both simulated networks and Linux."""
    places = beds(scale)
    linux: list[Emulated] = [answers[number, "linux"] for number in range(len(places))]
    columns = {where: _joined([answers[number, where] for number in range(len(places))]) for where in (1, SLOWER)}
    ours = _joined([each.answer for each in linux])[0]
    named = [(", ".join(place.name for place in some), each) for some, each in zip(places, linux, strict=True)]
    remarks = stacks.remarks(named)
    left_out = [each for each in bulk.FIG8 if each not in variants()]
    if left_out:
        remarks.append(
            f"Some variants are left out, since {stacks.missing(*map(control, left_out))}; Fig. 3 is of "
            f"{control(of_fig3())}, and claims over what is left out are not held against the source."
        )
    made: list[Claim] = []
    if all(map(stacks.usable, linux)):
        made += _published(ours, columns, scale)
    for some, each in zip(places, linux, strict=True):
        if stacks.usable(each):
            made += [check for place in some for check in _between(place, each, columns[SLOWER])]
    rows = [_row(place, columns, ours) for some in places for place in some]
    size = SIZES[scale]
    text = (
        f"Files of {1e3 * size.fig3_gb / SLOWER:g} MB (Fig. 3) and {1e3 * size.bulk_gb / SLOWER:g} MB from hosts of "
        f"{ACCESS_BPS / SLOWER / 1e6:g} Mbit/s through {CAPACITY_BPS / SLOWER / 1e6:g} Mbit/s: rates, queues, windows "
        f"and files {SLOWER} times smaller than in `bulk`, the RTT of {bulk.RTT_MS:g} ms its own. Times are over what "
        "a file takes alone, with the standard deviation over the files.",
        f"A run of Linux has the interval of one more of {RUNS} simulated runs. The worst verdict of an emulation is: "
        f"{stacks.worst(linux)}.",
        *remarks,
    )
    header = (
        "place",
        "control",
        "files",
        "simulated, the source's rates",
        f"simulated, {SLOWER} times less",
        stacks.column(*linux),
    )
    table = Table("Mean time over that alone (standard deviation)", header, rows, numbers=range(2, 6))
    heading = "Figs 3, 8, 9 and 10 on real stacks"
    return Findings(made, [Section(heading, text, [table])])


def _joined(of_beds: Sequence[Sequence[Times]]) -> list[Times]:
    """Of each run, all places."""
    return [{name: each for bed in run for name, each in bed.items()} for run in zip(*of_beds, strict=True)]


def _published(ours: Times, columns: Mapping[Any, Sequence[Times]], scale: Scale) -> list[Claim]:
    """What the source says, of Linux; beside the simulator in the same network.

    What is lost there and not in the simulator's network of the source's rates is lost by the scaling: then that one
    stands beside Linux.
    """
    ours_checks, theirs = [], []
    for claim in claims(scale):
        values = [claim.value(each) for each in columns[SLOWER]]
        ours_checks.append(claim.check(claim.value(ours), values))
        slower = claim.check(float(np.mean(values)), values)
        lost = slower.outcome == "fails"
        theirs.append(claim.check(claim.value(columns[1][0]), values) if lost else slower)
    return stacks.by_one_instrument(ours_checks, theirs)


def _between(place: Place, linux: Emulated, runs: Sequence[Times]) -> list[Claim]:
    figure = place.name.partition("-")[0]
    quantity = f"{control(place.variant)}, {place.name}: mean time of a file over that alone, Linux"
    values = [float(each[place.name].mean()) / place.alone_s for each in runs]
    ours = float(linux.answer[0][place.name].mean()) / place.alone_s
    return [stacks.beside_simulated(f"{figure}-linux", quantity, linux, ours, values, share=WITHIN)]


def _row(place: Place, columns: Mapping[Any, Sequence[Times]], ours: Times) -> tuple[str, ...]:
    def cell(runs: Sequence[Times]) -> str:
        taken = [each[place.name] / place.alone_s for each in runs]
        mean, sd = (float(np.mean([statistic(each) for each in taken])) for statistic in (np.mean, np.std))
        return f"{mean:.3f} ({sd:.3f})"

    cells = (cell(runs) for runs in (columns[1], columns[SLOWER], [ours]))
    return (place.name, control(place.variant), str(place.count), *cells)


PART = Part("Figs 3, 8, 9 and 10 on real stacks", cases, findings, emulates=True)
