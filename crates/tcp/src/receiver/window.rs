//! The window that a receiver of Linux offers, as far as its ACKs depend on it: while it grows they go at once (`tcp_grow_window`).
//!
//! The window follows the buffer, and the buffer what the reader took in a round trip (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`): each packet
//! widens the window by two until it has caught up. So ACKs go at once through most of slow start, the last one of each round with them, and
//! hardly ever when the rate has stopped growing. The reader takes at once what is in order, and the buffer may become as large as it must: no
//! sender is limited by the window, which therefore is not sent.
//!
//! | kernel | here, in packets |
//! | --- | --- |
//! | `rcv_ssthresh` | `offered` |
//! | `window_clamp` | `most` |
//! | `rcvq_space.space`, `.seq` | `largest`, `from` |
//! | `rcv_rtt_est`, from timestamps | [`Window::time`] |
//!
//! Read for these facts: net/ipv4/tcp_input.c of Linux (`tcp_rcvbuf_grow` as since 6.18), and its default `tcp_rmem`.

use parshall_units::Bytes;

/// Of a full packet, what the window counts.
const PAYLOAD: u64 = 1448;
/// Of the buffer, what a full packet takes (`truesize`) in hosts that were watched: from the first one on that is known (`tcp_measure_rcv_mss`).
/// A buffer of 128 KiB holds 56, so that the first 22 packets are acknowledged at once, six more than the sixteen of each connection.
const OF_BUFFER: u64 = 2304;
/// The window of a SYN-ACK is half of the buffer, and this at most.
const WITHOUT_SCALE: u64 = 65_535;
/// `TCP_INIT_CWND`
const INITIAL_CWND: u32 = 10;
/// Of more in a round trip the first ones no longer matter.
const SAMPLES: i64 = 64;

/// The window of a connection, and what its buffer was last made for.
#[derive(Clone, Debug)]
pub(super) struct Window {
    offered: u32,
    most: u32,
    /// The most packets that were read in a round trip.
    largest: u32,
    /// The first packet of this round trip.
    from: u64,
    /// The last sample of a round trip, us; 0 before the first.
    sample: u32,
    /// The packet after that sample's. Those of the initial window all follow one ACK: they give none.
    timed: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self::new(0, Bytes(0))
    }
}

impl Window {
    /// Of a connection whose first packet is `base`, with such a buffer.
    pub(super) fn new(base: u64, buffer: Bytes) -> Self {
        let timed = base + u64::from(INITIAL_CWND);
        let offered = ((buffer.0 / 2).min(WITHOUT_SCALE) / PAYLOAD) as u32;
        let most = (buffer.0 / OF_BUFFER).min(u64::from(u32::MAX / 2)) as u32;
        Self { offered, most: most.max(offered), largest: INITIAL_CWND, from: base, sample: 0, timed }
    }

    /// A packet came while the window could grow; whether it still can.
    pub(super) fn widen(&mut self) -> bool {
        self.offered = self.most.min(self.offered + 2);
        self.offered < self.most
    }

    /// What a round trip takes, us, that was thought to take `estimate` before the packet before `next` took `sample`; `quick`: each packet is
    /// acknowledged. The kernel has a sample of each ACK that packets follow (in slow start two follow each), and takes longer ones for an eighth
    /// and shorter ones at once (`tcp_rcv_rtt_update`). Here they are evenly between the last one that was looked at and this one.
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

    /// A round trip has passed, in which all before `next` was read; whether the window can grow.
    pub(super) fn end_round(&mut self, next: u64) -> bool {
        let read = (next - self.from).min(u64::from(u32::MAX / 16)) as u32;
        self.from = next;
        if read > self.largest {
            // Twice of it, as it is a round trip old, and twice what the sender's growth makes of that.
            let growth = u64::from(2 * read) * u64::from(read - self.largest) / u64::from(self.largest);
            let wanted = u64::from(2 * read) + 2 * growth;
            self.most = self.most.max(wanted.min(u64::from(u32::MAX / 2)) as u32);
            self.largest = read;
        }
        self.offered < self.most
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
        let growing = 1 + (0..10_000).take_while(|_| window.widen()).count();
        assert_eq!(growing, 888, "from 45 to 1820");
        assert!(!Window::new(1, Bytes(4096)).widen(), "one packet fills it");
    }

    #[test]
    fn the_window_grows_through_slow_start_and_stops_with_it() {
        let mut window = Window::new(1, BUFFER);
        let growing = |window: &mut Window| 1 + (0..1000).take_while(|_| window.widen()).count();
        assert_eq!(growing(&mut window), 6, "from 45 to 56 by two");
        assert!(!window.end_round(11), "ten packets are what it was made for");
        assert!(window.end_round(31)); // 2 x 20 + 2 x (2 x 20 x 10 / 10) = 120
        assert_eq!(growing(&mut window), 32, "from 56 to 120");
        assert!(window.end_round(71)); // 40 packets: 240
        assert_eq!(growing(&mut window), 60);
        assert!(!window.end_round(112), "41 packets ask for 2 x 41 + 2 x 2.05, less than there is");
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
        assert!(window.end_round(u64::MAX));
        assert_eq!(window.most, u32::MAX / 2);
    }
}
