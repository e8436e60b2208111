"""The index of heavy tails, loads that are comparable in spite of them, and how slowly means converge."""

from __future__ import annotations

from parshall_studies.tails.convergence import error_exponent, values_needed
from parshall_studies.tails.hill import HillPlot, TailIndex, hill, hill_plot
from parshall_studies.tails.normalisation import Normalised, location, normalised
from parshall_studies.tails.power_law import Comparison, PowerLaw, power_law

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
    "normalised",
    "power_law",
    "values_needed",
]
