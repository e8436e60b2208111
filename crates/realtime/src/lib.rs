//! The network of a scenario in real time: packets of real hosts cross its links, queues and delays.
//!
//! Two hosts, each behind a TUN device (`IFF_NO_PI | IFF_VNET_HDR`, with checksum and segmentation offload): the
//! senders' and the receivers'. Flows whose hosts differ have another such pair. The caller opens the devices and
//! assigns the addresses ([`Side`]). One thread ([`Emulator::run`]) sleeps until a packet is due or has arrived, at
//! least a tick since the last look, and then does this:
//!
//! 1. read all packets that are there; cut super-packets to the segments that a network card would send ([`cut`]);
//! 2. hand each segment into the [`Simulation`](parshall_sim::Simulation), and advance that to the clock;
//! 3. write the packets that are due to the other host; segments of a TCP flow that follow each other are merged to one
//!    super-packet, as the receiver's own kernel would ([`merge`]), so that its cost per packet does not limit the
//!    rate;
//! 4. read once more, so that immediate answers of the hosts are not a tick late.
//!
//! # Differences from the scenario
//!
//! *Delays* are a little too long. A packet is written when the thread has woken for it: late by the time that the
//! kernel takes to wake a thread, and, where packets follow each other closely, by half a tick on average, because they
//! wait for the next look. A packet that comes is handed in when the thread sees it: as late, but hardly at all if it
//! answers what was just written (4). So an RTT is too long by two deliveries and an arrival. In a virtual machine of
//! two CPUs, shared with compilers, pings over an RTT of 10 ms took 0.25 ms more in the median, 0.37 ms in 1 %, of
//! which the lateness of the two deliveries was 0.17 ms. This is a bias; it is measured ([`Measured::rtt_bias_s`]), and
//! not compensated. To deliver earlier by the mean would be right for an idle machine only, where threads wake late
//! from deep sleep; under load packets would be early, and an emulated network that is faster than the scenario's is a
//! worse fault than one that is slower.
//!
//! *Times of arrival* at the links are those of looks: what comes within a tick comes together. Of many packets that
//! come at once some wait for the next look, so that those that are due do not.
//!
//! *The hosts' kernels* do most of their work for a packet within the write that delivers it, on this thread: TCP
//! receives, and answers. So the number of writes limits the rate, and many flows whose packets cannot be merged need
//! more CPU time than one. The kernel can do it on other CPUs (receive packet steering), as
//! `parshall_emulation` does for many flows; then the answer comes at a later look.
//!
//! All other deviations of a run are in [`Measured`] as well, and [`Measured::verdict`] judges them.
//!
//! | file | what |
//! | --- | --- |
//! | [`driver`] | the loop |
//! | [`side`] | a host's device: reading, writing, whose packet it is |
//! | [`virtio`], [`headers`], [`checksum`] | the formats |
//! | [`cut`], [`merge`] | segmentation, and its inverse |
//! | [`pool`] | memory of packets under way |
//! | [`journal`] | what came from the hosts, for a replay |
//! | [`echo`] | how long the hosts take to answer |
//! | [`clock`], [`scheduling`] | sleeping until a tick, real-time priority |
//! | [`measured`], [`verdict`] | what a run kept, and whether that is enough |

#![cfg(target_os = "linux")]

mod checksum;
mod clock;
mod cut;
mod driver;
mod echo;
mod headers;
mod journal;
mod measured;
mod merge;
mod payload;
mod pool;
mod scheduling;
mod side;
#[cfg(test)]
mod testing;
mod verdict;
mod virtio;

pub use clock::monotonic_ns;
pub use driver::{Emulator, Ran, Settings, Stopped};
pub use journal::{Journal, Replayed};
pub use measured::{Measured, Unwritten};
pub use scheduling::Priority;
pub use side::{Pair, Prefix, Side};
pub use verdict::{Finding, Level, Verdict};

use parshall_sim::SimError;
use std::io;
use thiserror::Error;

/// Why an emulation gave no result.
#[derive(Debug, Error)]
pub enum EmulatorError {
    /// The simulated part failed.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// A device cannot be used.
    #[error("the {side} device: {source}")]
    Device {
        /// Whose: "senders'" or "receivers'".
        side: &'static str,
        /// What went wrong.
        source: io::Error,
    },
    /// The settings cannot be kept.
    #[error("{key}: {problem}")]
    Settings {
        /// Which.
        key: &'static str,
        /// What is wrong, and what is accepted.
        problem: String,
    },
}
