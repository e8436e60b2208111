//! Linux's segmentation offload of packets that may go. It waits if it is less than a whole burst, and an ACK that makes room
//! for more is due within a millisecond (`tcp_tso_should_defer`); the last packet of what is segmented at once is pushed
//! (`__tcp_transmit_skb`).
//!
//! | kernel | here |
//! | --- | --- |
//! | `max_segs` | [`packets_together`], of paced and unpaced connections |
//! | `tcp_cwnd_test` | [`most_at_once`] |
//! | `tcp_wstamp_ns` | when the last packet was sent; with pacing, when the next may go |
//! | `tcp_tso_win_divisor` | [`SHARE`] |
//!
//! In the state Open only, and not where packets are SACKed or lost: there one packet after another is asked for, and
//! goes. A buffer of the kernel begins with each [`SEGMENTED`] packets of a connection here.
//!
//! Read for these facts: net/ipv4/tcp_output.c of Linux 6.18.

use super::transmission::pacing_gap;
use crate::connection::{Connection, Phase};
use crate::pacing::Pacing;
use crate::policies::{most_at_once, packets_together, segments_together, SEGMENTED};
use crate::recovery::{LossRecovery, Repair};
use crate::TcpConfig;
use parshall_units::{Duration, Instant};

/// So little time must have passed since the last transmission, and be left until the next ACK, at most.
const SOON: Duration = Duration::from_millis(1);
/// What is at least this part of the window goes.
const SHARE: u64 = 3;

/// Returns the number of `room` packets that wait.
pub(super) fn packets(
    connection: &Connection,
    recovery: &LossRecovery,
    config: &TcpConfig,
    now: Instant,
    room: u64,
) -> u64 {
    let paced = connection.pacing.as_deref();
    if room == 0 || connection.phase != Phase::Open || paced.is_some_and(Pacing::is_in_burst) {
        return 0;
    }
    let Some(last) = recovery.last_sent() else { return 0 };
    let written = paced.map_or(last, |pacing| last.max(pacing.next()));
    let recent = now.since(written) <= SOON;
    // Cheap for most ACKs: two packets go together at least.
    if !recent && room <= 2 || !recovery.first_sent().is_some_and(|first| is_due(connection, first, now)) {
        return 0;
    }
    let burst = together(connection, config);
    let mut rest = room % burst;
    if rest == room && !recent {
        return 0;
    }
    let next = connection.nxt + room - rest;
    let supplied = connection.send_limit(config).saturating_sub(next);
    let buffered = SEGMENTED - (next - 1) % SEGMENTED;
    if rest >= buffered && supplied > buffered {
        rest -= buffered;
    }
    let waits = supplied > 1 && SHARE * rest < connection.whole_window();
    if waits {
        rest
    } else {
        0
    }
}

/// True if the ACK of a packet that was sent at `sent` is due soon.
fn is_due(connection: &Connection, sent: Instant, now: Instant) -> bool {
    let srtt = connection.rtt.srtt();
    sent + srtt <= now + srtt.over(2).min(SOON)
}

/// The bursts of packets that are sent at the same time.
#[derive(Debug)]
pub struct Segmentation {
    most: u64,
    packets: u64,
}

impl Segmentation {
    /// None yet, of a connection whose packets are sent together now.
    pub(super) fn new(connection: &Connection, config: &TcpConfig) -> Self {
        Self { most: together(connection, config).min(most_at_once(connection.whole_window())), packets: 0 }
    }

    /// True if a packet is pushed, with the number of the one that was sent after it: if it is the last of several that are
    /// segmented at once, which follow each other and are of one buffer.
    pub fn push(&mut self, packet: u64, next: Option<u64>) -> bool {
        self.packets += 1;
        let ends = self.packets == self.most || next.is_none_or(|next| !segments_together(packet, next));
        let push = ends && self.packets > 1;
        if ends {
            self.packets = 0;
        }
        push
    }
}

/// How many packets are segmented at once, at most, by the rate.
#[inline(never)]
fn together(connection: &Connection, config: &TcpConfig) -> u64 {
    u64::from(packets_together(pacing_gap(connection, config), connection.rtt.min())).max(2)
}
