//! Veno: Reno that distinguishes random losses from congestion by the packets it has queued (Fu & Liew, IEEE JSAC
//! 21(2), 2003).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | N | `queued` | packets queued at the bottleneck: cwnd (1 - BaseRTT/RTT) |
//! | beta | `beta` | packets queued from which on the path counts as congested |
//! | BaseRTT | `AckEvent::min_rtt` | smallest RTT seen |
//!
//! While N < beta the window grows as Reno's, and a loss counts as random: it takes a fifth. From N = beta on the
//! window grows by a packet every second round trip, and a loss halves. N is Vegas' (1995). What the window grows by
//! follows from the first packets of a round trip, what a loss takes from the last three samples before it: a slow
//! start that fills the queue within a round trip ends by congestion.
//!
//! Readings. "Every other ACK" adds 1/cwnd under congestion; here each adds half of that. Slow start is Reno's; a
//! timeout sets ssthresh as a loss would. Before the first sample a loss is congestion. Linux takes the smallest RTT
//! since the last ACK, and counts N in halves of a packet.
//!
//! Read: Linux' net/ipv4/tcp_veno.c (2.6), of which a source's author is one. Not read: the paper itself.

use crate::round_rtt::RoundRtt;
use crate::window_based::{WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Start};
use parshall_units::parameters::{Reader, Variable};

parshall_units::configuration! {
    /// Parameters of [`Veno`].
    pub struct VenoConfig {
        /// Packets queued from which on the path counts as congested.
        beta: f64, default "3", min 0.0, max 1e5;
        /// Factor of the window that is kept at a loss that counts as random.
        random_decrease: f64, default "0.8", min 0.01, max 0.999;
    }
}

/// Reno with a smaller decrease where nothing is queued.
pub type Veno = WindowBased<VenoRule>;

/// Increase and decrease by the packets queued.
#[derive(Clone, Debug)]
pub struct VenoRule {
    beta: f64,
    random_decrease: f64,
    round: RoundRtt,
    /// N, by which the window grows.
    queued: f64,
}

impl WindowRule for VenoRule {
    type Config = VenoConfig;

    const SUMMARY: &'static str = "Reno that takes a fifth for losses without a queue";
    const REFERENCE: &'static str = "Fu & Liew, IEEE JSAC 21(2), 2003";
    const STEERABLE: bool = true;
    const VARIABLES: &'static [Variable] =
        &[Variable::new("queued", "packets", "packets queued in the last round trip (N)")];
    /// Without them, it would not know N at a loss soon after another.
    const NEEDS: Needs = Needs { timestamps: true, ..Needs::NONE };

    fn new(config: &VenoConfig, _: &Start) -> Self {
        Self {
            beta: config.beta,
            random_decrease: config.random_decrease,
            round: RoundRtt::default(),
            queued: f64::INFINITY,
        }
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        self.round.count(ack);
        if self.round.is_known() || self.round.had_too_few() {
            self.queued = self.round.queued(windows.window).unwrap_or(self.queued);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let increase = if self.queued < self.beta { 1.0 } else { 0.5 };
        windows.window += increase * slope * acked / windows.window;
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if self.queued.is_finite() {
            reader("queued", self.queued);
        }
    }

    fn reduce(&mut self, used: f64, _: &CongestionEvent) -> f64 {
        self.round.give_up();
        if self.round.queued(used).is_some_and(|queued| queued < self.beta) {
            self.random_decrease
        } else {
            0.5
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CongestionControl, Signal};
    use parshall_units::{Duration, Instant};

    /// The smallest RTT is 100 ms.
    fn ack(rtt_ms: f64, round_ended: bool) -> AckEvent {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        AckEvent {
            min_rtt: Duration::from_millis(100),
            round_ended,
            ..AckEvent::of_one_packet(Instant::ZERO, rtt)
        }
    }

    fn lose(control: &mut Veno) {
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 100 });
    }

    /// Growth by an ACK and the factor kept after a round trip with this smallest RTT, at a window of 100.
    fn after_round(rtt_ms: f64) -> (f64, f64) {
        let config = VenoConfig { beta: 3.0, random_decrease: 0.8 };
        let mut control = Veno::new(&config, Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        for (rtt_ms, round_ended) in [(rtt_ms + 20.0, true), (rtt_ms, false), (rtt_ms + 40.0, false)] {
            control.on_ack(&AckEvent { may_grow: false, ..ack(rtt_ms, round_ended) });
        }
        control.on_ack(&ack(rtt_ms + 20.0, false));
        let grown = control.window() - 100.0;
        lose(&mut control);
        (grown, control.window() / (100.0 + grown))
    }

    #[test]
    fn three_packets_queued_are_congestion() {
        // N = 100 (1 - 100/RTT): 2.9 packets at 103 ms, 3.1 at 103.2 ms.
        for (rtt_ms, grown, kept) in [(100.0, 0.01, 0.8), (103.0, 0.01, 0.8), (103.2, 0.005, 0.5)] {
            let found = after_round(rtt_ms);
            assert!(
                (found.0 - grown).abs() < 1e-12 && (found.1 - kept).abs() < 1e-12,
                "{rtt_ms} ms: {found:?}"
            );
        }
    }

    #[test]
    fn a_queue_that_fills_within_a_round_trip_is_congestion() {
        let config = VenoConfig { beta: 3.0, random_decrease: 0.8 };
        let mut control = Veno::new(&config, Start { window: 100.0, ..Start::NEW });
        for packet in 0..100 {
            control.on_ack(&ack(100.0 + f64::from(packet), packet == 0));
        }
        assert_eq!(control.rule.queued, 0.0, "the first packets met no queue");
        let before = control.window();
        control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 200 });
        assert_eq!(control.window(), before / 2.0);
    }

    #[test]
    fn before_the_first_round_trip_a_loss_halves() {
        let config = VenoConfig { beta: 3.0, random_decrease: 0.8 };
        let mut control = Veno::new(&config, Start { window: 100.0, ssthresh: 50.0, ..Start::NEW });
        lose(&mut control);
        assert_eq!(control.window(), 50.0);
    }
}
