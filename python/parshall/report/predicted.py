"""Predicted beside simulated: the models' answers, arranged for reading.

Answers come as rows of `parshall.instruments.prediction.predict.flatten`, which ``run.json`` stores. What a model says
from the scenario alone depends on how full the buffers of full links are, which no formula knows: those readings are
one row: the answer for half-full buffers, and the range from empty to full ones. An answer out of range has its reason
in place of numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from parshall.analysis.models.catalog import known
from parshall.analysis.models.entry import ModelEntry
from parshall.foundations.numbers import NO_BREAK, THIN, counted, quantity, scale_for, significant
from parshall.instruments.prediction.predict import ASSUMPTIONS, Predicted, flatten
from parshall.report.bounded import MOST, bounded
from parshall.report.uncertainty import with_unit
from parshall.results.quantities.measuring import Metric, Metrics, everything
from parshall.results.records import Result

NO_MODEL = "no model"
_FROM_SCENARIO = "From the scenario alone"
_PARTS = {
    "measured_events": "At the {did} RTT and rate of loss events",
    "measured_packets": "At the {did} RTT and rate of lost packets",
}
_DID = {"emulate": "emulated", "predict": "predicted"}
_BUFFER_WORDS = {
    "losses_together": "losses at the same time",
    "shortest_queue": "empty buffers",
    "middle_queue": "half-full buffers",
    "longest_queue": "full buffers",
}


@dataclass(frozen=True)
class Value:
    """A labelled quantity of a row, with a range or an uncertainty."""

    label: str
    text: str
    spread: str = ""


@dataclass(frozen=True)
class PredictedRow:
    """One model under one condition; `reason` in place of values when it is out of range."""

    name: str
    values: tuple[Value, ...] = ()
    ratio: float | None = None
    reason: str = ""
    ratios: tuple[float, ...] = ()
    """Predicted over simulated for each filling of the buffers; `ratio` is one of them."""

    @property
    def ratio_text(self) -> str:
        """Predicted over simulated, as printed."""
        return "" if self.ratio is None else significant(self.ratio, 3 if self.ratio < 10 else 2)


@dataclass(frozen=True)
class PredictedPart:
    """Rows that share their conditions."""

    title: str
    rows: Sequence[PredictedRow]

    @property
    def has_ratios(self) -> bool:
        """True if a row was compared with the simulation."""
        return any(row.ratio is not None for row in self.rows)


@dataclass(frozen=True)
class PredictedSection:
    """The predictions of one group or link; `simulated` is what they are compared with."""

    title: str
    simulated: tuple[Value, ...]
    parts: Sequence[PredictedPart]


@dataclass(frozen=True)
class View:
    """Everything predicted, the models that spoke, and what they assume."""

    sections: tuple[PredictedSection, ...] = ()
    models: tuple[ModelEntry, ...] = ()
    assumptions: tuple[str, ...] = field(default=())
    did: str = "simulated"
    """The instrument beside the prediction, in words."""
    left_out: str = ""
    """That not all groups are shown; empty where they are."""

    @property
    def has_ratios(self) -> bool:
        """True if some part was compared with the simulation."""
        return any(part.has_ratios for section in self.sections for part in section.parts)


Answer = Mapping[str, Any]


def view(run: Result) -> View:
    """The predictions of `run`, of the groups that its page shows one by one; an empty view if there are none."""
    if not run.predicted:
        return View(did=did(run))
    names = bounded(run.tables).names
    return beside(run.predicted, everything(run.tables, groups=names), did(run), names)


def did(run: Result) -> str:
    """Return the instrument of the run in words: it was ``simulated``, or ``emulated``."""
    return _DID.get(run.instrument, "simulated")


def beside(predicted: Any, metrics: Metrics, did: str = "simulated", groups: Collection[str] | None = None) -> View:
    """Predictions beside what was measured of a run, which was simulated or not.

    Parameters
    ----------
    predicted
        What models answered.
    metrics
        What was measured; empty where nothing was.
    did
        What gave the run.
    groups
        Those that are shown; None: the first ones.
    """
    every, left_out = _of_some(answers(predicted), groups)
    flows = [answer for answer in every if answer["quantity"] == "goodput_bps"]
    sections = [_throughput(group, rows, metrics, did) for group, rows in _by_subject(flows, "control").items()]
    transfers = [answer for answer in every if answer["quantity"] == "completion_s"]
    sections += [_completion(group, rows, did) for group, rows in _by_subject(transfers).items()]
    sections += [_datagrams(group, rows, metrics) for group, rows in _by_subject(flows, "offered_bps").items()]
    queues = [answer for answer in every if answer["quantity"] == "mean_queue_packets"]
    sections += [_queue(link, rows, metrics) for link, rows in _by_subject(queues).items()]
    names = {answer["model"] for answer in every}
    models = tuple(entry for entry in known() if entry.name in names)
    return View(tuple(sections), models, ASSUMPTIONS, did, left_out)


def _of_some(every: Sequence[Answer], groups: Collection[str] | None) -> tuple[Sequence[Answer], str]:
    """The answers of links and of these groups, and the sentence that says how many groups are left out."""
    present = dict.fromkeys(str(answer["subject"]) for answer in every if answer["quantity"] != "mean_queue_packets")
    chosen = set(list(present)[:MOST] if groups is None else groups)
    others = [name for name in present if name not in chosen]
    if not others:
        return every, ""
    note = f"Of {counted(len(present), 'group')}, {len(present) - len(others)} are shown."
    return [answer for answer in every if str(answer["subject"]) not in others], note


def answers(predicted: Any) -> list[Answer]:
    """The predictions as plain rows (`predict.flatten`), their details among the other keys."""
    rows = flatten(predicted) if isinstance(predicted, Predicted) else predicted
    return [{**row["details"], **row} for row in rows or ()]


def _by_subject(every: Iterable[Answer], key: str = "subject") -> dict[str, list[Answer]]:
    """The answers that have `key`, by group or link."""
    subjects: dict[str, list[Answer]] = {}
    for answer in every:
        if key in answer:
            subjects.setdefault(str(answer["subject"]), []).append(answer)
    return subjects


def _throughput(group: str, own: Sequence[Answer], metrics: Metrics, did: str) -> PredictedSection:
    control = own[0]["control"]
    by_part: dict[str, dict[str, list[Answer]]] = {}
    for answer in own:
        title = _PARTS.get(str(answer["reading"]), _FROM_SCENARIO).format(did=did)
        by_part.setdefault(title, {}).setdefault(answer["model"] or NO_MODEL, []).append(answer)
    parts = [
        PredictedPart(title, [row for model, given in models.items() for row in _throughput_rows(model, given)])
        for title, models in by_part.items()
    ]
    simulated = _present(
        _measured("Goodput of a flow", metrics.get(f"group/{group}/flow_goodput_bps")),
        _measured("Mean window", metrics.get(f"group/{group}/cwnd_packets")),
        _measured("Lost packets", metrics.get(f"group/{group}/loss_rate")),
        _measured("RTT", metrics.get(f"group/{group}/rtt_s")),
    )
    described = group if group == control else f"{group} ({control})"
    return PredictedSection(f"Throughput of {described}", simulated, _condensed(parts))


def _condensed(parts: Sequence[PredictedPart]) -> list[PredictedPart]:
    """Models with the same reason on one row; one part if all of them have the same."""
    merged = []
    for part in parts:
        by_reason: dict[str, list[str]] = {}
        for row in part.rows:
            if row.reason and not row.values:
                by_reason.setdefault(row.reason, []).append(row.name)
        silent = [PredictedRow(", ".join(dict.fromkeys(names)), reason=reason) for reason, names in by_reason.items()]
        merged.append(PredictedPart(part.title, [row for row in part.rows if row.values or not row.reason] + silent))
    if len({row.reason for part in merged for row in part.rows}) == 1 and all(row.reason for row in merged[0].rows):
        return [PredictedPart("", merged[0].rows)]
    return merged


def _throughput_rows(model: str, given: Sequence[Answer]) -> list[PredictedRow]:
    """One row for all fillings of the buffers, and one for each reason why there is no value."""
    valid = [answer for answer in given if answer["in_range"]]
    rows = [_throughput_row(model, valid)] if valid else []
    reasons: dict[str, list[str]] = {}
    for answer in given:
        if not answer["in_range"]:
            note = _BUFFER_WORDS.get(str(answer["reading"]), "")
            reasons.setdefault(answer["reason"], []).append(note)
    for reason, conditions in reasons.items():
        where = " and ".join(note for note in conditions if note) if valid or len(reasons) > 1 else ""
        rows.append(PredictedRow(f"{model}, {where}" if where else model, reason=reason))
    return rows


def _throughput_row(model: str, valid: Sequence[Answer]) -> PredictedRow:
    central = next((answer for answer in valid if answer["reading"] == "middle_queue"), valid[len(valid) // 2])
    values = _present(
        _ranged("Goodput of a flow", "flow_goodput_bps", "bit/s", central, valid),
        _ranged("Mean window", "window_packets", "packets", central, valid),
        _ranged("Loss p", "loss", "ratio", central, valid),
        _ranged("RTT", "rtt_s", "s", central, valid),
    )
    limit = central["limited_by"]
    reading = _BUFFER_WORDS.get(str(central["reading"]), "")
    condition = f", {reading}" if reading and (len(valid) == 1 or reading != "half-full buffers") else ""
    held = f", held by the {limit}" if limit in ("window", "access link") else ""
    ratios = tuple(float(answer["ratio"]) for answer in valid if answer["ratio"] is not None)
    return PredictedRow(f"{model}{condition}{held}", values, central["ratio"], ratios=ratios)


def _completion(group: str, own: Sequence[Answer], did: str) -> PredictedSection:
    parts: dict[str, list[PredictedRow]] = {}
    for answer in own:
        title = _PARTS.get(str(answer["reading"]), _FROM_SCENARIO).format(did=did)
        name = ", ".join(
            text
            for text in (
                str(answer["model"]),
                quantity(answer["size_bytes"], "B"),
                _BUFFER_WORDS.get(str(answer["reading"]), ""),
            )
            if text
        )
        values = _present(
            _plain("Mean completion time", answer["predicted"], "s"),
            _plain(did.capitalize(), answer["measured"], "s"),
            _plain("Loss", answer["loss"], "ratio"),
            _plain("RTT", answer["rtt_s"], "s"),
        )
        parts.setdefault(title, []).append(_row(name, answer, values))
    return PredictedSection(
        f"Completion times of {group}", (), _condensed([PredictedPart(title, rows) for title, rows in parts.items()])
    )


def _datagrams(group: str, own: Sequence[Answer], metrics: Metrics) -> PredictedSection:
    rows = []
    for answer in own:
        offered = _plain("Offered on the wire", answer["offered_bps"], "bit/s")
        goodput = _plain("Goodput of all", answer["predicted"], "bit/s")
        row = _row("load", answer, _present(offered, goodput, _plain("Loss", answer["loss"], "ratio")))
        rows.append(replace(row, values=_present(offered)) if row.reason else row)
    simulated = _present(
        _plain("Goodput of all", own[0]["measured"], "bit/s"),
        _measured("Lost packets", metrics.get(f"group/{group}/loss_rate")),
    )
    return PredictedSection(f"Datagrams of {group}", simulated, [PredictedPart(_FROM_SCENARIO, rows)])


def _queue(link: str, own: Sequence[Answer], metrics: Metrics) -> PredictedSection:
    rows = []
    for answer in own:
        values = _present(
            _plain("Mean queue", answer["predicted"], "packets"),
            _plain("Mean queueing delay", answer["mean_queueing_delay_s"], "s"),
            _plain("Loss", answer["loss"], "ratio"),
            _plain("Loss in profile", answer.get("loss_in"), "ratio"),
            _plain("Loss out of profile", answer.get("loss_out"), "ratio"),
            _plain("Utilisation", answer["utilisation"], "ratio"),
        )
        rows.append(_row(str(answer["model"]), answer, values))
    simulated = _present(
        _measured("Mean queue", metrics.get(f"link/{link}/queue_packets")),
        _measured("Mean queueing delay", metrics.get(f"link/{link}/queueing_delay_s")),
        _measured("Loss", metrics.get(f"link/{link}/loss_rate")),
        _measured("Loss in profile", metrics.get(f"link/{link}/loss_rate_in")),
        _measured("Loss out of profile", metrics.get(f"link/{link}/loss_rate_out")),
        _measured("Utilisation", metrics.get(f"link/{link}/utilisation")),
    )
    return PredictedSection(f"Queue of {link}", simulated, _condensed([PredictedPart(_FROM_SCENARIO, rows)]))


def _row(name: str, answer: Answer, values: tuple[Value, ...]) -> PredictedRow:
    if answer["in_range"]:
        return PredictedRow(name, values, answer["ratio"])
    return PredictedRow(name, reason=answer["reason"])


def _present(*values: Value | None) -> tuple[Value, ...]:
    return tuple(value for value in values if value is not None)


def _plain(label: str, number: float | None, unit: str) -> Value | None:
    return None if number is None else Value(label, quantity(number, unit))


def _measured(label: str, metric: Metric | None) -> Value | None:
    if metric is None:
        return None
    return Value(label, *with_unit(metric.interval, metric.unit))


def _ranged(label: str, key: str, unit: str, central: Answer, valid: Sequence[Answer]) -> Value | None:
    number = central.get(key)
    if number is None:
        return None
    given = [float(answer[key]) for answer in valid if answer.get(key) is not None]
    low, high = min(given), max(given)
    factor = scale_for(number, unit).factor
    ends = f"{significant(low * factor)}{THIN}to{NO_BREAK}{significant(high * factor)}"
    return Value(label, quantity(number, unit), f"range {ends}" if significant(low) != significant(high) else "")
