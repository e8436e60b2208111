//! When Linux acknowledges, sends and gives up, where the RFCs say something else: bursts, ACKs held back, timers.

mod path;

use parshall_tcp::ranges::Range;
use parshall_tcp::segment::NO_WINDOW;
use parshall_tcp::{Ack, Receiver, Recovery, RtoFloor, Rules, Segment, Sender, TcpConfig};
use parshall_units::{Bytes, Duration, Instant, Packets};
use path::{config, only, sender};

fn at_us(us: u64) -> Instant {
    Instant::from_ps(us * 1_000_000)
}

fn linux() -> TcpConfig {
    let delayed_ack = Some(Duration::from_millis(40));
    TcpConfig { rules: Rules::LINUX, handshake: true, delayed_ack, ..config(Recovery::Rack) }
}

/// A receiver after a handshake of 90 ms and the 22 packets that are acknowledged at once, 0.9 ms apart. The next one
/// is 23.
struct Receiving {
    config: TcpConfig,
    receiver: Receiver,
}

impl Receiving {
    fn new(config: TcpConfig) -> Self {
        let mut receiving = Self { config, receiver: Receiver::new(1) };
        receiving.take(11_000, 0, true);
        for number in 1..=22 {
            receiving.take(100_100 + 900 * number, number, false);
        }
        receiving
    }

    /// A packet comes at so many microseconds; the ACK that it is answered with at once.
    fn take(&mut self, us: u64, seq: u64, syn: bool) -> Option<Ack> {
        self.take_pushed(us, seq, syn, false)
    }

    fn take_pushed(&mut self, us: u64, seq: u64, syn: bool, push: bool) -> Option<Ack> {
        let now = at_us(us);
        let segment = Segment { syn, push, ..Segment::plain(seq, now) };
        self.receiver.on_segment(&self.config, now, &segment).ack
    }
}

/// `__tcp_ack_snd_check`: three at once for a hole, the others wait up to a millisecond, and a tenth for the timer's
/// slack.
#[test]
fn linux_holds_acks_of_packets_behind_a_hole_back() {
    let mut receiving = Receiving::new(TcpConfig { rules: only(&["sack_compression"]), ..linux() });
    let sent: Vec<bool> =
        (24..32).map(|seq| receiving.take(200_000 + 10 * seq, seq, false).is_some()).collect();
    assert_eq!(sent, [true, true, true, false, false, false, false, false]);
    let due = receiving.receiver.deadline();
    assert_eq!(due, at_us(200_270 + 1100));
    let ack = receiving.receiver.on_timer(&receiving.config, due).unwrap();
    assert_eq!((ack.cumulative, ack.sack[0]), (23, Range { start: 24, end: 32 }));
    assert!(receiving.take(201_500, 32, false).is_none(), "the hole is the same");
    assert!(receiving.take(201_600, 23, false).is_some(), "it is filled");
    assert_eq!(receiving.receiver.deadline(), Instant::MAX);

    let mut rfc = Receiving::new(TcpConfig { rules: Rules::RFC, ..linux() });
    assert!((24..32).all(|seq| rfc.take(200_000 + 10 * seq, seq, false).is_some()));
}

/// `tcp_sack_new_ofo_skb`: what is held back goes before a packet that would be a third block in it, so that all are
/// reported.
#[test]
fn linux_reports_all_blocks_though_it_holds_acks_back() {
    let mut receiving = Receiving::new(TcpConfig { rules: only(&["sack_compression"]), ..linux() });
    let mut reported = std::collections::BTreeSet::new();
    let mut acks = 0;
    for seq in (24..96).step_by(2) {
        let (config, now) = (receiving.config.clone(), at_us(200_000 + seq));
        let before = receiving.receiver.ack_before(&config, now, &Segment::plain(seq, now));
        let after = receiving.take(200_000 + seq, seq, false);
        for ack in before.into_iter().chain(after) {
            acks += 1;
            reported.extend(ack.sack.iter().flat_map(|block| block.start..block.end));
        }
    }
    let last = receiving.receiver.on_timer(&receiving.config, receiving.receiver.deadline()).unwrap();
    reported.extend(last.sack.iter().flat_map(|block| block.start..block.end));
    assert_eq!(reported, (24..96).step_by(2).collect());
    assert_eq!(acks, 35, "those behind the third go with the packet after, as each is a block");
    // Packets of the two blocks that were changed last are held back.
    let mut receiving = Receiving::new(TcpConfig { rules: only(&["sack_compression"]), ..linux() });
    let arrivals = [24, 26, 28, 29, 27, 30];
    let config = receiving.config.clone();
    let first = arrivals.map(|seq| {
        let now = at_us(200_000 + seq);
        let before = receiving.receiver.ack_before(&config, now, &Segment::plain(seq, now));
        receiving.take(200_000 + seq, seq, false);
        before.is_some()
    });
    assert_eq!(first, [false; 6]);
}

/// `tcp_grow_window`, `tcp_rcvbuf_grow`: 23 packets in a round trip, after ten, ask for a window of 165; each packet
/// widens it by two from 56 on.
#[test]
fn linux_acknowledges_at_once_while_the_window_grows() {
    let mut receiving = Receiving::new(TcpConfig { rules: only(&["acks", "receive_buffer"]), ..linux() });
    receiving.take(140_000, 23, false);
    receiving.take(191_501, 24, false); // ends the round trip that the first packet began
    let at_once = (25..200).take_while(|&seq| receiving.take(191_500 + seq, seq, false).is_some()).count();
    assert_eq!(at_once, 54);
    let mut rfc = Receiving::new(TcpConfig { rules: Rules::RFC, ..linux() });
    assert!(rfc.take(191_500, 23, false).is_none());
    assert!(rfc.take(191_501, 24, false).is_some());
    assert!(rfc.take(191_502, 25, false).is_none());
}

/// `TCP_MAX_QUICKACKS`, and `tcp_grow_window` for those before: packets that come slowly are acknowledged at once, as
/// many of them as the buffer that the receiver begins with makes it.
#[test]
fn linux_acknowledges_the_first_packets_at_once() {
    for (buffer, packets) in [(65_536, 19), (131_072, 22), (4 << 20, 904)] {
        let config = TcpConfig { initial_receive_buffer: Bytes(buffer), ..linux() };
        let mut receiving = Receiving { config, receiver: Receiver::new(1) };
        receiving.take(11_000, 0, true);
        let at_once =
            (1..2000).take_while(|&seq| receiving.take(100_000 + 60_000 * seq, seq, false).is_some());
        assert_eq!(at_once.count(), packets, "{buffer} bytes");
    }
}

/// `tcp_cleanup_rbuf`: what a reader reads together is acknowledged together; a packet that comes alone waits for the
/// timer.
#[test]
fn the_last_packet_of_a_burst_waits_for_the_reader_and_not_for_the_timer() {
    for (gap_us, waits_us) in [(12, 50), (49, 50), (50, 40_000), (1200, 40_000)] {
        let mut receiving = Receiving::new(TcpConfig { rules: only(&["acks"]), ..linux() });
        assert!(receiving.take(121_000, 23, false).is_none() && receiving.take(121_100, 24, false).is_some());
        assert!(receiving.take(121_100 + gap_us, 25, false).is_none());
        assert_eq!(receiving.receiver.deadline(), at_us(121_100 + gap_us + waits_us), "{gap_us} us");
        let due = receiving.receiver.deadline();
        assert_eq!(receiving.receiver.on_timer(&receiving.config, due).unwrap().cumulative, 26);
    }
}

/// `tcp_event_data_recv`: after a pause longer than the receiver's own timeout, RTT + 200 ms, ACKs go at once.
#[test]
fn linux_acknowledges_at_once_after_a_pause() {
    for (pause_us, at_once) in [(289_000, false), (291_000, true)] {
        let mut receiving = Receiving::new(TcpConfig { rules: only(&["acks", "receive_buffer"]), ..linux() });
        let mut us = 200_000;
        for seq in 23..=83 {
            receiving.take(us, seq, false); // ten in a round trip: the window has long grown to what twenty asked for
            us += 9_000;
        }
        us += pause_us - 9_000;
        for seq in 84..94 {
            let sent = receiving.take(us, seq, false).is_some();
            assert_eq!(sent, at_once || seq % 2 == 1, "{pause_us} us, packet {seq}");
            us += 1000;
        }
    }
}

/// `tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`: the reader has read all, if nothing waits for what is missing.
#[test]
fn linux_acknowledges_pushed_packets_at_once_where_none_is_missing() {
    for (rules, push, at_once) in [
        (only(&["acks", "sack_compression"]), true, true),
        (only(&["acks", "sack_compression"]), false, false),
        (Rules::RFC, true, false),
    ] {
        let mut receiving = Receiving::new(TcpConfig { rules, ..linux() });
        assert_eq!(receiving.take_pushed(121_000, 23, false, push).is_some(), at_once, "{rules:?}, {push}");
    }
    let mut receiving = Receiving::new(TcpConfig { rules: only(&["acks", "sack_compression"]), ..linux() });
    let sent = [24, 25, 26, 27].map(|seq| receiving.take_pushed(121_000 + seq, seq, false, true).is_some());
    assert_eq!(sent, [true, true, true, false], "behind a hole a push is nothing");
}

/// `__tcp_transmit_skb` pushes what is segmented at once: of the packets sent together, the last of each burst, not one
/// alone.
#[test]
fn linux_pushes_the_last_packet_of_what_is_segmented_at_once() {
    let config = TcpConfig { initial_window: Packets(10), handshake: false, ..linux() };
    let mut sender = sender(&config);
    sender.supply(1000);
    send(&mut sender, &config, at_us(0));
    sender.on_ack(&config, at_us(100_000), &ack(3, at_us(100_000), 100_000, Range::default()));
    let pushed = |numbers: &[u64]| -> Vec<u64> {
        let mut bursts = sender.bursts(&config);
        let next = numbers.iter().copied().skip(1).map(Some).chain([None]);
        numbers
            .iter()
            .copied()
            .zip(next)
            .filter(|&(packet, next)| bursts.push(packet, next))
            .map(|(n, _)| n)
            .collect()
    };
    assert_eq!(pushed(&[11, 12]), [12]);
    // Twice the window of 12 in 100 ms: two go together.
    assert_eq!(pushed(&[11, 12, 13, 14, 15]), [12, 14], "one that is left goes alone");
    assert_eq!(pushed(&[11, 20, 21]), [21], "what does not follow is another burst");
    assert_eq!(pushed(&[45, 46, 47]), [47], "a buffer of the application ends with 45");
}

/// `tcp_cwnd_test`: what is segmented at once is half of the window at most, so that packets of a window of three go
/// one by one.
#[test]
fn linux_pushes_no_pair_where_the_window_is_below_four() {
    for (window, pair) in [(2, false), (3, false), (4, true)] {
        let config = TcpConfig { initial_window: Packets(window), handshake: false, ..linux() };
        let mut sender = sender(&config);
        sender.supply(1000);
        assert_eq!(send(&mut sender, &config, at_us(0)), window as usize);
        assert_eq!(sender.segments_together(1, 2), pair);
        let mut bursts = sender.bursts(&config);
        assert_eq!([(1, Some(2)), (2, None)].map(|(packet, next)| bursts.push(packet, next)), [false, pair]);
    }
}

/// 200 packets at 0, of which two are acknowledged each `gap_us` from 10 ms on: what is sent at each ACK.
fn bursts(rules: Rules, gap_us: u64) -> Vec<usize> {
    let window = Some(Packets(200));
    let config = TcpConfig {
        rules,
        initial_window: Packets(200),
        initial_ssthresh: window,
        handshake: false,
        ..linux()
    };
    let mut sender = sender(&config);
    sender.supply(10_000);
    assert_eq!(send(&mut sender, &config, at_us(0)), 200);
    (1..60u64)
        .map(|n| {
            let now = at_us(10_000 + gap_us * n);
            sender.on_ack(&config, now, &ack(1 + 2 * n, now, 10_000, Range::default()));
            send(&mut sender, &config, now)
        })
        .collect()
}

/// Of what was sent so long ago.
fn ack(cumulative: u64, now: Instant, rtt_us: u64, sacked: Range) -> Ack {
    let echo = Instant::from_ps(now.as_ps() - rtt_us * 1_000_000);
    let (echo_retransmission, congestion_echo, syn) = (false, false, false);
    Ack {
        cumulative,
        sent: now,
        echo,
        echo_retransmission,
        congestion_echo,
        syn,
        sack: [sacked, Range::default(), Range::default()],
        window: NO_WINDOW,
    }
}

fn send(sender: &mut Sender, config: &TcpConfig, now: Instant) -> usize {
    match sender.burst(config, now) {
        Some(packets) => (0..packets).map(|_| sender.transmit_next(config, now)).count(),
        None => std::iter::from_fn(|| sender.poll_transmit(config, now)).count(),
    }
}

/// `tcp_tso_should_defer`: 23 packets go in 1/1024 s at 1.2 times the window a round trip; fewer wait, while ACKs come
/// within a millisecond.
#[test]
fn linux_waits_until_a_whole_burst_has_room() {
    let sent = bursts(only(&["bursts"]), 100);
    assert_eq!(sent[0], 2, "nothing was sent for a millisecond");
    assert!(sent.iter().filter(|&&packets| packets == 0).count() > 45, "{sent:?}");
    // What ends a buffer of the application's goes as well.
    assert!(sent[1..].iter().all(|&packets| [0, 1, 22, 23].contains(&packets)), "{sent:?}");
    assert!(sent.iter().sum::<usize>() >= 90, "{sent:?}");
    assert!(bursts(Rules::RFC, 100).iter().all(|&packets| packets <= 3));
    assert!(bursts(only(&["bursts"]), 1100).iter().all(|&packets| packets <= 3), "ACKs come too late");
}

/// Ten packets at 0; the first is lost. SACKs of packets that were sent before it was sent again put its timeout off,
/// and give samples (`tcp_clean_rtx_queue`, `tcp_ack_update_rtt`).
#[test]
fn sacks_of_what_was_sent_before_put_the_timeout_off_in_linux() {
    for rules in [Rules::RFC, only(&["loss_timers", "rtt_estimate"])] {
        let config = TcpConfig { rules, initial_window: Packets(10), handshake: false, ..linux() };
        let mut sender = sender(&config);
        sender.supply(100);
        send(&mut sender, &config, at_us(0));
        let mut heard = |ms: u64| {
            let now = at_us(1000 * ms);
            let sacked = Range { start: 2, end: ms - 100 + 3 };
            sender.on_ack(&config, now, &ack(1, now, 1000 * ms, sacked));
            send(&mut sender, &config, now);
            (sender.rto_deadline(), sender.srtt())
        };
        for ms in 100..103 {
            heard(ms);
        }
        let (before, after) = (heard(104), heard(107));
        assert_eq!(
            after.0 > before.0,
            rules == only(&["loss_timers", "rtt_estimate"]),
            "{rules:?}: {before:?}, {after:?}"
        );
        assert_eq!(after.1.is_some(), rules == only(&["loss_timers", "rtt_estimate"]));
    }
}

/// Sixty round trips of 300 ms; in each, half of ten packets are acknowledged at its beginning, and half 10 ms later.
/// For how many ms the probe waits after the first ACK of the last one, with or without data to send.
fn probe_waits_ms(rules: Rules, with_data: bool) -> u64 {
    let rto_floor = RtoFloor::Variation;
    let (initial_window, initial_ssthresh) = (Packets(10), Some(Packets(10)));
    let config =
        TcpConfig { rules, rto_floor, initial_window, initial_ssthresh, handshake: false, ..linux() };
    let mut sender = sender(&config);
    sender.supply(10);
    send(&mut sender, &config, at_us(0));
    for round in 1..=60 {
        for half in 0..2 {
            let now = at_us(300_000 * round + 10_000 * half);
            let last = (round, half) == (60, 0);
            if !last || with_data {
                sender.supply(5);
            }
            let cumulative = 1 + 10 * (round - 1) + 5 * (half + 1);
            sender.on_ack(&config, now, &ack(cumulative, now, 300_000, Range::default()));
            send(&mut sender, &config, now);
            if last {
                return sender.rto_deadline().since(now).as_ps() / 1_000_000_000;
            }
        }
    }
    unreachable!("the last round returns")
}

/// `tcp_schedule_loss_probe`: two RTTs and 2 ms, but no more than the timeout of 500 ms; after a transmission that of
/// the first packet counts, which was sent 290 ms before.
#[test]
fn the_probe_waits_no_longer_than_the_timeout_of_the_first_packet_in_linux() {
    assert_eq!(probe_waits_ms(only(&["loss_timers"]), true), 210);
    assert_eq!(probe_waits_ms(only(&["loss_timers"]), false), 500);
    assert_eq!(probe_waits_ms(Rules::RFC, true), 500);
}

/// Forty packets that pacing spaces over 10 ms, of which four are lost: what goes together after the SACKs of all
/// others.
fn repairs(rules: Rules) -> Vec<Vec<u64>> {
    let config = TcpConfig { rules, pacing: true, initial_window: Packets(40), handshake: false, ..linux() };
    let mut sender = sender(&config);
    sender.supply(1000);
    let mut now = at_us(0);
    while sender.max() < 41 {
        send(&mut sender, &config, now);
        now = sender.pacing_deadline().min(now + Duration::from_millis(2)); // no part of a burst waits so long
    }
    now = at_us(100_000);
    for sacked in [2..5, 6..8, 10..12, 13..41].map(|part| Range { start: part.start, end: part.end }) {
        sender.on_ack(&config, now, &ack(2, now, 100_000, sacked));
    }
    let mut together = Vec::new();
    while now < Instant::MAX && together.len() < 6 {
        let sent = std::iter::from_fn(|| sender.poll_transmit(&config, now).map(|segment| segment.seq));
        together.push(sent.collect());
        now = sender.pacing_deadline();
    }
    together
}

/// `tcp_xmit_retransmit_queue` asks `tcp_pacing_check` for each buffer, and SACKs have split them: holes are repaired
/// one by one, and what is new goes by itself.
#[test]
fn linux_paces_each_hole_by_itself() {
    let linux = repairs(only(&["bursts"]));
    assert_eq!(linux[..3], [vec![5], vec![8, 9], vec![12]], "{linux:?}");
    assert!(linux[3][0] == 41 && linux[3].len() > 1, "{linux:?}");
    let rfc = repairs(Rules::RFC);
    assert_eq!(rfc[..4], [vec![5], vec![8], vec![9], vec![12]], "{rfc:?}");
}

/// Of packets that come `gap_us` after each other, from the first after 200 ms on: how long each one that was
/// acknowledged alone had waited, ms.
fn waits_ms(rules: Rules, gap_us: u64, tick: Option<Duration>) -> Vec<u64> {
    let mut receiving = Receiving::new(TcpConfig { timer_tick: tick, ..linux() });
    receiving.config.rules = rules;
    let mut waited = Vec::new();
    for seq in 23..120 {
        let came = at_us(200_000 + gap_us * (seq - 23));
        while receiving.receiver.deadline() < came {
            let due = receiving.receiver.deadline();
            let before = at_us(200_000 + gap_us * (seq - 24));
            if receiving.receiver.on_timer(&receiving.config, due).is_some() {
                waited.push(due.since(before).as_ps() / 1_000_000_000);
            }
        }
        receiving.take(200_000 + gap_us * (seq - 23), seq, false);
    }
    waited
}

/// `tcp_delack_timer_handler`, `tcp_event_data_recv`: after an ACK that went alone the next ones wait twice as long,
/// but not longer than the handshake took, 90 ms.
#[test]
fn acks_wait_longer_in_linux_where_packets_come_slowly() {
    assert!(waits_ms(only(&["acks"]), 15_000, None).is_empty(), "each second packet is in time");
    assert!(waits_ms(only(&["acks"]), 30_000, None).is_empty());
    assert_eq!(
        waits_ms(only(&["acks"]), 60_000, None),
        [40, 40],
        "others wait for 80 ms, but after ACKs at once"
    );
    let alone = waits_ms(only(&["acks"]), 100_000, None);
    assert_eq!(alone[..4], [40, 40, 80, 90]);
    assert!(alone[4..].iter().all(|&wait| wait == 90) && alone.len() > 40, "{alone:?}");
    assert!(waits_ms(Rules::RFC, 60_000, None).iter().all(|&wait| wait == 40));
}

/// `calc_wheel_index`: the timer of a delayed ACK expires at a tick.
#[test]
fn delayed_acks_go_at_ticks_of_the_clock() {
    for rules in [Rules::RFC, only(&["acks"])] {
        let waits = waits_ms(rules, 103_000, Some(Duration::from_millis(4)));
        assert!(waits.iter().any(|wait| wait % 4 != 0), "packets do not come at ticks: {waits:?}");
        let shortest = *waits.iter().min().unwrap();
        assert!((40..=44).contains(&shortest), "{waits:?}");
    }
}
