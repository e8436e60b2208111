//! The sender with RACK-TLP (RFC 8985): what the others do in `recovery.rs`. The mechanism itself is in [`crate::rack`].
//!
//! One deadline serves the three timers (§8): retransmission, reordering, loss probe. The window during recovery and the reduction
//! are those of SACK recovery; a loss that a probe alone repaired reduces too (§7.4.2), without a recovery.

use crate::rack::{ProbeAnswer, Rack, Rtts};
use crate::segment::Ack;
use crate::sender::{Phase, Sender};
use crate::TcpConfig;
use parshall_congestion::{CongestionControl, CongestionEvent, Signal};
use parshall_units::{Duration, Instant};

/// PTO without an RTT sample. RFC 8985 §7.2
const FIRST_PROBE: Duration = Duration::from_secs(1);

/// Which timers start anew. The probe's does with new data and with ACKs of new data only (RFC 8985 §7.2): ACKs that say nothing
/// new do not put it off.
#[derive(Clone, Copy, Debug)]
struct Restart {
    retransmission: bool,
    probe: bool,
}

impl Sender {
    fn rack(&mut self) -> Option<&mut Rack> {
        self.sack.as_mut()?.rack.as_mut()
    }

    fn rtts(&self) -> Rtts {
        Rtts { min: self.rtt.min(), smoothed: self.rtt.srtt() }
    }

    /// An ACK for a sender with RACK; `advances`: of new data. Returns whether the window may grow by it.
    pub(crate) fn on_rack(&mut self, config: &TcpConfig, now: Instant, ack: &Ack, advances: bool) -> bool {
        let una = self.una;
        let echo = config.timestamps.then_some(ack.echo);
        let min_rtt = self.rtt.min();
        let nxt = self.max;
        let duplicate = ack.duplicate();
        let sampler = &mut self.sampler;
        let Some(rack) = self.sack.as_mut().and_then(|state| state.rack.as_mut()) else { return true };
        let delivered = rack.on_ack(now, una, &ack.sack, (echo, min_rtt), |part| {
            if let Some(sampler) = sampler {
                sampler.on_sacked(part);
            }
        });
        if duplicate.is_some() {
            rack.duplicate_seen(una, nxt);
        }
        if advances {
            rack.sampled();
        }
        let answer = rack.answer_to_probe(una, duplicate, !advances && ack.sack[0].is_empty());
        if std::mem::take(&mut rack.probe_due) {
            self.retransmit_first = self.phase != Phase::Open; // pacing held it back, and it has become needless
        }
        if self.phase != Phase::Open && una >= self.recover {
            self.end_recovery();
            if let Some(rack) = self.rack().filter(|_| duplicate.is_none()) {
                rack.recovered();
            }
        }
        if answer == ProbeAnswer::Repaired && self.phase == Phase::Open {
            self.reduce_for_probe(now);
        }
        self.find_losses(now);
        let grows = match self.phase {
            Phase::Open => !self.start_rack_recovery_if_lost(now),
            Phase::Recovery => {
                self.count_recovery(delivered);
                false
            }
            Phase::Loss | Phase::Connecting => true,
        };
        self.schedule(config, now, Restart { retransmission: advances, probe: advances });
        grows
    }

    /// Looks for losses at `now`.
    fn find_losses(&mut self, now: Instant) {
        let (rtts, recovering) = (self.rtts(), self.phase != Phase::Open);
        let Some(rack) = self.rack() else { return };
        let found = rack.detect_losses(now, rtts, recovering);
        self.count_lost(found);
    }

    fn count_lost(&mut self, found: u64) {
        if let Some(sampler) = &mut self.sampler {
            sampler.lost += found;
        }
    }

    /// Whether there are losses, which fast recovery then begins to repair.
    fn start_rack_recovery_if_lost(&mut self, now: Instant) -> bool {
        if self.rack().is_none_or(|rack| rack.lost_count() == 0) {
            return false;
        }
        let flight = self.flight();
        self.begin_reduction(now, false);
        self.phase = Phase::Recovery;
        self.retransmit_first = true;
        if let Some(state) = &mut self.sack {
            state.prr.start(flight);
        }
        true
    }

    /// Proportional rate reduction goes on: `delivered` packets more left the network.
    fn count_recovery(&mut self, delivered: u64) {
        let window = self.control.window() as u64;
        if let Some(state) = &mut self.sack {
            let pipe = state.rack.as_ref().map_or(0, Rack::pipe);
            state.prr.on_ack(delivered, pipe, window);
        }
    }

    /// A probe repaired the one loss there was: the window is reduced, once.
    fn reduce_for_probe(&mut self, now: Instant) {
        if self.una < self.reduced_until {
            return;
        }
        self.statistics.loss_events += 1;
        let event = CongestionEvent { now, signal: Signal::Loss, in_flight: self.flight() };
        self.control.on_congestion(&event);
        self.control.on_recovered();
        self.reduced_until = self.max;
    }

    /// Sets the timers after an ACK, a transmission or a timer.
    fn schedule(&mut self, config: &TcpConfig, now: Instant, restart: Restart) {
        let timeout = self.rtt.timeout(config);
        let (outstanding, open) = (self.max > self.una, self.phase == Phase::Open);
        let probe = self.probe_timeout(config);
        let Some(rack) = self.rack() else { return };
        if !outstanding {
            rack.timers.rto = Instant::MAX;
        } else if restart.retransmission || rack.timers.rto == Instant::MAX {
            rack.timers.rto = now + timeout;
        }
        if !(outstanding && open && rack.may_probe()) {
            rack.timers.probe = Instant::MAX;
        } else if restart.probe {
            rack.timers.probe = (now + probe).min(rack.timers.rto);
        }
        let first = rack.timers.first();
        self.has_sacked = rack.has_holes();
        self.rto_deadline = first;
    }

    /// PTO. RFC 8985 §7.2
    fn probe_timeout(&self, config: &TcpConfig) -> Duration {
        if self.rtt.srtt() == Duration::ZERO {
            return FIRST_PROBE;
        }
        let delayed = config.delayed_ack.filter(|_| self.flight() <= 1).unwrap_or(Duration::ZERO);
        self.rtt.srtt().times(2) + delayed
    }

    /// A packet was sent. The retransmission timer starts anew with the first one in flight, as in Linux: a retransmission that was lost
    /// is found an RTT later and acknowledged two RTTs later, and the timer would not wait that long.
    pub(crate) fn note_for_rack(&mut self, config: &TcpConfig, now: Instant, packet: u64) {
        let Some(rack) = self.rack() else { return };
        rack.on_send(now, packet);
        let restart = Restart { retransmission: packet == self.una, probe: packet + 1 == self.max };
        self.schedule(config, now, restart);
    }

    /// One of the timers expired.
    pub(crate) fn on_rack_timer(&mut self, config: &TcpConfig, now: Instant) {
        let Some(rack) = self.rack() else { return };
        if rack.timers.reordering <= now {
            self.find_losses(now);
            let started = self.phase == Phase::Open && self.start_rack_recovery_if_lost(now);
            if self.phase == Phase::Recovery && !started {
                self.count_recovery(0);
            }
            self.schedule(config, now, Restart { retransmission: started, probe: false });
        } else if rack.timers.probe <= now {
            rack.probe_due = true;
            rack.timers.probe = Instant::MAX;
            self.retransmit_first = true;
            self.schedule(config, now, Restart { retransmission: true, probe: false });
        // §7.3
        } else {
            self.on_timeout(config, now);
        }
    }

    /// The retransmission timer expired: what is lost, and the timers.
    pub(crate) fn on_rack_timeout(&mut self, config: &TcpConfig, now: Instant) {
        let rtts = self.rtts();
        let Some(rack) = self.rack() else { return };
        let found = rack.mark_lost_on_timeout(now, rtts, true);
        self.count_lost(found);
        self.retransmit_first = true;
        self.schedule(config, now, Restart { retransmission: true, probe: false });
    }

    /// The next packet of a sender with RACK that has holes, or a probe to send.
    pub(crate) fn next_by_rack(&mut self, config: &TcpConfig) -> Option<u64> {
        let new_data = self.nxt < self.send_limit(config);
        let window = self.control.window() as u64;
        let recovering = self.phase == Phase::Recovery;
        let proportional = self.proportional;
        let (una, max) = (self.una, self.max);
        let first = std::mem::take(&mut self.retransmit_first);
        let state = self.sack.as_mut()?;
        let rack = state.rack.as_mut()?;
        if rack.probe_due {
            let packet = if new_data { self.nxt } else { max - 1 };
            self.nxt = self.nxt.max(packet + 1);
            rack.probe_sent(self.nxt.max(max), !new_data);
            return Some(packet);
        }
        let lost = rack.next_lost();
        let room = if first && lost.is_some() {
            true
        } else if recovering && proportional {
            state.prr.quota > 0
        } else if self.phase == Phase::Open && !config.limited_transmit {
            max - una < window
        } else {
            rack.pipe() < window
        };
        if !room {
            self.window_limited = true;
            return None;
        }
        let Some(packet) = lost.or(new_data.then_some(self.nxt)) else {
            self.window_limited = false;
            if let Some(sampler) = &mut self.sampler {
                sampler.out_of_data(rack.pipe());
            }
            return None;
        };
        self.nxt = self.nxt.max(packet + 1);
        state.prr.sent();
        Some(packet)
    }
}
