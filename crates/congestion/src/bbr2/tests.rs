//! Where version 2 differs from version 3, whose tests try the rest.

use super::*;
use crate::bounded_bbr::State;
use crate::path_model::testing::Feed;
use crate::{CongestionControl, Start};

/// 1000 packets/s and 100 ms.
const BDP: f64 = 100.0;

fn config() -> Bbr2Config {
    Bbr2Config {
        loss_threshold: 0.02,
        beta: 0.7,
        probe_rtt_interval: Duration::from_secs(5),
        probe_rtt_duration: Duration::from_millis(200),
        ecn: false,
        ecn_factor: 1.0 / 3.0,
        ecn_threshold: 0.5,
        ecn_max_rtt: Duration::from_millis(5),
    }
}

/// Marks are answered, at the feed's RTT of 100 ms too.
pub(crate) fn answering_marks() -> Bbr2Config {
    Bbr2Config { ecn: true, ecn_max_rtt: Duration::from_secs(1), ..config() }
}

fn bbr2(config: &Bbr2Config) -> Bbr2 {
    Bbr2::new(config, Start { window: 10.0, ..Start::NEW })
}

/// In Cruise, with a window of two BDP.
pub(crate) fn cruising(config: &Bbr2Config, feed: &mut Feed) -> Bbr2 {
    let mut bbr = bbr2(config);
    for _ in 0..4 {
        bbr.on_ack(&feed.round(|_| ()));
    }
    for _ in 0..250 {
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 200));
    }
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 90));
    assert_eq!((bbr.state, bbr.pacing_gain, bbr.window), (State::Cruise, 1.0, 2.0 * BDP));
    bbr
}

/// In Up, after a round of Refill.
pub(crate) fn probing(bbr: &mut Bbr2, feed: &mut Feed) {
    feed.wait(3001);
    bbr.on_ack(&feed.ack(|_| ()));
    assert_eq!(bbr.state, State::Refill);
    bbr.on_ack(&feed.round(|_| ()));
    assert_eq!((bbr.state, bbr.pacing_gain, bbr.cwnd_gain), (State::Up, 1.25, 2.0));
}

#[test]
fn gains_of_startup_drain_and_down() {
    let (mut bbr, mut feed) = (bbr2(&config()), Feed::new());
    assert_eq!((bbr.pacing_gain, bbr.cwnd_gain), (STARTUP_GAIN, STARTUP_GAIN));
    for _ in 0..4 {
        bbr.on_ack(&feed.round(|sample| sample.in_flight = 300));
    }
    assert_eq!((bbr.state, bbr.cwnd_gain), (State::Drain, STARTUP_GAIN));
    assert!((bbr.pacing_gain - 0.3466).abs() < 1e-4);
    let mut feed = Feed::new();
    let mut bbr = cruising(&config(), &mut feed);
    probing(&mut bbr, &mut feed);
    feed.wait(101);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 150));
    assert_eq!((bbr.state, bbr.pacing_gain), (State::Down, 0.75));
}

#[test]
fn up_ends_an_rtt_later_when_125_percent_of_the_bdp_are_in_flight() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&config(), &mut feed);
    probing(&mut bbr, &mut feed);
    // 1.25 BDP and the two packets of Up; the ACK's packet was in flight before it.
    feed.wait(99);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 300));
    assert_eq!(bbr.state, State::Up, "not within an RTT");
    feed.wait(2);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 125));
    assert_eq!(bbr.state, State::Up);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 126));
    assert_eq!(bbr.state, State::Down);
}

#[test]
fn where_probing_lost_too_much_the_next_one_stops_and_goes_on_if_nothing_is_lost() {
    let mut feed = Feed::new();
    let mut bbr = cruising(&config(), &mut feed);
    probing(&mut bbr, &mut feed);
    bbr.on_ack(&feed.ack(|sample| (sample.lost, sample.sent_in_flight, sample.in_flight) = (3, 120, 120)));
    assert_eq!((bbr.state, bbr.inflight_hi, bbr.lost_probing), (State::Down, 120.0, true));
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 90));
    (bbr.probe_rtt_min_at, bbr.min_rtt_at) = (feed.now, feed.now); // no ProbeRTT now
    probing(&mut bbr, &mut feed);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 119));
    assert_eq!((bbr.state, bbr.lost_probing), (State::Down, false), "as much is in flight as then");
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 119));
    assert_eq!(bbr.state, State::Refill, "nothing was lost");
}

#[test]
fn a_round_trip_with_marks_keeps_all_but_a_third_of_alpha() {
    for (config, kept) in [(answering_marks(), true), (config(), false)] {
        let mut feed = Feed::new();
        let mut bbr = cruising(&config, &mut feed);
        bbr.on_ack(&feed.round(|_| ()));
        let before = bbr.ecn.alpha;
        bbr.on_ack(&AckEvent { ecn_echo: true, ..feed.ack(|_| ()) });
        bbr.on_ack(&feed.round(|_| ()));
        let factor = 1.0 - bbr.ecn.alpha / 3.0;
        if kept {
            assert!(
                (bbr.inflight_lo - 200.0 * factor).abs() < 1e-9 && (bbr.bw_lo - 1000.0 * factor).abs() < 1e-9
            );
            // One of two packets was marked.
            assert!((bbr.ecn.alpha - (before + (0.5 - before) / 16.0)).abs() < 0.02, "{}", bbr.ecn.alpha);
        } else {
            assert_eq!((bbr.inflight_lo, bbr.bw_lo), (f64::INFINITY, f64::INFINITY));
        }
    }
}

#[test]
fn two_round_trips_with_half_of_the_packets_marked_end_startup() {
    let (mut bbr, mut feed) = (bbr2(&answering_marks()), Feed::new());
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 300));
    for rate in [2000.0, 4000.0] {
        assert_eq!(bbr.state, State::Startup);
        let ack = feed.round(|sample| (sample.rate, sample.in_flight) = (Some(rate), 1000));
        bbr.on_ack(&AckEvent { ecn_echo: true, ..ack });
    }
    assert_eq!((bbr.state, bbr.filled), (State::Drain, true));
}

#[test]
fn receivers_echo_accurately_if_marks_are_answered() {
    assert!(bbr2(&answering_marks()).needs().accurate_ecn);
    assert!(!bbr2(&config()).needs().accurate_ecn);
}
