"""What the source says, in its text and tables.

References: Guillier, Hablot & Vicat-Blanc Primet 2007.
"""

from __future__ import annotations

RESPONSE: dict[str, tuple[float, float]] = {
    "reno": (1.22, 0.5),
    "bic": (15.5, 0.5),
    "highspeed": (0.12, 0.835),
    "scalable": (0.08, 1.0),
}
"""Table 1: c and d of the mean window c/p^d."""

WINDOW, PACKETS, HOURS = 83_333.0, 5e9, 5 / 3
"""§1: Reno at 10 Gbit/s and 100 ms: its window, and how far losses may be apart at most."""

DECREASE: dict[str, float] = {"reno": 1 / 2, "bic": 1 / 8, "cubic_2005": 1 / 5, "scalable": 1 / 8}
"""Table 2, beta: what a loss takes of the window. Reno's increase is 1 packet a round trip, Scalable TCP's 1 %."""

TABLE3 = """
A 1000 20 0.8 0    B 10 20 0.8 0    C 1000 200 0.8 0    D 10 200 0.8 0
E 1000 20 2.0 0.8  F 10 20 2.0 0.8  G 1000 200 2.0 0.8  H 10 200 2.0 0.8
I 1000 20 1.0 1.5  J 10 20 1.0 1.5  K 1000 200 1.0 1.5  L 10 200 1.0 1.5
"""

BUFFER_GAIN = 0.95
"""§5.2: what the default buffers lose of the tuned goodput."""

DEFAULT_MBPS, TUNED_MBPS, TUNED_BACK_MBPS = 44.3, 923.0, 651.0
"""Table 6: goodput with default buffers, and with tuned ones in either direction."""

FIG3 = {"together": (409.0, 83.0), "staggered": (425.0, 28.0)}
"""Mean and standard deviation, s, of the times of 17 files of 30 GB, BIC, 19.8 ms; starts at once, or 4 s apart."""

FIG4_S, FIG4_FULL_S = 7.2, 5.0
"""200 messages at 11.6 ms; when the full rate is reached."""

FIG10_SD = {"scalable": 294.0, "cubic_2005": 114.0}
"""Standard deviation of completion times at C_g = 2.1, s."""
