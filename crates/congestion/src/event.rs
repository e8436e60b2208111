//! Events for controls.

use parshall_units::{Duration, Instant};

/// The beginning of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window in packets.
    pub window: f64,
    /// Slow-start threshold in packets, infinite if nothing is known about the path.
    pub ssthresh: f64,
    /// The seed of the control's own random choices: another word for each connection, seed and repetition.
    pub random: u64,
    /// Number of the flow in the records.
    pub flow: u32,
    /// When the connection begins.
    pub at: Instant,
}

impl Start {
    /// Ten packets, at the beginning, of flow 0, of which nothing is known.
    pub const NEW: Self =
        Self { window: 10.0, ssthresh: f64::INFINITY, random: 0, flow: 0, at: Instant::ZERO };
}

/// Where a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// After a timeout, until all that was sent before it is acknowledged.
    Loss,
}

/// An ACK arrived.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// When it arrived.
    pub now: Instant,
    /// Where it leaves the connection. An ACK that ends a fast recovery without SACK is the last one of that recovery.
    pub phase: Phase,
    /// Packets that it acknowledges cumulatively for the first time.
    pub acked: u64,
    /// Packets by which the window may count it: those acknowledged (RFC 3465), or 1 an ACK (RFC 5681), as the endpoint
    /// is configured; no more than 1 while it repairs after a timeout (RFC 3465 §2.3).
    pub credit: f64,
    /// RTT sample of this ACK, if it gave one.
    pub rtt: Option<Duration>,
    /// One-way delay of the packet that it answers, for controls that [need](crate::Needs::one_way_delay) that: the
    /// receiver's timestamp less the one that it echoes (RFC 7323), so that the wait of a delayed ACK is part of it.
    /// The two clocks are one here; elsewhere they differ by an offset that nobody knows, so that only differences of
    /// such delays mean something.
    pub one_way_delay: Option<Duration>,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Smallest RTT of the connection; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
    /// Packets in flight when the ACK arrived, those it acknowledges included.
    pub in_flight: u64,
    /// True if the window may grow: not in fast recovery; not if the application or the receiver limited the sender, because
    /// a window that was not used has not been tested (RFC 7661); nor if the ACK echoes a mark, or belongs to the round trip
    /// in which the window was reduced for one (RFC 3168 §6.1.2; the CWR state of Linux).
    pub may_grow: bool,
    /// True if this ACK covers the first packet sent after the previous such ACK: one a round trip.
    pub round_ended: bool,
    /// True if it echoes a mark: of its own packets, if the receiver echoes accurately (RFC 8257 §3.2).
    pub ecn_echo: bool,
    /// A sample of the delivery rate, for controls that [need](crate::Needs::rate_samples) that.
    pub sample: Option<RateSample>,
}

/// The path as an ACK shows it (draft-ietf-ccwg-bbr-06 §4.1). The sampled packet is the one sent last of those that the
/// ACK reports as delivered.
#[derive(Clone, Copy, Debug)]
pub struct RateSample {
    /// Packets delivered so far: acknowledged cumulatively or selectively.
    pub delivered: u64,
    /// Of these, when the sampled packet was sent.
    pub prior_delivered: u64,
    /// Packets/s delivered since then; `None` if that was less than the smallest RTT ago, as after a spurious
    /// retransmission.
    pub rate: Option<f64>,
    /// Packets that this ACK reports as delivered.
    pub newly_delivered: u64,
    /// Packets that it makes count as lost.
    pub newly_lost: u64,
    /// Packets that came to count as lost since the sampled packet was sent.
    pub lost: u64,
    /// Packets in the network, after this ACK, and just after the sampled packet was sent.
    pub in_flight: u64,
    /// See `in_flight`.
    pub sent_in_flight: u64,
    /// For how long pacing holds the next packet back.
    pub next_send: Duration,
    /// True if the sender ran out of data while the packets of the sample were sent.
    pub app_limited: bool,
}

/// A packet is about to be sent while none is outstanding: the first one, or one after an idle time.
#[derive(Clone, Copy, Debug)]
pub struct TransmissionStart {
    /// When.
    pub now: Instant,
    /// True if the sender had run out of data; known of controls that [need](crate::Needs::rate_samples) samples.
    pub app_limited: bool,
    /// Smoothed RTT; zero before the first sample.
    pub srtt: Duration,
    /// Smallest RTT of the connection; [`Duration::MAX`] before the first sample.
    pub min_rtt: Duration,
}

/// The signal of congestion.
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
    /// The signal.
    pub signal: Signal,
    /// Packets sent and not yet acknowledged (FlightSize), lost ones included.
    pub in_flight: u64,
}

#[cfg(test)]
impl AckEvent {
    /// An ACK of one packet of a window in use, outside recovery.
    pub(crate) fn of_one_packet(now: Instant, rtt: Duration) -> Self {
        Self {
            now,
            phase: Phase::Open,
            acked: 1,
            credit: 1.0,
            rtt: Some(rtt),
            one_way_delay: None,
            srtt: rtt,
            min_rtt: rtt,
            in_flight: 100,
            may_grow: true,
            round_ended: false,
            ecn_echo: false,
            sample: None,
        }
    }
}
