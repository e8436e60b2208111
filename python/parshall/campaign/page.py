"""The page of a sweep: the metrics over the parameters, differences to the baseline, every point, how it was made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from parshall.analysis.stats.verdict import why_none
from parshall.campaign.choosing import chooser
from parshall.campaign.figures import figures
from parshall.campaign.finding import finding
from parshall.campaign.result import Sweep
from parshall.campaign.values import label
from parshall.foundations.numbers import ABSENT, counted
from parshall.report.comparing import family
from parshall.report.document import Block, Document, Section, Table, write_document
from parshall.report.sentences import say
from parshall.report.uncertainty import interval_text
from parshall.results.quantities.naming import named
from parshall.scenario.schema import writing

_MOST_ROWS = 500

_ENDED = {
    "fixed": "the number that was asked for",
    "precise": "the interval is narrow enough",
    "maximum": "the most repetitions that were allowed",
    "budget": "the budget of runs",
    "time": "the budget of time",
    "shard": "the others are of other shards",
    "going on": "not finished",
}


def document(sweep: Sweep) -> Document:
    """The page's content."""
    record = sweep.record
    drawn = figures(sweep)
    opening = Section("First figure", figures=drawn[:1], blocks=chooser(sweep), name="glance", is_opening=True)
    sections = [
        *([opening] if drawn else []),
        Section("What was done", _summary(sweep), tables=_failures(sweep), name="done"),
        *([Section("More figures", figures=drawn[1:], name="figures")] if drawn[1:] else []),
        *_differences(sweep),
        Section("Every point", _left_out(sweep), tables=[_points(sweep)], name="points"),
        Section(
            "How it was made",
            _made(sweep),
            tables=[_parameters(sweep)],
            blocks=[Block("code", writing.toml({key: each for key, each in record.plan.items() if each is not None}))],
            name="provenance",
            folded="The sweep, as it was given",
        ),
    ]
    byline = (record.status, counted(record.runs, "run"), f"code {record.code}", record.started)
    return Document("sweep", record.name, record.description, byline, sections, finding=finding(sweep))


def write_page(sweep: Sweep) -> Path:
    """Write the page into the store.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_document_of(sweep, document(sweep))


def write_document_of(sweep: Sweep, made: Document) -> Path:
    """Write a page that was made already.

    Raises
    ------
    OSError
        It cannot be written.
    """
    directory = sweep.store.directory / "pages"
    directory.mkdir(exist_ok=True)
    return write_document(made, directory / f"{sweep.name}.html", sweep.store.partial("page"))


def _summary(sweep: Sweep) -> list[str]:
    record = sweep.record
    ends = Counter(point.reason for point in record.points)
    reasons = "; ".join(f"{_ENDED.get(reason, reason)} ({counted(number, 'point')})" for reason, number in ends.items())
    points, runs = counted(len(record.points), "point"), counted(record.runs, "run")
    said = [say("sweep.done", points=points, runs=runs, reasons=reasons)]
    if record.plan.get("instrument") == "emulate":
        levels = Counter(sweep.runs["validity"]).most_common()
        said += [say("sweep.emulated", levels=", ".join(f"{n} {level}" for level, n in levels))] if levels else []
    if record.failed:
        one = len(record.failed) == 1
        words = {"are": "is" if one else "are", "them": "it" if one else "them"}
        said.append(say("sweep.failed", runs=counted(len(record.failed), "run"), **words))
    if record.status == "shard":
        said.append(say("sweep.shards"))
    elif not record.finished:
        said.append(say("sweep.goes_on"))
    return [each.text for each in said]


def _failures(sweep: Sweep) -> list[Table]:
    if not sweep.record.failed:
        return []
    where = {run: number for number, point in enumerate(sweep.record.points) for run in point.runs}
    rows = [
        (_values_text(sweep, where[run]) if run in where else ABSENT, run[:12], error)
        for run, error in list(sweep.record.failed.items())[:_MOST_ROWS]
    ]
    return [Table("Runs that failed", ("Point", "Run", "Error"), rows)]


def _differences(sweep: Sweep) -> list[Section]:
    """Paired differences to the baseline, for each metric that the page shows."""
    pairs = baselines(sweep)
    if not pairs or sweep.record.compare is None:
        return []
    tables = []
    shown = pairs[:_MOST_ROWS]
    judged = sweep.judged((metric, *pair) for metric in sweep.record.metrics for pair in shown)
    for metric in sweep.record.metrics:
        rows = []
        for point, base in shown:
            judgement = judged.get((metric, point, base))
            difference = None if judgement is None else judgement.difference
            text = (
                sweep.incomparable(metric, point, base)
                if judgement is None
                else judgement.verdict.text(sweep.at_least, why_none(judgement.difference))
            )
            rows.append((*_values(sweep, point), interval_text(difference, named(metric).unit), text))
        header = (*(each.key for each in sweep.record.parameters), "Difference", "")
        tables.append(Table(sweep.label(metric), header, rows, numbers=(len(header) - 2,)))
    compare = sweep.record.compare
    tested = sum(each.p_value is not None for each in judged.values())
    how = say("sweep.paired" if sweep.paired else "sweep.independent").text
    text = say("sweep.baseline", parameter=compare["parameter"], baseline=label(compare["baseline"]), how=how).text
    return [Section("Differences to the baseline", (text, *([family(tested)] if tested else [])), tables=tables)]


def baselines(sweep: Sweep) -> list[tuple[int, int]]:
    """Each point that is not at the baseline, with the point that differs from it in the baseline only."""
    record = sweep.record
    if record.compare is None:
        return []
    wanted = record.compare["parameter"]
    index = next(i for i, each in enumerate(record.parameters) if wanted in (each.key, each.name))
    base = label(record.compare["baseline"])
    others = [
        tuple(label(value) for place, value in enumerate(point.values) if place != index) for point in record.points
    ]
    at_base = {
        others[number]: number for number, point in enumerate(record.points) if label(point.values[index]) == base
    }
    return [
        (number, at_base[others[number]])
        for number, point in enumerate(record.points)
        if label(point.values[index]) != base and others[number] in at_base
    ]


def _points(sweep: Sweep) -> Table:
    record = sweep.record
    header = (*(each.key for each in record.parameters), "Runs", *(sweep.label(metric) for metric in record.metrics))
    rows = [
        (
            *_values(sweep, number),
            str(len(point.runs)),
            *(sweep.text(metric, number) for metric in record.metrics),
        )
        for number, point in enumerate(record.points[:_MOST_ROWS])
    ]
    return Table("", header, rows, numbers=range(len(record.parameters), len(header)))


def _left_out(sweep: Sweep) -> list[str]:
    more = len(sweep.record.points) - _MOST_ROWS
    lines = [
        "± is half the width of the 95 % confidence interval over repetitions (Student's t). Percentiles are of all "
        "values of all repetitions, with the ends of their interval in brackets."
    ]
    if more > 0:
        points = f"{counted(more, 'more point')}"
        lines.append(say("sweep.left_out", points=points, are="is" if more == 1 else "are").text)
    return lines


def _parameters(sweep: Sweep) -> Table:
    record = sweep.record
    rows = []
    for index, each in enumerate(record.parameters):
        different = list(dict.fromkeys(label(point.values[index]) for point in record.points))
        shown = ", ".join(different[:8]) + (f", ... ({len(different)})" if len(different) > 8 else "")
        column = each.name if each.number_column in (None, each.name) else f"{each.name}, {each.number_column}"
        rows.append((f"`{each.key}`", shown, column))
    return Table("Parameters", ("Key path", "Values", "Columns"), rows)


def _made(sweep: Sweep) -> list[str]:
    record = sweep.record
    seeds = "differ from point to point" if record.seed is None else f"follow from {record.seed} at every point"
    took, store = f"{record.wall_s:.1f} s", str(sweep.store.directory)
    return [say("sweep.made", took=took, seeds=seeds, numbers=record.random_numbers, store=store).text]


def _values(sweep: Sweep, point: int) -> Sequence[str]:
    return [label(value) for value in sweep.record.points[point].values]


def _values_text(sweep: Sweep, point: int) -> str:
    pairs = zip(sweep.record.parameters, _values(sweep, point), strict=True)
    return ", ".join(f"{each.key} = {text}" for each, text in pairs)
