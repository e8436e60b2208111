"""``parshall open``: the page of a result, in the system's browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from parshall.cli.console import FAILURE, fail, note
from parshall.cli.options import Quiet
from parshall.cli.verb import verb


@verb
def open_(
    place: Annotated[
        Path | None,
        typer.Argument(
            help="The directory of a result, a store of sweeps, or a page.", show_default="the newest result in runs"
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Open the page of a result in the system's browser."""
    import webbrowser

    page = page_of(place or newest(Path("runs"))).resolve()
    if not quiet:
        note(f"page:    {page}")
    if not webbrowser.open(page.as_uri()):
        fail("no browser was found; open the page by hand, or set the environment variable BROWSER", FAILURE)


def newest(folder: Path) -> Path:
    """The result of a folder that was written last.

    Raises
    ------
    InputError
        There is none.
    """
    from parshall.foundations.errors import InputError
    from parshall.results.records.storage import RUN_FILE

    runs = [path for path in folder.glob("*/") if (path / RUN_FILE).exists()]
    if not runs:
        raise InputError(f"found no result in {folder}; write the directory of one")
    return max(runs, key=lambda path: (path / RUN_FILE).stat().st_mtime_ns)


def page_of(place: Path) -> Path:
    """The page of a result; of a store, its own, or else the one of a sweep that was written last.

    Raises
    ------
    InputError
        There is none.
    """
    from parshall.foundations.errors import InputError
    from parshall.results.records.storage import OBSERVED_PAGE, REPORT_FILE, holds_result

    if place.is_file() and place.suffix == ".html":
        return place
    candidates = [path for path in (place / REPORT_FILE, place / OBSERVED_PAGE) if path.exists()]
    candidates = candidates or sorted((place / "pages").glob("*.html"), key=lambda path: path.stat().st_mtime_ns)
    if candidates:
        return candidates[-1]
    if holds_result(place):
        raise InputError(f"{place} has no page; `parshall report {place}` writes it")
    raise InputError(f"{place}: no page; accepted: the directory of a result, a store of sweeps, or a page")
