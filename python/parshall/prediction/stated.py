"""What models say, as quantities of the catalogue, so that a prediction can be compared with what was measured.

| name | from |
| --- | --- |
| ``group/NAME/goodput_bps``, ``flow_goodput_bps`` | throughput of TCP, the goodput of datagrams |
| ``group/NAME/cwnd_packets``, ``rtt_s`` | throughput of TCP |
| ``link/NAME/queue_packets``, ``queueing_delay_s``, ``utilisation``, ``loss_rate`` | queues |
| ``goodput_bps`` | the sum over the groups of the forward direction, if models speak of each |
| ``completion_s`` | completion times, where the only group has transfers of one size |

Of several models of a group or link, the first that has an answer from the scenario alone speaks: those of a family
stand in the order from the most to the least detailed. A full link has three readings (`Reading`), which are no
repetitions: the value is that of half full buffers, and the ends of its `Range` are the least and the largest of all
readings. Probabilities of loss events are no loss rates of the catalogue, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parshall.prediction.answers import Reading
from parshall.quantities.measuring import ALL_FLOWS, Metric, Metrics
from parshall.quantities.naming import named
from parshall.quantities.tables import backward
from parshall.stats.ranges import Range

if TYPE_CHECKING:
    from parshall.prediction.result import Predicted

_SUM, _FLOW = "goodput_bps", "flow_goodput_bps"
_GROUP = {_SUM: "goodput_bps", _FLOW: "flow_goodput_bps", "cwnd_packets": "window_packets", "rtt_s": "rtt_s"}
_LINK = {
    "queue_packets": "mean_queue_packets",
    "queueing_delay_s": "mean_queueing_delay_s",
    "utilisation": "utilisation",
    "loss_rate": "loss",
}
_OF_RUNS = (Reading.MEASURED_EVENTS, Reading.MEASURED_PACKETS)
"""Readings that are no predictions: they take what a run measured."""

_FILLINGS = {Reading.SHORTEST_QUEUE: "empty", Reading.MIDDLE_QUEUE: "half full", Reading.LONGEST_QUEUE: "full"}
"""How full the buffers of full links are, in words."""


def quantities(predicted: Predicted) -> Metrics:
    """By name; only those that a model has an answer for."""
    counts = _counts(predicted)
    metrics = {metric.key: metric for metric in _stated(predicted, counts)}
    forward = {name: count for name, count in counts.items() if name not in backward(predicted.metadata)}
    mean = _over_groups(metrics, forward, _FLOW)
    if mean is not None:
        total = _metric(_SUM, mean.times(sum(forward.values())))
        metrics = {total.key: total, **metrics}
    return metrics


def of_all_flows(predicted: Predicted) -> Metrics:
    """Means over all flows, where the models speak of each group."""
    counts = _counts(predicted)
    metrics = {metric.key: metric for metric in _stated(predicted, counts)}
    means = {f"group/{ALL_FLOWS}/{key}": _over_groups(metrics, counts, key) for key in _GROUP if key != _SUM}
    return {name: _metric(name, mean) for name, mean in means.items() if mean is not None}


def _counts(predicted: Predicted) -> dict[str, int]:
    """How many flows each group has."""
    return {group["name"]: group["count"] for group in predicted.metadata.get("groups", ())}


def _over_groups(stated: Metrics, counts: Mapping[str, int], key: str) -> Range | None:
    """The mean over all flows; None if there is a group of which no model speaks."""
    metrics = [(stated.get(f"group/{name}/{key}"), count) for name, count in counts.items()]
    parts = [(metric.series, count) for metric, count in metrics if metric and isinstance(metric.series, Range)]
    if not parts or len(parts) < len(metrics):
        return None
    flows = sum(counts.values())
    value, low, high = (
        sum(getattr(part, end) * count for part, count in parts) / flows for end in ("value", "low", "high")
    )
    return Range(value, low, high, " and ".join(dict.fromkeys(part.between for part, _ in parts)))


def _stated(predicted: Predicted, counts: Mapping[str, int]) -> Iterator[Metric]:
    for subject, answers in _by(predicted.throughput, "group"):
        for key, field in _GROUP.items():
            yield from _of(f"group/{subject}/{key}", answers, field)
    if len(counts) == 1 and len({answer.size_bytes for answer in predicted.completion}) == 1:
        for _, answers in _by(predicted.completion, "group"):
            yield from _of("completion_s", answers, "completion_s")
    for answer in predicted.datagrams:
        if answer.in_range and answer.goodput_bps is not None and counts.get(answer.group):
            value = answer.goodput_bps
            total = Range(value, value, value, "offered load")
            yield _metric(f"group/{answer.group}/{_SUM}", total)
            yield _metric(f"group/{answer.group}/{_FLOW}", total.times(1 / counts[answer.group]))
    for subject, answers in _by(predicted.queues, "link"):
        for key, field in _LINK.items():
            yield from _of(f"link/{subject}/{key}", answers, field)


def _by(answers: Sequence[Any], subject: str) -> Iterator[tuple[str, list[Any]]]:
    """The answers of the first model that has any, of each group or link."""
    speaking: dict[str, list[Any]] = {}
    for answer in answers:
        if answer.in_range and getattr(answer, "reading", None) not in _OF_RUNS:
            own = speaking.setdefault(getattr(answer, subject), [])
            if not own or own[0].model == answer.model:
                own.append(answer)
    yield from speaking.items()


def _of(name: str, answers: Sequence[Any], field: str) -> Iterator[Metric]:
    """The range of the answers that have this field."""
    having = [answer for answer in answers if getattr(answer, field) is not None]
    if not having:
        return
    values = [float(getattr(answer, field)) for answer in having]
    middle = [value for answer, value in zip(having, values, strict=True) if _is_middle(answer)]
    central = middle[0] if middle else values[len(values) // 2]
    yield _metric(name, Range(central, min(values), max(values), having[0].model + _buffers(having)))


def _buffers(answers: Sequence[Any]) -> str:
    """Which buffers the answers are of; a model may be out of its range for some."""
    fillings = [_FILLINGS[answer.reading] for answer in answers if getattr(answer, "reading", None) in _FILLINGS]
    if len(fillings) > 1:
        return f", from {fillings[0]} to {fillings[-1]} buffers"
    return f", {fillings[0]} buffers" if fillings else ""


def _is_middle(answer: Any) -> bool:
    return getattr(answer, "reading", None) is Reading.MIDDLE_QUEUE


def _metric(name: str, stated: Range) -> Metric:
    each = named(name)
    label = each.quantity.title(each.place) if each.place else each.quantity.title_of_run("", both_ways=False)
    return Metric(each, label, stated)
