"""The sentences that open the page of a run, and parts of such."""

from __future__ import annotations

from collections.abc import Mapping

TEMPLATES: Mapping[str, str] = {
    # What the sentences on completion times rest on.
    "ended": "{ended} of {begun} ended.",
    # What limits the flows.
    "full": "{place} is the limit: it is {busy} busy.",
    "full_of_acks": "{place} is the limit: it is {busy} busy, with ACKs alone.",
    "nothing_crossed": "Nothing crossed {place} while it was measured.",
    "starts_late": "Nothing crossed {place} while it was measured: the first flow starts {late} before the end.",
    "all_ended_before": "Nothing crossed {place} while it was measured: all transfers had ended before.",
    "nothing_lost": ("{subject} {busy} busy, and next to nothing is lost there, so what limits the flows is {limits}."),
    "medium": "{subject} {busy} busy, and losses on the medium, {medium} of packets, hold the flows back.",
    "medium_and_queue": (
        "{subject} {busy} busy, and losses hold the flows back: the medium loses {medium} of packets, the queue drops "
        "{queue}."
    ),
    "drops_before": "{subject} {busy} busy, because its queue drops {queue} of packets before the link is full.",
    "drops_at_times": "{subject} {busy} busy, and its queue drops {queue} of packets at times when it is full.",
    # Who gets what.
    "delivers_nothing": "Nothing is delivered.",
    "one_flow": "Its flow gets {got}.",
    "flows": "Its {flows} get {got} each on average.",
    "flows_jain": "Its {flows} get {got} each on average, with a Jain’s index of {jain}.",
    "greedy_alone": "{group} gets {got} a flow.",
    "greedy_share": "{group} takes {share} of all goodput, {got} a flow.",
    "two_differ": "A flow of {group} gets {got}, one of {other} {less}.",
    "two_once": "In its one repetition, a flow of {group} gets {got}, one of {other} {less}.",
    "two_copies": "In every repetition alike, a flow of {group} gets {got}, one of {other} {less}.",
    "two_alike": "A flow of {group} ({got}) and one of {other} ({less}) get {verdict}.",
    "two_not_shown": "Between a flow of {group} ({got}) and one of {other} ({less}) no difference is shown.",
    "two_too_little": (
        "Between a flow of {group} ({got}) and one of {other} ({less}) no difference is shown that matters."
    ),
    "many_differ": "Of {groups}, {group} gets most, {got} a flow, and {other} least, {less}.",
    "many_once": "In its one repetition, of {groups}, {group} gets most, {got} a flow, and {other} least, {less}.",
    "many_copies": (
        "In every repetition alike, of {groups}, {group} gets most, {got} a flow, and {other} least, {less}."
    ),
    "many_not_shown": "Between the {groups} no difference in goodput is shown.",
    "many_too_little": "Between the {groups} no difference in goodput is shown that matters.",
    # What it costs.
    "wait": "Packets wait {wait} at {place} on average",
    "wait_tail": "Packets wait {wait} at {place} on average and 1 in 100 more than {tail}",
    "lost": "{lost} of them are lost",
    "arrive": "99 % of the packets of {group} arrive within {tail}",
    "done": "half of the transfers are done within {half}, 95 % within {tail}",
    "half_done_few": "half of the transfers are done within {half}, fewer than 95 % ended",
    "half_done_above": (
        "half of the transfers are done within {half}, fewer than 95 % ended: the 95th percentile is more than {above}"
    ),
    "half_done_values": "half of the transfers are done within {half} (95 %: {why})",
    "few_ended": "fewer than half of the transfers ended",
    "few_ended_above": "fewer than half of the transfers ended: the median is more than {above}",
    # What the numbers are worth.
    "model_wrong": "The model {models} is wrong here: it says that {what} is {predicted}; {did}, it is {measured}.",
    "models_wrong": "The models {models} are wrong here: they say that {what} is {predicted}; {did}, it is {measured}.",
    "transient_share": (
        "The share of {place} {moves} from {first} in the first half of the measured time to {second} in the second: "
        "the network has not settled, and these numbers are of a transient; run it for longer."
    ),
    "transient_goodput": (
        "The goodput of {place} {moves} from {first} in the first half of the measured time to {second} in the second: "
        "the network has not settled, and these numbers are of a transient; run it for longer."
    ),
    "transient_queue": (
        "The mean queue of {place} {moves} from {first} in the first half of the measured time to {second} in the "
        "second: the network has not settled, and these numbers are of a transient; run it for longer."
    ),
    # What a reader is warned of.
    "interrupted": "It shows the {finished} of {planned} that were finished.",
    "interrupted_unplanned": "It shows what was finished.",
    "off_load": (
        "{group}: the {number} sizes that were drawn have a mean of {sampled}, {off} {side} the {asked} asked for. "
        "With this distribution ({law}) the mean of so many lies between {low} and {high} in 95 % of runs, {least} to "
        "{most}: so uncertain is the load."
    ),
    "locked_out": (
        "{group}: {number} of {flows} (in all repetitions) got less than {share} of an equal share, and at least half "
        "of what they sent was dropped, while a flow of {best} had {goodput}. Where a queue is always full and hosts "
        "take no time, who is first may be decided for the whole run: give the flows a window limit, a "
        "processing_time, or a queue that drops at random."
    ),
    "locked_out_by_datagrams": (
        "{group}: {number} of {flows} (in all repetitions) got less than {share} of an equal share, and at least half "
        "of what they sent was dropped, while a flow of {best} had {goodput}. No ACK holds its datagrams back: give it "
        "a lower rate, or the link a queue for each flow (fq_codel)."
    ),
    "emulated_rtt": "Round-trip times are {bias} longer than those of the network, which is not corrected.",
    "worst_emulation": "Repetition {number}, the worst of all.",
    # What would change it.
    "less_loss": (
        "Simulated with other seeds, the flows get {before} as it is, and {after} without losses on the medium."
    ),
    "larger_buffer": "Simulated with other seeds, the flows get {before} as it is, and {after} with twice the buffer.",
    "fair_queue": (
        "A queue that serves flows in turn evens their goodput out: simulated with other seeds, a flow of {group} gets "
        "{before} as it is, and {after} with fq_codel."
    ),
    "smaller_buffer": (
        "99 % of packets find {standing} of queue or more: simulated with other seeds, packets wait {before} on "
        "average as it is, and {after} with a buffer smaller by that, and the link is as busy."
    ),
}
