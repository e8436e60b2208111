//! Where Linux's TCP does not do what the RFCs say: whose rules hold.
//!
//! | | `rfc` | `linux` | where |
//! | --- | --- | --- | --- |
//! | whether the window may grow | if the window was what stopped the last transmission (RFC 5681 §3.1) | in slow start also while it is below twice the most packets that were out in a round trip; else if a transmission of the round trip was stopped by it (`tcp_is_cwnd_limited`) | [`WindowUse`] |
//! | by how much | by the packets acknowledged (RFC 3465) | by those of them that no SACK block had reported before (`tcp_cong_control`) | `recovery` |
//! | ssthresh after a timeout | from the packets in flight (RFC 5681 eq. (4)) | from the window; in a recovery, which has reduced it, it stays (`tcp_enter_loss`) | `connection.rs` |
//! | the window after a timeout | one packet (RFC 5681 §3.1) | one more than what RACK takes to be in the network still (`tcp_enter_loss`) | `recovery/rack.rs` |
//! | losses that are found during a recovery, of packets sent since it began | repaired by it | answered by another one, which begins when it ends, if they are not known to have arrived then, sent again or not (`tcp_time_to_recover`) | `recovery/rack/segments.rs` |
//! | packets found lost after a timeout that had been sent again | sent once more (RFC 8985 §6.3) | a recovery begins, which reduces the window (`FLAG_LOST_RETRANS` in `tcp_fastretrans_alert`; `tcp_rack_reo_timeout`) | `recovery/rack.rs` |
//! | a reduction whose packets were only late | stays | is undone, by D-SACK, timestamps or F-RTO, which lets new data go first after a timeout (`tcp_try_undo_recovery`, `tcp_process_loss` and others) | `recovery/rack/undo.rs` |
//! | packets per ACK in recovery | PRR of RFC 6937 | the ACK that begins the recovery counts; below ssthresh one packet more than was delivered only at an ACK that advances and finds no loss; from the window, not from the packets in flight (`tcp_cwnd_reduction`; draft-ietf-tcpm-prr-rfc6937bis) | `recovery/prr.rs` |
//! | the window after an ECN echo | reduced at once | reduced as in recovery, by PRR (`tcp_enter_cwr`) | `recovery/prr.rs` |
//! | packets that pacing lets go together | one | what is sent in 1/1024 s, with a share for short RTTs, but two at least (one below 1.2 Mbit/s); the first ten of a connection; what goes late is followed sooner, by half of its time at most (`tcp_tso_autosize`, `bbr_min_tso_segs`, `tcp_update_skb_after_send`) | `pacing.rs` |
//! | packets that have room | go | wait if they are less than such a burst, and than a third of the window, the last one went within a millisecond, and an ACK is due within another (`tcp_tso_should_defer`) | `sender/segmentation.rs` |
//! | until when pacing is at twice the window a round trip | ssthresh | half of ssthresh (`tcp_update_pacing_rate`) | `sender/transmission.rs` |
//! | ACKs at the beginning of a connection | delayed as all others | sixteen at once (`tcp_enter_quickack_mode`, `tcp_event_data_recv`, `tcp_dec_quickack_mode`) | `receiver.rs` |
//! | ACKs after a mark | at once for each marked packet | at once for two packets after the first mark that is not yet answered, after a retransmission, and for a packet that says that the window is reduced (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`) | `receiver.rs` |
//! | a SYN that is not answered | sent again after twice the time (RFC 6298 (5.5)) | after the same time, five times (`tcp_retransmit_timer`, `tcp_syn_linear_timeouts`) | `connection/handshake.rs` |
//! | the window after a lost SYN | one packet (RFC 5681 §3.1) | that after two timeouts, unless the answer's timestamp says that the first SYN was only late (`tcp_init_transfer`, `tcp_try_undo_spurious_syn`) | `connection/handshake.rs` |
//! | the RTT of a SYN that was sent again | unknown, and the first timeout of data is 3 s (RFC 6298 (5.7)) | by its timestamp (`tcp_ack_update_rtt`) | `connection/handshake.rs` |
//! | the loss probe | after 2 SRTT, and the delay of an ACK for a single packet (RFC 8985 §7.2) | the same and 2 ms, or 200 ms for a single packet; no later than the timeout; after a transmission no later than the timeout of the first packet, counted from when that was sent (`tcp_schedule_loss_probe`, `tcp_rto_delta_us`) | `recovery/rack.rs` |
//! | packets in doubt | lost when the reordering window has passed | looked at 2 ms later, if no ACK comes (`tcp_rack_mark_lost`) | `recovery/rack.rs` |
//! | ACKs after a packet that had arrived | delayed as others | at once for sixteen (`tcp_data_queue`) | `receiver.rs` |
//! | a SYN that is sent again | asks for ECN as the first one (RFC 3168 §6.1.1.1 leaves the choice) | does not, so that the connection has no ECN if the first one was lost (`tcp_ecn_clear_syn`) | `connection/handshake.rs` |
//! | the window after an idle time | the restart window (RFC 5681 §4.1) | halved for each timeout that passed, down to the restart window; ssthresh 3/4 of the window at least (`tcp_cwnd_restart`) | `sender.rs` |
//! | ACKs of packets behind a hole | at once | three at once, later ones wait up to a millisecond, or a twentieth of the RTT, and report two blocks at most (`__tcp_ack_snd_check`, `tcp_sack_new_ofo_skb`) | `receiver/held_back.rs` |
//! | ACKs after a pause of the receiver's own timeout | delayed as others | at once for sixteen (`tcp_event_data_recv`) | `receiver.rs` |
//! | ACKs of pushed packets | delayed as others | at once where none is missing, as the reader has read all (`tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`) | `receiver.rs` |
//! | ACKs while the window that the receiver offers grows | delayed as others | at once (`tcp_grow_window`) | `receiver/window.rs` |
//! | what a receiver takes where packets are missing | all | what its buffer has room for, twice the most that was read in a round trip and the missing ones; a sender that has sent all of it waits (`tcp_rcvbuf_grow`, `__tcp_select_window`, `tcp_snd_wnd_test`) | `receiver/window.rs`, `connection.rs` |
//! | ACKs of the last packet of a burst | delayed as others | with those before it, as they are read together (`tcp_cleanup_rbuf`) | `receiver.rs` |
//! | pushed packets | the last that the application has given | that, and the last of several that are segmented at once (`__tcp_transmit_skb`) | `sender/segmentation.rs` |
//! | the RTT estimate | samples count so that it remembers as many round trips as with one in each (RFC 7323 Appendix G) | each counts for 1/8; the variation is the largest of a round trip (`tcp_rtt_estimator`); what is SACKed and was sent once gives samples too (`tcp_ack_update_rtt`) | `parshall_signals::RttEstimate` |
//! | what starts the retransmission timer anew | an ACK of new data (RFC 6298 (5.3)) | also a SACK of a packet that was sent before the first one was sent again (`tcp_clean_rtx_queue`) | `recovery/rack.rs` |
//! | the RTT that controls are told | of the earliest packet acknowledged, by timestamp | of the last one reported that was sent once, SACKed ones first; else by timestamp (`tcp_clean_rtx_queue`, `tcp_ack_update_rtt`) | `recovery/rack/segments.rs`, `sender/acknowledgements.rs` |
//! | first samples of the delivery rate | as others | limited by the application until the first ACK, as the SYN counts as delivered (`tcp_rate_check_app_limited`) | `connection.rs` |
//! | `RACK.rtt` | of the packet sent last (RFC 8985 §6.2 step 2) | of the last packet that an ACK reports, SACKed ones first (`tcp_rack_advance`) | `recovery/rack/segments.rs` |
//!
//! Read for these facts: net/ipv4/tcp_input.c, tcp_output.c and tcp_recovery.c of Linux 6.18.

parshall_units::choice! {
    /// Whose rules hold where the RFCs and Linux differ.
    pub enum Rules {
        /// The RFCs'.
        Rfc = "rfc",
        /// Linux's.
        Linux = "linux",
    }
}

/// How far the window is used, as Linux knows it (`tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowUse {
    /// The window stopped a transmission of this round trip.
    limited: bool,
    /// The most packets that were out in it.
    most_out: u64,
    /// The round trip ends when what is below this is acknowledged.
    until: u64,
}

impl WindowUse {
    /// Of a connection whose first packet is `base`.
    pub(crate) fn new(base: u64) -> Self {
        Self { limited: false, most_out: 0, until: base }
    }

    /// Packets were sent, or the window let none go (`limited`): from `una` to `nxt` are out now.
    #[inline]
    pub(crate) fn note(&mut self, (una, nxt): (u64, u64), limited: bool) {
        let out = nxt - una;
        if limited || una >= self.until || (!self.limited && out > self.most_out) {
            *self = Self { limited, most_out: out, until: nxt };
        }
    }

    /// Whether a window of so many packets may grow.
    #[inline]
    pub(crate) fn may_grow(&self, window: f64, slow_start: bool) -> bool {
        self.limited || slow_start && window < 2.0 * self.most_out as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_goes_on_while_half_of_the_window_is_used() {
        let mut used = WindowUse::new(1);
        used.note((1, 7), false); // six packets are out, the application has no more
        assert!(used.may_grow(10.0, true), "10 < 2 * 6");
        assert!(!used.may_grow(12.0, true));
        assert!(!used.may_grow(10.0, false), "only in slow start");
    }

    #[test]
    fn being_limited_is_remembered_for_a_round_trip() {
        let mut used = WindowUse::new(1);
        used.note((1, 11), true);
        used.note((5, 12), false); // within the round trip that packet 10 ends
        assert!(used.may_grow(10.0, false));
        used.note((11, 13), false);
        assert!(!used.may_grow(10.0, false));
    }
}
