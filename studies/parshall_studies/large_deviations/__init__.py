"""Loiseau, Gonçalves, Barral, Vicat-Blanc Primet: modeling TCP throughput by large deviations (2010).

| file | what |
| --- | --- |
| `published.toml`, `claims.toml` | what the source prints, and what it claims |
| `setting` | what the source leaves unsaid, and the testbed as scenarios |
| `record`, `flow` | a flow's windows at the RTT rate, its loss events and repairs; its chains |
| `spectra`, `losses` | plots and claims that several figures have |
| `theory` | Figs 1 and 2, and sentences of sections 2 to 4.2: the chain |
| `constant`, `cross_traffic`, `on_off` | Figs 3, 4 and 5 |
| `long_range` | Fig. 6: among 45 TCP sources |
| `real`, `download` | Fig. 7: real flows; a capture of our own |
| `controls` | Figs 8 and 9: BIC, HighSpeed, CUBIC; predicted spectra |
| `pairs` | beyond the source: pairs of flows |

`quick` simulates minutes of network time where `paper` simulates the source's hours.

References: Loiseau 2010.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from parshall.studies.artefact import part
from parshall.studies.joint import Joint
from parshall.studies.study import Case, Part, Scale
from parshall_studies.large_deviations import (
    constant,
    controls,
    cross_traffic,
    download,
    long_range,
    on_off,
    pairs,
    real,
    theory,
)
from parshall_studies.large_deviations.flow import Flow
from parshall_studies.large_deviations.setting import OPEN, Setting, at, readings
from parshall_studies.on_linux import Compared, OnLinux

TESTBED = (constant.FIG3, cross_traffic.FIG4, on_off.FIG5, long_range.FIG6, controls.FIG9)
"""The artefacts of one testbed, which a reading has to carry together."""
BEYOND = (controls.PREDICTED, pairs.FAIRNESS)
SLOWER = 2.5
"""400 Mbit/s and 30 ms in place of 1 Gbit/s and 12 ms, so that a machine of two cores can carry it."""


def _alone(scale: Scale) -> dict[str, Setting]:
    return {"": at(Setting(), scale)}


def _on_linux(scale: Scale) -> Setting:
    seconds = 34.0 / SLOWER if scale == "quick" else 1800.0 / SLOWER
    return _lasting(8.0 / SLOWER, *[seconds] * 5, slower=SLOWER)


def _pairs_on_linux(scale: Scale) -> Setting:
    """20 ms and 60 Mbit/s: two thousand round trips in 40 s."""
    part_of = 2000 / pairs.ROUNDS if scale == "quick" else 1.0
    return replace(Setting(), slower=0.2, flow_s=part_of * Setting().flow_s)


def _compared(key: Any) -> Sequence[Compared]:
    if key == cross_traffic.ARRIVALS:
        return (
            Compared("mean of the cross traffic, Mbit/s", lambda each: float(each.mean.mean), 0.01),
            Compared("sigma at 1.2 ms, Mbit/s", lambda each: float(each.deviation.mean), 0.05),
            Compared("autocorrelation at 0.1 s", lambda each: float(each.at_lag.mean), least=0.05),
        )
    return (
        Compared(f"{key}: packets per RTT", _mean, 0.05),
        Compared(f"{key}: loss events per RTT", _losses, 0.05),
    )


def _mean(flow: Flow) -> float:
    return flow.record.mean


def _losses(flow: Flow) -> float:
    return float(flow.record.events.mean())


SCALED = (
    f"The source's network, {SLOWER:g} times slower: rates are divided, times multiplied, so that windows, loads and "
    "the buffer in packets stay. What does not scale are the times that a kernel knows: the least timeout, delayed "
    "ACKs, the clock of CUBIC. UDP heeds nobody and is simulated in the same queue; the 45 sources of Fig. 6 are the "
    "kernel's."
)
PARTS = (
    Part("figure 1: chain", lambda _: {"": Case("figure 1: chain", theory.figure_1)}),
    Part("figure 2: means", lambda _: {"": Case("figure 2: means", theory.figure_2)}),
    part("figures 3 to 6, 8 and 9: one testbed", TESTBED, readings, priority=3),
    Part("figure 7: real flows", lambda _: {"": Case("figure 7: real flows", real.real)}, priority=1),
    part("figure 7 from a capture", [download.FIG7], _alone),
    part("beyond the source", BEYOND, _alone, priority=2),
    OnLinux("On real stacks", TESTBED, _on_linux, _compared, keep=("persistent", "pacing"), text=(SCALED,)).part,
    OnLinux(
        "A download on real stacks",
        [download.FIG7],
        lambda _: replace(Setting(), flow_s=300.0),
        lambda _: download.COMPARED,
    ).part,
    OnLinux("Pairs of flows on real stacks", [pairs.FAIRNESS], _pairs_on_linux, pairs.compared).part,
)


def _lasting(*seconds: float, slower: float = 1.0) -> Setting:
    """The reconstruction for so many seconds of the fields of `LASTING`."""
    times: dict[str, Any] = dict(zip(LASTING, seconds, strict=True))
    return replace(Setting(), slower=slower, beyond=False, **times)


def _base(scale: Scale) -> Setting:
    """The reconstruction with times of a joint design: an hour's range is that of hours drawn of minutes."""
    return at(Setting(), scale) if scale == "paper" else _lasting(20.0, 30.0, 200.0, 200.0, 50.0, 80.0)


LASTING = ("warm_up_s", "constant_s", "cross_s", "flow_s", "control_s", "long_s")
JOINT = Joint((constant.FIG3, cross_traffic.FIG4_ONCE, *TESTBED[2:]), OPEN, _base)
