//! The SACK scoreboard (RFC 6675), run-length, with every count it needs kept up to date.
//!
//! | RFC 6675 | here |
//! | --- | --- |
//! | `IsLost(S)` | `S < lost_edge` and S not SACKed: at least [`DUP_THRESH`] SACKed packets above it |
//! | `HighRxt` | `high_rxt - 1` |
//! | `HighData` | `high_data - 1`, passed in by the sender |
//! | `pipe` | [`Scoreboard::pipe`]: O(1), from counts instead of a walk over the window |
//!
//! The losses that 6675 finds are a prefix of the holes, so one number (`lost_edge`) tells lost from not lost.
//!
//! More is sent again than was lost, as the RFC has it, in two cases. A recovery also repairs what is lost of the
//! packets sent within it; when it ends, the next one may begin with the same ACK, and then sends these again, because
//! `HighRxt` is that of the current recovery (§5 step 4.3). And after a timeout everything that is not SACKed counts as
//! lost, what is under way too (§5.1). The first is not all waste: a retransmission that was lost again would wait for
//! the timer otherwise. With `HighRxt` kept, transfers of 2 to 6 MB over 10 Mbit/s had up to twice the timeouts and
//! took 1 to 3 % longer. RACK (`rack.rs`) does neither.

use crate::ranges::{Range, RangeSet};

/// Packets above a hole that must be SACKed before it counts as lost.
pub const DUP_THRESH: u64 = 3;

/// The receiver's reports beyond the cumulative ACK.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    sacked: RangeSet,
    /// Cumulative ACK: nothing below is kept.
    floor: u64,
    sacked_count: u64,
    lost_edge: u64,
    sacked_below_edge: u64,
    high_rxt: u64,
    sacked_below_rxt: u64,
    /// True if this recovery has sent its one rescue retransmission (NextSeg rule 4).
    rescued: bool,
}

impl Scoreboard {
    /// Nothing SACKed, everything below `floor` acknowledged.
    pub fn reset(&mut self, floor: u64) {
        self.sacked.clear();
        *self = Self {
            sacked: std::mem::take(&mut self.sacked),
            floor,
            lost_edge: floor,
            high_rxt: floor,
            ..Self::default()
        };
    }

    /// Takes in an ACK; `sacked` is told of what its blocks report for the first time.
    pub fn update(&mut self, cumulative: u64, blocks: &[Range], mut sacked: impl FnMut(Range)) {
        if cumulative > self.floor {
            self.advance(cumulative);
        }
        for &block in blocks {
            let block = Range { start: block.start.max(self.floor), end: block.end };
            let (edge, rxt) = (self.lost_edge, self.high_rxt);
            let (mut count, mut below_edge, mut below_rxt) = (0, 0, 0);
            self.sacked.insert(block, |part| {
                sacked(part);
                count += part.len();
                below_edge += part.below(edge);
                below_rxt += part.below(rxt);
            });
            self.sacked_count += count;
            self.sacked_below_edge += below_edge;
            self.sacked_below_rxt += below_rxt;
        }
    }

    fn advance(&mut self, cumulative: u64) {
        let (edge, rxt) = (self.lost_edge, self.high_rxt);
        let (mut count, mut below_edge, mut below_rxt) = (0, 0, 0);
        self.sacked.remove_below(cumulative, |part| {
            count += part.len();
            below_edge += part.below(edge);
            below_rxt += part.below(rxt);
        });
        self.floor = cumulative;
        self.sacked_count -= count;
        self.sacked_below_edge -= below_edge;
        self.sacked_below_rxt -= below_rxt;
        if self.lost_edge < cumulative {
            self.lost_edge = cumulative;
            self.sacked_below_edge = 0;
        }
        if self.high_rxt < cumulative {
            self.high_rxt = cumulative;
            self.sacked_below_rxt = 0;
        }
    }

    /// Moves the loss edge up to the [`DUP_THRESH`]-th highest SACKed packet: `IsLost` of RFC 6675 §4.
    pub fn detect_losses(&mut self) {
        if self.sacked_count < DUP_THRESH {
            return;
        }
        let mut needed = DUP_THRESH;
        for run in self.sacked.runs().rev() {
            if run.len() >= needed {
                let edge = run.end - needed;
                if edge > self.lost_edge {
                    self.lost_edge = edge;
                    self.sacked_below_edge = self.sacked_count - DUP_THRESH;
                }
                return;
            }
            needed -= run.len();
        }
    }

    /// Everything not SACKed below `high_data` is lost (the retransmission timer expired), and nothing of it has
    /// been sent again. RFC 6675 §5.1
    pub fn mark_all_lost(&mut self, high_data: u64) {
        self.lost_edge = high_data;
        self.sacked_below_edge = self.sacked_count;
        self.restart_retransmissions();
    }

    /// A recovery begins: nothing has been sent again yet.
    pub fn restart_retransmissions(&mut self) {
        self.high_rxt = self.floor;
        self.sacked_below_rxt = 0;
        self.rescued = false;
    }

    /// Packets that count as lost and were not reported since.
    pub fn lost(&self) -> u64 {
        (self.lost_edge - self.floor) - self.sacked_below_edge
    }

    /// True if the first unacknowledged packet is lost.
    pub fn first_is_lost(&self) -> bool {
        self.lost_edge > self.floor
    }

    /// The cumulative ACK.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Packets SACKed and not yet acknowledged cumulatively.
    pub fn sacked_count(&self) -> u64 {
        self.sacked_count
    }

    /// True if `packet` was SACKed.
    pub fn is_sacked(&self, packet: u64) -> bool {
        self.sacked.run_of(packet).is_some()
    }

    /// Estimate of the packets in the network: those not SACKed and not lost, and those sent again. RFC 6675 §4
    pub fn pipe(&self, high_data: u64) -> u64 {
        let unsacked_above_edge =
            high_data.saturating_sub(self.lost_edge) - (self.sacked_count - self.sacked_below_edge);
        let sent_again = (self.high_rxt - self.floor) - self.sacked_below_rxt;
        unsacked_above_edge + sent_again
    }

    /// The lowest lost packet that was not sent again. RFC 6675 `NextSeg` rule (1)
    pub fn next_lost(&self) -> Option<u64> {
        let hole = self.next_hole();
        (hole < self.lost_edge).then_some(hole)
    }

    /// The lowest packet below a SACKed one that was not sent again, lost or not. `NextSeg` rule (3)
    pub fn next_unsacked(&self) -> Option<u64> {
        let hole = self.next_hole();
        (hole < self.sacked.end()).then_some(hole)
    }

    /// Once a recovery: the highest outstanding packet, if all holes were sent again. `NextSeg` rule (4)
    pub fn rescue(&mut self, high_data: u64) -> Option<u64> {
        let packet = high_data - 1;
        if self.rescued || packet < self.high_rxt || self.is_sacked(packet) || self.high_rxt == self.floor {
            return None;
        }
        self.rescued = true;
        Some(packet)
    }

    fn next_hole(&self) -> u64 {
        self.sacked.run_of(self.high_rxt).map_or(self.high_rxt, |run| run.end)
    }

    /// `packet`, from [`next_lost`](Self::next_lost) or [`next_unsacked`](Self::next_unsacked), is sent again.
    pub fn retransmitted(&mut self, packet: u64) {
        // Only SACKed packets lie between the old mark and the packet.
        self.sacked_below_rxt += packet - self.high_rxt;
        self.high_rxt = packet + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RFC 6675 by its letter: a walk over every packet.
    struct Letter {
        floor: u64,
        sacked: Vec<bool>,
        sent_again: Vec<bool>,
    }

    impl Letter {
        fn is_lost(&self, packet: u64) -> bool {
            let above = self.sacked[packet as usize + 1..].iter().filter(|&&s| s).count();
            !self.sacked[packet as usize] && above as u64 >= DUP_THRESH
        }

        fn pipe(&self, high_data: u64) -> u64 {
            (self.floor..high_data)
                .filter(|&p| !self.sacked[p as usize])
                .map(|p| u64::from(!self.is_lost(p)) + u64::from(self.sent_again[p as usize]))
                .sum()
        }

        fn next_lost(&self, high_data: u64) -> Option<u64> {
            let high_rxt = (self.floor..high_data).filter(|&p| self.sent_again[p as usize]).max();
            (high_rxt.map_or(self.floor, |p| p + 1)..high_data).find(|&p| self.is_lost(p))
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_letter_of_the_rfc(
            steps in prop::collection::vec((0u64..60, 1u64..6, 0u8..8), 1..80)
        ) {
            let high_data = 64;
            let mut board = Scoreboard::default();
            board.reset(0);
            let mut letter = Letter { floor: 0, sacked: vec![false; 64], sent_again: vec![false; 64] };
            for (start, length, kind) in steps {
                match kind {
                    0 => {
                        let cumulative = letter.floor + length.min(2);
                        letter.floor = cumulative;
                        while letter.floor < 63 && letter.sacked[letter.floor as usize] {
                            letter.floor += 1;
                        }
                        if letter.floor >= 63 { break; }
                        board.update(letter.floor, &[], |_| {});
                    }
                    1..=4 => {
                        let range = Range { start: start.max(letter.floor + 1), end: (start + length).min(63) };
                        if range.is_empty() { continue; }
                        letter.sacked[range.start as usize..range.end as usize].fill(true);
                        board.update(letter.floor, &[range], |_| {});
                    }
                    _ => {
                        prop_assert_eq!(board.next_lost(), letter.next_lost(high_data));
                        if let Some(packet) = board.next_lost() {
                            board.retransmitted(packet);
                            letter.sent_again[packet as usize] = true;
                        }
                    }
                }
                board.detect_losses();
                prop_assert_eq!(board.pipe(high_data), letter.pipe(high_data));
                prop_assert_eq!(board.first_is_lost(), letter.is_lost(letter.floor));
            }
        }
    }

    #[test]
    fn a_recovery_sends_again_what_the_one_before_sent() {
        let mut board = Scoreboard::default();
        board.reset(0);
        board.update(0, &[Range { start: 1, end: 10 }], |_| {});
        board.detect_losses();
        board.restart_retransmissions();
        board.retransmitted(board.next_lost().unwrap());
        // Of the packets sent meanwhile 10 and 12 are lost; 10 is sent again, then the hole of the first recovery is
        // filled.
        board.update(0, &[Range { start: 11, end: 12 }, Range { start: 13, end: 19 }], |_| {});
        board.detect_losses();
        assert_eq!(board.next_lost(), Some(10));
        board.retransmitted(10);
        board.update(10, &[], |_| {});
        assert_eq!(board.next_lost(), Some(12));
        // RFC 6675 §5 step 4.3: the next recovery begins with the first hole.
        board.restart_retransmissions();
        assert_eq!(board.next_lost(), Some(10));
    }

    #[test]
    fn a_timeout_empties_the_pipe() {
        let mut board = Scoreboard::default();
        board.reset(10);
        board.update(10, &[Range { start: 12, end: 14 }], |_| {});
        assert_eq!(board.pipe(20), 8);
        board.mark_all_lost(20);
        assert_eq!(board.pipe(20), 0);
        let mut sent = Vec::new();
        while let Some(packet) = board.next_lost() {
            board.retransmitted(packet);
            sent.push(packet);
        }
        assert_eq!(sent, [10, 11, 14, 15, 16, 17, 18, 19]);
        assert_eq!(board.pipe(20), 8);
    }
}
