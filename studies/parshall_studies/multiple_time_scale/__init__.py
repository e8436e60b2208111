"""Park & Tuan 2000: what multiple time scale TCP gains under self-similar traffic.

| artefact | here |
| --- | --- |
| prediction against constant slopes (§5.2.2) | `prediction` |
| Figs 6 and 7 | `thresholds` |
| Figs 8 and 9 | `rtt` |
| Figs 1 and 10 | `tails` |
| Figs 11 and 12 | `metacontrol` |
| Fig. 13, Table III | `fairness` |
| what else the text says of these runs | `statements` |
| each statement of the source, and its check | `claims.toml` |
| Table II, shared tables, transfers of a few segments | `short` |
| what the source leaves open, and where its claims hold | `readings`, `reconstruction` |
| what any predictor could gain | `oracle` |
| the rate-based control over UDP | `datagrams` |
| T_L from the correlation | `interval` |
| harm to competing Reno and CUBIC; who is locked out | `harm`, `lockouts` |
| T_L, couplings, slopes below the control's own | `sensitivity` |
| 1 Gbit/s, CUBIC, SACK | `today` |
| plain connections with the TCP of Linux | `real_stacks` |
| steered connections with the TCP of Linux | `steered_stacks`, `side_by_side` |
| the network, equal loads, the claims as comparisons | `network`, `background`, `contrasts` |

Fig. 4(a) is in the study `tail_index`. What a table known beforehand or a chosen T_L needs to know comes from the other
runs: their cases are given the answers of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from parshall.report.document import Section, Table
from parshall.studies.study import Findings, Part
from parshall_studies.multiple_time_scale import (
    datagrams,
    fairness,
    grid,
    harm,
    interval,
    lockouts,
    metacontrol,
    oracle,
    prediction,
    real_stacks,
    reconstruction,
    rtt,
    sensitivity,
    short,
    statements,
    steered_stacks,
    tails,
    thresholds,
    today,
)
from parshall_studies.multiple_time_scale.grid import SIZES, Results, Size

_MODULES = (prediction, thresholds, rtt, tails, metacontrol, fairness, datagrams, harm, sensitivity, today)
_LATER = (short, interval)


def main(size: Size) -> grid.Cases:
    """Every point that is declared beforehand, on the same backgrounds."""
    return grid.cases((point for module in (*_MODULES, *_LATER) for point in module.points(size)), size)


def _in_one(answers: Mapping[Any, Any], size: Size) -> Findings:
    results = grid.results(answers)
    return Findings(
        [*(check for module in _MODULES for check in module.checks(results, size)), *lockouts.checks(results)],
        [*(module.section(results, size) for module in _MODULES), lockouts.section(results)],
    )


def _stated(results: Results, size: Size) -> Findings:
    return Findings(list(statements.checks(results, size)), [statements.section(results, size)])


def _of(
    part: reconstruction.Reconstruction | oracle.Oracles | short.ShortConnections | interval.ChosenInterval,
) -> Findings:
    return Findings(list(part.checks()), [part.section()])


def _part(
    name: str, cases: Callable[[Size], grid.Cases], findings: Callable[[Mapping[Any, Any], Size], Findings]
) -> Part:
    return Part(name, lambda scale: cases(SIZES[scale]), lambda answers, scale: findings(answers, SIZES[scale]))


PARTS = (
    _part("figures and tables", main, _in_one),
    _part("statements", main, lambda answers, size: _stated(grid.results(answers), size)),
    _part(
        "reconstruction",
        reconstruction.cases,
        lambda answers, size: _of(reconstruction.Reconstruction(grid.results(answers), size)),
    ),
    _part("oracles", oracle.cases, lambda answers, size: _of(oracle.Oracles(answers, size))),
    _part(
        "short connections",
        lambda size: (made := main(size)) | short.cases(size, made),
        lambda answers, size: _of(short.ShortConnections(answers, size)),
    ),
    _part(
        "T_L from the correlation",
        lambda size: (made := main(size)) | interval.cases(size, made),
        lambda answers, size: _of(interval.ChosenInterval(answers, size)),
    ),
    _part("normalised backgrounds", main, lambda answers, size: Findings([], [_loads(grid.results(answers), size)])),
    real_stacks.PART,
    steered_stacks.PART,
)
"""``quick``: 600 s, 12 seeds, the ends of each axis; ``paper``: 2500 s, 20 seeds, some 10,000 s (`Size`)."""


def _loads(results: Results, size: Size) -> Section:
    """How well the normalisation of the sample paths worked."""
    rows = []
    for key, row in results.backgrounds.items():
        alpha, load, network, _ = key
        carried = [each.alone.background_mbps for each in row]
        means = [each.background.mean_packets for each in row]
        worst = max((each.error for each in row), key=abs)
        rows.append(
            (
                f"{network.rate_mbps:g}",
                f"{size.duration(key):g}",
                f"{alpha:g}",
                f"{load:g}",
                f"{min(carried):.2f} to {max(carried):.2f}",
                f"{worst:+.1%}",
                f"{min(means):.0f} to {max(means):.0f}",
            )
        )
    header = (
        "link (Mbit/s)",
        "for (s)",
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
        [Table("", header, rows, numbers=range(7))],
    )
