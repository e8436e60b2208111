//! Reports: of a folder made for the test, and of Google's scripts where they are, beside the checkout and not in it.

use crate::driver::Verdict;
use crate::report::{report, report_by, Counts, Line, Outcome};
use parshall_tcp::{Rules, POLICIES};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// All of Google's scripts (`gtests/net` of google/packetdrill): what becomes of each, its name, and why.
/// docs/simulator.md prints it.
const GOOGLE: &str = include_str!("google.tsv");

/// How many there are of each: passed, failed, not applicable.
const COUNTS: [usize; 3] = [40, 2, 135];

/// Where scripts are: the folder that the environment names, or one beside the checkout, which may have a part of them.
fn scripts() -> PathBuf {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/packetdrill");
    std::env::var_os("PACKETDRILL_SCRIPTS").map_or_else(beside, PathBuf::from)
}

/// The verdicts of the list, by name; why a script fails is said for readers, and not compared.
fn listed() -> BTreeMap<&'static str, (&'static str, &'static str)> {
    let fields = GOOGLE.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    fields
        .map(|fields| match fields[..] {
            [verdict, name] => (name, (verdict, "")),
            [verdict, name, why] => (name, (verdict, why)),
            _ => panic!("{fields:?}"),
        })
        .collect()
}

fn passed(line: &Line) -> bool {
    matches!(line.outcome, Outcome::Ran(Verdict::Passed(_)))
}

#[test]
fn the_list_has_all_scripts_and_says_why_some_fail() {
    let listed = listed();
    let count = |kind| listed.values().filter(|(verdict, _)| *verdict == kind).count();
    assert_eq!(["pass", "fail", "n/a"].map(count), COUNTS);
    assert_eq!(listed.len(), COUNTS.iter().sum::<usize>());
    assert!(listed.values().all(|(verdict, why)| *verdict == "pass" || !why.is_empty()));
}

#[test]
fn scripts_do_as_they_are_listed() {
    let folder = scripts();
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return;
    }
    let lines = report(&folder).expect("the folder can be read");
    let listed = listed();
    let mut others = Vec::new();
    for line in &lines {
        let found = match &line.outcome {
            Outcome::Ran(Verdict::Passed(missing)) => {
                ("pass", missing.iter().map(String::as_str).collect::<Vec<_>>().join(", "))
            }
            Outcome::Ran(Verdict::Failed(..)) => {
                ("fail", listed.get(line.name.as_str()).map_or_else(String::new, |(_, rule)| (*rule).into()))
            }
            Outcome::Ran(Verdict::NotApplicable(reason)) => ("n/a", reason.clone()),
            Outcome::NotUnderstood(problem) => ("error", problem.clone()),
        };
        if listed.get(line.name.as_str()) != Some(&(found.0, found.1.as_str())) {
            others.push(line.to_string());
        }
    }
    assert!(others.is_empty(), "{}\n{}", others.join("\n"), Counts::of(&lines));
}

/// Which scripts hold a policy: those that pass with Linux's rules and fail where this policy alone has the RFCs' form. The
/// others have tests in `linux.rs`, `linux_timing.rs` and `linux_window.rs`.
const OF_POLICIES: &str = include_str!("policies.tsv");

#[test]
fn scripts_hold_the_policies_that_they_are_listed_with() {
    let folder = scripts();
    if !folder.is_dir() {
        eprintln!("skipped: no {}", folder.display());
        return;
    }
    let passing = report(&folder).expect("the folder can be read").into_iter().filter(passed);
    let names: BTreeSet<String> = passing.map(|line| line.name).collect();
    let listed: BTreeSet<(&str, &str)> =
        OF_POLICIES.lines().filter_map(|line| line.split_once('\t')).collect();
    let mut others = Vec::new();
    for policy in POLICIES {
        let rules = Rules::LINUX.with(policy.name, &Rules::RFC).expect("a policy");
        let fails = |line: &Line| names.contains(&line.name) && !passed(line);
        let lines = report_by(&folder, rules).expect("the folder can be read");
        let found: BTreeSet<&str> =
            lines.iter().filter(|line| fails(line)).map(|line| line.name.as_str()).collect();
        for name in &names {
            let is_listed = listed.contains(&(policy.name, name.as_str()));
            if is_listed != found.contains(name.as_str()) {
                others.push(format!("{}\t{name}", policy.name));
            }
        }
    }
    assert!(others.is_empty(), "listed and passed, or failed and not listed:\n{}", others.join("\n"));
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
