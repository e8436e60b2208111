"""Table 6 and Fig. 4: one pair of hosts. What small buffers cost, and how messages start.

Table 6: the goodput of 300 s with the buffer that Linux 2.6.16 has by default (a receive buffer of 87,380 bytes, of
which 65,536 are offered), against one that is large enough; RTT 19.8 ms.

Fig. 4: a ping-pong of MPI, 200 messages of 1 MB each way at 11.6 ms, over one connection whose windows live on
(§4.5.4). The control is that of the hosts' kernel, BIC with Linux' constants: slow start ends at 100 packets, and until
the first loss a round trip adds a twentieth of the window. Nothing of this is fitted.

Both nodes send alike, one after the other, so one direction is simulated: a message takes from its first packet sent
to its last one received, half an RTT before its last ACK, and a ping-pong is two of them. The reply carries the ACK at
once (an ACK waits 50 us, four packets' time). Linux' BIC grew its window by packets, however many an ACK stood for.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.studies.check import Check
from parshall.studies.itb.network import LINUX_BIC, LINUX_CUBIC, Size, simulated
from parshall.studies.itb.published import BUFFER_GAIN, FIG4_FULL_S, FIG4_S
from parshall.studies.study import Progress

MESSAGES, MESSAGE_BYTES = 200, 1_000_000
FIG4_RTT_MS = 11.6
_FULL = 0.9
"""Of the largest goodput of a message: the full rate."""

_MAIN = "BIC of Linux 2.6.16"
_CONTROLS: dict[str, dict[str, Any]] = {
    _MAIN: LINUX_BIC,
    "the same, growing by ACKs": {**LINUX_BIC, "byte_counting": False},
    "BIC of the paper, slow start to a loss": {"congestion_control": "bic"},
    "CUBIC of Linux 2.6.16": LINUX_CUBIC,
    "Reno, slow start to a loss": {"congestion_control": "reno"},
    "Reno, slow start to 100 packets": {"congestion_control": "reno", "initial_ssthresh": "100 packets"},
}


@dataclass(frozen=True)
class PingPong:
    """When each ping-pong ended, and the goodput of its messages, bit/s."""

    ends_s: NDArray[np.float64]
    goodput_bps: NDArray[np.float64]

    @property
    def total_s(self) -> float:
        """The end of the last one."""
        return float(self.ends_s[-1])

    @property
    def full_s(self) -> float:
        """When a message first had the full rate."""
        return float(self.ends_s[np.flatnonzero(self.goodput_bps >= _FULL * self.goodput_bps.max())[0]])


def found(size: Size, progress: Progress) -> tuple[list[Check], Section]:
    """Table 6 and Fig. 4."""
    progress("Table 6 and Fig. 4: one pair of hosts")
    seconds = 300.0 if size.kept else 30.0
    small, large = simulated([pair(19.8, seconds, 44), pair(19.8, seconds, 4000)], size)
    before, after = (float(run.flows["goodput_bps"][0]) / 1e6 for run in (small, large))
    gain = 1 - before / after
    checks = [
        Check("table6", "share of the goodput that default buffers lose", BUFFER_GAIN, gain, None, None, 0.03),
        Check(
            "table6",
            "goodput with tuned buffers, Mbit/s",
            923.0,
            after,
            None,
            None,
            50.0,
            "hosts of 2006 had 941 at most",
        ),
    ]
    runs = simulated([ping_pong(each) for each in _CONTROLS.values()], size)
    made = {name: ping_pongs(run) for name, run in zip(_CONTROLS, runs, strict=True)}
    main = made[_MAIN]
    checks += [
        Check("fig4", "time of 200 ping-pongs, s", FIG4_S, main.total_s, None, None, 0.1 * FIG4_S),
        Check("fig4", "when the full rate is reached, s", FIG4_FULL_S, main.full_s, None, None, 0.5),
        *(
            Check("fig4", f"time of 200 ping-pongs, s: {name}", None, each.total_s, None, None, 0.0)
            for name, each in made.items()
            if name != _MAIN
        ),
    ]
    tables = [
        Table(
            "Table 6: one pair, RTT 19.8 ms",
            ("receiver's window", "goodput (Mbit/s)"),
            [("64 kB", f"{before:.1f}"), ("tuned", f"{after:.1f}")],
            numbers=(1,),
        ),
        Table(
            "Fig. 4: 200 ping-pongs of 1 MB",
            ("control", "time (s)", "90 % of its rate at (s)"),
            [(name, f"{each.total_s:.2f}", f"{each.full_s:.2f}") for name, each in made.items()],
            numbers=(1, 2),
        ),
    ]
    text = (
        "The source does not name the control of Fig. 4; BIC was its kernel's default. Three things make it slow: a "
        "message waits for the reply of the one before, slow start ends at 100 packets, and a window grows in those "
        "round trips only that use it. Without the second, or with a message that follows at once, it is faster than "
        "published.",
    )
    return checks, Section(
        "Table 6 and Fig. 4: one pair of hosts", text, tables, [Drawn("fig4", "Fig. 4", _plot(made))]
    )


def ping_pong(more: dict[str, Any]) -> Scenario:
    """One direction of a ping-pong, its messages back to back on one connection."""
    workload = {"name": "transfer", "sizes": [f"{MESSAGE_BYTES} B"] * MESSAGES}
    flow = {"workload": workload, "persistent": True, "delayed_ack": "50 us", **more}
    return pair(FIG4_RTT_MS, 60.0, 4000, flow)


def ping_pongs(run: Run) -> PingPong:
    """The ping-pongs that a run of one direction stands for."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    taken = (run.transfers["completion_s"] - run.transfers["start_s"]).to_numpy() - FIG4_RTT_MS / 2000
    return PingPong(np.cumsum(2 * taken), 8 * MESSAGE_BYTES / taken)


def pair(rtt_ms: float, seconds: float, window: int, more: dict[str, Any] | None = None) -> Scenario:
    """One flow of BIC between two hosts of 1 Gbit/s; `more` changes the group."""
    return Scenario.from_document(
        {
            "duration": f"{seconds:g} s",
            "processing_time": "0 s",  # windows and times are compared with closed forms
            "bottleneck": {
                "rate": "10 Gbit/s",
                "delay": "10 us",
                "queue": {"name": "drop_tail", "limit": "2000 packets"},
            },
            "flows": [
                {
                    "rtt": f"{rtt_ms:g} ms",
                    "access_rate": "1 Gbit/s",
                    "congestion_control": "bic",
                    "delayed_ack": True,
                    "initial_window": "3 packets",
                    "receive_window": f"{window} packets",
                    **(more or {}),
                }
            ],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


def _plot(made: dict[str, PingPong]) -> Plot:
    marks: list[Line | Guide] = [
        Line(each.ends_s, each.goodput_bps / 1e6, name, Style(series=number), steps=True)
        for number, (name, each) in enumerate(made.items())
    ]
    marks.append(Guide(FIG4_S, "the source's end", along="x"))
    return Plot([Panel(marks, Axis("time", "s"), Axis("goodput", "Mbit/s"))], "Goodput of each message.")
