"""``parshall figure``: a figure of any page as a file, for a paper or as data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from parshall.cli.console import console, note, table
from parshall.cli.options import WIDTH, AcceptInvalid, Quiet, Width, file_option, store_option
from parshall.cli.verb import verb

if TYPE_CHECKING:
    from parshall.report.document import Document
    from parshall.report.pictures import Pictures


@verb
def figure(
    result: Annotated[
        str,
        typer.Argument(
            metavar="RESULT", help="The directory of a result; with --store, the name of a sweep.", show_default=False
        ),
    ],
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME", help="The name of a figure; without it, the figures are listed.", show_default=False
        ),
    ] = None,
    *,
    output: Annotated[Path | None, file_option("The file; its suffix names the format.", "NAME.pdf")] = None,
    file_format: Annotated[
        str | None, typer.Option("--format", help="csv, pdf, pgf, png or svg.", show_default="that of --output, or pdf")
    ] = None,
    width: Width = WIDTH,
    beside: Annotated[
        list[str] | None,
        typer.Option(metavar="RESULT", help="Another result: the figures are those of the comparison; repeatable."),
    ] = None,
    store: Annotated[Path | None, store_option("RESULT is a directory")] = None,
    accept_invalid: AcceptInvalid = False,
    quiet: Quiet = False,
) -> None:
    """Write a figure of a page as PDF, PGF, PNG or SVG, in the width of a paper's column, or its data as CSV."""
    from parshall.foundations.errors import InputError
    from parshall.report.pictures import FORMATS, width_of
    from parshall.results.records.storage import guarded

    if store is not None and beside:
        raise InputError("--beside is for results; `parshall compare --store` compares sweeps")
    wanted = file_format or (output.suffix.removeprefix(".") if output else "") or "pdf"
    if wanted not in FORMATS:
        raise InputError(f'--format: found "{wanted}"; accepted: {", ".join(FORMATS)}')
    inches = width_of(width)
    pictures = _pictures(result, beside or [], store, accept_invalid)
    if name is None:
        _list(pictures)
        return
    picture = pictures[name]
    target = output or Path(f"{name}.{wanted}")
    if target.suffix.removeprefix(".").lower() != wanted:
        raise InputError(f"--output: found {target}; a file of --format {wanted} ends in .{wanted}")
    written = guarded(lambda: picture.save(target, inches))
    if not quiet:
        note(str(written))


def _pictures(result: str, beside: list[str], store: Path | None, accept_invalid: bool) -> Pictures:
    """The figures of the page of a result, a comparison or a sweep."""
    from parshall.report.pictures import Pictures

    return Pictures(_document(result, beside, store, accept_invalid).figures)


def _document(result: str, beside: list[str], store: Path | None, accept_invalid: bool) -> Document:
    from parshall.results.loading import load_result, page_of

    if store is not None:
        from parshall.campaign import Sweep
        from parshall.campaign.page import document as of_sweep

        return of_sweep(Sweep.load(store, result))
    if beside:
        from parshall.report import compare
        from parshall.report.comparison_page import document as of_comparison

        places = [result, *beside]
        return of_comparison(compare(*map(load_result, places), names=places, accept_invalid=accept_invalid))
    return page_of(load_result(result))


def _list(pictures: Pictures) -> None:
    shown = table("", "name", "figure")
    for name, picture in pictures.items():
        shown.add_row(name, picture.title)
    console().print(shown)
