//! The further work of flows that are captured or logged: kept out of the code of those that are not.

use super::TcpFlow;
use crate::capture::Which;
use crate::groups::TcpGroup;
use crate::shared::Core;
use parshall_engine::jitter::Leaves;
use parshall_tcp::Ack;
use parshall_units::Instant;

impl TcpFlow {
    /// Which flow this is.
    pub(crate) fn which(&self) -> Which {
        Which { index: self.index, group: self.group, id: self.id }
    }

    /// A transfer begins, on a connection of its own or on the one that lives on.
    pub(super) fn tell_transfer(
        &self,
        core: &mut Core,
        now: Instant,
        bytes: Option<u64>,
        own_connection: bool,
    ) {
        let first = self.sender.max();
        if let Some(captures) = &mut core.sink.captures {
            captures.begin(self.index, first, bytes, own_connection);
        }
        if let (Some(log), Some(logs)) = (self.log(), &mut core.sink.logs) {
            logs.of(log).begin(now, first, bytes, own_connection);
        }
    }

    fn log(&self) -> Option<u32> {
        self.probe.as_ref()?.log
    }

    /// An ACK is sent on an uncontended way back, and passes links that are captured, or has a jitter.
    #[cold]
    #[inline(never)]
    pub(super) fn on_watched_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        if let Some(captures) = &mut core.sink.captures {
            captures.ack_sent(self.which(), at, (self.propagation.to_receiver, self.propagation.back), ack);
        }
        let at = at + self.propagation.back;
        match self.jitter.as_mut().and_then(|jitter| jitter.back.as_mut()) {
            Some(path) => match path.pass(at) {
                Leaves::InOrder(leaves) => {
                    core.jittered.told(leaves);
                    self.on_ack(group, core, leaves, ack);
                }
                Leaves::AnyOrder(leaves) => self.put_off_ack(group, core, leaves, ack),
            },
            None => self.on_ack(group, core, at, ack),
        }
    }

    /// The sender of a flow that is logged hears an ACK.
    #[cold]
    #[inline(never)]
    pub(super) fn on_logged_ack(&mut self, group: &TcpGroup, core: &mut Core, at: Instant, ack: &Ack) {
        if let (Some(log), Some(logs)) = (self.log(), &mut core.sink.logs) {
            logs.of(log).heard(at, ack);
        }
        self.logged(core, at, |flow, core| flow.answer(group, core, at, ack));
    }

    /// Timers of a flow that is logged are due.
    #[cold]
    #[inline(never)]
    pub(super) fn run_logged_timers(&mut self, group: &TcpGroup, core: &mut Core, now: Instant) {
        self.logged(core, now, |flow, core| flow.run_timers(group, core, now));
    }

    /// Does something, and logs what becomes of the sender by it, and what is sent: that is in transit then.
    fn logged(&mut self, core: &mut Core, now: Instant, act: impl FnOnce(&mut Self, &mut Core)) {
        let statistics = self.sender.statistics();
        let (rtts, timeouts, waiting) = (statistics.rtt_total(), statistics.timeouts, self.in_transit.len());
        act(self, core);
        let (Some(log), Some(logs)) = (self.log(), &mut core.sink.logs) else { return };
        let (log, sender) = (logs.of(log), &self.sender);
        log.turned(now, sender, sender.statistics().timeouts > timeouts);
        for packet in self.in_transit.iter().skip(waiting) {
            log.sent(&packet.arriving(now), sender.phase());
        }
        log.measured(now, sender, sender.statistics().rtt_since(rtts));
    }
}
