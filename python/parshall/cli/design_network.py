"""``parshall design buffer``, ``aqm`` and ``repetitions``: what to set in a scenario for what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import (
    Force,
    Json,
    Overrides,
    Quiet,
    Scheduler,
    Workers,
    asked_share,
    console,
    duration_s,
    note,
    print_json,
    table,
    verb,
)
from parshall.cli.execution import Kept, execution
from parshall.cli.pages import WIDTH, Files, Formats, PageOutput, Width, files, write_page

if TYPE_CHECKING:
    from parshall.design.judging import Judged
    from parshall.design.queueing import Demand, Place, QueueDesign
    from parshall.report.document import Document

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario in TOML.", show_default=False)]
Link = Annotated[str | None, typer.Option(help="Whose queue.", show_default="the bottleneck, or the only link")]
Utilisation = Annotated[
    str | None, typer.Option(help='Used share of the link, at least, e.g. "98 %".', show_default=False)
]
Loss = Annotated[str | None, typer.Option(help='Share of packets lost, at most, e.g. "0.5 %".', show_default=False)]
Delay = Annotated[str | None, typer.Option(help='Mean queueing delay, at most, e.g. "20 ms".', show_default=False)]
Late = Annotated[
    str | None, typer.Option("--p99", help="99th percentile of the queueing delay, at most.", show_default=False)
]


@verb
def buffer(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    utilisation: Utilisation = None,
    loss: Loss = None,
    delay: Delay = None,
    late: Late = None,
    link: Link = None,
    store: Kept = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: PageOutput = None,
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """The smallest drop-tail buffer that keeps a link busy, or the longest within a delay."""
    from parshall.design import buffer as design
    from parshall.design.network_page import buffer_page

    out = _Output(output, files(formats, width, output, force=force), as_json, quiet)
    where, demand = _asked(scenario, overrides, link, (utilisation, loss, delay, late))
    out.note("simulating limits of the queue ...")
    with execution(store, workers, scheduler, bar=out.bar("buffer")) as by:
        chosen = design.choose(where, demand, execution=by)
    size = {"limit_packets": chosen.limit(chosen.nearest), "bdp_packets": where.bdp_packets}
    out.queue(chosen, design.sentences(chosen), size, lambda: buffer_page(chosen))


@verb
def aqm(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    utilisation: Utilisation = None,
    loss: Loss = None,
    delay: Delay = None,
    late: Late = None,
    queues: Annotated[
        str | None,
        typer.Option(help="Which, with commas between them.", show_default="all that Linux has"),
    ] = None,
    link: Link = None,
    store: Kept = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: PageOutput = None,
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Which active queue management keeps what is asked."""
    from parshall.design import aqm as design
    from parshall.design.network_page import aqm_page

    out = _Output(output, files(formats, width, output, force=force), as_json, quiet)
    where, demand = _asked(scenario, overrides, link, (utilisation, loss, delay, late))
    names = () if queues is None else design.checked(queues)
    out.note("simulating queues ...")
    with execution(store, workers, scheduler, bar=out.bar("aqm")) as by:
        chosen = design.choose(where, demand, names, execution=by)
    out.queue(chosen, design.sentences(chosen), {}, lambda: aqm_page(chosen))


@verb
def repetitions(
    scenario: ScenarioFile,
    overrides: Overrides = None,
    metric: Annotated[str, typer.Option(help="The quantity, e.g. group/web/completion_s.")] = "goodput_bps",
    within: Annotated[str, typer.Option(help="Half width of the 95 % interval over the mean.")] = "5 %",
    pilot: Annotated[int, typer.Option(help="How many are simulated first.", min=3)] = 8,
    most: Annotated[int, typer.Option(help="How many at most.", min=3)] = 2000,
    store: Kept = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    output: PageOutput = None,
    force: Force = False,
    formats: Formats = None,
    width: Width = WIDTH,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """How many repetitions an interval needs to be as narrow as is asked."""
    from parshall.design import repetitions as design
    from parshall.design.network_page import repetitions_page
    from parshall.scenario import Scenario

    out = _Output(output, files(formats, width, output, force=force), as_json, quiet)
    given = Scenario.load(scenario, overrides or ())
    share = asked_share("--within", within)
    out.note("simulating repetitions ...")
    with execution(store, workers, scheduler, bar=out.bar("repetitions")) as by:
        chosen = design.choose(given, metric, share, pilot=pilot, most=most, execution=by)
    looks = [{"repetitions": look.repetitions, **asdict(look.interval)} for look in chosen.looks]
    summary = {"kept": chosen.judged.verdict == "holds", "repetitions": chosen.repetitions, "looks": looks}
    out.answer(design.sentences(chosen), [chosen.judged], summary, lambda: repetitions_page(chosen))


def _asked(
    scenario: Path, overrides: list[str] | None, link: str | None, bounds: tuple[str | None, ...]
) -> tuple[Place, Demand]:
    from parshall.design.queueing import Demand, place
    from parshall.foundations.errors import InputError
    from parshall.scenario import Scenario

    where = place(Scenario.load(scenario, overrides or ()), link)
    if not any(bounds):
        raise InputError('found nothing that is asked; accepted: --utilisation "98 %", --loss, --delay "20 ms", --p99')
    utilisation, loss, delay, late = bounds
    return where, Demand(
        None if utilisation is None else asked_share("--utilisation", utilisation),
        None if loss is None else asked_share("--loss", loss),
        duration_s("--delay", delay),
        duration_s("--p99", late),
    )


@dataclass(frozen=True)
class _Output:
    """Where an answer goes: a page, JSON, the console."""

    output: Path | None
    drawn: Files
    as_json: bool
    quiet: bool

    def note(self, message: str) -> None:
        """Say what is being done."""
        if not (self.quiet or self.as_json):
            note(message)

    def bar(self, name: str) -> str | None:
        """What the bar of progress is called; None: there is none."""
        return None if self.quiet or self.as_json else name

    def queue(
        self, chosen: QueueDesign, sentences: Sequence[str], more: Mapping[str, Any], page: Callable[[], Document]
    ) -> None:
        """A queue: what was tried, and what to paste. `more` is JSON of its own."""
        from parshall.design import tc

        queue = dict(chosen.nearest.queue)
        typed = tc.commands(chosen.place.resolved(queue), chosen.place.packet_bytes)
        trials = [
            {
                "queue": dict(each.queue),
                "verdict": each.verdict,
                "measured": {key: asdict(value) for key, value in each.measured.items()},
            }
            for each in chosen.trials
        ]
        pasted = {"queue": queue, "tc": list(typed.lines), "tc_note": typed.note}
        summary = {"kept": chosen.kept is not None, **more, **pasted, "trials": trials}
        self.answer(sentences, chosen.nearest.judged, summary, page, typed.lines)

    def answer(
        self,
        sentences: Sequence[str],
        judged: Sequence[Judged],
        summary: Mapping[str, Any],
        page: Callable[[], Document],
        commands: Sequence[str] = (),
    ) -> None:
        """Write the page, and print the answer, what was asked, and what to paste."""
        if self.output is not None:
            path = write_page(page, self.output, "design.html", self.drawn)
            if not self.quiet:
                note(f"page: {path}")
        if self.as_json:
            print_json({"answer": list(sentences), **summary, "asked": [_as_json(each) for each in judged]})
        elif not self.quiet:
            _show(sentences, judged, commands)


def _as_json(each: Judged) -> dict[str, Any]:
    return {**asdict(each.asked), "model": each.model, "simulated": asdict(each.simulated), "verdict": each.verdict}


def _show(sentences: Sequence[str], judged: Sequence[Judged], commands: Sequence[str]) -> None:
    from parshall.foundations.numbers import given, quantity
    from parshall.report.uncertainty import interval_text

    out = console()
    for line in sentences:
        out.print(line)
    shown = table("Asked", "", "bound", "model", "simulated", "verdict")
    for each in judged:
        asked = each.asked
        bound = f"{'>=' if asked.at_least else '<='} {given(asked.bound, asked.unit)}"
        model = "-" if each.model is None else quantity(each.model, asked.unit)
        shown.add_row(asked.label, bound, model, interval_text(each.simulated, asked.unit), each.verdict)
    out.print(shown)
    for line in commands:
        print(line)
