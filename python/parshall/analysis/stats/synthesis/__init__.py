"""Synthetic long-range dependent series: exact Gaussian ones, and traffic that is long-range dependent for a reason.

What comes out is verified by `parshall_studies.closed_loop`.
"""

from __future__ import annotations

from parshall.analysis.stats.synthesis.gaussian import farima, fgn
from parshall.analysis.stats.synthesis.traffic import mg_infinity, on_off, pareto

__all__ = ["farima", "fgn", "mg_infinity", "on_off", "pareto"]
