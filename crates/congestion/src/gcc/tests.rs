//! The rules of draft-ietf-rmcat-gcc-02 that act on the detector's word.

use super::*;
use crate::RateSample;

fn gcc() -> Gcc {
    let config =
        GccConfig { initial_rate: 100.0, decrease: 0.85, threshold_up: 0.01, threshold_down: 0.00018 };
    Gcc::new(&config, Start::NEW)
}

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// A report every 100 ms, of packets that arrived and some that did not, and the time of which the detector said
/// `usage`.
fn report(control: &mut Gcc, number: u64, arrived: u64, lost: u64, usage: Usage) {
    let interval = 100 / arrived.max(1);
    for i in 0..arrived {
        let sent = at(100 * number + i * interval);
        control.on_arrival(sent, sent + Duration::from_millis(50));
    }
    control.over_used = usage == Usage::Over;
    control.detector.usage = usage;
    control.on_ack(&AckEvent {
        round_ended: true,
        sample: Some(RateSample {
            delivered: arrived,
            prior_delivered: 0,
            rate: None,
            newly_delivered: arrived,
            newly_lost: lost,
            lost,
            in_flight: 0,
            sent_in_flight: 0,
            next_send: Duration::ZERO,
            app_limited: false,
        }),
        ..AckEvent::of_one_packet(at(100 * (number + 1) + 50), Duration::from_millis(100))
    });
}

#[test]
fn the_rate_grows_by_8_percent_a_second() {
    let mut control = gcc();
    let mut rates = Vec::new();
    for number in 0..50 {
        report(&mut control, number, 10, 0, Usage::Normal);
        rates.push(control.delay_rate);
    }
    assert!((rates[40] / rates[30] - 1.08).abs() < 1e-9, "{rates:?}");
    // No more than 1.5 of the 100 packets/s that arrive.
    for number in 50..200 {
        report(&mut control, number, 10, 0, Usage::Normal);
    }
    assert!((control.delay_rate - 150.0).abs() < 4.0, "{}", control.delay_rate);
}

#[test]
fn over_use_takes_the_rate_to_085_of_what_arrives_and_then_it_is_held() {
    let mut control = gcc();
    for number in 0..20 {
        report(&mut control, number, 10, 0, Usage::Normal);
    }
    report(&mut control, 20, 10, 0, Usage::Over);
    let after = control.pacing_rate().unwrap();
    assert!((after - 85.0).abs() < 2.0, "{after}");
    report(&mut control, 21, 10, 0, Usage::Normal);
    assert_eq!((control.state, control.pacing_rate()), (State::Hold, Some(after)));
    report(&mut control, 22, 10, 0, Usage::Under);
    assert_eq!((control.state, control.pacing_rate()), (State::Hold, Some(after)));
    report(&mut control, 23, 10, 0, Usage::Normal);
    assert_eq!(control.state, State::Increase);
    // Near the rate at which over-use came: half a packet/s in a response time of 200 ms.
    assert!((control.delay_rate - after - 0.25).abs() < 1e-9, "{}", control.delay_rate - after);
}

#[test]
fn losses_above_a_tenth_take_half_of_their_share_and_a_few_hold_the_rate() {
    for (lost, share) in [(0, 1.0), (1, 1.0), (10, 0.75)] {
        let mut control = gcc();
        control.delay_rate = 200.0;
        for number in 0..10 {
            report(&mut control, number, 10, lost, Usage::Under);
        }
        let expected = if lost == 0 { 105.0 } else { 100.0 * share };
        assert!((control.rate - expected).abs() < 1e-9, "{lost} of 11: {}", control.rate);
    }
}

#[test]
fn silence_halves_the_rate() {
    let mut control = gcc();
    report(&mut control, 0, 10, 0, Usage::Under);
    let before = control.pacing_rate().unwrap();
    control.on_timeout(&CongestionEvent { now: at(1000), signal: crate::Signal::Loss, in_flight: 1 });
    assert_eq!(control.pacing_rate(), Some(before / 2.0));
}

#[test]
fn the_rate_that_arrived_is_that_of_half_a_second() {
    let mut arrivals = ArrivalRate::default();
    for i in 0..300 {
        // 100 packets/s, and after a second 50.
        if i < 100 || i % 2 == 0 {
            arrivals.add(at(10 * i), 1.0);
        }
    }
    assert!((arrivals.rate() - 50.0).abs() < 3.0, "{}", arrivals.rate());
    arrivals.add(at(10_000), 1.0);
    assert!(arrivals.rate() <= 20.0, "what is older is gone: {}", arrivals.rate());
}
