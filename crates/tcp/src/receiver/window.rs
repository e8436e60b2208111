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
//! | `rcv_rtt_est`, from timestamps | what the handshake took |
//!
//! Read for these facts: net/ipv4/tcp_input.c of Linux (`tcp_rcvbuf_grow` as since 6.18), and its default `tcp_rmem`.

/// The window of the SYN-ACK, 65535 bytes, is all that a buffer of 131072 (`tcp_rmem`) allows: packets of 1448 bytes.
const FIRST: u32 = 45;
/// `TCP_INIT_CWND`
const INITIAL_CWND: u32 = 10;

/// The window of a connection, and what its buffer was last made for.
#[derive(Clone, Debug)]
pub(super) struct Window {
    offered: u32,
    most: u32,
    /// The most packets that were read in a round trip.
    largest: u32,
    /// The first packet of this round trip.
    from: u64,
}

impl Default for Window {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Window {
    /// Of a connection whose first packet is `base`.
    pub(super) fn new(base: u64) -> Self {
        Self { offered: FIRST, most: FIRST, largest: INITIAL_CWND, from: base }
    }

    /// A packet came while the window could grow; whether it still can.
    pub(super) fn widen(&mut self) -> bool {
        self.offered = self.most.min(self.offered + 2);
        self.offered < self.most
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

    #[test]
    fn the_window_grows_through_slow_start_and_stops_with_it() {
        let mut window = Window::new(1);
        assert!(!window.end_round(11), "ten packets are what it was made for");
        assert!(window.end_round(31)); // 2 x 20 + 2 x (2 x 20 x 10 / 10) = 120
        let growing = |window: &mut Window| 1 + (0..1000).take_while(|_| window.widen()).count();
        assert_eq!(growing(&mut window), 38, "from 45 to 120 by two");
        assert!(window.end_round(71)); // 40 packets: 240
        assert_eq!(growing(&mut window), 60);
        assert!(!window.end_round(112), "41 packets ask for 2 x 41 + 2 x 2.05, less than there is");
    }

    #[test]
    fn so_much_that_no_number_holds_it_is_no_fault() {
        let mut window = Window::new(1);
        assert!(window.end_round(u64::MAX));
        assert_eq!(window.most, u32::MAX / 2);
    }
}
