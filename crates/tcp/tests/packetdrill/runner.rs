//! `make packetdrill SCRIPTS=DIR`: a line for each script, and the counts.

#![allow(clippy::disallowed_methods, reason = "scripts that the user names")]

mod applicability;
mod bytes;
#[path = "../../../congestion/tests/common/mod.rs"]
mod common;
mod driver;
mod endpoint;
mod expressions;
mod information;
mod lexer;
mod linux;
mod packets;
mod parser;
mod python;
mod report;
mod script;
mod settings;

use report::{report, Counts};
use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1).filter(|folder| !folder.is_empty()) else {
        eprintln!("packetdrill: which scripts? make packetdrill SCRIPTS=DIR");
        return ExitCode::from(2);
    };
    let lines = match report(Path::new(&folder)) {
        Ok(lines) if !lines.is_empty() => lines,
        Ok(_) => {
            eprintln!("packetdrill: no .pkt below {folder}");
            return ExitCode::from(2);
        }
        Err(error) => {
            eprintln!("packetdrill: {folder}: {error}");
            return ExitCode::from(2);
        }
    };
    for line in &lines {
        println!("{line}");
    }
    let counts = Counts::of(&lines);
    println!("{counts}");
    ExitCode::from(u8::from(counts.failed + counts.not_understood > 0))
}
