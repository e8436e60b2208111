//! A file's bytes, decompressed if need be, in constant memory.
//!
//! A read error in the middle (a truncated gzip file, a disk that fails) ends the stream like the end of the file;
//! what it was is kept for the report. The decoders take 128 MiB each at most, [`MAX_LAYERS`] of them.

use crate::document::most;
use crate::readers::Reader;
use flate2::bufread::MultiGzDecoder;
use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

/// Largest window of a zstd frame that is accepted, as a power of two: 128 MiB, what `zstd --long` makes at most.
const ZSTD_WINDOW_LOG: u32 = 27;

/// Bytes read from the file at a time.
const CHUNK: usize = 1 << 17;

/// How many compressions may be around each other.
const MAX_LAYERS: usize = 3;

/// A readable stream that ends instead of failing.
pub struct Input {
    reader: Box<dyn BufRead>,
    problem: Problem,
    compression: Vec<&'static str>,
    /// Bytes handed out, after decompression, and the last of them.
    given: u64,
    last: Option<u8>,
    line: Option<Line>,
}

/// The line under way of a text; what is quoted may go over several.
#[derive(Clone, Copy, Debug)]
struct Line {
    longest: usize,
    length: usize,
    quoted: bool,
}

impl Line {
    /// How many of these bytes come before a line is too long.
    fn take(&mut self, bytes: &[u8]) -> usize {
        for (at, byte) in bytes.iter().enumerate() {
            if self.is_too_long() {
                return at;
            }
            self.quoted ^= *byte == b'"';
            let ends = !self.quoted && matches!(byte, b'\n' | b'\r');
            self.length = if ends { 0 } else { self.length + 1 };
        }
        bytes.len()
    }

    fn is_too_long(&self) -> bool {
        self.length >= self.longest
    }
}

/// The error of a reader that stopped early.
#[derive(Clone, Debug, Default)]
pub struct Problem(Rc<RefCell<Option<io::Error>>>);

impl Problem {
    /// The problem in words, if there was one.
    pub fn text(&self) -> Option<String> {
        self.0.borrow().as_ref().map(ToString::to_string)
    }
}

impl Input {
    /// Opens a file. It may also be a pipe: [`document`](crate::document()) takes regular files only.
    ///
    /// # Errors
    /// There is none, or nothing at all can be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        if path.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        File::open(path).and_then(Self::new)
    }

    /// A file that is in memory.
    ///
    /// # Errors
    /// A decoder does not begin.
    pub fn of_bytes(bytes: Vec<u8>) -> io::Result<Self> {
        Self::new(Cursor::new(bytes))
    }

    /// Recognises compression by the first bytes.
    pub(crate) fn new(source: impl Read + 'static) -> io::Result<Self> {
        let Self { mut reader, problem, .. } = Self::plain(source)?;
        let mut compression = Vec::new();
        while compression.len() < MAX_LAYERS {
            let (head, filled) = peek(reader, 4)?;
            reader = filled;
            let inner: Box<dyn Read> = match head.as_slice() {
                [0x1f, 0x8b, ..] => {
                    compression.push("gzip");
                    Box::new(MultiGzDecoder::new(reader))
                }
                // A frame, or a skippable one before it (RFC 8878 §3.1).
                [0x28, 0xb5, 0x2f, 0xfd] | [0x50..=0x5f, 0x2a, 0x4d, 0x18] => {
                    compression.push("zstd");
                    let mut decoder = zstd::stream::read::Decoder::with_buffer(reader)?;
                    decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                    Box::new(decoder)
                }
                _ => break,
            };
            let ending = Ending { inner, problem: problem.clone() };
            reader = Box::new(BufReader::with_capacity(CHUNK, ending));
        }
        Ok(Self { reader, problem, compression, given: 0, last: None, line: None })
    }

    /// Takes the bytes as they are.
    pub(crate) fn plain(source: impl Read + 'static) -> io::Result<Self> {
        let mut reader: Box<dyn BufRead> = Box::new(BufReader::with_capacity(CHUNK, source));
        reader.fill_buf()?;
        let (problem, compression) = (Problem::default(), Vec::new());
        Ok(Self { reader, problem, compression, given: 0, last: None, line: None })
    }

    /// Ends, with a problem, where a line is longer than that reader takes.
    pub fn bound_lines(&mut self, reader: Reader) {
        let longest = reader.limits().line.unwrap_or(usize::MAX);
        self.line = Some(Line { longest, length: 0, quoted: false });
    }

    /// All that is left, `None` if it is more than a document of that reader may have.
    pub fn document(&mut self, reader: Reader) -> Option<Vec<u8>> {
        let most = most(reader);
        let mut bytes = Vec::new();
        self.take(most.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= most).then_some(bytes)
    }

    /// The first bytes, which stay in the stream; fewer than asked for only if there are no more.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn peek(&mut self, bytes: usize) -> io::Result<Vec<u8>> {
        let empty: Box<dyn BufRead> = Box::new(io::empty());
        let (head, reader) = peek(std::mem::replace(&mut self.reader, empty), bytes)?;
        self.reader = reader;
        Ok(head)
    }

    /// Returns the compressions of the file, outermost first.
    pub fn compression(&self) -> &[&'static str] {
        &self.compression
    }

    /// Bytes read so far, after decompression.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// True if the last byte read ends a line; one within quotes does not.
    pub fn at_line_end(&self) -> bool {
        let quoted = self.line.is_some_and(|line| line.quoted);
        !quoted && self.last.is_none_or(|byte| matches!(byte, b'\n' | b'\r'))
    }

    /// Returns the error that will be known when the stream has ended.
    pub fn problem(&self) -> Problem {
        self.problem.clone()
    }
}

/// The first bytes of a stream, and the stream with them still in it.
fn peek(mut reader: Box<dyn BufRead>, bytes: usize) -> io::Result<(Vec<u8>, Box<dyn BufRead>)> {
    let buffered = reader.fill_buf()?;
    if buffered.len() >= bytes {
        return Ok((buffered[..bytes].to_vec(), reader));
    }
    let mut head = Vec::new();
    reader.by_ref().take(bytes as u64).read_to_end(&mut head)?;
    let whole = io::Cursor::new(head.clone()).chain(reader);
    Ok((head, Box::new(BufReader::with_capacity(CHUNK, whole))))
}

/// Fills whole buffers, as block parsers want them.
impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        let ended = self.line.as_ref().is_some_and(Line::is_too_long);
        while !ended && filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    *self.problem.0.borrow_mut() = Some(error);
                    break;
                }
            }
        }
        if let Some(line) = &mut self.line {
            let taken = line.take(&buffer[..filled]);
            if line.is_too_long() {
                let problem = format!("a line of more than {} bytes", line.longest);
                *self.problem.0.borrow_mut() = Some(io::Error::new(io::ErrorKind::InvalidData, problem));
                filled = taken;
            }
        }
        self.given += filled as u64;
        self.last = buffer[..filled].last().copied().or(self.last);
        Ok(filled)
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("compression", &self.compression).finish_non_exhaustive()
    }
}

/// Ends where the inner reader fails, and remembers why.
struct Ending {
    inner: Box<dyn Read>,
    problem: Problem,
}

impl Read for Ending {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.problem.0.borrow().is_some() {
            return Ok(0);
        }
        match self.inner.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                *self.problem.0.borrow_mut() = Some(error);
                Ok(0)
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::write::GzEncoder;
    use flate2::Compression;
    use std::io::{Cursor, Write};

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> (Vec<u8>, Option<String>, Vec<&'static str>) {
        let mut input = Input::new(Cursor::new(bytes)).unwrap();
        let mut out = Vec::new();
        input.read_to_end(&mut out).unwrap();
        (out, input.problem().text(), input.compression().to_vec())
    }

    #[test]
    fn plain_and_compressed_files_give_the_same_bytes() {
        let plain: Vec<u8> = (0..200_000u32).flat_map(u32::to_le_bytes).collect();
        let zst = zstd::encode_all(&plain[..], 1).unwrap();
        let both = gzip(&zst);
        let mut twice = gzip(&plain[..1000]);
        twice.extend(gzip(&plain[1000..]));
        let mut frames = zstd::encode_all(&plain[..1000], 1).unwrap();
        frames.extend(zstd::encode_all(&plain[1000..], 1).unwrap());
        for (bytes, layers) in [
            (plain.clone(), vec![]),
            (gzip(&plain), vec!["gzip"]),
            (zst, vec!["zstd"]),
            (both, vec!["gzip", "zstd"]),
            (twice, vec!["gzip"]),
            (frames, vec!["zstd"]),
        ] {
            let (out, problem, compression) = read(bytes);
            assert_eq!((out == plain, problem, compression), (true, None, layers));
        }
    }

    #[test]
    fn a_truncated_file_gives_what_was_readable_and_the_reason() {
        let plain: Vec<u8> =
            (0..400_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
        for mut bytes in [gzip(&plain), zstd::encode_all(&plain[..], 1).unwrap()] {
            bytes.truncate(bytes.len() / 2);
            let (out, problem, _) = read(bytes);
            assert!(out.len() > plain.len() / 4, "{} of {}", out.len(), plain.len());
            assert!(plain.starts_with(&out));
            assert!(problem.is_some());
        }
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(read(Vec::new()), (Vec::new(), None, vec![]));
        assert_eq!(read(vec![0x1f]), (vec![0x1f], None, vec![]));
        let mut input = Input::new(Cursor::new(b"abc")).unwrap();
        assert_eq!(input.peek(8).unwrap(), b"abc");
        let mut out = String::new();
        input.read_to_string(&mut out).unwrap();
        assert_eq!(out, "abc");
    }
}
