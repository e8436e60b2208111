//! Where controls do otherwise than the papers, RFCs and kernels that they follow.
//!
//! Each entry has a test in `still_deviates.rs` that fails when the deviation is gone.

parshall_units::deviations! {
    bbr_first_rtt_sets_its_rate {
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        there: "the pacing rate of an RTT of 1 ms stays until the pipe is full, which is no pacing",
        here: "the first RTT sets the rate",
        why: "Linux and later drafts have it so",
        file: "src/bbr.rs",
    }
    bbr_window_grows_while_it_is_used {
        source: "drafts of BBR",
        there: "the window grows with what is delivered, up to its bound",
        here: "it does so while it is in use",
        why: "as the windows of all controls here (RFC 5681 §3.1, RFC 7661)",
        file: "src/bbr.rs",
    }
    bbr_quanta_are_packets {
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        there: "the window has room for three quanta of segmentation offload above the BDP, of two packets and more",
        here: "for three packets",
        why: "there is no segmentation offload",
        file: "src/bbr.rs",
    }
    bbr2_judges_marks_by_round_trips {
        source: "BBRv2's alpha release for Linux, `tcp_bbr2.c`",
        there: "probing ends by the marks since the sampled packet was sent",
        here: "by those of a round trip, when it has ended",
        why: "the endpoint counts losses since a packet was sent, and no marks",
        file: "src/bbr2.rs",
    }
    bbr2_marks_leave_its_bandwidth {
        source: "BBRv2's alpha release for Linux, `tcp_bbr2.c`",
        there: "marks while probing also bound the bandwidth (bw_hi)",
        here: "they bound the packets in flight alone",
        why: "later versions have no such bound",
        file: "src/bbr2.rs",
    }
    bbr3_counts_acks_with_losses {
        source: "draft-ietf-ccwg-bbr-06",
        there: "six separate ranges of lost packets in a round trip end Startup",
        here: "six ACKs that bring losses do",
        why: "Linux counts so",
        file: "src/bounded_bbr.rs",
    }
    bbr3_judges_losses_at_acks {
        source: "draft-ietf-ccwg-bbr-06, `HandleLostPacket`",
        there: "each packet is judged when it is found to be lost",
        here: "losses are judged at ACKs, by the packet delivered last",
        why: "a loss is found by packets sent right behind it, with as much in flight, unless packets are reordered",
        file: "src/bounded_bbr.rs",
    }
    bbr3_tolerates_losses_without_sack {
        source: "draft-ietf-ccwg-bbr-06",
        there: "without SACK any loss of a round trip is too much",
        here: "2 % may be lost, as with SACK",
        why: "a control does not know how its losses were found",
        file: "src/bounded_bbr.rs",
    }
    bbr3_has_no_budget_for_bursts {
        source: "draft-ietf-ccwg-bbr-06",
        there: "the window has room for ACKs that come aggregated and for segmentation offload",
        here: "it is the gain times the BDP",
        why: "receivers do not aggregate ACKs, and there is no segmentation offload",
        file: "src/bounded_bbr.rs",
    }
    bbr3_timeout_leaves_one_packet {
        source: "draft-ietf-ccwg-bbr, `BBROnEnterRTO`",
        there: "a timeout leaves a window of what is in flight and one packet",
        here: "one packet, which Linux's rules raise to that",
        why: "the control knows no packets in flight after a timeout, the endpoint does",
        file: "src/bbr3.rs",
    }
    bic_remembers_small_maxima {
        source: "Xu, Harfoush & Rhee 2004",
        there: "a loss below low_window leaves max_win as it was",
        here: "it sets max_win, as in Linux",
        why: "a flow that came down to 14 packets would climb by S_max a round trip towards a maximum that may be long gone",
        file: "src/bic.rs",
    }
    bic_probes_before_its_first_loss {
        source: "Xu, Harfoush & Rhee 2004",
        there: "before the first loss max_win is a large constant, so that the window grows by S_max a round trip",
        here: "max probing begins at one packet, as in Linux",
        why: "there is no maximum yet",
        file: "src/bic.rs",
    }
    cubic_2005_begins_at_its_window {
        source: "Rhee & Xu 2005",
        there: "K = cbrt(beta W_max / C)",
        here: "K = cbrt((W_max - cwnd) / C), as in Linux",
        why: "after fast convergence the curve would not begin at the window",
        file: "src/cubic_2005.rs",
    }
    limited_slow_start_does_not_round {
        source: "RFC 3742 §2",
        there: "K is rounded down, so that a round trip adds up to half as much again as max_ssthresh / 2",
        here: "K is not rounded",
        why: "windows are fractional here, and the bound that the RFC states then holds",
        file: "src/limited_slow_start.rs",
    }
    nv_decides_while_its_window_is_used {
        source: "Linux, `tcpnv_acked`",
        there: "a decision is made in each round trip",
        here: "one is made while the window is in use",
        why: "a rate that the application sets says nothing of the path",
        file: "src/nv.rs",
    }
}
