//! Lines of a text. A longer one than [`LONGEST_LINE`] bytes is damage: it is passed over, and counted.

use crate::input::{Input, Problem, LONGEST_LINE};
use std::io::{BufRead, BufReader, Read};

/// Reads a text line by line.
pub(super) struct Lines {
    reader: BufReader<Input>,
    problem: Problem,
    line: Vec<u8>,
    /// Bytes up to the end of the last line.
    used: u64,
    pub(super) too_long: u64,
    /// Where reading stopped before the end, and why.
    pub(super) stopped: Option<(u64, String)>,
}

impl Lines {
    pub(super) fn new(input: Input) -> Self {
        let problem = input.problem();
        let reader = BufReader::with_capacity(1 << 16, input);
        Self { reader, problem, line: Vec::new(), used: 0, too_long: 0, stopped: None }
    }

    /// The next line, without its end; `None` at the end. The last line of a stream that broke off is left out: half a number
    /// is a number.
    pub(super) fn next(&mut self) -> Option<&[u8]> {
        loop {
            self.line.clear();
            let taken =
                self.reader.by_ref().take(LONGEST_LINE as u64 + 1).read_until(b'\n', &mut self.line).ok()?;
            let whole = self.line.ends_with(b"\n");
            if !whole && taken <= LONGEST_LINE {
                if let Some(reason) = self.problem.text() {
                    self.stopped = Some((self.used, reason));
                    return None;
                }
            }
            if taken == 0 {
                return None;
            }
            self.used += taken as u64;
            if !whole && taken > LONGEST_LINE {
                self.too_long += 1;
                self.skip();
                continue;
            }
            return Some(&self.line);
        }
    }

    /// Bytes up to the end of the last line.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Passes over what is left of a line.
    fn skip(&mut self) {
        loop {
            let Ok(buffer) = self.reader.fill_buf() else { return };
            if buffer.is_empty() {
                return;
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(buffer.len(), |at| at + 1);
            self.reader.consume(length);
            self.used += length as u64;
            if end.is_some() {
                return;
            }
        }
    }
}
