"""The adverse workload: reverse traffic, background traffic, and what else fills the class's congestion level.

| symbol | here |
| --- | --- |
| R | R K nodes that send without end against the useful traffic |
| B = WMI | web transfers that begin at random times (Poisson), exponential sizes, 10 % of C each way |
| B = WMII | the same with heavy-tailed sizes (Pareto, tail index 1.5), 20 % of C each way |

The source names WMI and WMII and does not say what they are. Ours follow the two that it cites for background
traffic: its volume is below 20 % of the capacity (Ha, Le, Rhee & Xu 2006, quoted in §2.2.2), its sizes have a light
or a heavy tail.

The adverse workload is the same for every control that is compared, and uses CUBIC, the usual TCP. Nodes that send
without end have the limits of the useful ones (a tuned window, or the interface's queue): without any, one whose way is
free would queue ever more within itself.

References: Guillier, Hablot & Vicat-Blanc Primet 2007, §4.4, Table 5.
"""

from __future__ import annotations

from typing import Any

from parshall_studies.benchmark.factors import Factors
from parshall_studies.benchmark.hosts import host_keys, host_limits

CONTROL = "cubic"
_MEAN_BYTES = 100e3
_BACKGROUND: dict[str, tuple[dict[str, Any], float]] = {
    "WMI": ({"name": "exponential"}, 0.1),
    "WMII": ({"name": "pareto", "tail_index": 1.5}, 0.2),
}


def groups(factors: Factors, others: int, start_s: float, *, linux: bool = False) -> list[dict[str, Any]]:
    """Groups of flows of the adverse workload; `others` sources send forward beside the useful ones."""
    common = {
        "rtt": f"{factors.mean_rtt_s:.9f} s",
        "congestion_control": CONTROL,
        **host_keys(factors, linux=linux),
    }
    endless = {
        **common,
        "access_rate": f"{round(factors.access_bps)} bit/s",
        **host_limits(factors, factors.mean_rtt_s),
        "start": {"uniform": f"{start_s:g} s"},
    }
    declared: list[dict[str, Any]] = []
    if others > 0:
        declared.append({"name": "others", "count": others, **endless})
    if factors.reverse_count > 0:
        declared.append({"name": "reverse", "count": factors.reverse_count, "direction": "reverse", **endless})
    if factors.background != "0":
        sizes, share = _BACKGROUND[factors.background]
        workload = {
            "name": "open_loop",
            "size": {**sizes, "mean": f"{round(_MEAN_BYTES)} B"},
            "arrivals_per_s": share * factors.capacity_bps / (8 * _MEAN_BYTES),
        }
        declared += [
            {"name": f"background-{way}", "direction": way, **common, "workload": workload}
            for way in ("forward", "reverse")
        ]
    return declared
