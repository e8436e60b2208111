//! Prague: the scalable control of L4S, for paths of any RTT (draft-briscoe-iccrg-prague-congestion-control-03).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | W | `window` | packets |
//! | alpha | `alpha` | share of packets marked, averaged |
//! | g | `gain` | weight of the newest share |
//! | R | `srtt_s` | s |
//! | R_virt | `virtual_rtt_s` | s: max(R, `reference_rtt`) |
//! | | `reference_rtt` | below which flows act as if this were their RTT |
//!
//! As DCTCP it takes alpha/2 of the window at a mark, once a round trip, and halves at a loss as Reno. What differs:
//! - *Growth.* Each ACK of packets without a mark adds (R/R_virt)^2/W a packet, in the round trip of a reduction too: a
//!   packet a round trip but for the share p that is marked. Where W p alpha/2 equals that, p = 2/(W+2).
//! - *RTT independence.* alpha is averaged, and the window reduced, once in R_virt. With the factor above, W/R_virt is
//!   what a flow of RTT R_virt has as its rate, and flows of RTTs below `reference_rtt` have the same. It begins four
//!   round trips after slow start.
//! - *Pacing.* W/R, twice that while W is below half of ssthresh.
//! - *Beginning.* The first mark ends slow start and halves the window; alpha is 0 until then, since nothing was
//!   measured.
//!
//! So W p is 1 + sqrt(3) and not 2 where packets are marked with probability p: a reduction takes p W/2, comes once a
//! round trip, and then waits for the next mark, while the window grows. Beside Reno in a `dualpi2` of k = 2 that is
//! 1.4 times Reno's rate at RTTs of 20 ms, 1.5 at 50 ms and 1.8 to 2.3 at 100 ms, where the probability swings: marks
//! come in clusters, each is answered once, and their mean is less than k times the root of the mean of the other
//! queue's. Linux' module reduces as often (CWR is left with the ACK of what was sent when it was entered), and a user
//! of it measured what comes out here (tests/crosscheck/test_dualpi2.py).
//!
//! Packets carry ECT(1), and receivers echo the marks of each ACK's own packets: `l4s` is on by default.
//!
//! Left out: windows below two packets (smaller packets, a rate below W/R), rates that vary by 3 % within a round trip,
//! fallback where a queue marks as RFC 3168 says (off by default in Linux too), undoing a reduction for packets that
//! were reordered.
//!
//! Read: the authors' Linux module (net/ipv4/tcp_prague.c, as of 5.4 and 0.7 of 6.18) and their implementation over
//! UDP, for formulas and constants; of the draft the abstract only.

use crate::window_based::{window_in_use, WindowBased, WindowRule, Windows};
use crate::{AckEvent, CongestionEvent, Needs, Signal, Start};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Duration, Instant};

parshall_units::configuration! {
    /// Parameters of [`Prague`].
    pub struct PragueConfig {
        /// Weight of the newest share in the average share of marked packets.
        gain: f64, default "0.0625", min 0.0001, max 1.0;
        /// Flows of a shorter RTT act as if this were theirs.
        reference_rtt: Duration, default "25 ms", min "0 s", max "1 s";
    }
}

/// Round trips after slow start in which the RTT is taken as it is.
const TRANSITION_ROUNDS: u32 = 4;

/// DCTCP for the Internet.
pub type Prague = WindowBased<PragueRule>;

/// A packet a virtual round trip, and a decrease by the share of packets marked.
#[derive(Clone, Debug)]
pub struct PragueRule {
    gain: f64,
    reference_rtt: Duration,
    srtt: Duration,
    alpha: f64,
    /// Packets since `alpha` was averaged last, at `averaged_at`, and whether a round trip ended since.
    acked: f64,
    marked: f64,
    averaged_at: Instant,
    round_over: bool,
    /// Round trips since slow start.
    rounds: u32,
    /// When a mark last reduced the window; `None`: there was none.
    reduced_at: Option<Instant>,
}

impl PragueRule {
    /// The time that is to pass between averages, and between reductions, besides a round trip.
    fn least_interval(&self) -> Duration {
        if self.rounds < TRANSITION_ROUNDS {
            Duration::ZERO
        } else {
            self.reference_rtt
        }
    }

    /// R/R_virt
    fn rtt_ratio(&self) -> f64 {
        let virtual_rtt = self.srtt.max(self.least_interval());
        if virtual_rtt == Duration::ZERO {
            return 1.0;
        }
        self.srtt.as_secs_f64() / virtual_rtt.as_secs_f64()
    }

    fn average(&mut self, now: Instant) {
        if self.reduced_at.is_some() && self.acked > 0.0 {
            self.alpha += self.gain * (self.marked / self.acked - self.alpha); // RFC 8257 §3.3 step 7
        }
        (self.acked, self.marked, self.round_over, self.averaged_at) = (0.0, 0.0, false, now);
    }
}

impl WindowRule for PragueRule {
    type Config = PragueConfig;

    const SUMMARY: &'static str =
        "DCTCP for L4S: paced, independent of short RTTs; takes more than Reno beside it at RTTs above 10 ms";
    const REFERENCE: &'static str = "draft-briscoe-iccrg-prague-congestion-control-03";
    const VARIABLES: &'static [Variable] = &[
        Variable::new("alpha", "", "average share of packets marked"),
        Variable::new("rtt_ratio", "", "RTT over the virtual RTT, which is 25 ms at least"),
    ];
    const NEEDS: Needs =
        Needs { l4s: true, pacing: true, accurate_ecn: true, growth_in_cwr: true, ..Needs::NONE };

    fn new(config: &PragueConfig, start: &Start) -> Self {
        Self {
            gain: config.gain,
            reference_rtt: config.reference_rtt,
            srtt: Duration::ZERO,
            alpha: 0.0,
            acked: 0.0,
            marked: 0.0,
            averaged_at: start.at,
            round_over: false,
            rounds: 0,
            reduced_at: None,
        }
    }

    fn observe(&mut self, windows: &mut Windows, ack: &AckEvent) {
        let acked = ack.acked as f64;
        self.srtt = ack.srtt;
        self.acked += acked;
        if ack.ecn_echo {
            self.marked += acked;
        }
        if ack.round_ended {
            self.round_over = true;
            self.rounds = if windows.in_slow_start() { 0 } else { self.rounds.saturating_add(1) };
        }
        if self.round_over && ack.now.since(self.averaged_at) >= self.least_interval() {
            self.average(ack.now);
        }
    }

    fn avoid_congestion(&mut self, windows: &mut Windows, _: &AckEvent, acked: f64, slope: f64) {
        let ratio = self.rtt_ratio();
        windows.window += slope * acked * ratio * ratio / windows.window;
    }

    /// A mark reduces the window itself, of which pacing may hold a part back; a loss what is in use, as Reno.
    fn window_to_reduce(windows: &Windows, event: &CongestionEvent) -> f64 {
        match event.signal {
            Signal::Loss => window_in_use(windows.window, event),
            Signal::Ecn => windows.window,
        }
    }

    fn reduce(&mut self, _: f64, event: &CongestionEvent) -> f64 {
        if event.signal == Signal::Loss {
            return 0.5;
        }
        match self.reduced_at {
            Some(before) if event.now.since(before) < self.least_interval() => 1.0,
            Some(_) => {
                self.reduced_at = Some(event.now);
                1.0 - self.alpha / 2.0 // RFC 8257 §3.3 step 9
            }
            None => {
                self.reduced_at = Some(event.now);
                0.5
            }
        }
    }

    fn pacing_rate(&self, windows: &Windows) -> Option<f64> {
        let gain = if windows.window < windows.ssthresh / 2.0 { 2.0 } else { 1.0 };
        (self.srtt > Duration::ZERO).then(|| gain * windows.window / self.srtt.as_secs_f64())
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("alpha", self.alpha);
        reader("rtt_ratio", self.rtt_ratio());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path_model::Choices;
    use crate::CongestionControl;

    const REFERENCE_RTT: Duration = Duration::from_millis(25);

    fn prague(window: f64, ssthresh: f64) -> Prague {
        let config = PragueConfig { gain: 0.0625, reference_rtt: REFERENCE_RTT };
        Prague::new(&config, Start { window, ssthresh, ..Start::NEW })
    }

    fn ack(now: Instant, rtt: Duration, marked: bool) -> AckEvent {
        AckEvent { may_grow: !marked, ecn_echo: marked, ..AckEvent::of_one_packet(now, rtt) }
    }

    fn mark(control: &mut Prague, now: Instant) {
        control.on_congestion(&CongestionEvent { now, signal: Signal::Ecn, in_flight: 1 });
    }

    /// Round trips of congestion avoidance in which each packet is marked with probability `p`. As from the endpoint, a
    /// mark is a congestion event if the last one that was answered is a round trip ago. The mean of W and of alpha in
    /// the second half.
    fn course(control: &mut Prague, rtt: Duration, p: f64, rounds: u32) -> (f64, f64) {
        let (mut now, mut random) = (Instant::ZERO, Choices::new(7));
        let (mut window, mut alpha, mut reduced) = (0.0, 0.0, Instant::ZERO);
        for round in 0..rounds {
            let packets = control.window() as u64;
            for i in 0..packets {
                now += rtt.over(packets);
                let marked = (random.below(1 << 30) as f64) < p * f64::from(1 << 30);
                if marked && now >= reduced + rtt {
                    let before = control.window();
                    mark(control, now);
                    reduced = if control.window() < before { now } else { reduced };
                }
                control.on_ack(&AckEvent { round_ended: i == 0, ..ack(now, rtt, marked) });
            }
            if round >= rounds / 2 {
                window += control.window();
                alpha += control.rule.alpha;
            }
        }
        (window / f64::from(rounds / 2), alpha / f64::from(rounds / 2))
    }

    #[test]
    fn two_packets_a_round_trip_are_marked_and_those_that_come_before_the_next_reduction() {
        for p in [0.01, 0.03, 0.1] {
            let (window, alpha) = course(&mut prague(10.0, 10.0), Duration::from_millis(50), p, 40_000);
            // From a reduction to the next pass a round trip and 1/p packets, of which all but p add 1/W: with x = p W,
            // x/2 = (1 - p)(1 + 1/x).
            let expected = ((1.0 - p) + libm::sqrt((1.0 - p) * (1.0 - p) + 2.0 * (1.0 - p))) / p;
            assert!((window / expected - 1.0).abs() < 0.1, "p = {p}: {window}, expected {expected}");
            assert!((alpha / p - 1.0).abs() < 0.05, "{alpha}");
        }
    }

    #[test]
    fn short_rtts_have_the_rate_of_the_reference_rtt() {
        let rate = |rtt: Duration| course(&mut prague(10.0, 10.0), rtt, 0.02, 200_000).0 / rtt.as_secs_f64();
        let reference = rate(REFERENCE_RTT);
        for ms in [5, 12] {
            let found = rate(Duration::from_millis(ms)) / reference;
            assert!((found - 1.0).abs() < 0.12, "RTT {ms} ms: {found}");
        }
        let longer = rate(Duration::from_millis(50)) / reference;
        assert!((longer - 0.5).abs() < 0.05, "{longer}");
    }

    #[test]
    fn the_first_mark_ends_slow_start_and_halves() {
        let mut control = prague(40.0, f64::INFINITY);
        mark(&mut control, Instant::ZERO);
        assert_eq!((control.window(), control.ssthresh()), (20.0, 20.0));
        // alpha is 0 still.
        mark(&mut control, Instant::ZERO + Duration::from_millis(50));
        assert_eq!(control.window(), 20.0);
    }

    #[test]
    fn marks_take_half_of_alpha_once_in_a_virtual_round_trip_and_losses_a_half() {
        let mut control = prague(100.0, 10.0);
        (control.rule.alpha, control.rule.rounds) = (0.2, TRANSITION_ROUNDS);
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        mark(&mut control, at(0));
        let mut found = vec![control.window()];
        for ms in [30, 54, 55] {
            mark(&mut control, at(ms));
            found.push(control.window());
        }
        assert_eq!(found, [50.0, 45.0, 45.0, 40.5]);
        control.on_congestion(&CongestionEvent { now: at(55), signal: Signal::Loss, in_flight: 40 });
        assert!((control.window() - 20.25).abs() < 1e-9);
    }

    #[test]
    fn packets_are_paced_over_a_round_trip() {
        let mut control = prague(10.0, 100.0);
        assert_eq!(control.pacing_rate(), None);
        control
            .on_ack(&AckEvent { may_grow: false, ..ack(Instant::ZERO, Duration::from_millis(100), false) });
        assert_eq!(control.pacing_rate(), Some(200.0));
        control.windows.window = 50.0;
        assert_eq!(control.pacing_rate(), Some(500.0));
    }
}
