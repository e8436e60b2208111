"""``parshall design buffer``, ``aqm`` and ``repetitions``: what to set in a scenario for what is asked of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from parshall.cli.console import console, print_json, table
from parshall.cli.groups import Changes, PageOptions, Printed, Work
from parshall.cli.options import ScenarioFile
from parshall.cli.pages import Files
from parshall.cli.values import asked_share, duration_s
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.design.judging import Judged
    from parshall.design.queueing import Demand, Place, QueueDesign
    from parshall.report.document import Document
    from parshall.scenario import Scenario


@dataclass(frozen=True)
class Bounds:
    """Demands on the queue of a link; at least one is given."""

    utilisation: Annotated[
        str | None, typer.Option(help='Used share of the link, at least, e.g. "98 %".', show_default=False)
    ] = None
    loss: Annotated[
        str | None, typer.Option(help='Share of packets lost, at most, e.g. "0.5 %".', show_default=False)
    ] = None
    delay: Annotated[
        str | None, typer.Option(help='Mean queueing delay, at most, e.g. "20 ms".', show_default=False)
    ] = None
    p99: Annotated[
        str | None, typer.Option(help="99th percentile of the queueing delay, at most.", show_default=False)
    ] = None
    link: Annotated[
        str | None, typer.Option(help="The link of the queue.", show_default="the bottleneck, or the only link")
    ] = None

    def demand(self, scenario: Scenario) -> tuple[Place, Demand]:
        """Return the place of the queue in a scenario, and what is asked of it.

        Raises
        ------
        InputError
            Nothing is asked, or a bound is none.
        """
        from parshall.design.queueing import Demand, place
        from parshall.foundations.errors import InputError

        where = place(scenario, self.link)
        if not any((self.utilisation, self.loss, self.delay, self.p99)):
            accepted = '--utilisation "98 %", --loss, --delay "20 ms", --p99'
            raise InputError(f"found nothing that is asked; accepted: {accepted}")
        return where, Demand(
            None if self.utilisation is None else asked_share("--utilisation", self.utilisation),
            None if self.loss is None else asked_share("--loss", self.loss),
            duration_s("--delay", self.delay),
            duration_s("--p99", self.p99),
        )


@verb
def buffer(
    scenario: ScenarioFile,
    *,
    changes: Changes,
    bounds: Bounds,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Find the smallest drop-tail buffer that keeps a link busy, or the largest within a delay."""
    from parshall.design import buffer as design
    from parshall.design.network_page import buffer_page

    out = _Output(page, page.files(), printed)
    where, demand = bounds.demand(changes.scenario(scenario))
    printed.note("simulating limits of the queue ...")
    with work.execution(bar=printed.bar("buffer")) as by:
        chosen = design.choose(where, demand, execution=by)
    size = {"limit_packets": chosen.limit(chosen.nearest), "bdp_packets": where.bdp_packets}
    out.queue(chosen, design.sentences(chosen), size, lambda: buffer_page(chosen))


@verb
def aqm(
    scenario: ScenarioFile,
    *,
    changes: Changes,
    bounds: Bounds,
    queues: Annotated[
        str | None,
        typer.Option(help="Names of queues, with commas.", show_default="all that Linux has"),
    ] = None,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Find the active queue managements that meet a demand."""
    from parshall.design import aqm as design
    from parshall.design.network_page import aqm_page

    out = _Output(page, page.files(), printed)
    where, demand = bounds.demand(changes.scenario(scenario))
    names = () if queues is None else design.checked(queues)
    printed.note("simulating queues ...")
    with work.execution(bar=printed.bar("aqm")) as by:
        chosen = design.choose(where, demand, names, execution=by)
    out.queue(chosen, design.sentences(chosen), {}, lambda: aqm_page(chosen))


@verb
def repetitions(
    scenario: ScenarioFile,
    *,
    changes: Changes,
    metric: Annotated[str, typer.Option(help="The quantity, e.g. group/web/completion_s.")] = "goodput_bps",
    within: Annotated[
        str, typer.Option(help="Half width of the 95 % interval, as a share of the mean: 5 %, or 0.05.")
    ] = "5 %",
    pilot: Annotated[int, typer.Option(help="Number of repetitions to begin with.", min=3)] = 8,
    most: Annotated[int, typer.Option(help="Largest number of repetitions.", min=3)] = 2000,
    work: Work,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Find the number of repetitions with which a confidence interval is narrow enough."""
    from parshall.design import repetitions as design
    from parshall.design.network_page import repetitions_page

    out = _Output(page, page.files(), printed)
    given = changes.scenario(scenario)
    share = asked_share("--within", within)
    printed.note("simulating repetitions ...")
    with work.execution(bar=printed.bar("repetitions")) as by:
        chosen = design.choose(given, metric, share, pilot=pilot, most=most, execution=by)
    looks = [{"repetitions": look.repetitions, **asdict(look.interval)} for look in chosen.looks]
    summary = {"kept": chosen.judged.verdict == "holds", "repetitions": chosen.repetitions, "looks": looks}
    out.answer(design.sentences(chosen), [chosen.judged], summary, lambda: repetitions_page(chosen))


@dataclass(frozen=True)
class _Output:
    """The destinations of an answer: a page, JSON, the console."""

    page: PageOptions
    drawn: Files
    printed: Printed

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
        self.page.write(page, "design.html", self.drawn, self.printed)
        if self.printed.as_json:
            print_json({"answer": list(sentences), **summary, "asked": [_as_json(each) for each in judged]})
        elif not self.printed.quiet:
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
