//! The endpoint as Linux has it, as far as there are keys for it.

use crate::settings::Settings;
use parshall_congestion::SlowStart;
use parshall_tcp::{Recovery, RtoFloor, Rules, SsthreshCache, TcpConfig};
use parshall_units::{Bytes, Duration, Packets};

/// How long ACKs wait in Linux (`TCP_DELACK_MIN`), and how long its loss probes suppose that those of others may (`TCP_RTO_MIN`).
pub const DELAYED_ACK: Duration = Duration::from_millis(40);
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// The sender's configuration; what is agreed with the peer changes it.
pub fn config(settings: &Settings) -> TcpConfig {
    let dctcp = settings.control == "dctcp";
    TcpConfig {
        initial_window: Packets(settings.initial_window),
        initial_ssthresh: None,
        slow_start: SlowStart::Standard,
        max_ssthresh: Packets(100),
        receive_window: None,
        recovery: Recovery::Rack,
        prr: true,
        limited_transmit: true,
        delayed_ack: Some(LONGEST_DELAY),
        min_rto: Duration::from_millis(settings.min_rto_ms),
        rto_floor: RtoFloor::Variation,
        max_rto: Duration::from_secs(120),
        initial_rto: Duration::from_secs(1),
        rto_granularity: Duration::from_millis(1),
        timestamps: true,
        ecn: false,
        accurate_ecn: dctcp,
        l4s: false,
        pacing: settings.paced,
        handshake: true,
        ssthresh_cached: SsthreshCache::Off,
        persistent: true,
        byte_counting: true,
        rules: Rules::Linux,
        ack_size: Bytes(40),
    }
}
