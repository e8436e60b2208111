//! Counting of round trips: one ends when a packet is acknowledged that was sent after the last one had ended.

/// The round trip under way.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// The round trip ends when this packet is acknowledged.
    end: u64,
}

impl Rounds {
    /// Of a connection whose first packet is `base`.
    pub fn new(base: u64) -> Self {
        Self { end: base }
    }

    /// An ACK of all below `una` arrives, when `next` is the next packet to send; whether it ends a round trip.
    #[inline]
    pub fn on_ack(&mut self, una: u64, next: u64) -> bool {
        let ended = una > self.end;
        if ended {
            self.end = next;
        }
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_a_round_trip() {
        let mut rounds = Rounds::new(1);
        // Ten packets under way, each ACK releases one.
        let ended: Vec<u64> = (2..42).filter(|&una| rounds.on_ack(una, una + 9)).collect();
        assert_eq!(ended, [2, 12, 22, 32]);
    }
}
