"""Emulations held against what can be computed: round trips, rates, losses, waits, and the decisions of queues."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import parshall as ps
from parshall.instruments.emulation.kernel import emulated

from .emulated import emulate, ping, under_way

PACKET = 1500
"""Bytes."""

QUEUE = 100
"""Packets that the links hold, the one in transmission included."""

ACCURACY_MS = 0.2
"""Of round trips, less the bias that the emulation states: docs/emulation.md says why there is one."""

LOAD = 1.2
"""Of the links that are saturated: datagrams come at so many times their rate."""


@dataclass(frozen=True)
class Row:
    """Something that can be computed, and what an emulation had."""

    what: str
    unit: str
    computed: float
    measured: float
    tolerance: float
    """Largest difference that is accepted, in the unit."""
    level: str = ""
    """How far the emulation can be believed."""

    @property
    def within(self) -> bool:
        """Whether the difference is accepted."""
        return abs(self.measured - self.computed) <= self.tolerance


def rows(seconds: float) -> Iterator[Row]:
    """All of them; each emulation lasts so long."""
    yield from round_trips(seconds)
    for rate_mbps in (10, 100, 1000):
        yield from saturated(rate_mbps, seconds)
    yield unhindered(1000, seconds)
    yield random_losses(seconds)
    for name in REPLAYED:
        yield same_decisions(name, seconds)


def _scenario(flows: dict[str, Any], bottleneck: dict[str, Any], seconds: float) -> ps.Scenario:
    return ps.Scenario.from_document(
        {
            "name": "arithmetic",
            "duration": f"{seconds:g} s",
            "warm_up": "1 s",
            "bottleneck": {
                "delay": "0.1 ms",
                "queue": {"name": "drop_tail", "limit": f"{QUEUE} packets"},
                **bottleneck,
            },
            "flows": [flows],
        }
    )


def _datagrams(rate_mbps: float, **more: Any) -> dict[str, Any]:
    workload = {"name": "cbr", "rate": f"{rate_mbps:g} Mbit/s"}
    return {"rtt": "10 ms", "packet_size": f"{PACKET} B", "workload": workload, **more}


def round_trips(seconds: float) -> Iterator[Row]:
    """Pings over an idle network, less the stated bias: the median, and what 99 % do not exceed."""
    for rtt_ms in (1, 10, 100):
        idle = _scenario(_datagrams(0.012, rtt=f"{rtt_ms} ms"), {"rate": "1 Gbit/s"}, seconds + 5)
        with under_way(idle) as emulation:
            times = sorted(ping(emulation.host("hosts-senders"), seconds, 0.02))
            measured = emulation.finish().measured
        bias_ms = 1e3 * measured["rtt_bias_s"]
        what = f"ping over {rtt_ms} ms less {bias_ms:.2f} ms"
        for share, name in ((0.5, "median"), (0.99, "p99")):
            yield Row(f"{what}, {name}", "ms", rtt_ms, 1e3 * times[int(share * len(times))] - bias_ms, ACCURACY_MS)


def saturated(rate_mbps: float, seconds: float) -> Iterator[Row]:
    """Datagrams at 1.2 times the rate of a link: what gets through, what is lost, how long the rest waits."""
    made = emulate(_scenario(_datagrams(LOAD * rate_mbps), {"rate": f"{rate_mbps:g} Mbit/s"}, seconds))
    link, name = made.link, f"{rate_mbps:g} Mbit/s"
    passed_mbps = link["forwarded_bytes"] * 8 / (seconds - 1) / 1e6
    yield Row(f"{name}: rate", "Mbit/s", rate_mbps, passed_mbps, 0.001 * rate_mbps, made.level)
    yield Row(f"{name}: loss", "%", 100 * (1 - 1 / LOAD), 100 * link["loss_rate"], 0.5, made.level)
    packet_ms = PACKET * 8 / rate_mbps / 1e3
    # Who finds room comes up to 1/LOAD of a transmission after a departure, and waits for all packets before it: 98
    # whole ones, and what is left of the one in transmission.
    wait_ms = (QUEUE - 2 + 1 - 0.5 / LOAD) * packet_ms
    waited_ms = 1e3 * link["mean_queueing_delay_s"]
    yield Row(f"{name}: wait", "ms", wait_ms, waited_ms, 0.02 * wait_ms, made.level)


def unhindered(rate_mbps: float, seconds: float) -> Row:
    """Datagrams at a constant rate, over a link of twice that: what they come at."""
    made = emulate(_scenario(_datagrams(rate_mbps), {"rate": f"{2 * rate_mbps:g} Mbit/s"}, seconds))
    passed_mbps = made.link["forwarded_bytes"] * 8 / (seconds - 1) / 1e6
    what = f"{rate_mbps:g} Mbit/s over a link of twice that: rate"
    return Row(what, "Mbit/s", rate_mbps, passed_mbps, 0.001 * rate_mbps, made.level)


def random_losses(seconds: float) -> Row:
    """Losses of the medium that are independent: the share of 1 % within three standard errors."""
    probability = 0.01
    bottleneck = {"rate": "1 Gbit/s", "loss": {"name": "bernoulli", "probability": probability}}
    made = emulate(_scenario(_datagrams(100), bottleneck, seconds))
    link = made.link
    share = link["medium_losses_packets"] / link["arrivals_packets"]
    error = math.sqrt(probability * (1 - probability) / link["arrivals_packets"])
    return Row("losses of probability 1 %", "%", 100 * probability, 100 * share, 300 * error, made.level)


REPLAYED: dict[str, dict[str, Any]] = {
    "red": {
        "name": "red",
        "limit": "100 packets",
        "min_threshold": "10 packets",
        "max_threshold": "40 packets",
        "ecn": True,
    },
    "codel": {"name": "codel", "ecn": True},
    "rio": {"name": "rio"},
}
"""Queues whose decisions are replayed."""


def same_decisions(name: str, seconds: float) -> Row:
    """What came from the hosts, handed once more into the same network, without a clock: packets with another fate."""
    flows: dict[str, Any] = {"count": 8, "rtt": "20 ms", "congestion_control": "cubic", "ecn": True}
    if name == "rio":
        flows["marker"] = {"name": "token_bucket", "rate": "4 Mbit/s", "burst": "20 packets"}
    made = replay(_scenario(flows, {"rate": "50 Mbit/s", "queue": REPLAYED[name]}, seconds))
    replayed = made["replayed"]
    what = (
        f"{name}: of {replayed['packets']:,} packets, {replayed['lost']} lost, {replayed['marked']} marked, otherwise"
    )
    return Row(what, "packets", 0, replayed["different"], 0, made["emulated"]["emulation"]["level"])


def replay(scenario: ps.Scenario) -> dict[str, Any]:
    """Emulates a scenario and replays it (`emulate_and_replay` of crates/emulation), in a process of its own."""
    code = (
        "import sys; from parshall import _core; print(_core.emulate_and_replay(sys.stdin.read(), 0, _core.Monitor()))"
    )
    command = [sys.executable, "-c", code]
    said = subprocess.run(command, input=json.dumps(emulated(scenario)), capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(said.stdout)
    return answer
