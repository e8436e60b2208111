"""Table 6 and Fig. 4: one pair of hosts. What small buffers cost, and how messages start.

Table 6: the goodput of 300 s with the buffer that Linux 2.6.16 has by default (a receive buffer of 87,380 bytes, of
which 65,536 are offered), against one that is large enough; RTT 19.8 ms.

Fig. 4: 200 messages of 1 MB at 11.6 ms. The messages of an MPI connection follow each other and the window lives on,
so one connection with a window of one message carries them: the next message starts when the one before has arrived.
Two variants show what could make it slower: a connection a message (which starts anew each time), and a slow start
that ends at 20 packets (as after an early loss, or with a remembered threshold).

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §5.2, §5.4.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from parshall.report.document import Drawn, Section, Table
from parshall.report.plot import Axis, Guide, Line, Panel, Plot, Style
from parshall.runs import Run
from parshall.scenario import Scenario
from parshall.studies.check import Check
from parshall.studies.itb.network import Size, simulated
from parshall.studies.itb.published import BUFFER_GAIN, FIG4_FULL_S, FIG4_S
from parshall.studies.study import Progress

MESSAGES, MESSAGE_BYTES = 200, 1_000_000
WINDOW = round(MESSAGE_BYTES / 1460)
_VARIANTS: dict[str, dict[str, Any]] = {
    "one connection": {"workload": {"name": "transfer", "sizes": f"{MESSAGES * MESSAGE_BYTES} B"}},
    "one connection, slow start ends at 20 packets": {
        "workload": {"name": "transfer", "sizes": f"{MESSAGES * MESSAGE_BYTES} B"},
        "initial_ssthresh": "20 packets",
    },
    "a connection a message": {"workload": {"name": "transfer", "sizes": [f"{MESSAGE_BYTES} B"] * MESSAGES}},
}


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
    messages = dict(
        zip(_VARIANTS, simulated([pair(11.6, 60.0, WINDOW, each) for each in _VARIANTS.values()], size), strict=True)
    )
    rows = []
    for name, run in messages.items():
        total, full = duration_of(run), full_rate_at(run)
        rows.append((name, f"{total:.2f}", "" if full is None else f"{full:.2f}"))
        if name == "one connection":
            cause = "no early loss and no slow control here: see what the differences come from"
            checks += [
                Check("fig4", "time of 200 messages, s", FIG4_S, total, None, None, 0.1 * FIG4_S, cause),
                Check("fig4", "when the full rate is reached, s", FIG4_FULL_S, full or total, None, None, 1.0, cause),
            ]
        else:
            checks.append(Check("fig4", f"time of 200 messages, {name}, s", None, total, None, None, 0.0))
    tables = [
        Table(
            "Table 6: one pair, RTT 19.8 ms",
            ("receiver's window", "goodput (Mbit/s)"),
            [("64 kB", f"{before:.1f}"), ("tuned", f"{after:.1f}")],
            numbers=(1,),
        ),
        Table("Fig. 4: 200 messages", ("variant", "time (s)", "90 % of its rate at (s)"), rows, numbers=(1, 2)),
    ]
    text = (
        "The source's 7.2 s are 36 ms a message, three round trips. Hosts, their MPI library and losses at their "
        "interfaces are not simulated; what the window alone makes of it is here."
    )
    return checks, Section(
        "Table 6 and Fig. 4: one pair of hosts", (text,), tables, [Drawn("fig4", "Fig. 4", _plot(messages))]
    )


def pair(rtt_ms: float, seconds: float, window: int, more: dict[str, Any] | None = None) -> Scenario:
    """One flow of BIC between two hosts of 1 Gbit/s; `more` changes the group."""
    return Scenario.from_document(
        {
            "duration": f"{seconds:g} s",
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
            "probes": {"flow_samples": f"{rtt_ms:g} ms", "link_samples": False},
        }
    )


def duration_of(run: Run) -> float:
    """From the first start to the last completion, s."""
    assert run.transfers is not None, "the probe is on"  # noqa: S101
    done = run.transfers["completion_s"].to_numpy()
    return float(np.nanmax(done))


def full_rate_at(run: Run) -> float | None:
    """When the goodput of a round trip first is 90 % of its largest, s."""
    at, rate = _rates(run)
    reached = np.flatnonzero(rate >= 0.9 * rate.max())
    return float(at[reached[0]]) if reached.size else None


def _rates(run: Run) -> tuple[np.ndarray, np.ndarray]:
    assert run.flow_samples is not None, "the probe is on"  # noqa: S101
    samples = run.flow_samples.sort("time_s")
    at, delivered = samples["time_s"].to_numpy(), samples["delivered_bytes"].to_numpy().astype(float)
    end = duration_of(run)
    within = at[1:] <= end
    return at[1:][within], (8 * np.diff(delivered) / np.diff(at))[within]


def _plot(runs: dict[str, Run]) -> Plot:
    marks: list[Line | Guide] = []
    for number, (name, run) in enumerate(runs.items()):
        at, rate = _rates(run)
        each = max(1, len(at) // 300)
        marks.append(Line(at[::each], rate[::each] / 1e6, name, Style(series=number)))
    marks.append(Guide(FIG4_S, "the source's end", along="x"))
    return Plot([Panel(marks, Axis("time", "s"), Axis("goodput", "Mbit/s"))], "Goodput of each round trip.")
