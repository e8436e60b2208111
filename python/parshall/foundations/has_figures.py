"""What has a page has figures: `HasFigures`, the same for results, comparisons, sweeps, designs, cards and studies.

A page knows what it shows, and not the other way round. So what is shown names the function that makes its page,
which is loaded when somebody looks.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from parshall.report.document import Document
    from parshall.report.pictures import Pictures


class HasFigures:
    """What has a page; a class says which: ``page="MODULE:FUNCTION"``, the function that makes it of an object."""

    _page: ClassVar[str]

    def __init_subclass__(cls, *, page: str | None = None, **others: object) -> None:
        super().__init_subclass__(**others)
        if page is not None:
            cls._page = page

    @cached_property
    def figures(self) -> Pictures:
        """The figures of its page by their names: as plotly's JSON, matplotlib's figures, files and tables."""
        pictures = import_module("parshall.report.pictures")
        made: Pictures = pictures.Pictures(self._document().figures)
        return made

    def _document(self) -> Document:
        """Its page."""
        module, _, function = self._page.partition(":")
        made: Document = getattr(import_module(module), function)(self)
        return made
