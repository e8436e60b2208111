"""What Park & Tuan 2000 print: their set-up (§5.1), and what the text says of the figures and of Table III.

Figures have no tables of values; what is checked is what the text claims of them.
"""

from __future__ import annotations

TAIL_INDICES = (1.05, 1.35, 1.65, 1.95)
"""§5.1; Fig. 10."""

LOADS_MBPS = (2.5, 5.0, 7.5)
"""Background traffic of Figs 6 and 7."""

THRESHOLD_PEAK = 4
"""Fig. 6(a): where the curve of TCP Reno at 5 Mbit/s peaks."""

LARGEST_GAIN = 0.45
"""Fig. 9: TCP Rate at an RTT of 450 ms, "up to 45 %"."""

TAIL_RATIO = 2.0
"""Fig. 10: the gain at 1.05 is at least this many times that at 1.95."""

BEST_AGGRESSIVENESS = 6.0
"""Figs 11 and 12: A*."""

ADJUSTMENTS = (0.01, 0.05, 0.25)
"""Fig. 11: nu."""

TOTAL_PEAK = 6
"""Table III: the total throughput grows up to so many steered connections, and falls then."""

SHORT_GAINS = {
    "I": (0.254, 0.232, 0.316, 0.297),
    "II": (0.045, 0.1375, 0.2023, 0.2539),
    "III": (0.063, 0.092, 0.192, 0.272),
}
"""Table II: gain of connections of 100, 500, 1000 and 2000 s; a table known beforehand (I), learnt in 300 s (II), in
30 s (III)."""

LEARNING_S = {"I": 0, "II": 300, "III": 30}
"""Table II."""

TABLE3_LARGEST = {2: 821.6, 4: 439.1, 6: 302.2, 8: 227.3, 10: 179.4, 12: 143.7, 14: 120.3, 16: 94.2, 18: 78.4}
TABLE3_SMALLEST = {2: 801.6, 4: 418.6, 6: 286.7, 8: 207.4, 10: 154.3, 12: 116.2, 14: 93.2, 16: 77.2, 18: 54.9}
"""Table III: what the connections with most and least got."""

TABLE3_TOTAL = {2: 1623.2, 4: 1725.0, 6: 1764.0, 8: 1738.0, 10: 1692.0, 12: 1609.9, 14: 1537.9, 16: 1405.9, 18: 1251.0}
"""Table III: total throughput of so many steered connections; the unit is not named."""
