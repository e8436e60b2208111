//! The receiver, with policies of both forms.

use super::*;
use crate::rto::tests::config;
use crate::Recovery;
use parshall_units::Duration;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn segment(seq: u64) -> Segment {
    Segment::plain(seq, Instant::from_ps(seq))
}

fn sack_config() -> TcpConfig {
    TcpConfig { recovery: Recovery::Sack, ..config() }
}

/// A receiver that acknowledges so many packets at once.
fn with_quick_acks(quick: u8) -> Receiver {
    let mut receiver = Receiver::new(0);
    receiver.timing.quick = quick;
    receiver
}

fn ack(receiver: &mut Receiver, config: &TcpConfig, seq: u64) -> Ack {
    receiver.on_segment(config, Instant::ZERO, &segment(seq)).ack.expect("acknowledged at once")
}

/// RFC 7323 §5.3 R1; `tcp_paws_check` lets a tick pass, and `tcp_sequence` drops what is old before its timestamp is
/// looked at.
#[test]
fn what_was_sent_before_a_retransmission_in_order_is_refused_behind_it() {
    for rules in [Rules::RFC, Rules::LINUX] {
        let config = TcpConfig { recovery: Recovery::Rack, rules, ..config() };
        let mut receiver = Receiver::new(1);
        let mut arrives = |seq, sent_ms| {
            let segment = Segment::plain(seq, Instant::ZERO + Duration::from_millis(sent_ms));
            let at = Instant::ZERO + Duration::from_millis(100);
            let reception = receiver.on_segment(&config, at, &segment);
            (reception.fresh, reception.ack.map_or(0, |ack| ack.cumulative))
        };
        assert!(arrives(1, 10).0 && arrives(3, 30).0, "a hole: 2");
        assert_eq!(arrives(2, 60), (true, 4), "sent again, and first in order");
        assert_eq!(arrives(4, 50), (false, 4), "overtaken by what was sent 10 ms later");
        assert_eq!(arrives(4, 59).0, rules == Rules::LINUX, "a tick of its clock");
        assert!(arrives(5, 70).0, "later ones are taken");
        arrives(1, 90); // a duplicate of a packet that is acknowledged long since
        assert_eq!(arrives(6, 80).0, rules == Rules::LINUX, "Linux dropped that without a look");
        let blind = TcpConfig { timestamps: false, ..config.clone() };
        let late = Segment::plain(7, Instant::ZERO);
        assert!(receiver.on_segment(&blind, Instant::ZERO, &late).fresh, "without timestamps");
    }
}

#[test]
fn reports_the_block_just_changed_first() {
    let config = sack_config();
    let mut receiver = Receiver::new(0);
    assert_eq!(ack(&mut receiver, &config, 0).sack, NO_SACK);
    ack(&mut receiver, &config, 2);
    ack(&mut receiver, &config, 4);
    ack(&mut receiver, &config, 6);
    let reply = ack(&mut receiver, &config, 8);
    assert_eq!(reply.cumulative, 1);
    let starts: Vec<u64> = reply.sack.iter().map(|b| b.start).collect();
    assert_eq!(starts, [8, 6, 4]);
    let reply = ack(&mut receiver, &config, 3);
    assert_eq!(reply.sack[0], Range { start: 2, end: 5 });
    assert_eq!(reply.sack[1], Range { start: 8, end: 9 });
    assert_eq!(reply.sack[2], Range { start: 6, end: 7 });
    let reply = ack(&mut receiver, &config, 1);
    assert_eq!(reply.cumulative, 5);
}

/// `waits_for_second` leaves the receiver as `arrive` does, where segments come slowly.
#[test]
fn the_fast_path_of_slow_segments_changes_nothing() {
    let least = Duration::from_millis(40);
    let config = TcpConfig { rules: Rules::LINUX, delayed_ack: Some(least), ..sack_config() };
    let mut receiver = Receiver::new(1);
    let mut at = Instant::ZERO + Duration::from_secs(1);
    let sent = |at: Instant| Instant::from_ps(at.as_ps() - Duration::from_millis(10).as_ps());
    receiver.on_segment(&config, at, &Segment { syn: true, ..Segment::plain(0, sent(at)) });
    let mut short = 0;
    for number in 1..=2000 {
        let pause = (number * 7919 % 210_000) as u32; // up to more than the least timeout
        at += Duration::from_ps(u64::from(pause) * 1_000_000);
        while receiver.deadline() < at {
            receiver.on_timer(&config, receiver.deadline());
        }
        let segment = Segment::plain(number, sent(at));
        let mut other = receiver.clone();
        if receiver.waits_for_second(&config, at, &segment) {
            if other.timing.is_slow(pause, least) {
                short += 1;
                assert!(other.arrive_by_linux::<forms::Linux>(&config, at, &segment).ack.is_none());
                assert_eq!(format!("{receiver:?}"), format!("{other:?}"));
            }
        } else {
            receiver.arrive_by_linux::<forms::Linux>(&config, at, &segment);
        }
    }
    assert!(short > 500, "{short}");
}

/// `tcp_data_queue`: a packet that had arrived makes the next ACKs go at once. Sixteen at the beginning do, those that
/// report holes among them (`tcp_dec_quickack_mode`).
#[test]
fn linux_counts_the_acks_that_go_at_once() {
    let delayed_ack = Some(Duration::from_millis(40));
    let config = TcpConfig { rules: Rules::LINUX, recovery: Recovery::Rack, delayed_ack, ..config() };
    let mut receiver = Receiver::new(0);
    let mut at_once = |seq| receiver.on_segment(&config, Instant::ZERO, &segment(seq)).ack.is_some();
    assert!((0..12).chain([13, 14, 15, 12]).all(&mut at_once), "sixteen");
    assert_eq!([16, 17, 18].map(&mut at_once), [false, true, false]);
    assert!([19, 3].iter().copied().chain(20..35).all(&mut at_once), "fifteen after that of the duplicate");
    assert!(!at_once(35));
}

proptest! {
    /// RFC 7323 §4.3, as it is written: of segments that begin at Last.ACK.sent or before, the latest timestamp,
    /// whatever waits or is missing. Linux leaves out those that end before it (`tcp_sequence`).
    #[test]
    fn acks_echo_ts_recent(
        segments in prop::collection::vec((0u64..12, 0u64..60_000), 1..80),
        forms in any::<[bool; 3]>(), delayed in any::<bool>(), quick in 0u8..3,
    ) {
        let switched = ["acks", "sack_compression", "receive_buffer"].into_iter().zip(forms);
        let rules = switched.filter(|&(_, linux)| linux).fold(Rules::RFC, |rules, (name, _)| {
            rules.with(name, &Rules::LINUX).expect("a policy")
        });
        let delayed_ack = delayed.then(|| Duration::from_millis(40));
        let config = TcpConfig { rules, delayed_ack, recovery: Recovery::Rack, ..config() };
        let mut receiver = with_quick_acks(quick);
        let (mut now, mut last_ack_sent, mut recent) = (Instant::ZERO, 0, Instant::MAX);
        for (ahead, pause_us) in segments {
            let seq = (receiver.next() + ahead).saturating_sub(8);
            let sent = now + Duration::from_ps(pause_us * 1_000_000);
            let mut acks = Vec::new();
            while receiver.deadline() < sent {
                acks.extend(receiver.on_timer(&config, receiver.deadline()));
            }
            now = sent;
            let segment = Segment::plain(seq, sent);
            acks.extend(receiver.ack_before(&config, now, &segment));
            for ack in acks {
                prop_assert_eq!(ack.echo, recent);
                last_ack_sent = ack.cumulative;
            }
            let reception = receiver.on_segment(&config, now, &segment);
            let is_old = forms[0] && seq + 1 < last_ack_sent;
            if seq <= last_ack_sent && !is_old || recent == Instant::MAX {
                recent = sent;
            }
            if let Some(ack) = reception.ack {
                prop_assert_eq!(ack.echo, recent);
                last_ack_sent = ack.cumulative;
            }
        }
    }

    /// RFC 2018 §4: the block of the segment first, then those that were reported before and are blocks still.
    #[test]
    fn reports_as_many_blocks_as_it_remembers(segments in prop::collection::vec(0u64..24, 1..80)) {
        let config = sack_config();
        let mut receiver = Receiver::new(0);
        let mut arrived = BTreeSet::new();
        let mut reported = NO_SACK;
        for seq in segments {
            let ack = ack(&mut receiver, &config, seq);
            arrived.insert(seq);
            let run_of = |packet: u64| {
                let start = (0..=packet).rev().take_while(|p| arrived.contains(p)).last()?;
                let end = (packet..=24).find(|p| !arrived.contains(p))?;
                Some(Range { start, end })
            };
            prop_assert_eq!(Some(ack.cumulative), (0..=24).find(|p| !arrived.contains(p)));
            let before = reported.iter().filter(|block| !block.is_empty()).map(|block| block.start);
            let mut expected: Vec<Range> = Vec::new();
            for run in std::iter::once(seq).chain(before).filter_map(run_of) {
                if run.start > ack.cumulative && !expected.contains(&run) {
                    expected.push(run);
                }
            }
            expected.resize(3, Range::default());
            prop_assert_eq!(ack.sack.to_vec(), expected);
            reported = ack.sack;
        }
    }
}

#[test]
fn a_duplicate_is_acknowledged_but_not_fresh() {
    let config = sack_config();
    let mut receiver = Receiver::new(0);
    for seq in [0, 3] {
        assert!(receiver.on_segment(&config, Instant::ZERO, &segment(seq)).fresh);
    }
    for seq in [0, 3] {
        let reception = receiver.on_segment(&config, Instant::ZERO, &segment(seq));
        assert!(!reception.fresh && reception.ack.is_some());
    }
}

#[test]
fn with_rack_a_duplicate_is_reported_before_the_blocks() {
    let config = TcpConfig { recovery: Recovery::Rack, ..config() };
    let mut receiver = Receiver::new(0);
    let packet = |seq| Range { start: seq, end: seq + 1 };
    for seq in [0, 3, 4, 8] {
        assert_eq!(ack(&mut receiver, &config, seq).duplicate(), None);
    }
    // Below the cumulative ACK, and within a block, which then follows.
    let below = ack(&mut receiver, &config, 0);
    assert_eq!((below.duplicate(), below.sack[1]), (Some(packet(0)), packet(8)));
    let within = ack(&mut receiver, &config, 4);
    assert_eq!(within.duplicate(), Some(packet(4)));
    assert_eq!(within.sack, [packet(4), Range { start: 3, end: 5 }, packet(8)]);
    // SACK recovery has no use for it.
    assert_eq!(ack(&mut receiver, &sack_config(), 4).sack[0], Range { start: 3, end: 5 });
}

#[test]
fn delays_every_other_ack_and_no_longer_than_told() {
    let config = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config() };
    let mut receiver = Receiver::new(0);
    let now = Instant::ZERO;
    assert!(receiver.on_segment(&config, now, &segment(0)).ack.is_none());
    let second = receiver.on_segment(&config, now, &segment(1)).ack.unwrap();
    assert_eq!((second.cumulative, second.echo), (2, segment(0).sent));
    assert!(receiver.on_segment(&config, now, &segment(2)).ack.is_none());
    assert_eq!(receiver.deadline(), now + Duration::from_millis(40));
    assert_eq!(receiver.on_timer(&config, receiver.deadline()).unwrap().cumulative, 3);
    assert_eq!((receiver.deadline(), receiver.hurry(Instant::ZERO).is_some()), (Instant::MAX, false));
    receiver.on_segment(&config, now, &segment(3));
    let hurried = receiver.hurry(Instant::ZERO).unwrap();
    assert_eq!((hurried.cumulative, hurried.echo), (4, segment(3).sent));
    assert_eq!(receiver.deadline(), Instant::MAX);
    // Out of order: at once.
    assert!(receiver.on_segment(&config, now, &segment(9)).ack.is_some());
}

#[test]
fn an_ack_of_a_hole_echoes_the_last_segment_before_it() {
    let config = TcpConfig { recovery: Recovery::Rack, ..config() };
    let at = |ms| Instant::ZERO + Duration::from_millis(ms);
    let echo = |receiver: &mut Receiver, config: &TcpConfig, seq, sent| {
        let segment = Segment::plain(seq, at(sent));
        let ack = receiver.on_segment(config, at(sent + 50), &segment).ack;
        ack.map(|ack| (ack.cumulative, ack.echo))
    };
    let mut receiver = Receiver::new(0);
    assert_eq!(echo(&mut receiver, &config, 0, 50), Some((1, at(50))));
    assert_eq!(echo(&mut receiver, &config, 2, 70), Some((1, at(50))));
    assert_eq!(echo(&mut receiver, &config, 1, 90), Some((3, at(90))), "the retransmission");
    let delays = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config };
    let mut receiver = Receiver::new(0);
    assert_eq!(echo(&mut receiver, &delays, 0, 50), None);
    assert_eq!(echo(&mut receiver, &delays, 2, 70), Some((1, at(50))), "the earliest that the ACK is for");
}

#[test]
fn echoes_a_mark_until_it_is_answered() {
    let config = config();
    let mut receiver = Receiver::new(0);
    let marked = Segment { congestion_experienced: true, ..segment(0) };
    assert!(receiver.on_segment(&config, Instant::ZERO, &marked).ack.unwrap().congestion_echo);
    assert!(ack(&mut receiver, &config, 1).congestion_echo);
    let answered = Segment { cwr: true, ..segment(2) };
    assert!(!receiver.on_segment(&config, Instant::ZERO, &answered).ack.unwrap().congestion_echo);
}

/// In Linux's form of `acks`: two packets after the first mark of a round trip, two after a retransmission, and one that says
/// CWR.
#[test]
fn linux_hastens_acks_where_the_window_may_be_small() {
    let config = TcpConfig {
        rules: Rules::LINUX,
        ecn: true,
        delayed_ack: Some(Duration::from_millis(40)),
        ..config()
    };
    let plain = |seq| Segment { ecn_capable: true, ..segment(seq) };
    let marked = |seq| Segment { congestion_experienced: true, ..plain(seq) };
    let mut receiver = with_quick_acks(0);
    let mut at_once = |segment: Segment| receiver.on_segment(&config, Instant::ZERO, &segment).ack.is_some();
    assert_eq!([plain(0), plain(1)].map(&mut at_once), [false, true], "every second one");
    assert_eq!([marked(2), marked(3)].map(&mut at_once), [true, true]);
    assert_eq!([marked(4), marked(5)].map(&mut at_once), [false, true], "the mark is no news");
    let reduced = |seq| Segment { cwr: true, ..plain(seq) };
    assert_eq!([plain(6), reduced(7), reduced(8)].map(&mut at_once), [false, true, true]);
    assert_eq!([segment(9), plain(10), plain(11)].map(&mut at_once), [true, true, false], "a retransmission");
}

#[test]
fn linux_acknowledges_the_first_sixteen_packets_at_once() {
    let delayed = TcpConfig { delayed_ack: Some(Duration::from_millis(40)), ..config() };
    for (rules, at_once) in [(Rules::RFC, 0), (Rules::LINUX, 16)] {
        let config = TcpConfig { rules, ..delayed.clone() };
        let mut receiver = Receiver::new(1);
        for seq in 1..=at_once {
            assert!(receiver.on_segment(&config, Instant::from_ps(seq), &segment(seq)).ack.is_some());
        }
        let next = at_once + 1;
        assert!(receiver.on_segment(&config, Instant::from_ps(next), &segment(next)).ack.is_none());
    }
}

proptest! {
    /// RFC 8257 §3.2: with delayed ACKs too, the packets that ACKs with the echo are for are those that were marked.
    #[test]
    fn the_share_of_packets_echoed_is_the_share_marked(marks in prop::collection::vec(any::<bool>(), 1..200)) {
        let config = TcpConfig {
            accurate_ecn: true, ecn: true, delayed_ack: Some(Duration::from_millis(40)), ..config()
        };
        let mut receiver = Receiver::new(0);
        let (mut acknowledged, mut echoed) = (0, Vec::new());
        let mut acks = 0;
        for (seq, &marked) in marks.iter().enumerate() {
            let segment = Segment { congestion_experienced: marked, ..segment(seq as u64) };
            let before = receiver.ack_before(&config, Instant::ZERO, &segment);
            let reply = receiver.on_segment(&config, Instant::ZERO, &segment).ack;
            for ack in before.into_iter().chain(reply) {
                echoed.extend((acknowledged..ack.cumulative).map(|_| ack.congestion_echo));
                acknowledged = ack.cumulative;
                acks += 1;
            }
        }
        if let Some(ack) = receiver.on_timer(&config, receiver.deadline()) {
            echoed.extend((acknowledged..ack.cumulative).map(|_| ack.congestion_echo));
        }
        prop_assert_eq!(&echoed, &marks);
        // And they stay delayed where the mark stays.
        let changes = marks.windows(2).filter(|pair| pair[0] != pair[1]).count();
        prop_assert!(acks <= marks.len().div_ceil(2) + 2 * changes + 1);
    }
}
