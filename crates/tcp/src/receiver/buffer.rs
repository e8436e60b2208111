//! The use of a receiver's [`Window`]: Linux's form of the policy
//! [`ReceiveBuffer`](crate::policies::ReceiveBuffer).
//!
//! In the RFCs' form there is a window without a size, which nothing fills, widens or offers.

use super::ack_delay::{in_ms, in_us};
use super::window::Window;
use super::Receiver;
use crate::segment::{Segment, NO_WINDOW};
use crate::TcpConfig;
use parshall_units::Instant;

impl Receiver {
    /// A connection begins: it has a window, and a round trip begins.
    pub(super) fn begin_timing(&mut self, config: &TcpConfig, now: Instant, segment: &Segment) {
        self.timing.round = in_ms(now);
        let store = self.store.get_or_insert_default();
        store.syn = in_us(now).wrapping_sub(in_us(segment.sent));
        if config.rules.receive_buffer.is_linux() {
            store.window = Window::new(self.next, config.initial_receive_buffer);
            self.timing.set_grows(true);
        }
    }

    /// A packet widens the window, and its ACK goes at once (`tcp_grow_window`).
    #[inline(never)]
    pub(super) fn widen(&mut self) {
        self.change_window(Window::widen);
        self.timing.quick |= 1;
    }

    /// Of packets out of order the buffer holds one more, or fewer as those from `before` on are complete now.
    pub(super) fn fill_buffer(&mut self, before: u64) {
        let (next, has_holes) = (self.next, self.has_holes);
        let beyond = self.store.as_ref().map_or(0, |store| store.end());
        self.change_window(
            |window| if has_holes { window.hold(before, next, beyond) } else { window.release() },
        );
    }

    /// Returns the window of an ACK in packets, while packets are missing.
    #[cold]
    pub(super) fn offer(&mut self) -> u32 {
        let next = self.next;
        self.store.as_mut().map_or(NO_WINDOW, |store| store.window.offer(next))
    }

    /// Looks at the end of a round trip whether more was read in it than ever before: the window grows then.
    #[inline]
    pub(super) fn measure(&mut self, now: Instant, segment: &Segment) {
        if self.since_round(now) >= self.timing.rtt {
            self.may_end_round(now, segment);
        }
    }

    /// How long the round trip has lasted, us.
    fn since_round(&self, now: Instant) -> u32 {
        u32::from(in_ms(now).wrapping_sub(self.timing.round)) * 1000
    }

    /// The round trip ends, if it has not become longer meanwhile.
    fn may_end_round(&mut self, now: Instant, segment: &Segment) {
        let next = self.next;
        if let Some(store) = &mut self.store {
            let sample = store.back.saturating_add(in_us(now).wrapping_sub(in_us(segment.sent)));
            self.timing.rtt = store.window.time(self.timing.rtt, sample, next, self.timing.quick > 0);
        }
        if self.since_round(now) >= self.timing.rtt {
            self.timing.round = in_ms(now);
            self.change_window(|window| window.end_round(next));
        }
    }

    /// The window changes: perhaps it can grow now, or no longer.
    fn change_window(&mut self, change: impl FnOnce(&mut Window)) {
        let Some(store) = &mut self.store else { return };
        change(&mut store.window);
        self.timing.set_grows(store.window.can_grow());
    }
}
