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

OPENED = (
    Open(
        "buffer_packets",
        "queue of the bottleneck, packets",
        "not in the source (§4.3.2: very difficult to measure); from a tenth of what switches of that time had to the "
        "bandwidth-delay product at 20 ms",
        low=200,
        high=20_000,
        log=True,
        whole=True,
    ),
    Open(
        "interface_packets",
        "queue of a host's interface, packets",
        "txqueuelen, which TU sets (§5.2) and nobody states; Linux gave 1000, its administrators up to 10,000",
        low=200,
        high=10_000,
        log=True,
        whole=True,
    ),
    Open(
        "spare_packets",
        "window of a host beyond its path, packets",
        "the TCP buffers that TU sets (§5.2); from the path alone to no limit",
        low=10,
        high=20_000,
        log=True,
        whole=True,
    ),
    Open(
        "kernel_controls",
        "controls are those of Linux 2.6.16",
        "the kernel is named (§5.1), the published controls are in Table 2",
        values=(False, True),
    ),
    Open(
        "scaling_error",
        "CUBIC has the scaling error of Linux before 2.6.19",
        'footnote 8 names 2.6.16, §5.1 a "Cubic patch"',
        values=(False, True),
    ),
    Open(
        "by_bytes",
        "windows grow by what ACKs acknowledge",
        "not in the source; Linux had both (tcp_abc)",
        values=(False, True),
    ),
    Open(
        "jitter_packets",
        "packets leave up to so many packets' times late",
        "hosts are not in step; by how much the source does not say",
        values=(0, 1, 10),
    ),
    Open(
        "loss",
        "probability that the path loses a packet",
        "small in optical networks (§2.1); faulty hosts are told of (§4.3.2)",
        low=1e-9,
        high=1e-5,
        log=True,
    ),
    Open(
        "slowest",
        "rate of every second host over 1 Gbit/s",
        "Table 6 has 923 Mbit/s one way and 651 the other",
        low=0.6,
        high=1.0,
    ),
    Open("recovery", "repair of losses", "not in the source; SACK was the default", values=("newreno", "sack", "rack")),
    Open(
        "default_bytes",
        "window with default buffers, bytes",
        "Table 6 leaves buffers to the kernel: its first offer to its largest",
        low=65_536,
        high=131_070,
        whole=True,
    ),
    Open(
        "pair_rtt_ms",
        "RTT of Table 6, ms",
        "Rennes to Toulouse is not stated; other pairs of sites have 11.5 to 19.8 ms",
        low=10.0,
        high=25.0,
    ),
    Open("flow_s", "length of a flow of Figs 5 and 6, s", "not in the source", low=3.0, high=12.0, log=True),
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
        flow_s=6.0 * longer,
        step_s=1.2 * longer,
        short_step_s=0.6 * longer,
        at_once=6,
        drawn=False,
    )


JOINT = Joint(ARTEFACTS, OPENED, base)
