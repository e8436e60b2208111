"""Figures as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from parshall.foundations.errors import InputError
from parshall.foundations.extras import extra
from parshall.foundations.files import write_atomically
from parshall.report.figures import figures as all_figures
from parshall.report.layout import WIDTH_IN
from parshall.report.pictures import FORMATS, Picture
from parshall.report.plot import Plot
from parshall.results.records import Result


def write_figures(run: Result, directory: str | Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write every figure that `run` has as ``directory/NAME.FORMAT``.

    Returns
    -------
    list of Path
        What was written, in the order of the catalog.

    Raises
    ------
    InputError
        A format is not one of `FORMATS`.
    OSError
        A file cannot be written.
    """
    prepared = {figure.name: figure.prepare(run) for figure in all_figures()}
    return write_plots({name: plot for name, plot in prepared.items() if isinstance(plot, Plot)}, directory, formats)


def write_pdf(run: Result, path: str | Path) -> Path:
    """Write all figures that `run` has into one PDF, a page each.

    Raises
    ------
    InputError
        It has none.
    OSError
        The file cannot be written.
    """
    with extra("figures", "figures"):
        from parshall.report.static import pages  # noqa: PLC0415 - matplotlib takes a moment

    plots = [plot for figure in all_figures() if isinstance(plot := figure.prepare(run), Plot)]
    if not plots:
        raise InputError("figures: found nothing that can be drawn; the run recorded no samples and no transfers")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_atomically(target, pages(plots))


def write_plots(
    plots: Mapping[str, Plot],
    directory: str | Path,
    formats: Sequence[str] = ("png", "svg"),
    width_in: float = WIDTH_IN,
) -> list[Path]:
    """Write every plot as ``directory/NAME.FORMAT``, so many inches wide; raises as `write_figures`."""
    for file_format in formats:
        if file_format not in FORMATS:
            raise InputError(f'formats: found "{file_format}"; accepted: {", ".join(FORMATS)}')
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    return [
        Picture(name, "", plot).save(target / f"{name}.{file_format}", width_in)
        for name, plot in plots.items()
        for file_format in formats
    ]
