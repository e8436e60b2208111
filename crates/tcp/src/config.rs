//! The endpoint's parameters.

use crate::recovery::Recovery;
use crate::rto::RtoFloor;
use crate::ssthresh_cache::SsthreshCache;
use parshall_congestion::SlowStart;

parshall_units::configuration! {
    /// Parameters of a TCP endpoint; fully resolved.
    pub struct TcpConfig {
        /// Packets that may be sent before the first ACK (RFC 6928: 10).
        initial_window: u64 => Packets, default "10 packets", min 1.0, max 1e6;
        /// Initial slow-start threshold; without it, slow start goes on until the first loss.
        initial_ssthresh: Option<u64> => Packets, default "unlimited", min 2.0;
        /// How slow start ends: at a loss or the threshold (RFC 5681), or when the RTT grows (HyStart++, RFC 9406; needs timestamps).
        slow_start: SlowStart => Choice("standard", "hystart++"), default "standard";
        /// The receiver's window; without it, no limit.
        receive_window: Option<u64> => Packets, default "unlimited", min 1.0;
        /// How losses are found and repaired.
        recovery: Recovery => Recovery, default "sack";
        /// Whether SACK recovery spreads its sending by proportional rate reduction (RFC 6937).
        prr: bool => Boolean, default "true";
        /// Whether the first two duplicate ACKs release new packets (RFC 3042).
        limited_transmit: bool => Boolean, default "true";
        /// Longest time an ACK may wait for a second packet (RFC 5681: at most 500 ms); off: every packet is acknowledged.
        delayed_ack: Option<u64> => Duration, default "off", max 5e11;
        /// Smallest retransmission timeout (RFC 6298: 1 s; ns-2: 0.2 s); what it is a bound of, `rto_floor` says.
        min_rto: u64 => Duration, default "200 ms", min 1.0;
        /// What `min_rto` is a bound of: the whole timeout (RFC 6298), or what the timeout adds to the smoothed RTT for its variation, as in Linux, whose timeout is at least SRTT + 200 ms.
        rto_floor: RtoFloor => Choice("timeout", "variation"), default "timeout";
        /// Largest retransmission timeout.
        max_rto: u64 => Duration, default "60 s", min 1e9;
        /// Retransmission timeout before the first RTT sample.
        initial_rto: u64 => Duration, default "1 s", min 1e9;
        /// Clock granularity G of the RTT estimate.
        rto_granularity: u64 => Duration, default "1 ms", min 1.0;
        /// Whether every ACK gives an RTT sample (RFC 7323); off: one a round trip, never of a retransmission (Karn).
        timestamps: bool => Boolean, default "true";
        /// Whether packets are ECN-capable and marks are answered (RFC 3168).
        ecn: bool => Boolean, default "false";
        /// Whether an ACK echoes the marks of its own packets (RFC 8257 §3.2) instead of an echo that lasts until answered.
        accurate_ecn: bool => Boolean, default "false";
        /// Whether packets carry ECT(1), by which queues for L4S know the packets of a scalable control (RFC 9331 §4.1); `ecn` and `accurate_ecn` are on then.
        l4s: bool => Boolean, default "false";
        /// Whether packets are spaced over the RTT instead of being sent at once.
        pacing: bool => Boolean, default "false";
        /// Whether a connection opens with a SYN exchange.
        handshake: bool => Boolean, default "false";
        /// Which ssthresh of earlier connections of the same pair a connection starts from (RFC 2140): none, the last one's, the lowest of all, or what Linux keeps, which depends on the state in which a connection ended.
        ssthresh_cached: SsthreshCache => Choice("off", "last", "lowest", "linux"), default "off";
        /// Whether a flow's transfers follow each other on one connection, whose window lives on unless it was idle for a retransmission timeout (RFC 5681 §4.1).
        persistent: bool => Boolean, default "false";
        /// Whether a window grows by the packets acknowledged (RFC 3465) or by one an ACK (RFC 5681).
        byte_counting: bool => Boolean, default "true";
        /// Size of an ACK on the wire.
        ack_size: u32 => Bytes, default "40 B", min 1.0, max 65535.0;
    }
}
