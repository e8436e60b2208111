//! What controls are told.

use parshall_units::{Duration, Instant};

/// How a connection begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window in packets.
    pub window: f64,
    /// Slow-start threshold in packets, infinite if nothing is known about the path.
    pub ssthresh: f64,
}

/// New data was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When the ACK arrived.
    pub now: Instant,
    /// Packets to credit: those newly acknowledged (RFC 3465), or 1 an ACK (RFC 5681), as the
    /// endpoint is configured to count.
    pub acked: f64,
    /// RTT sample of this ACK, if it gave one.
    pub rtt: Option<Duration>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Smallest RTT of the connection; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Packets in flight when the ACK arrived, those it acknowledges included.
    pub in_flight: u64,
    /// Whether the window, and not the application or the receiver, limited the sender: a
    /// window that was not used has not been tested and should not grow (RFC 7661).
    pub window_limited: bool,
    /// Whether this ACK covers the first packet sent after the previous such ACK: one a round trip.
    pub round_ended: bool,
}

/// How congestion was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A packet was lost.
    Loss,
    /// A packet was marked (RFC 3168).
    Ecn,
}

/// The network is congested.
#[derive(Clone, Copy, Debug)]
pub struct CongestionEvent {
    /// When it was noticed.
    pub now: Instant,
    /// How it was noticed.
    pub signal: Signal,
    /// Packets sent and not yet acknowledged (FlightSize), lost ones included.
    pub in_flight: u64,
}
