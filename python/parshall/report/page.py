"""The report page of a run: one HTML file with everything in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from parshall.foundations.numbers import counted, quantity
from parshall.instruments.prediction.predict import Predicted
from parshall.report import description, predicted, sampled, starved, validity_section
from parshall.report.document import Block, Chart, Document, Section, Table, document_html, write_document
from parshall.report.figures import figures as all_figures
from parshall.report.finding import finding
from parshall.report.headline import headline
from parshall.report.html import drawing, template
from parshall.report.network import network
from parshall.report.plot import Figure, Missing, Plot
from parshall.report.predicted_summary import dots, nearest_table
from parshall.report.sentences import say
from parshall.report.tables import groups_table, latency_table, links_table, own_table, transfers_table
from parshall.results.records import Result, storage
from parshall.results.records.validity import validity
from parshall.scenario.schema import reading


def write_page(run: Result, path: str | Path) -> Path:
    """Write the report of `run` to `path`, all or nothing.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_document(document(run), path)


def page_html(run: Result) -> str:
    """The report of `run` as one self-contained HTML document."""
    return document_html(document(run))


def document(run: Result) -> Document:
    """The report of `run`: what it shows, groups, what was run, figures, predictions, and how it was made.

    Of a prediction it is that alone.
    """
    if isinstance(run, Predicted):
        ranges = (
            "A range beside a value is that from empty to full buffers of the full links, and from losses of all flows "
            "at the same time."
        )
        view = predicted.beside(run, {})
        alone = Section("Predicted", [ranges], blocks=[Block("predictions", view)], name="predicted")
        made = Section("How it was made", blocks=[Block("facts", _facts(run))], name="provenance")
        return Document("prediction", name_of(run), "", byline(run), [alone, made])
    scenario = description.document(run)
    plots, missing = prepared(run)
    figures = [
        Chart(figure.name, f"Figure {number}. {figure.title}", plot) for number, (figure, plot) in enumerate(plots, 1)
    ]
    overview = [figure for figure in figures if figure.name == OVERVIEW]
    groups = [groups_table(run), latency_table(run), transfers_table(run), own_table(run)]
    sections = [
        Section("Results", blocks=[Block("tiles", headline(run))], name="answer", is_opening=True),
        *([Section("At a glance", figures=overview, name="glance", is_opening=True)] if overview else []),
        Section("Groups of flows", blocks=_measures(groups), name="groups"),
        Section("What was run", blocks=_network(run, scenario), name="scenario"),
        Section(
            "Figures",
            figures=[figure for figure in figures if figure.name != OVERVIEW],
            blocks=[Block("missing", missing)] if missing else [],
            name="figures",
        ),
        predicted_section(run),
        *validity_section.section(run),
        Section("How it was made", blocks=[_command(run, scenario), Block("facts", _facts(run))], name="provenance"),
    ]
    return Document(
        "one run",
        name_of(run),
        scenario.get("description") or "",
        byline(run),
        sections,
        _warnings(run),
        finding(run).text,
    )


MOST_SOURCE = 100_000
"""The longest scenario that is in the page itself, characters: some 90 groups."""

OVERVIEW = "overview"
"""The figure that opens the page."""


def _network(run: Result, scenario: description.Document) -> list[Block]:
    """The network as a drawing, in words, and its links measured."""
    drawn = network(run)
    block = Block("words", {"sentences": description.sentences(scenario, run.metadata)})
    return [*([Block("network", drawn)] if drawn else []), block, *_measures([links_table(run)])]


def predicted_section(run: Result) -> Section:
    """A row a group and a dot a model; all that the models said is folded below."""
    view = predicted.view(run)
    nearest, plot = nearest_table(view), dots(view)
    return Section(
        f"Predicted and {view.did}",
        [view.left_out] if view.left_out else [],
        tables=[nearest] if nearest else [],
        figures=[Chart("predictions", f"All models over what was {view.did}", plot)] if plot else [],
        blocks=[Block("predictions", view)],
        name="predicted",
        folded="Every model: its values, where it holds, its formula" if view.sections else "",
    )


def _command(run: Result, scenario: description.Document) -> Block:
    """Return the command that does it again, and the scenario as a file."""
    verb = "emulate" if run.instrument == "emulate" else "run"
    portable = reading.with_absolute_paths(scenario, Path(run.metadata.get("folder") or ""))
    source = description.source(portable)
    return Block(
        "command",
        {
            "text": f"parshall {verb} {storage.SCENARIO_FILE}",
            "scenario": source if len(source) <= MOST_SOURCE else "",
            "file": storage.SCENARIO_FILE,
        },
    )


def _measures(tables: Iterable[Table | None]) -> list[Block]:
    return [Block("table", table) for table in tables if table is not None]


def _warnings(run: Result) -> list[tuple[str, str]]:
    interrupted = _interrupted(run)
    doubts = run.metadata.get("warnings") or []
    return [
        *([("This run was interrupted.", interrupted)] if interrupted else []),
        *_validity(run),
        *(("Doubtful as it stands.", f"{doubt[:1].upper()}{doubt[1:]}.") for doubt in doubts),
        *(("Another load than asked for.", sentence) for sentence in _some(sampled.off_loads(run))),
        *(("Flows were locked out.", sentence) for sentence in _some(starved.starved(run))),
    ]


MOST_WARNINGS = 5
"""Warnings of one kind that are told one by one."""


def _some(sentences: Sequence[str]) -> list[str]:
    """The first sentences, each of a group, and how many other groups there are."""
    others = len(sentences) - MOST_WARNINGS
    more = [f"The same is true of {counted(others, 'other group')}."] if others > 0 else []
    return [*sentences[:MOST_WARNINGS], *more]


def _validity(run: Result) -> list[tuple[str, str]]:
    """Return the validity of an emulation, with the reasons."""
    verdict = validity(run)
    return (
        []
        if verdict is None
        else [(f"Real Linux TCP; the emulation is {verdict.level}.", validity_section.why(verdict))]
    )


def summary_html(run: Result, figures: tuple[str, ...] = ("traffic", "goodput")) -> str:
    """A fragment for notebooks: the numbers, the tables, and some figures as static drawings."""
    tables = [groups_table(run), transfers_table(run)]
    chosen = [(figure, figure.prepare(run)) for figure in all_figures() if figure.name in figures]
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
    for figure in all_figures():
        plot = figure.prepare(run)
        if isinstance(plot, Missing):
            missing.append((figure, plot.reason))
        else:
            plots.append((figure, plot))
    return plots, missing


def name_of(run: Result) -> str:
    """Return the title of the run."""
    return run.name or "Run"


def byline(run: Result) -> list[str]:
    """Return the time, the seed and the versions of a run."""
    known = run.metadata
    parts = []
    if known.get("started"):
        parts.append(f"{predicted.did(run)} on {str(known['started'])[:10]}")
    if known.get("seed") is not None:
        parts.append(f"seed {known['seed']}")
    finished = known.get("repetitions_finished")
    if isinstance(finished, list):
        parts.append(counted(len(finished), "repetition"))
    version = (known.get("versions") or {}).get("parshall")
    if version:
        parts.append(f"Parshall {version}")
    return parts


def _interrupted(run: Result) -> str:
    known = run.metadata
    if known.get("status") in (None, "complete"):
        return ""
    finished, planned = known.get("repetitions_finished"), known.get("repetitions")
    if isinstance(finished, list) and planned:
        return say("interrupted", finished=f"{len(finished)}", planned=counted(planned, "repetition")).text
    return say("interrupted_unplanned").text


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
    if run.repetitions:
        facts.append(("Data", "Every number here comes from the Parquet tables beside this page, in repetitions/."))
    return facts
