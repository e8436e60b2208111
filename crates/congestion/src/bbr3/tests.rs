//! The rules of draft-ietf-ccwg-bbr-06, one by one.

use super::*;
use crate::bounded_bbr::State;
use crate::path_model::testing::Feed;
use crate::{
    AckEvent, CongestionControl, CongestionEvent, Phase, RateSample, Signal, Start, TransmissionStart,
};

/// 1000 packets/s and 100 ms.
const BDP: f64 = 100.0;

pub(crate) fn bbr3() -> Bbr3 {
    let config = Bbr3Config {
        loss_threshold: 0.02,
        beta: 0.7,
        probe_rtt_interval: Duration::from_secs(5),
        probe_rtt_duration: Duration::from_millis(200),
    };
    Bbr3::new(&config, Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW })
}

/// In Cruise, with a window of two BDP. The smallest RTT is just measured again.
pub(crate) fn cruising(feed: &mut Feed) -> Bbr3 {
    let mut bbr = bbr3();
    for _ in 0..4 {
        bbr.on_ack(&feed.round(|_| ()));
    }
    for _ in 0..250 {
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 200));
    }
    assert_eq!((bbr.state, bbr.pacing_gain, bbr.window), (State::Cruise, 1.0, 2.0 * BDP));
    bbr
}

/// In Up, after a round of Refill.
pub(crate) fn probing(feed: &mut Feed) -> Bbr3 {
    let mut bbr = cruising(feed);
    feed.wait(3001);
    bbr.on_ack(&feed.ack(|_| ()));
    assert_eq!((bbr.state, bbr.pacing_gain), (State::Refill, 1.0));
    bbr.on_ack(&feed.round(|_| ()));
    assert_eq!((bbr.state, bbr.pacing_gain, bbr.cwnd_gain), (State::Up, 1.25, 2.25));
    bbr
}

#[test]
fn the_first_rate_is_that_of_the_initial_window() {
    let (mut bbr, mut feed) = (bbr3(), Feed::new());
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(10.0)));
    assert!((bbr.pacing_rate - STARTUP_GAIN * 10.0 / 0.1).abs() < 1e-9);
}

#[test]
fn startup_ends_when_the_rate_grows_no_more_and_drain_when_the_queue_is_gone() {
    let (mut bbr, mut feed) = (bbr3(), Feed::new());
    for rate in [600.0, 800.0, 1000.0] {
        bbr.on_ack(&feed.round(|sample| (sample.rate, sample.in_flight) = (Some(rate), 300)));
        assert_eq!((bbr.state, bbr.pacing_gain, bbr.cwnd_gain), (State::Startup, STARTUP_GAIN, 2.0));
    }
    for state in [State::Startup, State::Startup, State::Drain] {
        bbr.on_ack(&feed.round(|sample| (sample.rate, sample.in_flight) = (Some(1200.0), 300)));
        assert_eq!(bbr.state, state);
    }
    assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (0.5, 2.0));
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 121));
    assert_eq!(bbr.state, State::Drain);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 120));
    // Down, and at once Cruise: no more is in flight than the path holds.
    assert_eq!((bbr.state, bbr.inflight_hi), (State::Cruise, f64::INFINITY));
    assert!((bbr.pacing_rate - 0.99 * 1200.0).abs() < 1e-9);
}

#[test]
fn startup_ends_on_six_lossy_acks_and_two_percent_after_a_round_of_recovery() {
    let repairing = Phase::Recovery;
    for (acks, lost, phase, ends) in [
        (6, 7, repairing, true),
        (5, 7, repairing, false),
        (6, 6, repairing, false),
        (6, 7, Phase::Open, false),
    ] {
        let (mut bbr, mut feed) = (bbr3(), Feed::new());
        bbr.on_ack(&feed.round(|sample| sample.in_flight = 300));
        for _ in 0..acks {
            bbr.on_ack(&feed.ack(|sample| (sample.newly_lost, sample.in_flight) = (1, 300)));
            assert_eq!(bbr.state, State::Startup);
        }
        let last = feed.round(|sample| {
            sample.rate = Some(1300.0); // not the plateau
            (sample.lost, sample.in_flight, sample.sent_in_flight) = (lost, 300, 300);
            sample.prior_delivered = sample.delivered - 1;
            sample.delivered += 179;
        });
        bbr.on_ack(&AckEvent { phase, ..last });
        assert_eq!(bbr.state == State::Drain, ends, "{acks} ACKs, {lost} lost, {phase:?}");
        if ends {
            assert_eq!(bbr.inflight_hi, 180.0); // delivered in the round; the BDP is 130
        }
    }
}

#[test]
fn a_lossy_round_lowers_the_short_term_bounds_by_three_tenths_at_most() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    bbr.on_ack(&feed.round(|_| ()));
    bbr.on_ack(&feed.ack(|sample| (sample.newly_lost, sample.rate) = (1, Some(500.0))));
    assert_eq!(bbr.bw_lo, f64::INFINITY); // at the end of the round
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(500.0)));
    // The round measured 1000 packets/s before the loss, and what it delivered counts as well.
    assert_eq!((bbr.bw_lo, bbr.inflight_lo), (1000.0, 140.0));
    bbr.on_ack(&feed.ack(|sample| (sample.newly_lost, sample.rate) = (1, Some(500.0))));
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(500.0)));
    assert_eq!(bbr.bw_lo, 700.0);
    assert!((bbr.inflight_lo - 98.0).abs() < 1e-9 && bbr.window <= bbr.inflight_lo);
    assert!((bbr.pacing_rate - 0.99 * 700.0).abs() < 1e-9);
    // Rounds without losses change nothing, Refill forgets.
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(500.0)));
    assert_eq!(bbr.bw_lo, 700.0);
    feed.wait(3001);
    bbr.on_ack(&feed.ack(|_| ()));
    assert_eq!((bbr.state, bbr.bw_lo, bbr.inflight_lo), (State::Refill, f64::INFINITY, f64::INFINITY));
}

#[test]
fn probing_is_too_much_from_two_percent_of_losses_on() {
    for (lost, window, expected) in [(4, 200, None), (5, 200, Some(200.0)), (5, 50, Some(70.0))] {
        let mut feed = Feed::new();
        let mut bbr = probing(&mut feed);
        bbr.on_ack(&feed.ack(|sample| {
            (sample.newly_lost, sample.lost, sample.sent_in_flight) = (1, lost, window);
            sample.in_flight = 210; // more than the path holds: Down has something to do
        }));
        let found = bbr.inflight_hi.is_finite().then_some(bbr.inflight_hi);
        // What was in flight, or seven tenths of the BDP if that is more.
        assert_eq!(found.map(f64::round), expected.filter(|_| lost * 50 > window));
        assert_eq!(
            (bbr.state, bbr.pacing_gain),
            if found.is_some() { (State::Down, 0.9) } else { (State::Up, 1.25) }
        );
        // It answers once.
        bbr.on_ack(&feed.ack(|sample| (sample.lost, sample.sent_in_flight) = (50, 100)));
        assert_eq!(
            bbr.inflight_hi.is_finite().then_some(bbr.inflight_hi).is_some(),
            found.is_some() || lost == 4
        );
    }
}

#[test]
fn up_raises_the_long_term_bound_by_one_two_four_packets_a_round() {
    let mut feed = Feed::new();
    let mut bbr = probing(&mut feed);
    bbr.inflight_hi = 150.0;
    bbr.window = 150.0;
    let full = |sample: &mut RateSample| (sample.in_flight, sample.sent_in_flight) = (149, 100);
    bbr.on_ack(&feed.round(full)); // a round that is cut off: it only raises the slope
    let mut grown = Vec::new();
    for _ in 0..4 {
        let before = bbr.inflight_hi;
        for _ in 0..149 {
            let window = bbr.window;
            bbr.on_ack(&feed.ack(|sample| {
                (sample.in_flight, sample.sent_in_flight) = (window as u64, 100);
            }));
        }
        let window = bbr.window;
        bbr.on_ack(&feed.round(|sample| {
            (sample.in_flight, sample.sent_in_flight) = (window as u64, 100);
        }));
        grown.push(bbr.inflight_hi - before);
        assert_eq!(bbr.state, State::Up); // the bound is what limits it, not the path
    }
    for (growth, expected) in grown.iter().zip([2.0, 4.0, 8.0, 16.0]) {
        assert!((growth - expected).abs() <= 1.0 + 0.15 * expected, "{grown:?}");
    }
}

#[test]
fn cruising_leaves_headroom() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    bbr.inflight_hi = 120.0;
    bbr.on_ack(&feed.ack(|_| ()));
    assert!((bbr.window - 0.85 * 120.0).abs() < 1e-9);
}

#[test]
fn probing_waits_two_to_three_seconds_or_a_bdp_of_rounds_sixty_three_at_most() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    assert!((Duration::from_secs(2)..=Duration::from_secs(3)).contains(&bbr.probe_wait));
    let (start, wait) = (bbr.cycle_start, bbr.probe_wait);
    while feed.now <= start + wait {
        assert_eq!(bbr.state, State::Cruise);
        feed.wait(1);
        bbr.on_ack(&feed.ack(|_| ()));
    }
    assert_eq!(bbr.state, State::Refill);
    // With short rounds they count: as many as packets in flight, but no more than 63.
    for (bdp, rounds) in [(20.0, 20), (100.0, 63)] {
        let mut feed = Feed::new();
        let mut bbr = cruising(&mut feed);
        (bbr.max_bw, bbr.rounds_since_probe) = ([10.0 * bdp, 0.0], 0);
        let mut count = 0;
        while bbr.state == State::Cruise {
            let mut ack = feed.round(|sample| sample.rate = None);
            ack.now = bbr.cycle_start; // no time passes
            bbr.on_ack(&ack);
            count += 1;
        }
        assert_eq!(count, rounds);
    }
}

#[test]
fn probe_rtt_keeps_half_a_bdp_every_five_seconds() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    let since = bbr.probe_rtt_min_at;
    let later = |mut ack: AckEvent| {
        ack.rtt = Some(Duration::from_millis(101));
        ack
    };
    while bbr.state != State::ProbeRtt {
        assert!(feed.now <= since + Duration::from_secs(5));
        bbr.on_ack(&later(feed.round(|_| ())));
    }
    assert!(feed.now > since + Duration::from_secs(5));
    assert_eq!((bbr.window, bbr.pacing_gain, bbr.min_rtt), (0.5 * BDP, 1.0, Duration::from_millis(100)));
    let low = |sample: &mut RateSample| (sample.in_flight, sample.rate) = (50, Some(500.0));
    bbr.on_ack(&later(feed.round(low)));
    let began = feed.now;
    while bbr.state == State::ProbeRtt {
        bbr.on_ack(&later(feed.round(low)));
    }
    assert_eq!(feed.now, began + Duration::from_millis(300)); // the first round past 200 ms
    assert_eq!((bbr.state, bbr.largest_bw()), (State::Cruise, 1000.0));
}

fn restart_from_idle(bbr: &mut Bbr3, feed: &Feed) {
    let rtt = Duration::from_millis(100);
    bbr.on_transmission_start(&TransmissionStart {
        now: feed.now,
        app_limited: true,
        srtt: rtt,
        min_rtt: rtt,
    });
}

#[test]
fn an_idle_time_takes_the_place_of_probe_rtt() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    feed.wait(20_000);
    restart_from_idle(&mut bbr, &feed);
    bbr.on_ack(&feed.round(|sample| sample.app_limited = true));
    assert_ne!(bbr.state, State::ProbeRtt);
    assert_eq!((bbr.probe_rtt_min_at, bbr.restarts), (feed.now, false));
}

#[test]
fn after_an_idle_time_packets_go_at_the_bandwidth_whatever_the_phase() {
    let mut feed = Feed::new();
    let mut bbr = probing(&mut feed);
    assert!((bbr.pacing_rate - 1.25 * 0.99 * 1000.0).abs() < 1e-9);
    restart_from_idle(&mut bbr, &feed);
    assert!((bbr.pacing_rate - 0.99 * 1000.0).abs() < 1e-9);
    bbr.on_ack(&feed.ack(|_| ()));
    assert!((bbr.pacing_rate - 1.25 * 0.99 * 1000.0).abs() < 1e-9, "the phase goes on with the first ACK");
}

#[test]
fn an_idle_time_in_probe_rtt_can_end_it() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    feed.wait(5001);
    bbr.on_ack(&AckEvent { rtt: Some(Duration::from_millis(101)), ..feed.round(|_| ()) });
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 50));
    assert_eq!((bbr.state, bbr.window), (State::ProbeRtt, 0.5 * BDP));
    feed.wait(199);
    restart_from_idle(&mut bbr, &feed);
    assert_eq!(bbr.state, State::ProbeRtt, "not yet");
    feed.wait(2);
    restart_from_idle(&mut bbr, &feed);
    assert_eq!((bbr.state, bbr.window), (State::Cruise, 2.0 * BDP));
}

#[test]
fn drain_ends_after_three_round_trips_even_if_the_queue_stays() {
    let (mut bbr, mut feed) = (bbr3(), Feed::new());
    let full = |sample: &mut RateSample| sample.in_flight = 300;
    while bbr.state != State::Drain {
        bbr.on_ack(&feed.round(full));
    }
    for _ in 0..3 {
        bbr.on_ack(&feed.round(full));
        assert_eq!(bbr.state, State::Drain);
    }
    bbr.on_ack(&feed.round(full));
    assert_eq!(bbr.state, State::Down);
}

/// Up has ended by losses at 200 packets in flight, and begins again.
fn probing_at_risk(feed: &mut Feed) -> Bbr3 {
    let mut bbr = probing(feed);
    bbr.on_ack(&feed.ack(|sample| {
        (sample.newly_lost, sample.lost, sample.sent_in_flight, sample.in_flight) = (1, 5, 200, 210);
    }));
    assert_eq!((bbr.state, bbr.lost_probing), (State::Down, true));
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 150));
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 90));
    assert_eq!(bbr.state, State::Cruise);
    bbr.probe_wait = Duration::ZERO;
    bbr.on_ack(&feed.ack(|_| ()));
    bbr.on_ack(&feed.round(|_| ()));
    assert_eq!((bbr.state, bbr.inflight_hi), (State::Up, 200.0));
    bbr
}

#[test]
fn a_probing_after_one_that_lost_too_much_stops_where_that_one_did() {
    for lost in [0, 5] {
        let mut feed = Feed::new();
        let mut bbr = probing_at_risk(&mut feed);
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 190));
        assert_eq!(bbr.state, State::Up);
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 199));
        assert_eq!((bbr.state, bbr.lost_probing), (State::Down, false));
        // A round trip of its feedback: if nothing is lost, probing goes on at once, and persists.
        bbr.on_ack(&feed.ack(|sample| {
            (sample.lost, sample.sent_in_flight, sample.in_flight) = (lost, 200, 199);
        }));
        bbr.on_ack(&feed.round(|sample| sample.in_flight = 199));
        assert_eq!(bbr.state == State::Refill, lost == 0);
        if lost == 0 {
            bbr.on_ack(&feed.round(|sample| sample.in_flight = 199));
            bbr.on_ack(&feed.ack(|sample| sample.in_flight = 199));
            assert_eq!(bbr.state, State::Up);
        }
    }
}

#[test]
fn a_loss_that_was_none_is_taken_back() {
    // In Up: the bound that it set, and probing begins again.
    let mut feed = Feed::new();
    let mut bbr = probing(&mut feed);
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 210 });
    bbr.on_ack(&feed.ack(|sample| {
        (sample.newly_lost, sample.lost, sample.sent_in_flight, sample.in_flight) = (1, 5, 200, 210);
    }));
    assert_eq!((bbr.state, bbr.inflight_hi), (State::Down, 200.0));
    bbr.on_undo(200.0, f64::INFINITY);
    assert_eq!((bbr.state, bbr.inflight_hi, bbr.loss_in_round), (State::Refill, f64::INFINITY, false));
    // In Cruise: what it lowered.
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    bbr.on_ack(&feed.round(|_| ()));
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 150 });
    bbr.on_ack(&feed.ack(|sample| sample.newly_lost = 1));
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(500.0)));
    assert!(bbr.bw_lo < f64::INFINITY && bbr.window < 2.0 * BDP);
    bbr.on_undo(200.0, f64::INFINITY);
    assert_eq!((bbr.state, bbr.bw_lo, bbr.inflight_lo), (State::Cruise, f64::INFINITY, f64::INFINITY));
    assert_eq!(bbr.window, 2.0 * BDP);
    // In Startup, which it ended.
    let (mut bbr, mut feed) = (bbr3(), Feed::new());
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 300));
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 300 });
    for _ in 0..6 {
        bbr.on_ack(&feed.ack(|sample| (sample.newly_lost, sample.in_flight) = (1, 300)));
    }
    let last = feed.round(|sample| {
        sample.rate = Some(1300.0);
        (sample.lost, sample.in_flight, sample.sent_in_flight) = (7, 300, 300);
    });
    bbr.on_ack(&AckEvent { phase: Phase::Recovery, ..last });
    assert_eq!(bbr.state, State::Drain);
    bbr.on_undo(300.0, f64::INFINITY);
    assert_eq!((bbr.state, bbr.filled, bbr.inflight_hi), (State::Startup, false, f64::INFINITY));
}

#[test]
fn a_recovery_changes_the_model_and_not_the_window() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&mut feed);
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 150 });
    assert_eq!(bbr.window, 2.0 * BDP);
    bbr.on_timeout(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 150 });
    assert_eq!(bbr.window, 1.0);
    bbr.on_recovered();
    assert_eq!(bbr.window, 2.0 * BDP);
}
