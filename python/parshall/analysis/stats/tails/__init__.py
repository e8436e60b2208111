"""Heavy tails: their index, how slowly their means converge, and loads that are comparable in spite of that."""

from __future__ import annotations

from parshall.analysis.stats.tails.convergence import error_exponent, mean_interval_of_pareto, values_needed
from parshall.analysis.stats.tails.hill import HillPlot, TailIndex, hill, hill_plot
from parshall.analysis.stats.tails.normalisation import Normalised, location, normalised
from parshall.analysis.stats.tails.power_law import Comparison, PowerLaw, power_law

__all__ = [
    "Comparison",
    "HillPlot",
    "Normalised",
    "PowerLaw",
    "TailIndex",
    "error_exponent",
    "hill",
    "hill_plot",
    "location",
    "mean_interval_of_pareto",
    "normalised",
    "power_law",
    "values_needed",
]
