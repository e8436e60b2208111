//! TCP-friendly rate control: the rate that TCP would have at the loss events there were (RFC 5348).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | X | `rate` | packets/s |
//! | X_calc | [`throughput`] | packets/s |
//! | X_recv | `received` | packets/s that arrived, of each of the last two reports |
//! | R | `rtt_s` | s, smoothed RTT |
//! | p | [`LossIntervals::event_rate`] | loss events a packet |
//! | I_0, I_1, ... | `open`, `closed` | packets from one loss event to the next, the newest first |
//!
//! X_calc = 1/(R sqrt(2p/3) + 4R 3 sqrt(3p/8) p (1 + 32 p^2)) (§3.1, with t_RTO = 4R and b = 1). Each report sets X to
//! X_calc, but no more than twice what arrived, the larger of the last two reports (§4.3); before the first loss X
//! doubles within that bound. p is the inverse of a weighted mean of the last eight intervals, with the open one if
//! that makes the mean larger (§5.4). Losses within an RTT of the first are one event. The first interval is the one of
//! which X_calc is what arrived (§6.3.1). Without reports X is halved (§4.4).
//!
//! Readings. Events are found by the sender from what a report counts; the first loss is taken to be in the middle of
//! the report's round trip. Left out: history discounting (§5.5) and the correction of the rate by sqrt(RTT) (§4.5),
//! both of which the RFC leaves open, and the rules for senders with little data. A mark counts as a loss. Over TCP,
//! the ACKs of a round trip are the report, what is lost is sent again at the same rate, and the window only keeps a
//! silent network from being flooded: it holds two round trips.
//!
//! The RFC's text was not at hand: its rules stand here as they are commonly quoted, and section numbers with them.

use crate::report::{Report, Round};
use crate::{AckEvent, CongestionControl, CongestionEvent, Needs, Start, MIN_SSTHRESH};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Instant;

parshall_units::configuration! {
    /// Parameters of [`Tfrc`].
    pub struct TfrcConfig {
        /// Loss intervals of which the mean is taken (n); the older half counts less.
        intervals: u64, default "8", min 2, max 32;
    }
}

/// Taken for the RTT before there is one: the initial window goes at once.
const UNKNOWN_RTT_S: f64 = 1e-3;
/// Smallest rate in packets/s: a packet in t_mbi. RFC 5348 §4.3
const LEAST_RATE: f64 = 1.0 / 64.0;
/// Most intervals that are kept.
const MOST_INTERVALS: usize = 32;

/// TCP's throughput in packets/s. RFC 5348 §3.1
fn throughput(p: f64, rtt_s: f64) -> f64 {
    let timeouts = 12.0 * libm::sqrt(3.0 * p / 8.0) * p * (1.0 + 32.0 * p * p);
    1.0 / (rtt_s * (libm::sqrt(2.0 * p / 3.0) + timeouts))
}

/// The loss event rate at which TCP's throughput is `rate`, by bisection of its logarithm.
fn event_rate_of(rate: f64, rtt_s: f64) -> f64 {
    let (mut low, mut high) = (libm::log(1e-12), 0.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if throughput(libm::exp(middle), rtt_s) > rate {
            low = middle;
        } else {
            high = middle;
        }
    }
    libm::exp(high)
}

/// The last loss intervals. RFC 5348 §5.4
#[derive(Clone, Debug)]
struct LossIntervals {
    /// n
    length: usize,
    open: f64,
    closed: [f64; MOST_INTERVALS],
    known: usize,
}

impl LossIntervals {
    /// A loss event: the open interval is over.
    fn close(&mut self) {
        self.closed.copy_within(..MOST_INTERVALS - 1, 1);
        self.closed[0] = self.open.max(1.0);
        self.open = 0.0;
        self.known = (self.known + 1).min(self.length);
    }

    /// w_i = 1 for i < n/2, else 2 (n - i) / (n + 2), here as 1 - (i - (n/2 - 1)) / (n/2 + 1).
    fn weight(&self, i: usize) -> f64 {
        let (i, half) = (i as f64, self.length as f64 / 2.0);
        if i < half {
            1.0
        } else {
            1.0 - (i - (half - 1.0)) / (half + 1.0)
        }
    }

    /// p; 0 before the first event.
    fn event_rate(&self) -> f64 {
        if self.known == 0 {
            return 0.0;
        }
        let (mut with_open, mut without, mut weights) = (0.0, 0.0, 0.0);
        for i in 0..self.known {
            let weight = self.weight(i);
            weights += weight;
            without += weight * self.closed[i];
            with_open += weight * if i == 0 { self.open } else { self.closed[i - 1] };
        }
        (weights / with_open.max(without)).min(1.0)
    }
}

/// The rate of TCP at the measured loss events.
#[derive(Clone, Debug)]
pub struct Tfrc {
    window: f64,
    rtt_s: f64,
    /// 0 before the first report.
    rate: f64,
    received: [f64; 2],
    intervals: LossIntervals,
    /// The last loss event; [`Instant::ZERO`]: none.
    event_at: Instant,
    report: Report,
}

impl Tfrc {
    pub(crate) const SUMMARY: &'static str = "the rate that TCP would have at the measured loss events";
    pub(crate) const REFERENCE: &'static str = "RFC 5348";
    pub(crate) const NEEDS: Needs = Needs { from_reports: true, ..Needs::MODEL_OF_THE_PATH };
    pub(crate) const STEERABLE: bool = false;
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("rate", "packets/s", "the rate (X)"),
        Variable::new("event_rate", "", "loss events a packet (p)"),
    ];

    /// A control at the start of a connection.
    pub fn new(config: &TfrcConfig, start: Start) -> Self {
        let length = (config.intervals as usize).min(MOST_INTERVALS);
        Self {
            window: start.window,
            rtt_s: UNKNOWN_RTT_S,
            rate: 0.0,
            received: [0.0; 2],
            intervals: LossIntervals { length, open: 0.0, closed: [0.0; MOST_INTERVALS], known: 0 },
            event_at: Instant::ZERO,
            report: Report::NONE,
        }
    }

    /// A report. RFC 5348 §4.3
    fn on_report(&mut self, now: Instant, round: Round) {
        let first_rate = self.window / self.rtt_s;
        if self.rate == 0.0 {
            self.rate = first_rate;
        }
        self.received = [round.delivered / round.length_s, self.received[0]];
        self.count_losses(now, round);
        let limit = 2.0 * self.received[0].max(self.received[1]);
        let p = self.intervals.event_rate();
        self.rate = if p > 0.0 {
            throughput(p, self.rtt_s).min(limit).max(LEAST_RATE)
        } else {
            (2.0 * self.rate).min(limit).max(MIN_SSTHRESH / self.rtt_s)
        };
        self.window = (2.0 * self.rate * self.rtt_s).max(MIN_SSTHRESH);
    }

    /// The report's packets, and the loss event that begins with it, if one does.
    fn count_losses(&mut self, now: Instant, round: Round) {
        let packets = round.delivered + round.lost;
        let same = self.event_at != Instant::ZERO && now.since(self.event_at).as_secs_f64() <= self.rtt_s;
        if round.lost == 0.0 || same {
            self.intervals.open += packets;
            return;
        }
        self.intervals.open += packets / 2.0;
        if self.event_at == Instant::ZERO {
            // RFC 5348 §6.3.1
            self.intervals.open = 1.0 / event_rate_of(self.received[0].max(LEAST_RATE), self.rtt_s);
        }
        self.intervals.close();
        self.intervals.open = packets / 2.0;
        self.event_at = now;
    }
}

impl CongestionControl for Tfrc {
    fn needs(&self) -> Needs {
        Self::NEEDS
    }

    fn window(&self) -> f64 {
        self.window
    }

    /// There is no slow start of a window.
    fn ssthresh(&self) -> f64 {
        MIN_SSTHRESH
    }

    fn on_ack(&mut self, ack: &AckEvent) {
        if let Some(round) = self.report.round(ack, &mut self.rtt_s) {
            self.on_report(ack.now, round);
        }
    }

    fn on_congestion(&mut self, _: &CongestionEvent) {
        self.report.lose();
    }

    /// No report came for four RTTs. RFC 5348 §4.4
    fn on_timeout(&mut self, _: &CongestionEvent) {
        self.rate = (self.rate / 2.0).max(LEAST_RATE);
        self.received = [self.rate / 2.0; 2];
        self.window = 1.0;
    }

    fn pacing_rate(&self) -> Option<f64> {
        Some(if self.rate > 0.0 { self.rate } else { self.window / self.rtt_s })
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("rate", self.rate);
        reader("event_rate", self.intervals.event_rate());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RateSample;
    use parshall_units::Duration;

    fn tfrc() -> Tfrc {
        Tfrc::new(&TfrcConfig { intervals: 8 }, Start { window: 2.0, ssthresh: f64::INFINITY, ..Start::NEW })
    }

    /// Every 100 ms, the RTT: so many packets arrived and so many did not.
    fn report(control: &mut Tfrc, number: u64, arrived: u64, lost: u64) -> f64 {
        let rtt = Duration::from_millis(100);
        control.on_ack(&AckEvent {
            acked: arrived,
            credit: arrived as f64,
            round_ended: true,
            sample: Some(RateSample {
                delivered: arrived,
                prior_delivered: 0,
                rate: None,
                newly_delivered: arrived,
                newly_lost: lost,
                lost,
                in_flight: arrived,
                sent_in_flight: arrived,
                next_send: Duration::ZERO,
                app_limited: false,
            }),
            ..AckEvent::of_one_packet(Instant::ZERO + Duration::from_millis(100 * number), rtt)
        });
        control.pacing_rate().unwrap()
    }

    #[test]
    fn the_equation_is_the_rfcs() {
        // p = 1 %, R = 100 ms: 1/(0.1 sqrt(0.02/3) + 0.4 * 3 sqrt(0.00375) * 0.01 * 1.0032).
        let expected = 1.0 / (0.008_164_966 + 0.000_737_197);
        assert!((throughput(0.01, 0.1) - expected).abs() < 1e-3, "{}", throughput(0.01, 0.1));
        for p in [1e-6, 1e-3, 0.1] {
            assert!((event_rate_of(throughput(p, 0.1), 0.1) / p - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn the_weights_are_the_rfcs() {
        let weights = |intervals| {
            let tfrc = Tfrc::new(&TfrcConfig { intervals }, Start::NEW);
            (0..intervals as usize).map(|i| tfrc.intervals.weight(i)).collect::<Vec<f64>>()
        };
        for (found, expected) in weights(8).iter().zip([1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2]) {
            assert!((found - expected).abs() < 1e-12, "{:?}", weights(8));
        }
        for n in 2..=32 {
            let rfc = |i: u64| if 2 * i < n { 1.0 } else { 2.0 * (n - i) as f64 / (n + 2) as f64 };
            for (found, expected) in weights(n).iter().zip((0..n).map(rfc)) {
                assert!((found - expected).abs() < 1e-12, "n = {n}: {:?}", weights(n));
            }
        }
    }

    #[test]
    fn the_open_interval_counts_once_it_is_long() {
        let mut intervals = tfrc().intervals;
        for _ in 0..8 {
            intervals.open = 100.0;
            intervals.close();
        }
        assert!((intervals.event_rate() - 0.01).abs() < 1e-12);
        intervals.open = 90.0;
        assert!((intervals.event_rate() - 0.01).abs() < 1e-12);
        intervals.open = 220.0;
        assert!(
            (intervals.event_rate() - 6.0 / (600.0 + 120.0)).abs() < 1e-12,
            "the weight of the newest is 1 of 6"
        );
    }

    #[test]
    fn before_a_loss_the_rate_doubles_up_to_twice_what_arrives() {
        let mut control = tfrc();
        let rates: Vec<f64> =
            [2, 2, 4, 8, 8].iter().zip(1..).map(|(&n, i)| report(&mut control, i, n, 0)).collect();
        for (found, expected) in rates.iter().zip([20.0, 40.0, 80.0, 160.0, 160.0]) {
            assert!((found - expected).abs() < 1e-9, "{rates:?}");
        }
    }

    #[test]
    fn after_the_first_loss_the_rate_is_what_arrived() {
        let mut control = tfrc();
        (1..5).for_each(|i| {
            report(&mut control, i, 50, 0);
        });
        assert!((report(&mut control, 5, 50, 20) - 500.0).abs() < 1.0);
        let once = control.intervals.known;
        report(&mut control, 6, 40, 10);
        assert_eq!(control.intervals.known, once, "within an RTT of the first: the same event");
        report(&mut control, 7, 40, 10);
        assert_eq!(control.intervals.known, once + 1);
    }

    #[test]
    fn silence_halves_the_rate() {
        let mut control = tfrc();
        let before = (1..5).map(|i| report(&mut control, i, 50, 0)).last().unwrap();
        let event = CongestionEvent { now: Instant::ZERO, signal: crate::Signal::Loss, in_flight: 10 };
        control.on_timeout(&event);
        assert_eq!(control.pacing_rate(), Some(before / 2.0));
    }
}
