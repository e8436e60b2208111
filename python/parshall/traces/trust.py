"""How far the numbers of a trace can be trusted, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from parshall.report.numbers import counted, quantity, significant
from parshall.traces.flow import TracedFlow

_VANTAGE = {
    "sender": "The capture was made at the sender: round-trip times are those that the sender measures, and a loss "
    "shows when the packet is sent again.",
    "receiver": "The capture was made at the receiver: losses show as holes that are filled later, but a lost packet "
    "after which nothing else arrived until it was sent again cannot be seen.",
    "middle": "The capture was made between the ends: a round-trip time is the sum of the times beyond and before "
    "that point, of which neither is negligible: at least {before} from an acknowledgement to the data that answers "
    "it, and {beyond} from a segment to its acknowledgement. A capture on the sender's own host is of this kind if "
    "packets wait before it, in a shaper for instance.",
    "": "Where the capture was made does not show: acknowledgements, or the data, are not in it.",
}


def of_capture(capture: Mapping[str, Any]) -> list[str]:
    """What there is to know of a trace as a whole."""
    doubts = [
        f"`{stop['file']}` could be read up to byte {stop['byte']} (after decompression): {stop['reason']}. What comes "
        "before is used."
        for stop in capture["stopped"]
    ]
    frames = capture["frames"]
    notes = {
        "clock_backwards": "have a time before the last one's (at most {clock_backwards_s:.3g} s), and get its time",
        "copies": "were captured twice and count once",
        "fragments": "are IP fragments, which are not put together",
        "unreadable": "have headers that contradict themselves, or of which too little was captured",
        "unknown_link": "have a link layer that is not understood",
        "without_time": "have no time and are given that of the frame before",
    }
    for key, text in notes.items():
        if capture[key]:
            verb = "frames" if capture[key] != 1 else "frame"
            doubts.append(f"{capture[key]} of {frames} {verb} {text.format(**capture)}.")
    if capture["evicted"]:
        doubts.append(
            f"{counted(capture['evicted'], 'connection')} were let go before their end, to bound memory; what came "
            "later of them is a flow of its own."
        )
    doubts += [remark[0].upper() + remark[1:] + "." for remark in capture["remarks"]]
    return doubts


def of_flow(flow: TracedFlow) -> list[str]:
    """What there is to know of a flow."""
    facts = flow.facts
    if not facts:
        return ["A series of the sender's own kernel: nothing had to be inferred from packets."]
    before, beyond = (quantity(facts[key], "s") for key in ("least_before_s", "least_beyond_s"))
    doubts = [_VANTAGE[facts["vantage"]].format(before=before, beyond=beyond)]
    doubts.append(_round_trip(flow))
    missed, sent = facts["uncaptured_packets"], flow.row["packets_sent"] or 0
    if missed:
        share = significant(100 * missed / max(sent, 1), 2)
        doubts.append(
            f"{counted(missed, 'packet')} ({share} %) were acknowledged without having been captured: the capture "
            "missed them."
        )
    if facts["acknowledged_first"]:
        stand = "stands" if facts["acknowledged_first"] == 1 else "stand"
        doubts.append(
            f"{counted(facts['acknowledged_first'], 'segment')} {stand} after the acknowledgement in the file: its "
            "order is not that on the wire. What stands there counts once, as captured."
        )
    if facts["discarded_by_receiver"]:
        doubts.append(
            f"The receiver, at which this was captured, discarded {counted(facts['discarded_by_receiver'], 'packet')} "
            "that lay beyond its window; they were sent again, and are no losses of the network."
        )
    if facts["zero_window_probes"]:
        doubts.append(
            f"The receiver closed its window; {counted(facts['zero_window_probes'], 'probe')} of one byte asked if "
            "it still was: neither data nor losses."
        )
    if flow.row["retransmissions"] and not facts["sack_permitted"]:
        doubts.append(
            "Without SACK, a sender goes back over data that had arrived. What was sent again needlessly is told from "
            "losses by acknowledgements that jump over it and by the duplicates that answer it: in captures of "
            "simulated traffic all round trips with a loss were found, and 99.8 % of those marked had one. Where "
            "acknowledgements are lost, too many losses are counted: up to 5 % for 2 % of them."
        )
    if facts["merged_segments"]:
        doubts.append(
            f"{facts['merged_segments']} of {facts['segments_captured']} segments were several packets, merged by "
            f"offload; windows count packets of {facts['segment_bytes']} bytes, of which the segments are multiples."
        )
    if facts["odd_segments"]:
        doubts.append(f"{counted(facts['odd_segments'], 'segment')} had numbers that fit nothing and were passed over.")
    if not facts["opened"]:
        doubts.append("The capture does not hold the connection's beginning.")
    return doubts


def _round_trip(flow: TracedFlow) -> str:
    source, samples = flow.facts["rtt_source"], flow.facts["rtt_samples"]
    if not source:
        return "No round-trip time could be measured; there are no windows per round trip."
    if source == "handshake":
        shown = quantity(flow.facts["handshake_rtt_s"], "s")
        reason = " No data was seen to answer an acknowledgement at once." if flow.facts["timestamps"] else ""
        return f"The round-trip time is that of the handshake alone, {shown}: slots of that length were used.{reason}"
    text = f"Round-trip times come from {source}: {counted(samples, 'sample')}."
    if flow.facts["rtt_is_lower_bound"]:
        mean = quantity(flow.row["mean_rtt_s"], "s")
        text += (
            f" They are lower bounds, at least {mean} on average: what a queue before the capture point adds does not "
            "show, as no data was seen to answer an acknowledgement at once."
        )
    return text
