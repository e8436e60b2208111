"""Files that are there completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from parshall.errors import InputError
from parshall.report.figures import CATALOG
from parshall.report.plot import Plot
from parshall.report.source import RunLike
from parshall.report.static import image

FORMATS = ("png", "svg", "pdf")


def write_figures(run: RunLike, directory: str | Path, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
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
    prepared = {figure.name: figure.prepare(run) for figure in CATALOG}
    return write_plots({name: plot for name, plot in prepared.items() if isinstance(plot, Plot)}, directory, formats)


def write_plots(
    plots: Mapping[str, Plot], directory: str | Path, formats: Sequence[str] = ("png", "svg")
) -> list[Path]:
    """Write every plot as ``directory/NAME.FORMAT``; raises as `write_figures`."""
    for file_format in formats:
        if file_format not in FORMATS:
            raise InputError(f'formats: found "{file_format}"; accepted: {", ".join(FORMATS)}')
    target = Path(directory)
    target.mkdir(parents=True, exist_ok=True)
    return [
        write_atomically(target / f"{name}.{file_format}", image(plot, file_format).content)
        for name, plot in plots.items()
        for file_format in formats
    ]


def write_atomically(path: Path, content: bytes) -> Path:
    """Write `path` so that it has its old content or the new one, whatever happens."""
    aside = path.with_name(f".{path.name}.partial")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)
    return path
