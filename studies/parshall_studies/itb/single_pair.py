"""Table 6 and Fig. 4: one pair of hosts. What small buffers cost, and how messages start.

Table 6: the goodput of 300 s with the buffers that Linux 2.6.16 has by default, and with tuned ones. iperf leaves the
buffers to the kernel. Packets are framed as on Gigabit Ethernet (38 bytes of preamble, header, checksum and gap), and
carry timestamps: 1448 bytes of data in 1538. What the source does not say are readings: the RTT (here 19.8 ms, that of
Figs 3 and 8 to 10), and which buffer limits:

| window | why |
| --- | --- |
| 65,536 bytes | the receiver's first buffer, 87,380 bytes, of which three quarters are offered |
| 131,070 bytes | the receiver's buffer grown to its maximum, 174,760 bytes, of which three quarters are offered |

Fig. 4: the ping-pong of PA (`parshall_studies.benchmark.ping_pong`) at 11.6 ms. The control is that of the hosts'
kernel, BIC with Linux' constants: slow start ends at 100 packets, and until the first loss a round trip adds a
twentieth of the window. Nothing of this is fitted. Both nodes send alike on an empty path, so one direction is
simulated, and a ping-pong is two of its messages. Linux' BIC grew its window by packets, however many an ACK stood for.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.study import Findings
from parshall_studies.benchmark.ping_pong import MESSAGE_BYTES, MESSAGES, direction, message_s
from parshall_studies.itb.network import ACCESS_BPS, LINUX_BIC, LINUX_CUBIC, PAPER, Recorded, Size

FIG4_RTT_MS, TABLE6_RTT_MS = 11.6, 19.8
_SEGMENT_BYTES = 1448
_FRAMED = {"packet_size": "1538 B", "header_size": "90 B"}

DEFAULTS = {"receiver's first buffer, 64 kB offered": 65_536, "receiver's buffer at its maximum": 131_070}
"""Readings of what limits a flow with default buffers, bytes."""

_TUNED_PACKETS = 4000

_LOST = "share of the goodput that default buffers lose"
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


_WINDOWS = {name: offered // _SEGMENT_BYTES for name, offered in DEFAULTS.items()} | {"tuned": _TUNED_PACKETS}


def scenarios(size: Size) -> dict[str, Scenario]:
    """A pair with each window, and a ping-pong with each control."""
    pairs = {name: pair(TABLE6_RTT_MS, size.pair_s, packets, _FRAMED) for name, packets in _WINDOWS.items()}
    return pairs | {name: ping_pong(each) for name, each in _CONTROLS.items()}


def findings(runs: Mapping[str, Recorded], _: Size) -> Findings:
    """Table 6 and Fig. 4."""
    checks, table6 = _table6(runs)
    made = {name: ping_pongs(runs[name]) for name in _CONTROLS}
    main = made[_MAIN]
    checks += [
        equal(
            "fig4",
            "time of 200 ping-pongs, s",
            PAPER["fig4_s"],
            exactly(main.total_s),
            within=PAPER.within("ping_pong", PAPER["fig4_s"]),
        ),
        equal(
            "fig4",
            "when the full rate is reached, s",
            PAPER["fig4_full_s"],
            exactly(main.full_s),
            within=PAPER.within("full_rate"),
        ),
        *(
            reported("fig4", f"time of 200 ping-pongs, s: {name}", exactly(each.total_s))
            for name, each in made.items()
            if name != _MAIN
        ),
    ]
    tables = [
        table6,
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
    figure = Chart("fig4", "Fig. 4", _plot(made))
    return Findings(checks, [Section("Table 6 and Fig. 4: one pair of hosts", text, tables, [figure])])


def _table6(runs: Mapping[str, Recorded]) -> tuple[list[Claim], Table]:
    mbps = {name: float(runs[name].flows["goodput_bps"][0]) / 1e6 for name in _WINDOWS}
    checks = []
    for name in DEFAULTS:
        gain = 1 - mbps[name] / mbps["tuned"]
        checks += [
            _goodput("goodput with default buffers, Mbit/s", PAPER["default_mbps"], mbps[name], name),
            equal(
                "table6", _LOST, PAPER["buffer_gain"], exactly(gain), within=PAPER.digits("buffer_gain"), reading=name
            ),
        ]
    checks += [
        _goodput("goodput with tuned buffers, Mbit/s", PAPER["tuned_mbps"], mbps["tuned"]),
        _goodput("goodput with tuned buffers, the other way, Mbit/s", PAPER["tuned_back_mbps"], mbps["tuned"]),
    ]
    rows = [(name, f"{_WINDOWS[name]}", f"{value:.1f}") for name, value in mbps.items()]
    header = ("window", "packets", "goodput (Mbit/s)")
    caption = f"Table 6: one pair, RTT {TABLE6_RTT_MS:g} ms; published: 44.3 before, 923 and 651 after"
    return checks, Table(caption, header, rows, numbers=(1, 2))


def _goodput(quantity: str, published: float, ours: float, reading: str = "") -> Claim:
    return equal(
        "table6", quantity, published, exactly(ours), within=PAPER.within("line_rate", published), reading=reading
    )


def ping_pong(more: dict[str, Any]) -> Scenario:
    """One direction of the source's ping-pong, its messages back to back on one connection."""
    return pair(FIG4_RTT_MS, 60.0, _TUNED_PACKETS, {**direction(MESSAGES, MESSAGE_BYTES, ACCESS_BPS), **more})


def ping_pongs(run: Recorded) -> PingPong:
    """The ping-pongs that a run of one direction stands for."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    transfers = run.transfers.join(run.flows.select("repetition", "flow", "rtt_base_s"), on=["repetition", "flow"])
    taken = transfers.sort("transfer").select(message_s())["completion_s"].to_numpy()
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
    marks.append(Guide(PAPER["fig4_s"], "the source's end", along="x"))
    return Plot([Panel(marks, Axis("time", "s"), Axis("goodput", "Mbit/s"))], "Goodput of each message.")
