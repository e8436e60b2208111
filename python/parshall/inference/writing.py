"""The scenario of a capture, as text: every key with a comment that says from what it was inferred."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from parshall.analysis.stats.estimates import FloatArray
from parshall.foundations.numbers import counted, quantity
from parshall.inference.facts import TIMESTAMPS, Direction, span
from parshall.inference.path import InferredPath, PathEstimate
from parshall.inference.workloads import POINTS, Activity, FlowCluster
from parshall.scenario.properties import needs_timestamps

LONGEST_S = 600.0
"""A longer capture is shortened: what repeats itself needs no more."""
MOST_REPLAYED = 300
"""Transfers that are replayed one by one."""
SYN = 60
"""Bytes of a SYN with its options."""
WINDOW_SHARE = 0.02
"""Of its time, in which the receiver's window limits a flow, from which on the window is stated."""
SHORT_S = 0.004
"""A round trip below which the delay of the link is stated, which is 1 ms by default."""
SEPARATE_ACKS = 0.85
"""Acknowledgements a packet above which the receiver does not delay them."""


@dataclass(frozen=True)
class Key:
    """A line of the scenario: key and value as TOML, and from what the value was inferred."""

    key: str
    value: str
    basis: str = ""


@dataclass(frozen=True)
class Draft:
    """A scenario to be written: its lines by table.

    Parameters
    ----------
    top, bottleneck
        Lines of these tables.
    groups
        Lines of each group of flows.
    """

    top: Sequence[Key]
    bottleneck: Sequence[Key]
    groups: Sequence[Sequence[Key]]

    @property
    def text(self) -> str:
        """The whole as TOML, without a name of a file."""
        parts = [_lines(self.top), "[bottleneck]\n" + _lines(self.bottleneck)]
        parts += ["[[flows]]\n" + _lines(group) for group in self.groups]
        return "\n".join(parts)


def _lines(keys: Sequence[Key]) -> str:
    width = max((len(f"{each.key} = {each.value}") for each in keys if each.basis), default=0)
    width = min(width, 60)
    made = []
    for each in keys:
        line = f"{each.key} = {each.value}"
        made.append(f"{line:<{width}}    # {each.basis}" if each.basis else line)
    return "\n".join(made) + "\n"


def draft(
    name: str, path: InferredPath, found: Sequence[FlowCluster], control: dict[int, Key], *, replay: bool = False
) -> Draft:
    """The scenario of the groups on the path.

    Parameters
    ----------
    name
        Of the scenario.
    control
        By a group's place: the line with its congestion control.
    replay
        Whether each transfer is written as it was, at its time, instead of distributions.
    """
    flows = [flow for group in found for flow in group.flows]
    begin, end = span(flows)
    length = min(end - begin, LONGEST_S)
    whole = "as long as the capture" if length == end - begin else f"the capture lasts {quantity(end - begin, 's')}"
    top = [
        Key("name", _text(name)),
        Key("description", _text(f"Inferred from a capture: {counted(len(flows), 'flow')} behind one bottleneck")),
        Key("duration", _duration(max(length, 1.0)), whole),
        Key("warm_up", '"0 s"', "the capture is compared from its beginning"),
        Key("seed", "1"),
    ]
    packet = max(flows, key=lambda flow: flow.delivered_bytes).packet_bytes
    make = _replayed if replay else _grouped
    groups = [keys for place, group in enumerate(found) for keys in make(place, group, begin, control[place], path)]
    shortest_s = min(each.min_rtt_s for each in flows)
    return Draft(top, [*_bottleneck(path, packet), *_delay(shortest_s)], groups)


# --- the bottleneck ---


def _bottleneck(path: InferredPath, packet_bytes: int) -> Iterator[Key]:
    rate = path.rate_bps
    if rate.guess and rate.high is not None:
        yield Key("rate", _rate(rate.value), f"a guess: while a queue stood, it varied; {between(rate, 'bit/s')}")
    elif rate.guess:
        least = quantity(rate.low or rate.value, "bit/s")
        yield Key("rate", _rate(rate.value), f"a guess: no queue stood; the capture shows at least {least}")
    else:
        yield Key("rate", _rate(rate.value), f"delivered while a queue stood; {between(rate, 'bit/s')}")
    if path.buffer_bytes is None:
        yield Key("queue", '{ name = "drop_tail", limit = "1 BDP" }', "a guess: nothing was lost in a full queue")
    elif path.buffer_bytes.guess:
        packets = math.ceil(path.buffer_bytes.value / packet_bytes)
        least = quantity(path.buffer_bytes.low or path.buffer_bytes.value, "B")
        basis = f"a guess: nothing was lost in a full queue; at least {least} stood"
        yield Key("queue", f'{{ name = "drop_tail", limit = "{packets} packets" }}', basis)
    else:
        packets = max(2, round(path.buffer_bytes.value / packet_bytes))
        basis = f"queueing delay at losses; {between(path.buffer_bytes, 'B')}"
        yield Key("queue", f'{{ name = "drop_tail", limit = "{packets} packets" }}', basis)
    if path.loss is not None:
        basis = f"losses outside full queues; {between(path.loss, 'ratio')}"
        if path.loss.guess:
            basis = "a guess: all losses, at which the queue was as long as at other times, and may have been full"
        yield Key("loss", _loss(path.loss.value, path.burst_packets), basis)


def _delay(shortest_s: float) -> Iterator[Key]:
    """The delay of the link, where the default would be longer than half of the shortest round trip."""
    if shortest_s < SHORT_S:
        yield Key("delay", _duration(shortest_s / 4), "a guess: half of the way there")


def _loss(probability: float, burst: float) -> str:
    if burst < 1.5:
        return f'{{ name = "bernoulli", probability = {probability:.3g} }}'
    recover = 1 / burst
    enter = probability * recover / max(1 - probability, 1e-9)
    return (
        f'{{ name = "gilbert_elliott", good_to_bad = {min(enter, 1.0):.3g}, bad_to_good = {recover:.3g}, '
        "loss_good = 0.0, loss_bad = 1.0 }"
    )


# --- groups ---


def _grouped(place: int, group: FlowCluster, begin: float, control: Key, path: InferredPath) -> Iterator[list[Key]]:
    keys = [*_names(place, group, len(group.activities)), *_rtt(group, path), control]
    starts = [each.starts_s[0] - begin for each in group.activities]
    keys.append(Key("start", _each([_duration(start) for start in starts]), "first data"))
    keys += _endpoint(group.main, control)
    keys += _workload(group)
    yield keys


def _names(place: int, group: FlowCluster, count: int) -> Iterator[Key]:
    yield Key("name", _text(f"group{place}"), _whose(group))
    if count > 1:
        yield Key("count", str(count))
    if not group.forward:
        yield Key("direction", '"reverse"', "these send towards the others' senders")


def _whose(group: FlowCluster) -> str:
    first = group.main
    more = len(group.flows) - 1
    return f"{first.name}" + (f" and {counted(more, 'other')}" if more else "")


def _rtt(group: FlowCluster, path: InferredPath) -> Iterator[Key]:
    values = [min(flow.min_rtt_s for flow in each.flows) for each in group.activities]
    wires = [0.0 if path.rate_bps.guess else _wire_s(each, path.rate_bps.value) for each in group.activities]
    least = [max(value - wire, 0.5 * value) for value, wire in zip(values, wires, strict=True)]
    wire_s = max(wires)
    spread = max(least) - min(least) > 0.02 * min(least)
    basis = "least round trip" + (", without the time of a packet on the wire" if wire_s > 0.01 * min(least) else "")
    yield Key(
        "rtt", _each([_duration(each) for each in least] if spread else [_duration(float(np.median(least)))]), basis
    )


def _wire_s(activity: Activity, rate_bps: float) -> float:
    """The time at the bottleneck of what took the least round trip: the SYN of a handshake, else a packet."""
    flow = min(activity.flows, key=lambda each: each.min_rtt_s)
    packet_s = 8 * flow.packet_bytes / rate_bps
    is_handshake = flow.handshake_rtt_s is not None and flow.handshake_rtt_s < flow.min_rtt_s + packet_s / 2
    return 8 * SYN / rate_bps if is_handshake else packet_s


def _needs_timestamps(control: Key) -> bool:
    """True for a control that measures delays with every ACK: the simulator has it with timestamps only."""
    return needs_timestamps(str(tomllib.loads(f"name = {control.value}")["name"]))


def _endpoint(flow: Direction, control: Key) -> Iterator[Key]:
    yield Key("tcp", '"linux"', "a guess: timestamps and SACK as Linux has them" if flow.timestamps else "a guess")
    if flow.opened:
        yield Key("handshake", "true", "its SYN was captured")
    if flow.packet_bytes != 1500:
        yield Key("packet_size", f'"{flow.packet_bytes} B"', f"segments of {flow.segment_bytes} B")
    header = flow.header_bytes
    yield Key("header_size", f'"{header} B"', "with timestamps" if flow.timestamps else "without timestamps")
    if not flow.timestamps and not _needs_timestamps(control):
        yield Key("timestamps", "false", f"none seen; they take {TIMESTAMPS} B")
    if not flow.sack and flow.opened:
        yield Key("recovery", '"newreno"', "no SACK permitted")
    if flow.acks_per_packet > SEPARATE_ACKS:
        yield Key("delayed_ack", "false", f"{flow.acks_per_packet:.2f} acknowledgements a packet")
    window = flow.limits.window_bytes
    if window is not None and flow.cause_s("receiver") > WINDOW_SHARE * flow.limits.total_s:
        yield Key("receive_window", f'"{round(window)} B"', "offered while it limited the flow")
    if (
        flow.opened
        and flow.rounds.size
        and not 9 <= flow.rounds[0] <= 11
        and flow.delivered_bytes > 20 * flow.segment_bytes
    ):
        yield Key("initial_window", f'"{max(1, round(float(flow.rounds[0])))} packets"', "sent in the first round trip")


def _workload(group: FlowCluster) -> Iterator[Key]:
    if group.kind == "bulk":
        yield Key("workload", '"bulk"', "sends until the capture ends")
        return
    sizes = np.concatenate([each.sizes_bytes for each in group.activities])
    idle = np.concatenate([each.idle_s for each in group.activities])
    number = counted(sizes.size, "transfer")
    if group.kind == "transfer":
        yield Key(
            "workload", f'{{ name = "transfer", sizes = "{round(float(np.mean(sizes)))} B" }}', f"{number} captured"
        )
    elif group.kind == "open_loop":
        starts = np.concatenate([each.starts_s for each in group.activities])
        rate = (starts.size - 1) / max(float(np.ptp(starts)), 1e-3) / len(group.activities)
        value = f'{{ name = "open_loop", size = {_distribution(sizes, "B")}, arrivals_per_s = {rate:.3g} }}'
        yield Key("workload", value, f"{number}, which begin whether or not others are complete")
    elif group.kind == "request_response":
        request = _size(float(np.mean([each.request_bytes or 1.0 for each in group.activities])))
        parts = f"request = {request}, response = {_distribution(sizes, 'B')}, think = {_distribution(idle, 's')}"
        value = f'{{ name = "request_response", {parts} }}'
        yield Key("workload", value, f"{number}, each after a request")
    else:
        value = f'{{ name = "on_off", size = {_distribution(sizes, "B")}, off = {_distribution(idle, "s")} }}'
        yield Key("workload", value, f"{number} with idle times between them")
        if not all(each.persistent for each in group.activities):
            yield Key("persistent", "false", "each on a connection of its own")


def _replayed(place: int, group: FlowCluster, begin: float, control: Key, path: InferredPath) -> Iterator[list[Key]]:
    """A group for each transfer."""
    if group.kind == "bulk":
        yield from _grouped(place, group, begin, control, path)
        return
    single = [(each, k) for each in group.activities for k in range(each.starts_s.size)][:MOST_REPLAYED]
    for number, (each, k) in enumerate(single):
        own = FlowCluster(
            "transfer",
            group.forward,
            [Activity("transfer", each.flows, each.starts_s[k : k + 1], each.sizes_bytes[k : k + 1], np.empty(0))],
        )
        keys = next(_grouped(place, own, begin, control, path))
        yield [Key("name", _text(f"group{place}-{number}"), keys[0].basis), *keys[1:]]


# --- values ---


def between(estimate: PathEstimate, unit: str) -> str:
    """The interval of an estimate, for people."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{quantity(estimate.low, unit)} to {quantity(estimate.high, unit)}"


def _distribution(values: FloatArray, unit: str) -> str:
    """A constant where all are alike, an exponential where the variation is near one, else the measured quantiles."""
    mean = float(np.mean(values)) if values.size else 0.0
    one = _size if unit == "B" else _duration
    if values.size < 2 or float(np.std(values)) < 0.02 * mean or mean <= 0:
        return f'{{ name = "constant", value = {one(max(mean, 1e-6))} }}'
    if values.size < POINTS:
        return f'{{ name = "exponential", mean = {one(mean)} }}'
    shares = np.linspace(0.0, 1.0, POINTS)
    points = np.maximum.accumulate(np.quantile(values, shares))
    points = points + np.arange(points.size) * (1e-9 * max(mean, 1.0) if unit == "s" else 1.0)
    listed = ", ".join(f"[{one(float(point))}, {share:.4g}]" for point, share in zip(points, shares, strict=True))
    return f'{{ name = "empirical", points = [{listed}] }}'


def _each(values: Sequence[str]) -> str:
    """One value for all flows, or one for each."""
    return values[0] if len(set(values)) == 1 else f"{{ list = [{', '.join(values)}] }}"


def _duration(seconds: float) -> str:
    """In text, to four significant digits.

    >>> _duration(0.0400661), _duration(29.99), _duration(0.0)
    ('"40.07 ms"', '"29.99 s"', '"0 s"')
    """
    if seconds <= 0:
        return '"0 s"'
    number, unit = (
        (seconds, "s") if seconds >= 1 else (seconds * 1e3, "ms") if seconds >= 1e-3 else (seconds * 1e6, "us")
    )
    return f'"{_digits(number)} {unit}"'


_TIMES = (("s", 1.0), ("ms", 1e3), ("us", 1e6))


def _rate(bps: float) -> str:
    """In text, to four significant digits.

    >>> _rate(20_189_083.8), _rate(2.5e9)
    ('"20.19 Mbit/s"', '"2500 Mbit/s"')
    """
    return f'"{_digits(bps / 1e6)} Mbit/s"' if bps >= 1e6 else f'"{_digits(bps / 1e3)} kbit/s"'


def _size(size_bytes: float) -> str:
    return f'"{max(1, round(size_bytes))} B"'


def _digits(number: float, digits: int = 4) -> str:
    places = max(0, digits - 1 - math.floor(math.log10(abs(number))))
    text = f"{round(number, places):.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _text(words: str) -> str:
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"') + '"'
