"""Beyond the source, on real stacks: pairs of flows of the kernel at a RED queue, and how fair they are by time scale.

Three pairs, each with a link of its own, at once: Reno beside Reno, Reno beside CUBIC, CUBIC beside CUBIC. Queue,
windows and losses are those of `fairness` in a network `FASTER` times faster and shorter, so that some thousand round
trips take little more than a minute; the chain of two Reno flows, which counts in packets, predicts the same.

| what | of which | beside |
| --- | --- | --- |
| Jain's index over n RTTs | all pairs | the simulator with ``tcp = "linux"``; of two Reno flows the chain too |
| share of the first flow | Reno beside CUBIC | the simulator |
| correlation of both means over n RTTs, joint spectrum | Reno beside CUBIC | the simulator |

References: Loiseau 2010, §6, where several flows and fairness at different scales are future work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval, mean_interval
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Grid, Line, Mark, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.joint_spectrum import joint_spectrum
from parshall_studies.large_deviations import fairness, network
from parshall_studies.large_deviations.network import PAPER

FASTER = 5
"""20 ms and 60 Mbit/s in place of 100 ms and 12 Mbit/s."""
RTT_S = fairness.RTT_S / FASTER
PAIRS = (("reno", "reno"), ("reno", "cubic"), ("cubic", "cubic"))
MIXED = ("reno", "cubic")
WARM_UP_S = 8.0
SECONDS: Mapping[Scale, float] = {"quick": 60.0, "paper": 1800.0}
SEEDS = 6
SCALES: Mapping[Scale, tuple[int, ...]] = {"quick": (10, 30, 100, 300), "paper": (10, 30, 100, 300, 1000)}
JOINT = (10, 30)
"""Scales at which the joint spectrum is drawn."""
LEAST = 0.01
"""Of Jain's index, a share and a correlation: what difference does not matter."""


@dataclass(frozen=True)
class Both:
    """Packets of two flows in the same consecutive RTTs, shapes (N,)."""

    one: FloatArray
    two: FloatArray

    def fair(self, scale: int) -> Interval:
        """Jain's index over so many RTTs."""
        return mean_interval(fairness.jain_of(self.one, self.two, scale))

    @property
    def share(self) -> float:
        """Of the first flow."""
        return float(self.one.sum() / (self.one.sum() + self.two.sum()))

    def correlation(self, scale: int) -> float:
        """Of the means over so many RTTs."""
        return joint_spectrum(self.one, self.two, scale).correlation


def scenario(scale: Scale, seed: int, rules: Mapping[str, Any]) -> Scenario:
    """All pairs, each on its link; `rules` are keys of their flows."""
    links, flows = [], []
    for pair in PAIRS:
        name = "-".join(pair)
        links.append({"name": name, **fairness.link(FASTER)})
        flows += [
            {
                **network.TCP,
                "name": f"{name}-{place}",
                "rtt": f"{RTT_S:g} s",
                "congestion_control": control,
                "path": [name],
                "start": {"uniform": "1 s"},
                **rules,
            }
            for place, control in enumerate(pair)
        ]
    seconds = WARM_UP_S + SECONDS[scale]
    return network.declared(links, flows, seconds, probes={"rounds": 1}, seed=seed, warm_up_s=WARM_UP_S)


def measured(run: Run) -> dict[tuple[str, str], Both]:
    """Of each pair."""
    by_pair = {}
    for pair in PAIRS:
        names = (f"{'-'.join(pair)}-{place}" for place in (0, 1))
        first, second = (int(run.flows.filter(pl.col("group") == name)["flow"][0]) for name in names)
        one, two, _ = fairness.of_both(run, (first, second), RTT_S, WARM_UP_S)
        by_pair[pair] = Both(one, two)
    return by_pair


def cases(scale: Scale) -> dict[Any, Case]:
    """Some simulated, and Linux."""
    declared: dict[Any, Case] = {
        seed: simulated("pairs of flows", scenario(scale, seed, stacks.PROFILE), measured)
        for seed in range(1, SEEDS + 1)
    }
    return {**declared, "linux": emulated("pairs of flows, Linux", scenario(scale, 1, {}), measured)}


def findings(answers: Mapping[Any, Any], scale: Scale) -> Findings:
    """How fair pairs are at each scale; how Reno and CUBIC share."""
    linux: Emulated = answers["linux"]
    every = [answers[seed] for seed in range(1, SEEDS + 1)]
    chain = fairness.predicted().fairness(SCALES[scale])
    rows, checks = [], []
    for pair in PAIRS:
        for place, n in enumerate(SCALES[scale]):
            ours: Interval = linux.answer[pair].fair(n)
            values = [each[pair].fair(n).mean for each in every]
            theory = float(chain[place]) if pair == ("reno", "reno") else None
            rows.append(
                (
                    " beside ".join(pair),
                    f"{n}",
                    "" if theory is None else f"{theory:.3f}",
                    stacks.cell_of_one_more(values, 3),
                    f"{ours.mean:.3f} ± {ours.half_width or 0.0:.3f}",
                )
            )
            quantity = f"{' beside '.join(pair)} on Linux: Jain's index over {n} RTTs"
            checks.append(stacks.beside_simulated("fairness-linux", quantity, linux, ours.mean, values, least=LEAST))
            if theory is not None:
                checks.append(_by_chain(quantity, ours, theory))
    more, shares = _mixed(every, linux, scale)
    slowdown = f"{fairness.RATE_BPS * FASTER / 1e6:.0f} Mbit/s and {1e3 * RTT_S:.0f} ms"
    text = (
        f"Pairs of flows at a RED queue, of {slowdown}: windows, queue and losses as in the section on two flows. On "
        "Linux a value has the interval of its own intervals of n round trips; the simulator's is that of one more run "
        f"of {SEEDS}. The chain is that of two Reno flows.",
        "The joint spectrum says how often Reno and CUBIC have which throughputs in the same n round trips: 0 where "
        "they are most of the time, less where they are seldom. A full link makes a ridge on which one has what the "
        "other has not; the correlation says how narrow it is.",
        *stacks.remarks([("pairs", linux)]),
    )
    header = ("pair", "RTTs", "chain", "simulated", stacks.column(linux))
    tables = [Table("Jain's index by time scale", header, rows, numbers=range(1, 5)), shares]
    figures = [
        Chart("fairness-linux", "Fairness against the time scale, Linux", _over_scales(linux.answer, scale, chain)),
        Chart(
            "joint-linux",
            "Joint spectrum of Reno beside CUBIC, Linux",
            _joint_plot(linux.answer[MIXED], every[0][MIXED]),
        ),
    ]
    usable = stacks.usable(linux)
    section = Section("Beyond the source: pairs of flows of Linux", text, tables, figures)
    return Findings([*checks, *more] if usable else [], [section])


def _by_chain(quantity: str, ours: Interval, theory: float) -> Claim:
    half = ours.half_width or 0.0
    ends = max(0.5, ours.mean - half), min(1.0, ours.mean + half)
    order, least = PAPER.within("first_order", 1 - theory), PAPER.within("jain")
    near = max(order, least, key=lambda each: each.value)
    return equal("fairness", quantity, theory, Interval(ours.mean, *ends, 1), within=near, basis="theory")


def _mixed(every: list[dict[tuple[str, str], Both]], linux: Emulated, scale: Scale) -> tuple[list[Claim], Table]:
    """How Reno and CUBIC share: the share, and the correlation by scale."""
    ours, simulated_ones = linux.answer[MIXED], [each[MIXED] for each in every]
    values = {"Reno's share beside CUBIC": (ours.share, [each.share for each in simulated_ones])} | {
        f"correlation of Reno and CUBIC over {n} RTTs": (
            ours.correlation(n),
            [each.correlation(n) for each in simulated_ones],
        )
        for n in SCALES[scale][:-1]
    }
    checks, rows = [], []
    for quantity, (seen, others) in values.items():
        checks.append(stacks.beside_simulated("joint-linux", f"{quantity}, Linux", linux, seen, others, least=LEAST))
        rows.append((quantity, stacks.cell_of_one_more(others, 2), f"{seen:.2f}"))
    header = ("quantity", "simulated", stacks.column(linux))
    return checks, Table("Reno beside CUBIC", header, rows, numbers=(1, 2))


def _over_scales(linux: Mapping[tuple[str, str], Both], scale: Scale, chain: FloatArray) -> Plot:
    marks: list[Mark] = [Line(SCALES[scale], chain, "chain, reno beside reno", Style(0))]
    for place, pair in enumerate(PAIRS):
        indices = [linux[pair].fair(n) for n in SCALES[scale]]
        means = np.array([each.mean for each in indices])
        halves = np.array([each.half_width or 0.0 for each in indices])
        name = " beside ".join(pair)
        marks.append(Points(SCALES[scale], means, name, Style(place), means - halves, np.minimum(means + halves, 1.0)))
    axes = Axis("time scale", "RTTs", log=True), Axis("Jain's index", maximum=1.0)
    return Plot([Panel(marks, *axes)], "Mean index of two flows of Linux over intervals. Bars: 95 %.")


def _joint_plot(linux: Both, simulated_one: Both) -> Plot:
    """Scales from top to bottom; Linux on the left, simulated on the right."""
    panels = []
    for n in JOINT:
        for name, both in ((kernel_name(), linux), ("simulated", simulated_one)):
            spectrum = joint_spectrum(both.one, both.two, n)
            grid = Grid(spectrum.one, spectrum.two, spectrum.f, "f (1/RTT)")
            axes = Axis("Reno", "packets per RTT"), Axis("CUBIC", "packets per RTT")
            panels.append(Panel([grid], *axes, f"{name}, n = {n}", height=1.2))
    return Plot(panels, "Joint spectrum of the throughputs of both flows over n round trips.", columns=2)


PART = Part("pairs of flows on real stacks", cases, findings, emulates=True)
