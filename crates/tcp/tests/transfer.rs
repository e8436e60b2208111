//! Whole transfers over a path that loses what a test tells it to, for every recovery.

mod path;

use parshall_congestion::{CongestionControl, ControlConfig, DctcpConfig, LpConfig, Start};
use parshall_tcp::sender::{Phase, ENDLESS};
use parshall_tcp::{Receiver, Recovery, Segment, Sender, TcpConfig};
use parshall_units::{Duration, Instant, Packets};
use path::{ack, config, milliseconds, sender, Path};
use proptest::prelude::*;

const RECOVERIES: [Recovery; 5] =
    [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno, Recovery::Sack, Recovery::Rack];
/// With hundreds of flows most of what a packet costs is the memory of its flow that it touches: no more of it
/// unnoticed.
const _: () = assert!(Sender::HOT_BYTES <= 272 && size_of::<Sender>() <= 352);

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
fn in_the_network_is_what_is_neither_sacked_nor_found_lost() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut path = Path::new(config(recovery), 60).losing(&[9]);
        path.pump();
        let mut sacked = 0;
        while path.step() {
            let under_way = (path.segments.len() + path.acks.len()) as u64;
            match path.sender.phase() {
                Phase::Recovery => {
                    assert_eq!(
                        path.sender.in_network(),
                        under_way,
                        "{recovery:?} at {} ms",
                        milliseconds(path.now)
                    );
                    sacked = sacked.max(path.sender.flight() - under_way);
                }
                // What is lost and not yet found counts still.
                _ => assert!((under_way..=under_way + 1).contains(&path.sender.in_network()), "{recovery:?}"),
            }
        }
        assert!(sacked > 3, "{recovery:?}: {sacked}");
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
    // All four packets are lost twice; their repair gives no sample, so the next loss waits as long as the last one
    // did.
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
    // No packet was marked for many round trips, so alpha is small, and a mark takes little: as a new control it would
    // halve.
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
        window in prop::option::of(1u64..40), ticks: bool,
    ) {
        for recovery in RECOVERIES {
            let config = TcpConfig {
                delayed_ack: delayed.then_some(Duration::from_millis(40)),
                prr, limited_transmit: limited, handshake, timestamps, pacing,
                receive_window: window.map(Packets),
                timer_tick: ticks.then_some(Duration::from_millis(4)),
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
    // Packets 8 to 10 are lost. The ACK of packet 7 comes at 100 ms; the probe, two RTTs later, is packet 10 again, and
    // its ACK at 400 ms says that 8 and 9, sent long before, are lost. 8 goes at once, and 9 with its ACK.
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
    bench.sender.on_ack(&bench.config, now, &ack(now, Instant::ZERO, 2, Default::default()));
    assert_eq!(bench.sender.rto_deadline(), probe);
    bench.sender.on_timer(&bench.config, probe);
    bench.pump(300);
    assert_eq!(milliseconds(bench.sent.last().unwrap().sent), 300);
}

/// Of the packet that an ACK answers, the wait of a delayed ACK included: the last of five packets waits alone.
#[test]
fn a_control_that_needs_it_hears_the_one_way_delay() {
    for (delayed_ack, largest_s) in [(None, 0.05), (Some(Duration::from_millis(40)), 0.09)] {
        let mut path = Path::new(TcpConfig { delayed_ack, ..config(Recovery::Sack) }, 0);
        let control = ControlConfig::Lp(LpConfig { threshold: 0.15, inference: 3.0 });
        path.sender = Sender::new(&path.config, control.build(Start::NEW), 1, Instant::ZERO);
        path.sender.supply(5);
        path.run();
        let mut heard = None;
        path.sender.control().read_variables(&mut |name, value| {
            heard = heard.or((name == "largest_delay").then_some(value));
        });
        assert_eq!(heard, Some(largest_s));
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
