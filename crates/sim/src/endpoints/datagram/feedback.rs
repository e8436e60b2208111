//! The feedback by which a flow of datagrams follows the network: the receiver reports once a round trip what arrived, and a
//! congestion control sets the rate from that.
//!
//! A report covers an interval of one base RTT (at least [`SHORTEST_INTERVAL`]; at most [`LONGEST_INTERVAL`] for
//! controls that need arrival times) of the receiver's time and reaches the sender undisturbed: the way back is never
//! contended. What an interval lacks of the numbers up to its highest is lost; a packet that comes in a later interval
//! than higher numbers, as paths with jitter may have it, is taken off the losses of that one (RFC 3550 §6.4.1, A.3). A
//! receiver that got nothing says nothing. A sender that heard nothing for four round trips, and the time of two
//! packets, takes that for a timeout (RFC 5348 §4.3).
//!
//! *Measured here*, not by `parshall_tcp::signals`: the delivery rate is the receiver's, of what arrived in its
//! interval; that of a TCP sender follows from the times of packets and their ACKs, which reports do not have. The
//! smoothed RTT is rounded down, in whole picoseconds, where TCP's is rounded towards the old value.
//!
//! *Time.* The sender is run as of the moment at which what it sends reaches the first link, as in the rest of
//! [`flow`](super::flow): a report that reaches it at t is an event at t + its first propagation segment. At that moment
//! everything that arrived in the report's interval has passed its last link.

use parshall_congestion::{
    AckEvent, CongestionControl, CongestionEvent, Control, Phase, RateSample, Signal, Start,
};
use parshall_engine::random::Stream;
use parshall_units::{Duration, Instant};
use parshall_workload::{Datagram, DatagramSource};
use std::collections::VecDeque;

/// Packets that the sender begins with, a round trip.
pub(crate) const FRESH_START: Start = Start { window: 2.0, ssthresh: f64::INFINITY, ..Start::NEW };

const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// For controls that need arrival times: draft-ietf-rmcat-gcc-02 §3.
const LONGEST_INTERVAL: Duration = Duration::from_millis(30);

/// The times of a flow's datagrams.
#[derive(Debug)]
pub(crate) enum Pace {
    /// A source with times of its own.
    Source(DatagramSource, Stream),
    /// A congestion control; full packets.
    Controlled(Box<Feedback>),
}

impl Pace {
    /// The next datagram and its number.
    #[inline]
    pub(crate) fn next(&mut self) -> (Datagram, u64) {
        match self {
            Self::Source(source, random) => (source.next(random), 0),
            Self::Controlled(feedback) => feedback.next(),
        }
    }
}

/// The delays of a controlled flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delays {
    /// Sender to first link.
    pub(crate) to_first_link: Duration,
    /// Receiver to sender.
    pub(crate) back: Duration,
    /// There and back, without queues.
    pub(crate) rtt: Duration,
}

/// What arrived in an interval.
#[derive(Debug)]
struct Interval {
    number: u64,
    received: u64,
    /// Below zero: packets came that were lost in intervals before.
    lost: i64,
    /// How long the last one took.
    delay: Duration,
}

/// The content of the reports since the warm-up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Reports, and those of losses.
    pub(crate) reports: u64,
    pub(crate) with_losses: u64,
    /// Silences taken for timeouts.
    pub(crate) timeouts: u64,
    pub(crate) rtt_sum_s: f64,
    pub(crate) min_rtt: Option<Duration>,
}

/// Both ends of the loop.
#[derive(Debug)]
pub(crate) struct Feedback {
    control: Control,
    packet_bytes: u32,
    delays: Delays,
    interval: Duration,
    started: Instant,
    /// Number of the next datagram.
    sent: u64,
    /// Receiver: the number it expects, and intervals with arrivals that are not reported yet.
    expected: u64,
    open: VecDeque<Interval>,
    /// Of the packets in these intervals, when they were sent and when they arrived; for controls that need it.
    times: Option<VecDeque<(Instant, Instant)>>,
    /// Number of the interval that is reported next.
    due: u64,
    delivered: u64,
    lost: u64,
    srtt: Duration,
    min_rtt: Duration,
    heard_at: Instant,
    pub(crate) heard: Heard,
}

impl Feedback {
    pub(crate) fn new(control: Control, packet_bytes: u32, delays: Delays, started: Instant) -> Self {
        let times = control.needs().arrival_times.then(VecDeque::new);
        let longest = if times.is_some() { LONGEST_INTERVAL } else { Duration::MAX };
        Self {
            control,
            packet_bytes,
            delays,
            interval: delays.rtt.min(longest).max(SHORTEST_INTERVAL),
            started,
            sent: 0,
            expected: 0,
            open: VecDeque::new(),
            times,
            due: 0,
            delivered: 0,
            lost: 0,
            srtt: Duration::ZERO,
            min_rtt: Duration::MAX,
            heard_at: started,
            heard: Heard::default(),
        }
    }

    /// When the next report is an event: see the module's header.
    pub(crate) fn report_due(&self) -> Instant {
        self.report_arrives() + self.delays.to_first_link
    }

    /// When that report reaches the sender.
    pub(crate) fn report_arrives(&self) -> Instant {
        self.started + self.interval.times(self.due + 1) + self.delays.back
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Smoothed RTT; `None` before the first report.
    pub(crate) fn srtt(&self) -> Option<Duration> {
        (self.srtt > Duration::ZERO).then_some(self.srtt)
    }

    /// Packets/s that are sent.
    pub(crate) fn rate(&self) -> f64 {
        if self.srtt == Duration::ZERO {
            return FRESH_START.window / self.interval.as_secs_f64();
        }
        self.control.pacing_rate().unwrap_or(f64::INFINITY)
    }

    fn next(&mut self) -> (Datagram, u64) {
        let number = self.sent;
        self.sent += 1;
        let gap = if number == 0 { Duration::ZERO } else { Duration::from_secs_f64(1.0 / self.rate()) };
        (Datagram { gap, bytes: self.packet_bytes }, number)
    }

    /// Datagram `number`, sent at `sent`, reaches the receiver.
    pub(crate) fn receive(&mut self, at: Instant, sent: Instant, number: u64) {
        let interval = at.since(self.started).as_ps() / self.interval.as_ps();
        if self.open.back().is_none_or(|last| last.number < interval) {
            self.open.push_back(Interval { number: interval, received: 0, lost: 0, delay: Duration::ZERO });
        }
        if let Some(last) = self.open.back_mut() {
            last.received += 1;
            let missing = number.checked_sub(self.expected);
            last.lost += missing.map_or(-1, |missing| i64::try_from(missing).unwrap_or(i64::MAX));
            last.delay = at.since(sent);
        }
        if let Some(times) = &mut self.times {
            times.push_back((sent, at));
        }
        self.expected = self.expected.max(number + 1);
    }

    /// The report that is due reaches the sender, if there is one.
    pub(crate) fn on_report(&mut self, warm_up: Instant) {
        let now = self.report_arrives();
        let measured = now >= warm_up;
        if self.open.front().is_some_and(|first| first.number <= self.due) {
            if let Some(interval) = self.open.pop_front() {
                self.hear(now, &interval, measured);
            }
        } else {
            let patience = self.srtt.max(self.interval).times(4);
            let two_packets = Duration::from_secs_f64(2.0 / self.rate());
            if now.since(self.heard_at) >= patience.max(two_packets) {
                self.heard_at = now;
                self.heard.timeouts += u64::from(measured);
                self.control.on_timeout(&CongestionEvent {
                    now,
                    signal: Signal::Loss,
                    in_flight: self.in_flight(),
                });
            }
        }
        self.due += 1;
    }

    fn in_flight(&self) -> u64 {
        self.sent.saturating_sub(self.delivered + self.lost)
    }

    fn hear(&mut self, now: Instant, interval: &Interval, measured: bool) {
        let rtt = interval.delay + self.delays.back;
        self.heard_at = now;
        // RFC 6298 (2.2), (2.3)
        self.srtt = if self.srtt == Duration::ZERO { rtt } else { (self.srtt.times(7) + rtt).over(8) };
        self.min_rtt = self.min_rtt.min(rtt);
        if measured {
            self.heard.reports += 1;
            self.heard.with_losses += u64::from(interval.lost > 0);
            self.heard.rtt_sum_s += rtt.as_secs_f64();
            self.heard.min_rtt = Some(self.heard.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let sent_in_flight = self.in_flight();
        let prior_delivered = self.delivered;
        self.delivered += interval.received;
        self.lost = self.lost.saturating_add_signed(interval.lost);
        let newly_lost = interval.lost.max(0) as u64;
        let in_flight = self.in_flight();
        if let Some(times) = &mut self.times {
            for (sent, arrived) in times.drain(..interval.received as usize) {
                self.control.on_arrival(sent, arrived);
            }
        }
        self.control.on_ack(&AckEvent {
            now,
            phase: Phase::Open,
            acked: interval.received,
            credit: interval.received as f64,
            rtt: Some(rtt),
            one_way_delay: None, // of each packet, there are the arrival times
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            in_flight: sent_in_flight,
            may_grow: true,
            round_ended: true,
            ecn_echo: false,
            sample: Some(RateSample {
                delivered: self.delivered,
                prior_delivered,
                rate: Some(interval.received as f64 / self.interval.as_secs_f64()),
                newly_delivered: interval.received,
                newly_lost,
                lost: newly_lost,
                in_flight,
                sent_in_flight,
                next_send: Duration::ZERO,
                app_limited: false,
            }),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_congestion::{CongestionSignal, ControlConfig, RateBasedConfig};

    fn feedback() -> Feedback {
        let control = ControlConfig::RateBased(RateBasedConfig {
            increase: 100.0,
            decrease: 1.0,
            congestion: CongestionSignal::Loss,
            ceiling: 1e5,
        });
        let part = Duration::from_millis(25);
        let delays = Delays { to_first_link: part, back: part.times(2), rtt: part.times(4) };
        Feedback::new(control.build(FRESH_START), 1000, delays, Instant::ZERO)
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn begins_with_two_packets_a_round_trip() {
        let mut feedback = feedback();
        let gaps: Vec<u64> = (0..3).map(|_| feedback.next().0.gap.as_ps() / 1_000_000_000).collect();
        assert_eq!(gaps, [0, 50, 50]);
    }

    #[test]
    fn gaps_in_the_numbers_are_losses() {
        let mut feedback = feedback();
        feedback.sent = 6;
        for (ms, number) in [(50, 0), (60, 1), (110, 4), (120, 5)] {
            feedback.receive(at(ms), at(ms - 50), number);
        }
        assert_eq!(
            feedback.report_due(),
            at(100 + 50 + 25),
            "an interval, the way back, and the first propagation segment"
        );
        feedback.on_report(Instant::ZERO);
        assert_eq!((feedback.delivered, feedback.lost, feedback.in_flight()), (2, 0, 4));
        feedback.on_report(Instant::ZERO);
        assert_eq!((feedback.delivered, feedback.lost, feedback.in_flight()), (4, 2, 0));
        assert_eq!((feedback.heard.reports, feedback.heard.with_losses), (2, 1));
        assert_eq!(feedback.heard.min_rtt, Some(Duration::from_millis(100)));
    }

    #[test]
    fn silence_is_a_timeout_after_four_round_trips() {
        let mut feedback = feedback();
        feedback.sent = 100;
        for number in 0..3 {
            feedback.receive(at(50 + 100 * number), at(100 * number), number);
        }
        for _ in 0..3 {
            feedback.on_report(Instant::ZERO);
        }
        let before = feedback.rate();
        for _ in 0..3 {
            feedback.on_report(Instant::ZERO);
        }
        assert_eq!((feedback.rate(), feedback.heard.timeouts), (before, 0));
        feedback.on_report(Instant::ZERO);
        assert_eq!(feedback.heard.timeouts, 1);
        assert!(feedback.rate() <= 10.0, "a packet a round trip: {}", feedback.rate());
    }

    /// 100 packets/s with a delay that grows by 1 ms a packet, which only arrival times tell: each report alone has one delay.
    #[test]
    fn a_control_that_needs_them_hears_of_arrival_times() {
        let media: ControlConfig = serde_json::from_str(
            r#"{"name": "gcc", "initial_rate": 100.0, "decrease": 0.85, "threshold_up": 0.01, "threshold_down": 0.00018}"#,
        )
        .unwrap();
        let part = Duration::from_millis(25);
        let delays = Delays { to_first_link: part, back: part.times(2), rtt: part.times(4) };
        let mut feedback = Feedback::new(media.build(FRESH_START), 1000, delays, Instant::ZERO);
        assert_eq!(feedback.report_due(), at(30 + 50 + 25), "an interval of 30 ms, not of the RTT");
        feedback.sent = 200;
        for number in 0..100 {
            feedback.receive(at(50 + 11 * number), at(10 * number), number);
        }
        for _ in 0..30 {
            feedback.on_report(Instant::ZERO);
        }
        assert!(feedback.rate() < 100.0, "over-use: {}", feedback.rate());
        let times = feedback.times.as_ref().map(VecDeque::len);
        assert_eq!(times, Some(feedback.open.iter().map(|interval| interval.received as usize).sum()));
    }
}
