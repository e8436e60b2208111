//! Reno as Linux 6.18 computes it, in whole packets.
//!
//! | kernel | here |
//! | --- | --- |
//! | `tcp_reno_cong_avoid` | slow start, then a packet for a whole window acknowledged ([`TowardsNext`]) |
//! | `tcp_reno_ssthresh` | half of the window, without the half packet of an odd one, and two packets at least |
//!
//! What differs from RFC 5681 ([`Reno`](crate::Reno)): the window is reduced, not what is in flight (eq. (4)); and a
//! part of a packet, up to which the window has grown, is lost in a reduction: half a packet of a window on average,
//! which is much of the windows of few packets.
//!
//! Read for these facts: net/ipv4/tcp_cong.c of Linux 6.18; held against recordings of it (docs/kernel_recordings.md).

use crate::linux_window::TowardsNext;
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};

parshall_units::configuration! {
    /// [`RenoLinux`] has no parameters.
    pub struct RenoLinuxConfig {}
}

/// The Reno of Linux.
pub type RenoLinux = WindowBased<RenoLinuxRule>;

/// A packet a window acknowledged, half of it at a loss.
#[derive(Clone, Debug)]
pub struct RenoLinuxRule {
    towards_next: TowardsNext,
}

impl WindowRule for RenoLinuxRule {
    type Config = RenoLinuxConfig;

    const SUMMARY: &'static str = "Reno in the integers of Linux 6.18";
    const REFERENCE: &'static str = "Linux 6.18, net/ipv4/tcp_cong.c";

    fn new(_: &RenoLinuxConfig, _: &Start) -> Self {
        Self { towards_next: TowardsNext::default() }
    }

    #[inline]
    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let window = windows.window;
        self.towards_next.grow(windows, window, slope * acked);
    }

    fn window_to_reduce(windows: &Windows, _: &CongestionEvent) -> f64 {
        windows.window
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        self.towards_next.reset();
        libm::floor(used / 2.0) / used
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    #[test]
    fn a_packet_a_window_and_half_of_a_whole_number_of_them() {
        let start = Start { window: 6.0, ssthresh: 2.0, ..Start::NEW };
        let mut reno = RenoLinux::new(&RenoLinuxConfig {}, start);
        let loss = CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 3 };
        let ack = AckEvent::of_one_packet(Instant::ZERO, Duration::from_millis(40));
        let acknowledge = |reno: &mut RenoLinux, packets: u32| {
            for _ in 0..packets {
                reno.on_ack(&ack);
            }
            reno.window()
        };
        assert_eq!([5, 1, 6].map(|packets| acknowledge(&mut reno, packets)), [6.0, 7.0, 7.0]);
        reno.on_congestion(&loss);
        assert_eq!((reno.window(), reno.ssthresh()), (3.0, 3.0), "of seven, whatever is in flight");
        assert_eq!([2, 1].map(|packets| acknowledge(&mut reno, packets)), [3.0, 4.0], "it counts anew");
        reno.on_timeout(&loss);
        assert_eq!((reno.window(), reno.ssthresh()), (1.0, 2.0));
    }
}
