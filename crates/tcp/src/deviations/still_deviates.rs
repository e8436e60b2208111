//! A test for each declared deviation: it fails when the code does what the source asks. Then the entry goes, and the
//! test with it.

use crate::recovery::Repair;
use crate::rto::tests::config;
use crate::segment::{NO_SACK, NO_WINDOW};
use crate::sender::ENDLESS;
use crate::ssthresh_cache::Ending;
use crate::{timer_wheel, Ack, Receiver, Recovery, Rules, Segment, Sender, SsthreshCache, TcpConfig};
use parshall_congestion::{ControlConfig, RenoConfig, Start};
use crate::signals::RttEstimate;
use parshall_units::{Duration, Instant, Packets};

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn linux(recovery: Recovery) -> TcpConfig {
    TcpConfig { rules: Rules::LINUX, recovery, initial_window: Packets(10), ..config() }
}

fn sender(config: &TcpConfig) -> Sender {
    let control = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
    let start = Start { window: config.initial_window.0 as f64, ..Start::NEW };
    Sender::new(config, control.build(start), 1, Instant::ZERO)
}

/// How many of so many packets more go at once.
fn send(sender: &mut Sender, config: &TcpConfig, now: Instant, packets: u64) -> usize {
    sender.supply(packets);
    std::iter::from_fn(|| sender.poll_transmit(config, now)).count()
}

/// An ACK that arrives at once, and SACKs a packet (0: none).
fn ack(now: Instant, echo: Instant, cumulative: u64, sacked: u64) -> Ack {
    let mut sack = NO_SACK;
    if sacked > 0 {
        (sack[0].start, sack[0].end) = (sacked, sacked + 1);
    }
    let (echo_retransmission, congestion_echo, syn) = (false, false, false);
    Ack { cumulative, sent: now, echo, echo_retransmission, congestion_echo, syn, sack, window: NO_WINDOW }
}

/// A sender with an RTT of so many ms that has sent packets 2, 3 and 4, 5 ms after each other, and hears that the last
/// one has come. When its timer expires, ms after packet 2 was sent.
fn in_doubt(config: &TcpConfig, rtt: u64) -> (Sender, Instant, u64) {
    let mut sender = sender(config);
    send(&mut sender, config, at(0), 1);
    sender.on_ack(config, at(rtt), &ack(at(rtt), at(0), 2, 0));
    let first = at(2 * rtt);
    for number in 0..3 {
        send(&mut sender, config, at(2 * rtt + 5 * number), 1);
    }
    let now = at(3 * rtt + 10);
    sender.on_ack(config, now, &ack(now, at(0), 2, 4));
    let expires = sender.rto_deadline();
    (sender, expires, expires.since(first).as_ps() / Duration::from_millis(1).as_ps())
}

pub(super) fn least_rtt_never_forgotten() {
    let mut rtt = RttEstimate::default();
    rtt.sample(Duration::from_millis(10), 1);
    (0..100_000).for_each(|_| rtt.sample(Duration::from_secs(1), 1));
    assert_eq!(rtt.min(), Duration::from_millis(10), "after a day");
}

pub(super) fn first_packet_in_doubt() {
    let config = TcpConfig { recovery: Recovery::Rack, initial_window: Packets(10), ..config() };
    let (_, _, expires) = in_doubt(&config, 100);
    assert_eq!(expires, 125, "packet 3, sent 5 ms later, is in doubt until 130");
}

pub(super) fn reordering_timer_of_slack_alone() {
    let tick = Duration::from_millis(4);
    let config = TcpConfig { timer_tick: Some(tick), timestamps: false, ..linux(Recovery::Rack) };
    let mut earlier = 0;
    for rtt in 1600..1632 {
        let (mut sender, expires, _) = in_doubt(&config, rtt);
        sender.on_timer(&config, expires);
        let rounded = |ms| timer_wheel::expiry(expires, Duration::from_millis(ms), tick);
        if !timer_wheel::is_tick(expires, tick) {
            assert_eq!(sender.rto_deadline(), rounded(2), "{rtt} ms");
            earlier += u32::from(rounded(2) < rounded(rtt / 4 + 2));
        }
    }
    assert!(earlier > 0);
}

pub(super) fn duplicate_acks_are_no_rate_sample() {
    let config = linux(Recovery::NewReno);
    let mut sender = sender(&config);
    send(&mut sender, &config, at(0), 10);
    sender.on_ack(&config, at(100), &ack(at(100), at(0), 1, 0));
    assert_eq!(sender.recovery.sacked(), 0);
}

pub(super) fn fractional_ssthresh_metric() {
    let end = Ending { window: 21.0, ssthresh: 20.5, open: true, timed: true };
    assert_eq!(SsthreshCache::Linux.after(f64::INFINITY, &end), 20.5);
}

/// The kept state depends on nothing else: there is no time in it.
pub(super) fn ssthresh_metric_never_expires() {
    let after: fn(SsthreshCache, f64, &Ending) -> f64 = SsthreshCache::after;
    let untimed = Ending { window: 50.0, ssthresh: 20.0, open: true, timed: false };
    assert_eq!(after(SsthreshCache::Linux, 10.0, &untimed), 10.0);
}

/// A SYN that was sent and came at these times, ms.
fn take_syn(receiver: &mut Receiver, sent: u64, came: u64) -> Ack {
    let segment = Segment { syn: true, retransmission: sent > 0, ..Segment::plain(0, at(sent)) };
    receiver.on_segment(&linux(Recovery::Rack), at(came), &segment).ack.expect("an answer")
}

pub(super) fn syn_answer_has_no_timer() {
    let mut receiver = Receiver::new(1);
    take_syn(&mut receiver, 0, 50);
    assert_eq!(receiver.deadline(), Instant::MAX);
}

pub(super) fn each_syn_is_echoed() {
    let mut receiver = Receiver::new(1);
    take_syn(&mut receiver, 0, 50);
    assert_eq!(take_syn(&mut receiver, 1000, 1050).echo, at(1000));
}

pub(super) fn last_syn_times_the_handshake() {
    let mut receiver = Receiver::new(1);
    take_syn(&mut receiver, 0, 1000);
    take_syn(&mut receiver, 1000, 2000);
    receiver.on_segment(&linux(Recovery::Rack), at(3000), &Segment::plain(1, at(2000)));
    assert_eq!(receiver.handshake(), 1_000_000, "us; the answer to the first SYN took two seconds in all");
}

pub(super) fn no_probes_of_a_closed_window() {
    let config = TcpConfig { receive_window: Some(Packets(0)), ..linux(Recovery::Rack) };
    let mut sender = sender(&config);
    assert_eq!(send(&mut sender, &config, at(0), 1), 0);
    assert_eq!(sender.rto_deadline(), Instant::MAX);
}

pub(super) fn no_nagle() {
    let config = linux(Recovery::Rack);
    let mut sender = sender(&config);
    assert_eq!([send(&mut sender, &config, at(0), 1), send(&mut sender, &config, at(1), 1)], [1, 1]);
}

pub(super) fn one_bit_of_accurate_ecn() {
    let delayed_ack = Some(Duration::from_millis(40));
    let config = TcpConfig { accurate_ecn: true, ecn: true, delayed_ack, ..config() };
    let mut receiver = Receiver::new(0);
    assert!(receiver.on_segment(&config, at(0), &Segment::plain(0, at(0))).ack.is_none());
    let marked = Segment { congestion_experienced: true, ..Segment::plain(1, at(0)) };
    assert!(receiver.ack_before(&config, at(0), &marked).is_some(), "a counter would count it later");
}

pub(super) fn no_limit_of_what_waits_in_the_host() {
    let config = TcpConfig { initial_window: Packets(1000), ..linux(Recovery::Rack) };
    assert_eq!(send(&mut sender(&config), &config, at(0), 1000), 1000);
}

pub(super) fn no_push_of_a_full_send_buffer() {
    let config = TcpConfig { initial_window: Packets(1000), ..linux(Recovery::Rack) };
    let mut sender = sender(&config);
    sender.supply(ENDLESS);
    assert!(std::iter::from_fn(|| sender.poll_transmit(&config, at(0))).all(|segment| !segment.push));
}
