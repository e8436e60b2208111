"""§1 and Table 1: what Reno needs at 10 Gbit/s, and response functions. Table 2 is in `increase`.

| symbol | here | unit |
| --- | --- | --- |
| c, d | from mean windows at two loss rates: d from their ratio, c from the smaller | packets |

One flow, no queue, every 1/p-th packet lost. The loss rates are such that the form holds: BIC's only where it grows
linearly (p of 1e-7 and less; binary search, which the form leaves out, is still felt at 1e-6).

The introduction's example is Reno at 10 Gbit/s, an RTT of 100 ms and packets of 1500 bytes: a window of C RTT packets,
and by eq. (2) one loss in 2 W^2/3 packets.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §1, §2.1, Table 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from parshall.analysis.models.response import RESPONSES
from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.claims import Claim
from parshall.analysis.stats.region import exactly
from parshall.instruments.simulation import Run
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Panel, Plot, Points, Style
from parshall.scenario import Scenario
from parshall.studies.artefact import Artefact, Measurement
from parshall_studies.itb.network import PAPER, Setting

RTT_S = 0.1
CYCLES = 5
LOSSES: dict[str, tuple[float, float]] = {
    "reno": (1e-4, 1e-5),
    "bic": (1e-6, 1e-7),
    "highspeed": (1e-4, 1e-5),
    "scalable": (1e-3, 1e-4),
}


def _points(_: Setting) -> dict[tuple[str, float], Measurement]:
    """A flow of each control at each loss rate."""
    return {
        (name, p): Measurement(
            f"Table 1, {name}, 1/p = {1 / p:g}", lossy(name, p, CYCLES, float(RESPONSES[name].window(p))), mean_window
        )
        for name, losses in LOSSES.items()
        for p in losses
    }


def _fitted(windows: Mapping[tuple[str, float], float], name: str) -> tuple[float, float]:
    """C and d of a control; c at the published d: an error of 0.02 in d would move a fitted c by 30 % at 1e-6."""
    many, few = LOSSES[name]
    d = math.log(windows[name, few] / windows[name, many]) / math.log(many / few)
    return windows[name, few] * few ** PAPER["response"][name][1], d


def _claims(windows: Mapping[tuple[str, float], float], _: Setting) -> list[Claim]:
    claims = []
    for name, (c, d) in PAPER["response"].items():
        fitted_c, fitted_d = map(exactly, _fitted(windows, name))
        near = PAPER.within("coefficient", c)
        note = "binary search is left out of the form" if name == "bic" else ""
        claims += [
            equal("table1", f"d of {name}", d, fitted_d, within=PAPER.within("exponent"), note=note),
            equal("table1", f"c of {name}, packets", c, fitted_c, within=near, note="at the published d"),
        ]
    return claims


def _section(windows: Mapping[tuple[str, float], float], _: Setting) -> Section:
    rows = []
    for name, (c, d) in PAPER["response"].items():
        fitted_c, fitted_d = _fitted(windows, name)
        rows.append((f"`{name}`", f"{c:g}", f"{fitted_c:.4g}", f"{d:g}", f"{fitted_d:.3f}"))
    table1 = Table("Table 1", ("control", "c", "ours", "d", "ours"), rows, numbers=(1, 2, 3, 4))
    text = (
        "Mean windows of one flow that loses every 1/p-th packet, at an RTT of 100 ms. H-TCP and CUBIC have no such "
        "form; their functions are in docs/models.md."
    )
    figure = Chart("response", "Response functions", _plot(windows))
    return Section("Table 1: response functions", (text,), [table1], [figure])


def introduction(_: object = None, __: object = None) -> list[Claim]:
    """The worked number of §1, by eq. (2)."""
    window = 10e9 * RTT_S / (8 * 1500)
    packets = 2 * window**2 / 3
    hours = packets / (window / RTT_S) / 3600
    values = (
        ("window of Reno at 10 Gbit/s and 100 ms, packets", "window", window, PAPER.within("window")),
        ("packets from loss to loss", "packets", packets, PAPER.within("one_digit", PAPER["packets"])),
        ("hours from loss to loss", "hours", hours, PAPER.within("one_digit", PAPER["hours"])),
    )
    return [equal("introduction", name, PAPER[key], exactly(ours), within=near) for name, key, ours, near in values]


def lossy(control: str, p: float, cycles: int, window: float, sample_s: float | None = None) -> Scenario:
    """One flow that starts at its mean window and loses every 1/p-th packet, for so many losses."""
    seconds = cycles / p * RTT_S / window
    return Scenario.from_document(
        {
            "duration": f"{1.4 * seconds:.3f} s",
            "warm_up": f"{0.4 * seconds:.3f} s",
            "processing_time": "0 s",  # response functions are those of a strictly periodic network
            "bottleneck": {
                "rate": "10 Tbit/s",
                "queue": {"name": "drop_tail", "limit": "10000000 packets"},
                "loss": {"name": "periodic", "every": f"{1 / p:.0f} packets"},
            },
            "flows": [
                {
                    "rtt": f"{RTT_S:g} s",
                    "tcp": "rfc",
                    "congestion_control": control,
                    "initial_ssthresh": f"{window:.0f} packets",
                    "initial_window": f"{window:.0f} packets",
                }
            ],
            "probes": {"flow_samples": f"{sample_s:g} s" if sample_s else False, "link_samples": False},
        }
    )


def mean_window(run: Run) -> float:
    """The mean window of the one flow, packets."""
    return float(run.flows["mean_cwnd_packets"][0])


def _plot(windows: Mapping[tuple[str, float], float]) -> Plot:
    p = np.geomspace(1e-7, 1e-2, 60)
    marks: list[Line | Points] = []
    for number, (name, (c, d)) in enumerate(PAPER["response"].items()):
        marks.append(Line(p, c / p**d, name, Style(series=number)))
        losses = LOSSES[name]
        marks.append(
            Points(losses, [windows[name, each] for each in losses], f"{name}, simulated", Style(series=number))
        )
    axes = Axis("loss rate", log=True), Axis("mean window", "packets", log=True)
    return Plot([Panel(marks, *axes)], "Lines: c/p^d with the published c and d.")


def _nothing(_: Setting) -> dict[str, Measurement]:
    return {}


INTRODUCTION = Artefact("introduction", _nothing, introduction)
TABLE1 = Artefact("table1", _points, _claims, _section)
