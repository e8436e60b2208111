"""The catalog of figures: one small file each, declared once, drawn interactively and for print.

To add one, write a file with `prepare(run) -> Plot | Missing` and its `FIGURE`, and add a line here; the page,
``parshall report --figures`` and the tests take it from this list.
"""

from __future__ import annotations

from functools import cache

from parshall.foundations import plugins
from parshall.report.figures import (
    completion,
    cwnd,
    delay,
    goodput,
    internals,
    latency,
    overview,
    rounds,
    shares,
    traffic,
)
from parshall.report.plot import Figure

CATALOG: tuple[Figure, ...] = (
    overview.FIGURE,
    shares.FIGURE,
    cwnd.FIGURE,
    internals.FIGURE,
    traffic.FIGURE,
    latency.FIGURE,
    delay.FIGURE,
    goodput.FIGURE,
    completion.FIGURE,
    rounds.FIGURE,
)
"""In the order of the page."""


@cache
def figures() -> tuple[Figure, ...]:
    """Every figure that there is: Parshall's own, and those of installed packages."""
    return (*CATALOG, *plugins.named("figures", "figure", Figure, [figure.name for figure in CATALOG]))
