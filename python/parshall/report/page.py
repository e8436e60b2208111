"""The report page of a run: one HTML file with everything in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

from markupsafe import Markup

from parshall.files import write_atomically
from parshall.records import Result
from parshall.report import predicted, sampled, starved, words
from parshall.report.figures import CATALOG
from parshall.report.headline import headline
from parshall.report.html import drawing, frame, template
from parshall.report.numbers import counted, quantity
from parshall.report.plot import Figure, Missing, Plot
from parshall.report.tables import groups_table, latency_table, links_table, own_table, transfers_table


def write_page(run: Result, path: str | Path) -> Path:
    """Write the report of `run` to `path`, all or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_atomically(Path(path), page_html(run))


def page_html(run: Result) -> str:
    """The report of `run` as one self-contained HTML document."""
    plots, missing = prepared(run)
    scenario = words.document(run)
    tables = [groups_table(run), latency_table(run), transfers_table(run), own_table(run)]
    return template("page.html.j2").render(
        name=name_of(run),
        description=scenario.get("description") or "",
        byline=byline(run),
        interrupted=_interrupted(run),
        warnings=run.metadata.get("warnings") or [],
        emulation=run.metadata.get("emulation"),
        off_loads=sampled.off_loads(run),
        starved=starved.starved(run),
        headline=headline(run),
        tables=[table for table in tables if table is not None],
        words=words.sentences(scenario),
        source=words.source(scenario),
        done=INSTRUMENT[run.instrument],
        predicted=predicted.view(run),
        gauge=gauge,
        figures=[drawing(figure.name, figure.title, plot) for figure, plot in plots],
        missing=missing,
        links=links_table(run),
        facts=_facts(run),
        **frame({figure.name: plot for figure, plot in plots}),
    )


def summary_html(run: Result, figures: tuple[str, ...] = ("traffic", "goodput")) -> str:
    """A fragment for notebooks: the numbers, the tables, and some figures as static drawings."""
    tables = [groups_table(run), transfers_table(run)]
    chosen = [(figure, figure.prepare(run)) for figure in CATALOG if figure.name in figures]
    return template("summary.html.j2").render(
        name=name_of(run),
        byline=byline(run),
        headline=headline(run),
        tables=[table for table in tables if table is not None],
        figures=[drawing(figure.name, figure.title, plot) for figure, plot in chosen if isinstance(plot, Plot)],
    )


def prepared(run: Result) -> tuple[list[tuple[Figure, Plot]], list[tuple[Figure, str]]]:
    """The figures that this run has, and those that it has not, with the reason."""
    plots: list[tuple[Figure, Plot]] = []
    missing: list[tuple[Figure, str]] = []
    for figure in CATALOG:
        found = figure.prepare(run)
        if isinstance(found, Missing):
            missing.append((figure, found.reason))
        else:
            plots.append((figure, found))
    return plots, missing


def name_of(run: Result) -> str:
    """What the run is called."""
    return str(run.metadata.get("name") or "Run")


INSTRUMENT = {"simulate": "simulated", "emulate": "emulated", "observe": "observed", "predict": "predicted"}
"""What an instrument has done."""


def byline(run: Result) -> list[str]:
    """When, with which seed and version."""
    known = run.metadata
    parts = []
    if known.get("started"):
        parts.append(f"{INSTRUMENT[run.instrument]} on {str(known['started'])[:10]}")
    if known.get("seed") is not None:
        parts.append(f"seed {known['seed']}")
    finished = known.get("repetitions_finished")
    if isinstance(finished, list):
        parts.append(counted(len(finished), "repetition"))
    version = (known.get("versions") or {}).get("parshall")
    if version:
        parts.append(f"Parshall {version}")
    return parts


def gauge(ratio: float) -> Markup:
    """A ratio on a logarithmic scale from 1/2 to 2, as a small drawing; an arrow head where it is beyond."""
    place = min(1.0, max(-1.0, math.log2(ratio))) if ratio > 0 else -1.0
    x = 50 + 46 * place
    beyond = not 0.5 <= ratio <= 2.0
    mark = (
        f'<path d="M{x - 4 * place:g} 3L{x + 4 * place:g} 8L{x - 4 * place:g} 13z" fill="var(--series-0)"/>'
        if beyond
        else f'<circle cx="{x:.1f}" cy="8" r="4" fill="var(--series-0)"/>'
    )
    return Markup(  # noqa: S704 - numbers only
        '<svg viewBox="0 0 100 16" aria-hidden="true"><path d="M4 8H96" stroke="var(--grid)" stroke-width="2"/>'
        f'<path d="M50 1V15" stroke="var(--muted)"/>{mark}</svg>'
    )


def _interrupted(run: Result) -> str:
    known = run.metadata
    if known.get("status") in (None, "complete"):
        return ""
    finished, planned = known.get("repetitions_finished"), known.get("repetitions")
    if isinstance(finished, list) and planned:
        return f"It shows the {len(finished)} of {planned} repetitions that were finished."
    return "It shows what was finished."


def _facts(run: Result) -> list[tuple[str, str]]:
    """Provenance: what is needed to make the same numbers again."""
    known = run.metadata
    facts = []
    if known.get("started"):
        facts.append(("Started", str(known["started"]).replace("T", " ").replace("+00:00", " UTC")))
    if known.get("wall_s") is not None:
        facts.append(("Wall time", quantity(float(known["wall_s"]), "s")))
    summary = known.get("summary") or {}
    if summary.get("cpu_s") is not None:
        simulated = summary.get("simulated_s")
        of = f" for {quantity(float(simulated), 's')} of simulated time" if simulated else ""
        facts.append(("Processor time", f"{quantity(float(summary['cpu_s']), 's')}{of}"))
    if known.get("seed") is not None:
        facts.append(("Seed", str(known["seed"])))
    if known.get("scenario_file"):
        facts.append(("Scenario file", str(known["scenario_file"])))
    facts += [
        (label, ", ".join(f"{key} {value}" for key, value in table.items()))
        for label, table in (("Versions", known.get("versions")), ("Machine", known.get("host")))
        if isinstance(table, Mapping) and table
    ]
    facts.append(("Data", "Every number here comes from the Parquet tables beside this page, in repetitions/."))
    return facts
