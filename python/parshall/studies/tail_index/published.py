"""What Goga, Loiseau & Gonçalves 2011 say of Figs 1 and 2, and Park & Tuan 2000 of Fig. 4(a).

The figures have no table of values; the trends are those of the text (§3). A sign is that of the metric's change with a
*heavier* tail (a smaller tail index): +1 grows, -1 falls, 0 insensitive, None: not said.
"""

from __future__ import annotations

from dataclasses import dataclass

from parshall.studies.tail_index.settings import Setting


@dataclass(frozen=True)
class Trend:
    """Signs of a panel: of the loss rate, the mean queueing delay and the throughput."""

    loss: int | None
    delay: int | None
    throughput: int | None
    said: str


TRENDS: dict[tuple[int, int, bool], Trend] = {
    (45, 96, False): Trend(1, 1, 1, "loss and delay degrade, throughput increases"),
    (45, 896, False): Trend(1, 1, 1, "loss and delay degrade, throughput increases"),
    (45, 96, True): Trend(-1, -1, 0, "inverted, but throughput almost insensitive"),
    (45, 896, True): Trend(-1, -1, -1, "most results are inverted"),
    (500, 100, True): Trend(0, 0, 0, "roughly insensitive, but for 1.1"),
    (500, 1000, True): Trend(None, None, None, "sensitive; the direction is not said"),
}
"""By number of sources, buffer in packets, and whether it is "with slow start"."""

SETTLED_PACKETS = 10.0
"""§2: at about so many packets the cached ssthresh settles."""

TAIL_INDICES = (1.1, 1.3, 1.5, 1.7, 2.0, 2.5, 3.0, 3.5, 4.0)
"""From 1.1 to 4; the figures show nine, read off their axes."""

H_TAIL_INDICES = (1.05, 1.15, 1.25, 1.35, 1.45, 1.55, 1.65, 1.75, 1.85, 1.95)
"""Fig. 4(a): 1.05 to 1.95."""


def published_sign(setting: Setting, metric: str) -> int | None:
    """What is said of a metric (`measure.METRICS`) in a setting, whatever its reading and stack."""
    trend = TRENDS[setting.sources, setting.buffer, setting.slow_start]
    return {"loss": trend.loss, "delay_ms": trend.delay, "throughput_mbps": trend.throughput}[metric]


NS2: dict[Setting, dict[str, tuple[tuple[float, float], tuple[float, float]]]] = {
    Setting(45, 96, "last", "ns2"): {
        "loss": ((0.0005947, 5.3e-05), (0.0008284, 8.5e-05)),
        "delay_ms": ((0.1601, 0.0086), (0.1941, 0.012)),
        "throughput_mbps": ((852.7, 4.5), (866.6, 4.7)),
    },
    Setting(45, 896, "last", "ns2"): {
        "loss": ((8.509e-06, 8.6e-06), (6.603e-05, 2.7e-05)),
        "delay_ms": ((2.201, 0.12), (2.876, 0.46)),
        "throughput_mbps": ((951.9, 5.3), (956.3, 11.0)),
    },
    Setting(45, 96, "unlimited", "ns2"): {
        "loss": ((0.0473, 0.00075), (0.03703, 0.00066)),
        "delay_ms": ((0.335, 0.0023), (0.3116, 0.0019)),
        "throughput_mbps": ((543.3, 2.8), (555.6, 4.9)),
    },
    Setting(45, 896, "unlimited", "ns2"): {
        "loss": ((0.02976, 0.00068), (0.02735, 0.00085)),
        "delay_ms": ((4.303, 0.035), (3.899, 0.056)),
        "throughput_mbps": ((824.8, 2.8), (796.8, 6.6)),
    },
    Setting(500, 100, "unlimited", "ns2"): {
        "loss": ((0.05025, 0.00036), (0.04908, 0.0002)),
        "delay_ms": ((0.6676, 0.00038), (0.6696, 0.00098)),
        "throughput_mbps": ((936.3, 0.26), (937.2, 0.31)),
    },
    Setting(500, 1000, "unlimited", "ns2"): {
        "loss": ((0.0378, 0.00031), (0.0374, 0.00027)),
        "delay_ms": ((10.42, 0.012), (10.41, 0.0097)),
        "throughput_mbps": ((983.6, 0.0076), (983.9, 0.011)),
    },
}
"""Not published: what ns-2.35 finds with buffers of 100 and 1000 packets. Mean and standard error at tail index 2.5,
and at 1.5. With slow start two runs with the study's datagrams each (tests/crosscheck), else one without them."""
NS2_TAIL_INDICES = (2.5, 1.5)
