//! The effects of an ACK: on the connection, on the recovery, and then on the control.

use super::{Phase, Sender};
use crate::ranges::Range;
use crate::recovery::Repair;
use crate::segment::{Ack, NO_WINDOW};
use crate::signals::Progress;
use crate::TcpConfig;
use parshall_congestion::{AckEvent, CongestionControl};
use parshall_units::Instant;

impl Sender {
    /// An ACK arrived; whether it ended a round trip.
    #[allow(clippy::inline_always)] // a call costs as much as a tenth of what it does
    #[inline(always)]
    pub fn on_ack(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> bool {
        let connection = &mut self.connection;
        if connection.phase == Phase::Connecting {
            connection.on_syn_ack(config, now, ack);
            return false;
        }
        if ack.cumulative < connection.una {
            self.on_overtaken(config, now, ack);
            return false;
        }
        connection.settle(now);
        connection.update_reduction(ack.cumulative);
        if ack.congestion_echo {
            if let Some(before) = connection.on_congestion_echo(now, ack) {
                self.recovery.on_reduction(before);
            }
        }
        if ack.cumulative > connection.una {
            return self.on_new_data(config, now, ack);
        }
        self.on_old_data(config, now, ack);
        false
    }

    /// An ACK that a later one has overtaken. What it SACKs may be news all the same, since an ACK has room for a few
    /// blocks only (RFC 2018 §3), and so is a packet that arrived twice; Linux takes both too (`tcp_ack`, at `old_ack`).
    /// Its window is old (RFC 9293 §3.10.7.4, SND.WL2).
    #[cold]
    fn on_overtaken(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) {
        let (una, twice) = (self.una(), ack.duplicate());
        let is_news = |block: &Range| block.end > una || twice == Some(*block);
        let mut sack = ack.sack.map(|block| if is_news(&block) { block } else { Range::default() });
        sack.sort_by_key(|block| block.is_empty());
        if !sack[0].is_empty() {
            self.settle(now);
            let window = self.connection.window_end().map_or(NO_WINDOW, |end| end.saturating_sub(una) as u32);
            self.on_old_data(config, now, &Ack { cumulative: una, sack, window, ..*ack });
        }
    }

    /// An ACK that acknowledges nothing new cumulatively.
    #[inline(never)]
    fn on_old_data(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) {
        let Self { connection, recovery, .. } = self;
        let mut grows_by = 0;
        if connection.max > connection.una && !ack.syn {
            recovery.on_old_data(connection, config, now, ack);
            grows_by = recovery.grows_by();
            let rtt = recovery.newest_rtt().filter(|_| config.rules.rtt_estimate.is_linux());
            if let Some(rtt) = rtt {
                connection.take_sample(config, rtt, 1, false); // of what is SACKed (`tcp_ack_update_rtt`)
            }
        }
        let rtt = self.recovery.newest_rtt();
        if self.connection.sampler.is_some() {
            let event = self.event(config, now, ack, self.connection.phase);
            self.tell_with_sample(config, AckEvent { rtt, ..event });
        } else if grows_by > 0 {
            let event = self.event(config, now, ack, self.connection.phase);
            self.connection.control.on_ack(&AckEvent { rtt, credit: grows_by as f64, ..event });
        }
    }

    #[allow(clippy::inline_always)] // as `on_ack`
    #[inline(always)]
    fn on_new_data(&mut self, config: &TcpConfig, now: Instant, ack: &Ack) -> bool {
        let Self { connection, recovery, .. } = self;
        let in_flight = connection.flight();
        let acked = ack.cumulative - connection.una;
        let was_open = connection.phase == Phase::Open;
        let rtt = connection.rtt_sample(config, now, ack);
        let round_ended = connection.advance(ack.cumulative);
        if let Some(rtt) = rtt {
            connection.take_sample(config, rtt, expected_samples(config, in_flight), round_ended);
        }
        let delivered = recovery.on_new_data(connection, config, now, ack, acked);
        if round_ended {
            recovery.end_round();
        }
        let phase = if delivered.is_some() { connection.phase } else { Phase::Recovery };
        let growth = config.rules.window_growth;
        let credit = if config.byte_counting { growth.credit(acked, delivered, was_open) } else { 1.0 };
        let rtt = config.rules.rtt_estimate.told(rtt, || recovery.newest_rtt());
        let event =
            AckEvent { acked, credit, rtt, in_flight, round_ended, ..self.event(config, now, ack, phase) };
        if self.connection.sampler.is_some() {
            self.tell_with_sample(config, event);
        } else {
            self.connection.control.on_ack(&event);
        }
        round_ended
    }

    /// An ACK that leaves the connection in `phase`: what is the same whether it acknowledges new data or not.
    #[inline]
    fn event(&self, config: &TcpConfig, now: Instant, ack: &Ack, phase: Phase) -> AckEvent {
        let connection = &self.connection;
        AckEvent {
            now,
            phase: phase_for_control(phase),
            acked: 0,
            credit: 0.0,
            rtt: None,
            one_way_delay: connection.measures_one_way.then(|| ack.sent.since(ack.echo)),
            srtt: connection.rtt.srtt(),
            min_rtt: connection.rtt.min(),
            in_flight: connection.flight(),
            may_grow: phase != Phase::Recovery && connection.may_grow(config, ack),
            round_ended: false,
            ecn_echo: ack.congestion_echo,
            sample: None,
        }
    }

    /// For a control that needs rate samples: told of the ACK if it reports packets as delivered, in SACK blocks too.
    /// The sample's RTT is that of the packet sent last, with or without timestamps; by Linux's rules it is the ACK's
    /// (`tcp_ack_update_rtt`).
    #[inline(never)]
    fn tell_with_sample(&mut self, config: &TcpConfig, event: AckEvent) {
        let Self { connection, recovery, .. } = self;
        let progress = Progress {
            una: connection.una,
            sacked: recovery.sacked(),
            in_flight: recovery.in_network(connection),
            min_rtt: connection.rtt.min(),
            next_send: connection.held_back(event.now),
        };
        let Some(sampler) = &mut connection.sampler else { return };
        let Some((sample, rtt)) = sampler.on_ack(event.now, &progress) else { return };
        let rtt = if config.rules.rtt_estimate.is_linux() { event.rtt } else { rtt };
        connection.control.on_ack(&AckEvent { rtt, sample: Some(sample), ..event });
    }
}

/// A phase in the controls' terms.
#[inline]
fn phase_for_control(phase: Phase) -> parshall_congestion::Phase {
    match phase {
        Phase::Connecting | Phase::Open => parshall_congestion::Phase::Open,
        Phase::Recovery => parshall_congestion::Phase::Recovery,
        Phase::Loss => parshall_congestion::Phase::Loss,
    }
}

/// RTT samples that a round trip brings: `ExpectedSamples` of RFC 7323 Appendix G, whose 2 stands for delayed ACKs.
#[inline]
fn expected_samples(config: &TcpConfig, in_flight: u64) -> u64 {
    if !config.timestamps {
        1
    } else if config.delayed_ack.is_some() {
        in_flight.div_ceil(2)
    } else {
        in_flight
    }
}
