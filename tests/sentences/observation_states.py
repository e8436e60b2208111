"""Traces, whole and cut short, and what is said of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from saying import State, folder, number

import parshall as ps
from parshall.instruments.observation import Observation
from parshall.instruments.observation.flow import TracedFlow
from parshall.instruments.observation.limits import FlowLimits
from parshall.report.observation import limited, overview, trust
from parshall.report.observation.page import LISTED, SUMMED, _listing, document
from parshall_studies.observed.spectra import Variability, variability
from parshall_studies.observed.variability import in_words
from parshall_studies.spectrum import Superposition

CORPUS = Path(__file__).parents[2] / "fuzz" / "corpus"


@cache
def observed(name: str, less: int = 0) -> Observation:
    """A file of the corpus, without its last bytes."""
    cut = folder() / name
    data = (CORPUS / ("series" if name.endswith(".csv") else "captures") / name).read_bytes()
    cut.write_bytes(data[: len(data) - less])
    return ps.observe(cut)


@cache
def simulated() -> Observation:
    """The observation of a simulated capture of six seconds at a full link."""
    run = ps.run(
        {
            "duration": "6 s",
            "bottleneck": {"rate": "5 Mbit/s", "queue": {"name": "drop_tail", "limit": "20 packets"}},
            "flows": [{"name": "reno", "rtt": "60 ms", "congestion_control": "reno"}],
            "probes": {"pcap": True},
        },
        folder() / "run",
    )
    return ps.observe(*run.captures("bottleneck"))


def page(observation: Observation) -> str:
    made = document(observation)
    return "\n".join([made.finding, *(text for section in made.sections for text in section.paragraphs)])


def oracle(observation: Observation, text: str) -> None:
    """The largest flow, its goodput and losses by the tables; and that a trace was cut short."""
    first = text.split("\n", maxsplit=1)[0]
    row = observation.flows.sort("packets_sent", descending=True, nulls_last=True).to_dicts()[0]
    assert row["group"] in first
    assert ("delivered " in first and "not recorded" not in first) == (row["goodput_bps"] is not None)
    if row["goodput_bps"] is not None:
        told = number(first.split(" delivered ")[1].split(". ")[0].rstrip("."))
        assert abs(told / row["goodput_bps"] - 1) < 0.01
    assert ("were lost" in first) == bool(row["loss_rate"])
    assert ("None of its packets was lost" in first) == (row["loss_rate"] == 0.0)
    assert ("read in part only" in first) == any(each["stopped"] for each in observation.captures)


def of(made: Callable[[], Observation], *templates: str) -> State:
    return State(lambda: page(made()), {f"observed.{name}" for name in templates}, lambda text: oracle(made(), text))


ROW: Mapping[str, Any] = {
    "group": "a > b",
    "goodput_bps": 1e6,
    "packets_sent": 10,
    "mean_rtt_s": 0.05,
    "min_rtt_s": 0.04,
    "loss_rate": 0.1,
    "loss_events": 1,
    "timeouts": None,
}


def row(*templates: str, **changes: Any) -> State:
    """The first sentences of a flow with a row that has something else."""
    return State(lambda: overview.finding([{**ROW, **changes}]), {f"observed.{name}" for name in templates})


def capture(**changes: Any) -> State:
    """The sentences on a capture of 200 frames with counts of something odd."""
    known = observed("vlan.pcap").captures[0]
    made = {**known, "frames": 200, "clock_backwards_s": 0.25, **changes}
    grammar = {1: (" has ", " is ", " was "), 2: (" have ", " are ", " were ")}
    ((_, count),) = changes.items()

    def oracle(text: str) -> None:
        assert f"{count}" in text
        assert any(word in text for word in grammar[count]), text

    return State(
        lambda: " ".join(trust.of_capture(made)),
        {"observed.evicted" if "evicted" in changes else "observed.frames"},
        oracle,
    )


FACTS: Mapping[str, Any] = {
    "vantage": "sender",
    "rtt_source": "acknowledgements",
    "rtt_samples": 12,
    "handshake_rtt_s": 0.05,
    "least_before_s": 0.01,
    "least_beyond_s": 0.02,
    "timestamps": True,
    "uncaptured_packets": 0,
    "zero_window_probes": 0,
    "sack_permitted": True,
    "merged_segments": 0,
    "segments_captured": 100,
    "segment_bytes": 1448,
    "odd_segments": 0,
    "opened": True,
    "acknowledged_first": 0,
    "discarded_by_receiver": 0,
    "rtt_is_lower_bound": False,
}


def flow(*templates: str, retransmissions: int = 0, **changes: Any) -> State:
    """The sentences on a flow of which something is otherwise."""

    def says() -> str:
        known = observed("vlan.pcap").flow(0)
        facts = {**FACTS, **changes}
        row = {**known.row, "retransmissions": retransmissions, "packets_sent": 50}
        made = TracedFlow(row, facts, known.rounds, known.samples, known.capture)
        return " ".join(trust.of_flow(made))

    return State(says, {f"observed.{name}" for name in templates}, lambda text: one_is_one(changes, text))


def one_is_one(changes: Mapping[str, Any], text: str) -> None:
    """One thing is told in the singular."""
    for key in ("uncaptured_packets", "merged_segments", "odd_segments", "acknowledged_first"):
        if changes.get(key) == 1:
            assert " was " in text or " was passed over" in text or " stands after " in text
            assert "1\xa0packets" not in text
            assert "1\xa0segments" not in text


def untold(text: str) -> None:
    assert "sent 0" not in text


def listed(number: int) -> State:
    """A listing of more flows than there is room for."""
    rows = [{**observed("vlan.pcap").flows.to_dicts()[0], "flow": n} for n in range(LISTED)]
    sums = dict.fromkeys(SUMMED, 1000 * (LISTED + number))

    def oracle(text: str) -> None:
        assert f"the sums of {number}\xa0other flow{'s' if number > 1 else ''}." in text

    return State(lambda: " ".join(_listing(rows, sums, LISTED + number).paragraphs), {"observed.listed"}, oracle)


@cache
def chain() -> tuple[TracedFlow, Variability]:
    """A flow whose windows are those of Reno's chain, and its own and the chain's spectra."""
    random = np.random.default_rng(4)
    window, windows, lost = 10, [], []
    while len(windows) < 8000:
        loses = random.random() < 1 - (1 - 0.002) ** window
        windows.append(window)
        lost.append(loses)
        window = max(window // 2, 1) if loses else window + 1
    frame = pl.DataFrame({"window_packets": windows, "lost": lost, "start_s": np.arange(len(windows)) * 0.1})
    flow = TracedFlow({"group": "chain", "repetition": 0, "flow": 0}, {}, frame, pl.DataFrame(), {})
    return flow, variability(flow)


def spread(*templates: str, differ: bool = False, reason: str = "", windows: float = 0.0) -> State:
    """How the throughput of the flow varies; `windows` are added to all of its own."""

    def says() -> str:
        flow, found = chain()
        test = Superposition(1.1, 0.001 if differ else 0.6, differ)
        grown = flow.rounds.with_columns(window_packets=pl.col("window_packets") * 0 + 50) if windows else flow.rounds
        made = TracedFlow(flow.row, {}, grown, flow.samples, {})
        return in_words(made, replace(found, superposition=test, reason=reason))

    def oracle(text: str) -> None:
        mean = f"{chain()[0].windows.mean():.3g}"
        assert ("differ by more than chance" in text) == differ
        assert (f"The mean over round trips is {mean} packets" in text) == (not reason and not windows)
        assert ("(chain:" in text) == (not reason)

    return State(says, {f"observed.{name}" for name in templates}, oracle)


LIMITS = FlowLimits(
    flow=0,
    trace=0,
    name="a > b",
    seconds={"slow_start": 1.0, "receiver": 9.0},
    least_rtt_s=0.04,
    window_bytes=46_700.0,
    window_packets=32.0,
    window_rtt_s=0.0406,
    path_rate_bps=None,
    queueing_delay_s=None,
    queue_losses=0,
    random_losses=0,
    goodput_bps=9.1e6,
)


def limit(*templates: str, told: tuple[str, ...] = (), untold: tuple[str, ...] = (), **changes: Any) -> State:
    """What limits a flow of which something is otherwise."""

    def oracle(text: str) -> None:
        assert all(words in text.replace("\u00a0", " ") for words in told), text
        assert not any(words in text for words in untold), text

    made = replace(LIMITS, **changes)
    return State(lambda: limited.sentence(made).text, {f"observed.{name}" for name in templates}, oracle)


STATES: dict[str, State] = {
    "a flow that the receiver's window limits": limit(
        "limit_window",
        told=("90.0 % of the time", "46.7 kB", "32.0 packets in 40.6 ms", "9.20 Mbit/s"),
        untold=("fill",),
    ),
    "a window of which is known what would do": limit(
        "limit_window_enough", path_rate_bps=75e6, told=("a window of 375 kB would fill the path",)
    ),
    "a window that is enough": limit("limit_window", path_rate_bps=8e6, untold=("fill",)),
    "a window that was closed": limit("limit", goodput_bps=1e5, told=("the receiver's window.",), untold=("Mbit/s",)),
    "a window that was not seen": limit("limit", window_bytes=None, told=("the receiver's window.",)),
    "a flow of a full queue": limit(
        "limit_queue", seconds={"full_queue": 1.0}, path_rate_bps=5e7, told=("100 %", "50.0 Mbit/s")
    ),
    "a flow of a full queue of unknown rate": limit("limit", seconds={"full_queue": 1.0}, told=("a full queue",)),
    "a flow of random losses": limit(
        "limit_loss", seconds={"random_loss": 3.0, "slow_start": 1.0}, random_losses=7, told=("75", "7 loss events")
    ),
    "random losses that a kernel saw": limit(
        "limit", seconds={"random_loss": 3.0}, random_losses=None, told=("losses outside full queues",)
    ),
    "a flow that its application limits": limit("limit", seconds={"application": 3.0}, told=("the application",)),
    "a flow of unknown limits": limit("limit_unknown", seconds={"unknown": 3.0}, untold=("%",)),
    "a flow of which no limit was recorded": limit("limit_unknown", seconds={}, untold=("%",)),
    "a capture of a full link": of(
        simulated, "limit_queue", "limits", "delivered", "rtt_least", "lost_events", "rtts", "arrivals"
    ),
    "a short capture at the sender": of(
        lambda: observed("ethernet.pcap"), "delivered", "few_rounds", "sender", "no_verdict"
    ),
    "a capture that was interrupted": of(lambda: observed("ethernet.pcap", 10), "cut", "stopped"),
    "windows of a sender's kernel": of(lambda: observed("cwnd.csv"), "series"),
    "a kernel's series": of(lambda: observed("tcp_info.csv"), "series"),
    "one flow more than is listed": listed(1),
    "more flows than are listed": listed(2),
    "a flow as its chain": spread("spread", "scales_alike", "chain"),
    "a flow whose scales differ": spread("scales_differ", differ=True),
    "a flow without a chain": spread("no_chain", reason="no loss was seen"),
    "a flow that is not Reno's": spread("not_reno", windows=1.0),
    "a flow without a goodput": row("sent", goodput_bps=None),
    "a flow of which nothing but its windows is known": replace(
        row("neither", goodput_bps=None, packets_sent=None), oracle=untold
    ),
    "a flow of which the least round trip is not known": row("rtt", min_rtt_s=None),
    "a flow without a loss": row("none_lost", loss_rate=0.0),
    "a flow of which losses were not told apart": row("lost", loss_events=None),
    **{
        f"a capture with {'one' if count == 1 else 'two'} {key.replace('_', ' ')}": capture(**{key: count})
        for key in ("clock_backwards", "copies", "fragments", "unreadable", "unknown_link", "without_time", "evicted")
        for count in (1, 2)
    },
    "a capture at the receiver": flow("receiver", "rtts", vantage="receiver"),
    "a capture between the ends": flow("middle", vantage="middle"),
    "a capture without acknowledgements": flow("nowhere", "no_rtt", vantage="", rtt_source=""),
    "the handshake alone": flow("handshake", rtt_source="handshake", timestamps=False),
    "the handshake alone, with timestamps": flow("handshake_echoes", rtt_source="handshake"),
    "a capture that missed a packet": flow("missed", uncaptured_packets=1),
    "a capture that missed packets": flow("missed", uncaptured_packets=3),
    "a segment that stands after its acknowledgement": flow("acknowledged_first", acknowledged_first=1),
    "segments that stand after their acknowledgement": flow("acknowledged_first", acknowledged_first=9),
    "a receiver that discards packets": flow("discarded", discarded_by_receiver=2),
    "round-trip times that are lower bounds": flow("rtts_at_least", rtt_is_lower_bound=True),
    "a receiver that closes its window": flow("closed", zero_window_probes=2),
    "a sender without SACK": flow("no_sack", retransmissions=3, sack_permitted=False),
    "a merged segment": flow("merged", merged_segments=1),
    "merged segments": flow("merged", merged_segments=7),
    "an odd segment": flow("odd", odd_segments=1),
    "a connection without its beginning": flow("no_beginning", opened=False),
}
