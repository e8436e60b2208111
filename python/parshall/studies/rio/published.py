"""What Malouch & Liu (INRIA RR-4469, 2002) print: columns "Analytical" of Tables 1 to 3, and what section 5 says.

The curves of Figs 6 to 13 are plots without printed values: what the text says of them is checked instead. The
columns "Simulation" are in `simulated.PUBLISHED`.
"""

from __future__ import annotations

from collections.abc import Mapping

ANALYTIC: Mapping[str, Mapping[str, float]] = {
    "table1": {"T": 5927.97, "T_in": 3764.09, "p_in": 0.004134, "p_out": 0.015095, "q": 33.79},
    "table2": {"T": 5854.04, "T_in": 3757.99, "p_in": 0.000005, "p_out": 0.023605, "q": 21.70},
    "table3": {"T": 5936.85, "T_in": 3766.17, "p_in": 0.003145, "p_out": 0.016698, "q": 35.65},
}

TABLE_ACCESS_DELAY_S = 0.016
"""What has to be added to the RTTs for the tables: 1000 bytes twice at 1 Mbit/s. Section 5 has none."""

LEAST_OUT_PROBABILITY = 0.0249
"""§5.3: p_out^max for p_in <= 0.006 with p_in^max = 0."""

REACHING = {0.06: 0, 1.0: 4}
"""§5.1: how many of five sessions with RTTs of 0.4 to 0.8 s reach their reservation, by p_out^max."""

READ_OFF_PER_S = 0.5
"""Figs 6 and 7 are read to about this, packets/s: 1 % of an axis that reaches beyond 40."""
