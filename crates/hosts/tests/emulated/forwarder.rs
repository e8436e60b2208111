//! A network of nothing but wires: what one host sends is written to the other's device, at once or after a delay.

use parshall_hosts::Tuns;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest packet with its virtio header.
const ROOM: usize = 66_000;

/// Larger than a packet without data.
const WITH_DATA: usize = 200;

/// One direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wire {
    pub delay: Duration,
    /// One of so many packets with data is lost; 0: none.
    pub lose_one_of: usize,
}

/// Both wires; they end when this is dropped.
pub struct Forwarder {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Forwarder {
    /// `there`: from the senders to the receivers; the way back loses nothing.
    pub fn start(pairs: Vec<Tuns>, there: Wire) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let back = Wire { lose_one_of: 0, ..there };
        let mut threads = Vec::new();
        for Tuns { senders, receivers } in pairs {
            let (senders, receivers) = (Arc::new(senders), Arc::new(receivers));
            for (from, to, wire) in [(senders.clone(), receivers.clone(), there), (receivers, senders, back)]
            {
                let stop = stop.clone();
                threads.push(std::thread::spawn(move || carry(&from, &to, wire, &stop)));
            }
        }
        Self { stop, threads }
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

fn carry(from: &OwnedFd, to: &OwnedFd, wire: Wire, stop: &AtomicBool) {
    let mut buffer = vec![0; ROOM];
    let mut waiting: VecDeque<(Instant, Vec<u8>)> = VecDeque::new();
    let mut with_data = 0;
    while !stop.load(Ordering::Acquire) {
        let now = Instant::now();
        while waiting.front().is_some_and(|(due, _)| *due <= now) {
            let _ = waiting.pop_front().map(|(_, packet)| rustix::io::write(to, &packet));
        }
        let patience = waiting.front().map_or(Duration::from_millis(20), |(due, _)| *due - now);
        let patience = Timespec { tv_sec: 0, tv_nsec: patience.subsec_nanos().into() };
        let _ = poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&patience));
        for _ in 0..64 {
            let Ok(length) = rustix::io::read(from, &mut buffer) else { break };
            with_data += usize::from(length > WITH_DATA);
            if wire.lose_one_of > 0 && length > WITH_DATA && with_data % wire.lose_one_of == 0 {
                continue;
            }
            if wire.delay.is_zero() {
                let _ = rustix::io::write(to, &buffer[..length]);
            } else {
                waiting.push_back((Instant::now() + wire.delay, buffer[..length].to_vec()));
            }
        }
    }
}
