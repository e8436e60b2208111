//! The rules of draft-cardwell-iccrg-bbr-congestion-control-00, one by one.

use super::*;
use crate::path_model::testing::Feed;

/// 1000 packets/s and 100 ms.
const BDP: f64 = 100.0;

fn bbr() -> Bbr {
    let config = BbrConfig {
        cwnd_gain: 2.0,
        probe_rtt_interval: Duration::from_secs(10),
        probe_rtt_duration: Duration::from_millis(200),
    };
    Bbr::new(&config, Start { window: 10.0, ssthresh: f64::INFINITY, ..Start::NEW })
}

/// In ProbeBW, with the pipe's measures known.
pub(crate) fn in_probe_bw(feed: &mut Feed) -> Bbr {
    let mut bbr = bbr();
    for _ in 0..4 {
        bbr.on_ack(&feed.round(|_| ()));
    }
    assert_eq!(bbr.mode, Mode::ProbeBw);
    for _ in 0..250 {
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 200));
    }
    bbr
}

#[test]
fn the_first_rate_is_that_of_the_initial_window() {
    let (mut bbr, mut feed) = (bbr(), Feed::new());
    assert_eq!(bbr.pacing_rate, HIGH_GAIN * 10.0 / 0.001);
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(10.0)));
    assert!((bbr.pacing_rate - HIGH_GAIN * 10.0 / 0.1).abs() < 1e-9);
}

#[test]
fn startup_ends_after_three_rounds_without_a_quarter_more() {
    let (mut bbr, mut feed) = (bbr(), Feed::new());
    let mut rate = 100.0;
    for _ in 0..10 {
        bbr.on_ack(&feed.round(|sample| (sample.rate, sample.in_flight) = (Some(rate), 1000)));
        assert_eq!((bbr.mode, bbr.pacing_gain), (Mode::Startup, HIGH_GAIN));
        rate *= 1.25;
    }
    for round in 1..=3 {
        assert_eq!(bbr.mode, Mode::Startup, "round {round}");
        rate = 1.24 * bbr.plateau.base;
        bbr.on_ack(&feed.round(|sample| (sample.rate, sample.in_flight) = (Some(rate), 1000)));
    }
    assert_eq!((bbr.mode, bbr.pacing_gain, bbr.cwnd_gain), (Mode::Drain, 1.0 / HIGH_GAIN, HIGH_GAIN));
    // Until no more is in flight than the path holds, and three packets.
    let held = (rate * 0.1) as u64 + 3;
    bbr.on_ack(&feed.ack(|sample| (sample.rate, sample.in_flight) = (None, held + 1)));
    assert_eq!(bbr.mode, Mode::Drain);
    bbr.on_ack(&feed.ack(|sample| (sample.rate, sample.in_flight) = (None, held)));
    assert_eq!((bbr.mode, bbr.cwnd_gain), (Mode::ProbeBw, 2.0));
    assert!(bbr.pacing_gain != 0.75);
}

#[test]
fn rounds_that_the_application_limits_do_not_end_startup() {
    let (mut bbr, mut feed) = (bbr(), Feed::new());
    for _ in 0..10 {
        bbr.on_ack(&feed.round(|sample| sample.app_limited = true));
    }
    assert_eq!(bbr.mode, Mode::Startup);
}

#[test]
fn gains_cycle_through_eight_phases_of_one_rtt() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    let mut gains = Vec::new();
    while bbr.phase != 0 {
        bbr.on_ack(&feed.round(|_| ()));
        feed.wait(1);
    }
    for _ in 0..16 {
        gains.push(bbr.pacing_gain);
        assert!((bbr.pacing_rate - bbr.pacing_gain * 1000.0).abs() < 1e-9);
        feed.wait(1);
        // Enough in flight to end the phase of 1.25, and too much to end that of 0.75 early.
        bbr.on_ack(&feed.round(|sample| sample.in_flight = 128));
    }
    assert_eq!(gains, [CYCLE, CYCLE].concat());
}

#[test]
fn probing_lasts_until_it_shows_and_draining_until_it_is_done() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    while bbr.phase != 0 {
        feed.wait(1);
        bbr.on_ack(&feed.round(|_| ()));
    }
    // Less than 1.25 BDP and three packets before the ACK, and no loss: the phase goes on.
    for _ in 0..5 {
        bbr.on_ack(&feed.round(|sample| sample.in_flight = 126));
        assert_eq!(bbr.pacing_gain, 1.25);
    }
    bbr.on_ack(&feed.round(|sample| (sample.in_flight, sample.newly_lost) = (120, 1)));
    assert_eq!(bbr.pacing_gain, 0.75);
    feed.wait(5);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 103));
    assert_eq!(bbr.pacing_gain, 0.75);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 102));
    assert_eq!(bbr.pacing_gain, 1.0);
}

#[test]
fn the_window_is_two_bdp_and_three_packets() {
    let mut feed = Feed::new();
    let bbr = in_probe_bw(&mut feed);
    assert_eq!(bbr.window, 2.0 * BDP + 3.0);
}

#[test]
fn bandwidth_is_the_largest_of_ten_rounds() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(1500.0)));
    for _ in 0..10 {
        bbr.on_ack(&feed.round(|_| ()));
        assert_eq!(bbr.bandwidth.max(), 1500.0);
    }
    bbr.on_ack(&feed.round(|_| ()));
    assert_eq!(bbr.bandwidth.max(), 1000.0);
}

#[test]
fn probe_rtt_holds_four_packets_and_forgets_nothing() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    let window = bbr.window;
    // RTT samples of 101 ms: none as small as the first one.
    let later = |mut ack: AckEvent| {
        ack.rtt = Some(Duration::from_millis(101));
        ack
    };
    while feed.now <= bbr.min_rtt_at + Duration::from_millis(9899) {
        bbr.on_ack(&later(feed.round(|_| ())));
        assert_ne!(bbr.mode, Mode::ProbeRtt);
    }
    for _ in 0..2 {
        bbr.on_ack(&later(feed.round(|_| ())));
    }
    assert_eq!((bbr.mode, bbr.window, bbr.pacing_gain), (Mode::ProbeRtt, 4.0, 1.0));
    assert_eq!(bbr.min_rtt, Duration::from_millis(101));
    // 200 ms from when four packets are in flight, and what they measure does not count, however many rounds it takes.
    feed.wait(50);
    for _ in 0..20 {
        feed.wait(10);
        bbr.on_ack(&feed.ack(|sample| sample.in_flight = 5));
    }
    assert_eq!(bbr.mode, Mode::ProbeRtt);
    let low = |sample: &mut RateSample| {
        (sample.in_flight, sample.rate, sample.prior_delivered) = (4, Some(40.0), sample.delivered - 4);
    };
    bbr.on_ack(&feed.ack(low));
    for _ in 0..20 {
        feed.wait(10);
        bbr.on_ack(&feed.ack(low));
        assert_eq!(bbr.mode, Mode::ProbeRtt);
    }
    feed.wait(1);
    bbr.on_ack(&feed.ack(low));
    assert_eq!((bbr.mode, bbr.bandwidth.max()), (Mode::ProbeBw, 1000.0));
    assert!(bbr.window >= window);
}

fn restart_from_idle(bbr: &mut Bbr, feed: &Feed) {
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
    let mut bbr = in_probe_bw(&mut feed);
    feed.wait(20_000);
    restart_from_idle(&mut bbr, &feed);
    bbr.on_ack(&feed.round(|sample| sample.app_limited = true));
    assert_eq!((bbr.mode, bbr.min_rtt_at, bbr.restarts), (Mode::ProbeBw, feed.now, false));
}

#[test]
fn after_an_idle_time_packets_go_at_the_bandwidth_whatever_the_phase() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    for gain in CYCLE {
        (bbr.pacing_gain, bbr.pacing_rate) = (gain, gain * 1000.0);
        restart_from_idle(&mut bbr, &feed);
        assert_eq!(bbr.pacing_rate, 1000.0);
    }
}

#[test]
fn packets_are_conserved_for_one_round_trip_of_recovery() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    let window = bbr.window;
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 150 });
    let lossy = |sample: &mut RateSample| (sample.in_flight, sample.newly_lost) = (120, 1);
    bbr.on_ack(&feed.round(lossy));
    assert_eq!(bbr.window, 121.0);
    bbr.on_ack(&feed.ack(|sample| (sample.in_flight, sample.newly_lost) = (119, 1)));
    assert_eq!((bbr.window, bbr.conservation), (120.0, Conservation::On));
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 110));
    assert_eq!((bbr.window, bbr.conservation), (121.0, Conservation::Off));
    bbr.on_recovered();
    assert_eq!(bbr.window, window);
}
