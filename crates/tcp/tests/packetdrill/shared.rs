//! Google's scripts, where they are: beside the checkout, and not in it.

use crate::driver::Verdict;
use crate::report::{report, Counts, Line, Outcome};
use std::path::Path;

/// Those that pass. The others, and the rules in which we differ: docs/simulator.md.
const PASSING: &[&str] = &[
    "packetdrill/tests/linux/fast_retransmit/fr-4pkt-sack-linux.pkt",
    "tcp/cwnd_moderation/cwnd-moderation-disorder-no-moderation.pkt",
    "tcp/ecn/ecn-uses-ect0.pkt",
    "tcp/fast_recovery/prr-ss-10pkt-lost-1.pkt",
    "tcp/fast_recovery/prr-ss-30pkt-lost1_4.pkt",
    "tcp/fast_retransmit/fr-4pkt.pkt",
    "tcp/sack/sack-shift-sacked-2-6-8-3-9-nofack.pkt",
    "tcp/sack/sack-shift-sacked-7-5-6-8-9-fack.pkt",
    "tcp/slow_start/slow-start-ack-per-1pkt.pkt",
    "tcp/slow_start/slow-start-ack-per-2pkt.pkt",
    "tcp/slow_start/slow-start-ack-per-4pkt.pkt",
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
