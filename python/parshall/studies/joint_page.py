"""The page of a joint design: what the best setting carries, what no setting does, and what decides which claim."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from parshall.analysis.stats.confidence import mean_interval
from parshall.foundations.numbers import counted
from parshall.foundations.version import __version__
from parshall.report.document import Chart, Document, Section, Table
from parshall.report.plot import Axis, Line, Mark, Panel, Plot, Points, Style
from parshall.report.sentences import say
from parshall.studies.joint import Decision, Judgement, Open, shown
from parshall.studies.study import Scale, Study

HOW = (
    "The settings fill the space of all that the source leaves unsaid, and the first of them is the reconstruction of "
    "this study's page. A claim is carried where its whole 95 % interval is within the tolerance. A parameter decides "
    "a claim where its values explain more of the differences between settings than in 95 % of shuffles."
)


def document(study: Study, scale: Scale, judgement: Judgement) -> Document:
    """The page of a joint design."""
    byline = (f"scale {scale}", f"Parshall {__version__}", study.reference)
    sections = [_verdicts(judgement), _opened(judgement), _decisions(judgement)]
    if judgement.failures:
        sections.append(_failed(judgement))
    return Document(study.kind, f"{study.title}: joint design", study.summary, byline, sections)


def headline(judgement: Judgement) -> str:
    """The number of claims that the best setting carries, and of those that no setting does."""
    held, settings = judgement.held, counted(len(judgement.settings), "setting")
    if not len(held):
        return say("joint.nothing", settings=settings).text
    told = [
        say(
            "joint.best",
            claims=counted(len(held), "claim"),
            settings=settings,
            carried=f"{int(held[:, judgement.best].sum())}",
            base=f"{int(held[:, 0].sum())}",
            some=f"{int(held.any(axis=1).sum())}",
        )
    ]
    if judgement.in_none:
        told.append(say("joint.none", number=counted(len(judgement.in_none), "claim"), settings=settings))
    return " ".join(each.text for each in told)


def _verdicts(judgement: Judgement) -> Section:
    rows = [(name, _outcomes(judgement, name)) for name in judgement.in_none]
    table = Table(f"In none of {len(judgement.settings)} settings", ("claim", "outcomes"), rows)
    return Section("Claims carried together", [headline(judgement), HOW], [table] if rows else [], _figures(judgement))


def _outcomes(judgement: Judgement, name: str) -> str:
    row = judgement.outcomes[name]
    words = {"fails": "not reproduced", None: "not made"}
    return ", ".join(f"{words.get(each, each)} {row.count(each)}" for each in dict.fromkeys(row))


def _figures(judgement: Judgement) -> list[Chart]:
    """Claims carried over each parameter that decides one."""
    deciding = {each.parameter.name for each in judgement.decisions.values() if each is not None}
    pairs = zip(judgement.opened, judgement.groups, strict=True)
    return [_figure(judgement, parameter, group) for parameter, group in pairs if parameter.name in deciding]


def _figure(judgement: Judgement, parameter: Open, group: NDArray[np.intp]) -> Chart:
    """Claims carried over a parameter, mean over the settings with a 95 % interval."""
    carried = judgement.held.sum(axis=0)
    parts = [part for part in range(parameter.parts) if (group == part).any()]
    means = [mean_interval(carried[group == part]) for part in parts]
    middle = [each.mean for each in means]
    low = [each.mean if each.low is None else each.low for each in means]
    high = [each.mean if each.high is None else each.high for each in means]
    labels = tuple(parameter.label(part) for part in range(parameter.parts))
    marks: list[Mark] = [Line(parts, middle, "", Style(thin=True)), Points(parts, middle, "", Style(), low, high)]
    x = Axis(parameter.meaning, names=labels, minimum=-0.5, maximum=parameter.parts - 0.5)
    caption = "Claims that a setting carries, mean over the settings with each value. Bars: 95 %."
    plot = Plot([Panel(marks, x, Axis("claims carried", minimum=0))], caption)
    return Chart(f"joint-{parameter.name}", f"Claims carried over {parameter.meaning}", plot)


def _opened(judgement: Judgement) -> Section:
    base, best = judgement.settings[0], judgement.settings[judgement.best]
    rows = [
        (each.meaning, each.tried, shown(getattr(base, each.name)), shown(getattr(best, each.name)), each.reason)
        for each in judgement.opened
    ]
    header = ("parameter", "tried", "reconstruction", "best setting", "why these values")
    text = "The source leaves these open. The best setting is the one that carries most claims."
    return Section("What the source leaves open", [text], [Table("", header, rows)])


def _decisions(judgement: Judgement) -> Section:
    count = len(judgement.settings)
    rows = [
        (
            name,
            f"{int(row.sum())}",
            "yes" if row[0] else "no",
            "yes" if row[judgement.best] else "no",
            *_cells(judgement.decisions[name]),
        )
        for name, row in zip(judgement.names, judgement.held, strict=True)
    ]
    header = (
        "claim",
        f"settings of {count}",
        "reconstruction",
        "best setting",
        "decided by",
        "share",
        "holds most often at",
        "least often at",
    )
    return Section("Which parameter decides which claim", tables=[Table("", header, rows, numbers=(1, 5))])


def _cells(decision: Decision | None) -> Sequence[str]:
    if decision is None:
        return "", "", "", ""
    most, least = (
        f"{where} ({np.round(100 * part):.0f} %)"
        for where, part in ((decision.best, decision.holds), (decision.worst, decision.fails))
    )
    return decision.parameter.meaning, f"{100 * decision.share:.0f} %", most, least


def _failed(judgement: Judgement) -> Section:
    rows = [(name, f"{count}", text) for (name, text), count in judgement.failures.items()]
    return Section("Not computed", tables=[Table("", ("artefact", "settings", "why"), rows, numbers=(1,))])
