"""The pages over results: the list of them, and a metric of a sweep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from parshall.campaign.figures import of_metric
from parshall.campaign.result import Sweep
from parshall.explore import results
from parshall.explore.drawing import in_page
from parshall.explore.pages import rendered
from parshall.explore.subject import Subject
from parshall.foundations.errors import InputError
from parshall.report.document import Section, sections_html
from parshall.results.quantities.naming import named
from parshall.scenario.schema.problems import quoted


def listing(subject: Subject) -> str:
    """The list of results."""
    place = Path(subject.results or "")
    return rendered(
        "results.html.j2", subject, title=f"Results in {place.name}", entries=results.entries(place).values()
    )


def sweep(subject: Subject, place: Path, request: Mapping[str, Any]) -> str:
    """A metric of a sweep against a parameter, and fields to choose both.

    Raises
    ------
    InputError
        There is no such sweep, metric or parameter.
    """
    entry = results.entry(place, request["name"])
    if entry.sweep is None:
        raise InputError(f'"{entry.name}" is no sweep; its page has its figures')
    read = Sweep.load(entry.place, entry.sweep)
    metrics, parameters = list(read.metrics), [each.key for each in read.record.parameters]
    metric = _one_of("metric", request.get("metric") or next(iter(read.record.metrics), metrics[0]), metrics)
    parameter = request.get("parameter") or None
    if parameter is not None:
        _one_of("parameter", parameter, parameters)
    drawn = list(of_metric(read, metric, parameter)) if _is_known(read, metric) else []
    nothing = [] if drawn else ["There is nothing to draw: no run has this metric, or there is one point only."]
    return rendered(
        "sweep.html.j2",
        subject,
        title=read.name,
        name=entry.name,
        description=read.record.description,
        metrics=[(each, named(each).label(None)) for each in metrics],
        parameters=parameters,
        metric=metric,
        parameter=parameter,
        figures=Markup(sections_html([Section("Figures", nothing, figures=drawn)], in_page())),  # noqa: S704 - ours
    )


def _is_known(read: Sweep, metric: str) -> bool:
    return any(read.interval(metric, number) for number in range(len(read.record.points)))


def _one_of(what: str, found: str, known: list[str]) -> str:
    if found not in known:
        raise InputError(f'{what}: found "{found}"; accepted: {quoted(known)}')
    return found
