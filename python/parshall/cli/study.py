"""``parshall study``: regenerate the tables and figures of a published study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from parshall.cli import completion
from parshall.cli.console import console, note, print_json, table
from parshall.cli.groups import PageOptions, Printed, StudyWork
from parshall.cli.options import INSTRUMENTS, AtOnce, Instrument, Scale
from parshall.cli.pages import FIGURES
from parshall.cli.values import one_of, scale_named, shard_of
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.studies.running import Execution
    from parshall.studies.study import Findings, Study

Joint = Annotated[
    int | None,
    typer.Option(
        "--joint",
        metavar="N",
        help="Judge every claim in N settings of what the source leaves unsaid, instead of the page of the study.",
        show_default=False,
    ),
]


@verb
def study(
    name: Annotated[
        str,
        typer.Argument(
            help="A name from `parshall list studies`.", show_default=False, autocompletion=completion.studies
        ),
    ],
    *,
    scale: Scale = "quick",
    page: PageOptions,
    work: StudyWork,
    instrument: Instrument = "simulate",
    at_once: AtOnce = False,
    joint: Joint = None,
    printed: Printed,
) -> None:
    """Compute the figures and tables of a published study again, and print our values beside its own."""
    from parshall.studies.catalog import find
    from parshall.studies.running import Execution

    size, chosen = scale_named(scale), find(name)
    part = shard_of(work.shard, page.output, as_json=printed.as_json)
    kind = one_of("--instrument", instrument, INSTRUMENTS)
    by = Execution(work.store, work.workers, work.scheduler, part, at_once, kind)
    if joint is None:
        carry_out(chosen, size, by, page, printed)
    else:
        _judge_jointly(chosen, joint, size, by, page, printed)


def _judge_jointly(
    chosen: Study,
    count: int,
    scale: Literal["quick", "paper"],
    by: Execution,
    page: PageOptions,
    printed: Printed,
) -> None:
    """Judge every claim in so many settings, write the page, and print what the best of them carries."""
    from parshall.results.records import storage
    from parshall.studies.joint_page import document, headline
    from parshall.studies.page import write_both
    from parshall.studies.running import run_joint

    drawn = page.files()
    judgement = run_joint(chosen, count, scale, printed.note, by)
    if judgement is None:
        if not printed.quiet:
            note(f"shard {by.shard} of the joint design is done; the same command without --shard collects")
        return
    if (output := page.output) is not None:
        made, listed = document(chosen, scale, judgement), judgement.as_json()
        storage.guarded(lambda: drawn.write(made, output / FIGURES))
        written = storage.guarded(lambda: write_both(made, "joint.html", listed, "joint.json", output))
        printed.written(written[-1])
    if printed.as_json:
        print_json(judgement.as_json())
    elif not printed.quiet:
        console().print(headline(judgement))


def carry_out(
    chosen: Study,
    scale: Literal["quick", "paper"],
    by: Execution,
    page: PageOptions,
    printed: Printed,
) -> Findings:
    """Do a study or suite, write its page, and print its findings; a shard has none."""
    from parshall.report.claims import COLUMNS, cells
    from parshall.results.records import storage
    from parshall.studies import headline
    from parshall.studies.page import document, write
    from parshall.studies.running import run

    drawn = page.files()
    findings = run(chosen, scale, printed.note, by)
    if by.shard is not None:
        if not printed.quiet:
            note(f"shard {by.shard} of {chosen.name} is done; the same command without --shard collects")
        return findings
    if (output := page.output) is not None:
        made = document(chosen, scale, findings)
        storage.guarded(lambda: drawn.write(made, output / FIGURES))
        printed.written(storage.guarded(lambda: write(made, findings.checks, output, chosen.kind))[-1])
    if printed.as_json:
        print_json([each.as_json() for each in findings.checks])
    elif not printed.quiet:
        shown = table(chosen.title, *COLUMNS)
        for each in findings.checks:
            shown.add_row(*cells(each))
        console().print(shown)
        told = [headline.of_criteria] if chosen.kind == "suite" else [headline.headline, headline.further]
        console().print(" ".join(filter(None, (say(findings.checks) for say in told))))
    return findings
