"""The answer first: the few numbers a reader came for, with what is needed to judge them.

What is said of a link is said of the busiest one, which is named; where more than one is used to more than 80 %, each
has tiles of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from parshall.analysis.stats.quantiles import ORDER_STATISTICS, WOODRUFF
from parshall.foundations.numbers import ABSENT, count, counted, quantity
from parshall.report.figures.delays import under_load
from parshall.report.uncertainty import IDENTICAL, interval_text, with_unit
from parshall.results.quantities.completion import counts, lasted
from parshall.results.quantities.definition import link_name
from parshall.results.quantities.measuring import Metric, Metrics, busy, lacking, of_place, of_run
from parshall.results.records import Result


@dataclass(frozen=True)
class Tile:
    """One number, its uncertainty, and a line that puts it in proportion."""

    label: str
    value: str
    spread: str = ""
    remark: str = ""
    rank: int = 0
    """Its place where there is room for a few tiles only; the lowest come first."""


@dataclass(frozen=True)
class Headline:
    """The tiles, and how their uncertainty is meant."""

    tiles: list[Tile]
    note: str

    def first(self, number: int) -> list[Tile]:
        """The tiles that matter most, at most so many."""
        return sorted(self.tiles, key=lambda tile: tile.rank)[:number]


COMPLETION, LATENCY, GOODPUT, DELAY, FAIRNESS, LOSS = range(6)
"""Ranks of tiles: first the times that users notice, then what flows get, what that costs, and why."""


def headline(run: Result) -> Headline:
    """Goodput, loss, delay, fairness, completion times: those that this run has."""
    metrics = of_run(run.tables)
    links = run.tables.get("links")
    named = [] if links is None else busy(links)
    tiles = [*_goodputs(run, metrics, named)]
    if links is not None:
        for link in named:
            where = f", {link_name(link).removeprefix('the ')}"
            tiles += [_loss(run, links, link, where), _delay(run, link, where)]
    tiles += [_fairness(run, metrics), _completion(run, metrics), _latency(run)]
    return Headline([tile for tile in tiles if tile is not None], _note(metrics))


def _goodputs(run: Result, metrics: Metrics, links: Sequence[str]) -> list[Tile | None]:
    used = [(link, of_place(run.tables, "link", link).get(f"link/{link}/utilisation")) for link in links]
    texts = {link: f"{link_name(link)} is {quantity(each.interval.mean, 'ratio')} busy" for link, each in used if each}
    forth, back = metrics.get("goodput_bps"), metrics.get("goodput_reverse_bps")
    label = forth.label if forth else ""
    against = texts.pop("reverse", "") if back else ""
    onward = "; ".join(texts.values())
    return [
        _tile(label, forth, onward, GOODPUT),
        _tile(
            back.label if back else "", back, against if forth else "; ".join(filter(None, (onward, against))), GOODPUT
        ),
    ]


def _loss(run: Result, links: pl.DataFrame, link: str, where: str) -> Tile | None:
    rows = links.filter(pl.col("link") == link)
    queue, medium = int(rows["dropped_packets"].sum()), int(rows["medium_losses_packets"].sum())
    arrived = int(rows["arrivals_packets"].sum())
    if queue and medium:
        remark = f"{count(queue)} dropped by the queue, {count(medium)} lost on the medium, of {count(arrived)} packets"
    else:
        remark = f"{count(queue or medium)} of {count(arrived)} packets" + (" on the medium" if medium else "")
    return _tile(f"Loss{where}", of_place(run.tables, "link", link).get(f"link/{link}/loss_rate"), remark, LOSS)


def _delay(run: Result, link: str, where: str) -> Tile | None:
    metrics = of_place(run.tables, "link", link)
    tail = metrics.get(f"link/{link}/queueing_delay_p99_s")
    remark = f"99 % of packets wait at most {quantity(tail.interval.mean, 's')}" if tail else ""
    return _tile(f"Mean queueing delay{where}", metrics.get(f"link/{link}/queueing_delay_s"), remark, DELAY)


def _fairness(run: Result, metrics: Metrics) -> Tile | None:
    flows = run.tables.get("flows")
    if flows is None or "jain" not in metrics:
        return None
    tcp = flows.filter(pl.col("congestion_control") != "")
    rows = tcp if not tcp.is_empty() else flows
    number = rows.filter(pl.col("repetition") == rows["repetition"][0]).height
    kind = "TCP flow" if rows is tcp and tcp.height < flows.height else "flow"
    return _tile(
        "Fairness (Jain’s index)", metrics["jain"], f"{counted(number, kind)}; 1 would be equal shares", FAIRNESS
    )


def _completion(run: Result, metrics: Metrics) -> Tile | None:
    """Half, 95 % and all of the transfers; the mean where they are too few for any of these.

    Where some had not ended, how many of how many had, and no value that they did not reach.
    """
    unknown = lacking(run.tables, groups=())
    known = metrics | {key: each for key, each in unknown.items() if key == "completion_p95_s" or not _is_of_few(each)}
    ended, begun = counts(run.tables)
    middle, tail = known.get("completion_p50_s"), known.get("completion_p95_s")
    first = middle or known.get("completion_s")
    if first is None:
        return None
    label = "Median completion time" if middle is not None else "Completion time"
    if ended < begun:
        reached = f", {_within(tail)}" if tail and (tail.lacking is None or _is_of_few(tail)) else ""
        remark = f"{count(ended)} of {counted(begun, 'transfer')} ended{reached}"
        return _tile(label, first, remark, COMPLETION)
    if middle is None:
        return _tile(label, first, counted(ended, "transfer"), COMPLETION)
    within = f"{_within(tail)}, " if tail else ""
    longest = lasted(run.tables)["lasted_s"].max()
    worst = f"worst of {counted(ended, 'transfer')}: {quantity(float(longest), 's')}"  # type: ignore[arg-type]
    return _tile(label, middle, f"{within}{worst}", COMPLETION)


def _within(tail: Metric) -> str:
    """Within which time 95 % were done, or that there are too few values to say."""
    if tail.lacking is not None:
        return f"95 %: {tail.lacking.reason}"
    return f"95 % within {interval_text(tail.interval, 's')}"


def _is_of_few(metric: Metric) -> bool:
    return metric.lacking is not None and metric.lacking.is_of_values


def _latency(run: Result) -> Tile | None:
    """Return the delays of packets of a group that others' load makes wait."""
    group = under_load(run)
    if group is None:
        return None
    metrics = of_place(run.tables, "group", group)
    middle, tail = (metrics.get(f"group/{group}/one_way_delay_p{level}_s") for level in (50, 99))
    half = "" if middle is None else f", half within {quantity(middle.interval.mean, 's')}"
    return _tile(f"Latency under load: {group}", tail, f"99 % of its packets arrive within that time{half}", LATENCY)


def _tile(label: str, metric: Metric | None, remark: str, rank: int) -> Tile | None:
    if metric is None:
        return None
    if metric.lacking is not None:
        above = metric.lacking.above
        value = ABSENT if above is None else f"> {quantity(above, metric.unit)}"
        reason = metric.lacking.reason
        return Tile(label, value, "", f"{reason}; {remark}" if remark else reason, rank)
    value, spread = with_unit(metric.interval, metric.unit, IDENTICAL)
    return Tile(label, value, spread, remark, rank)


def _note(metrics: Metrics) -> str:
    numbers = [len(metric.values) for metric in metrics.values()]
    if not numbers:
        return f"Nothing was measured ({ABSENT})."
    repetitions = max(numbers)
    if repetitions == 1:
        return "One repetition: there is no confidence interval. More `repetitions` in the scenario give one."
    means = (
        f"Means over {repetitions} repetitions; ± is the half width of the 95 % confidence interval (Student’s t). "
        "Where its ends are not equally far from the estimate, both are in brackets."
    )
    how = {metric.interval.how for metric in metrics.values()} & {ORDER_STATISTICS, WOODRUFF}
    if not how:
        return means
    ways = {ORDER_STATISTICS: "from order statistics", WOODRUFF: "from their spread over repetitions (Woodruff)"}
    text = " or ".join(ways[each] for each in sorted(how))
    return f"{means} Percentiles are of all repetitions together; their intervals come {text}."
