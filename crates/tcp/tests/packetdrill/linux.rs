//! The endpoint as Linux has it, as far as there are keys for it.

use crate::settings::Settings;
use parshall_tcp::{Recovery, RtoFloor, Rules, TcpConfig};
use parshall_units::testing::defaults_with;
use parshall_units::{Duration, Packets};
use serde_json::json;

/// How long ACKs wait in Linux (`TCP_DELACK_MIN`), and how long its loss probes suppose that those of others may
/// (`TCP_RTO_MIN`).
pub const DELAYED_ACK: Duration = Duration::from_millis(40);
const LONGEST_DELAY: Duration = Duration::from_millis(200);

/// The sender's configuration; what is agreed with the peer changes it.
pub fn config(settings: &Settings) -> TcpConfig {
    TcpConfig {
        initial_window: Packets(settings.initial_window),
        recovery: Recovery::Rack,
        delayed_ack: Some(LONGEST_DELAY),
        min_rto: Duration::from_millis(settings.min_rto_ms),
        rto_floor: RtoFloor::Variation,
        max_rto: Duration::from_secs(120),
        accurate_ecn: settings.control == "dctcp",
        pacing: settings.paced,
        handshake: true,
        persistent: true,
        rules: settings.rules,
        ..defaults_with(TcpConfig::PARAMETERS, |each| (each.name == "rules").then(|| json!(Rules::RFC)))
    }
}
