//! The events for [`crate::limits`] from the packets of a flow.

use super::{echo_of, Direction};
use crate::limits::{Path, Slot, TICK};
use crate::packet::Packet;
use crate::path_times::{Nanos, Vantage};
use crate::rounds::{Closed, Sent};

impl Direction {
    /// Packets pass, which may end a slot.
    #[inline]
    pub(super) fn in_slot(&mut self, now: Nanos, sent: &Sent) {
        if let Some(closed) = self.rounds.sent(now, sent) {
            self.slot_ended(now, sent.new, &closed);
        }
    }

    fn slot_ended(&mut self, now: Nanos, new: bool, closed: &Closed) {
        self.limits.slot(&Slot {
            start: closed.start,
            ended: closed.ended,
            now,
            packets: closed.packets,
            busy_until: self.busy_until(),
            idle: (self.una == self.max).then(|| {
                now.saturating_sub(self.acked_at.saturating_add(self.times.until_answered() / 20 * 19))
            }),
            new,
            waited: self.more_waited,
            recovers: self.una < self.recover || !new,
            room: closed.edge.map(|(edge, _)| edge.saturating_sub(closed.end)),
            window: closed.edge.map_or(self.window, |(_, window)| window),
            segment: u64::from(self.size.bytes()),
            above: self.times.above_least_in_slot(),
            at_sender: self.times.vantage() == Vantage::Sender,
            smoothed: self.times.smoothed(),
            path: Path { least: self.times.least().filter(|_| self.acked), packet: self.times.packet_time() },
            una: self.una,
        });
        self.times.begin_slot();
    }

    /// New data pass, after a segment that was all that the sender had.
    pub(super) fn after_a_write(&mut self, now: Nanos, packet: &Packet) {
        if self.times.vantage() == Vantage::Sender {
            let unechoed = echo_of(packet).and_then(|echo| self.times.unechoed_since(echo));
            if unechoed.is_some_and(|since| now.saturating_sub(since) > TICK) {
                return; // the sender is too far away to say what it answered
            }
            let since_ack = now.saturating_sub(self.acked_at);
            if self.una == self.first && self.times.least().is_none_or(|least| since_ack <= least / 2) {
                return; // a queue before a capture that is not quite at the sender spreads the first window too
            }
            self.limits.written(since_ack, now.saturating_sub(self.ended_data), self.times.least());
        }
    }

    /// Until when the sender had something to send: what it sent last waited in a queue before it passed here, and what was lost is sent again.
    fn busy_until(&self) -> Nanos {
        self.ended_data.saturating_sub(self.times.waits().before).max(self.repaired)
    }

    /// The receiver's window leaves no room, or does, after an acknowledgement.
    #[inline]
    pub(super) fn window_moved(&mut self, now: Nanos) {
        let Some(edge) = self.edge else { return };
        let shut = self.una == self.max && edge.saturating_sub(self.max) < u64::from(self.size.bytes());
        self.limits.window(now, shut);
    }

    /// The receiver's window, and what is not acknowledged of what was sent, bytes; `None` where its scale is not known.
    pub(crate) fn offered(&self) -> Option<(u64, u64)> {
        self.edge.map(|_| (self.window, self.max.saturating_sub(self.una)))
    }

    /// The flow will not be followed further: attributes what is left of its time.
    pub(crate) fn limits_end(&mut self) {
        let empty = self.una >= self.max && (self.fin.is_some() || !self.more_waited);
        let known = self.acked && self.delivered() > 0 && self.times.smoothed().is_some();
        // What is acknowledged here reaches the sender later, as its SYN came from it earlier.
        let back = self.times.least_before().filter(|_| empty).unwrap_or(0);
        let busy_until = self.busy_until();
        self.limits.finish(busy_until, self.ended.saturating_add(back), empty, known);
        self.events.end();
    }
}
