//! A flow's transfers: each begins on a connection of its own or on the one that lives on, and ends when all is acknowledged.

use super::TcpFlow;
use crate::endpoints::tcp::application::ENDLESS_BYTES;
use crate::groups::TcpGroup;
use crate::shared::{awaited_is_done, Core};
use parshall_congestion::Start;
use parshall_engine::random::mix;
use parshall_records::TransferRow;
use parshall_tcp::sender::{Phase, ENDLESS};
use parshall_units::Instant;

impl TcpFlow {
    /// True if all of the transfer is acknowledged.
    #[inline]
    pub(super) fn is_complete(&self) -> bool {
        self.sender.phase() != Phase::Connecting && self.sender.is_complete()
    }

    /// An open-loop arrival starts a transfer on this idle flow.
    pub(crate) fn start_now(&mut self, group: &TcpGroup, core: &mut Core, now: Instant, bytes: u64) {
        if self.started == Instant::MAX {
            self.started = now;
        }
        self.application.pending = Some(bytes);
        self.application.start = now;
        self.advance(group, core, now);
        self.run_timers(group, core, now);
    }

    /// The transfer that is due begins.
    pub(super) fn start_transfer(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        let Some(bytes) = self.application.pending.take() else { return };
        self.application.start = Instant::MAX;
        // Of exchanges, the other end may have all before this one knows: then more follows on what is under way.
        self.application.index += u32::from(self.application.active);
        let own_connection = !group.tcp.persistent || self.application.index == 0;
        if own_connection {
            self.open_connection(group, now);
        } else if !self.application.active {
            self.resume_connection(group, now);
        }
        let application = &mut self.application;
        application.active = true;
        application.begun = now;
        let statistics = self.sender.statistics();
        application.sent_before = statistics.packets_sent;
        application.retransmissions_before = statistics.retransmissions;
        application.timeouts_before = statistics.timeouts;
        self.tell_transfer(core, now, (bytes != ENDLESS_BYTES).then_some(bytes), own_connection);
        let application = &mut self.application;
        if bytes == ENDLESS_BYTES {
            application.bytes = None;
            self.sender.supply(ENDLESS);
        } else {
            application.bytes = Some(bytes);
            self.sender.supply(bytes.div_ceil(u64::from(group.payload_bytes())));
        }
        if self.is_complete() {
            self.finish_transfer(group, core, now); // nothing to send
        }
    }

    /// The connection lives on. RFC 5681 §4.1: after an idle timeout with a window of a new one at most
    fn resume_connection(&mut self, group: &TcpGroup, now: Instant) {
        self.sender.resume(now);
        let idle = now.since(self.application.begun);
        if idle > self.sender.timeout(&group.tcp) {
            self.sender.restart_after_idle(&group.tcp, now, idle);
        }
    }

    /// A transfer with a connection of its own.
    fn open_connection(&mut self, group: &TcpGroup, now: Instant) {
        let start = self.start(group, now);
        let base = self.sender.reopen(&group.tcp, group.new_control(start), now);
        self.receiver.reopen(base);
        self.base = base;
        if let Some(probe) = &mut self.probe {
            probe.begin_connection(now, self.sender.statistics());
        }
    }

    /// Returns the start of a connection: an ssthresh of earlier ones, if one is kept, and random choices of its own.
    pub(super) fn start(&mut self, group: &TcpGroup, now: Instant) -> Start {
        self.random = mix(self.random);
        let mut start = group.fresh_start(self.id, now, self.random);
        if self.ssthresh.is_finite() {
            start.ssthresh = self.ssthresh;
        }
        start
    }

    /// The transfer is complete; the application says what follows.
    pub(super) fn finish_transfer(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        self.sender.settle(now);
        if !group.tcp.persistent {
            self.ssthresh = group.tcp.ssthresh_cached.after(self.ssthresh, &self.sender.ending());
        }
        if group.role.is_none() {
            let row = self.transfer_row(group, Some(now));
            core.sink.record(|tables| tables.transfers.push(row));
        }
        let application = &mut self.application;
        application.active = false;
        let stood_still = application.begun == now;
        application.begun = now;
        application.index += 1;
        if let Some(process) = application.arrivals {
            core.sink.freed.push((process, now, self.index));
        } else if group.role.is_none() {
            application.plan(now);
            if stood_still && application.start == now && core.sink.is_standstill(now) {
                application.start = Instant::MAX;
            }
            if group.awaited && application.pending.is_none() {
                awaited_is_done(core, now);
            }
        }
    }

    /// Returns its row in the records.
    pub(crate) fn transfer_row(&self, group: &TcpGroup, completed: Option<Instant>) -> TransferRow {
        let (application, statistics) = (&self.application, self.sender.statistics());
        TransferRow {
            group: group.name.clone(),
            flow: self.id,
            transfer: application.index,
            start_s: application.begun.as_secs_f64(),
            completion_s: completed.map(Instant::as_secs_f64),
            size_bytes: application.bytes,
            packets_sent: statistics.packets_sent.wrapping_sub(application.sent_before),
            retransmissions: statistics.retransmissions.wrapping_sub(application.retransmissions_before),
            timeouts: statistics.timeouts.wrapping_sub(application.timeouts_before),
        }
    }
}
