//! The window that a receiver of Linux offers: how many packets it takes, and, while the window grows, which ACKs go at
//! once (`tcp_grow_window`).
//!
//! The window follows the buffer, and the buffer what the reader took in a round trip (`tcp_rcv_space_adjust`,
//! `tcp_rcvbuf_grow`): each packet widens the window by two until it has caught up. So ACKs go at once through most of
//! slow start, the last one of each round with them, and hardly ever when the rate has stopped growing.
//!
//! The reader takes at once what is in order, and the buffer may become as large as it must: while no packet is
//! missing, no sender is limited by the window, which therefore is not sent. Behind a hole packets wait in the buffer.
//! It grows by as many as the last one is beyond the hole, but the window itself is at most what the buffer has room
//! for, so that behind a hole of several round trips a sender comes to its end (`__tcp_select_window`). What was
//! offered once is never taken back.
//!
//! | kernel | here, in packets |
//! | --- | --- |
//! | `rcv_ssthresh` | `offered` |
//! | `window_clamp` | `most` |
//! | `sk_rmem_alloc` | `held` |
//! | `ooo_last_skb` | `beyond` |
//! | `rcv_wup + rcv_wnd` | `end` |
//! | `rcvq_space.space`, `.seq` | `largest`, `from` |
//! | `rcv_rtt_est`, from timestamps | [`Window::time`] |
//!
//! Read for these facts: net/ipv4/tcp_input.c and tcp_output.c of Linux (`tcp_rcvbuf_grow` as since 6.18), and its
//! default `tcp_rmem`.

use crate::segment::NO_WINDOW;
use parshall_units::Bytes;

/// Of a full packet, what the window counts.
const PAYLOAD: u64 = 1448;
/// Of the buffer, what a full packet takes (`truesize`) in hosts that were watched: from the first one on that is known
/// (`tcp_measure_rcv_mss`). A buffer of 128 KiB holds 56, so that the first 22 packets are acknowledged at once, six
/// more than the sixteen of each connection.
const OF_BUFFER: u64 = 2304;
/// The window of a SYN-ACK is half of the buffer, and this at most.
const WITHOUT_SCALE: u64 = 65_535;
/// `TCP_INIT_CWND`
const INITIAL_CWND: u32 = 10;
/// With room for less than this part of the buffer nothing more is offered (`allowed_space >> 4`).
const LEAST_ROOM: u32 = 16;
/// Of more in a round trip the first ones no longer matter.
const SAMPLES: i64 = 64;

/// The window of a connection, and what its buffer was last made for.
///
/// The default is that of a connection without a handshake: nothing is offered, and so nothing limited.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    offered: u32,
    most: u32,
    /// Packets that wait for missing ones.
    held: u32,
    /// One past the last of them, or of those that waited last.
    beyond: u64,
    /// One past the last packet that was offered to be taken.
    end: u64,
    /// The most packets that were read in a round trip.
    largest: u32,
    /// The first packet of this round trip.
    from: u64,
    /// The last sample of a round trip, us; 0 before the first.
    sample: u32,
    /// The packet after that sample's. Those of the initial window all follow one ACK: they give none.
    timed: u64,
}

impl Window {
    /// Of a connection whose first packet is `base`, with such a buffer.
    pub(super) fn new(base: u64, buffer: Bytes) -> Self {
        let timed = base + u64::from(INITIAL_CWND);
        let offered = ((buffer.0 / 2).min(WITHOUT_SCALE) / PAYLOAD) as u32;
        let most = (buffer.0 / OF_BUFFER).min(u64::from(u32::MAX / 2)) as u32;
        let most = most.max(offered);
        Self { offered, most, largest: INITIAL_CWND, from: base, timed, ..Self::default() }
    }

    /// What the buffer has room for.
    fn room(&self) -> u32 {
        self.most.saturating_sub(self.held)
    }

    /// True if the next packet makes it grow.
    pub(super) fn can_grow(&self) -> bool {
        self.offered < self.room()
    }

    /// A packet came while the window could grow.
    pub(super) fn widen(&mut self) {
        self.offered = self.offered.max(self.room().min(self.offered + 2));
    }

    /// A packet came, and others are missing still: the next one in order was `before` and is `next` now, and the last
    /// one is before `beyond`.
    pub(super) fn hold(&mut self, before: u64, next: u64, beyond: u64) {
        if self.most == 0 {
            return;
        }
        if next > before {
            self.held -= (next - before - 1) as u32;
            return;
        }
        if self.held == 0 {
            self.end = self.end.max(next + u64::from(self.offered)); // as ACKs have said until now
        }
        self.held += 1;
        self.beyond = beyond;
        self.make_room(2 * self.largest, next);
    }

    /// No packet is missing any more.
    pub(super) fn release(&mut self) {
        self.held = 0;
    }

    /// Returns the number of packets from `next` on that are taken.
    pub(super) fn offer(&mut self, next: u64) -> u32 {
        if self.most == 0 {
            return NO_WINDOW;
        }
        let room = self.room();
        if room >= (self.most / LEAST_ROOM).max(1) {
            self.end = self.end.max(next + u64::from(self.offered.min(room)));
        }
        self.end.saturating_sub(next) as u32
    }

    /// The buffer becomes large enough for so many packets, and those that wait or are missing before them.
    fn make_room(&mut self, wanted: u32, next: u64) {
        let behind = self.beyond.saturating_sub(next);
        self.most =
            self.most.max(u64::from(wanted).saturating_add(behind).min(u64::from(u32::MAX / 2)) as u32);
    }

    /// Returns the time of a round trip, us, that was thought to take `estimate` before the packet before `next` took `sample`;
    /// `quick`: each packet is acknowledged. The kernel has a sample of each ACK that packets follow (in slow start two follow
    /// each), and takes longer ones for an eighth and shorter ones at once (`tcp_rcv_rtt_update`). Here they are evenly between
    /// the last one that was looked at and this one.
    pub(super) fn time(&mut self, estimate: u32, sample: u32, next: u64, quick: bool) -> u32 {
        if next <= self.timed {
            return estimate;
        }
        let packets = (next - self.timed) / if quick { 2 } else { 4 };
        let before = if self.sample == 0 { estimate } else { self.sample };
        (self.sample, self.timed) = (sample, next);
        let samples = i64::try_from(packets).unwrap_or(SAMPLES).clamp(1, SAMPLES);
        let (before, rise) = (i64::from(before), i64::from(sample) - i64::from(before));
        let between = (1..=samples).map(|number| (before + rise * number / samples) as u32);
        between.fold(estimate, |estimate, sample| (estimate - estimate / 8 + sample / 8).min(sample)).max(1)
    }

    /// A round trip has passed, in which all before `next` was read.
    pub(super) fn end_round(&mut self, next: u64) {
        if self.most == 0 {
            return;
        }
        let read = (next - self.from).min(u64::from(u32::MAX / 16)) as u32;
        self.from = next;
        if read > self.largest {
            // Twice of it, as it is a round trip old, and twice what the sender's growth makes of that.
            let growth = u64::from(2 * read) * u64::from(read - self.largest) / u64::from(self.largest);
            let wanted = u64::from(2 * read) + 2 * growth;
            self.make_room(wanted.min(u64::from(u32::MAX / 2)) as u32, next);
            self.largest = read;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Linux's own.
    const BUFFER: Bytes = Bytes(131_072);

    #[test]
    fn a_large_buffer_is_filled_by_two_a_packet() {
        let mut window = Window::new(1, Bytes(4 << 20));
        assert_eq!(growing(&mut window), 888, "from 45 to 1820");
        assert!(!Window::new(1, Bytes(4096)).can_grow(), "one packet is all that it holds");
    }

    #[test]
    fn the_window_grows_through_slow_start_and_stops_with_it() {
        let mut window = Window::new(1, BUFFER);
        assert_eq!(growing(&mut window), 6, "from 45 to 56 by two");
        window.end_round(11);
        assert!(!window.can_grow(), "ten packets are what it was made for");
        window.end_round(31); // 2 x 20 + 2 x (2 x 20 x 10 / 10) = 120
        assert_eq!(growing(&mut window), 32, "from 56 to 120");
        window.end_round(71); // 40 packets: 240
        assert_eq!(growing(&mut window), 60);
        window.end_round(112);
        assert!(!window.can_grow(), "41 packets ask for 2 x 41 + 2 x 2.05, less than there is");
    }

    #[test]
    fn the_estimate_of_the_round_trip_follows_longer_samples_slowly_and_shorter_ones_at_once() {
        let mut window = Window::new(1, BUFFER);
        assert_eq!(window.time(100_000, 180_000, 11, true), 100_000, "all follow the SYN-ACK");
        assert_eq!(window.time(100_000, 108_000, 13, true), 101_000, "an eighth of it");
        // Samples that rise by 8 ms each are followed seven of them behind.
        let behind = 108_000 + 64 * 8_000 - window.time(101_000, 108_000 + 64 * 8_000, 13 + 128, true);
        assert!((55_900..56_100).contains(&behind), "{behind} us");
        assert_eq!(window.time(564_000, 120_000, 143, false), 120_000);
    }

    #[test]
    fn so_much_that_no_number_holds_it_is_no_fault() {
        let mut window = Window::new(1, BUFFER);
        window.end_round(u64::MAX);
        assert_eq!(window.most, u32::MAX / 2);
        window.hold(1, 1, u64::MAX);
        assert_eq!(window.most, u32::MAX / 2);
    }

    /// Packets that widen it until it is as large as it can be.
    fn growing(window: &mut Window) -> usize {
        let grows = |window: &mut Window| {
            let can = window.can_grow();
            window.widen();
            can
        };
        (0..10_000).take_while(|_| grows(window)).count()
    }

    /// Packet 1 is lost, and the packets behind it come while the sender may send them: up to the last that is offered.
    fn behind_a_hole(window: &mut Window) -> u64 {
        let mut packet = 2;
        loop {
            window.widen();
            window.hold(1, 1, packet + 1);
            if packet + 1 == 1 + u64::from(window.offer(1)) {
                return packet;
            }
            packet += 1;
        }
    }

    #[test]
    fn behind_a_hole_a_sender_comes_to_the_end_of_the_window() {
        let mut window = Window::new(1, BUFFER);
        // The buffer holds 56: with four packets that wait, a window of 53 no longer has room. 20 + 52 is what the
        // buffer grows to.
        assert_eq!(behind_a_hole(&mut window), 52);
        window.hold(1, 3, 53); // the hole is filled, the next one begins at packet 3
        assert_eq!(window.offer(3), 50, "nothing is taken back, nothing added");
        window.release();
        assert_eq!((window.offered, window.room()), (53, 72));
    }

    #[test]
    fn what_was_read_in_a_round_trip_is_offered_twice() {
        let mut window = Window::new(1, BUFFER);
        for next in [21, 61, 141] {
            window.end_round(next);
        }
        assert_eq!(window.largest, 80);
        while window.can_grow() {
            window.widen();
        }
        assert!(window.offered >= 160);
    }

    #[test]
    fn without_a_handshake_nothing_is_offered() {
        let mut window = Window::default();
        window.hold(1, 1, 3);
        assert_eq!((window.offer(1), window.can_grow()), (NO_WINDOW, false));
    }
}
