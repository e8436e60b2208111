//! Tests of the runner on scripts of its own: what passes, the first difference, why a script does not apply, and any
//! events.

use crate::driver::{run, Verdict};
use crate::parser::parse;
use parshall_tcp::Rules;
use proptest::prelude::*;
use std::path::Path;

/// A connection that a peer with an MSS of 1000 bytes and an RTT of 50 ms has opened.
const OPEN: &str = "\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 listen(3, 1) = 0
+0 < S 700:700(0) win 60000 <mss 1000,sackOK,nop,wscale 7>
+0 > S. 0:0(0) ack 701 <...>
+.05 < . 701:701(0) ack 1 win 500
+0 accept(3, ..., ...) = 4
";

fn verdict(events: &str) -> Verdict {
    let text = format!("{OPEN}{events}");
    let script = parse(&text).unwrap_or_else(|problem| panic!("{problem}"));
    run(&script, Path::new("/nowhere"), Rules::LINUX)
}

fn passes(events: &str) {
    match verdict(events) {
        Verdict::Passed(missing) => assert!(missing.is_empty(), "{missing:?}"),
        other => panic!("{events}\n{other:?}"),
    }
}

fn fails(events: &str, line: usize, part: &str) {
    match verdict(events) {
        Verdict::Failed(at, text) => {
            assert_eq!(at, line + OPEN.lines().count(), "{text}");
            assert!(text.contains(part), "{text}");
        }
        other => panic!("{events}\n{other:?}"),
    }
}

#[test]
fn packets_of_one_mss_are_the_bytes_of_larger_lines() {
    passes(
        "+0 write(4, ..., 12500) = 12500\n+0 > . 1:4001(4000) ack 701\n+0 > P. 4001:10001(6000) ack 701\n\
         +.05 < . 701:701(0) ack 10001 win 500\n+0 > P. 10001:12501(2500) ack 701",
    );
}

#[test]
fn the_first_difference_has_its_line() {
    let write = "+0 write(4, ..., 3000) = 3000\n";
    fails(&format!("{write}+0 > P. 1:5001(5000) ack 701"), 2, "3000 bytes of it were sent, and no more");
    fails(&format!("{write}+0 > P. 1001:3001(2000) ack 701"), 2, "sent . 1:1001(1000) ack 701 at 0.0500 s");
    fails(&format!("{write}+0 > P. 1:3001(3000) ack 702"), 2, "another ack");
    fails(&format!("{write}+0 > E. 1:3001(3000) ack 701"), 2, "other ECN flags");
    fails(&format!("{write}+0 > F. 1:3001(3000) ack 701"), 2, "expected F.");
    fails(&format!("{write}+0 > [ect0] P. 1:3001(3000) ack 701"), 2, "not ECN-capable");
    fails(&format!("{write}+0 %{{ assert tcpi_unacked == 2 }}%"), 2, "tcpi_unacked is 3");
    fails("+0 > . 1:1(0) ack 701", 1, "nothing was sent");
    fails("+0 read(4, ..., 10) = 10", 1, "10 bytes are read of 0");
}

#[test]
fn packets_have_their_time_within_the_tolerance() {
    // A loss probe, in the place of the timeout, which is SRTT + 200 ms; 12.5 % of 230 ms are 29 ms.
    let probe = |time: &str| {
        format!(
            "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 701\n{time} > P. 1:1001(1000) ack 701"
        )
    };
    for time in ["+.25", "+.23", "+.28", "+.1~+.3", "*", "0.3"] {
        passes(&probe(time));
    }
    fails(&probe("+.2"), 3, "nothing was sent");
    fails(&probe("+.31"), 3, "sent it at 0.3000 s");
}

#[test]
fn reports_count_whole_packets_and_windows_hold_the_sender_back() {
    passes(
        "+0 write(4, ..., 4000) = 4000\n+0 > P. 1:4001(4000) ack 701\n\
         +.05 < . 701:701(0) ack 1 win 500 <sack 1001:1900>\n+0 %{ assert tcpi_sacked == 0 }%\n\
         +0 < . 701:701(0) ack 1 win 500 <sack 1001:2100>\n+0 %{ assert tcpi_sacked == 1 }%",
    );
    passes(
        "+0 write(4, ..., 8000) = 8000\n+0 > P. 1:8001(8000) ack 701\n+.05 < . 701:701(0) ack 8001 win 15\n\
         +0 write(4, ..., 3000) = 3000\n+0 > . 8001:9001(1000) ack 701\n+.05 < . 701:701(0) ack 9001 win 16\n\
         +0 > P. 9001:11001(2000) ack 701",
    );
}

#[test]
fn losses_are_counted_as_linux_counts_them() {
    // Three SACKed packets: the first is lost, and sent again, which does not make it arrive.
    let lost = "+0 write(4, ..., 4000) = 4000\n+0 > P. 1:4001(4000) ack 701\n\
         +.05 < . 701:701(0) ack 1 win 500 <sack 1001:3001>\n\
         +0 %{ assert tcpi_ca_state == TCP_CA_Disorder and tcpi_lost == 0 and tcpi_sacked == 2 }%\n\
         +0 < . 701:701(0) ack 1 win 500 <sack 1001:4001>\n+0 > . 1:1001(1000) ack 701\n\
         +0 %{ assert tcpi_ca_state == TCP_CA_Recovery and tcpi_lost == 1 and tcpi_retrans == 1 and tcpi_sacked == 3 }%\n";
    passes(&format!(
        "{lost}+.05 < . 701:701(0) ack 4001 win 500\n\
         +0 %{{ assert tcpi_ca_state == TCP_CA_Open and tcpi_lost == tcpi_retrans == tcpi_sacked == tcpi_unacked == 0 }}%"
    ));
    // A loss probe is sent again, and is not lost; the timeout after it finds all lost.
    passes(
        "+0 write(4, ..., 1000) = 1000\n+0 > P. 1:1001(1000) ack 701\n+.25 > P. 1:1001(1000) ack 701\n\
         +0 %{ assert tcpi_lost == 0 and tcpi_retrans == 1 and tcpi_ca_state == TCP_CA_Open }%\n\
         +.25 > P. 1:1001(1000) ack 701\n+0 %{ assert tcpi_lost == 1 and tcpi_ca_state == TCP_CA_Loss }%",
    );
}

#[test]
fn an_ack_that_was_overtaken_tells_of_what_it_sacks() {
    passes(
        "+0 write(4, ..., 9000) = 9000\n+0 > P. 1:9001(9000) ack 701\n+.05 < . 701:701(0) ack 2001 win 500\n\
         +0 < . 701:701(0) ack 1001 win 500 <sack 3001:5001>\n+0 %{ assert tcpi_sacked == 2 }%\n\
         +0 < . 701:701(0) ack 1 win 500 <sack 1001:2001>\n+0 %{ assert tcpi_sacked == 2 }%",
    );
}

/// `tcp_ack`, at `old_ack`: "If data was DSACKed, see if we can undo a cwnd reduction."
#[test]
fn an_ack_that_was_overtaken_tells_of_duplicates() {
    passes(
        "+0 write(4, ..., 9000) = 9000\n+0 > P. 1:9001(9000) ack 701\n\
         +.05 < . 701:701(0) ack 1 win 500 <sack 1001:4001>\n+0 > . 1:1001(1000) ack 701\n\
         +0 < . 701:701(0) ack 6001 win 500\n+0 %{ assert tcpi_ca_state == TCP_CA_Recovery }%\n\
         +0 < . 701:701(0) ack 5001 win 500 <sack 1:1001>\n\
         +0 %{ assert tcpi_ca_state == TCP_CA_Open and tcpi_snd_cwnd == 10 }%",
    );
}

/// `tcp_may_raise_cwnd`: where a packet came more than three behind others, the window grows by what is SACKed, too.
#[test]
fn the_window_grows_out_of_order_where_packets_come_far_behind_others() {
    let events = |behind: &str| {
        format!(
            "+0 write(4, ..., 10000) = 10000\n+0 > P. 1:10001(10000) ack 701\n\
             +.05 < . 701:701(0) ack 1 win 500 <sack 5001:6001>\n+0 %{{ assert tcpi_snd_cwnd == 10 }}%\n\
             +.001 < . 701:701(0) ack 1 win 500 <sack {behind} 5001:6001>\n"
        )
    };
    passes(&format!("{}+0 %{{ assert tcpi_snd_cwnd == 11 }}%", events("1001:2001")));
    passes(&format!("{}+0 %{{ assert tcpi_snd_cwnd == 10 }}%", events("3001:4001")));
}

#[test]
fn what_arrives_is_acknowledged_with_blocks_of_bytes() {
    // The first 16 ACKs go at once, that of a hole and that which closes it among them; then ACKs wait.
    let quick = (0..14).map(|number| 2201 + 10 * number).fold(String::new(), |script, at| {
        format!("{script}+0 < P. {at}:{end}(10) ack 1 win 500\n+0 > . 1:1(0) ack {end}\n", end = at + 10)
    });
    passes(&format!(
        "+0 < P. 1701:2201(500) ack 1 win 500\n+0 > . 1:1(0) ack 701 <nop,nop,sack 1701:2201>\n\
         +0 < P. 701:1701(1000) ack 1 win 500\n+0 > . 1:1(0) ack 2201\n+0 read(4, ..., 1500) = 1500\n{quick}\
         +.001 < P. 2341:2441(100) ack 1 win 500\n+.04 > . 1:1(0) ack 2441\n\
         +0 < P. 2441:2541(100) ack 1 win 500\n+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 2541\n\
         +0 < F. 2541:2541(0) ack 11 win 500\n+0 > . 11:11(0) ack 2542\n+0 close(4) = 0\n+0 > F. 11:11(0) ack 2542",
    ));
}

#[test]
fn packets_below_the_mss_wait_unless_told_not_to() {
    let small = |events: &str| {
        format!("{events}+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 701\n+0 write(4, ..., 10) = 10\n")
    };
    passes(&format!("{}+.05 < . 701:701(0) ack 11 win 500\n+0 > P. 11:21(10) ack 701", small("")));
    let at_once = small("+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n");
    passes(&format!("{at_once}+0 > P. 11:21(10) ack 701"));
}

#[test]
fn an_option_of_the_socket_may_come_before_it_is_connected() {
    let script = "0 socket(...) = 4\n+0 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0\n\
        +0 ... 0.05 connect(4, ..., ...) = 0\n+0 > S 0:0(0) <...>\n\
        +.05 < S. 0:0(0) ack 1 win 60000 <mss 1000,sackOK>\n+0 > . 1:1(0) ack 1\n+0 write(4, ..., 10) = 10\n\
        +0 > P. 1:11(10) ack 1\n+0 write(4, ..., 10) = 10\n+0 > P. 11:21(10) ack 1";
    let verdict = run(&parse(script).unwrap(), Path::new("/nowhere"), Rules::LINUX);
    assert!(matches!(&verdict, Verdict::Passed(missing) if missing.is_empty()), "{verdict:?}");
}

#[test]
fn data_with_an_old_ack_is_taken() {
    passes("+0 < . 701:1701(1000) win 500\n+0 > . 1:1(0) ack 1701");
}

#[test]
fn timestamps_of_the_script_are_times_of_packets() {
    let script = "0 socket(...) = 3\n+0 listen(3, 1) = 0\n\
        +0 < S 0:0(0) win 60000 <mss 1000,sackOK,TS val 1 ecr 0,wscale 7>\n+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 900 ecr 1,wscale 8>\n\
        +.05 < . 1:1(0) ack 1 win 500 <nop,nop,TS val 2 ecr 900>\n+0 accept(3, ..., ...) = 4\n+0 write(4, ..., 988) = 988\n\
        +0 > P. 1:989(988) ack 1 <nop,nop,TS val 950 ecr 2>\n+.03 < . 1:1(0) ack 989 win 500 <nop,nop,TS val 3 ecr 950>\n\
        +0 %{ assert tcpi_min_rtt == 30000 and tcpi_snd_mss == 988 and tcpi_options == 7 }%";
    let verdict = run(&parse(script).unwrap(), Path::new("/nowhere"), Rules::LINUX);
    assert!(matches!(&verdict, Verdict::Passed(missing) if missing.is_empty()), "{verdict:?}");
}

#[test]
fn a_connection_may_be_opened_from_our_side_and_ecn_agreed() {
    let script = "`sysctl -q net.ipv4.tcp_ecn=1`\n0 socket(...) = 4\n+0 ... 0.05 connect(4, ..., ...) = 0\n+0 > SEW 0:0(0) <...>\n\
        +.05 < SE. 0:0(0) ack 1 win 60000 <mss 1000,sackOK>\n+0 > . 1:1(0) ack 1\n+0 write(4, ..., 2000) = 2000\n\
        +0 > [ect0] P. 1:2001(2000) ack 1\n+.05 < E. 1:1(0) ack 1001 win 60000\n+0 write(4, ..., 1000) = 1000\n\
        +0 > [ect0] WP. 2001:3001(1000) ack 1\n+0 %{ assert tcpi_ca_state == TCP_CA_CWR and tcpi_snd_cwnd < 10 }%";
    let verdict = run(&parse(script).unwrap(), Path::new("/nowhere"), Rules::LINUX);
    assert!(matches!(&verdict, Verdict::Passed(missing) if missing.is_empty()), "{verdict:?}");
}

#[test]
fn what_a_sender_of_packets_cannot_be_asked_does_not_apply() {
    for (events, part) in [
        ("+0 < icmp unreachable frag_needed mtu 1200 [1:1001(1000)]", "icmp"),
        ("+0 epoll_create(1) = 5", "calls epoll_create"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0", "TCP_CORK"),
        ("+0 setsockopt(4, SOL_TCP, TCP_CONGESTION, \"cdg\", 3) = 0", "cdg"),
        ("+0 getsockopt(4, SOL_TCP, TCP_MAXSEG, [1000], [4]) = 0", "TCP_MAXSEG"),
        ("+0 send(4, ..., 10, MSG_MORE) = 10", "MSG_MORE"),
        ("+0 write(9, ..., 10) = -1 EBADF (Bad file)", "EBADF"),
        ("+0 > R. 1:1(0) ack 701", "resets"),
        ("+0 < S 0:0(0) win 100", "more than one connection"),
        ("+0 write(4, ..., 1000) = 1000 +0 < . 701:701(0) ack 500 win 500", "ends within a packet"),
        ("+0 `tc qdisc replace dev tun0 root pfifo limit 0`", "limit 0"),
        ("+0 %{ for x in y: pass }%", "Python"),
        ("+0 < . 701:701(0) ack 1 urg 3", "urgent"),
        (
            "+0 < . 701:701(0) ack 1 win 0\n+0 write(4, ..., 1000) = 1000\n+.2 > . 0:0(0) ack 701",
            "window of zero",
        ),
    ] {
        match verdict(events) {
            Verdict::NotApplicable(reason) => assert!(reason.contains(part), "{events}: {reason}"),
            other => panic!("{events}: {other:?}"),
        }
    }
}

#[test]
fn what_is_not_compared_is_named() {
    let events = "+0 %{ assert tcpi_reordering == 3 }%\n+0 getsockopt(4, SOL_SOCKET, SO_ERROR, [0], [4]) = 0";
    let Verdict::Passed(missing) = verdict(events) else { panic!("passes") };
    assert_eq!(Vec::from_iter(missing), ["tcpi_reordering"]);
}

/// Events of an open connection, with random numbers of packets in their places.
fn event() -> impl Strategy<Value = String> {
    let delay = prop::sample::select(&["+0", "+.001", "+.05", "+.3", "+2"][..]);
    let (a, b, c) = (0u64..30, 0u64..30, 1u64..10);
    (delay, 0u8..10, a, b, c).prop_map(|(delay, kind, a, b, c)| {
        let (from, to) = (1 + 1000 * a.min(b), 1 + 1000 * (a.max(b) + 1));
        let what = match kind {
            0 | 1 => format!("write(4, ..., {0}) = {0}", 1000 * c),
            9 if c == 1 => "write(4, ..., 700) = 700".into(),
            2 => format!("< . 701:701(0) ack {} win 500", 1 + 1000 * b),
            3 => format!("< . 701:701(0) ack {} win 500 <sack {from}:{to}>", 1 + 1000 * a),
            4 => format!("< . 701:701(0) ack 1 win {c} <sack {from}:{to} {}:{}>", to + 1000, to + 5000),
            5 => format!("< P. {0}:{1}(100) ack 1 win 500", 701 + 100 * a, 801 + 100 * a),
            6 => "close(4) = 0".into(),
            7 => format!("setsockopt(4, SOL_TCP, TCP_NODELAY, [{}], 4) = 0", c % 2),
            _ => {
                "%{ assert tcpi_snd_cwnd > 0 and tcpi_lost <= tcpi_unacked and tcpi_sacked <= tcpi_unacked }%"
                    .into()
            }
        };
        format!("{delay} {what}\n")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever a peer sends, ACKs of what was never sent included, the connection goes on and its numbers are
    /// possible.
    #[test]
    fn any_events_are_borne(events in prop::collection::vec(event(), 0..40), control in prop::sample::select(&["cubic", "bbr"][..])) {
        let text = format!("`sysctl net.ipv4.tcp_congestion_control={control}`\n{OPEN}{}", events.concat());
        let verdict = run(&parse(&text).unwrap(), Path::new("/nowhere"), Rules::LINUX);
        prop_assert!(!matches!(verdict, Verdict::Failed(..)), "{text}\n{verdict:?}");
    }
}
