"""Tables 3, 4 and 5: the benchmark's definition here is the source's."""

from __future__ import annotations

from parshall.analysis.stats.claim_rules import equal
from parshall.analysis.stats.region import exactly
from parshall.report.document import Section, Table
from parshall.studies.study import Findings
from parshall_studies.benchmark.applications import APPLICATIONS
from parshall_studies.benchmark.classes import CLASSES
from parshall_studies.benchmark.factors import STANDARD, SYMBOLS, shown
from parshall_studies.itb.network import PAPER


def findings() -> Findings:
    """Table 3 class by class; Table 5 for reading."""
    names = PAPER["table3"].split()
    rows = {names[i]: tuple(float(word) for word in names[i + 1 : i + 5]) for i in range(0, len(names), 5)}
    ours = {each.name: (each.aggregation, 1000 * each.rtt_s, each.congestion, each.reverse) for each in CLASSES}
    same = sum(ours.get(name) == row for name, row in rows.items())
    check = equal("table3", "classes with the source's K, RTT, C_g and R", 12.0, exactly(float(same)))
    classes = Table(
        "Table 3",
        ("class", "K", "RTT (ms)", "C_g", "R"),
        [(name, *(f"{value:g}" for value in row)) for name, row in ours.items()],
        numbers=(1, 2, 3, 4),
    )
    factors = Table(
        "Table 5",
        ("factor", "standard values"),
        [(SYMBOLS[name], ", ".join(shown(name, value) for value in values)) for name, values in STANDARD.items()],
    )
    compared = Table(
        "Table 4",
        ("", "NPB", "ITB"),
        [
            ("problem type", "BT, CG, EP, FT, IS, LU, MG, SP", ", ".join(each.name for each in APPLICATIONS)),
            ("problem size", "S, W, A, B, C, D", f"{len(CLASSES)} classes: RTT, K, C_g, R"),
            ("result", "execution time", "completion time"),
        ],
    )
    text = (
        "The classes and standard factors that `parshall itb` uses. K is 10 where the source has 1 or 10. Table 4 sets "
        "the benchmark beside the NAS Parallel Benchmarks."
    )
    section = Section("Tables 3 to 5: the benchmark's definition", (text,), [classes, compared, factors])
    return Findings([check], [section])
