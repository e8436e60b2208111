"""The trust in the numbers of a trace, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from parshall.foundations.numbers import count, counted, quantity
from parshall.instruments.observation.flow import TracedFlow
from parshall.report.sentences import Sentence, say

_FRAMES = {
    "clock_backwards": (
        "has a time before the last one's (at most {by}), and gets its time",
        "have a time before the last one's (at most {by}), and get its time",
    ),
    "copies": ("was captured twice and counts once", "were captured twice and count once"),
    "fragments": ("is an IP fragment, which is not put together", "are IP fragments, which are not put together"),
    "unreadable": (
        "has headers that contradict themselves, or too little of it was captured",
        "have headers that contradict themselves, or of which too little was captured",
    ),
    "unknown_link": ("has a link layer that is not understood", "have a link layer that is not understood"),
    "without_time": (
        "has no time and is given that of the frame before",
        "have no time and are given that of the frame before",
    ),
}
"""The words for one frame, and for several, by the count of a capture."""


def of_capture(capture: Mapping[str, Any]) -> list[str]:
    """Return remarks on a trace as a whole."""
    said = [
        say("observed.stopped", file=stop["file"], byte=str(stop["byte"]), reason=stop["reason"])
        for stop in capture["stopped"]
    ]
    frames = counted(capture["frames"], "frame")
    by = quantity(capture["clock_backwards_s"], "s")
    for key, (of_one, of_several) in _FRAMES.items():
        number = capture[key]
        if number:
            what = (of_one if number == 1 else of_several).format(by=by)
            said.append(say("observed.frames", number=count(number), frames=frames, what=what))
    if capture["evicted"]:
        one, several = {"were": "was", "their": "its", "them": "it"}, {"were": "were", "their": "their", "them": "them"}
        words = one if capture["evicted"] == 1 else several
        said.append(say("observed.evicted", connections=counted(capture["evicted"], "connection"), **words))
    return [*(each.text for each in said), *(f"{each[0].upper()}{each[1:]}." for each in capture["remarks"])]


def of_flow(flow: TracedFlow) -> list[str]:
    """Return remarks on a flow."""
    return [each.text for each in _of_flow(flow)] if flow.facts else [say("observed.series").text]


def _of_flow(flow: TracedFlow) -> Iterator[Sentence]:
    facts = flow.facts
    yield _vantage(facts)
    yield _round_trip(flow)
    missed, sent = facts["uncaptured_packets"], flow.row["packets_sent"] or 0
    if missed:
        share = quantity(missed / max(sent, missed), "ratio", 2)
        words = {"were": "was", "them": "it"} if missed == 1 else {"were": "were", "them": "them"}
        yield say("observed.missed", packets=counted(missed, "packet"), share=share, **words)
    if facts["acknowledged_first"]:
        number = facts["acknowledged_first"]
        stand = "stands" if number == 1 else "stand"
        yield say("observed.acknowledged_first", segments=counted(number, "segment"), stand=stand)
    if facts["discarded_by_receiver"]:
        yield say("observed.discarded", packets=counted(facts["discarded_by_receiver"], "packet"))
    if facts["zero_window_probes"]:
        yield say("observed.closed", probes=counted(facts["zero_window_probes"], "probe"))
    if flow.row["retransmissions"] and not facts["sack_permitted"]:
        yield say("observed.no_sack")
    if facts["merged_segments"]:
        merged, captured = facts["merged_segments"], counted(facts["segments_captured"], "segment")
        were, full = "was" if merged == 1 else "were", str(facts["segment_bytes"])
        yield say("observed.merged", merged=count(merged), captured=captured, were=were, bytes=full)
    if facts["odd_segments"]:
        were = "was" if facts["odd_segments"] == 1 else "were"
        yield say("observed.odd", segments=counted(facts["odd_segments"], "segment"), were=were)
    if not facts["opened"]:
        yield say("observed.no_beginning")


def _vantage(facts: Mapping[str, Any]) -> Sentence:
    """Return the sentence on the place of the capture, and its effect on the numbers."""
    if facts["vantage"] != "middle":
        return say(f"observed.{facts['vantage'] or 'nowhere'}")
    before, beyond = (quantity(facts[key], "s") for key in ("least_before_s", "least_beyond_s"))
    return say("observed.middle", before=before, beyond=beyond)


def _round_trip(flow: TracedFlow) -> Sentence:
    source, samples = flow.facts["rtt_source"], flow.facts["rtt_samples"]
    if not source:
        return say("observed.no_rtt")
    if source == "handshake":
        template = "observed.handshake_echoes" if flow.facts["timestamps"] else "observed.handshake"
        return say(template, rtt=quantity(flow.facts["handshake_rtt_s"], "s"))
    told = {"source": source, "samples": counted(samples, "sample")}
    if flow.facts["rtt_is_lower_bound"]:
        return say("observed.rtts_at_least", **told, mean=quantity(flow.row["mean_rtt_s"], "s"))
    return say("observed.rtts", **told)
