"""Scenarios that were inferred from simulated captures, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from saying import State, folder

import parshall as ps
from parshall.analysis.stats.confidence import Interval
from parshall.inference import Check, Inferred, RemedyEffect, infer
from parshall.inference.page import document
from parshall.inference.path import PathEstimate
from parshall.inference.response import Explanation

RATE_MBPS, RTT_MS, BUFFER = 5, 40, 20


@cache
def inferred(loss: float = 0.0, window: str = "") -> Inferred:
    """Of a capture of eight seconds, without a control."""
    group: dict[str, Any] = {
        "rtt": f"{RTT_MS} ms",
        "congestion_control": "cubic",
        "header_size": "52 B",
        "tcp": "linux",
    }
    bottleneck: dict[str, Any] = {
        "rate": f"{RATE_MBPS} Mbit/s",
        "queue": {"name": "drop_tail", "limit": f"{BUFFER} packets"},
    }
    if loss:
        bottleneck["loss"] = {"name": "bernoulli", "probability": loss}
    if window:
        group["receive_window"] = window
    run = ps.run(
        {"duration": "8 s", "bottleneck": bottleneck, "flows": [group], "probes": {"pcap": True}}, folder() / "run"
    )
    return infer(*run.captures("bottleneck"), controls=())


def page(made: Inferred, check: Check | None = None, effects: Sequence[RemedyEffect] | None = None) -> str:
    return document(made, check, effects).finding


def told(response: Explanation) -> Callable[[], str]:
    return lambda: page(replace(inferred(0.01), response=response))


def unknown_rate() -> Inferred:
    """Of a small window, of whose path only a lower bound is known."""
    made, least = inferred(window="8 kB"), 1e6
    return replace(made, path=replace(made.path, rate_bps=PathEstimate(2 * least, low=least, guess=True)))


def numbers(text: str) -> None:
    """The path's rate is that which was simulated, to 3 %."""
    stated = float(text.split("The path carries ")[1].split(maxsplit=1)[0])
    assert abs(stated / RATE_MBPS - 1) < 0.03


def lower_bound(text: str) -> None:
    assert "carries at least" in text
    assert float(text.split("carries at least ")[1].split(maxsplit=1)[0]) < RATE_MBPS


def effect(low: float, high: float) -> RemedyEffect:
    """Of a change of the goodput by so much."""
    middle = (low + high) / 2
    difference = Interval(middle, low, high, 5)
    return RemedyEffect(
        "half the buffer", {"goodput_bps": 1e6}, {"goodput_bps": 1e6 * (1 + middle)}, {"goodput_bps": difference}
    )


def harmful() -> RemedyEffect:
    """More goodput for a longer queue."""
    before = {"goodput_bps": 1e6, "queueing_delay_p99_s": 0.01}
    after = {"goodput_bps": 1.5e6, "queueing_delay_p99_s": 0.05}
    differences = {"goodput_bps": Interval(0.5, 0.4, 0.6, 5), "queueing_delay_p99_s": Interval(0.8, 0.7, 0.9, 5)}
    return RemedyEffect("twice the receiver's window", before, after, differences)


def but(text: str) -> None:
    told = text.replace("\N{NO-BREAK SPACE}", " ")
    assert "goodput 1.50 Mbit/s for 1.00 Mbit/s, but 99th percentile of the queueing delay 50.0 ms for 10.0 ms" in told


def wrong(made: Inferred) -> Check:
    """The check of a scenario against flows with twice the round trips."""
    flows = [replace(each, rtt_p50_s=2 * (each.rtt_p50_s or 0.0)) for each in made.forward]
    return replace(
        made, groups=[replace(made.groups[0], activities=[replace(made.groups[0].activities[0], flows=flows)])]
    ).check()


CANNOT = Explanation(
    "cubic",
    "drop_tail",
    told=False,
    reason="only 2 loss events, and no queue",
    likelihoods={"cubic": 0.0},
    distance=0.1,
)
LIKELIHOODS: Mapping[str, float] = {"reno": 0.0, "cubic": -9.0}
LOSSES = Explanation("reno", "drop_tail with losses", told=True, reason="", likelihoods=LIKELIHOODS, distance=0.4)

STATES: dict[str, State] = {
    "a capture of a full queue": State(
        lambda: page(inferred(), inferred().check(repetitions=2)),
        {"inferred.path_buffer", "inferred.explains"},
        numbers,
    ),
    "a capture of losses": State(told(LOSSES), {"inferred.loss", "inferred.control"}),
    "a capture that shows no control": State(told(CANNOT), {"inferred.control_unknown"}),
    "a queue that manages itself": State(told(replace(LOSSES, queue="codel")), {"inferred.queue", "inferred.control"}),
    "a capture of a small window": State(
        lambda: page(unknown_rate(), None, [effect(0.5, 0.6)]),
        {"inferred.rate_unknown", "inferred.helps", "inferred.guess"},
        lower_bound,
    ),
    "a path without a loss": State(
        lambda: page(replace(inferred(), path=replace(inferred().path, buffer_bytes=None))), {"inferred.path"}, numbers
    ),
    "a scenario that does not explain its capture": State(
        lambda: page(inferred(), wrong(inferred())), {"inferred.explains_but"}
    ),
    "changes of which none helps": State(
        lambda: page(inferred(), None, [effect(-0.01, 0.02), effect(-0.3, -0.2)]), {"inferred.nothing_helps"}
    ),
    "a change that helps one and harms the other": State(
        lambda: page(inferred(), None, [harmful()]), {"inferred.helps"}, but
    ),
}
