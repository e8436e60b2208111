//! Where queues do otherwise than the papers, RFCs and simulators that they follow.
//!
//! Each entry has a test in `still_deviates.rs` that fails when the deviation is gone.

parshall_units::deviations! {
    fq_codel_drops_one_packet_at_a_time {
        source: "Linux, `fq_codel_drop`",
        there: "a full queue drops up to 64 packets of the largest flow at once",
        here: "it drops one",
        why: "RFC 8290 §4.1.2 has it so; Linux saves time in floods",
        file: "src/queues/fq_codel.rs",
    }
    rio_counts_the_packet_in_transmission {
        source: "ns-2, `queue/rio.cc`",
        there: "queue lengths are of packets that wait",
        here: "they have the packet being transmitted, as all limits here",
        why: "so it is the birth-death chain of Malouch & Liu 2002; thresholds of ns-2 are one packet lower",
        file: "src/queues/rio.rs",
    }
    sfb_penalty_is_a_rate_of_bytes {
        source: "Linux, `sfb_rate_limit`",
        there: "flows that do not react have so many packets a second, by a bucket that fills while it is asked",
        here: "they have a rate in bit/s, and a bucket of bytes that fills all the time",
        why: "packets differ in size here",
        file: "src/queues/sfb.rs",
    }
}
