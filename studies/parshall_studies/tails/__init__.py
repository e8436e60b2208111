"""The index of heavy tails, and loads that are comparable in spite of them.

How slowly the means of heavy tails converge is `parshall.analysis.stats.tails`.
"""

from __future__ import annotations

from parshall_studies.tails.hill import HillPlot, TailIndex, hill, hill_plot
from parshall_studies.tails.normalisation import Normalised, location, normalised
from parshall_studies.tails.power_law import Comparison, PowerLaw, power_law

__all__ = [
    "Comparison",
    "HillPlot",
    "Normalised",
    "PowerLaw",
    "TailIndex",
    "hill",
    "hill_plot",
    "location",
    "normalised",
    "power_law",
]
