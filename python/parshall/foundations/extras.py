"""Packages that only a part of Parshall needs: the extras of its installation.

`pip install parshall` has what predicts, simulates, emulates and observes. `parshall doctor` says what of the rest is
there; where a package is missing, one message has the command that installs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from parshall.foundations.errors import MissingExtraError

EXTRAS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "query": (("duckdb", "pyarrow"), "SQL over many runs"),
    "figures": (("matplotlib",), "figures as PNG, SVG and PDF files"),
    "studies": (("parshall_studies",), "published studies regenerated; variability of flows, RIO routers"),
    "cluster": (("dask", "distributed"), "sweeps and studies on a Dask cluster"),
    "explore": (("starlette", "uvicorn"), "the explorer in the browser"),
    "xarray": (("xarray",), "sweeps as datasets of xarray"),
    "pandas": (("pandas", "pyarrow"), "tables as pandas frames"),
}
"""The modules of each extra, and what they are for."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Imports within need the extra of this name.

    Raises
    ------
    MissingExtraError
        One of its packages is not installed; the message has the command that installs it.

    Examples
    --------
    >>> with extra("figures", "report --figures"):
    ...     import no_such_module
    Traceback (most recent call last):
        ...
    parshall.foundations.errors.MissingExtraError: report --figures: no_such_module is not installed; \
pip install "parshall[figures]"
    """
    try:
        yield
    except ModuleNotFoundError as error:
        root = (error.name or "").partition(".")[0]
        if root == "parshall":
            raise
        raise missing(name, purpose, root) from None


def missing(name: str, purpose: str, package: str) -> MissingExtraError:
    """The error for a package that the extra of this name would install.

    >>> missing("studies", "itb", "parshall-studies")
    MissingExtraError('itb: parshall-studies is not installed; pip install "parshall[studies]"')
    """
    return MissingExtraError(f'{purpose}: {package} is not installed; pip install "parshall[{name}]"')
