"""Tables of the page: metrics in columns, with a unit for each column and an uncertainty for each number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import polars as pl

from parshall.foundations.numbers import (
    ABSENT,
    NO_BREAK,
    Scale,
    count,
    given,
    joined,
    quantity,
    scale_for,
    significant,
    trimmed,
)
from parshall.report import description
from parshall.report.bounded import bounded
from parshall.report.document import Cell, Table
from parshall.report.figures.delays import of_groups
from parshall.report.uncertainty import ZERO, in_scale, interval_text, no_value, some_of
from parshall.results.quantities.measuring import Metric, Metrics, everything, links_in, of_place
from parshall.results.records import Result


class _Column(NamedTuple):
    """A heading, its unit, and one cell a row."""

    label: str
    unit: str
    cells: Sequence[Cell]
    words: bool = False


def groups_table(run: Result) -> Table | None:
    """One row a group of flows."""
    flows = run.tables.get("flows")
    if flows is None:
        return None
    page = bounded(run.tables)
    groups, flows = page.rows, page.tables["flows"]
    by_group = [of_place(page.tables, "group", group) for group in groups]
    rows = [flows.filter(pl.col("group") == group) for group in groups]
    several = len(groups) > 1
    columns = [
        _words("Group", groups),
        _words("Flows", [population(table) for table in rows]),
        _words("Base RTT", [span(table, "rtt_base_s", "s") for table in rows]),
        _metric("Goodput", by_group, groups, "goodput_bps"),
        _metric("Goodput of a flow", by_group, groups, "flow_goodput_bps") if any(map(_several, rows)) else None,
        _metric("Share", by_group, groups, "share", bars=True) if several else None,
        _metric("Lost", by_group, groups, "loss_rate"),
        _metric("In profile", by_group, groups, "in_profile"),
        _metric("Lost in profile", by_group, groups, "loss_rate_in"),
        _metric("Lost out of profile", by_group, groups, "loss_rate_out"),
        _metric("Retransmitted", by_group, groups, "retransmitted"),
        _metric("Timeouts of a flow", by_group, groups, "timeouts"),
        _metric("Mean window", by_group, groups, "cwnd_packets"),
        _metric("Mean RTT", by_group, groups, "rtt_s"),
        _metric("Jain’s index", by_group, groups, "jain"),
    ]
    return _table("By group of flows", columns, "group", page.note)


def latency_table(run: Result) -> Table | None:
    """One row a group of which packets arrived: percentiles of all repetitions together."""
    page = bounded(run.tables)
    tables, delays = page.tables, of_groups(page.tables, "one_way_delay", page.rows)
    groups = list(delays)
    if not groups:
        return None
    by_group = [of_place(tables, "group", group, lacking=True) for group in groups]
    columns = [
        _words("Group", groups),
        _metric("Mean one-way delay", by_group, groups, "one_way_delay_s"),
        _metric("Median", by_group, groups, "one_way_delay_p50_s"),
        _metric("95 %", by_group, groups, "one_way_delay_p95_s"),
        _metric("99 %", by_group, groups, "one_way_delay_p99_s"),
        _largest("Largest", [float(delays[group].most_s[-1]) for group in groups]),
        _metric("Jitter", by_group, groups, "jitter_s"),
        _metric("Median RTT", by_group, groups, "rtt_p50_s"),
        _metric("RTT, 95 %", by_group, groups, "rtt_p95_s"),
        _metric("RTT, 99 %", by_group, groups, "rtt_p99_s"),
    ]
    note = (
        "One-way delays run from a packet’s sending to its arrival, propagation included; jitter is the mean "
        "difference between packets that arrive one after another in a flow (RFC 3550, section 6.4.1)."
    )
    if len(run.metadata.get("repetitions_finished") or []) > 1:
        note += " Percentiles are of the packets of all repetitions together."
    return _table("Latency", columns, "group", note)


def transfers_table(run: Result) -> Table | None:
    """One row a group whose flows are made of transfers."""
    page = bounded(run.tables)
    transfers = page.tables.get("transfers")
    if transfers is None:
        return None
    present = set(transfers["group"].unique().to_list())
    groups = [group for group in page.rows if group in present]
    by_group = [of_place(page.tables, "group", group, lacking=True) for group in groups]
    rows = [transfers.filter(pl.col("group") == group) for group in groups]
    columns = [
        _words("Group", groups),
        _numbers("Finished", [count(table["completion_s"].count()) for table in rows]),
        _numbers("Still under way at the end", [count(table["completion_s"].null_count()) for table in rows]),
        _words("Size", [span(table, "size_bytes", "B") for table in rows]),
        _metric("Median completion time", by_group, groups, "completion_p50_s"),
        _metric("95th percentile", by_group, groups, "completion_p95_s"),
    ]
    return _table("Transfers", columns, "group", _of_the_cut_off(run, run.tables["transfers"]))


def _of_the_cut_off(run: Result, transfers: pl.DataFrame) -> str:
    """Return the treatment of transfers that had not ended in percentiles, and its limits, in words."""
    cut_off = transfers.filter(pl.col("completion_s").is_null() & pl.col("size_bytes").is_not_null())
    if cut_off.is_empty():
        return ""
    note = (
        "Percentiles are of all transfers, those too that were under way at the end, which are known to take longer "
        "than they had lasted (Kaplan and Meier). There is none that too few transfers reached."
    )
    awaited = description.document(run).get("ends_with") or []
    others = sorted(set(cut_off["group"].unique().to_list()) - set(awaited))
    if not awaited or not others:
        return note
    return (
        f"{note} That takes the end of the run as independent of how long transfers last. This one ended with the "
        f"transfers of {description.listed(awaited)}, so they are only rough of {description.listed(others)}."
    )


def links_table(run: Result) -> Table | None:
    """One row a link."""
    links = run.tables.get("links")
    if links is None:
        return None
    names = links_in(links)
    by_link = [of_place(run.tables, "link", link, lacking=True) for link in names]
    rows = [links.filter(pl.col("link") == link) for link in names]

    def metric(label: str, name: str) -> _Column | None:
        keys = zip(names, by_link, strict=True)
        return _of_metrics(label, [metrics.get(f"link/{link}/{name}") for link, metrics in keys])

    columns = [
        _words("Link", names),
        _words("Rate", [span(table, "rate_bps", "bit/s") for table in rows]),
        metric("Utilisation", "utilisation"),
        metric("Lost", "loss_rate"),
        metric("Marked", "mark_rate"),
        metric("Lost in profile", "loss_rate_in"),
        metric("Lost out of profile", "loss_rate_out"),
        metric("Mean queue", "queue_packets"),
        metric("Mean delay", "queueing_delay_s"),
        metric("Median delay", "queueing_delay_p50_s"),
        metric("99th percentile", "queueing_delay_p99_s"),
        _largest("Largest delay", [table["max_queueing_delay_s"].max() for table in rows]),
    ]
    return _table("", columns, "link", "Delays are waiting times in the queue, without the packet’s own transmission.")


def _largest(label: str, values_s: Sequence[Any]) -> _Column | None:
    """The largest delays of all repetitions, as percentiles are of all; None where none was recorded."""
    known = [float(value) for value in values_s if value is not None]
    if not known:
        return None
    scale = scale_for(max(known), "s")
    cells = [Cell(ABSENT if value is None else significant(value * scale.factor)) for value in values_s]
    return _Column(label, scale.unit, cells)


def own_table(run: Result) -> Table | None:
    """The quantities of users, one row each."""
    page = bounded(run.tables)
    every = everything(page.tables, groups=page.rows).values()
    metrics = [metric for metric in every if metric.named.quantity.source]
    values = [interval_text(metric.interval, metric.unit) for metric in metrics]
    columns = [
        _words("Quantity", [metric.label for metric in metrics]),
        _words("Value", values),
        _words("Defined in", [metric.named.quantity.source for metric in metrics]),
    ]
    return _table("Quantities of your own", columns, "quantity") if metrics else None


def span(table: pl.DataFrame, column: str, unit: str) -> str:
    """``100 ms``, or ``100 to 298 ms`` when rows differ; a dash when none has a value."""
    values = table[column].drop_nulls().to_numpy()
    if len(values) == 0:
        return ABSENT
    low, high = float(values.min()), float(values.max())
    if quantity(low, unit) == quantity(high, unit):
        return given(high, unit)
    lower, upper = scale_for(low, unit), scale_for(high, unit)
    first = trimmed(low * upper.factor, 3) if lower == upper else joined(trimmed(low * lower.factor, 3), lower.unit)
    return f"{first} to {joined(trimmed(high * upper.factor, 3), upper.unit)}"


def _several(flows: pl.DataFrame) -> bool:
    """True if a repetition has more than one of these flows."""
    return bool(flows.select("repetition").is_duplicated().any())


def population(flows: pl.DataFrame) -> str:
    """Return the number of flows of a table in each repetition, and their controls: ``4 cubic``."""
    controls = sorted(set(flows["congestion_control"].to_list()))
    number = max(flows.group_by("repetition").len()["len"].to_list(), default=0)
    return f"{count(number)}{NO_BREAK}{'/'.join(control or f'of{NO_BREAK}datagrams' for control in controls)}"


def _table(title: str, columns: Sequence[_Column | None], row: str, note: str = "") -> Table:
    present = [column for column in columns if column is not None]
    cells = [cell for column in present for cell in column.cells]
    absent = (
        f"{ABSENT} not measured, or without meaning, for that {row}."
        if any(each.text == ABSENT for each in cells)
        else ""
    )
    identical = f"{ZERO}: identical in all repetitions." if any(each.spread == ZERO for each in cells) else ""
    return Table(
        title,
        [column.label for column in present],
        [*zip(*(column.cells for column in present), strict=True)],
        [place for place, column in enumerate(present) if not column.words],
        [column.unit for column in present],
        " ".join(part for part in (note, identical, absent) if part),
    )


def _metric(
    label: str, by_place: Sequence[Metrics], groups: Sequence[str], name: str, *, bars: bool = False
) -> _Column | None:
    """A metric of each group; with `bars`, those of shares."""
    measured = [metrics.get(f"group/{group}/{name}") for group, metrics in zip(groups, by_place, strict=True)]
    column = _of_metrics(label, measured)
    if column is None or not bars:
        return column
    shares = (None if metric is None else metric.interval.mean for metric in measured)
    return column._replace(cells=[replace(cell, bar=share) for cell, share in zip(column.cells, shares, strict=True)])


def _of_metrics(label: str, metrics: Sequence[Metric | None]) -> _Column | None:
    """One metric for each row, in the scale that suits the largest; ``None`` if no row has it."""
    present = [metric for metric in metrics if metric is not None]
    if not present:
        return None
    sizes = [abs(metric.interval.mean) for metric in present if metric.estimate is not None]
    if not sizes:
        return _Column(label, "", [_cell(metric, Scale(1.0, "")) for metric in metrics])
    scale = scale_for(max(sizes), present[0].unit)
    return _Column(label, scale.unit, [_cell(metric, scale) for metric in metrics])


def _cell(metric: Metric | None, scale: Scale) -> Cell:
    if metric is None:
        return Cell(ABSENT)
    if metric.lacking is not None:
        return Cell(no_value(metric.lacking, metric.unit))
    number, spread = in_scale(metric.interval, scale)
    return Cell(number, ", ".join(filter(None, (spread, some_of(metric.interval)))))


def _words(label: str, texts: Sequence[str]) -> _Column:
    return _Column(label, "", [Cell(text) for text in texts], words=True)


def _numbers(label: str, texts: Sequence[str]) -> _Column:
    return _Column(label, "", [Cell(text) for text in texts])
