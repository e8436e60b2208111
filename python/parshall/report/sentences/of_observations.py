"""The sentences of an observation: its largest flow, and how far traces can be trusted."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    # What limits the largest flow.
    "observed.limit": "Limited {share} of the time by {cause}.",
    "observed.limit_window": (
        "Limited {share} of the time by the receiver's window of {window}: {packets} in {rtt} are {rate}."
    ),
    "observed.limit_window_enough": (
        "Limited {share} of the time by the receiver's window of {window}: {packets} in {rtt} are {rate}; a window of "
        "{enough} would fill the path."
    ),
    "observed.limit_queue": (
        "Limited {share} of the time by a full queue: the path was full, and gave this flow {rate} with headers."
    ),
    "observed.limit_loss": (
        "Limited {share} of the time by losses outside full queues ({events}): they came where packets did not wait."
    ),
    "observed.limit_unknown": "What limited it cannot be told from this trace.",
    "observed.limits": (
        "Shares of the time from the first packet to the last acknowledgement, as docs/observe.md has them."
    ),
    # The largest flow.
    "observed.delivered": "{which}, {group}, delivered {goodput}.",
    "observed.sent": "{which}, {group}, sent {packets}.",
    "observed.neither": "What {which}, {group}, delivered was not recorded.",
    "observed.rtt": "Its round trips took {mean} on average.",
    "observed.rtt_least": "Its round trips took {mean} on average, {least} at least.",
    "observed.lost": "{share} of its packets were lost.",
    "observed.lost_events": "{share} of its packets were lost ({events}).",
    "observed.none_lost": "None of its packets was lost, as far as the trace shows.",
    "observed.cut": "The trace could be read in part only: {where}.",
    # A trace as a whole.
    "observed.stopped": (
        "`{file}` could be read up to byte {byte} (after decompression): {reason}. What comes before is used."
    ),
    "observed.frames": "{number} of {frames} {what}.",
    "observed.evicted": (
        "{connections} {were} let go before {their} end, to bound memory; what came later of {them} is a flow of its "
        "own."
    ),
    "observed.listed": "The {listed} {which} have a row each; the last row has the sums of {others}.",
    # A flow.
    "observed.series": "A series of the sender's own kernel: nothing had to be inferred from packets.",
    "observed.sender": (
        "The capture was made at the sender: round-trip times are those that the sender measures, and a loss shows "
        "when the packet is sent again."
    ),
    "observed.receiver": (
        "The capture was made at the receiver: losses show as holes that are filled later, but a lost packet after "
        "which nothing else arrived until it was sent again cannot be seen."
    ),
    "observed.middle": (
        "The capture was made between the ends: a round-trip time is the sum of the times beyond and before that "
        "point, of which neither is negligible: at least {before} from an acknowledgement to the data that answers "
        "it, and {beyond} from a segment to its acknowledgement. A capture on the sender's own host is of this kind if "
        "packets wait before it, in a shaper for instance."
    ),
    "observed.nowhere": ("Where the capture was made does not show: acknowledgements, or the data, are not in it."),
    "observed.no_rtt": "No round-trip time could be measured; there are no windows per round trip.",
    "observed.handshake": (
        "The round-trip time is that of the handshake alone, {rtt}: slots of that length were used."
    ),
    "observed.handshake_echoes": (
        "The round-trip time is that of the handshake alone, {rtt}: slots of that length were used. No data was seen "
        "to answer an acknowledgement at once."
    ),
    "observed.rtts": "Round-trip times come from {source}: {samples}.",
    "observed.rtts_at_least": (
        "Round-trip times come from {source}: {samples}. They are lower bounds, at least {mean} on average: what a "
        "queue before the capture point adds does not show, as no data was seen to answer an acknowledgement at once."
    ),
    "observed.missed": (
        "{packets} ({share}) {were} acknowledged without having been captured: the capture missed {them}."
    ),
    "observed.acknowledged_first": (
        "{segments} {stand} after the acknowledgement in the file: its order is not that on the wire. What stands "
        "there counts once, as captured."
    ),
    "observed.discarded": (
        "The receiver, at which this was captured, discarded {packets} that lay beyond its window; they were sent "
        "again, and are no losses of the network."
    ),
    "observed.closed": (
        "The receiver closed its window; {probes} of one byte asked if it still was: neither data nor losses."
    ),
    "observed.no_sack": (
        "Without SACK, a sender goes back over data that had arrived. What was sent again needlessly is told from "
        "losses by acknowledgements that jump over it and by the duplicates that answer it: in captures of simulated "
        "traffic all round trips with a loss were found, and 99.8 % of those marked had one. Where acknowledgements "
        "are lost, too many losses are counted: up to 5 % for 2 % of them."
    ),
    "observed.merged": (
        "{merged} of {captured} {were} several packets, merged by offload; windows count packets of {bytes} bytes, of "
        "which the segments are multiples."
    ),
    "observed.odd": "{segments} had numbers that fit nothing and {were} passed over.",
    "observed.no_beginning": "The capture does not hold the connection's beginning.",
    "observed.few_rounds": "{rounds}: too few for windows, losses by window, or a spectrum.",
    "observed.spread": "Means over n round trips lie within {spread}.",
    "observed.scales_differ": "The spectra of the scales differ by more than chance (p = {p}).",
    "observed.scales_alike": "The spectra of the scales are not shown to differ (p = {p}).",
    "observed.no_chain": "{reason}.",
    "observed.chain": "The mean over round trips is {mean} packets, that of {control}'s fitted chain {chain}.",
    "observed.not_reno": (
        "The chain is Reno's, and this flow does not behave as Reno: the comparison shows by how much."
    ),
    # Arrivals.
    "observed.no_verdict": "{what}: no verdict; {reason}.",
    "observed.arrivals": "{what} in bins of {bin}: {verdict}",
}
