"""Table 6, Figs 3 and 5 to 10 on real stacks: the same declarations, with hosts of Linux in slower networks.

Table 6 is `stretched` (100 Mbit/s and 198 ms), so that windows stay; a host has default buffers as a limit of its
window. The other figures are `slower`: what a control needs time for by packets moves to longer RTTs. One flow alone is
TU, which the source calibrates with: what a host gets that shares nothing. Spreads and fairness of hosts that share
nothing say little; mean times, goodputs and uses of the link are compared.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2 to §5.6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from parshall.studies.study import Scale
from parshall_studies.itb import files, rtts
from parshall_studies.itb.files import FIG3, FIG8, FIG9, FIG10
from parshall_studies.itb.joint import SLOWER
from parshall_studies.itb.network import Measured, Setting, Values
from parshall_studies.itb.pair import TABLE6
from parshall_studies.itb.rtts import FIG5, FIG6, FIG7
from parshall_studies.on_linux import Compared, OnLinux

TU = 1
STRETCHED = 10
KEEP = ("receive_window",)
"""Of the source's hosts, that hosts of Linux have, too."""
TEXT = (f"Rates, queues and files are {SLOWER} times smaller than the source's, RTTs its own; values are as there.",)


def stretched(scale: Scale) -> Setting:
    """The pair of Table 6."""
    return Setting(stretched=STRETCHED, pair_s=1.2 if scale == "quick" else 30.0, repetitions=1, drawn=False)


def slower(scale: Scale) -> Setting:
    """Hosts of 20 Mbit/s and a bottleneck of 200 Mbit/s."""
    longer = 10 if scale == "paper" else 1
    return Setting(
        slower=SLOWER,
        flow_s=12.0 * longer,
        step_s=1.6 * longer,
        short_step_s=1.0 * longer,
        fig3_gb=1.0,
        bulk_gb=0.4,
        levels=(1.2, 1.7, 2.1),
        reversed_levels=(1.0,),
        counts=(TU, *rtts.COUNTS),
        repetitions=1,
        drawn=False,
    )


@dataclass(frozen=True)
class MeanOf:
    """The mean of a place's values in the first run, over a unit."""

    place: str
    unit: float = 1.0

    def __call__(self, answer: Measured) -> float:
        """The mean of an answer."""
        return float(answer.values[self.place][0].mean()) / self.unit


def first_mbps(answer: Values) -> float:
    """The goodput of the first run, Mbit/s."""
    return float(answer[0])


def _pair(name: str) -> Sequence[Compared]:
    # What hosts of 2006 left unused of a line, besides frames and headers, is not known.
    return [Compared(f"{name} buffers: goodput, Mbit/s", first_mbps, share=0.02)]


def _goodputs(key: rtts.Key) -> Sequence[Compared]:
    rtt_ms, names = key
    counts = {TU: "TU", **{count: f"{count} flows" for count in rtts.COUNTS}}
    return [
        Compared(f"{name}, {words}, {rtt_ms:g} ms: goodput, Mbit/s", MeanOf(rtts.place_name(name, count, rtt_ms), 1e6))
        for name in names
        for count, words in counts.items()
    ]


def _uses(key: rtts.Key) -> Sequence[Compared]:
    rtt_ms, names = key
    return [
        Compared(
            f"{name}, {rtt_ms:g} ms: use of the link", MeanOf(rtts.place_name(name, rtts.FLOWS, rtt_ms)), 0.0, 0.05
        )
        for name in names
    ]


def _times(key: Any) -> Sequence[Compared]:
    """Mean times of files over that alone, of the places of Fig. 3, of Figs 8 and 10, or of Fig. 9."""
    setting = slower("quick")
    if key == "starts":
        places = [files.TOGETHER, files.STAGGERED]
    elif isinstance(key, float):
        places = [files.reverse_name(key, reverse) for reverse in files.REVERSE]
    else:
        level, names = key
        places = [files.place_name(name, level) for name in names]
    gigabytes = setting.fig3_gb if key == "starts" else setting.bulk_gb
    alone_s = files.alone_s(gigabytes)
    return [Compared(f"{place}: mean time of a file over that alone", MeanOf(place, alone_s)) for place in places]


ON_LINUX = (
    OnLinux("Table 6 on real stacks", (TABLE6,), stretched, _pair, keep=KEEP),
    OnLinux("Figs 5 and 6, and TU, on real stacks", (FIG5, FIG6), slower, _goodputs, keep=KEEP, text=TEXT),
    OnLinux("Fig. 7 on real stacks", (FIG7,), slower, _uses, keep=KEEP, text=TEXT),
    OnLinux("Figs 3, 8, 9 and 10 on real stacks", (FIG3, FIG8, FIG9, FIG10), slower, _times, keep=KEEP, text=TEXT),
)
