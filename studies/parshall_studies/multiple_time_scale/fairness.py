"""Fig. 13 and Table III: several steered connections on a bottleneck of 20 Mbit/s (§5.7).

Table III names no unit. Its total of 1623 for two connections is 13.0 of the 15 Mbit/s that the clients leave, if it is
in kB/s; so are ours, counted in segments of 1 kB as ns-2 counts them. All connections have the same path, so that
max-min fairness is equal shares. The source's values are of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, one_run
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.studies.artefact import Answers, Artefact
from parshall_studies.multiple_time_scale import grid
from parshall_studies.multiple_time_scale.claims import claim, table
from parshall_studies.multiple_time_scale.grid import Cases, Point, Results
from parshall_studies.multiple_time_scale.network import HEADER_BYTES, PACKET_BYTES, PAPER
from parshall_studies.multiple_time_scale.setting import STEERED, Setting

_PEAK = PAPER["total_peak"]
_LARGEST, _SMALLEST, _TOTAL = (PAPER.by(f"table3_{which}") for which in ("largest", "smallest", "total"))
_LOAD_MBPS = 5.0
_COMPARED = (2, _PEAK, 18)
"""Counts whose runs are as long as the source's."""
_EVEN = 1e-12
"""1 - Jain's index of shares that are equal but for rounding."""
KB_PER_S = 1e6 / 8 / (PACKET_BYTES - HEADER_BYTES)
"""Segments of 1 kB a second that carry a payload of 1 Mbit/s."""


def steered(setting: Setting, count: int) -> Point:
    """So many connections of Reno."""
    lasts_s = setting.single_s if count in _COMPARED else setting.several_s
    made = grid.point(setting, "reno", STEERED, count=count, rate_mbps=20.0, held=setting.held)
    return replace(made, normalised_s=lasts_s)


def _points(setting: Setting) -> Cases:
    """Each number of connections, steered and plain."""
    made = [steered(setting, count) for count in setting.counts]
    return grid.cases([*made, *(each.plain for each in made)], setting)


def _claims(answers: Answers, setting: Setting) -> list[Claim]:
    """Table III and Fig. 13; of the joint design, what is no single value of it."""
    found = grid.results(answers)
    printed = (each for count in setting.counts for each in _printed(found, setting, count))
    return [
        *_totals(found, setting),
        *_shares(found, setting),
        *(_fairness(found, setting, count) for count in setting.counts),
        *(printed if setting.drawn else ()),
    ]


def _totals(found: Results, setting: Setting) -> Iterator[Claim]:
    few, peak, many = setting.counts[0], _PEAK, setting.counts[-1]
    for more, less, published in ((peak, few, 1), (many, peak, -1)):
        change = found.over(steered(setting, more), steered(setting, less))
        yield claim("table3", f"total of {more} connections less that of {less}", published, change, "%")
    plain = found.over(steered(setting, many).plain, steered(setting, peak).plain)
    yield claim("fig13", f"total of {many} plain connections less that of {peak}", -1, plain, "%")


def _shares(found: Results, setting: Setting) -> Iterator[Claim]:
    """§5.7: what the clients carry, and what each connection gets."""
    for count in setting.counts:
        carried = mean_interval(found.of(steered(setting, count), "background_mbps"))
        quantity = f"what the clients carry beside {count} connections, Mbit/s"
        yield equal("fig13", quantity, _LOAD_MBPS, carried, within=PAPER.within("held"))
    for few, many in pairwise(setting.counts):
        less, more = (found.goodput(steered(setting, each)) / each for each in (few, many))
        fall = grid.over_mean(more, less)
        yield claim("fig13", f"mean share of {many} connections less that of {few}", -1, fall, "%")


def _fairness(found: Results, setting: Setting, count: int) -> Claim:
    """The spread of shares over that of plain connections; 1 - Jain's index is the square of the spread, about."""
    ours, plain = (_unfairness(found, each) for each in (steered(setting, count), steered(setting, count).plain))
    wider = 0.5 * np.log2(np.maximum(ours, _EVEN) / np.maximum(plain, _EVEN))
    return equal(
        "fig13",
        f"spread of shares of {count} connections (root of 1 - Jain's index), steered over plain, octaves",
        0.0,
        mean_interval(wider),
        within=PAPER.within("spread"),
        note=f"published: the same fairness as Reno's; 1 - J is {ours.mean():.2g} and {plain.mean():.2g}",
        nulls=[Null("four times the spread", exactly(2.0)), Null("a quarter of it", exactly(-2.0))],
    )


def _printed(found: Results, setting: Setting, count: int) -> Iterator[Claim]:
    """The values of Table III for so many connections."""
    each = _each(found, steered(setting, count))
    rows = {"largest": (_LARGEST[count], each.max(axis=1)), "smallest": (_SMALLEST[count], each.min(axis=1))}
    for name, (published, ours) in {"total": (_TOTAL[count], each.sum(axis=1)), **rows}.items():
        digits = PAPER.digits(f"table3_{name}")
        yield one_run("table3", f"{name} of {count} connections, kB/s", published, ours, within=digits)
    for name, (published, ours) in rows.items():
        quantity = f"{name} share of {count} connections over the mean"
        share = published * count / _TOTAL[count]
        yield one_run("table3", quantity, share, ours / each.mean(axis=1), within=PAPER.within("share"))


def _printed_claims(answers: Answers, setting: Setting) -> list[Claim]:  # noqa: ARG001 - the table alone
    """The printed averages beside the printed totals."""
    averages = PAPER.by("table3_average")
    off = max(abs(averages[count] - total / count) for count, total in _TOTAL.items())
    quantity = "largest distance of a printed average from its total over the number, kB/s"
    null = Null("averages of one connection less", exactly(min(averages.values())))
    return [equal("table3", quantity, 0.0, exactly(off), within=PAPER.within("rounded"), nulls=[null])]


def _each(found: Results, point: Point) -> NDArray[np.float64]:
    """Throughput of every connection by seed, kB/s, shape (seeds, connections)."""
    return np.array([one.each_mbps for one in found.runs[point]]) * KB_PER_S


def _unfairness(found: Results, point: Point) -> NDArray[np.float64]:
    return np.array([1.0 - (jain(row) or 0.0) for row in _each(found, point)])


def _section(answers: Answers, setting: Setting) -> Section:
    found = grid.results(answers)
    columns: dict[str, Callable[[Point], str]] = {
        "control": lambda point: "plain" if point.parameters is None else "steered",
        "connections": lambda point: f"{point.count}",
        "total (kB/s)": lambda point: f"{_each(found, point).sum(axis=1).mean():.1f}",
        "mean": lambda point: f"{_each(found, point).mean():.1f}",
        "largest": lambda point: f"{_each(found, point).max(axis=1).mean():.1f}",
        "smallest": lambda point: f"{_each(found, point).min(axis=1).mean():.1f}",
        "1 - Jain's index": lambda point: f"{_unfairness(found, point).mean():.4f}",
        "clients (Mbit/s)": lambda point: f"{found.of(point, 'background_mbps').mean():.2f}",
    }
    made = [each for count in setting.counts for each in (steered(setting, count), steered(setting, count).plain)]
    listed = table("Table III", made, columns)
    printed = [
        (
            "published",
            f"{count}",
            *(f"{value:.1f}" for value in (total, total / count, _LARGEST[count], _SMALLEST[count])),
        )
        for count, total in _TOTAL.items()
        if count in setting.counts
    ]
    rows = [*listed.rows, *((*row, "", "") for row in printed)]
    text = "Reno at 30 ms, bottleneck of 20 Mbit/s, clients of 5 Mbit/s. Means over seeds."
    drawn = [
        Chart(f"fig13{letter}", f"Sharing by {how} connections (Fig. 13 ({letter}))", _sharing(found, setting, how))
        for letter, how in (("a", "steered"), ("b", "plain"))
    ]
    return Section("Several steered connections", (text,), [replace(listed, rows=rows)], drawn)


def _sharing(found: Results, setting: Setting, control: str) -> Plot:
    """Throughput of each connection against their number."""
    made = {count: steered(setting, count) for count in setting.counts}
    rows = {count: _each(found, each.plain if control == "plain" else each) for count, each in made.items()}
    counts = [float(count) for count in rows]
    at = [float(count) for count, row in rows.items() for _ in row[0]]
    marks: list[Mark] = [
        Line(counts, [float(row.mean()) for row in rows.values()], "mean over seeds", Style(1, dash=1)),
        Points(at, [float(value) for row in rows.values() for value in row[0]], "each connection, first seed"),
    ]
    panel = Panel(marks, Axis("connections"), Axis("throughput", "kB/s", minimum=0.0))
    return Plot([panel], f"Each of so many {control} connections of Reno beside clients of 5 Mbit/s on 20 Mbit/s.")


def _no_points(setting: Setting) -> Cases:  # noqa: ARG001 - of a claim on printed values alone
    return {}


TABLE3 = Artefact("table3", _points, _claims, _section)
PRINTED = Artefact("table3-printed", _no_points, _printed_claims)
