"""The slow convergence of means of heavy tails."""

from __future__ import annotations

from parshall.analysis.stats.tails.convergence import error_exponent, mean_interval_of_pareto, values_needed

__all__ = ["error_exponent", "mean_interval_of_pareto", "values_needed"]
