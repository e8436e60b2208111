//! Tests of the parser: snippets of each construct, errors with their lines, and any text at all.

use crate::parser::parse;
use crate::script::{Action, Direction, Expression, Flags, Script, TcpOption, TcpPacket, Time};
use proptest::prelude::*;

fn parsed(text: &str) -> Script {
    parse(text).unwrap_or_else(|problem| panic!("{text}\n{problem}"))
}

fn packet(text: &str) -> TcpPacket {
    match &parsed(&format!("0 {text}")).events[0].action {
        Action::Tcp(packet) => packet.clone(),
        other => panic!("{other:?}"),
    }
}

fn arguments(text: &str) -> Vec<Expression> {
    match &parsed(&format!("0 f({text}) = 0")).events[0].action {
        Action::Call(call) => call.arguments.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_script_has_options_commands_and_events() {
    let script = parsed(
        "--tolerance_usecs=9000 --define=SIZE=1000\n--ip_version=ipv4\n`one\ntwo`\n\
         0 socket(...) = 3 // comment\n+.1 `three` *  > . 1:1(0) ack 1\n+0 %{ x = 1 }%\n`four`",
    );
    let options: Vec<_> =
        script.options.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(options, [("tolerance_usecs", "9000"), ("define", "1000"), ("ip_version", "ipv4")]);
    assert_eq!((script.set_up.as_deref(), script.clean_up.as_deref()), (Some("one\ntwo"), Some("four")));
    let times: Vec<_> = script.events.iter().map(|event| (event.line, event.time)).collect();
    assert_eq!(
        times,
        [(5, Time::Absolute(0.0)), (6, Time::Relative(0.1)), (6, Time::Any), (7, Time::Relative(0.0))]
    );
    assert_eq!(script.events[1].action, Action::Shell("three".into()));
    assert_eq!(script.events[3].action, Action::Python("x = 1".into()));
}

#[test]
fn times_are_absolute_relative_or_ranges() {
    let time = |text: &str| parsed(&format!("{text} > . 1:1(0) ack 1")).events[0].time;
    assert_eq!(time("0.25"), Time::Absolute(0.25));
    assert_eq!(time("+.25"), Time::Relative(0.25));
    assert_eq!(time("1~2"), Time::AbsoluteRange(1.0, 2.0));
    assert_eq!(time("+.3~+.303"), Time::RelativeRange(0.3, 0.303));
    let script = parsed("+.002 ... 0.004 connect(4, ..., ...) = 0 +0...0.010 accept(3, ..., ...) = 4");
    let ends = script.events.iter().map(|event| match &event.action {
        Action::Call(call) => call.end,
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [Some(0.004), Some(0.01)]);
}

#[test]
fn packets_have_flags_numbers_and_options() {
    let sent = packet("> [ect0] P. 1001:2001(1000) ack 7 win 16 <nop,nop,TS val 5 ecr 6,sack 1:2 3:4>");
    assert_eq!(sent.direction, Direction::Outbound);
    assert_eq!(sent.flags, Flags { push: true, ack: true, ..Flags::default() });
    assert_eq!((sent.seq, sent.length, sent.ack, sent.window), (1001, 1000, Some(7), Some(16)));
    assert_eq!(sent.ip.as_deref(), Some("ect0"));
    let options = [
        TcpOption::NoOperation,
        TcpOption::NoOperation,
        TcpOption::Timestamps { value: 5, echo: 6 },
        TcpOption::Sack(vec![(1, 2), (3, 4)]),
    ];
    assert_eq!(sent.options.as_deref(), Some(&options[..]));
    let syn = packet("< SEW 0:0(0) win 100 <mss 1000,sackOK,wscale 7,eol,FO abcd12,FOEXP,md5 0011>");
    assert_eq!(syn.flags, Flags { syn: true, echo: true, reduced: true, ..Flags::default() });
    assert_eq!(syn.options.as_ref().map(Vec::len), Some(7));
    assert_eq!(packet("> S. 0:0(0) ack 1 <mss MSS>").options, Some(vec![TcpOption::Mss(None)]));
    assert_eq!(packet("> S. 0:0(0) ack 1 <...>").options, None);
    assert_eq!(packet("< - 1:1(0)").flags, Flags::default());
    assert_eq!(packet("< P.5 1:2(1) ack 1").flags.counter, Some(5));
    assert_eq!(packet("< 80 > 1234 . 1:1(0) ack 1").ports, Some((80, 1234)));
    assert_eq!(packet("< (tos 0x10, flowlabel 0x1) . 1:1(0) ack 1 urg 3").urgent, Some(3));
    assert_eq!(packet("< F. 4294967295:0(1) ack 1").seq, u32::MAX);
    let around = "> ipv4 192.0.2.1 > 192.0.2.2: gre flags [none], sum 0, off 0, key 1, seq 2: . 1:1(0) ack 1";
    assert_eq!(packet(around).inside.as_deref(), Some("ipv4"));
    assert_eq!(packet("< mpls (label 0, tc 0, [S], ttl 0): . 1:1(0) ack 1").inside.as_deref(), Some("mpls"));
    assert_eq!(packet("> encap psp spi 0x1 . 1:1(0) ack 1").inside.as_deref(), Some("psp"));
}

#[test]
fn packets_of_other_protocols_are_known() {
    for (text, name) in [
        ("< udp (1000)", "< udp"),
        ("> [noecn] icmp unreachable frag_needed mtu 1200 [1:1001(1000)]", "> icmp"),
        ("< icmp echo_request id 3", "< icmp"),
        ("< icmp unreachable port_unreachable [udp (10)]", "< icmp"),
    ] {
        let script = parsed(&format!("0 {text} +0 close(3) = 0"));
        assert_eq!(script.events[0].action, Action::OtherPacket(name.into()));
        assert_eq!(script.events.len(), 2);
    }
}

#[test]
fn calls_have_arguments_of_all_kinds() {
    let script = parsed("0 write(4, ..., 10) = -1 EAGAIN (Resource temporarily unavailable) +0 f() = 0x10");
    let Action::Call(call) = &script.events[0].action else { panic!("a call") };
    assert_eq!((call.result.integer(), call.errno.as_deref()), (Some(-1), Some("EAGAIN")));
    let Action::Call(call) = &script.events[1].action else { panic!("a call") };
    assert_eq!(call.result.integer(), Some(16));
    assert_eq!(arguments("4, SOL_SOCKET, SO_SNDBUF, [20], 4")[3].integer(), Some(20));
    assert_eq!(arguments("\"re\" \"no\", \"a\"...").len(), 2);
    for structured in [
        "{sa_family = AF_INET, sin_port = htons(80), sin_addr = inet_addr(\"192.0.2.1\")}, ...",
        "{msg_name(...)=..., msg_iov(2)=[{..., 1000}, {..., 2}], msg_flags=MSG_A|MSG_B}, 0",
        "[{fd=4, events=POLLIN|POLLOUT, revents=0}], 1",
        "{onoff=1, linger=0}, 8",
        "{cmsg_level=SOL, cmsg_type=T, cmsg_data={scm_sec=0, scm_nsec=1}}, 1",
        "{(label 1, tc 0, [S], ttl 64) (label 2, tc 0, ttl 3)}, 1",
        "{flags [key present], sum 0, off 0, key=5, seq 1}, 1",
    ] {
        assert_eq!(arguments(structured).len(), 2, "{structured}");
    }
}

#[test]
fn definitions_stand_for_their_values() {
    let text = "--define=N=1000 --define=CC=\"reno\" --define=P=IPPROTO_TCP --define=C=`true`\n\
                0 f(N, CC, P) = N\n+0 C\n+0 > . 1:1(0) ack N";
    let script = parsed(text);
    assert_eq!(script.events[1].action, Action::Shell("true".into()));
    let Action::Call(call) = &script.events[0].action else { panic!("a call") };
    let [n, cc, p] = call.arguments.as_slice() else { panic!("three") };
    assert_eq!((n.integer(), cc.text(), p.text()), (Some(1000), Some("reno"), Some("IPPROTO_TCP")));
    assert_eq!(call.result.integer(), Some(1000));
}

#[test]
fn what_is_not_understood_is_said_once_with_its_line() {
    for (text, line, part) in [
        ("", 1, "an event"),
        ("0 close(3) = 0\n+x close(3) = 0", 2, "a time in seconds, found \"x\""),
        ("\n0 > Q. 1:1(0) ack 1", 2, "\"Q.\" are no flags"),
        ("0 > . 1:10(3) ack 1", 1, "1:10 are not 3 bytes"),
        ("0 > . 1:1(0) ack 1 <wat 3>", 1, "\"wat\" is no option of TCP"),
        ("0 < . 1:1(0) ack 1 <...>", 1, "<...> is for packets sent"),
        ("0 close(3)\n= 0\n\n* close(4) = 0", 4, "for something that is not a packet sent"),
        ("0 > . 1:1(0) ack 1\n+1~+.5 > . 1:1(0) ack 1", 2, "ends before it begins"),
        ("--wat=1\n0 close(3) = 0", 1, "an option of packetdrill"),
        ("0 close(3) = 0\n`a`\n`b`", 3, "the end"),
        ("0 > . 1:70000(69999) ack 1", 1, "a length below 65536"),
        ("0 f(1", 1, "\")\""),
        ("0 < [huh] . 1:1(0)", 1, "\"huh\""),
    ] {
        let problem = parse(text).unwrap_err();
        assert_eq!(problem.line, line, "{text}: {problem}");
        assert!(problem.message.contains(part), "{text}: {problem}");
    }
    let deep = format!("0 f({}", "[".repeat(10_000));
    assert!(parse(&deep).unwrap_err().message.contains("less nesting"));
}

/// Pieces of the language, so that random texts get far into the grammar.
pub const PIECES: &[&str] = &[
    "0",
    "+0",
    "+.1",
    "+.2~+.3",
    "*",
    "...",
    "0.5",
    "-1",
    "0x1f",
    "\n",
    " ",
    "<",
    ">",
    ".",
    "P.",
    "S",
    "S.",
    "F.",
    "R",
    "-",
    "SEW",
    "1:1001(1000)",
    "1:1(0)",
    "0:0(0)",
    "ack",
    "1",
    "1001",
    "win",
    "257",
    "<mss 1000,sackOK,wscale 7>",
    "<sack 1:1001>",
    "<...>",
    "TS val 1 ecr 2",
    "nop",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "=",
    "|",
    "socket",
    "write(4, ..., 3000) = 3000",
    "accept(3, ..., ...) = 4",
    "%{ assert tcpi_snd_cwnd == 10 }%",
    "`true`",
    "\"text\"",
    "udp",
    "icmp",
    "ipv4",
    "192.0.2.1",
    "::1",
    "ect0",
    "// c\n",
    "/* c */",
    "--mtu=1500",
    "\u{e9}",
    "\u{1f600}",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_text_is_a_script_or_a_problem_of_one_of_its_lines(text in "(?s).{0,200}") {
        check(&text)?;
    }

    #[test]
    fn any_pieces_are_a_script_or_a_problem_of_one_of_their_lines(
        pieces in prop::collection::vec((prop::sample::select(PIECES), any::<bool>()), 0..40)
    ) {
        let text: String = pieces.iter().flat_map(|(piece, spaced)| [*piece, if *spaced { " " } else { "" }]).collect();
        check(&text)?;
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    if let Err(problem) = parse(text) {
        prop_assert!((1..=text.lines().count().max(1) + 1).contains(&problem.line), "{}", problem);
        prop_assert!(!problem.message.is_empty());
    }
    Ok(())
}
