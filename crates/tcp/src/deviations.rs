//! Where this crate does otherwise than the RFCs, or by Linux's rules otherwise than Linux.
//!
//! Each entry has a test in `still_deviates.rs` that fails when the deviation is gone.

parshall_units::deviations! {
    least_rtt_never_forgotten {
        source: "RFC 8985 §6.2 step 1; `tcp_update_rtt_min`",
        there: "the smallest RTT of the last minutes bounds RACK's reordering window",
        here: "the smallest of the connection does",
        why: "delays of paths are constant here",
        file: "src/recovery/rack/segments.rs",
    }
    first_packet_in_doubt {
        source: "RFC 8985 §6.2 step 5",
        there: "the reordering timer waits for the last packet in doubt",
        here: "it waits for the first one, and then for the next",
        why: "each loss is found at its time",
        file: "src/recovery/rack/segments.rs",
    }
    reordering_timer_of_slack_alone {
        source: "Linux, `calc_wheel_index`",
        there: "the wait of the reordering timer decides how far its expiry is rounded up",
        here: "the 2 ms that Linux adds do, not the part of an RTT before them",
        why: "that part is not kept; the expiry is a few ticks early where it exceeds 63 ticks",
        file: "src/recovery/rack.rs",
    }
    duplicate_acks_are_no_rate_sample {
        source: "Linux, `tcp_add_reno_sack`",
        there: "without SACK a duplicate ACK counts a packet as delivered for the delivery rate too",
        here: "it counts for the window, and not for rate samples",
        why: "controls that need samples are used with SACK",
        file: "src/recovery/classic.rs",
    }
    fractional_ssthresh_metric {
        source: "Linux, `tcp_update_metrics`",
        there: "windows are whole packets, and so is the ssthresh that is kept for the next connection",
        here: "it may be fractional",
        why: "windows are, with controls of the RFCs",
        file: "src/ssthresh_cache.rs",
    }
    ssthresh_metric_never_expires {
        source: "Linux, `TCP_METRICS_TIMEOUT`",
        there: "what is kept of earlier connections expires after an hour",
        here: "it never does",
        why: "simulations are shorter",
        file: "src/ssthresh_cache.rs",
    }
    syn_answer_has_no_timer {
        source: "RFC 6298 §5; Linux, `reqsk_timer_handler`",
        there: "the answer to a SYN is sent again until it is acknowledged",
        here: "each SYN is answered once",
        why: "the client's timer repeats the SYN where an answer is lost",
        file: "src/receiver.rs",
    }
    each_syn_is_echoed {
        source: "Linux, `tcp_check_req`",
        there: "the answer to a repeated SYN echoes the timestamp of the first SYN that came",
        here: "it echoes that of the SYN that it answers",
        why: "RFC 7323 asks for no more, and the RTT is then that of the repeated one",
        file: "src/receiver.rs",
    }
    last_syn_times_the_handshake {
        source: "Linux, `tcp_synack_rtt_meas`",
        there: "a receiver times the handshake by the timestamp that the client echoes",
        here: "it counts from the last SYN that came",
        why: "segments carry no echo; only how long ACKs wait depends on it",
        file: "src/receiver.rs",
    }
    no_probes_of_a_closed_window {
        source: "RFC 9293 §3.8.6.1; Linux, `tcp_probe_timer`",
        there: "a sender probes a window of zero",
        here: "it waits for an ACK",
        why: "receivers read at once, so that a window never closes for good",
        file: "src/sender/transmission.rs",
    }
    no_nagle {
        source: "RFC 9293 §3.7.4",
        there: "a packet below the MSS waits while another is unacknowledged",
        here: "it goes",
        why: "data is counted in packets, whose sizes a sender does not know",
        file: "src/sender/transmission.rs",
    }
    one_bit_of_accurate_ecn {
        source: "RFC 9768; RFC 9331 §4.4",
        there: "ACKs count marked packets in a field of three bits, however many an ACK is for",
        here: "ACKs have the echo of their own packets, and one goes at once where marks change (RFC 8257 §3.2)",
        why: "a control then hears the same share of marks",
        file: "src/receiver.rs",
    }
    no_limit_of_what_waits_in_the_host {
        source: "Linux, `tcp_small_queue_check`",
        there: "a connection has a few bursts at most in the queues of its host",
        here: "it sends what its window lets go",
        why: "nothing waits there in an emulation either",
        file: "src/sender/transmission.rs",
    }
    no_push_of_a_full_send_buffer {
        source: "Linux, `tcp_sendmsg_locked`",
        there: "a source without end pushes each time that it has filled the send buffer",
        here: "it pushes the ends of bursts alone",
        why: "there is no send buffer",
        file: "src/sender/transmission.rs",
    }
}
