"""Models that say they hold, and are wrong: a run lies far outside the bracket of what they predict for it.

Looked at are the goodput of a flow and the RTT of each group, and the mean queue of each link, of answers from the
scenario alone. Formulas leave out much; they are called wrong where the whole measured interval is more than a quarter
(`FACTOR`) beyond the nearest end of the bracket, a queue also by a packet at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from parshall.foundations.numbers import quantity
from parshall.instruments.prediction.predict import Reading
from parshall.report.description import listed
from parshall.report.predicted import Answer, answers, did
from parshall.report.sentences import Sentence, say
from parshall.results.quantities.measuring import Metrics, of_place
from parshall.results.records import Result

FACTOR = 1.25
LEAST_PACKETS = 1.0

_OF_GROUP = (
    ("flow_goodput_bps", "flow_goodput_bps", "bit/s", "the goodput of a flow of {subject}"),
    ("rtt_s", "rtt_s", "s", "the RTT of {subject}"),
)
"""Key of an answer, key of the measured quantity, its unit, and its name in a sentence."""

_OF_LINK = (("predicted", "queue_packets", "packets", "the mean queue of the link {subject}"),)


@dataclass(frozen=True)
class Wrong:
    """A model's bracket, and a measured value outside it.

    Parameters
    ----------
    model, what
        Who predicts, and what, as a sentence names it.
    low, high, measured
        The bracket, and the run's mean, in `unit`.
    """

    model: str
    what: str
    unit: str
    low: float
    high: float
    measured: float

    @property
    def factor(self) -> float:
        """Ratio between the measured value and the nearer end, at least 1; infinite if the value is 0."""
        below = self.low / self.measured if self.measured > 0 else float("inf")
        return max(below, self.measured / self.high if self.high > 0 else float("inf"))


def wrong(run: Result) -> list[Wrong]:
    """The wrong predictions of a run, the worst first."""
    found = [each for answer in _brackets(run) if (each := _held(run, *answer)) is not None]
    return sorted(found, key=lambda each: -each.factor)


def sentence(run: Result) -> Sentence | None:
    """The worst prediction, and all models that say the like; None where none is wrong."""
    found = wrong(run)
    if not found:
        return None
    same = [each for each in found if each.what == found[0].what]
    low, high = min(each.low for each in same), max(each.high for each in same)
    ends = [quantity(end, found[0].unit) for end in (low, high)]
    models = list(dict.fromkeys(each.model for each in same))
    return say(
        "model_wrong" if len(models) == 1 else "models_wrong",
        models=listed(models),
        what=found[0].what,
        predicted=ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}",
        did=did(run),
        measured=quantity(found[0].measured, found[0].unit),
    )


def _brackets(run: Result) -> Iterator[tuple[str, str, list[Answer]]]:
    """The answers from the scenario alone of each subject and model, of whole brackets.

    Of a full link those of an empty and of a full buffer; where one end is out of range, the other is no prediction.
    """
    valid: dict[tuple[str, str, str], list[Answer]] = {}
    for answer in answers(run.predicted):
        alone = not str(answer["reading"]).startswith("measured")
        if answer["in_range"] and alone and answer["quantity"] in ("goodput_bps", "mean_queue_packets"):
            key = str(answer["subject"]), str(answer["model"]), str(answer["quantity"])
            valid.setdefault(key, []).append(answer)
    for (subject, model, _), given in valid.items():
        readings = {str(answer["reading"]) for answer in given}
        if not readings & _ENDS or readings >= _ENDS:
            yield subject, model, given


_ENDS = {Reading.SHORTEST_QUEUE.value, Reading.LONGEST_QUEUE.value}


def _held(run: Result, subject: str, model: str, given: list[Answer]) -> Wrong | None:
    """The worst of what one model says of a group or link; None if it is right."""
    per, told = ("link", _OF_LINK) if given[0]["quantity"] == "mean_queue_packets" else ("group", _OF_GROUP)
    metrics: Metrics = of_place(run.tables, per, subject)  # type: ignore[arg-type]
    found = []
    for key, measured, unit, name in told:
        metric = metrics.get(f"{per}/{subject}/{measured}")
        values = [float(answer[key]) for answer in given if answer.get(key) is not None]
        if metric is None or not values:
            continue
        interval = metric.interval
        least, most = (interval.mean if end is None else end for end in (interval.low, interval.high))
        slack = LEAST_PACKETS if unit == "packets" else 0.0
        low, high = min(values), max(values)
        if least > max(FACTOR * high, high + slack) or most < min(low / FACTOR, low - slack):
            found.append(Wrong(model, name.format(subject=subject), unit, low, high, interval.mean))
    return max(found, key=lambda each: each.factor, default=None)
