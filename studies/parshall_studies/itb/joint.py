"""The joint design: every claim of the experiments at points over all that the source leaves unsaid of its testbed.

A setting of the source's own rates takes a thousand million packets, so the design is done in the network of the real
stacks, `SLOWER` times less fast. What a control adds to its window in packets is not scaled, so times that it needs for
that are shorter there: steps and files are shorter, too. `docs/itb.md` has what the best setting does at own rates.
"""

from __future__ import annotations

from dataclasses import replace

from parshall.studies.joint import Joint, Open
from parshall.studies.study import Scale
from parshall_studies.itb.files import FIG3, FIG8, FIG9, FIG10
from parshall_studies.itb.network import Setting
from parshall_studies.itb.pair import FIG4, TABLE6
from parshall_studies.itb.rtts import FIG5, FIG6, FIG7

SLOWER = 50
ARTEFACTS = (TABLE6, FIG3, FIG4, FIG5, FIG6, FIG7, FIG8, FIG9, FIG10)


def _counted(name: str, meaning: str, reason: str, low: int, high: int) -> Open:
    return Open(name, meaning, reason, low=low, high=high, log=True, whole=True)


_YES_NO = (False, True)
_LIMITS = "TU sets it (§5.2), nobody states it; from "
OPENED = (
    _counted("buffer_packets", "bottleneck's queue, packets", "very difficult to measure (§4.3.2)", 200, 20_000),
    _counted("interface_packets", "host's queue, packets", f"{_LIMITS}a fifth of Linux's 1000 on", 200, 10_000),
    _counted("spare_packets", "window beyond the path, packets", f"{_LIMITS}the path to no limit", 10, 20_000),
    Open("kernel_controls", "controls as in Linux 2.6.16", "§5.1 names it, Table 2 the published ones", _YES_NO),
    Open("scaling_error", "CUBIC's error before 2.6.19", 'footnote 8: 2.6.16; §5.1: a "Cubic patch"', _YES_NO),
    Open("by_bytes", "growth by what ACKs acknowledge", "not said; Linux had both (tcp_abc)", _YES_NO),
    Open("jitter_packets", "lateness, packets' times", "hosts are not in step; not said by how much", (0, 1, 10)),
    Open("loss", "loss of the path", "small (§2.1), but faulty hosts (§4.3.2)", low=1e-9, high=1e-5, log=True),
    Open("slowest", "every second host over 1 Gbit/s", "hosts differed (§4.3.2, Table 6)", low=0.6),
    Open("other_way", "hosts of the other way over 1 Gbit/s", "Table 6: 923 and 651 Mbit/s", low=0.6),
    Open("recovery", "repair of losses", "not said; SACK was the default", ("newreno", "sack", "rack")),
    Open("default_bytes", "default window, bytes", "the kernel's first to last", low=65_536, high=131_070, whole=True),
    Open("pair_rtt_ms", "RTT of Table 6, ms", "not said; other sites: 11.5 to 19.8 ms", low=10.0, high=25.0),
    Open("flow_s", "length of a flow of Figs 5 and 6, s", "not said", low=3.0, high=12.0, log=True),
)
"""All that the source leaves unsaid."""


def base(scale: Scale) -> Setting:
    """The reconstruction in the network of the design; at paper scale with files and steps twice as long."""
    longer = 2 if scale == "paper" else 1
    return replace(
        Setting(),
        slower=SLOWER,
        fig3_gb=0.6 * longer,
        bulk_gb=0.3 * longer,
        levels=(1.2, 1.7, 2.1),
        flow_s=10.0,
        step_s=1.2 * longer,
        short_step_s=0.6 * longer,
        at_once=6,
        drawn=False,
    )


JOINT = Joint(ARTEFACTS, OPENED, base)
