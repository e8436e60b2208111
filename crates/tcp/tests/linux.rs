//! What the TCP of Linux does where the RFCs say something else: `rules = "linux"` beside `"rfc"`, on a path that loses
//! what a test tells it to.

mod path;

use parshall_congestion::CongestionControl;
use parshall_tcp::ranges::Range;
use parshall_tcp::segment::NO_SACK;
use parshall_tcp::sender::Phase;
use parshall_tcp::{Ack, Recovery, Rules, Sender, TcpConfig};
use parshall_units::{Duration, Instant, Packets};
use path::{ack, config, milliseconds, only, sender, Path};

/// RFC 5681 §3.1 eq. (4) reduces what is in flight, Linux the window; an application that uses little of it tells them
/// apart.
#[test]
fn after_a_timeout_linux_keeps_half_of_the_window_and_the_rfcs_half_of_the_flight() {
    for (rules, ssthresh) in [(Rules::RFC, 2.0), (only(&["loss_response"]), 5.0)] {
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
    for (rules, window) in [(Rules::RFC, 10.0), (only(&["window_growth"]), 12.0)] {
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
        let mut hear = |ms, cumulative, sacked| {
            let sack = [sacked, Range::default(), Range::default()];
            sender.on_ack(&config, at(ms), &ack(at(ms), Instant::ZERO, cumulative, sack));
        };
        hear(100, 1, Range { start: 2, end: 4 });
        hear(101, 5, Range::default()); // packet 1 was late, not lost
        sender.control().window()
    };
    assert_eq!(grown(Rules::RFC), 8.0);
    assert_eq!(grown(only(&["window_growth"])), 6.0);
}

/// Without SACK a duplicate ACK says that a packet arrived: in Linux the ACK after it counts the others only, whatever
/// came before (`tcp_add_reno_sack`, `tcp_remove_reno_sacks`). RFC 5681 knows no packets behind a hole.
#[test]
fn what_duplicate_acks_said_counts_once_in_linux() {
    for recovery in [Recovery::Tahoe, Recovery::Reno, Recovery::NewReno] {
        for (duplicates, acked) in
            (0..=2).flat_map(|duplicates| (1..=8).map(move |acked| (duplicates, acked)))
        {
            let grown = |rules| {
                let config = TcpConfig { rules, initial_window: Packets(10), ..config(recovery) };
                let mut sender = sender(&config);
                sender.supply(100);
                let at = |ms| Instant::ZERO + Duration::from_millis(ms);
                let mut hear = |ms, cumulative| {
                    while sender.poll_transmit(&config, at(ms)).is_some() {}
                    sender.on_ack(&config, at(ms), &ack(at(ms), Instant::ZERO, cumulative, NO_SACK));
                    sender.control().window() - 10.0
                };
                (0..duplicates).for_each(|number| assert_eq!(hear(100 + number, 1), 0.0));
                hear(110, 1 + acked)
            };
            let case = format!("{recovery:?}: {duplicates} duplicates, {acked} acknowledged");
            assert_eq!(grown(Rules::RFC), acked as f64, "{case}");
            assert_eq!(
                grown(only(&["window_growth"])),
                acked.saturating_sub(duplicates).max(1) as f64,
                "{case}"
            );
        }
    }
}

/// Ten packets of a window of ten, the first of which comes marked: the RFCs' sender waits until half of them are
/// acknowledged, Linux's sends one for every second ACK, until five are out (`tcp_cwnd_reduction`). Both have a window
/// of five then.
#[test]
fn after_an_ecn_echo_linux_reduces_step_by_step() {
    for (rules, steps) in [
        (Rules::RFC, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]),
        (only(&["recovery_rate"]), [1, 0, 1, 0, 1, 0, 1, 0, 0, 1]),
    ] {
        let config = TcpConfig {
            rules,
            initial_window: Packets(10),
            ecn: true,
            prr: true,
            pacing: false,
            ..config(Recovery::Rack)
        };
        let mut sender = sender(&config);
        sender.supply(100);
        let pump = |sender: &mut Sender, now| {
            let mut sent = 0;
            while sender.poll_transmit(&config, now).is_some() {
                sent += 1;
            }
            sent
        };
        assert_eq!(pump(&mut sender, Instant::ZERO), 10);
        let sent: Vec<u64> = (1..=10)
            .map(|acknowledged| {
                let now = Instant::ZERO + Duration::from_millis(100 + acknowledged);
                let heard = ack(now, Instant::ZERO, acknowledged + 1, [Range::default(); 3]);
                sender.on_ack(&config, now, &Ack { congestion_echo: true, ..heard });
                pump(&mut sender, now)
            })
            .collect();
        assert_eq!(sent, steps, "{rules:?}");
        assert_eq!(sender.control().window(), 5.0);
    }
}

/// Packet 1 is lost, and its retransmission, and packet 11, which was sent after that; both are sent again. When packet
/// 1 arrives at last, packet 11 is under way still: Linux takes it for another congestion event
/// (`tcp_time_to_recover`).
#[test]
fn a_loss_during_a_recovery_is_answered_by_linux_when_that_ends() {
    let events = |rules| {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut sender = sender(&config);
        sender.supply(100);
        let mut sent = Vec::new();
        let mut at = |ms: u64, heard: Option<(u64, [(u64, u64); 2])>| {
            let now = Instant::ZERO + Duration::from_millis(ms);
            if let Some((cumulative, blocks)) = heard {
                let [first, second] = blocks.map(|(start, end)| Range { start, end });
                let echo = Instant::ZERO + Duration::from_millis(ms - 100);
                sender.on_ack(&config, now, &ack(now, echo, cumulative, [first, second, Range::default()]));
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
    assert_eq!((events(Rules::RFC), events(only(&["loss_response"]))), (1, 2));
}

/// Ten packets of a window of ten; the first is lost, and sent again in vain.
#[test]
fn a_timeout_in_a_recovery_reduces_no_further_in_linux() {
    let config =
        TcpConfig { rules: only(&["loss_response"]), initial_window: Packets(10), ..config(Recovery::Rack) };
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
    for (rules, window) in [(Rules::RFC, 1.0), (only(&["loss_response"]), 3.0)] {
        let path = timeout_of_a_lost_probe(rules, &[]);
        assert_eq!(path.sender.control().window(), window, "{rules:?}");
    }
}

/// `tcp_ecn_clear_syn`.
#[test]
fn after_a_lost_syn_linux_has_no_ecn() {
    for (rules, has_ecn) in [(Rules::RFC, true), (only(&["opening"]), false)] {
        let config = TcpConfig { ecn: true, handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 4).losing(&[0]);
        path.run();
        assert!(path.sent[1].syn && path.sent[1].cwr == has_ecn, "{rules:?}");
        assert!(path.sent[2..].iter().all(|segment| segment.ecn_capable == has_ecn), "{rules:?}");
    }
}

/// What the timeout sends is lost; what was sent just before it arrives, and so the timeout is taken back (F-RTO). What
/// is sent then finds the loss.
#[test]
fn a_retransmission_lost_after_a_timeout_is_answered_by_linux() {
    let mut path = timeout_of_a_lost_probe(only(&["loss_response", "undo"]), &[9]);
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
        self.sender.on_ack(&self.config, at(ms), &ack(at(ms), at(echo), cumulative, sack));
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
    for rules in [Rules::RFC, only(&["undo"])] {
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
        let after = if rules == only(&["undo"]) { (10.0, f64::INFINITY) } else { before };
        assert_eq!(late.windows(), after, "{rules:?}");
    }
}

/// The ACK of packet 1 says that its first copy has come: it echoes what was sent before the retransmission (Eifel).
#[test]
fn a_recovery_of_a_packet_that_was_late_is_undone_by_linux_if_its_echo_says_so() {
    let windows = (11.0, f64::INFINITY); // by the ACK a packet more
    for (rules, after) in
        [(Rules::RFC, (Phase::Recovery, (5.0, 5.0))), (only(&["undo"]), (Phase::Open, windows))]
    {
        let mut late = Late::new(rules);
        for sacked in 3..=11 {
            late.ack((100 + sacked, 0), 1, &[(2, sacked)]);
        }
        late.ack((120, 0), 11, &[]);
        assert_eq!((late.sender.phase(), late.windows()), after, "{rules:?}");
    }
}

/// The network holds all packets back until the timer has expired; then their ACKs come, the first one with the echo of
/// its first copy.
#[test]
fn a_timeout_of_packets_that_were_late_is_undone_by_linux() {
    let mut late = Late::new(only(&["undo"]));
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

/// Without timestamps: an ACK of new data lets new data go; that of a packet that was sent once ends the matter (F-RTO,
/// RFC 5682).
#[test]
fn without_timestamps_new_data_finds_out_whether_a_timeout_was_needless() {
    let mut late = Late::new(only(&["undo"]));
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
    let mut late = Late::new(only(&["undo"]));
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
    for (rules, seconds) in
        [(Rules::RFC, [0, 1, 3, 7, 15, 31, 63]), (only(&["opening"]), [0, 1, 2, 3, 4, 5, 7])]
    {
        let config = TcpConfig { handshake: true, rules, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 1).losing(&[0, 1, 2, 3, 4, 5]);
        path.run();
        let syns: Vec<_> = path.sent.iter().filter(|segment| segment.syn).map(|syn| syn.sent).collect();
        assert_eq!(syns, seconds.map(|s| Instant::ZERO + Duration::from_secs(s)), "{rules:?}");
    }
}

/// RFC 6298 (5.7) has no sample of a SYN that was sent again, and 3 s for the data; Linux looks at its timestamp
/// (`tcp_ack_update_rtt`).
#[test]
fn a_syn_that_was_sent_again_gives_linux_a_sample() {
    for (rules, timeout) in [(Rules::RFC, 3000), (only(&["opening"]), 300)] {
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
    for (rules, cuts) in [(Rules::RFC, [true, true]), (only(&["opening"]), [false, true])] {
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

/// `tcp_try_undo_spurious_syn`: the timestamp that the SYN-ACK echoes says that the first SYN was not lost, however
/// many timeouts there were.
#[test]
fn linux_undoes_the_cut_for_syns_that_were_only_late() {
    let timeouts = [120, 60, 45, 30, 15];
    for (rules, timestamps, lost, timeout) in [Rules::RFC, only(&["opening"])]
        .into_iter()
        .flat_map(|rules| [true, false].map(|timestamps| (rules, timestamps)))
        .flat_map(|(rules, timestamps)| {
            [vec![], vec![0], vec![1], vec![0, 1]].map(|lost| (rules, timestamps, lost))
        })
        .flat_map(|(rules, timestamps, lost)| {
            timeouts.map(|timeout| (rules, timestamps, lost.clone(), timeout))
        })
    {
        let initial_rto = Duration::from_millis(timeout);
        let config = TcpConfig { handshake: true, rules, timestamps, initial_rto, ..config(Recovery::Rack) };
        let mut path = Path::new(config, 1).losing(&lost);
        path.pump();
        while path.sender.phase() == Phase::Connecting {
            assert!(path.step());
        }
        let cut = path.sender.statistics().timeouts >= 2;
        let undone = rules == only(&["opening"]) && timestamps && cut && !lost.contains(&0);
        let case = format!("{rules:?}, timestamps {timestamps}, lost {lost:?}, after {timeout} ms");
        assert_eq!(path.sender.take_needless_cut(), undone, "{case}");
        assert!(!path.sender.take_needless_cut(), "{case}: once");
    }
}

/// `tcp_schedule_loss_probe`: the least timeout, here 300 ms, for the delayed ACK of a packet that is alone, but no
/// later than the retransmission timeout; 2 ms otherwise.
#[test]
fn the_probe_of_linux_waits_longer() {
    for (rules, packets, at) in [
        (Rules::RFC, 1, 340),
        (only(&["loss_timers"]), 1, 400),
        (Rules::RFC, 2, 300),
        (only(&["loss_timers"]), 2, 302),
    ] {
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

/// `calc_wheel_index`, with a tick of 4 ms: a SYN's timeout of 1001 ms, 251 ticks, expires in a step of eight ticks; a
/// probe that is due at 302 ms, 51 ticks after the ACK of 100 ms, a tick after these; one of a single packet that is
/// due at 401 ms, 76 ticks after it, in a step of eight.
#[test]
fn timers_expire_at_ticks() {
    let min_rto = Duration::from_millis(301);
    let timer_tick = Some(Duration::from_millis(4));
    let linux = TcpConfig { rules: Rules::LINUX, min_rto, timer_tick, ..config(Recovery::Rack) };
    for (packets, at) in [(2, 308), (1, 416)] {
        let mut path =
            Path::new(TcpConfig { initial_window: Packets(10), ..linux.clone() }, 6).losing(&[6, 7]);
        path.run();
        path.sender.supply(packets);
        path.run();
        let probe = path.sent.iter().find(|segment| segment.retransmission).unwrap();
        assert_eq!(milliseconds(probe.sent), at, "{packets} packets");
    }
    let mut path =
        Path::new(TcpConfig { handshake: true, initial_rto: Duration::from_millis(1001), ..linux }, 1)
            .losing(&[0]);
    path.run();
    assert_eq!(milliseconds(path.sent[1].sent), 1024);
}

/// The sixth packet is reported before the fifth, which is in doubt for a quarter of the RTT (`tcp_rack_mark_lost`).
#[test]
fn the_timer_of_linux_for_packets_in_doubt_waits_longer() {
    let deadline = |rules| {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 6).losing(&[4]);
        path.pump();
        while path.sender.flight() > 2 || !path.acks.is_empty() {
            path.step();
        }
        path.sender.rto_deadline()
    };
    assert_eq!(deadline(only(&["loss_detection"])), deadline(Rules::RFC) + Duration::from_millis(2));
}

/// Sixteen packets are acknowledged at once, two together, and the last one: `tcp_measure_rcv_mss`, `tcp_cleanup_rbuf`.
#[test]
fn in_linux_the_last_packet_of_a_transfer_is_acknowledged_at_once() {
    for (rules, end) in [(Rules::RFC, 140), (only(&["acks"]), 100)] {
        let delayed_ack = Some(Duration::from_millis(40));
        let config = TcpConfig { rules, delayed_ack, initial_window: Packets(20), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 19);
        path.run();
        assert_eq!(
            (milliseconds(path.now), path.acks_sent),
            (end, if rules == only(&["acks"]) { 18 } else { 10 })
        );
    }
}

/// All of a window is lost, and the probe. The ACK of what the timeout sends lets new data go before the rest of it:
/// `tcp_process_loss`, RFC 5682 §3.1.
#[test]
fn after_a_timeout_linux_sends_new_data_before_what_is_lost() {
    for (rules, next) in [(Rules::RFC, [2, 3]), (only(&["undo"]), [12, 13])] {
        let config = TcpConfig { rules, initial_window: Packets(10), ..config(Recovery::Rack) };
        let mut path = Path::new(config, 30).losing(&(0..11).collect::<Vec<_>>());
        path.run();
        let sent: Vec<_> = path.sent.iter().map(|segment| segment.seq).collect();
        assert_eq!(path.sender.statistics().timeouts, 1);
        assert_eq!(sent[10..14], [&[11, 1], &next[..]].concat(), "{rules:?}");
    }
    // Without new data nothing waits.
    let config = TcpConfig { rules: only(&["undo"]), initial_window: Packets(10), ..config(Recovery::Rack) };
    let mut path = Path::new(config, 10).losing(&(0..11).collect::<Vec<_>>());
    path.run();
    let sent: Vec<_> = path.sent.iter().map(|segment| segment.seq).collect();
    assert_eq!(sent[10..14], [10, 1, 2, 3]);
}
