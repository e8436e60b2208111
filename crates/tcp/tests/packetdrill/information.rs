//! What code in scripts may ask for: the fields of Linux's `tcp_info` that our sender has.

use crate::endpoint::{Endpoint, State};
use parshall_congestion::CongestionControl;
use parshall_tcp::sender::Phase;
use parshall_units::Duration;

/// `ssthresh` of Linux before the first reduction.
const INFINITE: f64 = 2_147_483_647.0;

/// A field by its name; `None`: we have no such.
pub fn field(endpoint: &Endpoint, name: &str) -> Option<f64> {
    let sender = endpoint.sender()?;
    let info = sender.info(endpoint.config());
    let statistics = sender.statistics();
    let microseconds = |time: Duration| (time.as_secs_f64() * 1e6).floor();
    let written = &endpoint.written;
    let whole = |packets: f64| (packets + 1e-9).floor(); // 7 may be 6.999...
    let config = endpoint.config();
    Some(match name {
        "tcpi_state" => match endpoint.state {
            State::Established => 1.0,
            State::Active => 2.0,
            State::Passive => 3.0,
            State::Closed | State::Listening => return None,
        },
        "tcpi_ca_state" => match sender.phase() {
            Phase::Connecting => 0.0,
            Phase::Open if info.reduced => 2.0,
            Phase::Open => f64::from(u8::from(info.sacked > 0)),
            Phase::Recovery => 3.0,
            Phase::Loss => 4.0,
        },
        "tcpi_snd_cwnd" => whole(info.window),
        "tcpi_snd_ssthresh" if info.ssthresh.is_finite() => whole(info.ssthresh),
        "tcpi_snd_ssthresh" => INFINITE,
        "tcpi_unacked" => info.unacked as f64,
        "tcpi_sacked" => info.sacked as f64,
        "tcpi_lost" => info.lost as f64,
        "tcpi_retrans" => info.retransmitted as f64,
        "tcpi_retransmits" | "tcpi_backoff" => f64::from(info.backoff),
        "tcpi_rto" => microseconds(info.timeout),
        "tcpi_rtt" => microseconds(info.smoothed_rtt),
        "tcpi_rttvar" => microseconds(info.rtt_variation),
        "tcpi_min_rtt" if info.min_rtt != Duration::MAX => microseconds(info.min_rtt),
        "tcpi_snd_mss" => written.mss as f64,
        "tcpi_options" => {
            let flag = |set: bool, bit: u8| f64::from(u8::from(set) << bit);
            let scaled = flag(endpoint.is_scaled(), 2);
            flag(config.timestamps, 0) + flag(config.recovery.uses_sack(), 1) + scaled + flag(config.ecn, 3)
        }
        "tcpi_total_retrans" => statistics.retransmissions as f64,
        "tcpi_data_segs_out" => (statistics.packets_sent - statistics.syns) as f64,
        "tcpi_bytes_acked" => written.stream.start(sender.una()) as f64,
        "tcpi_notsent_bytes" => (written.bytes - written.stream.start(sender.max())) as f64,
        "tcpi_bytes_received" => endpoint.received() as f64,
        "tcpi_pacing_rate" => sender.control().pacing_rate()? * written.mss as f64,
        _ => return None,
    })
}
