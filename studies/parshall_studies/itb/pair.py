"""Table 6 and Fig. 4: one pair of hosts. What small buffers cost, and how messages start.

The line carries what Gigabit Ethernet does of IP packets of 1500 bytes, whose frames are 38 bytes longer. A `stretched`
pair is slower by as much as its RTT is longer, so that windows, and goodputs over the rate of the line, stay; values
are as of the source's network.

Table 6 is the goodput of 300 s with the buffers that Linux 2.6.16 has by default, and with tuned ones. iperf leaves the
buffers to the kernel, whose limit the source does not say:

| window | why |
| --- | --- |
| 65,536 bytes | the receiver's first buffer, 87,380 bytes, of which three quarters are offered |
| 131,070 bytes | the receiver's buffer grown to its maximum, 174,760 bytes, of which three quarters are offered |
| between | the sender's buffer at its maximum, 131,072 bytes with what the kernel itself needs for each packet |

Fig. 4 is the ping-pong of PA (`parshall_studies.benchmark.ping_pong`) at 11.6 ms. The control is that of the hosts'
kernel, BIC: slow start ends at 100 packets, and until the first loss a round trip adds a twentieth of the window. Both
nodes send alike on an empty path, so one direction is simulated, and a ping-pong is two of its messages.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from parshall.analysis.stats.claim_rules import equal, reported
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.confidence import mean_interval
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.scenario import Scenario
from parshall.studies.artefact import Artefact, Measurement
from parshall_studies.benchmark.ping_pong import MESSAGE_BYTES, MESSAGES, direction, message_s
from parshall_studies.itb.network import ACCESS_BPS, CAPACITY_BPS, PAPER, Setting, Values

FIG4_RTT_MS = 11.6
SHORT_S = 5.0
SECONDS = 60.0
"""Of the source's network, that a ping-pong takes at most."""
FRAMED = 1500 / 1538
"""Of what Gigabit Ethernet carries, IP packets of 1500 bytes."""
_FULL = 0.9
"""Of the largest goodput of a message: the full rate."""
WAYS = {
    "default": "goodput with default buffers, Mbit/s",
    "tuned": "goodput with tuned buffers, Mbit/s",
    "tuned_back": "goodput with tuned buffers, the other way, Mbit/s",
}
"""Rows of Table 6, as claims call them; the published value of each ends with ``_mbps``."""
_LOST = "share of the goodput that default buffers lose"


def pair(rtt_ms: float, seconds: float, setting: Setting, more: Mapping[str, Any]) -> Scenario:
    """One flow between two hosts; `more` changes its group."""
    rate = ACCESS_BPS * FRAMED / setting.stretched
    loss = {"loss": {"name": "bernoulli", "probability": setting.loss}} if setting.loss else {}
    group = {
        "name": "pair",
        "rtt": f"{rtt_ms * setting.stretched:g} ms",
        "start": {"uniform": f"{rtt_ms * setting.stretched:g} ms"},
        "access_rate": f"{round(rate)} bit/s",
        "header_size": "52 B",  # with timestamps
        **setting.host("bic", rtt_ms),
        **more,
    }
    queue = {"name": "drop_tail", "limit": f"{setting.buffer_packets} packets"}
    return Scenario.from_document(
        {
            "duration": f"{seconds * setting.stretched:g} s",
            # A short run measures from when its windows have grown.
            **({"warm_up": f"{0.4 * seconds * setting.stretched:g} s"} if seconds < SHORT_S else {}),
            **({"ends_with": ["pair"]} if "workload" in more else {}),
            "repetitions": setting.repetitions,
            "processing_time": setting.processing_time,
            "bottleneck": {
                "rate": f"{round(CAPACITY_BPS / setting.stretched)} bit/s",
                "delay": "10 us",
                "queue": queue,
                **loss,
            },
            "flows": [group],
            "probes": {"flow_samples": False, "link_samples": False},
        }
    )


# --- Table 6 ---


def goodput_mbps(run: Run, stretched: int) -> Values:
    """Goodput of each run, Mbit/s as of the source's network."""
    return np.asarray(run.flows["goodput_bps"].to_numpy() * stretched / 1e6, dtype=np.float64)


def _table6_points(setting: Setting) -> dict[str, Measurement]:
    changes: dict[str, dict[str, Any]] = {
        "default": {"receive_window": f"{setting.default_bytes} B"},
        "tuned": {},
        "tuned_back": {"access_rate": f"{round(ACCESS_BPS * FRAMED * setting.other_way / setting.stretched)} bit/s"},
    }
    return {
        name: Measurement(
            f"Table 6, {name}",
            pair(setting.pair_rtt_ms, setting.pair_s, setting, more),
            goodput_mbps,
            (setting.stretched,),
        )
        for name, more in changes.items()
    }


def _table6_claims(answers: Mapping[str, Values], _: Setting) -> list[Claim]:
    claims = [
        equal("table6", quantity, published, mean_interval(answers[name]), within=PAPER.within("line_rate", published))
        for name, quantity in WAYS.items()
        for published in (PAPER.number(f"{name}_mbps"),)
    ]
    lost = mean_interval(1 - answers["default"] / answers["tuned"])
    return [*claims, equal("table6", _LOST, PAPER["buffer_gain"], lost, within=PAPER.digits("buffer_gain"))]


def _table6_section(answers: Mapping[str, Values], setting: Setting) -> Section:
    rows = [(name, f"{PAPER.number(f'{name}_mbps'):g}", f"{np.mean(answers[name]):.1f}") for name in WAYS]
    caption = f"Table 6: one pair, RTT {setting.pair_rtt_ms:g} ms, Mbit/s"
    table = Table(caption, ("buffers", "published", "ours"), rows, numbers=(1, 2))
    text = (
        f"Default buffers offer {setting.default_bytes} bytes here. Hosts that are alike in both directions make no "
        "difference between them: the source has 651 Mbit/s the other way.",
    )
    return Section("Table 6: TCP buffers", text, [table])


# --- Fig. 4 ---

MAIN = "BIC of Linux 2.6.16"


@dataclass(frozen=True)
class PingPong:
    """When each ping-pong ended, and the goodput of its messages, bit/s."""

    ends_s: Values
    goodput_bps: Values

    @classmethod
    def of_times(cls, taken_s: Values, bits: float) -> PingPong:
        """That of exchanges which took so long, in each of which so many bits went both ways."""
        return cls(np.cumsum(taken_s), bits / taken_s)

    @property
    def total_s(self) -> float:
        """The end of the last one."""
        return float(self.ends_s[-1])

    @property
    def full_s(self) -> float:
        """The time at which a message first had the full rate."""
        return float(self.ends_s[np.flatnonzero(self.goodput_bps >= _FULL * self.goodput_bps.max())[0]])


def controls_of(setting: Setting) -> dict[str, dict[str, Any]]:
    """The starts that are drawn beside the kernel's BIC, as changes of the group."""
    cubic = replace(setting, kernel_controls=True).control("cubic_2005")
    short = {"initial_ssthresh": "100 packets"}
    return {
        "the same, growing by ACKs": {"byte_counting": False},
        "BIC of the paper, slow start to a loss": {"congestion_control": "bic", "initial_ssthresh": "unlimited"},
        "CUBIC of Linux 2.6.16": cubic,
        "Reno, slow start to a loss": {"congestion_control": "reno", "initial_ssthresh": "unlimited"},
        "Reno, slow start to 100 packets": {"congestion_control": "reno", **short},
    }


def ping_pong(setting: Setting, more: Mapping[str, Any]) -> Scenario:
    """One direction of the source's ping-pong, its messages back to back on one connection."""
    sent = direction(MESSAGES, MESSAGE_BYTES, ACCESS_BPS / setting.stretched)
    return pair(FIG4_RTT_MS, SECONDS, setting, {**sent, **more})


def ping_pongs(run: Run, stretched: int = 1) -> list[PingPong]:
    """The ping-pong that each run of one direction stands for, as of the source's network."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    transfers = run.transfers.join(run.flows.select("repetition", "flow", "rtt_base_s"), on=["repetition", "flow"])
    made = []
    for (_,), rows in transfers.sort("repetition", "transfer").group_by(["repetition"], maintain_order=True):
        one_way_s = rows.select(message_s(run.scenario.duration_s))["completion_s"].to_numpy() / stretched
        made.append(PingPong.of_times(2 * one_way_s, 2 * 8 * MESSAGE_BYTES))
    return made


def _fig4_points(setting: Setting) -> dict[str, Measurement]:
    others = controls_of(setting) if setting.drawn else {}
    return {
        name: Measurement(f"Fig. 4, {name}", ping_pong(setting, more), ping_pongs, (setting.stretched,))
        for name, more in {MAIN: {}, **others}.items()
    }


QUANTITIES = {
    "total_s": ("fig4_s", "time of 200 ping-pongs, s"),
    "full_s": ("fig4_full_s", "when the full rate is reached, s"),
}
"""By attribute of `PingPong`: the published value, and words."""
TOLERANCE = {"total_s": PAPER.within("ping_pong", PAPER["fig4_s"]), "full_s": PAPER.within("full_rate")}


def mean_of(runs: Sequence[PingPong], attribute: str) -> float:
    """The mean of an attribute over runs."""
    return float(np.mean([getattr(run, attribute) for run in runs]))


def _fig4_claims(answers: Mapping[str, Sequence[PingPong]], _: Setting) -> list[Claim]:
    claims = []
    for attribute, (key, quantity) in QUANTITIES.items():
        value = mean_interval([getattr(run, attribute) for run in answers[MAIN]])
        claims.append(equal("fig4", quantity, PAPER[key], value, within=TOLERANCE[attribute]))
    others = {name: runs for name, runs in answers.items() if name != MAIN}
    return [
        *claims,
        *(
            reported("fig4", f"time of 200 ping-pongs, s: {name}", mean_interval([run.total_s for run in runs]))
            for name, runs in others.items()
        ),
    ]


def drawn_ping_pongs(made: Mapping[str, PingPong]) -> Plot:
    """Goodput of each message over time."""
    marks: list[Line | Guide] = [
        Line(one.ends_s, one.goodput_bps / 1e6, name, Style(series=number), steps=True)
        for number, (name, one) in enumerate(made.items())
    ]
    marks.append(Guide(PAPER["fig4_s"], "the source's end", along="x"))
    return Plot([Panel(marks, Axis("time", "s"), Axis("goodput", "Mbit/s"))], "Goodput of each message.")


def _fig4_section(answers: Mapping[str, Sequence[PingPong]], _: Setting) -> Section:
    rows = [
        (name, f"{mean_of(runs, 'total_s'):.2f}", f"{mean_of(runs, 'full_s'):.2f}") for name, runs in answers.items()
    ]
    header = ("control", "time (s)", "90 % of its rate at (s)")
    table = Table("Fig. 4: 200 ping-pongs of 1 MB", header, rows, numbers=(1, 2))
    text = (
        "The source does not name the control; BIC was its kernel's default. Three things make it slow: a message "
        "waits for the reply of the one before, slow start ends at 100 packets, and a window grows only in round trips "
        "that use it. Without the second, or with a message that follows at once, it is faster than published.",
    )
    drawn = drawn_ping_pongs({name: runs[0] for name, runs in answers.items()})
    return Section("Fig. 4: messages of MPI", text, [table], [Chart("fig4", "Fig. 4", drawn)])


TABLE6 = Artefact("table6", _table6_points, _table6_claims, _table6_section)
FIG4 = Artefact("fig4", _fig4_points, _fig4_claims, _fig4_section)
