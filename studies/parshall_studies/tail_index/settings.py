"""The settings of Figs 1 and 2: how many sources, which buffer, whose TCP, and where slow start ends.

Fig. 1 is measured on a testbed of Linux hosts of 2011, Fig. 2 is simulated by ns-2. The source names the "Reno variant"
and nothing else of either stack; what is taken here are the defaults of the kernels of these years (2.6.x) and of ns-2.

What the source calls "without slow start" is an ssthresh that is cached from one connection to the next. It says that
the cached value "can only decrease" and settles at about 10 packets; Linux's rule lets it grow too. So there are three
readings of Fig. 1:

| `Setting.ssthresh` | a connection starts from |
| --- | --- |
| `lowest` | the lowest ssthresh of all connections before, as the source says |
| `linux` | what Linux's `tcp_update_metrics` keeps |
| `ten` | 10 packets, where the source says that it settles |
| `unlimited` | none: "with slow start" |
| `last` | the last connection's; what ns-2 was made to do for the cross-check |

Of ns-2's TCP the smallest retransmission timeout decides most, and is not said: 0.2 s is the default since October
2004, 1 s was it before and is that of RFC 6298. So there are two readings of Fig. 2.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from parshall.studies.published import printed_in

PAPER = printed_in(__package__)

Stack = Literal["linux", "ns2", "ns2_1s"]
Ssthresh = Literal["unlimited", "lowest", "linux", "ten", "last"]

SOURCES_OF_FIG1 = 45

_USUAL = {"handshake": True, "byte_counting": False}
_NS2 = {
    **_USUAL,
    "recovery": "reno",
    "delayed_ack": False,
    "timestamps": False,
    "initial_window": "2 packets",
    "min_rto": "200 ms",
}
STACKS: dict[Stack, dict[str, Any]] = {
    "linux": {
        **_USUAL,
        "recovery": "sack",
        "delayed_ack": "40 ms",
        "timestamps": True,
        "initial_window": "3 packets",
        "rto_floor": "variation",
    },
    "ns2": _NS2,
    "ns2_1s": {**_NS2, "min_rto": "1 s"},
}
"""Keys of a group of flows."""

THRESHOLDS: dict[Ssthresh, dict[str, Any]] = {
    "unlimited": {"ssthresh_cached": "off"},
    "lowest": {"ssthresh_cached": "lowest"},
    "linux": {"ssthresh_cached": "linux"},
    "ten": {"ssthresh_cached": "off", "initial_ssthresh": "10 packets"},
    "last": {"ssthresh_cached": "last"},
}

_READINGS: dict[Stack | Ssthresh, str] = {
    "ns2": "smallest timeout 0.2 s",
    "ns2_1s": "smallest timeout 1 s",
    "unlimited": "",
    "lowest": "cached ssthresh only decreases",
    "linux": "ssthresh cached by Linux's rule",
    "ten": "ssthresh 10 for each connection",
    "last": "last ssthresh cached",
}


class Setting(NamedTuple):
    """One curve of Fig. 1 or 2."""

    sources: int
    buffer: int
    """Packets."""
    ssthresh: Ssthresh
    stack: Stack

    @property
    def slow_start(self) -> bool:
        """Whether it is what the source calls "with slow start"."""
        return self.ssthresh == "unlimited"

    @property
    def cached(self) -> bool:
        """Whether a connection's ssthresh is that of earlier ones, and has to settle."""
        return self.ssthresh in {"lowest", "linux", "last"}

    @property
    def name(self) -> str:
        """The source's words."""
        return f"N = {self.sources}, B = {self.buffer}, {'with' if self.slow_start else 'without'} slow start"

    @property
    def reading(self) -> str:
        """Which reading it is, of "without slow start" or of ns-2's TCP, in words; empty where there is one only."""
        return reading_words(self.ssthresh) if self.figure == "fig1" else reading_words(self.stack)

    @property
    def figure(self) -> str:
        """The source's figure."""
        return "fig1" if self.sources == SOURCES_OF_FIG1 else "fig2"

    @property
    def own_stack(self) -> bool:
        """Whether the stack is that of the source's figure."""
        return (self.stack == "linux") == (self.figure == "fig1")

    @property
    def flow(self) -> dict[str, Any]:
        """Keys of the sources' group of flows."""
        return {**STACKS[self.stack], **THRESHOLDS[self.ssthresh]}

    def label(self) -> str:
        """Name, reading and, where it is not the figure's own, whose TCP."""
        stack = "" if self.own_stack else "ns-2's TCP"
        return ", ".join(part for part in (self.name, self.reading, stack) if part)


def published_sign(setting: Setting, metric: str) -> int | None:
    """What is said of a metric (`measure.METRICS`) in a setting, whatever its reading and stack.

    It is the sign of the change with a heavier tail; None: nothing is said.
    """
    sign: int | None = PAPER[f"trends.{setting.name}"].get(metric)
    return sign


def reading_words(reading: Stack | Ssthresh) -> str:
    """A reading in words."""
    return _READINGS[reading]


READINGS: tuple[Ssthresh, ...] = ("lowest", "linux", "ten")
NS2_READINGS: tuple[Stack, ...] = ("ns2", "ns2_1s")
FIG1 = tuple(
    Setting(SOURCES_OF_FIG1, buffer, ssthresh, "linux") for ssthresh in (*READINGS, "unlimited") for buffer in (96, 896)
)
FIG2 = tuple(Setting(500, buffer, "unlimited", stack) for stack in NS2_READINGS for buffer in (100, 1000))
OTHER_STACK = tuple(
    Setting(SOURCES_OF_FIG1, buffer, ssthresh, "ns2") for ssthresh in ("last", "unlimited") for buffer in (96, 896)
)
"""Fig. 1's network with ns-2's TCP: not the source's, but what shows how much the stack decides."""
NS2 = (*OTHER_STACK, *(each for each in FIG2 if each.stack == "ns2"))
"""Those that ns-2 itself was run for, with buffers of 100 and 1000 packets."""


def ns2_values(setting: Setting, metric: str) -> dict[float, tuple[float, float]]:
    """What ns-2 finds of a metric in a setting of `NS2`: mean and standard error by tail index."""
    name = f"ns2.{setting.sources}, {setting.buffer}, {setting.ssthresh}"
    means, errors = PAPER.by(f"{name}.mean", metric), PAPER.by(f"{name}.error", metric)
    return {tail_index: (mean, errors[tail_index]) for tail_index, mean in means.items()}
