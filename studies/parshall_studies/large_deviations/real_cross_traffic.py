"""Figures 4 (a), (b) on real stacks: 32 ON/OFF sources of datagrams that the kernel's sockets send.

The network is `real_stacks.SLOWER` times slower than the source's: rates are divided, times multiplied, so the sum's
mean and deviation over the link's rate stay, and so does its autocorrelation over the ON time. All values are given as
of the source's network.

What a real host adds is when packets leave: one whose thread is woken late sends in a bunch what was due, which widens
the density in short bins and leaves the mean. The watchdog counts such datagrams only where they were not sent.

References: Loiseau 2010, §4.2, Fig. 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import Interval
from parshall.analysis.stats.region import single
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated, simulated
from parshall_studies import stacks
from parshall_studies.large_deviations import network
from parshall_studies.large_deviations.cross_traffic import (
    FINE_S,
    SMOOTH,
    UNIFORM,
    autocorrelation,
    density,
    deviation_interval,
    distance_to_normal,
    interval,
)
from parshall_studies.large_deviations.network import PAPER
from parshall_studies.large_deviations.real_stacks import SEEDS, SLOWER
from parshall_studies.spectrum import interval_means

WARM_UP_S = 5.0
SECONDS: Mapping[Scale, float] = {"quick": 30.0, "paper": 600.0}
LAG_S = 0.1
READING = "ON and OFF times exchanged"


@dataclass(frozen=True)
class Arrivals:
    """Of the source's network: rates in bins of 1.2 ms and 1.05 ms, Mbit/s, and what is compared of them."""

    mean: float
    deviation: float
    distance: float
    correlation: float
    bins: FloatArray
    smooth: FloatArray


def scenario(scale: Scale, seed: int, rules: Mapping[str, Any]) -> Scenario:
    """The sources alone at a link that holds all; `rules` are keys of them."""
    link = {**network.WIDE, "rate": f"{round(10e9 / SLOWER)} bit/s"}
    sources = {**network.on_off_sources(PAPER["off_s"], PAPER["on_s"], slower=SLOWER), **rules}
    probes = {"link_samples": f"{FINE_S * SLOWER:g} s"}
    seconds = WARM_UP_S + SECONDS[scale]
    return network.declared(link, [sources], seconds, probes=probes, seed=seed, warm_up_s=WARM_UP_S)


def arrivals(run: Run) -> Arrivals:
    """What comes to the link of a run."""
    table = run.link_samples
    assert table is not None  # noqa: S101 - the probe is on
    settled = table.filter(table["time_s"] >= WARM_UP_S)["arrivals_packets"].to_numpy()
    fine = np.asarray(settled * (8e-6 * PAPER["packet_bytes"] / FINE_S), dtype=np.float64)
    rate, smooth = interval_means(fine, 8), interval_means(fine, SMOOTH)
    lag = np.array([round(LAG_S / PAPER["cross_bin_s"])])
    return Arrivals(
        float(rate.mean()),
        float(rate.std(ddof=1)),
        distance_to_normal(smooth),
        float(autocorrelation(rate, lag)[0]),
        rate,
        smooth,
    )


def cases(scale: Scale) -> dict[Any, Case]:
    """Some simulated, and Linux."""
    declared: dict[Any, Case] = {
        seed: simulated("fig4: cross traffic", scenario(scale, seed, {}), arrivals) for seed in range(1, SEEDS + 1)
    }
    return {**declared, "linux": emulated("fig4: cross traffic, Linux", scenario(scale, 1, {}), arrivals)}


QUANTITIES = (
    ("mean", "mean of the cross traffic, Mbit/s", 0.01),
    ("deviation", "sigma at 1.2 ms, Mbit/s", 0.05),
    ("correlation", "autocorrelation at 0.1 s", 0.05),
)
"""Attributes of `Arrivals`, in words, and what difference does not matter: relative, and of the last one absolute."""


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """Published, simulated, and on Linux."""
    linux: Emulated = answers["linux"]
    every: list[Arrivals] = [answers[seed] for seed in range(1, SEEDS + 1)]
    ours: Arrivals = linux.answer
    source = {"mean": PAPER["cross_mean_bps"] / 1e6, "deviation": PAPER["cross_std_bps"] / 1e6}
    rows = []
    for key, quantity, _tolerance in QUANTITIES:
        digits = 2 if key == "correlation" else 0
        expected = stacks.cell_of_one_more([getattr(each, key) for each in every], digits)
        published = f"{source[key]:.0f}" if key in source else ""
        rows.append((quantity, published, expected, f"{getattr(ours, key):.{digits}f}"))
    text = (
        f"32 ON/OFF sources of datagrams, {SLOWER} times slower than the source's, with its ON and OFF times exchanged "
        "(Figure 4 says why); values as of the source's network. Behind the simulator's is the interval of one more "
        f"run of {SEEDS}.",
        *stacks.remarks([("fig4", linux)]),
    )
    table = Table(
        "Cross traffic", ("quantity", "published", "simulated", stacks.column(linux)), rows, numbers=(1, 2, 3)
    )
    checks = _checks(every, linux, source) if stacks.usable(linux) else []
    figures = _figures(every[0], ours)
    return Findings(checks, [Section("Figure 4 (a), (b) on real stacks", text, [table], figures)])


def _checks(every: list[Arrivals], linux: Emulated, source: Mapping[str, float]) -> list[Claim]:
    checks = stacks.by_one_instrument(_published(linux.answer, source), _published(every[0], source))
    for key, label, tolerance in QUANTITIES:
        least, share = (tolerance, 0.0) if key == "correlation" else (0.0, tolerance)
        quantity = f"{label}, Linux"
        checks.append(
            stacks.attribute_beside_simulated("fig4-linux", quantity, linux, key, every, least=least, share=share)
        )
    return checks


def _published(each: Arrivals, source: Mapping[str, float]) -> list[Claim]:
    """Arrivals beside what the source has of them."""
    reading = f"{kernel_name()}, {READING}"
    ends = {"mean": interval(each.bins), "deviation": deviation_interval(each.bins)}
    checks = [
        equal(
            "fig4",
            quantity,
            source[key],
            Interval(getattr(each, key), *ends[key], 1),
            within=PAPER.within(f"cross_{key}", source[key]),
            reading=reading,
        )
        for key, quantity, _ in QUANTITIES
        if key in source
    ]
    quantity = "largest distance to the normal distribution"
    return [
        *checks,
        equal(
            "fig4a",
            quantity,
            0.0,
            single(each.distance),
            within=PAPER.within("normal"),
            nulls=[UNIFORM],
            reading=reading,
        ),
    ]


def _figures(one: Arrivals, linux: Arrivals) -> list[Chart]:
    lags = np.arange(1, round(0.4 / PAPER["cross_bin_s"]))
    named = {"simulated": one, kernel_name(): linux}
    densities = [mark for place, (name, each) in enumerate(named.items()) for mark in density(each.smooth, name, place)]
    correlations = [
        Line(lags * PAPER["cross_bin_s"], autocorrelation(each.bins, lags), name, Style(place))
        for place, (name, each) in enumerate(named.items())
    ]
    rate, lag = Axis("rate", "Mbit/s"), Axis("lag", "s", minimum=0.0)
    return [
        Chart(
            "fig4a-linux",
            "Density of the cross traffic, Linux",
            Plot([Panel(densities, rate, Axis("density", "s/Mbit"))], "Rate in bins of 1.05 ms."),
        ),
        Chart(
            "fig4b-linux",
            "Autocorrelation of the cross traffic, Linux",
            Plot([Panel(correlations, lag, Axis("autocorrelation"))], "Rate in bins of 1.2 ms."),
        ),
    ]


PART = Part("figure 4 on real stacks", cases, findings, emulates=True)
