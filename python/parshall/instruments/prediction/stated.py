"""Answers of models as quantities of the catalogue, which can be compared with measured ones.

| name | from |
| --- | --- |
| ``group/NAME/goodput_bps``, ``flow_goodput_bps`` | throughput of TCP, the goodput of datagrams |
| ``group/NAME/cwnd_packets``, ``rtt_s`` | throughput of TCP |
| ``link/NAME/queue_packets``, ``queueing_delay_s``, ``utilisation``, ``loss_rate`` | queues |
| ``goodput_bps`` | the sum over the groups of the forward direction, if models speak of each |
| ``completion_s`` | completion times, where the only group has transfers of one size |

Of several models of a group or link, the first that has an answer from the scenario alone speaks: those of a family
stand in the order from the most to the least detailed. A full link has three readings or four (`Reading`), which are no
repetitions: the value is that of half full buffers, and the ends of its `Range` are the least and the largest of all
readings. Probabilities of loss events are no loss rates of the catalogue, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from parshall.analysis.stats.ranges import Range
from parshall.instruments.prediction.answers import Datagrams, Reading
from parshall.results.quantities.measuring import ALL_FLOWS, Metric, Metrics
from parshall.results.quantities.naming import named
from parshall.results.quantities.tables import backward

if TYPE_CHECKING:
    from parshall.instruments.prediction.result import Predicted

_SUM, _FLOW = "goodput_bps", "flow_goodput_bps"
_LOAD = "offered load"
_GROUP = {_SUM: "goodput_bps", _FLOW: "flow_goodput_bps", "cwnd_packets": "window_packets", "rtt_s": "rtt_s"}
_LINK = {
    "queue_packets": "mean_queue_packets",
    "queueing_delay_s": "mean_queueing_delay_s",
    "utilisation": "utilisation",
    "loss_rate": "loss",
}
_OF_RUNS = (Reading.MEASURED_EVENTS, Reading.MEASURED_PACKETS)
"""Readings that are no predictions: they take what a run measured."""

_FILLINGS = {
    Reading.LOSSES_TOGETHER: "empty",
    Reading.SHORTEST_QUEUE: "empty",
    Reading.MIDDLE_QUEUE: "half full",
    Reading.LONGEST_QUEUE: "full",
}
"""Fillings of the buffers of full links, in words."""


def quantities(predicted: Predicted) -> Metrics:
    """By name; only those that a model has an answer for."""
    metrics = {metric.key: metric for metric in _stated(predicted)}
    forward = [name for name in _counts(predicted) if name not in backward(predicted.metadata)]
    total = _over_groups(predicted, "goodput_bps", dict.fromkeys(forward, 1.0))
    return metrics if total is None else {_SUM: _metric(_SUM, total), **metrics}


def of_all_flows(predicted: Predicted) -> Metrics:
    """Means over all flows, where the models speak of each group."""
    counts = _counts(predicted)
    flows = sum(counts.values())
    shares = {name: count / flows for name, count in counts.items()}
    means = {
        _FLOW: _over_groups(predicted, "goodput_bps", dict.fromkeys(counts, 1.0 / flows) if flows else {}),
        "cwnd_packets": _over_groups(predicted, "window_packets", shares),
        "rtt_s": _over_groups(predicted, "rtt_s", shares),
    }
    named_ = {f"group/{ALL_FLOWS}/{key}": mean for key, mean in means.items()}
    return {name: _metric(name, mean) for name, mean in named_.items() if mean is not None}


def _counts(predicted: Predicted) -> dict[str, int]:
    """Return the number of flows of each group."""
    return {group["name"]: group["count"] for group in predicted.metadata.get("groups", ())}


def _over_groups(predicted: Predicted, field: str, weights: Mapping[str, float]) -> Range | None:
    """The weighted sum of what the groups' answers have, in each reading; None if one group has nothing.

    What one group has more of with full buffers another has less of, so that ends of different readings are not added.
    """
    speaking = dict(_by(predicted.throughput, "group")) | {each.group: [each] for each in _datagrams(predicted)}
    answers = [speaking.get(name, []) for name in weights]
    several = [own for own in answers if len(own) > 1]
    sums: dict[Reading | None, float] = {}
    for reading in dict.fromkeys(each.reading for own in several for each in own) or (None,):
        values = [_at(own, reading, field) for own in answers]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            sums[reading] = sum(weight * value for weight, value in zip(weights.values(), known, strict=True))
    if not sums:
        return None
    models = " and ".join(dict.fromkeys(getattr(own[0], "model", _LOAD) for own in answers))
    return _range(sums, models + _buffers([*sums]))


def _at(answers: Sequence[Any], reading: Reading | None, field: str) -> float | None:
    """The value of a field of a group's answer in a reading.

    An only answer holds in all. A group whose links stay full where losses come together has that of empty buffers.
    """
    if len(answers) == 1:
        return getattr(answers[0], field, None)
    by_reading = {each.reading: each for each in answers}
    if reading is Reading.LOSSES_TOGETHER and reading not in by_reading:
        reading = Reading.SHORTEST_QUEUE
    return getattr(by_reading.get(reading), field, None)


def _datagrams(predicted: Predicted) -> list[Datagrams]:
    return [each for each in predicted.datagrams if each.in_range and each.goodput_bps is not None]


def _stated(predicted: Predicted) -> Iterator[Metric]:
    counts = _counts(predicted)
    for subject, answers in _by(predicted.throughput, "group"):
        for key, field in _GROUP.items():
            yield from _of(f"group/{subject}/{key}", answers, field)
    if len(counts) == 1 and len({answer.size_bytes for answer in predicted.completion}) == 1:
        for _, answers in _by(predicted.completion, "group"):
            yield from _of("completion_s", answers, "completion_s")
    for answer in _datagrams(predicted):
        value = answer.goodput_bps
        if value is not None and counts.get(answer.group):
            total = Range(value, value, value, _LOAD)
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
    values = {
        getattr(answer, "reading", None): float(getattr(answer, field))
        for answer in answers
        if getattr(answer, field) is not None
    }
    if values:
        yield _metric(name, _range(values, answers[0].model + _buffers([*values])))


def _range(values: Mapping[Reading | None, float], between: str) -> Range:
    """The value of half full buffers, or that in the middle, and the least and the largest."""
    each = [*values.values()]
    return Range(values.get(Reading.MIDDLE_QUEUE, each[len(each) // 2]), min(each), max(each), between)


def _buffers(readings: Sequence[Reading | None]) -> str:
    """Return the fillings of the buffers of these readings in words; a model may be out of its range for some."""
    fillings = [*dict.fromkeys(_FILLINGS[each] for each in readings if each in _FILLINGS)]
    if len(fillings) > 1:
        return f", from {fillings[0]} to {fillings[-1]} buffers"
    return f", {fillings[0]} buffers" if fillings else ""


def _metric(name: str, stated: Range) -> Metric:
    each = named(name)
    label = each.quantity.title(each.place) if each.place else each.quantity.title_of_run("", both_ways=False)
    return Metric(each, label, stated)
