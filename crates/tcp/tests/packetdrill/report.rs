//! Scripts of a folder, and what they came to.

use crate::driver::{run, Verdict};
use crate::parser::parse;
use parshall_tcp::Rules;
use std::fmt;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

/// What became of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Ran(Verdict),
    /// It was not understood, or could not be read.
    NotUnderstood(String),
}

/// A script's line of the report.
#[derive(Clone, Debug)]
pub struct Line {
    pub name: String,
    pub outcome: Outcome,
}

/// How many there are of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
    pub not_applicable: usize,
    pub not_understood: usize,
}

/// Runs all scripts below `folder` (or the one that it is) by Linux's rules, in the order of their names.
///
/// # Errors
/// The folder cannot be read.
pub fn report(folder: &Path) -> std::io::Result<Vec<Line>> {
    report_by(folder, Rules::LINUX)
}

/// The same, on an endpoint with these rules.
///
/// # Errors
/// The folder cannot be read.
pub fn report_by(folder: &Path, rules: Rules) -> std::io::Result<Vec<Line>> {
    let mut files = Vec::new();
    if folder.is_file() {
        files.push(folder.to_path_buf());
    } else {
        find(folder, &mut files)?;
    }
    files.sort();
    Ok(files.iter().map(|file| line(folder, file, rules)).collect())
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "pkt") {
            files.push(path);
        }
    }
    Ok(())
}

fn line(folder: &Path, file: &Path, rules: Rules) -> Line {
    let name = file.strip_prefix(folder).ok().filter(|rest| rest.file_name().is_some()).unwrap_or(file);
    let directory = file.parent().unwrap_or(Path::new("."));
    let outcome = match std::fs::read(file) {
        Err(error) => Outcome::NotUnderstood(format!("{}: {error}", file.display())),
        Ok(bytes) => match parse(&String::from_utf8_lossy(&bytes)) {
            // A script that our code does not survive is a difference, and the others are run all the same.
            Ok(script) => {
                Outcome::Ran(catch_unwind(|| run(&script, directory, rules)).unwrap_or_else(|_| {
                    Verdict::Failed(1, "the sender or the receiver panicked: see above".into())
                }))
            }
            Err(problem) => {
                Outcome::NotUnderstood(format!("{}:{}: {}", file.display(), problem.line, problem.message))
            }
        },
    };
    Line { name: name.display().to_string(), outcome }
}

impl Counts {
    pub fn of(lines: &[Line]) -> Self {
        let mut counts = Self::default();
        for line in lines {
            *match &line.outcome {
                Outcome::Ran(Verdict::Passed(_)) => &mut counts.passed,
                Outcome::Ran(Verdict::Failed(..)) => &mut counts.failed,
                Outcome::Ran(Verdict::NotApplicable(_)) => &mut counts.not_applicable,
                Outcome::NotUnderstood(_) => &mut counts.not_understood,
            } += 1;
        }
        counts
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Ran(Verdict::Passed(missing)) if missing.is_empty() => write!(f, "pass  {}", self.name),
            Outcome::Ran(Verdict::Passed(missing)) => {
                let names: Vec<&str> = missing.iter().map(String::as_str).collect();
                write!(f, "pass  {}  (not compared, as the sender has none: {})", self.name, names.join(", "))
            }
            Outcome::Ran(Verdict::Failed(line, text)) => write!(f, "fail  {}:{line}: {text}", self.name),
            Outcome::Ran(Verdict::NotApplicable(reason)) => write!(f, "n/a   {}: {reason}", self.name),
            Outcome::NotUnderstood(text) => write!(f, "error {text}"),
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { passed, failed, not_applicable, not_understood } = self;
        write!(f, "{passed} passed, {failed} failed, {not_applicable} not applicable, {not_understood} not understood")
    }
}
