//! Lines of a text. A longer one than its reader takes is damage: it is passed over, and counted.

use crate::input::{Input, Problem};
use crate::readers::Reader;
use std::io::{BufRead, BufReader, Read};

/// Reads a text line by line.
pub struct Lines {
    reader: BufReader<Input>,
    longest: usize,
    problem: Problem,
    line: Vec<u8>,
    /// Bytes up to the end of the last line.
    used: u64,
    /// Lines that were passed over.
    pub too_long: u64,
    /// Where reading stopped before the end, and why.
    pub stopped: Option<(u64, String)>,
}

impl Lines {
    /// Those of a text that is read by `reader`.
    pub fn new(input: Input, reader: Reader) -> Self {
        let longest = reader.limits().line.unwrap_or(usize::MAX - 1);
        let problem = input.problem();
        let reader = BufReader::with_capacity(1 << 16, input);
        Self { reader, longest, problem, line: Vec::new(), used: 0, too_long: 0, stopped: None }
    }

    /// The next line, without its end; `None` at the end. The last line of a stream that broke off is left out: half a number
    /// is a number.
    #[allow(clippy::should_implement_trait, reason = "a line is borrowed until the next one")]
    pub fn next(&mut self) -> Option<&[u8]> {
        loop {
            self.line.clear();
            let most = self.longest as u64 + 1;
            let taken = self.reader.by_ref().take(most).read_until(b'\n', &mut self.line).ok()?;
            let whole = self.line.ends_with(b"\n");
            if !whole && taken <= self.longest {
                if let Some(reason) = self.problem.text() {
                    self.stopped = Some((self.used, reason));
                    return None;
                }
            }
            if taken == 0 {
                return None;
            }
            self.used += taken as u64;
            if !whole && taken > self.longest {
                self.too_long += 1;
                self.skip();
                continue;
            }
            return Some(&self.line);
        }
    }

    /// Bytes up to the end of the last line.
    pub fn used(&self) -> u64 {
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
