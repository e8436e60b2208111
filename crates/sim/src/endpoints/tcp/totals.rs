//! The totals of a TCP flow.

use super::TcpFlow;
use crate::groups::TcpGroup;
use crate::measured::Measured;
use parshall_records::FlowRow;
use parshall_units::Duration;

pub(super) fn row(flow: &TcpFlow, group: &TcpGroup, measured: &Measured<'_>) -> FlowRow {
    let statistics = flow.sender.statistics();
    let sent = statistics.packets_sent;
    let links = measured.path_delay(&group.path) + measured.path_delay(&group.reverse_path);
    FlowRow {
        group: group.name.clone(),
        flow: flow.id,
        congestion_control: group.control.name().into(),
        rtt_base_s: Some((flow.propagation.total() + links).as_secs_f64()),
        start_s: measured.started_s(flow.started),
        goodput_bps: Some(measured.rate_bps(flow.delivered_measured())),
        throughput_bps: Some(measured.rate_bps(flow.received)),
        packets_sent: Some(sent),
        retransmissions: Some(statistics.retransmissions),
        packets_dropped: Some(flow.dropped),
        loss_rate: (sent > 0).then(|| flow.dropped as f64 / sent as f64),
        loss_events: Some(statistics.loss_events),
        timeouts: Some(statistics.timeouts),
        ecn_reductions: Some(statistics.ecn_reductions),
        mean_cwnd_packets: statistics.mean_window(),
        mean_rtt_s: statistics.mean_rtt_s(),
        min_rtt_s: statistics.min_rtt().map(Duration::as_secs_f64),
        ..measured.common_row(flow.id, flow.edge.as_deref())
    }
}
