"""Fig. 1 with the TCP of Linux: the kernel's own Reno, which keeps ssthresh from connection to connection or does not.

The source measured a testbed of Linux hosts, and what it calls "without slow start" is what a kernel does by itself: it
keeps a destination's ssthresh, unless ``net.ipv4.tcp_no_metrics_save`` is 1. So the two columns of Fig. 1 are that
setting of the hosts, 0 and 1. Kernels since 5.6 need a second one to keep it, ``tcp_no_ssthresh_metrics_save = 0``:
without that, a Linux of today is "with slow start" whatever the first says. The source's kernel was one of 2011; since
then an initial window grew from 3 to 10 packets, and loss recovery and quick ACKs changed.

The network is `SLOWER` times slower than the source's, so that this machine can carry it: rates are divided, times
multiplied. What does not scale are the times that a kernel knows (least retransmission timeout, delayed ACKs), so the
simulator runs both networks with ``tcp = "linux"``: their difference is what scaling does.

Loads are equal: of each point the simulator finds the mean of the distribution at which the mean of the
sizes that are drawn is 1000 packets; Linux draws the same sizes from the same distribution. A sign is that of the
change between two tail indices. A run of Linux is one run: its change has the interval in which the change of one more
pair of simulated runs falls.

References: Goga, Loiseau & Gonçalves 2011, §3, Fig. 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from scipy.stats import t

from parshall.analysis.models.inputs import FloatArray
from parshall.analysis.stats.claims import Claim
from parshall.instruments.emulation import kernel_name
from parshall.instruments.simulation import Run
from parshall.report.document import Section, Table
from parshall.scenario import Scenario
from parshall.scenario.schema.kernel import AMPLE_BUFFERS, ssthresh_kept
from parshall.studies.artefact import named
from parshall.studies.study import Case, Emulated, Findings, Part, Scale, emulated
from parshall_studies import stacks
from parshall_studies.tail_index.figures import signs as signs_of
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured, measured
from parshall_studies.tail_index.network import MEAN_PACKETS, butterfly, pareto
from parshall_studies.tail_index.page import SIGNS
from parshall_studies.tail_index.running import Tables
from parshall_studies.tail_index.runs import Drawn, at_equal_load
from parshall_studies.tail_index.setting import FIG1, SAMPLES, Curve
from parshall_studies.tail_index.trends import VISIBLE, Change, Trends, change

SLOWER = 5
"""200 Mbit/s and 50 ms in place of 1 Gbit/s and 10 ms."""
TAIL_INDICES = (1.3, 4.0)
RUNS = 8
"""Runs of the simulator of each point."""
NEGLIGIBLE = {"loss": 0.1, "delay_ms": 0.1, "throughput_mbps": VISIBLE}
"""Differences between Linux and the simulator that do not matter, over the simulator's value."""
SETTLING_S = {"quick": 8.0, "paper": 60.0}
"""In the source's network: after it, ssthresh kept has settled. 40 s change nothing that shows."""
STARTING_S = 2.0
MEASURED_S = {"quick": 8.0, "paper": 360.0}
"""In the source's network."""


@dataclass(frozen=True)
class Point:
    """A setting at a tail index, so many times slower than the source's."""

    curve: Curve
    tail_index: float
    slower: float
    scale: Scale

    def scenario(self, rules: Mapping[str, Any], seed: int, mean_packets: float) -> Scenario:
        """A run of it; `rules` are keys of the sources: whose TCP they have."""
        settling_s = SETTLING_S[self.scale] if not self.curve.slow_start else STARTING_S
        return butterfly(
            self.curve.sources,
            self.curve.buffer,
            pareto(self.tail_index, mean_packets),
            flow=dict(rules),
            duration_s=(settling_s + MEASURED_S[self.scale]) * self.slower,
            warm_up_s=settling_s * self.slower,
            repetitions=1,
            seed=seed,
            samples=SAMPLES,
            slower=self.slower,
        )

    @property
    def simulated(self) -> dict[str, Any]:
        """TCP as in Linux, for the simulator."""
        return {**stacks.PROFILE, "ssthresh_cached": "off" if self.curve.slow_start else "linux", **self.real}

    @property
    def real(self) -> dict[str, Any]:
        """What the hosts of Linux are told."""
        return {"kernel": {"sysctls": {**ssthresh_kept(kept=not self.curve.slow_start), **AMPLE_BUFFERS}}}


def equal(point: Point, seed: int) -> Drawn:
    """A simulated run at the load wanted."""
    return at_equal_load(lambda mean: point.scenario(point.simulated, seed, mean))


def as_loaded(point: Point, seed: int, drawn: Drawn) -> Scenario:
    """The same run with the TCP of Linux."""
    return point.scenario(point.real, seed, drawn.load.mean if drawn.load else MEAN_PACKETS)


def measured_of(run: Run, warm_up_s: float) -> Measured:
    """What an emulated run comes to."""
    transfers, samples = (pl.DataFrame() if each is None else each for each in (run.transfers, run.flow_samples))
    return measured(Tables(warm_up_s, run.links, run.flows, transfers, pl.DataFrame(), samples))


def cases(scale: Scale) -> dict[Any, Case]:
    """Of each point: the source's network and the slower one, both simulated some times, and Linux."""
    declared: dict[Any, Case] = {}
    for curve in FIG1:
        for alpha in TAIL_INDICES:
            label = f"{curve.name}, tail index {alpha:g}"
            for slower in (1, SLOWER):
                for seed in range(1, RUNS + 1):
                    place = f"{label}, {'the source' if slower == 1 else 'slower'} network"
                    declared[curve, alpha, slower, seed] = Case(
                        place, equal, (Point(curve, alpha, slower, scale), seed)
                    )
            point = Point(curve, alpha, SLOWER, scale)
            loaded = Case(f"{label}, its load", as_loaded, (point, 1, declared[curve, alpha, SLOWER, 1]))
            warm_up_s = (SETTLING_S[scale] if not curve.slow_start else STARTING_S) * SLOWER
            declared[curve, alpha, "linux"] = emulated(f"{label}, Linux", loaded, measured_of, warm_up_s)
    return declared


def findings(answers: Mapping[Any, Any], _: Scale) -> Findings:
    """The signs of Fig. 1, and each point beside the simulator."""
    made: list[Claim] = []
    signs, rows, remarks = [], [], []
    trends: Trends = {}
    for curve in FIG1:
        linux: list[Emulated] = [answers[curve, alpha, "linux"] for alpha in TAIL_INDICES]
        names = [f"{curve.name}, tail index {alpha:g}" for alpha in TAIL_INDICES]
        remarks += stacks.remarks(zip(names, linux, strict=True))
        for name, alpha, each in zip(names, TAIL_INDICES, linux, strict=True):
            here, there = (_values(answers, curve, alpha, slower) for slower in (1, SLOWER))
            rows.append(_row(name, "simulated, the source's network", here))
            rows.append(_row(name, f"simulated, {SLOWER} times slower", there))
            rows.append(_row(name, stacks.column(each), {key: scaled(each.answer, key, SLOWER) for key in there}))
            if stacks.usable(each):
                made += _between(curve, name, each, there)
        for metric in METRICS:
            changes = [_simulated_change(answers, curve, slower, metric) for slower in (1, SLOWER)]
            cells = [each.told() for each in changes]
            if all(stacks.usable(each) for each in linux):
                trends[curve, metric] = one_more(
                    [scaled(each.answer, metric, SLOWER)[0] for each in linux],
                    [_values(answers, curve, alpha, SLOWER)[metric] for alpha in TAIL_INDICES],
                )
                cells.append(trends[curve, metric].told())
            signs.append((curve.name, WORDS[metric], SIGNS[curve.published(metric)], *cells, *[""] * (3 - len(cells))))
    made = [*_published(trends, answers), *made]
    text = (
        f"The testbed's network, {SLOWER} times slower: rates are divided, times multiplied, so that loads, windows "
        "and buffers in packets stay. Linux has its own Reno at both ends of the 45 sources; without slow start it "
        "keeps the ssthresh of each destination (net.ipv4.tcp_no_metrics_save and tcp_no_ssthresh_metrics_save are 0), "
        "with slow start it does not (1).",
        f"A change is from tail index {max(TAIL_INDICES):g} to {min(TAIL_INDICES):g}, over the mean of both, at equal "
        "loads, with its 95 % interval; that of Linux is one pair of runs, and its interval that in which one more "
        f"pair of the {RUNS} simulated ones falls.",
        *remarks,
    )
    columns = (
        "setting",
        "metric",
        "published",
        "simulated, the source's network",
        f"{SLOWER} times slower",
        kernel_name(),
    )
    header = ("point", "where", *(WORDS[metric] for metric in METRICS), "mean size, packets", "ssthresh, packets")
    tables = [
        Table("Change with heavier tails", columns, signs, numbers=range(2, 6)),
        Table("As in the source's network: delays in ms, throughput in Mbit/s", header, rows, numbers=range(2, 7)),
    ]
    return Findings(made, [Section("Fig. 1 on real stacks", text, tables)])


def _published(trends: Trends, answers: Mapping[Any, Any]) -> list[Claim]:
    """The published signs on Linux, beside those of the simulator in the same network."""
    reading = f"{kernel_name()}, {SLOWER} times slower, equal loads"
    simulated = {key: _simulated_change(answers, key[0], SLOWER, key[1]) for key in trends}
    return stacks.by_one_instrument(*(named(list(signs_of(each)), reading) for each in (trends, simulated)))


def scaled(point: Measured, key: str, slower: float) -> FloatArray:
    """A value of `Measured`, a value a run, as it is in the source's network: less delay, more throughput."""
    values = np.atleast_1d(np.asarray(getattr(point, key), dtype=np.float64))
    return values * {"delay_ms": 1 / slower, "throughput_mbps": slower}.get(key, 1.0)


_SHOWN = (*METRICS, "mean_packets", "ssthresh_packets")


def _values(answers: Mapping[Any, Any], curve: Curve, alpha: float, slower: float) -> dict[str, FloatArray]:
    """Of the simulated runs of a point, as in the source's network."""
    runs: list[Drawn] = [answers[curve, alpha, slower, seed] for seed in range(1, RUNS + 1)]
    return {key: np.concatenate([scaled(each.point, key, slower) for each in runs]) for key in _SHOWN}


def _simulated_change(answers: Mapping[Any, Any], curve: Curve, slower: float, metric: str) -> Change:
    values = [_values(answers, curve, alpha, slower)[metric] for alpha in TAIL_INDICES]
    return change(TAIL_INDICES, values, heaviest=min(TAIL_INDICES))


def one_more(pair: Sequence[float], simulated: Sequence[FloatArray]) -> Change:
    """The change of one pair of runs, from the second to the first, with the interval of one more simulated pair.

    >>> made = one_more([1.1, 0.9], [np.array([1.0, 1.1]), np.array([1.0, 1.0])])
    >>> round(made.relative, 2), round(made.low, 2), made.values
    (0.2, -0.85, 1)
    """

    def relative(heavy: FloatArray, light: FloatArray) -> FloatArray:
        middle = (heavy + light) / 2
        return np.divide(heavy - light, middle, out=np.zeros_like(middle), where=middle > 0)

    (ours,) = relative(*(np.array([each]) for each in pair))
    others = relative(*simulated)
    spread = float(np.std(others, ddof=1)) * float(np.sqrt(1 + 1 / others.size))
    half = spread * float(t.ppf(0.975, others.size - 1))
    p_value = float(2 * t.sf(abs(ours) / spread, others.size - 1)) if spread > 0 else float(ours == 0)
    return Change(float(ours), float(ours) - half, float(ours) + half, p_value, 1)


def _between(curve: Curve, name: str, linux: Emulated, simulated: Mapping[str, FloatArray]) -> list[Claim]:
    """Linux beside the simulator's TCP of Linux, in the slower network."""
    return [
        stacks.beside_simulated(
            f"{curve.figure}-linux",
            f"{WORDS[metric]} on Linux, {name}",
            linux,
            float(scaled(linux.answer, metric, SLOWER)[0]),
            simulated[metric].tolist(),
            share=NEGLIGIBLE[metric],
        )
        for metric in METRICS
    ]


def _row(name: str, where: str, values: Mapping[str, FloatArray]) -> tuple[str, ...]:
    known = (values[key][np.isfinite(values[key])] for key in _SHOWN)
    return (name, where, *(stacks.cell(each, 3, 1) for each in known))


PART = Part("Fig. 1 on real stacks", cases, findings, emulates=True)
