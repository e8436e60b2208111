"""Fig. 13 and Table III: several steered connections on a bottleneck of 20 Mbit/s, at the source's own 30 ms (§5.7).

Table III names no unit. Its total of 1623 for two connections is 13.0 of the 15 Mbit/s that the clients leave, if it is
in kB/s; so are ours, counted in segments of 1 kB as ns-2 counts them. All connections have the same path, so that
max-min fairness is equal shares. The source's values are of one run.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.claim_rules import equal, one_run
from parshall.analysis.stats.claims import Claim, Null
from parshall.analysis.stats.confidence import mean_interval
from parshall.analysis.stats.fairness import jain
from parshall.analysis.stats.region import exactly
from parshall.report.document import Chart, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall_studies.multiple_time_scale.claims import claim
from parshall_studies.multiple_time_scale.contrasts import contrasts, several
from parshall_studies.multiple_time_scale.grid import Point, Results, Size
from parshall_studies.multiple_time_scale.network import BASE_RTT_MS, HEADER_BYTES, PACKET_BYTES, PAPER
from parshall_studies.multiple_time_scale.readings import BASE

_TOTAL_PEAK = PAPER["total_peak"]
_LARGEST, _SMALLEST, _TOTAL = (PAPER.by(f"table3_{which}") for which in ("largest", "smallest", "total"))

KB_PER_S = 1e6 / 8 / (PACKET_BYTES - HEADER_BYTES)
"""Segments of 1 kB a second that carry a payload of 1 Mbit/s."""

WIDEST = Null("the widest spread of Table III in place of an even one", exactly(-0.01))


def steered(size: Size, count: int) -> Point:
    """So many connections of Reno."""
    return several(BASE, size, count)


def points(size: Size) -> Iterator[Point]:
    """Everything that is shown."""
    for count in size.counts:
        yield from (steered(size, count), steered(size, count).plain)
    for each in contrasts("table3"):
        yield from each.points(BASE, size)


def _each(results: Results, point: Point) -> NDArray[np.float64]:
    """Throughput of every connection by seed, kB/s, shape (seeds, connections)."""
    return np.array([one.each_mbps for one in results.runs[point]]) * KB_PER_S


def _jain(results: Results, point: Point) -> NDArray[np.float64]:
    return np.array([jain(row) or 0.0 for row in _each(results, point)])


def checks(results: Results, size: Size) -> Iterator[Claim]:
    """Table III and Fig. 13."""
    yield from (each.check(results, size) for each in contrasts("table3"))
    many = size.counts[-1]
    plain = [results.goodput(steered(size, count).plain) for count in (_TOTAL_PEAK, many)]
    name = f"total of {many} plain connections less that of {_TOTAL_PEAK}"
    yield claim("fig13", name, -1, (plain[1] - plain[0]) / plain[0], "%")
    for count in size.counts:
        each = _each(results, steered(size, count))
        for name, published, ours in (
            ("total", _TOTAL[count], each.sum(axis=1)),
            ("largest", _LARGEST[count], each.max(axis=1)),
            ("smallest", _SMALLEST[count], each.min(axis=1)),
        ):
            yield one_run(
                "table3", f"{name} of {count} connections, kB/s", published, ours, within=PAPER.digits(f"table3_{name}")
            )
        mean = _TOTAL[count] / count
        for name, published, ours in (
            ("largest", _LARGEST[count] / mean, each.max(axis=1)),
            ("smallest", _SMALLEST[count] / mean, each.min(axis=1)),
        ):
            quantity = f"{name} share of {count} connections over the mean"
            yield one_run("table3", quantity, published, ours / each.mean(axis=1), within=PAPER.within("share"))
        change = mean_interval(_jain(results, steered(size, count)) - _jain(results, steered(size, count).plain))
        yield equal(
            "fig13",
            f"Jain's index of {count} connections, steered less plain",
            0.0,
            change,
            within=PAPER.within("jain"),
            note="published: the same fairness as Reno's",
            nulls=[WIDEST],
        )


def section(results: Results, size: Size) -> Section:
    """The table and both pictures."""
    rows: list[tuple[str, ...]] = []
    for count in size.counts:
        for point in (steered(size, count), steered(size, count).plain):
            each = _each(results, point)
            rows.append(
                (
                    f"{count}",
                    "plain" if point.parameters is None else "steered",
                    f"{each.sum(axis=1).mean():.1f}",
                    f"{each.mean():.1f}",
                    f"{each.max(axis=1).mean():.1f}",
                    f"{each.min(axis=1).mean():.1f}",
                    f"{_jain(results, point).mean():.4f}",
                )
            )
        published = (
            _TOTAL[count],
            _TOTAL[count] / count,
            _LARGEST[count],
            _SMALLEST[count],
        )
        rows.append((f"{count}", "published, steered", *(f"{value:.1f}" for value in published), ""))
    header = ("connections", "control", "total (kB/s)", "mean", "largest", "smallest", "Jain's index")
    return Section(
        "Several steered connections",
        (f"Reno at {BASE_RTT_MS} ms, bottleneck of 20 Mbit/s, clients of 5 Mbit/s. Means over seeds, kB/s.",),
        [Table("Table III", header, rows, numbers=(0, 2, 3, 4, 5, 6))],
        [
            Chart("fig13a", "Sharing by steered connections (Fig. 13 (a))", _sharing(results, size, plain=False)),
            Chart("fig13b", "Sharing by plain connections (Fig. 13 (b))", _sharing(results, size, plain=True)),
        ],
    )


def _sharing(results: Results, size: Size, *, plain: bool) -> Plot:
    """Throughput of each connection against their number."""
    rows = {
        count: _each(results, steered(size, count).plain if plain else steered(size, count)) for count in size.counts
    }
    counts = [float(count) for count in rows]
    at = [float(count) for count, row in rows.items() for _ in row[0]]
    marks: list[Mark] = [
        Line(counts, [float(row.mean()) for row in rows.values()], "mean over seeds", Style(1, dash=1)),
        Points(at, [float(value) for row in rows.values() for value in row[0]], "each connection, first seed"),
    ]
    panel = Panel(marks, Axis("connections"), Axis("throughput", "kB/s", minimum=0.0))
    control = "plain" if plain else "steered"
    return Plot([panel], f"Each of so many {control} connections of Reno beside clients of 5 Mbit/s on 20 Mbit/s.")
