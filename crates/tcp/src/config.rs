//! The endpoint's parameters.

use crate::policies::Rules;
use crate::recovery::Recovery;
use crate::rto::RtoFloor;
use crate::ssthresh_cache::SsthreshCache;
use parshall_congestion::{SlowStart, SlowStartChoice};
use parshall_units::{Bytes, Duration, Packets};

parshall_units::configuration! {
    /// Parameters of a TCP endpoint; fully resolved.
    pub struct TcpConfig {
        /// Packets that may be sent before the first ACK (RFC 6928: 10).
        initial_window: Packets, default "10 packets", min "1 packet", max "1_000_000 packets";
        /// Initial slow-start threshold; without it, slow start goes on until the first loss.
        initial_ssthresh: Option<Packets>, default "unlimited", min "2 packets";
        #[doc = "How slow start ends: at a loss or the threshold (RFC 5681); when the RTT grows (HyStart++, RFC 9406; \
            needs timestamps); or as the first, in steps that are bounded (limited slow start, RFC 3742)."]
        slow_start: SlowStart, default "standard";
        #[doc = "Window from which on limited slow start adds no more than half of this in a round trip (RFC 3742: 100 \
            packets)."]
        max_ssthresh: Packets, default "100 packets", min "2 packets";
        /// The receiver's window; without it, no limit.
        receive_window: Option<Packets>, default "unlimited", min "1 packet";
        #[doc = "What the buffer of a receiver begins with, by the rules of Linux (the middle value of its \
            `tcp_rmem`): until the window fills what the buffer holds, an ACK answers each packet. The buffer grows \
            with what is read in a round trip. It limits a sender only where packets are missing, because those \
            behind them wait in it."]
        initial_receive_buffer: Bytes, default "128 KiB", min "4 KiB", max "1 GiB";
        /// How losses are found and repaired.
        recovery: Recovery => Recovery, default "sack";
        /// Whether SACK recovery spreads its sending by proportional rate reduction (RFC 6937).
        prr: bool, default "true";
        /// Whether the first two duplicate ACKs release new packets (RFC 3042).
        limited_transmit: bool, default "true";
        #[doc = "Longest time an ACK may wait for a second packet (RFC 5681: at most 500 ms); off: every packet is \
            acknowledged."]
        delayed_ack: Option<Duration>, default "off", max "500 ms";
        /// Smallest retransmission timeout (RFC 6298: 1 s; ns-2: 0.2 s); what it is a bound of, `rto_floor` says.
        min_rto: Duration, default "200 ms", min "1 ps";
        #[doc = "What `min_rto` is a bound of: the whole timeout (RFC 6298), or what the timeout adds to the smoothed \
            RTT for its variation, as in Linux, whose timeout is at least SRTT + 200 ms."]
        rto_floor: RtoFloor, default "timeout";
        /// Largest retransmission timeout.
        max_rto: Duration, default "60 s", min "1 ms";
        /// Retransmission timeout before the first RTT sample.
        initial_rto: Duration, default "1 s", min "1 ms";
        /// Clock granularity G of the RTT estimate.
        rto_granularity: Duration, default "1 ms", min "1 ps";
        #[doc = "Tick of the clock at which timers of both ends expire, as in Linux: up to two ticks late, and those \
            of 63 ticks and more up to about an eighth of what they last; off: at their time."]
        timer_tick: Option<Duration>, default "off", min "1 us", max "1 s";
        /// Whether every ACK gives an RTT sample (RFC 7323); off: one a round trip, never of a retransmission (Karn).
        timestamps: bool, default "true";
        /// Whether packets are ECN-capable and marks are answered (RFC 3168).
        ecn: bool, default "false";
        #[doc = "Whether an ACK echoes the marks of its own packets (RFC 8257 §3.2) instead of an echo that lasts \
            until answered."]
        accurate_ecn: bool, default "false";
        #[doc = "Whether packets carry ECT(1), by which queues for L4S know the packets of a scalable control (RFC \
            9331 §4.1); `ecn` and `accurate_ecn` are on then."]
        l4s: bool, default "false";
        /// Whether packets are spaced over the RTT instead of being sent at once.
        pacing: bool, default "false";
        /// Whether a connection opens with a SYN exchange.
        handshake: bool, default "false";
        #[doc = "Which ssthresh of earlier connections of the same pair a connection starts from (RFC 2140): none, the \
            last one's, the lowest of all, or what Linux keeps, which depends on the state in which a connection \
            ended."]
        ssthresh_cached: SsthreshCache, default "off";
        #[doc = "Whether a flow's transfers follow each other on one connection, whose window lives on unless it was \
            idle for a retransmission timeout (RFC 5681 §4.1)."]
        persistent: bool, default "false";
        /// Whether a window grows by the packets acknowledged (RFC 3465) or by one an ACK (RFC 5681).
        byte_counting: bool, default "true";
        #[doc = "Whose rules hold where the RFCs and Linux differ: of all policies, or of some (`{ base = \"linux\", \
            recovery_rate = \"rfc\" }`)."]
        rules: Rules, default "rfc";
        /// Size of an ACK on the wire.
        ack_size: Bytes, default "40 B", min "1 B", max "65535 B";
    }
}

impl TcpConfig {
    /// Returns the beginning of a connection's control.
    pub fn slow_start(&self) -> SlowStartChoice {
        SlowStartChoice {
            kind: self.slow_start,
            max_ssthresh: self.max_ssthresh.0 as f64,
            paced: self.pacing,
        }
    }
}
