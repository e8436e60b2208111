//! Bytes as a recording of the kernel's congestion controls.

use parshall_congestion::ControlConfig;
use parshall_replay::{qlog, replay as driven, Recording};
use std::sync::LazyLock;

/// Controls that are driven through it: one that sets windows, one that sets rates.
static CONTROLS: LazyLock<[ControlConfig; 2]> = LazyLock::new(|| {
    [
        r#"{"name":"reno","increase":1.0,"decrease":0.5,"ecn_decrease":0.0}"#,
        r#"{"name":"bbr_linux","ack_aggregation":true,"policer_detection":true,"probe_rtt_interval":10000000000000}"#,
    ]
    .map(|config| serde_json::from_str(config).expect("a control of the catalog"))
});

/// Replays it, and writes its connections as qlog; `None`: it is none, or is refused.
pub fn replay(bytes: &[u8]) -> Option<()> {
    let recording = Recording::of_bytes(bytes.to_vec()).ok()?;
    for of in recording.controls() {
        for control in &*CONTROLS {
            driven(&recording, of, control);
        }
    }
    for connection in &recording.connections {
        qlog::write(connection, &recording.header, &mut std::io::sink()).ok()?;
    }
    Some(())
}
