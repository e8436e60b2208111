"""What Goga, Loiseau & Gonçalves 2011 say of Figs 1 and 2, and Park & Tuan 2000 of Fig. 4(a).

The figures have no table of values; the trends are those of the text (§3). A sign is that of the metric's change with a
*heavier* tail (a smaller tail index): +1 grows, -1 falls, 0 insensitive, None: not said.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Trend:
    """Signs of a panel: of the loss rate, the mean queueing delay and the throughput."""

    loss: int | None
    delay: int | None
    throughput: int | None
    said: str


FIG1 = "fig1"
FIG2 = "fig2"

TRENDS: dict[tuple[int, int, bool], Trend] = {
    (45, 96, True): Trend(1, 1, 1, "loss and delay degrade, throughput increases"),
    (45, 896, True): Trend(1, 1, 1, "loss and delay degrade, throughput increases"),
    (45, 96, False): Trend(-1, -1, 0, "inverted, but throughput almost insensitive"),
    (45, 896, False): Trend(-1, -1, -1, "most results are inverted"),
    (500, 100, False): Trend(0, 0, 0, "roughly insensitive, but for 1.1"),
    (500, 1000, False): Trend(None, None, None, "sensitive; the direction is not said"),
    (500, 100, True): Trend(None, None, None, "not shown"),
    (500, 1000, True): Trend(None, None, None, "not shown"),
}
"""By number of sources, buffer in packets, and whether ssthresh is cached ("without slow start")."""

TAIL_INDICES = (1.1, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0, 3.5, 4.0)
"""From 1.1 to 4; the figures show nine, read off their axes."""

H_TAIL_INDICES = (1.05, 1.15, 1.25, 1.35, 1.45, 1.55, 1.65, 1.75, 1.85, 1.95)
"""Fig. 4(a): 1.05 to 1.95."""


def published_sign(setting: tuple[int, int, bool], metric: str) -> int | None:
    """What is said of a metric (`measure.METRICS`) in a setting."""
    trend = TRENDS[setting]
    return {"loss": trend.loss, "delay_ms": trend.delay, "throughput_mbps": trend.throughput}[metric]
