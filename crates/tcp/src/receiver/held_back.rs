//! ACKs that report holes and are held back, as Linux does (`__tcp_ack_snd_check`): the first three of each hole go at
//! once, later ones wait a millisecond for others.
//!
//! | kernel | here |
//! | --- | --- |
//! | `compressed_ack_rcv_nxt`, `dup_ack_counter`, `compressed_ack` | [`HeldBack`]: `next`, `at_once`, `count` |
//! | `tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns`, `tcp_comp_sack_slack_ns` | [`MOST`], [`LONGEST`], [`SLACK`] |
//!
//! Before a packet that would be a third block in it, what is held back goes:
//! [`ack_before`](super::Receiver::ack_before).
//!
//! Read for these facts: net/ipv4/tcp_input.c of Linux 6.18, and its default sysctls.

use super::Receiver;
use crate::ranges::Range;
use crate::segment::Segment;
use parshall_units::{Duration, Instant};

/// `TCP_FASTRETRANS_THRESH`
const AT_ONCE: u8 = 3;
const MOST: u8 = 44;
const LONGEST: Duration = Duration::from_millis(1);
/// The timer expires when its slack has passed, unless another one wakes the processor within it.
const SLACK: Duration = Duration::from_ps(100_000_000);

/// Blocks that an ACK may be expected to report, as some ACKs are lost (`TCP_SACK_BLOCKS_EXPECTED`).
const BLOCKS_EXPECTED: usize = 2;

/// The ACKs that are held back.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldBack {
    /// The packet that was waited for at the last ACK that counted.
    next: u64,
    /// ACKs that waited for it and went at once.
    at_once: u8,
    /// ACKs held back since one was sent.
    count: u8,
}

impl HeldBack {
    /// True if an ACK that waits for `next`, and reports a packet behind a hole, is held back.
    pub(super) fn holds(&mut self, next: u64) -> bool {
        if self.count >= MOST {
            return false;
        }
        if self.next != next {
            (self.next, self.at_once) = (next, 0);
        }
        let holds = self.at_once >= AT_ONCE;
        if holds {
            self.count += 1;
        } else {
            self.at_once += 1;
        }
        holds
    }

    /// An ACK is sent.
    pub(super) fn sent(&mut self) {
        self.count = 0;
    }
}

/// Returns the wait of the first one that is held back, on a connection whose handshake took so many us: a twentieth of it, or
/// [`LONGEST`].
pub(super) fn delay(rtt_us: u32) -> Duration {
    Duration::from_ps(u64::from(rtt_us) * (1_000_000 / 20)).min(LONGEST) + SLACK
}

impl Receiver {
    /// True if the ACK of a segment that leaves a hole waits for others.
    pub(super) fn holds_back(&mut self, now: Instant) -> bool {
        let next = self.next;
        let holds = self.store.as_mut().is_some_and(|store| store.held_back.holds(next));
        if holds && self.deadline == Instant::MAX {
            self.deadline = now + delay(self.handshake());
        }
        holds
    }

    /// An ACK is sent: those that were held back need none of their own.
    pub(super) fn reset_held_back(&mut self) {
        if let Some(store) = &mut self.store {
            store.held_back.sent();
        }
    }

    /// True if an ACK that is held back should not report the segment as well: two blocks were changed later than its own
    /// (`tcp_sack_new_ofo_skb`).
    pub(super) fn exceeds_blocks(&self, segment: &Segment) -> bool {
        if !self.has_holes || segment.seq <= self.next {
            return false;
        }
        let Some(store) = &self.store else { return false };
        let extends = |block: &Range| block.start <= segment.seq + 1 && segment.seq <= block.end;
        store.blocks()[..BLOCKS_EXPECTED].iter().all(|block| !block.is_empty() && !extends(block))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_of_each_hole_go_at_once_and_the_forty_fifth_of_the_others() {
        let mut held_back = HeldBack::default();
        let held =
            |held_back: &mut HeldBack, acks: u32, next| (0..acks).filter(|_| held_back.holds(next)).count();
        assert_eq!(held(&mut held_back, 10, 7), 7);
        assert_eq!(held(&mut held_back, 10, 8), 7, "another hole");
        held_back.sent();
        assert_eq!(held(&mut held_back, 44, 8), 44);
        assert!(!held_back.holds(8));
    }

    #[test]
    fn they_wait_for_a_millisecond_or_a_twentieth_of_the_rtt() {
        let waits = |ms: u32| delay(1000 * ms).as_secs_f64() * 1e3;
        assert!([10, 20, 100].map(waits).iter().zip([0.6, 1.1, 1.1]).all(|(a, b)| (a - b).abs() < 1e-9));
    }
}
