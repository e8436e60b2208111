//! The rules in which Linux's BBR differs from the published one.

use super::*;
use crate::path_model::testing::Feed;

fn bbr() -> BbrLinux {
    let config = BbrLinuxConfig {
        ack_aggregation: true,
        policer_detection: true,
        probe_rtt_interval: Duration::from_secs(10),
    };
    BbrLinux::new(&config, Start::NEW)
}

/// In ProbeBW, at 1000 packets/s and 100 ms: a BDP of 100 packets.
fn in_probe_bw(feed: &mut Feed) -> BbrLinux {
    let mut bbr = bbr();
    for _ in 0..4 {
        bbr.on_ack(&feed.round(|_| ()));
    }
    assert_eq!(bbr.mode, Mode::ProbeBw);
    bbr.set_phase(2);
    bbr
}

#[test]
fn the_window_has_room_for_three_bursts_and_is_even() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    assert_eq!(bbr.burst(), 2.0); // 990 packets/s are less than two in 1/1024 s
    assert_eq!(bbr.with_room_for_bursts(200.0), 206.0);
    assert_eq!(bbr.with_room_for_bursts(201.0), 208.0);
    bbr.set_phase(0);
    assert_eq!(bbr.with_room_for_bursts(200.0), 208.0, "two more while it probes");
    bbr.pacing_rate = 50.0;
    assert_eq!(bbr.burst(), 1.0, "below 1.2 Mbit/s");
    bbr.pacing_rate = 10.0 * BURSTS_PER_S;
    assert_eq!(bbr.burst(), 10.0);
}

#[test]
fn packets_go_at_99_percent_of_the_bandwidth() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    bbr.on_ack(&feed.ack(|_| ()));
    assert!((bbr.pacing_rate - 990.0).abs() < 1e-6, "{}", bbr.pacing_rate);
}

#[test]
fn aggregated_acks_make_room() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    bbr.window = 200.0; // an excess is no larger
    let before = bbr.window_target();
    // 40 packets at once, where one was expected.
    feed.wait(1);
    bbr.on_ack(&feed.ack(|sample| (sample.newly_delivered, sample.in_flight) = (40, 60)));
    let extra = bbr.window_target() - before;
    assert!((38.0..=40.0).contains(&extra), "{extra}");
}

#[test]
fn what_will_be_in_flight_counts() {
    let mut feed = Feed::new();
    let bbr = in_probe_bw(&mut feed);
    let ack = feed.ack(|sample| sample.next_send = Duration::from_millis(5));
    assert_eq!(bbr.in_network(100, &ack.sample.unwrap()), 95.0); // 1000 packets/s for 5 ms
}

/// Flach et al., SIGCOMM 2016: two intervals of four rounds that lose a third at the same rate.
#[test]
fn a_steady_rate_with_much_loss_is_a_policers() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    let lossy = |sample: &mut RateSample| (sample.newly_lost, sample.in_flight) = (1, 100);
    for _ in 0..8 {
        assert_eq!(bbr.policer.rate(), None);
        bbr.on_ack(&feed.round(lossy));
    }
    let policed = bbr.policer.rate().expect("it is found");
    assert!((policed - 10.0).abs() < 1.0, "one packet in 100 ms: {policed}");
    assert_eq!(bbr.pacing_gain, 1.0);
    for _ in 0..48 {
        assert!(bbr.policer.rate().is_some());
        bbr.on_ack(&feed.round(|_| ()));
    }
    assert_eq!(bbr.policer.rate(), None, "after 48 rounds it looks again");
}

#[test]
fn the_first_round_of_a_recovery_conserves_packets() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    bbr.window = 200.0;
    bbr.on_congestion(&CongestionEvent { now: feed.now, signal: Signal::Loss, in_flight: 150 });
    let in_recovery = |ack: AckEvent| AckEvent { phase: Phase::Recovery, ..ack };
    bbr.on_ack(&in_recovery(feed.ack(|sample| (sample.in_flight, sample.newly_lost) = (120, 3))));
    assert_eq!(bbr.window, 121.0);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 100));
    assert!(bbr.window >= 200.0, "what it was comes back: {}", bbr.window);
}

#[test]
fn after_an_idle_time_it_paces_at_the_bandwidth_and_does_not_probe_the_rtt() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    bbr.set_phase(0);
    feed.wait(20_000);
    let rtt = Duration::from_millis(100);
    bbr.on_transmission_start(&TransmissionStart {
        now: feed.now,
        app_limited: true,
        srtt: rtt,
        min_rtt: rtt,
    });
    assert!((bbr.pacing_rate - 990.0).abs() < 1e-6, "{}", bbr.pacing_rate);
    bbr.on_ack(&feed.ack(|sample| sample.in_flight = 1));
    assert_eq!(bbr.mode, Mode::ProbeBw);
}

/// `bbr_init`: the smallest RTT is that of the handshake, and is as old as the connection is open, not as its SYN.
/// `bbr_update_min_rtt`: an equal one later does not renew it.
#[test]
fn the_handshakes_rtt_expires_ten_seconds_after_it() {
    let rtt = Duration::from_millis(100);
    let (mut feed, mut bbr) = (Feed::new(), bbr());
    feed.wait(3_000);
    let opens = feed.now;
    bbr.on_transmission_start(&TransmissionStart { now: opens, app_limited: true, srtt: rtt, min_rtt: rtt });
    for _ in 0..100 {
        bbr.on_ack(&feed.round(|_| ()));
        assert_ne!(bbr.mode, Mode::ProbeRtt, "{:?}", feed.now.since(opens));
    }
    bbr.on_ack(&feed.round(|_| ()));
    assert_eq!(bbr.mode, Mode::ProbeRtt);
}
