"""Park & Tuan 2000: what multiple time scale TCP gains under self-similar traffic.

| artefact | here |
| --- | --- |
| prediction against constant slopes (§5.2.2) | `prediction` |
| Figs 6 and 7 | `thresholds` |
| Figs 8 and 9 | `rtt` |
| Figs 1 and 10 | `tails` |
| Figs 11 and 12 | `metacontrol` |
| Fig. 13, Table III | `fairness` |
| Table II, shared tables, transfers of a few segments | `short` |
| what the source leaves open, and where its claims hold | `readings`, `reconstruction` |
| what any predictor could gain | `oracle` |
| the rate-based control over UDP | `datagrams` |
| T_L from the correlation | `interval` |
| harm to competing Reno and CUBIC | `harm` |
| T_L, couplings, slopes below the control's own | `sensitivity` |
| 1 Gbit/s, CUBIC, SACK | `today` |
| the network, equal loads, the claims as comparisons | `network`, `background`, `contrasts` |

Fig. 4(a) is in the study `tail_index`. What a table known beforehand or a chosen T_L needs to know comes from the other
runs: these parts are simulated in a second step.
"""

from __future__ import annotations

from parshall.report.document import Section, Table
from parshall.studies.multiple_time_scale import (
    datagrams,
    fairness,
    grid,
    harm,
    interval,
    metacontrol,
    oracle,
    prediction,
    reconstruction,
    rtt,
    sensitivity,
    short,
    tails,
    thresholds,
    today,
)
from parshall.studies.multiple_time_scale.grid import Results
from parshall.studies.study import Findings, Progress, Scale

_PARTS = (prediction, thresholds, rtt, tails, metacontrol, fairness, datagrams, harm, sensitivity, today)
_LATER = (short, interval)


def run(scale: Scale, progress: Progress) -> Findings:
    """Run it: ``quick`` (600 s, 12 seeds, the ends of each axis), or ``paper`` (10,000 s, 20 seeds; resumable)."""
    size = grid.SIZES[scale]
    found = grid.simulated((point for part in (*_PARTS, *_LATER) for point in part.points(size)), size, progress)
    later = (
        reconstruction.Reconstruction(size, progress),
        oracle.Oracles(size, progress),
        short.ShortConnections(found, size, progress),
        interval.ChosenInterval(found, size, progress),
    )
    return Findings(
        checks=[
            *(check for part in _PARTS for check in part.checks(found, size)),
            *(check for part in later for check in part.checks()),
        ],
        sections=[
            *(part.section(found, size) for part in _PARTS),
            *(part.section() for part in later),
            _loads(found),
        ],
    )


def _loads(found: Results) -> Section:
    """How well the normalisation of the sample paths worked."""
    rows = []
    for (alpha, load, network), row in found.backgrounds.items():
        carried = [each.alone.background_mbps for each in row]
        means = [each.background.mean_packets for each in row]
        worst = max((each.error for each in row), key=abs)
        rows.append(
            (
                f"{network.rate_mbps:g}",
                f"{alpha:g}",
                f"{load:g}",
                f"{min(carried):.2f} to {max(carried):.2f}",
                f"{worst:+.1%}",
                f"{min(means):.0f} to {max(means):.0f}",
            )
        )
    header = (
        "link (Mbit/s)",
        "tail index",
        "target (Mbit/s)",
        "carried (Mbit/s)",
        "worst error",
        "mean sizes (packets)",
    )
    return Section(
        "Normalised backgrounds",
        (
            "What the clients alone carry after sample-path normalisation (§4.3), over the seeds, and the mean sizes "
            "that it took.",
        ),
        [Table("", header, rows, numbers=range(6))],
    )
