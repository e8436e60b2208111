"""The answer first: the few numbers a reader came for, with what is needed to judge them."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from parshall.report.figures.common import timed
from parshall.report.figures.delays import of_groups, under_load
from parshall.report.metrics import Metric, Metrics, overall
from parshall.report.numbers import ABSENT, count, counted, quantity
from parshall.report.source import RunLike, filled
from parshall.report.uncertainty import IDENTICAL, with_unit
from parshall.runs.summary import bottleneck_name


@dataclass(frozen=True)
class Tile:
    """One number, its uncertainty, and a line that puts it in proportion."""

    label: str
    value: str
    spread: str = ""
    remark: str = ""


@dataclass(frozen=True)
class Headline:
    """The tiles, and how their uncertainty is meant."""

    tiles: list[Tile]
    note: str


def headline(run: RunLike) -> Headline:
    """Goodput, loss, delay, fairness, completion times: those that this run has."""
    metrics = overall(run)
    tiles = [_goodput(run, metrics), _loss(run, metrics), _delay(metrics), _fairness(run, metrics)]
    tiles += [_completion(run, metrics), _latency(run)]
    return Headline([tile for tile in tiles if tile is not None], _note(metrics))


def _goodput(run: RunLike, metrics: Metrics) -> Tile | None:
    used = metrics.get("utilisation")
    where = "the bottleneck"
    links = filled(run.links)
    if links is not None and links["link"].n_unique() > 1:
        where = bottleneck_name(links)
    remark = f"{where} is {quantity(used.interval.mean, 'ratio')} busy" if used else ""
    return _tile("Goodput, all flows", metrics.get("goodput_bps"), remark)


def _loss(run: RunLike, metrics: Metrics) -> Tile | None:
    links = filled(run.links)
    if links is None:
        return None
    rows = links.filter(pl.col("link") == bottleneck_name(links))
    queue, medium = int(rows["dropped_packets"].sum()), int(rows["medium_losses_packets"].sum())
    arrived = int(rows["arrivals_packets"].sum())
    if queue and medium:
        remark = f"{count(queue)} dropped by the queue, {count(medium)} lost on the medium, of {count(arrived)} packets"
    else:
        remark = f"{count(queue or medium)} of {count(arrived)} packets" + (" on the medium" if medium else "")
    return _tile("Loss", metrics.get("loss_rate"), remark)


def _delay(metrics: Metrics) -> Tile | None:
    tail = metrics.get("queueing_delay_p99_s")
    remark = f"99 % of packets wait at most {quantity(tail.interval.mean, 's')}" if tail else ""
    return _tile("Mean queueing delay", metrics.get("mean_queueing_delay_s"), remark)


def _fairness(run: RunLike, metrics: Metrics) -> Tile | None:
    flows = filled(run.flows)
    if flows is None or "jain" not in metrics:
        return None
    tcp = flows.filter(pl.col("congestion_control") != "")
    judged = tcp if not tcp.is_empty() else flows
    number = judged.filter(pl.col("repetition") == judged["repetition"][0]).height
    kind = "TCP flow" if judged is tcp and tcp.height < flows.height else "flow"
    return _tile("Fairness (Jain’s index)", metrics["jain"], f"{counted(number, kind)}; 1 would be equal shares")


def _completion(run: RunLike, metrics: Metrics) -> Tile | None:
    transfers, middle = filled(run.transfers), metrics.get("completion_p50_s")
    if transfers is None or middle is None:
        return None
    tail = metrics.get("completion_p95_s")
    ended = counted(timed(transfers).height, "transfer")
    within = f", 95 % within {quantity(tail.interval.mean, 's')}" if tail else ""
    return _tile("Median completion time", middle, f"{ended}{within}")


def _latency(run: RunLike) -> Tile | None:
    """What packets take of a group that others' load makes wait."""
    group = under_load(run)
    if group is None:
        return None
    delays = of_groups(run, "one_way_delay")[group]
    middle, tail = (quantity(float(delay), "s") for delay in delays.quantiles((0.5, 0.99)))
    least = quantity(float(delays.least_s[0]), "s")
    remark = f"99 % of its packets arrive within that time, half within {middle}, the fastest in {least}"
    return Tile(f"Latency under load: {group}", tail, "", remark)


def _tile(label: str, metric: Metric | None, remark: str) -> Tile | None:
    if metric is None:
        return None
    value, spread = with_unit(metric.interval, metric.unit, IDENTICAL)
    return Tile(label, value, spread, remark)


def _note(metrics: Metrics) -> str:
    numbers = [len(metric.values) for metric in metrics.values()]
    if not numbers:
        return f"Nothing was measured ({ABSENT})."
    repetitions = max(numbers)
    if repetitions == 1:
        return "One repetition: there is no confidence interval. More `repetitions` in the scenario give one."
    return f"Means over {repetitions} repetitions; ± is the half width of the 95 % confidence interval (Student’s t)."
