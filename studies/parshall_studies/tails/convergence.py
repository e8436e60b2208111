"""How many heavy-tailed values a mean of a given precision takes.

References: M. Crovella, L. Lipsky, Long-lasting transient conditions in simulations with heavy-tailed workloads, WSC
1997; Park & Tuan 2000, §4.3.
"""

from __future__ import annotations

from parshall.analysis.stats.confidence import StatisticsError
from parshall.analysis.stats.tails import mean_interval_of_pareto, tail_index_above_one


def error_exponent(tail_index: float) -> float:
    """E in error ~ m^e: 1/alpha - 1 for alpha < 2, else -1/2.

    Source: Park & Tuan 2000, §4.3; Crovella & Lipsky 1997.

    Examples
    --------
    >>> round(error_exponent(1.1), 3), error_exponent(3)
    (-0.091, -0.5)
    """
    tail_index_above_one(tail_index)
    return 1 / min(tail_index, 2) - 1


def values_needed(tail_index: float, relative_error: float, level: float = 0.95) -> float:
    """How many Pareto values a mean within `relative_error` takes, with probability `level`; may be astronomical.

    Source: Crovella & Lipsky 1997, §3.

    Raises
    ------
    StatisticsError
        If an argument is out of range.

    Examples
    --------
    >>> bool(values_needed(1.2, 0.1) > 1e6), bool(values_needed(3, 0.1) < 1000)
    (True, True)
    """
    if not 0 < relative_error < 1:
        raise StatisticsError(f"relative_error: found {relative_error}, accepted is a number between 0 and 1")
    low, high = mean_interval_of_pareto(tail_index, 1_000_000, level)
    now = max(1 - low, high - 1)
    return float(1_000_000 * (relative_error / now) ** (1 / error_exponent(tail_index)))
