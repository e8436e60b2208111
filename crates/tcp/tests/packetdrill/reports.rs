//! Reports: of a folder made for the test, and of Google's scripts where they are, beside the checkout and not in it.

use crate::driver::Verdict;
use crate::report::{report, Counts, Line, Outcome};
use std::path::Path;

/// Google's scripts that pass. The others, and the rules in which we differ: docs/simulator.md.
const PASSING: &[&str] = &[
    "packetdrill/tests/linux/fast_retransmit/fr-4pkt-sack-linux.pkt",
    "tcp/cubic/cubic-hystart-delay-min-rtt-jumps-downward.pkt",
    "tcp/cubic/cubic-rto-ss-ca-cwnd-bump.pkt",
    "tcp/cwnd_moderation/cwnd-moderation-disorder-no-moderation.pkt",
    "tcp/ecn/ecn-uses-ect0.pkt",
    "tcp/fast_recovery/prr-ss-10pkt-lost-1.pkt",
    "tcp/fast_recovery/prr-ss-30pkt-lost1_4.pkt",
    "tcp/fast_recovery/prr-ss-ack-below-snd_una-cubic.pkt",
    "tcp/fast_retransmit/fr-4pkt-fack-last-byte.pkt",
    "tcp/fast_retransmit/fr-4pkt.pkt",
    "tcp/limited_transmit/limited-transmit-sack.pkt",
    "tcp/sack/sack-route-refresh-ip-tos.pkt",
    "tcp/sack/sack-shift-sacked-2-6-8-3-9-nofack.pkt",
    "tcp/sack/sack-shift-sacked-7-5-6-8-9-fack.pkt",
    "tcp/slow_start/slow-start-ack-per-1pkt.pkt",
    "tcp/slow_start/slow-start-ack-per-2pkt-send-6pkt.pkt",
    "tcp/slow_start/slow-start-ack-per-2pkt.pkt",
    "tcp/slow_start/slow-start-ack-per-4pkt.pkt",
    "tcp/slow_start/slow-start-after-idle.pkt",
    "tcp/slow_start/slow-start-app-limited.pkt",
    "tcp/slow_start/slow-start-fq-ack-per-2pkt.pkt",
];

fn passed(line: &Line) -> bool {
    matches!(line.outcome, Outcome::Ran(Verdict::Passed(_)))
}

#[test]
fn scripts_pass_that_passed_before() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packetdrill");
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return;
    }
    let lines = report(&folder).expect("the folder can be read");
    let text: Vec<String> = lines.iter().map(Line::to_string).collect();
    let counts = Counts::of(&lines);
    assert_eq!(counts.not_understood, 0, "{}", text.join("\n"));
    let passing: Vec<&str> =
        lines.iter().filter(|line| passed(line)).map(|line| line.name.as_str()).collect();
    assert_eq!(passing, PASSING, "{}\n{counts}", text.join("\n"));
}

#[test]
fn a_report_has_a_line_for_each_script_and_the_counts() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packetdrill-report");
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    let opened = "0 socket(...) = 3\n+0 ... 0.1 connect(3, ..., ...) = 0\n+0 > S 0:0(0) <...>\n";
    let settings = "sysctl -q net.ipv4.tcp_ecn=1\n";
    for (name, text) in [
        ("asks-for-ecn.sh", settings.to_string()),
        ("deep/passes.pkt", opened.to_string()),
        ("ecn.pkt", format!("`./asks-for-ecn.sh`\n{}", opened.replace("> S 0", "> SEW 0"))),
        ("fails.pkt", format!("{opened}+.1 > S 0:0(0) <...>\n")),
        ("inapplicable.pkt", format!("{opened}+0 poll([], 1, 0) = 0\n")),
        ("wrong.pkt", format!("{opened}+0 huh\n")),
        ("no-script.txt", "huh".into()),
    ] {
        std::fs::write(folder.join(name), text).unwrap();
    }
    let lines = report(&folder).unwrap();
    let text: Vec<String> = lines.iter().map(Line::to_string).collect();
    let expected = [
        "pass  deep/passes.pkt",
        "pass  ecn.pkt",
        "fail  fails.pkt:4: expected S 0:0(0) at 0.1000 s, nothing was sent",
        "n/a   inapplicable.pkt: calls poll",
    ];
    assert_eq!(text[..4], expected);
    assert!(text[4].starts_with("error ") && text[4].contains("wrong.pkt:4: expected \"(\""), "{}", text[4]);
    let counts = "2 passed, 1 failed, 1 not applicable, 1 not understood";
    assert_eq!((text.len(), Counts::of(&lines).to_string().as_str()), (5, counts));
    let one = report(&folder.join("ecn.pkt")).unwrap();
    assert!(one.len() == 1 && passed(&one[0]));
}
