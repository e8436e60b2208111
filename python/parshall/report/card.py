"""The answer as a picture of 1200 x 630 pixels, for chats, slides and readmes: what opens the page of a result.

It has the result's name, its first sentences, the numbers that matter most, and the first panel of the figure that
opens the page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from parshall.foundations.errors import InputError, OutputExistsError
from parshall.foundations.extras import extra
from parshall.foundations.files import write_atomically
from parshall.report.document import Document
from parshall.report.headline import Headline, Tile
from parshall.report.plot import Plot
from parshall.report.sentences import separated
from parshall.results.records import storage

FORMATS = ("png", "svg")
TILES = 3
"""At most so many numbers are shown."""


@dataclass(frozen=True)
class Card:
    """The contents of the picture.

    Parameters
    ----------
    title
        The name of the result.
    facts
        Short facts above it: what made it, when, with which seed.
    warnings
        What a reader must know first, in a few words each.
    sentences
        What the result shows, the most important first.
    tiles
        The numbers that matter most.
    plot
        A figure of one panel; None: there is none.
    """

    title: str
    facts: Sequence[str]
    warnings: Sequence[str]
    sentences: Sequence[str]
    tiles: Sequence[Tile]
    plot: Plot | None


def card_of(page: Document) -> Card:
    """The card of a page.

    Raises
    ------
    InputError
        The page says no finding.
    """
    sentences = separated(page.finding)
    if not sentences:
        raise InputError(
            f'card: {page.kind} "{page.title}" has no finding; accepted: a run or an observation with links or flows'
        )
    opening = [section for section in page.sections if section.is_opening]
    tiles = [block.content for section in opening for block in section.blocks if isinstance(block.content, Headline)]
    plots = [figure.plot for section in opening for figure in section.figures]
    return Card(
        page.title,
        [page.kind, *page.byline],
        list(dict.fromkeys(lead for lead, _ in page.warnings)),
        sentences,
        tiles[0].first(TILES) if tiles else [],
        replace(plots[0], panels=plots[0].panels[:1], columns=1) if plots else None,
    )


def write_card(make: Callable[[], Document], path: str | Path, *, overwrite: bool = False) -> Path:
    """Write the card of the page that `make` returns, as PNG or SVG; the end of the name says which.

    Raises
    ------
    InputError
        The file ends otherwise, or the page says no finding.
    OutputExistsError
        The file is there already, and `overwrite` is false.
    MissingExtraError
        matplotlib is not installed.
    StorageError
        It cannot be written.
    """
    target = Path(path)
    file_format = target.suffix.removeprefix(".").lower()
    if file_format not in FORMATS:
        raise InputError(f"card: found {target}; accepted: a file that ends in .png or .svg")
    if target.exists() and not overwrite:
        raise OutputExistsError(f"{target} exists; write another name, or --force (in Python overwrite=True)")
    with extra("figures", "card"):
        from parshall.report.card_drawing import image  # noqa: PLC0415 - matplotlib takes a moment
    content = image(card_of(make()), file_format)

    def write() -> Path:
        target.parent.mkdir(parents=True, exist_ok=True)
        return write_atomically(target, content)

    return storage.guarded(write)
