"""Synthetic long-range dependent series: exact Gaussian ones, and traffic that is long-range dependent for a reason.

What comes out is verified by `parshall_studies.closed_loop`.
"""

from __future__ import annotations

from parshall_studies.synthesis.gaussian import farima, fgn
from parshall_studies.synthesis.traffic import mg_infinity, on_off, pareto

__all__ = ["farima", "fgn", "mg_infinity", "on_off", "pareto"]
