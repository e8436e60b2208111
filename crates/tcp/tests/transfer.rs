//! Whole transfers over a path that loses what a test tells it to, for every recovery.

use parshall_congestion::{CongestionControl, ControlConfig, DctcpConfig, RenoConfig, SlowStart, Start};
use parshall_tcp::ranges::Range;
use parshall_tcp::sender::{Phase, ENDLESS};
use parshall_tcp::{Ack, Receiver, Recovery, RtoFloor, Rules, Segment, Sender, SsthreshCache, TcpConfig};
use parshall_units::{Bytes, Duration, Instant, Packets};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

const RECOVERIES: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
const ONE_WAY: Duration = Duration::from_millis(50);

/// With hundreds of flows most of what a packet costs is the memory of its flow that it touches: no more of it unnoticed.
const _: () = assert!(Sender::HOT_BYTES <= 272 && size_of::<Sender>() <= 352);

fn config(recovery: Recovery) -> TcpConfig {
    TcpConfig {
        initial_window: Packets(4),
        initial_ssthresh: None,
        slow_start: SlowStart::Standard,
        max_ssthresh: Packets(100),
        receive_window: None,
        recovery,
        prr: true,
        limited_transmit: true,
        delayed_ack: None,
        min_rto: Duration::from_millis(200),
        rto_floor: RtoFloor::Timeout,
        max_rto: Duration::from_secs(60),
        initial_rto: Duration::from_secs(1),
        rto_granularity: Duration::from_millis(1),
        timestamps: true,
        ecn: false,
        accurate_ecn: false,
        l4s: false,
        pacing: false,
        handshake: false,
        ssthresh_cached: SsthreshCache::Off,
        persistent: false,
        byte_counting: true,
        rules: Rules::Rfc,
        ack_size: Bytes(40),
    }
}

fn sender(config: &TcpConfig) -> Sender {
    let control = ControlConfig::Reno(RenoConfig { increase: 1.0, decrease: 0.5, ecn_decrease: 0.0 });
    let ssthresh = config.initial_ssthresh.map_or(f64::INFINITY, |packets| packets.0 as f64);
    let start = Start { window: config.initial_window.0 as f64, ssthresh, ..Start::NEW };
    Sender::new(config, control.build(start), 1, Instant::ZERO)
}

/// A path of constant delay; the n-th segment and the n-th ACK are lost if they are listed.
struct Path {
    config: TcpConfig,
    sender: Sender,
    receiver: Receiver,
    now: Instant,
    segments: VecDeque<(Instant, Segment)>,
    acks: VecDeque<(Instant, Ack)>,
    lost_segments: BTreeSet<u64>,
    lost_acks: BTreeSet<u64>,
    segments_sent: u64,
    acks_sent: u64,
    sent: Vec<Segment>,
    fresh: u64,
}

impl Path {
    fn new(config: TcpConfig, packets: u64) -> Self {
        let mut sender = sender(&config);
        sender.supply(packets);
        Self {
            sender,
            receiver: Receiver::new(1),
            config,
            now: Instant::ZERO,
            segments: VecDeque::new(),
            acks: VecDeque::new(),
            lost_segments: BTreeSet::new(),
            lost_acks: BTreeSet::new(),
            segments_sent: 0,
            acks_sent: 0,
            sent: Vec::new(),
            fresh: 0,
        }
    }

    fn losing(mut self, segments: &[u64]) -> Self {
        self.lost_segments = segments.iter().copied().collect();
        self
    }

    fn pump(&mut self) {
        while let Some(segment) = self.sender.poll_transmit(&self.config, self.now) {
            self.sent.push(segment);
            if !self.lost_segments.contains(&self.segments_sent) {
                self.segments.push_back((self.now + ONE_WAY, segment));
            }
            self.segments_sent += 1;
        }
    }

    fn acknowledge(&mut self, ack: Option<Ack>) {
        let Some(ack) = ack else { return };
        if !self.lost_acks.contains(&self.acks_sent) {
            self.acks.push_back((self.now + ONE_WAY, ack));
        }
        self.acks_sent += 1;
    }

    /// One event; `false` when nothing is left to happen.
    fn step(&mut self) -> bool {
        let head = |time: Option<&Instant>| time.copied().unwrap_or(Instant::MAX);
        let arrival = head(self.segments.front().map(|(at, _)| at));
        let ack = head(self.acks.front().map(|(at, _)| at));
        let timer = self.sender.rto_deadline().min(self.sender.pacing_deadline());
        let delayed = self.receiver.deadline();
        let next = arrival.min(ack).min(timer).min(delayed);
        if next == Instant::MAX {
            return false;
        }
        self.now = next;
        if delayed == next {
            let reply = self.receiver.on_timer(next);
            self.acknowledge(reply);
        } else if arrival == next {
            let (_, segment) = self.segments.pop_front().unwrap();
            let before = self.receiver.on_changed_mark(&self.config, &segment);
            self.acknowledge(before);
            let reception = self.receiver.on_segment(&self.config, next, &segment);
            self.fresh += u64::from(reception.fresh);
            self.acknowledge(reception.ack);
        } else if ack == next {
            let (_, ack) = self.acks.pop_front().unwrap();
            self.sender.on_ack(&self.config, next, &ack);
        } else {
            self.sender.on_timer(&self.config, next);
        }
        self.pump();
        assert!(self.sender.una() <= self.receiver.next(), "acknowledged what never arrived");
        assert!(self.receiver.next() <= self.sender.max(), "received what was never sent");
        true
    }

    /// Runs to the end of the transfer.
    fn run(&mut self) {
        self.pump();
        let mut steps = 0;
        while !self.sender.is_complete() {
            assert!(self.step(), "nothing left to happen before the end: {:?}", self.sender);
            steps += 1;
            assert!(steps < 1_000_000, "no end in sight");
        }
    }

    fn retransmissions(&self) -> Vec<u64> {
        self.sent.iter().filter(|s| s.retransmission).map(|s| s.seq).collect()
    }
}

fn milliseconds(instant: Instant) -> u64 {
    instant.as_ps() / Duration::from_millis(1).as_ps()
}

#[test]
fn without_loss_the_window_doubles_each_round_trip() {
    for recovery in RECOVERIES {
        let mut path = Path::new(config(recovery), 4 + 8 + 16);
        path.run();
        assert_eq!(milliseconds(path.now), 300);
        assert_eq!((path.segments_sent, path.sender.statistics().retransmissions), (28, 0));
    }
}

#[test]
fn one_packet_and_none() {
    for recovery in RECOVERIES {
        let mut path = Path::new(config(recovery), 1);
        path.run();
        assert_eq!(milliseconds(path.now), 100);
        let mut path = Path::new(config(recovery), 0);
        path.run();
        assert_eq!(path.segments_sent, 0);
    }
}

#[test]
fn a_single_loss_is_repaired_within_a_round_trip_without_a_timeout() {
    for recovery in RECOVERIES {
        // Packet 10 is the tenth segment sent; in flight with it are enough others for three duplicates.
        let mut path = Path::new(config(recovery), 60).losing(&[9]);
        path.run();
        assert_eq!(path.sender.statistics().timeouts, 0, "{recovery:?}");
        assert_eq!(path.sender.statistics().loss_events, 1, "{recovery:?}");
        assert_eq!(path.retransmissions()[0], 10, "{recovery:?}");
        if recovery != Recovery::Tahoe {
            assert_eq!(path.retransmissions(), [10], "{recovery:?}");
        }
    }
}

#[test]
fn newreno_repairs_one_hole_a_round_trip_and_sack_all_at_once() {
    let holes = [20, 22, 24];
    let repair_times = |recovery| {
        let mut path = Path::new(config(recovery), 200).losing(&holes);
        path.run();
        assert_eq!(path.sender.statistics().timeouts, 0, "{recovery:?}");
        assert_eq!(path.sender.statistics().loss_events, 1, "{recovery:?}");
        assert_eq!(path.retransmissions(), [21, 23, 25], "{recovery:?}");
        let times: Vec<u64> =
            path.sent.iter().filter(|s| s.retransmission).map(|s| milliseconds(s.sent)).collect();
        times
    };
    let newreno = repair_times(Recovery::NewReno);
    assert_eq!([newreno[1] - newreno[0], newreno[2] - newreno[1]], [100, 100]);
    let sack = repair_times(Recovery::Sack);
    assert!(sack[2] - sack[0] <= 100, "{sack:?}");
}

#[test]
fn reno_needs_a_timeout_where_newreno_does_not() {
    let timeouts = |recovery| {
        // A patient timer: with four holes the impatient variant of NewReno would run into one of 0.2 s.
        let config = TcpConfig { min_rto: Duration::from_secs(1), ..config(recovery) };
        let mut path = Path::new(config, 200).losing(&[12, 13, 14, 15]);
        path.run();
        path.sender.statistics().timeouts
    };
    assert!(timeouts(Recovery::Reno) >= 1);
    assert_eq!(timeouts(Recovery::NewReno), 0);
}

#[test]
fn a_lost_retransmission_waits_for_the_timer_but_with_rack() {
    for recovery in RECOVERIES {
        let mut rehearsal = Path::new(config(recovery), 40).losing(&[9]);
        rehearsal.run();
        let repair = rehearsal.sent.iter().position(|s| s.retransmission && s.seq == 10).unwrap() as u64;
        let mut path = Path::new(config(recovery), 40).losing(&[9, repair]);
        path.run();
        if recovery == Recovery::Rack {
            // Packets sent after the retransmission were delivered: it is sent a third time, and nothing else again.
            assert_eq!((path.sender.statistics().timeouts, path.retransmissions()), (0, vec![10, 10]));
            continue;
        }
        assert!(path.sender.statistics().timeouts >= 1, "{recovery:?}");
        assert!(path.retransmissions().iter().filter(|&&seq| seq == 10).count() >= 2, "{recovery:?}");
    }
}

#[test]
fn timeouts_back_off_and_the_first_alone_reduces_ssthresh() {
    for recovery in RECOVERIES {
        // The whole first window, and the first three attempts to repair it.
        let mut path = Path::new(config(recovery), 4).losing(&[0, 1, 2, 3, 4, 5, 6]);
        path.run();
        // One of the three is RACK's probe: it goes first, and the timer starts anew behind it.
        let (timeouts, times) =
            if recovery == Recovery::Rack { (3, [0, 2000, 4000, 8000]) } else { (4, [0, 1000, 3000, 7000]) };
        assert!(path.sender.statistics().timeouts >= timeouts, "{recovery:?}");
        let first: Vec<u64> = path.sent.iter().filter(|s| s.seq == 1).map(|s| milliseconds(s.sent)).collect();
        assert_eq!(first[..4], times, "{recovery:?}");
    }
}

#[test]
fn lost_acks_alone_cause_no_retransmission() {
    for recovery in RECOVERIES {
        let mut path = Path::new(config(recovery), 400);
        path.lost_acks = (0..400).filter(|n| n % 3 == 1).collect();
        path.run();
        assert_eq!(path.sender.statistics().retransmissions, 0, "{recovery:?}");
    }
}

#[test]
fn the_receivers_window_limits_what_is_in_flight() {
    let config = TcpConfig { receive_window: Some(Packets(7)), ..config(Recovery::Sack) };
    let mut path = Path::new(config, ENDLESS);
    path.pump();
    for _ in 0..1000 {
        path.step();
        assert!(path.sender.max() - path.sender.una() <= 7);
    }
    assert_eq!(path.sender.max() - path.sender.una(), 7);
}

#[test]
fn the_timer_is_off_when_nothing_is_outstanding() {
    let mut path = Path::new(config(Recovery::Sack), 10);
    path.run();
    assert_eq!(path.sender.rto_deadline(), Instant::MAX);
}

#[test]
fn a_handshake_costs_a_round_trip_and_is_repeated() {
    let config = TcpConfig { handshake: true, ..config(Recovery::NewReno) };
    let mut path = Path::new(config.clone(), 4);
    path.run();
    assert_eq!(milliseconds(path.now), 200);
    let mut path = Path::new(config, 4).losing(&[0]);
    path.run();
    assert_eq!(milliseconds(path.now), 1200);
}

#[test]
fn pacing_spaces_the_window_over_the_round_trip() {
    let config = TcpConfig { pacing: true, ..config(Recovery::Sack) };
    let mut path = Path::new(config, 300);
    path.run();
    let late: Vec<Instant> = path.sent.iter().map(|s| s.sent).filter(|&at| milliseconds(at) > 150).collect();
    assert!(late.windows(2).all(|pair| pair[0] < pair[1]), "two packets at the same moment");
}

#[test]
fn karn_no_sample_of_a_retransmission() {
    let config = TcpConfig { timestamps: false, ..config(Recovery::NewReno) };
    let mut path = Path::new(config, 2).losing(&[0, 1]);
    path.run();
    // Both packets were sent twice, so there is no sample, and none that holds the timeout.
    assert_eq!(path.sender.statistics().mean_rtt_s(), None);
}

#[test]
fn without_timestamps_the_backoff_lasts_until_a_sample() {
    let config = TcpConfig { timestamps: false, ..config(Recovery::NewReno) };
    // All four packets are lost twice; their repair gives no sample, so the next loss waits as long as the last one did.
    let mut path = Path::new(config, 8).losing(&[0, 1, 2, 3, 4]);
    path.run();
    let first: Vec<u64> = path.sent.iter().filter(|s| s.seq == 1).map(|s| milliseconds(s.sent)).collect();
    assert_eq!(first, [0, 1000, 3000]);
    let mut path = Path::new(path.config.clone(), 8).losing(&[0, 1, 2, 3, 4, 6]);
    path.run();
    let second: Vec<u64> = path.sent.iter().filter(|s| s.seq == 2).map(|s| milliseconds(s.sent)).collect();
    assert_eq!(second, [0, 3100, 7100], "after its repair at 3.1 s was lost: the backed-off 4 s");
}

#[test]
fn the_ack_that_ends_renos_recovery_restarts_the_timer() {
    let mut path = Path::new(config(Recovery::Reno), 200).losing(&[12, 14]);
    path.pump();
    while path.sender.phase() != Phase::Recovery {
        assert!(path.step());
    }
    while path.sender.phase() == Phase::Recovery {
        assert!(path.step());
    }
    let patience = path.sender.rto_deadline().since(path.now);
    assert!(patience >= Duration::from_millis(200), "{patience:?}"); // RFC 6298 (5.3)
}

#[test]
fn an_ecn_echo_halves_once_a_round_trip() {
    let config = TcpConfig { ecn: true, initial_window: Packets(16), ..config(Recovery::Sack) };
    let mut path = Path::new(config, ENDLESS);
    path.pump();
    // Every packet of the first round trip arrives marked.
    for (_, segment) in &mut path.segments {
        segment.congestion_experienced = true;
    }
    while milliseconds(path.now) < 190 {
        path.step();
    }
    assert_eq!(path.sender.statistics().ecn_reductions, 1);
    assert_eq!(path.sender.statistics().retransmissions, 0);
}

#[test]
fn the_window_does_not_grow_in_the_round_trip_of_an_ecn_reduction() {
    // RFC 3168 §6.1.2; ssthresh ends slow start, so that every ACK before and after adds a part of a packet.
    let config = TcpConfig {
        ecn: true,
        initial_window: Packets(16),
        initial_ssthresh: Some(Packets(16)),
        ..config(Recovery::Sack)
    };
    let mut path = Path::new(config, ENDLESS);
    path.pump();
    path.segments[0].1.congestion_experienced = true;
    while path.sender.statistics().ecn_reductions == 0 {
        path.step();
    }
    let reduced = path.sender.control().window();
    assert_eq!(reduced, 8.0);
    let covered = path.sender.max();
    while path.sender.una() < covered {
        assert_eq!(path.sender.control().window(), reduced, "{}", path.sender.una());
        path.step();
    }
    while path.sender.una() <= covered + 1 {
        path.step();
    }
    assert!(path.sender.control().window() > reduced);
}

#[test]
fn an_idle_restart_keeps_what_the_control_has_learnt() {
    let config =
        TcpConfig { ecn: true, accurate_ecn: true, initial_window: Packets(10), ..config(Recovery::Sack) };
    let dctcp = ControlConfig::Dctcp(DctcpConfig { gain: 0.0625, initial_alpha: 1.0 });
    let start = Start { window: 20.0, ssthresh: 20.0, ..Start::NEW };
    let mut path = Path::new(config.clone(), 2000);
    path.sender = Sender::new(&config, dctcp.build(start), 1, Instant::ZERO);
    path.sender.supply(2000);
    path.run();
    let ssthresh = path.sender.control().ssthresh();
    path.sender.restart_after_idle(&config, path.now, Duration::from_secs(1));
    assert_eq!((path.sender.control().window(), path.sender.control().ssthresh()), (10.0, ssthresh));
    // No packet was marked for many round trips, so alpha is small, and a mark takes little: as a new control it would halve.
    path.sender.supply(40);
    path.pump();
    path.segments[2].1.congestion_experienced = true;
    let mut before = 0.0;
    while path.sender.statistics().ecn_reductions == 0 {
        before = path.sender.control().window();
        assert!(path.step());
    }
    let kept = path.sender.control().window() / before;
    assert!(kept > 0.9, "{kept}");
}

#[test]
fn karn_no_sample_of_a_packet_that_was_probed() {
    // The probe, two RTTs later, is the packet timed; with RACK nothing else sends it again.
    let config = TcpConfig { timestamps: false, initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10).losing(&[10]);
    path.run();
    path.sender.supply(1);
    path.pump();
    while path.step() {}
    assert_eq!((path.sender.is_complete(), path.retransmissions()), (true, vec![11]));
    assert_eq!(path.sender.statistics().mean_rtt_s(), Some(0.1));
}

#[test]
fn a_stretch_ack_ends_slow_start_where_single_acks_would() {
    let config = TcpConfig {
        initial_window: Packets(8),
        initial_ssthresh: Some(Packets(11)),
        ..config(Recovery::Sack)
    };
    let mut path = Path::new(config, 8);
    path.lost_acks = (0..7).collect();
    path.run();
    // Three of the eight packets bring the window to ssthresh, the other five count for congestion avoidance.
    assert_eq!(path.sender.control().window(), 11.0 + 5.0 / 11.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_transfer_ends_whatever_is_lost(
        packets in 1u64..150,
        segments in prop::collection::btree_set(0u64..200, 0..60),
        acks in prop::collection::btree_set(0u64..200, 0..60),
        delayed: bool, prr: bool, limited: bool, handshake: bool, timestamps: bool, pacing: bool,
        window in prop::option::of(1u64..40),
    ) {
        for recovery in RECOVERIES {
            let config = TcpConfig {
                delayed_ack: delayed.then_some(Duration::from_millis(40)),
                prr, limited_transmit: limited, handshake, timestamps, pacing,
                receive_window: window.map(Packets),
                ..config(recovery)
            };
            let mut path = Path::new(config, packets);
            path.lost_segments = segments.clone();
            path.lost_acks = acks.clone();
            path.run();
            prop_assert_eq!(path.fresh, packets);
            prop_assert_eq!(path.receiver.next(), packets + 1);
            let again = path.sender.statistics().retransmissions;
            prop_assert_eq!(path.sender.statistics().packets_sent, packets + u64::from(handshake) + again);
            if segments.is_empty() && acks.is_empty() {
                prop_assert_eq!(again, 0);
            }
        }
    }
}

/// When the transfer of so many packets is complete, ms, and the timeouts it took.
fn completion(recovery: Recovery, packets: u64, lost: &[u64]) -> (u64, u64, Vec<u64>) {
    // A window that is open from the beginning, packets 1 to 10 are sent at 0 ms; and the timer of RFC 6298.
    let min_rto = Duration::from_secs(1);
    let config = TcpConfig { initial_window: Packets(10), min_rto, ..config(recovery) };
    let mut path = Path::new(config, packets).losing(lost);
    path.run();
    (milliseconds(path.now), path.sender.statistics().timeouts, path.retransmissions())
}

#[test]
fn a_probe_finds_a_lost_tail_without_a_timeout() {
    // Packets 8 to 10 are lost. The ACK of packet 7 comes at 100 ms; the probe, two RTTs later, is packet 10 again, and its ACK at
    // 400 ms says that 8 and 9, sent long before, are lost. 8 goes at once, and 9 with its ACK.
    assert_eq!(completion(Recovery::Rack, 10, &[7, 8, 9]), (600, 0, vec![10, 8, 9]));
    // SACK has no third packet above: it waits for the timer, until 1100 ms, and goes on from one packet.
    let (at, timeouts, _) = completion(Recovery::Sack, 10, &[7, 8, 9]);
    assert_eq!((at, timeouts), (1300, 1));
}

#[test]
fn a_probe_that_repairs_the_one_loss_reduces_the_window() {
    let config = TcpConfig { initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10).losing(&[9]);
    path.run();
    assert_eq!((milliseconds(path.now), path.retransmissions()), (400, vec![10]));
    assert_eq!(path.sender.statistics().loss_events, 0); // nothing was sent since that could tell
    let before = path.sender.control().window();
    path.sender.supply(5);
    path.pump();
    while path.step() {}
    assert!(path.sender.is_complete());
    assert_eq!((path.sender.statistics().loss_events, path.sender.statistics().timeouts), (1, 0));
    assert!(path.sender.control().window() < before, "{before}");
    assert_eq!(path.retransmissions(), [10]);
}

#[test]
fn a_needless_probe_changes_nothing() {
    // All arrive; the ACKs of the last three are lost. The probe is answered with a D-SACK.
    let config = TcpConfig { initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10);
    path.lost_acks = [7, 8, 9].into();
    path.run();
    assert_eq!((path.retransmissions(), path.sender.statistics().timeouts), (vec![10], 0));
    path.sender.supply(20);
    path.pump();
    while path.step() {}
    assert_eq!(path.sender.statistics().loss_events, 0);
}

#[test]
fn new_data_is_the_probe_if_there_is_some() {
    // The receiver's window lets no more than 10 packets go, the sender's four: a probe may exceed the latter.
    let config =
        TcpConfig { initial_window: Packets(4), receive_window: Some(Packets(10)), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 20).losing(&[0, 1, 2, 3]);
    path.pump();
    while path.segments_sent < 5 {
        assert!(path.step());
    }
    // Without an RTT sample the probe goes after a second, as the timer does.
    assert_eq!((milliseconds(path.now), path.sent[4].seq, path.sent[4].retransmission), (1000, 5, false));
    path.run();
    assert_eq!(path.sender.statistics().timeouts, 0);
}

/// Acknowledges what a sender sent, in any order a test likes.
struct Bench {
    config: TcpConfig,
    sender: Sender,
    receiver: Receiver,
    sent: Vec<Segment>,
}

impl Bench {
    fn new() -> Self {
        let config = TcpConfig { initial_window: Packets(20), ..config(Recovery::Rack) };
        let mut sender = sender(&config);
        sender.supply(ENDLESS);
        Self { config, sender, receiver: Receiver::new(1), sent: Vec::new() }
    }

    fn pump(&mut self, ms: u64) {
        let now = Instant::ZERO + Duration::from_millis(ms);
        while let Some(segment) = self.sender.poll_transmit(&self.config, now) {
            self.sent.push(segment);
        }
    }

    /// A packet arrives, and its ACK is back at `ms`.
    fn deliver(&mut self, ms: u64, seq: u64) {
        let now = Instant::ZERO + Duration::from_millis(ms);
        let segment = *self.sent.iter().rev().find(|segment| segment.seq == seq).unwrap();
        let ack = self.receiver.on_segment(&self.config, now, &segment).ack.unwrap();
        self.sender.on_ack(&self.config, now, &ack);
        self.pump(ms);
    }

    fn retransmissions(&self) -> Vec<u64> {
        self.sent.iter().filter(|segment| segment.retransmission).map(|segment| segment.seq).collect()
    }
}

#[test]
fn once_reordering_was_seen_a_packet_may_be_late_by_a_quarter_of_the_rtt() {
    let mut bench = Bench::new();
    bench.pump(0);
    // Packet 2 is overtaken by two others: no loss yet, as fewer than three are above, and it may be late by 25 ms.
    for (ms, seq) in [(100, 1), (100, 3), (100, 4), (110, 2)] {
        bench.deliver(ms, seq);
    }
    assert_eq!((bench.retransmissions(), bench.sender.statistics().loss_events), (vec![], 0));
    // Now many may be above: packet 5 is late by 20 ms.
    for seq in 6..=20 {
        bench.deliver(110, seq);
    }
    let deadline = bench.sender.rto_deadline();
    assert_eq!(milliseconds(deadline), 135); // sent at 0; RTT 110, smallest 100: 110 + 100 / 4
    bench.deliver(130, 5);
    assert_eq!((bench.retransmissions(), bench.sender.statistics().loss_events), (vec![], 0));
    assert!(bench.sender.rto_deadline() > deadline);
}

#[test]
fn what_is_in_doubt_is_lost_when_the_timer_says_so() {
    let mut bench = Bench::new();
    bench.pump(0);
    bench.deliver(100, 1);
    bench.deliver(100, 3); // one above: packet 2 may be late by 25 ms
    let deadline = bench.sender.rto_deadline();
    assert_eq!(milliseconds(deadline), 125);
    bench.sender.on_timer(&bench.config, deadline);
    bench.pump(125);
    assert_eq!((bench.retransmissions(), bench.sender.statistics().loss_events), (vec![2], 1));
    assert_eq!((bench.sender.phase(), bench.sender.statistics().timeouts), (Phase::Recovery, 0));
}

/// RFC 8985 §7.2: the probe's time begins with new data or an ACK of new data.
#[test]
fn acks_without_news_do_not_put_the_probe_off() {
    let mut bench = Bench::new();
    bench.pump(0);
    bench.deliver(100, 1);
    let probe = bench.sender.rto_deadline();
    assert_eq!(milliseconds(probe), 300); // two smoothed RTTs after the ACK, and the packets it released
    let now = Instant::ZERO + Duration::from_millis(250);
    let again = Ack {
        cumulative: 2,
        echo: Instant::ZERO,
        echo_retransmission: false,
        congestion_echo: false,
        syn: false,
        sack: Default::default(),
    };
    bench.sender.on_ack(&bench.config, now, &again);
    assert_eq!(bench.sender.rto_deadline(), probe);
    bench.sender.on_timer(&bench.config, probe);
    bench.pump(300);
    assert_eq!(milliseconds(bench.sent.last().unwrap().sent), 300);
}

/// RFC 5681 §3.1 eq. (4) reduces what is in flight, Linux the window; an application that uses little of it tells them apart.
#[test]
fn after_a_timeout_linux_keeps_half_of_the_window_and_the_rfcs_half_of_the_flight() {
    for (rules, ssthresh) in [(Rules::Rfc, 2.0), (Rules::Linux, 5.0)] {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Sack) };
        let mut path = Path::new(config, 3).losing(&[0, 1, 2]);
        path.run();
        assert_eq!(path.sender.statistics().timeouts, 1);
        assert_eq!(path.sender.control().ssthresh(), ssthresh, "{rules:?}");
    }
}

/// Six packets of a window of ten: Linux's slow start goes on up to twice the six.
#[test]
fn a_window_that_is_half_used_grows_in_linux_alone() {
    for (rules, window) in [(Rules::Rfc, 10.0), (Rules::Linux, 12.0)] {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 6);
        path.run();
        assert_eq!(path.sender.control().window(), window, "{rules:?}");
    }
}

/// An ACK of four packets, of which two were SACKed before: RFC 3465 counts four, Linux the other two.
#[test]
fn what_was_sacked_before_counts_once_in_linux() {
    let grown = |rules| {
        let config = TcpConfig { rules, initial_window: Packets(4), ..config(Recovery::Rack) };
        let mut sender = sender(&config);
        sender.supply(100);
        while sender.poll_transmit(&config, Instant::ZERO).is_some() {}
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let ack = |cumulative, sacked| Ack {
            cumulative,
            echo: Instant::ZERO,
            echo_retransmission: false,
            congestion_echo: false,
            syn: false,
            sack: [sacked, Range::default(), Range::default()],
        };
        sender.on_ack(&config, at(100), &ack(1, Range { start: 2, end: 4 }));
        sender.on_ack(&config, at(101), &ack(5, Range::default())); // packet 1 was late, not lost
        sender.control().window()
    };
    assert_eq!(grown(Rules::Rfc), 8.0);
    assert_eq!(grown(Rules::Linux), 6.0);
}

/// Packet 1 is lost, and its retransmission, and packet 11, which was sent after that; both are sent again. When packet 1 arrives at last, packet 11 is
/// under way still: Linux takes it for another congestion event (`tcp_time_to_recover`).
#[test]
fn a_loss_during_a_recovery_is_answered_by_linux_when_that_ends() {
    let events = |rules| {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut sender = sender(&config);
        sender.supply(100);
        let mut sent = Vec::new();
        let mut at = |ms: u64, ack: Option<(u64, [(u64, u64); 2])>| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            if let Some((cumulative, blocks)) = ack {
                let [first, second] = blocks.map(|(start, end)| Range { start, end });
                let ack = Ack {
                    cumulative,
                    echo: Instant::ZERO + Duration::from_millis(ms - 100),
                    echo_retransmission: false,
                    congestion_echo: false,
                    syn: false,
                    sack: [first, second, Range::default()],
                };
                sender.on_ack(&config, now, &ack);
            }
            while let Some(segment) = sender.poll_transmit(&config, now) {
                sent.push((ms, segment.seq));
            }
            sender.statistics().loss_events
        };
        at(0, None);
        for ms in 100..107 {
            at(ms, Some((1, [(2, ms - 100 + 5), (0, 0)]))); // up to packet 10
        }
        for ms in 203..207 {
            at(ms, Some((1, [(12, ms - 203 + 13), (2, 11)])));
        }
        assert_eq!(at(208, None), 1);
        let end = at(303, Some((11, [(12, 16), (0, 0)])));
        let again: Vec<u64> = sent.iter().filter(|&&(ms, _)| ms > 200).map(|&(_, seq)| seq).collect();
        assert_eq!(again[..2], [1, 11], "{sent:?}");
        end
    };
    assert_eq!((events(Rules::Rfc), events(Rules::Linux)), (1, 2));
}

/// Ten packets of a window of ten; the first is lost, and sent again in vain.
#[test]
fn a_timeout_in_a_recovery_reduces_no_further_in_linux() {
    let config = TcpConfig { rules: Rules::Linux, initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10).losing(&[0, 10]);
    path.run();
    assert_eq!((path.sender.statistics().loss_events, path.sender.statistics().timeouts), (1, 1));
    assert_eq!(path.sender.control().ssthresh(), 5.0);
}

/// A sixth packet is lost, and its probe; two others leave just before its timeout, which is now. `more` are lost too.
fn timeout_of_a_lost_probe(rules: Rules, more: &[u64]) -> Path {
    let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 5).losing(&[&[5, 6], more].concat());
    path.run();
    path.sender.supply(1);
    path.pump();
    path.step(); // the probe
    let timeout = path.sender.rto_deadline();
    path.now = Instant::from_ps(timeout.as_ps() - Duration::from_millis(10).as_ps());
    path.sender.supply(2);
    path.pump();
    assert_eq!(path.sender.rto_deadline(), timeout);
    path.now = timeout;
    path.sender.on_timer(&path.config, timeout);
    assert_eq!(path.sender.statistics().timeouts, 1);
    path
}

#[test]
fn after_a_timeout_linux_has_a_packet_more_in_flight_than_is_not_lost() {
    for (rules, window) in [(Rules::Rfc, 1.0), (Rules::Linux, 3.0)] {
        let path = timeout_of_a_lost_probe(rules, &[]);
        assert_eq!(path.sender.control().window(), window, "{rules:?}");
    }
}

/// RFC 3168 §6.1.1 and §6.1.5; with accurate ECN retransmissions too (draft-ietf-tcpm-accurate-ecn).
#[test]
fn neither_syns_nor_retransmissions_can_be_marked() {
    for accurate_ecn in [false, true] {
        let config = TcpConfig { ecn: true, accurate_ecn, handshake: true, ..config(Recovery::Sack) };
        let mut path = Path::new(config, 40).losing(&[5]);
        path.run();
        let (syn, data) = path.sent.split_first().unwrap();
        assert!(syn.syn && syn.cwr && !syn.ecn_capable);
        assert!(data.iter().any(|segment| segment.retransmission));
        assert!(data.iter().all(|segment| segment.ecn_capable != segment.retransmission || accurate_ecn));
    }
}

/// The window was reduced for a loss: the next new packet says so, the retransmission does not. RFC 3168 §6.1.2
#[test]
fn new_data_tells_of_a_reduction() {
    let config = TcpConfig { ecn: true, ..config(Recovery::Sack) };
    let mut path = Path::new(config, 100).losing(&[5]);
    path.run();
    let told: Vec<_> = path.sent.iter().filter(|segment| segment.cwr).collect();
    let again = path.sent.iter().position(|segment| segment.retransmission).unwrap();
    let new = path.sent[again..].iter().find(|segment| !segment.retransmission).unwrap();
    assert_eq!(told, [new]);
}

/// `tcp_ecn_clear_syn`.
#[test]
fn after_a_lost_syn_linux_has_no_ecn() {
    for (rules, has_ecn) in [(Rules::Rfc, true), (Rules::Linux, false)] {
        let config = TcpConfig { ecn: true, handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 4).losing(&[0]);
        path.run();
        assert!(path.sent[1].syn && path.sent[1].cwr == has_ecn, "{rules:?}");
        assert!(path.sent[2..].iter().all(|segment| segment.ecn_capable == has_ecn), "{rules:?}");
    }
}

/// What the timeout sends is lost; what was sent just before it arrives, and so the timeout is taken back (F-RTO). What is sent then finds the loss.
#[test]
fn a_retransmission_lost_after_a_timeout_is_answered_by_linux() {
    let mut path = timeout_of_a_lost_probe(Rules::Linux, &[9]);
    path.sender.supply(20);
    path.pump();
    assert_eq!((path.sent[9].seq, path.sender.phase()), (path.sender.una(), Phase::Loss));
    let before = (path.sender.statistics().loss_events, path.sender.control().window());
    while path.sender.phase() == Phase::Loss {
        assert!(path.step());
    }
    assert_eq!((path.sender.phase(), path.sender.control().ssthresh()), (Phase::Open, f64::INFINITY));
    while path.sender.phase() == Phase::Open {
        assert!(path.step());
    }
    assert_eq!((path.sender.phase(), path.sender.statistics().timeouts), (Phase::Recovery, 1));
    assert_eq!((path.sender.statistics().loss_events, before), (before.0 + 1, (0, 3.0)));
}

/// Ten packets are sent at 0, of which none is lost: each ACK comes when a test says so.
struct Late {
    config: TcpConfig,
    sender: Sender,
    sent: Vec<(u64, u64)>,
}

impl Late {
    fn new(rules: Rules) -> Self {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut sender = sender(&config);
        sender.supply(100);
        let mut late = Self { config, sender, sent: Vec::new() };
        late.pump(0);
        late
    }

    fn pump(&mut self, ms: u64) {
        let now = Instant::ZERO + Duration::from_millis(ms);
        while let Some(segment) = self.sender.poll_transmit(&self.config, now) {
            self.sent.push((ms, segment.seq));
        }
    }

    /// An ACK at `ms` of a packet that was sent at `echo`, ms.
    fn ack(&mut self, (ms, echo): (u64, u64), cumulative: u64, blocks: &[(u64, u64)]) -> Vec<u64> {
        let mut sack: [Range; 3] = Default::default();
        for (block, &(start, end)) in sack.iter_mut().zip(blocks) {
            *block = Range { start, end };
        }
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let (echo_retransmission, congestion_echo, syn) = (false, false, false);
        let ack = Ack { cumulative, echo: at(echo), echo_retransmission, congestion_echo, syn, sack };
        self.sender.on_ack(&self.config, at(ms), &ack);
        self.answer(ms)
    }

    /// What goes at `ms`.
    fn answer(&mut self, ms: u64) -> Vec<u64> {
        let before = self.sent.len();
        self.pump(ms);
        self.sent[before..].iter().map(|&(_, seq)| seq).collect()
    }

    fn time_out(&mut self) -> u64 {
        while self.sender.statistics().timeouts == 0 {
            let deadline = self.sender.rto_deadline();
            self.sender.on_timer(&self.config, deadline);
            self.pump(milliseconds(deadline));
        }
        milliseconds(Instant::ZERO + Duration::from_millis(self.sent.last().unwrap().0))
    }

    fn windows(&self) -> (f64, f64) {
        (self.sender.control().window(), self.sender.control().ssthresh())
    }
}

/// Packet 1 comes after all others: it is sent again, and the receiver has it twice.
#[test]
fn a_recovery_of_a_packet_that_was_late_is_undone_by_linux_once_a_duplicate_is_reported() {
    for rules in [Rules::Rfc, Rules::Linux] {
        let mut late = Late::new(rules);
        for sacked in 3..=11 {
            late.ack((100 + sacked, 0), 1, &[(2, sacked)]);
        }
        assert_eq!(late.sender.phase(), Phase::Recovery);
        assert!(late.sent.iter().filter(|&&(_, seq)| seq == 1).count() == 2, "{:?}", late.sent);
        // The ACK that ends the recovery echoes the retransmission, which came first; the first copy follows it.
        let all = late.sender.max();
        late.ack((210, 105), all, &[]);
        assert_eq!((late.sender.phase(), late.windows().1), (Phase::Open, 5.0));
        let before = late.windows();
        late.ack((211, 105), all, &[(1, 2)]);
        let after = if rules == Rules::Linux { (10.0, f64::INFINITY) } else { before };
        assert_eq!(late.windows(), after, "{rules:?}");
    }
}

/// The ACK of packet 1 says that its first copy has come: it echoes what was sent before the retransmission (Eifel).
#[test]
fn a_recovery_of_a_packet_that_was_late_is_undone_by_linux_if_its_echo_says_so() {
    let windows = (11.0, f64::INFINITY); // by the ACK a packet more
    for (rules, after) in
        [(Rules::Rfc, (Phase::Recovery, (5.0, 5.0))), (Rules::Linux, (Phase::Open, windows))]
    {
        let mut late = Late::new(rules);
        for sacked in 3..=11 {
            late.ack((100 + sacked, 0), 1, &[(2, sacked)]);
        }
        late.ack((120, 0), 11, &[]);
        assert_eq!((late.sender.phase(), late.windows()), after, "{rules:?}");
    }
}

/// The network holds all packets back until the timer has expired; then their ACKs come, the first one with the echo of its first copy.
#[test]
fn a_timeout_of_packets_that_were_late_is_undone_by_linux() {
    let mut late = Late::new(Rules::Linux);
    let expired = late.time_out();
    assert_eq!((late.sender.phase(), late.windows().1), (Phase::Loss, 5.0));
    late.ack((expired + 10, 0), 2, &[]);
    assert_eq!((late.sender.phase(), late.windows()), (Phase::Open, (11.0, f64::INFINITY)));
    let again = |late: &Late| late.sent.iter().filter(|&&(ms, seq)| ms >= expired && seq < 11).count();
    let (before, _) = (again(&late), late.answer(expired + 11));
    for acked in 3..=11 {
        late.ack((expired + 10 + acked, 0), acked, &[]);
    }
    assert_eq!(again(&late), before, "what is known to be late only is not sent again: {:?}", late.sent);
    assert_eq!(late.sender.statistics().loss_events, 0);
}

/// Without timestamps: an ACK of new data lets new data go; that of a packet that was sent once ends the matter (F-RTO, RFC 5682).
#[test]
fn without_timestamps_new_data_finds_out_whether_a_timeout_was_needless() {
    let mut late = Late::new(Rules::Linux);
    late.config.timestamps = false;
    let expired = late.time_out();
    let new = late.ack((expired + 10, 0), 2, &[]);
    assert!(new.iter().all(|&seq| seq > 10) && !new.is_empty(), "{new:?}");
    assert_eq!(late.sender.phase(), Phase::Loss);
    late.ack((expired + 11, 0), 3, &[]);
    assert_eq!((late.sender.phase(), late.windows().1), (Phase::Open, f64::INFINITY));
}

/// The same, but packets 2 and 3 are lost indeed: the new packet is SACKed, and they are sent again.
#[test]
fn after_a_timeout_that_was_none_what_is_lost_is_repaired() {
    let mut late = Late::new(Rules::Linux);
    late.config.timestamps = false;
    let expired = late.time_out();
    let new = late.ack((expired + 10, 0), 2, &[]);
    let newest = *new.last().unwrap();
    late.ack((expired + 110, 0), 2, &[(newest, newest + 1)]);
    assert_eq!((late.sender.phase(), late.windows().1), (Phase::Loss, 5.0));
    assert!(late.sent.iter().any(|&(ms, seq)| ms > expired + 100 && seq == 2), "{:?}", late.sent);
}

/// Linux backs off from the fifth timeout of a SYN on (`tcp_retransmit_timer`, `tcp_syn_linear_timeouts`).
#[test]
fn linux_sends_a_lost_syn_again_each_second_at_first() {
    for (rules, seconds) in [(Rules::Rfc, [0, 1, 3, 7, 15, 31, 63]), (Rules::Linux, [0, 1, 2, 3, 4, 5, 7])] {
        let config = TcpConfig { handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 1).losing(&[0, 1, 2, 3, 4, 5]);
        path.run();
        let syns: Vec<_> = path.sent.iter().filter(|segment| segment.syn).map(|syn| syn.sent).collect();
        assert_eq!(syns, seconds.map(|s| Instant::ZERO + Duration::from_secs(s)), "{rules:?}");
    }
}

/// RFC 6298 (5.7) has no sample of a SYN that was sent again, and 3 s for the data; Linux looks at its timestamp (`tcp_ack_update_rtt`).
#[test]
fn a_syn_that_was_sent_again_gives_linux_a_sample() {
    for (rules, timeout) in [(Rules::Rfc, 3000), (Rules::Linux, 300)] {
        let config = TcpConfig { handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 1).losing(&[0]);
        path.pump();
        while path.sender.phase() == Phase::Connecting {
            assert!(path.step());
        }
        assert_eq!(path.sender.timeout(&path.config), Duration::from_millis(timeout), "{rules:?}");
    }
}

/// `tcp_init_transfer`.
#[test]
fn in_linux_the_second_lost_syn_cuts_the_window() {
    for (rules, cuts) in [(Rules::Rfc, [true, true]), (Rules::Linux, [false, true])] {
        let config = TcpConfig { handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 1).losing(&[0, 1]);
        path.pump();
        for cut in cuts {
            assert_eq!(path.sender.syn_timeout_cuts_window(&path.config), cut, "{rules:?}");
            path.step();
        }
        path.run();
        assert!(!path.sender.syn_timeout_cuts_window(&path.config));
    }
}

/// `tcp_schedule_loss_probe`: the least timeout, here 300 ms, for the delayed ACK of a packet that is alone, but no later than the retransmission
/// timeout; 2 ms otherwise.
#[test]
fn the_probe_of_linux_waits_longer() {
    for (rules, packets, at) in
        [(Rules::Rfc, 1, 340), (Rules::Linux, 1, 400), (Rules::Rfc, 2, 300), (Rules::Linux, 2, 302)]
    {
        let (delayed_ack, min_rto) = (Some(Duration::from_millis(40)), Duration::from_millis(300));
        let initial_window = Packets(10);
        let config = TcpConfig { rules, delayed_ack, min_rto, initial_window, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 6).losing(&[6, 7]);
        path.run();
        assert_eq!(milliseconds(path.now), 100);
        path.sender.supply(packets);
        path.run();
        let probe = path.sent.iter().find(|segment| segment.retransmission).unwrap();
        assert_eq!(milliseconds(probe.sent), at, "{rules:?}, {packets} packets");
    }
}

/// The sixth packet is reported before the fifth, which is in doubt for a quarter of the RTT (`tcp_rack_mark_lost`).
#[test]
fn the_timer_of_linux_for_packets_in_doubt_waits_longer() {
    let deadline = |rules| {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 6).losing(&[4]);
        path.pump();
        while path.sender.flight() > 2 || path.acks.len() > 0 {
            path.step();
        }
        path.sender.rto_deadline()
    };
    assert_eq!(deadline(Rules::Linux), deadline(Rules::Rfc) + Duration::from_millis(2));
}

/// Sixteen packets are acknowledged at once, two together, and the last one: `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`.
#[test]
fn in_linux_the_last_packet_of_a_transfer_is_acknowledged_at_once() {
    for (rules, end) in [(Rules::Rfc, 140), (Rules::Linux, 100)] {
        let delayed_ack = Some(Duration::from_millis(40));
        let config = TcpConfig { rules, delayed_ack, initial_window: Packets(20), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 19);
        path.run();
        assert_eq!(
            (milliseconds(path.now), path.acks_sent),
            (end, if rules == Rules::Linux { 18 } else { 10 })
        );
    }
}

/// All of a window is lost, and the probe. The ACK of what the timeout sends lets new data go before the rest of it: `tcp_process_loss`, RFC 5682 §3.1.
#[test]
fn after_a_timeout_linux_sends_new_data_before_what_is_lost() {
    for (rules, next) in [(Rules::Rfc, [2, 3]), (Rules::Linux, [12, 13])] {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 30).losing(&(0..11).collect::<Vec<_>>());
        path.run();
        let sent: Vec<_> = path.sent.iter().map(|segment| segment.seq).collect();
        assert_eq!(path.sender.statistics().timeouts, 1);
        assert_eq!(sent[10..14], [&[11, 1], &next[..]].concat(), "{rules:?}");
    }
    // Without new data nothing waits.
    let config = TcpConfig { rules: Rules::Linux, initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10).losing(&(0..11).collect::<Vec<_>>());
    path.run();
    let sent: Vec<_> = path.sent.iter().map(|segment| segment.seq).collect();
    assert_eq!(sent[10..14], [10, 1, 2, 3]);
}
