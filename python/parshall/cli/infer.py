"""``parshall infer``: the scenario that explains a capture, and what would help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import note, print_json
from parshall.cli.groups import Printed
from parshall.cli.options import Force, Join, WithPage, file_option
from parshall.cli.verb import verb


@verb
def infer(
    files: Annotated[list[Path], typer.Argument(help="A capture, or with --join its parts.", show_default=False)],
    *,
    output: Annotated[
        Path | None, file_option("The scenario, in TOML; its page is written beside it.", "printed")
    ] = None,
    join: Join = False,
    replay: Annotated[
        bool, typer.Option("--replay", help="Write each transfer with its time and size, instead of distributions.")
    ] = False,
    controls: Annotated[
        str | None,
        typer.Option(
            "--controls",
            metavar="NAME,NAME",
            help="Congestion controls to choose from; an empty text: none is inferred.",
            show_default="those of the catalog",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check/--no-check", help="Simulate the scenario and compare it with the capture, or leave that out."
        ),
    ] = True,
    change: Annotated[
        bool, typer.Option("--what-if/--no-what-if", help="Simulate changes that might help, or leave that out.")
    ] = True,
    explore: Annotated[bool, typer.Option("--open", help="Open the explorer on the scenario; needs --output.")] = False,
    force: Force = False,
    page: WithPage = True,
    printed: Printed,
) -> None:
    """Infer the scenario that explains a capture, check it against the capture, and simulate what would help."""
    from parshall.foundations.errors import InputError
    from parshall.inference import infer as inferred
    from parshall.inference.page import document, sentences, to_json
    from parshall.inference.response import CONTROLS
    from parshall.report.document import write_document

    if explore and output is None:
        raise InputError("--open: found no --output; the explorer needs the file of the scenario")
    beside = None if output is None or not page else output.with_suffix(".html")
    _require_new(output, beside, force=force)
    tried = CONTROLS if controls is None else [each for each in controls.split(",") if each]
    made = inferred(*files, join=join, replay=replay, controls=tried)
    checked = made.check() if check else None
    effects = made.what_if() if change else None
    if output is not None:
        made.save(output, overwrite=force)
    elif not printed.as_json:
        print(made.text, flush=True)
    if beside is not None:
        write_document(document(made, checked, effects), beside)
    if printed.as_json:
        print_json(to_json(made, checked, effects))
    if not printed.silent:
        for line in (*(each.text for each in sentences(made, checked, effects)), *_written(output, beside)):
            note(line)
    if explore:
        from parshall.cli.explore import explore as opened

        opened(place=output)


def _require_new(*files: Path | None, force: bool) -> None:
    from parshall.foundations.errors import OutputExistsError

    for file in _written(*files):
        if Path(file).exists() and not force:
            raise OutputExistsError(f"{file} exists already; write another name, or --force")


def _written(*files: Path | None) -> list[str]:
    return [str(file) for file in files if file is not None]
