//! The round trips of a flow, from readings of its socket's TCP_INFO.
//!
//! A round begins with the first packet sent after the round before has ended, and ends when a byte that was sent in it
//! is acknowledged. A reading comes later than that; what had been sent by then is interpolated between two readings,
//! in proportion to the bytes acknowledged, so that windows are not too large on average. While the sender recovers,
//! the first byte that is not acknowledged belongs to a lost packet: the round in which it was sent had a loss.

use crate::clock::{seconds, Nanos};
use crate::tcp_info::{TcpInfo, LOSS, RECOVERY};
use parshall_records::RoundRow;
use std::collections::VecDeque;

/// The round trips of a flow. A packet's fate is known within a round trip, so a round is written when the one after
/// it ends.
pub(super) struct Rounds {
    /// The flow's number.
    flow: u32,
    index: u64,
    open: VecDeque<Round>,
    /// The reading before, or the beginning of the connection.
    before: Point,
}

struct Round {
    start: Nanos,
    /// Number of its first byte within the connection.
    first: u64,
    /// Packets sent on the connection before it, and, once it has ended, in it.
    sent_before: f64,
    packets: f64,
    lost: bool,
}

/// Where a connection was at a time.
#[derive(Clone, Copy, Default)]
struct Point {
    at: Nanos,
    acked: u64,
    sent: u64,
    packets: f64,
}

impl Point {
    /// What there was when a byte that was sent at `boundary` was acknowledged, between `self` and `next`.
    fn toward(&self, next: &Self, boundary: u64) -> Self {
        let step = (next.acked - self.acked).max(1) as f64;
        let part = ((boundary.saturating_sub(self.acked)) as f64 / step).clamp(0.0, 1.0);
        Self {
            at: self.at + ((next.at - self.at) as f64 * part) as Nanos,
            acked: boundary,
            sent: self.sent + ((next.sent - self.sent) as f64 * part) as u64,
            packets: self.packets + (next.packets - self.packets) * part,
        }
    }
}

impl Rounds {
    pub(super) fn new(flow: u32) -> Self {
        Self { flow, index: 0, open: VecDeque::new(), before: Point::default() }
    }

    /// A connection opens.
    pub(super) fn begin_connection(&mut self, now: Nanos) {
        self.before = Point { at: now, ..Point::default() };
        self.open.push_back(Round { start: now, first: 0, sent_before: 0.0, packets: 0.0, lost: false });
    }

    /// A connection has sent so many packets, and will send no more; what became of them is known.
    pub(super) fn end_connection(&mut self, packets: f64, write: impl FnMut(RoundRow)) {
        if let Some(last) = self.open.back_mut() {
            last.packets = packets - last.sent_before;
            if last.packets < 1.0 {
                self.open.pop_back();
            }
        }
        self.write(0, write);
    }

    /// TCP_INFO was read.
    pub(super) fn look(&mut self, now: Nanos, info: &TcpInfo, write: impl FnMut(RoundRow)) {
        let (Some(acked), Some(sent), Some(packets)) = (info.acked, info.sent, info.data_packets) else {
            return;
        };
        let point = Point { at: now, acked, sent, packets: packets.into() };
        let recovers = info.ca_state == RECOVERY || info.ca_state == LOSS;
        if recovers && info.lost + info.retransmitted > 0 {
            if let Some(round) = self.open.iter_mut().rev().find(|round| round.first <= acked) {
                round.lost = true;
            }
        }
        let before = std::mem::replace(&mut self.before, point);
        let Some(last) = self.open.back_mut().filter(|last| acked > last.first) else { return };
        let end = before.toward(&point, last.first);
        last.packets = end.packets - last.sent_before;
        self.open.push_back(Round {
            start: end.at,
            first: end.sent.max(acked),
            sent_before: end.packets,
            packets: 0.0,
            lost: false,
        });
        self.write(2, write);
    }

    /// Writes all but the last `keep` rounds.
    fn write(&mut self, keep: usize, mut write: impl FnMut(RoundRow)) {
        while self.open.len() > keep {
            let Some(round) = self.open.pop_front() else { return };
            write(RoundRow {
                flow: self.flow,
                round: self.index,
                start_s: seconds(round.start),
                window_packets: round.packets.round() as u32,
                lost: round.lost,
            });
            self.index += 1;
        }
    }

    /// The run ended: the round under way is not complete.
    pub(super) fn end(&mut self, write: impl FnMut(RoundRow)) {
        self.write(1, write);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;
    const MS: Nanos = 1_000_000;

    /// A reading after so many packets were sent and acknowledged, with so many found lost.
    fn info(sent: u64, acked: u64, lost: u32) -> TcpInfo {
        TcpInfo {
            ca_state: if lost > 0 { RECOVERY } else { 0 },
            lost,
            acked: Some(acked * MSS),
            sent: Some(sent * MSS),
            data_packets: Some(sent as u32),
            ..TcpInfo::default()
        }
    }

    /// Windows and losses of the rounds that readings show, at the end of the run.
    fn rounds(readings: &[(Nanos, TcpInfo)]) -> Vec<(u32, bool)> {
        let (mut rounds, mut rows) = (Rounds::new(3), Vec::new());
        rounds.begin_connection(0);
        for (at, info) in readings {
            rounds.look(*at, info, |row| rows.push(row));
        }
        rounds.end(|row| rows.push(row));
        assert!(rows.iter().enumerate().all(|(index, row)| row.round == index as u64 && row.flow == 3));
        rows.iter().map(|row| (row.window_packets, row.lost)).collect()
    }

    #[test]
    fn a_window_is_what_is_sent_in_a_round_trip() {
        // 10, 20 and 40 packets, read in the middle of each round and at its end.
        let readings = [
            (5 * MS, info(10, 0, 0)),
            (10 * MS, info(10, 0, 0)),
            (15 * MS, info(30, 10, 0)),
            (20 * MS, info(30, 10, 0)),
            (25 * MS, info(70, 30, 0)),
            (30 * MS, info(70, 30, 0)),
            (35 * MS, info(150, 70, 0)),
        ];
        let found = rounds(&readings);
        assert_eq!(found, [(10, false), (20, false), (40, false)]);
    }

    #[test]
    fn readings_that_come_late_do_not_make_windows_larger() {
        // A packet each ms, acknowledged 10 ms later: a window of 10, read each 3 ms.
        let reading = |n: u64| ((3 * n).cast_signed() * MS, info(3 * n, (3 * n).saturating_sub(10), 0));
        let found = rounds(&(1..400).map(reading).collect::<Vec<_>>());
        let mean = found.iter().map(|(window, _)| f64::from(*window)).sum::<f64>() / found.len() as f64;
        assert!((mean - 10.0).abs() < 0.5, "{mean}");
    }

    #[test]
    fn a_loss_is_one_of_the_round_in_which_the_packet_was_sent() {
        // Of the second round (10 to 29), packet 15 is lost; it is found in the third.
        let readings = [
            (5 * MS, info(10, 0, 0)),
            (15 * MS, info(30, 10, 0)),
            (25 * MS, info(45, 15, 1)),
            (35 * MS, info(45, 15, 1)),
            (45 * MS, info(60, 45, 0)),
            (55 * MS, info(75, 60, 0)),
        ];
        let lost: Vec<bool> = rounds(&readings).into_iter().map(|(_, lost)| lost).collect();
        assert_eq!(lost, [false, true, false, false]);
    }

    #[test]
    fn an_idle_connection_has_no_rounds_and_a_closed_one_no_open_round() {
        let (mut rounds, mut rows) = (Rounds::new(0), Vec::new());
        for (begun, packets) in [(0, 3.0), (100 * MS, 5.0), (200 * MS, 0.0)] {
            rounds.begin_connection(begun);
            let sent = packets as u64;
            for n in 1..5 {
                rounds
                    .look(begun + n * MS, &info(sent, if n > 2 { sent } else { 0 }, 0), |row| rows.push(row));
            }
            rounds.end_connection(packets, |row| rows.push(row));
        }
        let found: Vec<_> = rows.iter().map(|row| (row.round, row.window_packets)).collect();
        assert_eq!(found, [(0, 3), (1, 5)]);
    }
}
