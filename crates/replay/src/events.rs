//! The events for our control, from the calls of a kernel's control.
//!
//! | the kernel calls | ours is told |
//! | --- | --- |
//! | `cong_avoid` | an ACK; the window may grow if it was in use (`tcp_is_cwnd_limited`) |
//! | `pkts_acked` without `cong_avoid` | an ACK of a recovery, by which the window does not grow |
//! | `cong_control` | an ACK with its rate sample |
//! | `ssthresh` | a congestion event, or a timeout if `CA_EVENT_LOSS` follows |
//! | `set_state` to Open after Recovery | that loss recovery ended |
//! | `cwnd_event` with `CA_EVENT_TX_START` | that a packet is about to be sent while none is outstanding |
//! | `cwnd_event` with `CA_EVENT_CWND_RESTART` | that an idle time ended, with the window that the endpoint restarts from |
//!
//! `in_ack_event` and `pkts_acked` come before `cong_avoid` of the same ACK, and say whether it echoes a mark and which RTT it gave. Where
//! the kernel's control has `cong_control`, ours hears of losses by `set_state`, as `ssthresh` reduces nothing there.

use crate::call::{Call, Kind};
use parshall_congestion::{
    AckEvent, CongestionControl, CongestionEvent, Control, Phase, RateSample, Signal, Start,
    TransmissionStart,
};
use parshall_units::{Duration, Instant};

/// States of a connection (`enum tcp_ca_state`).
pub(crate) const CWR: u32 = 2;
pub(crate) const RECOVERY: u32 = 3;
pub(crate) const LOSS: u32 = 4;

const CA_EVENT_TX_START: u32 = 0;
const CA_EVENT_CWND_RESTART: u32 = 1;
const CA_EVENT_LOSS: u32 = 3;
const CA_ACK_ECE: u32 = 1 << 2;

/// The threshold that stands for infinity (TCP_INFINITE_SSTHRESH).
const INFINITE: u32 = 0x7fff_ffff;

const PS_PER_NS: u64 = 1000;
const PS_PER_US: u64 = 1_000_000;

/// A threshold of the kernel in packets.
pub(crate) fn threshold(ssthresh: u32) -> f64 {
    if ssthresh >= INFINITE {
        f64::INFINITY
    } else {
        f64::from(ssthresh)
    }
}

/// Returns the beginning of the connection.
pub(crate) fn start(call: &Call) -> Start {
    Start {
        window: f64::from(call.cwnd),
        ssthresh: threshold(call.ssthresh),
        flow: call.flow,
        at: time(call),
        ..Start::NEW
    }
}

fn time(call: &Call) -> Instant {
    Instant::from_ps(call.time_ns.saturating_mul(PS_PER_NS))
}

fn microseconds(us: u32) -> Duration {
    Duration::from_ps(u64::from(us) * PS_PER_US)
}

fn min_rtt(call: &Call) -> Duration {
    if call.min_rtt_us == u32::MAX {
        Duration::MAX
    } else {
        microseconds(call.min_rtt_us)
    }
}

/// Tells a control what the kernel's was told.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    /// True if the kernel's control sets window and rate itself (`cong_control`).
    rates: bool,
    /// Of the ACK at hand.
    rtt: Option<Duration>,
    echo: bool,
    /// Packets that the connection had delivered when ours was told of an ACK last.
    delivered: u32,
    /// Where the round trip ends: what was sent next when it began.
    round_end: Option<u32>,
}

impl Teller {
    pub(crate) fn new(rates: bool) -> Self {
        Self { rates, ..Self::default() }
    }

    /// Tells of a call; `next` is the one after it, and `more` whether `cong_avoid` will tell of the same ACK.
    pub(crate) fn tell(&mut self, control: &mut Control, call: &Call, next: Option<&Call>, more: bool) {
        let rates = self.rates;
        match call.kind() {
            Some(Kind::InAckEvent) => self.echo = call.argument & CA_ACK_ECE != 0,
            Some(Kind::PktsAcked) => {
                self.rtt = u32::try_from(call.rtt_us).ok().map(microseconds);
                if !rates && !more {
                    let acked = call.delivered.wrapping_sub(self.delivered);
                    let ack = AckEvent {
                        phase: Phase::Recovery,
                        may_grow: false,
                        ..self.ack(&Call { acked, ..call.clone() }, None)
                    };
                    control.on_ack(&ack);
                }
            }
            Some(Kind::CongAvoid) if !rates => {
                let ack = self.ack(call, None);
                control.on_ack(&ack);
            }
            Some(Kind::CongControl) if rates => {
                self.rtt = u32::try_from(call.rtt_us).ok().filter(|rtt| *rtt > 0).map(microseconds);
                let ack = self.ack(call, Some(rate_sample(call)));
                control.on_ack(&ack);
            }
            Some(Kind::Ssthresh) if !rates => {
                let timeout = next.is_some_and(|next| {
                    next.kind() == Some(Kind::CwndEvent) && next.argument == CA_EVENT_LOSS
                });
                let event = self.congestion(call, call.packets_out);
                if timeout {
                    control.on_timeout(&event);
                } else {
                    control.on_congestion(&event);
                }
            }
            Some(Kind::SetState) => self.state(control, call),
            Some(Kind::CwndEvent) if call.argument == CA_EVENT_TX_START => {
                control.on_transmission_start(&TransmissionStart {
                    now: time(call),
                    app_limited: call.app_limited != 0,
                    srtt: microseconds(call.srtt_us),
                    min_rtt: min_rtt(call),
                });
            }
            Some(Kind::CwndEvent) if call.argument == CA_EVENT_CWND_RESTART => {
                // The endpoint lowers the window after this call.
                let restarted = next.map_or(call.cwnd, |next| next.cwnd);
                control.on_idle_restart(f64::from(restarted));
            }
            _ => {}
        }
    }

    fn state(&self, control: &mut Control, call: &Call) {
        let (before, after) = (call.ca_state, call.argument);
        let event = self.congestion(call, call.in_flight());
        if self.rates && after == RECOVERY && before < RECOVERY {
            control.on_congestion(&event);
        } else if self.rates && after == LOSS {
            control.on_timeout(&event);
        } else if before >= RECOVERY && after < RECOVERY {
            control.on_recovered();
        }
    }

    fn congestion(&self, call: &Call, in_flight: u32) -> CongestionEvent {
        let signal = if self.echo && call.lost_out == 0 { Signal::Ecn } else { Signal::Loss };
        CongestionEvent { now: time(call), signal, in_flight: u64::from(in_flight) }
    }

    fn ack(&mut self, call: &Call, sample: Option<RateSample>) -> AckEvent {
        self.delivered = call.delivered;
        let ended = self.round_end.is_none_or(|end| call.snd_una.wrapping_sub(end).cast_signed() > 0);
        if ended {
            self.round_end = Some(call.snd_nxt);
        }
        let in_slow_start = call.cwnd < call.ssthresh;
        let in_use =
            call.cwnd_limited != 0 || in_slow_start && call.cwnd < call.max_packets_out.saturating_mul(2);
        let phase = match call.ca_state {
            LOSS => Phase::Loss,
            RECOVERY => Phase::Recovery,
            _ => Phase::Open,
        };
        AckEvent {
            now: time(call),
            phase,
            acked: u64::from(call.acked),
            credit: f64::from(call.acked),
            rtt: self.rtt.take(),
            one_way_delay: None, // the recording has no timestamps
            srtt: microseconds(call.srtt_us),
            min_rtt: min_rtt(call),
            in_flight: u64::from(call.in_flight()) + u64::from(call.acked),
            may_grow: in_use && phase != Phase::Recovery && call.ca_state != CWR,
            round_ended: ended,
            ecn_echo: self.echo,
            sample,
        }
    }
}

/// `struct rate_sample`, as our controls are told of it.
fn rate_sample(call: &Call) -> RateSample {
    let lost = u64::try_from(call.losses).unwrap_or(0);
    let rate = (call.delivered_in_interval >= 0 && call.interval_us > 0)
        .then(|| f64::from(call.delivered_in_interval) * 1e6 / f64::from(call.interval_us));
    RateSample {
        delivered: u64::from(call.delivered),
        prior_delivered: u64::from(call.prior_delivered),
        rate,
        newly_delivered: u64::from(call.acked),
        newly_lost: lost,
        lost,
        in_flight: u64::from(call.in_flight()),
        sent_in_flight: u64::from(call.prior_in_flight),
        next_send: Duration::ZERO,
        app_limited: call.sample_flags & 1 != 0,
    }
}
