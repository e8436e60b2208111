//! A file that a thread of its own writes. Who gives it packets never waits: while the disk is slow, the packets wait in memory, and
//! what finds no room there is left out and counted.

use std::fs::File;
use std::io::{self, Write};
use std::sync::mpsc::{sync_channel, SyncSender, TrySendError};
use std::thread::{self, JoinHandle};

/// What is handed to the thread at once, about.
const PIECE_BYTES: usize = 1 << 16;

/// Pieces that may wait: 64 MiB, some 5 s of a full link of 1 Gbit/s.
const MOST_PIECES: usize = 1 << 10;

/// A file, and the thread that writes it.
#[derive(Debug)]
pub(super) struct Background {
    thread: JoinHandle<io::Result<File>>,
    queue: SyncSender<Vec<u8>>,
    /// What is to be handed over next, and the packets in it.
    piece: Vec<u8>,
    packets: u64,
    left_out: u64,
}

impl Background {
    pub(super) fn begin(file: File) -> io::Result<Self> {
        Self::with_room(file, MOST_PIECES)
    }

    fn with_room(mut file: impl Write + Into<File> + Send + 'static, pieces: usize) -> io::Result<Self> {
        let (queue, waiting) = sync_channel::<Vec<u8>>(pieces);
        let write = move || {
            for piece in waiting {
                file.write_all(&piece)?;
            }
            Ok(file.into())
        };
        let thread = thread::Builder::new().name("captures".into()).spawn(write)?;
        Ok(Self { thread, queue, piece: Vec::with_capacity(PIECE_BYTES), packets: 0, left_out: 0 })
    }

    /// Takes a packet; whether the thread is still there. If it is not, [`finish`](Self::finish) says why.
    pub(super) fn write(&mut self, parts: &[&[u8]]) -> bool {
        for part in parts {
            self.piece.extend_from_slice(part);
        }
        self.packets += 1;
        if self.piece.len() + PIECE_BYTES / 16 < PIECE_BYTES {
            return true;
        }
        let piece = std::mem::replace(&mut self.piece, Vec::with_capacity(PIECE_BYTES));
        let packets = std::mem::take(&mut self.packets);
        match self.queue.try_send(piece) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.left_out += packets;
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }

    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Waits until all is written.
    pub(super) fn finish(self) -> io::Result<File> {
        let _ = self.queue.send(self.piece); // if the thread has ended, it says why
        drop(self.queue);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("its thread ended unexpectedly")))
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "files of the tests' own")]
mod tests {
    use super::*;
    use std::io::Read;
    use std::sync::mpsc::{channel, Receiver};

    /// A file that writes when it is told to.
    struct Slow {
        file: File,
        go_on: Receiver<()>,
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.go_on.recv();
            self.file.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            self.file.flush()
        }
    }

    impl From<Slow> for File {
        fn from(slow: Slow) -> Self {
            slow.file
        }
    }

    const PACKET: [u8; 1000] = [7; 1000];

    #[test]
    fn a_slow_disk_makes_nobody_wait_and_what_is_left_out_is_counted() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let (go, go_on) = channel();
        let slow = Slow { file: path.reopen().unwrap(), go_on };
        let mut background = Background::with_room(slow, 2).unwrap();
        assert!((0..1000).all(|_| background.write(&[&PACKET[..400], &PACKET[400..]])));
        let left_out = background.left_out();
        assert!((700..1000).contains(&left_out), "two to three pieces of 61 packets have room: {left_out}");
        drop(go); // from now on it writes at once
        background.finish().unwrap();
        let mut written = Vec::new();
        path.reopen().unwrap().read_to_end(&mut written).unwrap();
        assert_eq!(written.len() as u64, 1000 * (1000 - left_out), "whole packets");
    }

    #[test]
    fn a_disk_that_fails_is_heard_of() {
        let path = tempfile::NamedTempFile::new().unwrap();
        let only_read = File::open(path.path()).unwrap();
        let mut background = Background::begin(only_read).unwrap();
        while background.write(&[&PACKET]) {}
        assert!(background.finish().is_err());
    }
}
