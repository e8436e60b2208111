//! The tables, one row type each.
//!
//! Every table also has `repetition` as its first column, which is filled in where the rows are written.
//! Times are seconds of simulated (or measured) time since the run's start. Totals cover the time after
//! the warm-up; a quantity of which nothing was seen is null, never 0. Loss rates, utilisations and
//! other ratios have the unit 1.
//!
//! Flows are numbered through all groups, in the order of the scenario; transfers within their flow.

use crate::column::table;
use std::sync::Arc;

table! {
    /// One row a flow: what it got and what happened to it after the warm-up.
    pub struct FlowRow in "flows" {
        /// The flow's group in the scenario.
        group: Arc<str>, "";
        /// The flow's number.
        flow: u32, "";
        /// Name of the congestion control; empty for datagrams, and in traces.
        congestion_control: Arc<str>, "";
        /// Two-way propagation delay of its path; null in traces.
        rtt_base_s: Option<f64>, "s";
        /// When it started.
        start_s: f64, "s";
        /// Payload that reached the receiver for the first time, per second of the time measured;
        /// of a trace: of the flow's own.
        goodput_bps: Option<f64>, "bit/s";
        /// All bits that reached the receiver, headers and duplicates too, per second of the time measured.
        throughput_bps: Option<f64>, "bit/s";
        /// Packets sent, SYNs and retransmissions included.
        packets_sent: Option<u64>, "packets";
        /// Packets sent again.
        retransmissions: Option<u64>, "packets";
        /// Of the packets sent, those that were dropped or lost, in the host or on any link; of a trace: that were found to be.
        packets_dropped: Option<u64>, "packets";
        /// Packets dropped over packets sent; null if none was sent.
        loss_rate: Option<f64>, "1";
        /// Fast recoveries entered.
        loss_events: Option<u64>, "events";
        /// Retransmission timeouts.
        timeouts: Option<u64>, "events";
        /// Window reductions that answer an ECN echo.
        ecn_reductions: Option<u64>, "events";
        /// Mean congestion window over time; null without one.
        mean_cwnd_packets: Option<f64>, "packets";
        /// Mean of the RTT samples; null without one.
        mean_rtt_s: Option<f64>, "s";
        /// Smallest RTT sample, of a trace also the handshake's, of hosts that are emulated also those of the warm-up; null without one.
        min_rtt_s: Option<f64>, "s";
        /// RTT that half of its samples did not exceed; null where they were not counted apart from its group's (more than
        /// 1000 flows, connections of open loops, series), as for all percentiles of a flow.
        rtt_p50_s: Option<f64>, "s";
        /// RTT that 95 % of its samples did not exceed.
        rtt_p95_s: Option<f64>, "s";
        /// RTT that 99 % of its samples did not exceed.
        rtt_p99_s: Option<f64>, "s";
        /// Mean one-way delay of its packets, from sending to arrival; null if none arrived or it was not measured, as for
        /// all delays.
        mean_one_way_delay_s: Option<f64>, "s";
        /// One-way delay that half of its packets did not exceed.
        one_way_delay_p50_s: Option<f64>, "s";
        /// One-way delay that 95 % of its packets did not exceed.
        one_way_delay_p95_s: Option<f64>, "s";
        /// One-way delay that 99 % of its packets did not exceed.
        one_way_delay_p99_s: Option<f64>, "s";
        /// Longest one-way delay.
        max_one_way_delay_s: Option<f64>, "s";
        /// Mean difference between the one-way delays of packets that arrive one after another (RFC 3550, section 6.4.1).
        jitter_s: Option<f64>, "s";
        /// Packets sent that entered the network marked in; null without a marker (as for all classes).
        sent_in_packets: Option<u64>, "packets";
        /// Packets sent that entered the network out.
        sent_out_packets: Option<u64>, "packets";
        /// Of the in-packets sent, those that were dropped or lost, on any link.
        dropped_in_packets: Option<u64>, "packets";
        /// Of the out-packets sent, those that were dropped or lost, on any link.
        dropped_out_packets: Option<u64>, "packets";
        /// Its in-packets that reached the receiver.
        delivered_in_packets: Option<u64>, "packets";
        /// Its out-packets that reached the receiver.
        delivered_out_packets: Option<u64>, "packets";
    }
}

table! {
    /// One row a transfer, finished or not.
    pub struct TransferRow in "transfers" {
        /// The flow's group in the scenario.
        group: Arc<str>, "";
        /// The flow's number.
        flow: u32, "";
        /// The transfer's number within its flow.
        transfer: u32, "";
        /// When the application handed it over.
        start_s: f64, "s";
        /// When its last byte was acknowledged; null if that had not happened at the end.
        completion_s: Option<f64>, "s";
        /// Payload; null if it never ends.
        size_bytes: Option<u64>, "bytes";
        /// Packets sent for it, SYNs and retransmissions included.
        packets_sent: u64, "packets";
        /// Packets sent again.
        retransmissions: u64, "packets";
        /// Retransmission timeouts.
        timeouts: u64, "events";
    }
}

table! {
    /// One row a round trip of a flow: the windows and losses that throughput models need.
    pub struct RoundRow in "rounds" {
        /// The flow's number.
        flow: u32, "";
        /// The round trip's number within its flow.
        round: u64, "";
        /// When it began.
        start_s: f64, "s";
        /// Packets sent in it.
        window_packets: u32, "packets";
        /// Whether one of these packets was lost.
        lost: bool, "";
    }
}

table! {
    /// The state of a flow at regular times.
    pub struct FlowSampleRow in "flow_samples" {
        /// The flow's number.
        flow: u32, "";
        /// When.
        time_s: f64, "s";
        /// Congestion window; null in captures, which do not show it, and for datagrams.
        cwnd_packets: Option<f64>, "packets";
        /// Rate at which packets go that a control sets, of datagrams too (from their start on); null with the others.
        rate_pps: Option<f64>, "packets/s";
        /// Slow-start threshold; null as long as there is none.
        ssthresh_packets: Option<f64>, "packets";
        /// Packets sent and neither acknowledged nor found lost; null for datagrams.
        in_flight_packets: Option<u64>, "packets";
        /// Smoothed RTT; null before the first sample.
        srtt_s: Option<f64>, "s";
        /// Payload delivered so far, warm-up included.
        delivered_bytes: Option<u64>, "bytes";
        /// Packets sent again so far, warm-up included.
        retransmissions: Option<u64>, "packets";
        /// Largest slope (A) of the large time scale, in slopes of the control it steers; null without one.
        largest_slope: Option<f64>, "";
    }
}

table! {
    /// One row a link: its load, losses, queue and delays after the warm-up.
    pub struct LinkRow in "links" {
        /// The link's name in the scenario.
        link: Arc<str>, "";
        /// Its rate; the mean of one that varies.
        rate_bps: f64, "bit/s";
        /// Packets that arrived, lost ones included.
        arrivals_packets: u64, "packets";
        /// Bytes that arrived, lost ones included.
        arrivals_bytes: u64, "bytes";
        /// Of the packets that arrived, those that the queue dropped.
        dropped_packets: u64, "packets";
        /// Packets that the medium lost.
        medium_losses_packets: u64, "packets";
        /// Packets that the queue marked instead of dropping them (ECN).
        marked_packets: u64, "packets";
        /// Packets transmitted, those too that had arrived before the warm-up ended.
        forwarded_packets: u64, "packets";
        /// Bytes transmitted.
        forwarded_bytes: u64, "bytes";
        /// Bits transmitted over bits that could have been.
        utilisation: f64, "1";
        /// Packets dropped or lost over packets that arrived; null if none arrived.
        loss_rate: Option<f64>, "1";
        /// Mean over time of the packets waiting, without the one in service.
        mean_queue_packets: f64, "packets";
        /// Standard deviation over time of the packets waiting.
        sd_queue_packets: f64, "packets";
        /// Most packets waiting.
        max_queue_packets: u64, "packets";
        /// Mean of the packets waiting that arrivals found; null if none arrived.
        mean_queue_at_arrival_packets: Option<f64>, "packets";
        /// Mean wait before transmission of the packets that arrived and were not dropped, also of those whose turn comes after the end (queues that decide at departure: only if it came before); null if there is none (as for all delays).
        mean_queueing_delay_s: Option<f64>, "s";
        /// Wait that half of the packets did not exceed.
        queueing_delay_p50_s: Option<f64>, "s";
        /// Wait that 90 % of the packets did not exceed.
        queueing_delay_p90_s: Option<f64>, "s";
        /// Wait that 95 % of the packets did not exceed.
        queueing_delay_p95_s: Option<f64>, "s";
        /// Wait that 99 % of the packets did not exceed.
        queueing_delay_p99_s: Option<f64>, "s";
        /// Wait that 99.9 % of the packets did not exceed.
        queueing_delay_p999_s: Option<f64>, "s";
        /// Longest wait.
        max_queueing_delay_s: Option<f64>, "s";
        /// Packets marked in that arrived; null if no marked flow crosses and the queue knows no classes (as for all).
        arrivals_in_packets: Option<u64>, "packets";
        /// Packets that arrived and were not marked in.
        arrivals_out_packets: Option<u64>, "packets";
        /// In-packets that the queue dropped.
        dropped_in_packets: Option<u64>, "packets";
        /// Out-packets that the queue dropped.
        dropped_out_packets: Option<u64>, "packets";
        /// In-packets that the medium lost.
        medium_losses_in_packets: Option<u64>, "packets";
        /// Out-packets that the medium lost.
        medium_losses_out_packets: Option<u64>, "packets";
        /// In-packets transmitted.
        forwarded_in_packets: Option<u64>, "packets";
        /// Out-packets transmitted.
        forwarded_out_packets: Option<u64>, "packets";
    }
}

table! {
    /// What a link did in each of a series of equal intervals (bins).
    pub struct LinkSampleRow in "link_samples" {
        /// The link's name in the scenario.
        link: Arc<str>, "";
        /// Start of the bin.
        time_s: f64, "s";
        /// Length of the bin.
        bin_s: f64, "s";
        /// Packets that arrived.
        arrivals_packets: u64, "packets";
        /// Packets that the queue dropped or the medium lost.
        dropped_packets: u64, "packets";
        /// Bytes transmitted.
        forwarded_bytes: u64, "bytes";
        /// Its rate; the mean over the bin of one that varies.
        rate_bps: f64, "bit/s";
        /// Mean over the bin of the packets waiting.
        mean_queue_packets: f64, "packets";
        /// Mean wait of the packets that arrived in the bin and were not dropped; null if there was none.
        mean_queueing_delay_s: Option<f64>, "s";
        /// Packets marked in that arrived; null if no marked flow crosses and the queue knows no classes (as for all).
        arrivals_in_packets: Option<u64>, "packets";
        /// Packets that arrived and were not marked in.
        arrivals_out_packets: Option<u64>, "packets";
        /// In-packets that the queue dropped or the medium lost.
        dropped_in_packets: Option<u64>, "packets";
        /// Out-packets that the queue dropped or the medium lost.
        dropped_out_packets: Option<u64>, "packets";
    }
}

table! {
    /// Payload that a group's flows delivered in each of a series of equal intervals (bins). Of the kernel's TCP there is none: only the hosts know
    /// their payload.
    pub struct GroupSampleRow in "group_samples" {
        /// The group's name in the scenario.
        group: Arc<str>, "";
        /// Start of the bin.
        time_s: f64, "s";
        /// Length of the bin.
        bin_s: f64, "s";
        /// Payload of all its flows that reached the receiver for the first time, warm-up included, by when it had crossed the
        /// last link of its path.
        delivered_bytes: u64, "bytes";
    }
}

table! {
    /// How many packets waited how long: the buckets of a histogram that hold any. The packets are those of `mean_queueing_delay_s`.
    pub struct DelayHistogramRow in "delay_histogram" {
        /// The link's name in the scenario.
        link: Arc<str>, "";
        /// Shortest wait of the bucket.
        low_s: f64, "s";
        /// End of the bucket, not part of it.
        high_s: f64, "s";
        /// Packets in it.
        packets: u64, "packets";
    }
}

table! {
    /// The latency of a group's packets after the warm-up, one row a group.
    pub struct GroupRow in "groups" {
        /// The group's name in the scenario.
        group: Arc<str>, "";
        /// Packets with data that arrived, of all its flows, those sent again too.
        packets: u64, "packets";
        /// Mean one-way delay, from sending to arrival; null if no packet arrived (as for all one-way delays).
        mean_one_way_delay_s: Option<f64>, "s";
        /// Shortest one-way delay.
        min_one_way_delay_s: Option<f64>, "s";
        /// One-way delay that half of the packets did not exceed.
        one_way_delay_p50_s: Option<f64>, "s";
        /// One-way delay that 95 % of the packets did not exceed.
        one_way_delay_p95_s: Option<f64>, "s";
        /// One-way delay that 99 % of the packets did not exceed.
        one_way_delay_p99_s: Option<f64>, "s";
        /// Longest one-way delay.
        max_one_way_delay_s: Option<f64>, "s";
        /// Mean difference between the one-way delays of packets that arrive one after another in a flow (RFC 3550,
        /// section 6.4.1).
        jitter_s: Option<f64>, "s";
        /// RTT samples of its senders; 0 for datagrams.
        rtt_samples: u64, "samples";
        /// Mean of the RTT samples; null without one (as for all RTTs).
        mean_rtt_s: Option<f64>, "s";
        /// RTT that half of the samples did not exceed.
        rtt_p50_s: Option<f64>, "s";
        /// RTT that 95 % of the samples did not exceed.
        rtt_p95_s: Option<f64>, "s";
        /// RTT that 99 % of the samples did not exceed.
        rtt_p99_s: Option<f64>, "s";
        /// Largest RTT sample.
        max_rtt_s: Option<f64>, "s";
    }
}

table! {
    /// How many packets or samples of a group had which latency: the buckets of two histograms that hold any.
    pub struct LatencyHistogramRow in "latency_histogram" {
        /// The group's name in the scenario.
        group: Arc<str>, "";
        /// What is counted: `one_way_delay` of packets, or `rtt` of samples.
        measure: Arc<str>, "";
        /// Smallest value of the bucket.
        low_s: f64, "s";
        /// End of the bucket, not part of it.
        high_s: f64, "s";
        /// Values in it.
        samples: u64, "samples";
    }
}

table! {
    /// Inner variables of congestion controls and queues (`probes.internals`): one row a variable and sample. `parshall list NAME`
    /// says what the variables of a control or queue mean, with their units.
    pub struct InternalRow in "internals" {
        /// The flow's group, or the link, in the scenario.
        owner: Arc<str>, "";
        /// The flow's number; null for the queue of a link.
        flow: Option<u32>, "";
        /// When.
        time_s: f64, "s";
        /// Name of the variable.
        variable: Arc<str>, "";
        /// Its value then, in its own unit. A variable without a value has no row.
        value: f64, "";
    }
}

table! {
    /// What a capture shows of a flow besides the table `flows`: one row a direction of a connection that carries data.
    pub struct TraceFlowRow in "trace_flows" {
        /// Both ends, as in `flows`.
        group: Arc<str>, "";
        /// The flow's number, in the order in which their data begins.
        flow: u32, "";
        /// Address of the end that sends the data.
        source: Arc<str>, "";
        /// Its port.
        source_port: u32, "";
        /// Address of the other end.
        destination: Arc<str>, "";
        /// Its port.
        destination_port: u32, "";
        /// Tags of its VLANs, the outer one first, as `7` or `7.9`; empty without.
        vlan: Arc<str>, "";
        /// Where the capture was made: at the `sender`, the `receiver`, in the `middle`; empty if it does not show.
        vantage: Arc<str>, "";
        /// What the round-trip times are made of: `acknowledgements`, also `and timestamps`, `handshake`, or nothing.
        rtt_source: Arc<str>, "";
        /// RTT samples.
        rtt_samples: u64, "samples";
        /// Whether most RTT samples lack what a queue before the capture point adds: nothing there showed it.
        rtt_is_lower_bound: bool, "";
        /// Least time from an acknowledgement at the capture point to data that answers it; null if none showed it.
        least_before_s: Option<f64>, "s";
        /// Least time from a segment at the capture point to its acknowledgement; null if none was seen.
        least_beyond_s: Option<f64>, "s";
        /// RTT of the handshake; null if it was not captured whole.
        handshake_rtt_s: Option<f64>, "s";
        /// Whether the sender's SYN was captured.
        opened: bool, "";
        /// SYNs sent again.
        syn_retransmissions: u64, "packets";
        /// The MSS option of the sender's SYN; null if there was none.
        mss_bytes: Option<u64>, "bytes";
        /// The shift of the sender's window scale option; null if there was none.
        window_scale: Option<u64>, "bits";
        /// Whether both ends permitted SACK.
        sack_permitted: bool, "";
        /// Whether both ends offered timestamps.
        timestamps: bool, "";
        /// How the connection ended: `closed`, `half-closed`, `reset`, or still `open` at the end of the capture.
        ending: Arc<str>, "";
        /// Last data, or progress in acknowledging it.
        end_s: f64, "s";
        /// Payload acknowledged, or seen if acknowledgements are not.
        delivered_bytes: u64, "bytes";
        /// Payload of a full packet, as found.
        segment_bytes: u64, "bytes";
        /// Captured segments with data.
        segments_captured: u64, "segments";
        /// Those that were several packets, merged by offload.
        merged_segments: u64, "segments";
        /// Acknowledgements captured.
        acknowledgements: u64, "packets";
        /// Packets lost before the capture point.
        lost_before_capture_packets: u64, "packets";
        /// Packets sent again although they had arrived.
        spurious_retransmissions: u64, "packets";
        /// Packets that were overtaken.
        out_of_order_packets: u64, "packets";
        /// Packets that were acknowledged and not captured.
        uncaptured_packets: u64, "packets";
        /// Segments that stand behind their acknowledgement in the file: its order is not that on the wire.
        acknowledged_first: u64, "segments";
        /// Packets sent again because the receiver, at which they were captured, discarded the copy before: it lay beyond the
        /// window. No losses.
        discarded_by_receiver: u64, "packets";
        /// Packets of the connection that were captured twice, and counted once.
        captured_twice: u64, "packets";
        /// Last packets sent again before a timeout (RFC 8985).
        tail_loss_probes: u64, "packets";
        /// Duplicates that the receiver reported (RFC 2883).
        duplicates_reported: u64, "packets";
        /// Acknowledgements that closed the window.
        zero_windows: u64, "packets";
        /// Bytes sent to learn whether the window is still closed; neither data nor losses.
        zero_window_probes: u64, "packets";
        /// Largest window that the receiver offered; null if none was seen.
        max_receive_window_bytes: Option<u64>, "bytes";
        /// Segments whose numbers fit nothing, and were passed over.
        odd_segments: u64, "segments";
    }
}

table! {
    /// What limited a flow of a trace, as docs/observe.md says: the time that went to each cause, and what it shows of the path. The
    /// causes of one flow add up to the time from its SYN, or its first data, to its end. Series have what the kernel counted; null without.
    pub struct TraceLimitRow in "trace_limits" {
        /// Both ends, as in `flows`.
        group: Arc<str>, "";
        /// The flow's number.
        flow: u32, "";
        /// Time from the first SYN until the connection was open.
        limited_by_handshake_s: Option<f64>, "s";
        /// Time in slow start, the window growing.
        limited_by_slow_start_s: Option<f64>, "s";
        /// Time in which the application had nothing to send.
        limited_by_application_s: Option<f64>, "s";
        /// Time in which the receiver's window was full or closed.
        limited_by_receiver_s: Option<f64>, "s";
        /// Time in which the sender's own buffer or control limited it, without a queue or a loss.
        limited_by_sender_s: Option<f64>, "s";
        /// Time in which the path was full: a queue stood, or the last loss fell into one.
        limited_by_full_queue_s: Option<f64>, "s";
        /// Time in which the window recovered from losses outside full queues.
        limited_by_random_loss_s: Option<f64>, "s";
        /// Time without progress before timeouts.
        limited_by_outage_s: Option<f64>, "s";
        /// Time for which no cause is known.
        limited_by_unknown_s: Option<f64>, "s";
        /// Mean window that the receiver offered while it limited the flow; null if it did not.
        receive_window_bytes: Option<f64>, "bytes";
        /// Packets in a round trip meanwhile.
        window_limited_packets: Option<f64>, "packets";
        /// Smoothed RTT meanwhile.
        window_limited_rtt_s: Option<f64>, "s";
        /// Rate on the wire at which data were acknowledged while a queue stood: that of the bottleneck, or of the flow's share of it; null
        /// without five such round trips.
        path_rate_bps: Option<f64>, "bit/s";
        /// Loss events in full queues; null in series.
        queue_losses: Option<u64>, "events";
        /// Loss events outside; null in series.
        random_losses: Option<u64>, "events";
        /// Mean of the RTT above the least one just before losses in full queues; null without one.
        queueing_delay_at_loss_s: Option<f64>, "s";
    }
}

table! {
    /// What limited a flow of a trace, when: one row a stretch of time with one cause, without gaps.
    pub struct TracePeriodRow in "trace_periods" {
        /// The flow's number.
        flow: u32, "";
        /// When it began.
        start_s: f64, "s";
        /// When it ended.
        end_s: f64, "s";
        /// The cause: `handshake`, `slow_start`, `application`, `receiver`, `sender`, `full_queue`, `random_loss`, `outage`, `unknown`.
        limited_by: Arc<str>, "";
    }
}

table! {
    /// The receiver's window at the times of `flow_samples`, where the capture shows how it is scaled.
    pub struct TraceWindowRow in "trace_windows" {
        /// The flow's number.
        flow: u32, "";
        /// When.
        time_s: f64, "s";
        /// The window that the receiver offered last.
        receive_window_bytes: u64, "bytes";
        /// Payload that had passed the capture point and was not acknowledged there.
        outstanding_bytes: u64, "bytes";
    }
}

table! {
    /// What happened to a flow of a capture, when.
    pub struct TraceEventRow in "trace_events" {
        /// The flow's number.
        flow: u32, "";
        /// When it happened, or began.
        time_s: f64, "s";
        /// `zero_window`: the receiver offers no window; `stall`: no progress for more than 0.2 s and three round trips, though data were
        /// under way; `timeout`: the timer sends data again; `reset`; `syn_retried`.
        event: Arc<str>, "";
        /// How long it lasted; of timeouts and SYNs the time since the last progress, or the first SYN. Null if it has no length or its end was not seen.
        lasted_s: Option<f64>, "s";
    }
}

table! {
    /// What arrived at the capture point in each of a series of equal intervals (bins), of all protocols and in all directions.
    pub struct TraceArrivalRow in "trace_arrivals" {
        /// Start of the bin, from the first frame on.
        time_s: f64, "s";
        /// Length of the bin.
        bin_s: f64, "s";
        /// Frames.
        packets: u64, "packets";
        /// Their bytes on the wire.
        bytes: u64, "bytes";
        /// TCP connections of which the first packet was seen.
        connections: u64, "";
    }
}
