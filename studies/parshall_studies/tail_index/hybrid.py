"""Fig. 2's five hundred sources, of which as many as in Fig. 1 are real hosts of Linux among simulated ones.

No machine of ours carries five hundred hosts of Linux at the source's rate; but a simulated source and a real one meet
in the same queue, so that a few real ones find the load of five hundred. The network is that of `real_stacks`, five
times slower. All sources have the same sizes to draw from and the same TCP, Linux's own or the simulator's; so the real
ones should get the share of the link that as many simulated ones get, and the link should lose and delay as in the
simulator alone.

Unlike in the source, round trips differ: by a tenth around the source's. With equal ones the pattern of arrivals at the
full queue comes back each round trip, and what a source gets depends on the tenths of a millisecond that its host takes
for a packet: 45 simulated sources that take none got 1.7 times what those got that take up to 0.1 ms, and hosts of
Linux 1.6 times (phase effects, Floyd & Jacobson 1992).

References: Goga, Loiseau & Gonçalves 2011, §3, Fig. 2; Floyd & Jacobson 1992, §3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from parshall.instruments.simulation import Run
from parshall.scenario.schema.kernel import AMPLE_BUFFERS, ssthresh_kept
from parshall.scenario.schema.profiles import told_by
from parshall.studies.artefact import Artefact, Measurement
from parshall.studies.study import Scale
from parshall_studies import stacks
from parshall_studies.on_linux import Compared, OnLinux
from parshall_studies.tail_index.measure import METRICS, WORDS, Measured, measured
from parshall_studies.tail_index.network import HOSTS, butterfly, pareto
from parshall_studies.tail_index.real_stacks import NEGLIGIBLE, SLOWER, STARTING_S, scaled
from parshall_studies.tail_index.running import Tables
from parshall_studies.tail_index.setting import FIG1, FIG2

HOSTS_COUNT = FIG1[0].sources
SYSCTLS = {**ssthresh_kept(kept=False), **AMPLE_BUFFERS}
"""Fig. 2 is with slow start."""
_RTTS_MS = (9, 11)
"""Round trips are drawn between these in the source's network, which has 10 ms."""
_OF_HOSTS = told_by(SYSCTLS)
"""What hosts are told, for simulated sources, which have no sysctls."""


@dataclass(frozen=True)
class Mixed:
    """What a run comes to, and the hosts' part of what all sources send, over their part of the sources."""

    point: Measured
    share: float


@dataclass(frozen=True)
class Size:
    """Tail indices, and the time measured in the source's network."""

    tail_indices: tuple[float, ...]
    measured_s: float


SIZES: Mapping[Scale, Size] = {"quick": Size((1.5,), 6.0), "paper": Size((1.3, 1.5, 4.0), 360.0)}


def points(size: Size) -> dict[tuple[int, float], Measurement]:
    """The network of Fig. 2 with hosts among its sources, by buffer and tail index."""
    own = {"rtt": {"uniform": [f"{each * SLOWER:g} ms" for each in _RTTS_MS]}, "kernel": {"sysctls": SYSCTLS}}
    return {
        (curve.buffer, alpha): Measurement(
            f"{curve.name}, tail index {alpha:g}, {HOSTS_COUNT} of them hosts",
            butterfly(
                curve.sources,
                curve.buffer,
                pareto(alpha),
                flow={**stacks.PROFILE, **_OF_HOSTS, **own},
                duration_s=(STARTING_S + size.measured_s) * SLOWER,
                warm_up_s=STARTING_S * SLOWER,
                repetitions=1,
                slower=SLOWER,
                hosts=HOSTS_COUNT,
            ),
            of_run,
            (STARTING_S * SLOWER,),
        )
        for curve in FIG2
        for alpha in size.tail_indices
    }


def of_run(run: Run, warm_up_s: float) -> Mixed:
    """What a run with hosts comes to."""
    transfers = pl.DataFrame() if run.transfers is None else run.transfers
    of = Tables(warm_up_s, run.links, run.flows, transfers, pl.DataFrame(), pl.DataFrame())
    sent = dict(of.flows.group_by("group").agg(pl.col("throughput_bps").sum()).iter_rows())
    share = sent[HOSTS] / (sent[HOSTS] + sent["sources"])
    return Mixed(measured(of), share * FIG2[0].sources / HOSTS_COUNT)


def nothing(_: Any, __: Size) -> list[Any]:
    """The source's statements of hosts among simulated sources: it makes none."""
    return []


def compared(key: tuple[int, float]) -> list[Compared]:
    """The link's metrics, as in the source's network, and the hosts' share."""
    where = f"B = {key[0]}, tail index {key[1]:g}, {HOSTS_COUNT} hosts of {FIG2[0].sources}"
    metrics = [Compared(f"{WORDS[each]}, {where}", _metric(each), share=NEGLIGIBLE[each]) for each in METRICS]
    return [*metrics, Compared(f"a host's share, {where}", _share, share=0.05)]


def _metric(name: str) -> Any:
    return lambda mixed: float(np.mean(scaled(mixed.point, name, SLOWER)))


def _share(mixed: Mixed) -> float:
    return mixed.share


ON_LINUX: OnLinux[Size] = OnLinux(
    "Real hosts among simulated sources",
    (Artefact("fig2", points, nothing),),
    SIZES.__getitem__,
    compared,
    keep=tuple(_OF_HOSTS),
    text=(
        f"The network of Fig. 2, {SLOWER} times slower, with {HOSTS_COUNT} hosts of Linux among simulated sources in "
        "the same queue; beside it runs in which all are simulated. Values as in the source's network. The share is "
        f"what a host gets over what a source gets. RTTs are drawn from {_RTTS_MS[0]} to {_RTTS_MS[1]} ms, where the "
        "source has 10 ms for all: with equal ones, tenths of a millisecond that a host takes for a packet would "
        "decide what it gets.",
    ),
)
