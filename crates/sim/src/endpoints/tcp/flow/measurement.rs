//! The counts of a flow: from the end of the warm-up to the end of the simulation.

use super::TcpFlow;
use crate::groups::TcpGroup;
use crate::shared::Core;
use parshall_engine::Packet;
use parshall_records::RecordsError;
use parshall_units::Instant;

impl TcpFlow {
    /// Payload that arrived for the first time since the warm-up, bytes.
    pub(crate) fn delivered_measured(&self) -> u64 {
        self.delivered - self.delivered_before
    }

    pub(super) fn begin_measurement(&mut self, warm_up: Instant) {
        self.measuring = true;
        self.sender.settle(warm_up);
        let statistics = self.sender.statistics_mut();
        // A transfer under way keeps its own counts across the restart.
        let application = &mut self.application;
        application.sent_before = application.sent_before.wrapping_sub(statistics.packets_sent);
        application.retransmissions_before =
            application.retransmissions_before.wrapping_sub(statistics.retransmissions);
        application.timeouts_before = application.timeouts_before.wrapping_sub(statistics.timeouts);
        if let Some(probe) = &mut self.probe {
            probe.restart_counts(statistics);
        }
        statistics.restart(warm_up);
    }

    /// A link lost a packet of this flow.
    pub(crate) fn on_drop(&mut self, group: &TcpGroup, warm_up: Instant, packet: &Packet) {
        if let Some(edge) = &mut self.edge {
            edge.dropped(packet, packet.sent >= warm_up);
        }
        self.count_loss(group, warm_up, packet);
    }

    /// The loss of a packet counts if the packet was counted when it was sent: none from before the warm-up, and no ACK of a handshake.
    pub(super) fn count_loss(&mut self, group: &TcpGroup, warm_up: Instant, packet: &Packet) {
        if group.is_bare(packet) {
            return;
        }
        self.dropped += u64::from(packet.sent >= warm_up);
        if let Some(probe) = &mut self.probe {
            probe.mark_lost(packet.sent);
        }
    }

    /// Brings the flow to the end of the simulation.
    pub(crate) fn end(&mut self, group: &TcpGroup, core: &mut Core) -> Result<(), RecordsError> {
        let end = core.end;
        if !self.measuring {
            self.begin_measurement(core.warm_up);
        }
        self.sample(core, end);
        if self.application.active {
            self.sender.settle(end);
            if self.application.bytes.is_some() && group.role.is_none() {
                let row = self.transfer_row(group, None);
                core.sink.record(|tables| tables.transfers.push(row));
            }
        }
        if let Some(probe) = &mut self.probe {
            probe.end(core, self.id);
        }
        if let Some(edge) = &mut self.edge {
            edge.end(core);
        }
        core.sink.recorder.take_error()
    }
}
