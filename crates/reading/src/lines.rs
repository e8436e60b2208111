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

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: Vec<u8>) -> (Vec<Vec<u8>>, u64, Option<(u64, String)>) {
        let mut lines = Lines::new(Input::of_bytes(bytes).unwrap(), Reader::Series);
        let mut all = Vec::new();
        while let Some(line) = lines.next() {
            all.push(line.to_vec());
        }
        (all, lines.too_long, lines.stopped)
    }

    #[test]
    fn a_long_line_is_passed_over_and_counted() {
        let longest = Reader::Series.limits().line.unwrap();
        let line = |length: usize| [vec![b'a'; length], vec![b'\n']].concat();
        let text =
            [line(longest), line(longest + 1), line(3 * longest), line(1), vec![b'b'; 2 * longest]].concat();
        let (all, too_long, stopped) = read(text);
        assert_eq!(all.iter().map(Vec::len).collect::<Vec<_>>(), [longest + 1, 2]);
        assert_eq!((too_long, stopped), (3, None));
    }

    #[test]
    fn the_last_line_of_a_text_that_broke_off_is_left_out() {
        let text = (0..100_000).map(|number| number.to_string() + "\n").collect::<String>();
        assert_eq!(
            read(text.trim_end().into()).0.len(),
            100_000,
            "a whole text needs no end of its last line"
        );
        let mut zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
        zst.truncate(zst.len() / 2);
        let (all, _, stopped) = read(zst);
        assert!(all.iter().enumerate().all(|(at, line)| *line == format!("{at}\n").into_bytes()));
        let (used, reason) = stopped.unwrap();
        assert_eq!(used as usize, all.iter().map(Vec::len).sum::<usize>());
        assert!(!all.is_empty() && all.len() < 100_000 && !reason.is_empty());
    }
}
