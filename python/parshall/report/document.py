"""A page: sections of prose, tables and figures, in one self-contained HTML file.

Runs, studies, designs, observations, sweeps and comparisons say what they found as a `Document`; how it looks is
decided here, once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from parshall.foundations.files import write_atomically
from parshall.report.html import Drawing, drawing, frame, template
from parshall.report.plot import Plot
from parshall.report.sentences import separated


@dataclass(frozen=True)
class Cell:
    """A number (or words), the half width of its confidence interval ('' without one), and a bar from 0 to 1."""

    text: str
    spread: str = ""
    bar: float | None = None


@dataclass(frozen=True)
class Table:
    """Rows of printed text under a header; the first column names the rows.

    Parameters
    ----------
    caption
        What it shows; '' for none.
    header
        A label a column, with its unit unless `units` has it.
    rows
        As many texts or cells a row as there are labels; what is between backticks of a text is set as code.
    numbers
        Which columns hold numbers, and are set flush right.
    units
        The unit of each column, '' for none; no column has one if it is empty.
    note
        A sentence below; '' for none.

    Raises
    ------
    ValueError
        A row has another length than the header.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]
    numbers: Sequence[int] = ()
    units: Sequence[str] = ()
    note: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.header):
                raise ValueError(
                    f"table {self.caption!r}, row {number}: {len(row)} cells for {len(self.header)} columns"
                )


@dataclass(frozen=True)
class Chart:
    """A figure: a name (of its file, and in links), a title, and what it shows."""

    name: str
    title: str
    plot: Plot


@dataclass(frozen=True)
class Chooser:
    """Figures of which one is shown, by fields that choose a value each: the content of a block ``chooser``.

    Parameters
    ----------
    labels
        Of the fields.
    figures
        By the values of the fields, in their order. They are for the screen: paper has the figures of sections alone.
    """

    labels: Sequence[str]
    figures: Mapping[tuple[str, ...], Chart]

    @property
    def values(self) -> list[list[str]]:
        """Return the choices of each field."""
        return [list(dict.fromkeys(values)) for values in zip(*self.figures, strict=True)]

    @property
    def keys(self) -> dict[str, Chart]:
        """The figures by the values as one text, as the page's script finds them."""
        return {"|".join(values): figure for values, figure in self.figures.items()}


@dataclass(frozen=True)
class Block:
    """A block with a look of its own: a macro of ``blocks.html.j2``, and its arguments."""

    kind: Literal[
        "chooser",
        "code",
        "command",
        "dials",
        "facts",
        "links",
        "missing",
        "network",
        "predictions",
        "snippets",
        "table",
        "tiles",
        "words",
    ]
    content: Any


@dataclass(frozen=True)
class Section:
    """A heading, and what stands under it: paragraphs, then tables, figures and blocks.

    Parameters
    ----------
    name
        Of links to it; else it has its number.
    folded
        Where given, the blocks are folded under these words.
    is_opening
        Whether it opens the page: its heading is for screen readers, and it is not among the contents.
    closed
        Where given, all that stands under the heading is folded under these words.
    """

    heading: str
    paragraphs: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Chart] = ()
    blocks: Sequence[Block] = ()
    name: str = ""
    folded: str = ""
    is_opening: bool = False
    closed: str = ""


@dataclass(frozen=True)
class Document:
    """A page.

    Parameters
    ----------
    kind
        What sort of page it is: ``study``, ``design``.
    title, description
        Its heading, and one sentence below it.
    byline
        Short facts: scale, version, date.
    sections
        In the order of reading.
    warnings
        What a reader must know first: a few words in bold, and a sentence.
    finding
        What it shows, in a few sentences: stands first.
    """

    kind: str
    title: str
    description: str
    byline: Sequence[str]
    sections: Sequence[Section]
    warnings: Sequence[tuple[str, str]] = ()
    finding: str = ""

    def __post_init__(self) -> None:
        names = [figure.name for figure in self.figures]
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise ValueError(f"figures of one page need names of their own, found twice: {sorted(repeated)}")

    @property
    def summary(self) -> str:
        """The first sentence of what it shows, else its description; empty without either."""
        return next(iter(separated(self.finding)), self.description)

    @property
    def plots(self) -> dict[str, Plot]:
        """Return the data of its figures, by their names."""
        return {figure.name: figure.plot for figure in self.figures}

    @property
    def choices(self) -> dict[str, Chart]:
        """Return the choices of its fields, by their values."""
        blocks = (block.content for section in self.sections for block in section.blocks if block.kind == "chooser")
        return {key: figure for content in blocks for key, figure in content.keys.items()}

    @property
    def figures(self) -> list[Chart]:
        """All figures, in the order of reading."""
        return [figure for section in self.sections for figure in section.figures]


def document_html(document: Document) -> str:
    """The page as one self-contained HTML document."""
    return template("document.html.j2").render(
        kind=document.kind,
        name=document.title,
        description=document.description,
        byline=document.byline,
        warnings=document.warnings,
        finding=document.finding,
        summary=document.summary,
        sections=[_view(section, number, drawing) for number, section in enumerate(document.sections, 1)],
        **frame(document.plots, {key: (each.title, each.plot) for key, each in document.choices.items()}),
    )


def sections_html(sections: Sequence[Section], draw: Callable[[str, str, Plot], Drawing] = drawing) -> str:
    """Sections without the page around them, their figures as `draw` has them."""
    section = template("sections.html.j2").module.section  # type: ignore[attr-defined]
    return "\n".join(section(_view(each, number, draw)) for number, each in enumerate(sections, 1))


def _view(section: Section, number: int, draw: Callable[[str, str, Plot], Drawing]) -> dict[str, Any]:
    """A section as the template has it."""
    return {
        "heading": section.heading,
        "folded": section.folded,
        "closed": section.closed,
        "is_opening": section.is_opening,
        "paragraphs": section.paragraphs,
        "tables": section.tables,
        "figures": [draw(figure.name, figure.title, figure.plot) for figure in section.figures],
        "blocks": section.blocks,
        "name": section.name or f"section-{number}",
    }


def write_document(document: Document, path: str | Path, aside: Path | None = None) -> Path:
    """Write the page to `path`, all or nothing; `aside` as in `write_atomically`.

    Raises
    ------
    OSError
        It cannot be written.
    """
    return write_atomically(Path(path), document_html(document), aside)
