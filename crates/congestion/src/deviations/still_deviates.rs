//! A test for each declared deviation: it fails when the control does what the source asks. Then the entry goes, and
//! the test with it.

use crate::bbr::tests::in_probe_bw;
use crate::bbr::{Bbr, BbrConfig};
use crate::bbr3::{Bbr3, Bbr3Config};
use crate::bic::{Bic, BicConfig};
use crate::bounded_bbr::State;
use crate::cubic_2005::{Cubic2005, Cubic2005Config};
use crate::nv::{Nv, NvConfig};
use crate::path_model::testing::Feed;
use crate::{
    bbr2, bbr3, AckEvent, CongestionControl, CongestionEvent, ControlConfig, Phase, RateSample, RenoConfig, Signal, SlowStart,
    SlowStartChoice, Start,
};
use parshall_units::testing::defaults;
use parshall_units::{Duration, Instant};

const RTT: Duration = Duration::from_millis(100);

fn after_slow_start(window: f64) -> Start {
    Start { window, ssthresh: 1.0, ..Start::NEW }
}

fn lose(control: &mut impl CongestionControl) {
    let in_flight = control.window() as u64;
    control.on_congestion(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight });
}

fn variable(control: &impl CongestionControl, name: &str) -> f64 {
    let mut found = f64::NAN;
    control.read_variables(&mut |key, value| found = if key == name { value } else { found });
    found
}

pub(super) fn bbr_first_rtt_sets_its_rate() {
    let start = Start { window: 10.0, ..Start::NEW };
    let (mut bbr, mut feed) = (Bbr::new(&defaults(BbrConfig::PARAMETERS), start), Feed::new());
    let assumed = bbr.pacing_rate().unwrap();
    bbr.on_ack(&feed.round(|sample| sample.rate = Some(10.0)));
    assert!(bbr.pacing_rate().unwrap() < assumed / 50.0, "100 ms for 1 ms");
}

pub(super) fn bbr_window_grows_while_it_is_used() {
    let [used, unused] = [false, true].map(|app_limited| {
        let start = Start { window: 10.0, ..Start::NEW };
        let (mut bbr, mut feed) = (Bbr::new(&defaults(BbrConfig::PARAMETERS), start), Feed::new());
        (0..5).for_each(|_| bbr.on_ack(&feed.round(|sample| sample.app_limited = app_limited)));
        bbr.window()
    });
    assert!(used > 10.0 && unused <= 10.0, "{used}, {unused}");
}

pub(super) fn bbr_quanta_are_packets() {
    let mut feed = Feed::new();
    let mut bbr = in_probe_bw(&mut feed);
    (0..300).for_each(|_| bbr.on_ack(&feed.ack(|sample| sample.in_flight = 300)));
    assert_eq!(bbr.window(), 203.0, "two BDP of 100 packets; a quantum of 12 Mbit/s is two packets");
}

pub(super) fn bbr2_judges_marks_by_round_trips() {
    let (config, mut feed) = (bbr2::tests::answering_marks(), Feed::new());
    let mut bbr = bbr2::tests::cruising(&config, &mut feed);
    bbr2::tests::probing(&mut bbr, &mut feed);
    for _ in 0..50 {
        bbr.on_ack(&AckEvent { ecn_echo: true, ..feed.ack(|_| ()) });
        assert_eq!(bbr.state, State::Up, "every packet was marked, but the round trip goes on");
    }
    bbr.on_ack(&AckEvent { ecn_echo: true, ..feed.round(|_| ()) });
    assert_ne!(bbr.state, State::Up);
}

pub(super) fn bbr2_marks_leave_its_bandwidth() {
    let (config, mut feed) = (bbr2::tests::answering_marks(), Feed::new());
    let mut bbr = bbr2::tests::cruising(&config, &mut feed);
    bbr2::tests::probing(&mut bbr, &mut feed);
    (0..50).for_each(|_| bbr.on_ack(&AckEvent { ecn_echo: true, ..feed.ack(|_| ()) }));
    bbr.on_ack(&AckEvent { ecn_echo: true, ..feed.round(|_| ()) });
    assert!(bbr.inflight_hi.is_finite(), "what is in flight has a bound");
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 60));
    feed.wait(3001);
    (bbr.probe_rtt_min_at, bbr.min_rtt_at) = (feed.now, feed.now); // no ProbeRTT now
    bbr.on_ack(&feed.ack(|_| ()));
    assert_eq!((bbr.state, bbr.pacing_rate()), (State::Refill, Some(0.99 * 1000.0)), "the rate has none");
}

pub(super) fn bbr3_counts_acks_with_losses() {
    let (mut bbr, mut feed) = (bbr3::tests::bbr3(), Feed::new());
    bbr.on_ack(&feed.round(|sample| sample.in_flight = 300));
    for _ in 0..6 {
        // One packet behind the other: a single range.
        bbr.on_ack(&feed.ack(|sample| (sample.newly_lost, sample.in_flight) = (1, 300)));
    }
    let last = feed.round(|sample| {
        sample.rate = Some(1300.0); // it still grows
        (sample.lost, sample.in_flight, sample.sent_in_flight) = (7, 300, 300);
    });
    assert_eq!(bbr.state, State::Startup);
    bbr.on_ack(&AckEvent { phase: Phase::Recovery, ..last });
    assert_eq!(bbr.state, State::Drain);
}

/// The state of a control that probes, after an ACK with these losses, of 200 packets in flight.
fn after_losses_while_probing(newly_lost: u64, lost: u64) -> State {
    let mut feed = Feed::new();
    let mut bbr = bbr3::tests::probing(&mut feed);
    bbr.on_ack(&feed.ack(|sample| {
        (sample.newly_lost, sample.lost) = (newly_lost, lost);
        (sample.sent_in_flight, sample.in_flight) = (200, 200);
    }));
    bbr.state
}

pub(super) fn bbr3_judges_losses_at_acks() {
    assert_eq!(after_losses_while_probing(50, 4), State::Up, "the 50 are not judged themselves");
    assert_ne!(after_losses_while_probing(5, 5), State::Up);
}

pub(super) fn bbr3_tolerates_losses_without_sack() {
    assert_eq!(after_losses_while_probing(4, 4), State::Up);
}

pub(super) fn bbr3_has_no_budget_for_bursts() {
    let mut feed = Feed::new();
    let mut bbr = bbr3::tests::cruising(&mut feed);
    bbr.on_ack(&feed.ack(|sample| (sample.newly_delivered, sample.in_flight) = (150, 200)));
    assert_eq!(bbr.window(), 200.0, "two BDP of 100 packets, after an aggregate of 150");
}

pub(super) fn bbr3_timeout_leaves_one_packet() {
    let mut bbr = Bbr3::new(&defaults(Bbr3Config::PARAMETERS), Start { window: 10.0, ..Start::NEW });
    bbr.on_timeout(&CongestionEvent { now: Instant::ZERO, signal: Signal::Loss, in_flight: 5 });
    assert_eq!(bbr.window(), 1.0);
}

pub(super) fn bic_remembers_small_maxima() {
    let mut bic = Bic::new(&defaults(BicConfig::PARAMETERS), after_slow_start(2000.0));
    lose(&mut bic);
    assert_eq!(variable(&bic, "w_max"), 2000.0);
    bic.set_window(10.0);
    lose(&mut bic);
    assert!(variable(&bic, "w_max") <= 10.0);
}

pub(super) fn bic_probes_before_its_first_loss() {
    let mut bic = Bic::new(&defaults(BicConfig::PARAMETERS), after_slow_start(100.0));
    (0..100).for_each(|_| bic.on_ack(&AckEvent::of_one_packet(Instant::ZERO, RTT)));
    assert!(bic.window() < 105.0, "{}: S_max is 32", bic.window());
}

pub(super) fn cubic_2005_begins_at_its_window() {
    let mut cubic = Cubic2005::new(&defaults(Cubic2005Config::PARAMETERS), after_slow_start(1000.0));
    lose(&mut cubic);
    cubic.set_window(900.0); // below the maximum: it aims lower
    lose(&mut cubic);
    cubic.on_ack(&AckEvent::of_one_packet(Instant::ZERO, RTT));
    let (w_max, k) = (variable(&cubic, "w_max"), variable(&cubic, "k"));
    assert!(w_max < 900.0, "{w_max}");
    assert!((k - libm::cbrt((w_max - 720.0) / 0.4)).abs() < 1e-6, "{k}");
    assert!(k < libm::cbrt(0.2 * w_max / 0.4) - 1.0, "{k}");
}

pub(super) fn limited_slow_start_does_not_round() {
    let reno = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
    let slow_start = SlowStartChoice { kind: SlowStart::Limited, max_ssthresh: 100.0, paced: false };
    let mut control = reno.build_with(Start { window: 149.0, ..Start::NEW }, slow_start);
    control.on_ack(&AckEvent::of_one_packet(Instant::ZERO, RTT));
    assert!((control.window() - 149.0 - 50.0 / 149.0).abs() < 1e-9, "{}: K = 2 adds 1/2", control.window());
}

/// The window after five round trips with a long queue, if the window is used or not.
fn nv_beside_a_queue(may_grow: bool) -> f64 {
    let mut nv = Nv::new(&defaults(NvConfig::PARAMETERS), after_slow_start(1000.0));
    let mut now = Instant::ZERO;
    for number in 0..500 {
        now += Duration::from_millis(1);
        let rtt = if number < 10 { RTT } else { RTT.times(4) };
        let sample = RateSample {
            delivered: 1,
            prior_delivered: 0,
            rate: None,
            newly_delivered: 1,
            newly_lost: 0,
            lost: 0,
            in_flight: 1000,
            sent_in_flight: 1000,
            next_send: Duration::ZERO,
            app_limited: false,
        };
        let round_ended = number % 100 == 99;
        let ack = AckEvent { may_grow, round_ended, sample: Some(sample), ..AckEvent::of_one_packet(now, rtt) };
        nv.on_ack(&ack);
    }
    nv.window()
}

pub(super) fn nv_decides_while_its_window_is_used() {
    assert!(nv_beside_a_queue(true) < 900.0, "the queue is found");
    assert_eq!(nv_beside_a_queue(false), 1000.0);
}
