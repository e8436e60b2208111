//! Hybla: the growth in time of a connection with a short RTT, whatever the RTT (Caini & Firrincieli, International
//! Journal of Satellite Communications and Networking 22(5), 2004).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | W | `window` | packets |
//! | RTT_0 | `reference_rtt` | s |
//! | rho | [`HyblaRule::rho`] | RTT/RTT_0, at least 1 |
//!
//! A packet acknowledged adds 2^rho - 1 in slow start and rho^2/W in congestion avoidance; a loss halves. So a round
//! trip adds rho^2, the window is rho times that of a connection with RTT_0, and the rate is that connection's:
//! sqrt(3/(2p))/RTT_0. At RTTs up to RTT_0 Hybla is Reno.
//!
//! Readings. RTT is the smallest of the connection; Linux takes the smallest smoothed one. With queueing delay in it a
//! flow would grow faster the longer its own queue. Slow start ends at ssthresh, or at `MAX_SLOW_START` packets, to
//! which Linux limits every window: at an RTT of 400 ms each ACK adds 65,535. Left out, as in Linux: an initial
//! ssthresh from the bandwidth that the first ACKs show, for which `initial_ssthresh` of the group stands; its pacing
//! is the group's `pacing`. Linux also begins with rho packets, counts rho in eighths and is Reno during recovery.
//!
//! Read: Linux' net/ipv4/tcp_hybla.c (2.6). Not read: the paper itself.

use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Hybla`].
    pub struct HyblaConfig {
        /// RTT of the connection whose rate is aimed at; connections with a shorter one are Reno.
        reference_rtt: Duration, default "25 ms", min "1 us", max "100 s";
    }
}

/// Largest window of slow start, in packets, and the exponent beyond which an ACK would add more.
const MAX_SLOW_START: f64 = 65_535.0;
const MAX_EXPONENT: f64 = 16.0;

/// Reno's growth, as fast in time as at a reference RTT.
pub type Hybla = WindowBased<HyblaRule>;

/// Growth by rho^2 a round trip.
#[derive(Clone, Debug)]
pub struct HyblaRule {
    reference_rtt_s: f64,
    rho: f64,
}

impl WindowRule for HyblaRule {
    type Config = HyblaConfig;

    const SUMMARY: &'static str = "Reno's growth in time at a reference RTT, whatever the RTT";
    const REFERENCE: &'static str = "Caini & Firrincieli, IJSCN 22(5), 2004";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] = &[Variable::new("rho", "", "RTT over the reference RTT")];
    const STANDARD_SLOW_START: bool = false;

    fn new(config: &HyblaConfig, _: &Start) -> Self {
        Self { reference_rtt_s: config.reference_rtt.as_secs_f64(), rho: 1.0 }
    }

    fn observe(&mut self, _: &mut Windows, ack: &AckEvent) {
        if ack.min_rtt < Duration::MAX {
            self.rho = (ack.min_rtt.as_secs_f64() / self.reference_rtt_s).max(1.0);
        }
    }

    fn grow(&mut self, windows: &mut Windows, ack: &AckEvent, slope: f64) {
        if windows.in_slow_start() {
            let added = ack.credit * (libm::exp2(self.rho.min(MAX_EXPONENT)) - 1.0);
            let end = windows.ssthresh.min(MAX_SLOW_START.max(windows.window));
            windows.window = (windows.window + added).min(end);
            if windows.window >= end {
                windows.ssthresh = end;
            }
        } else {
            let added = slope * self.rho * self.rho * ack.credit / windows.window;
            windows.window += added;
        }
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("rho", self.rho);
    }

    fn reduce(&mut self, _: f64, _: &CongestionEvent) -> f64 {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::Instant;

    fn ack(rtt_ms: u64) -> AckEvent {
        let rtt = Duration::from_millis(rtt_ms);
        AckEvent::of_one_packet(Instant::ZERO, rtt)
    }

    fn hybla(window: f64, ssthresh: f64) -> Hybla {
        let config = HyblaConfig { reference_rtt: Duration::from_millis(25) };
        Hybla::new(&config, Start { window, ssthresh, ..Start::NEW })
    }

    #[test]
    fn an_ack_adds_what_the_source_says() {
        for (rtt_ms, slow_start, avoidance) in
            [(10, 1.0, 1.0), (25, 1.0, 1.0), (50, 3.0, 4.0), (100, 15.0, 16.0)]
        {
            let mut control = hybla(10.0, 1000.0);
            control.on_ack(&ack(rtt_ms));
            assert!((control.window() - 10.0 - slow_start).abs() < 1e-9, "{rtt_ms} ms: {}", control.window());
            let mut control = hybla(100.0, 50.0);
            control.on_ack(&ack(rtt_ms));
            assert!((control.window() - 100.0 - avoidance / 100.0).abs() < 1e-9, "{rtt_ms} ms");
        }
    }

    #[test]
    fn slow_start_ends_at_ssthresh_however_long_the_rtt() {
        let mut control = hybla(10.0, 64.0);
        control.on_ack(&ack(3000));
        assert_eq!(control.window(), 64.0);
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 64 });
        assert_eq!(control.window(), 32.0);
    }

    #[test]
    fn slow_start_ends_somewhere_however_long_the_rtt() {
        let mut control = hybla(10.0, f64::INFINITY);
        (0..3).for_each(|_| control.on_ack(&ack(3000)));
        assert!((control.window() - MAX_SLOW_START).abs() < 1.0 && control.ssthresh() == MAX_SLOW_START);
    }

    /// The window grows by the same packets a second for each of its rho packets: rates meet whatever the RTTs.
    #[test]
    fn the_rate_grows_as_at_the_reference_rtt() {
        for rtt_ms in [25, 50, 75, 200] {
            let mut control = hybla(2000.0, 50.0);
            let rounds = 1200 / rtt_ms; // 1.2 s
            for _ in 0..rounds {
                let packets = control.window() as u64;
                (0..packets).for_each(|_| control.on_ack(&ack(rtt_ms)));
            }
            let rate_gain = (control.window() - 2000.0) / (rtt_ms as f64 / 1e3);
            let reno = 48.0 / 0.025; // a packet each 25 ms
            assert!((rate_gain / reno - 1.0).abs() < 0.1, "{rtt_ms} ms: {rate_gain}, expected {reno}");
        }
    }
}
