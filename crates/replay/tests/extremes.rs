//! Recordings whose numbers are the least and the largest that their types hold: replayed without a panic, as overflow checks would be.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

#[path = "../../../fuzz/src/recordings.rs"]
mod target;

use std::fs::read_to_string;
use std::path::Path;

const EXTREMES: [&str; 8] =
    ["0", "1", "-1", "2147483647", "-2147483648", "2147483648", "4294967295", "18446744073709551615"];

/// The recordings of the corpus: their first two lines, and the others.
fn corpus() -> Vec<(String, Vec<String>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/recordings");
    let files = folder.read_dir().expect("the corpus is in fuzz/corpus").map(|file| file.unwrap().path());
    let split = |text: String| {
        let mut lines = text.lines().map(String::from);
        let head = format!("{}\n{}\n", lines.next().unwrap(), lines.next().unwrap());
        (head, lines.collect())
    };
    files.map(|path| split(read_to_string(path).unwrap())).collect()
}

/// A line with another value at a place.
fn changed(line: &str, place: usize, value: &str) -> String {
    line.split(',')
        .enumerate()
        .map(|(at, old)| if at == place { value } else { old })
        .collect::<Vec<_>>()
        .join(",")
}

#[test]
fn the_corpus_is_replayed() {
    let corpus = corpus();
    assert!(corpus.len() >= 4);
    for (head, lines) in corpus {
        assert!(target::replay(format!("{head}{}\n", lines.join("\n")).as_bytes()).is_some());
    }
}

#[test]
fn extremes_are_replayed() {
    for (head, lines) in corpus() {
        for place in 1..head.lines().nth(1).unwrap().split(',').count() {
            for value in EXTREMES {
                // In all calls, and in every other one, so that differences are extreme, too.
                for step in [1, 2] {
                    let change = |(at, line): (usize, &String)| {
                        if at % step == 0 {
                            changed(line, place, value)
                        } else {
                            line.clone()
                        }
                    };
                    let text: Vec<String> = lines.iter().enumerate().map(change).collect();
                    assert!(target::replay(format!("{head}{}\n", text.join("\n")).as_bytes()).is_some());
                }
            }
        }
    }
}
