//! The next packet, and its time.

use super::segmentation::{self, Segmentation};
use super::{Phase, Sender};
use crate::connection::Connection;
use crate::policies::{most_at_once, segments_together};
use crate::recovery::Repair;
use crate::segment::Segment;
use crate::TcpConfig;
use parshall_congestion::{CongestionControl, TransmissionStart};
use parshall_units::{Duration, Instant};

impl Sender {
    /// The next segment to send at `now`; `None` when there is none: then wait for an ACK,
    /// [`rto_deadline`](Self::rto_deadline) or [`pacing_deadline`](Self::pacing_deadline).
    pub fn poll_transmit(&mut self, config: &TcpConfig, now: Instant) -> Option<Segment> {
        let Self { connection, recovery, .. } = self;
        if connection.phase == Phase::Connecting {
            return connection.next_syn(config, now);
        }
        connection.paced = false;
        if connection.paces && connection.pacing.as_ref().is_some_and(|pacing| pacing.holds_back(now)) {
            // Whether anything is due is found out at that time.
            connection.paced = connection.nxt < connection.send_limit(config)
                || connection.phase != Phase::Open
                || recovery.is_urgent();
            return None;
        }
        let packet = if recovery.chooses_next(connection.phase) {
            recovery.next(connection, config)
        } else {
            self.next_in_order(config, now)
        };
        let Some(packet) = packet else {
            if let Some(pacing) = &mut self.connection.pacing {
                pacing.end_burst();
            }
            return None;
        };
        Some(self.transmit(config, now, packet))
    }

    /// When pacing lets the next packet go; [`Instant::MAX`] if pacing is not what holds it back.
    #[inline]
    pub fn pacing_deadline(&self) -> Instant {
        if self.connection.paced {
            self.connection.pacing.as_ref().map_or(Instant::MAX, |pacing| pacing.next())
        } else {
            Instant::MAX
        }
    }

    /// Returns the number of packets that may go now in order, one after another by [`transmit_next`](Self::transmit_next); `None` if
    /// that must be asked packet by packet of [`poll_transmit`](Self::poll_transmit). Most ACKs are answered so, at
    /// half the cost.
    #[allow(clippy::inline_always)] // a call costs as much as what it does
    #[inline(always)]
    pub fn burst(&mut self, config: &TcpConfig, now: Instant) -> Option<u64> {
        let Connection { phase, paces, .. } = self.connection;
        if phase == Phase::Connecting || paces || self.recovery.chooses_next(phase) {
            return None;
        }
        Some(self.room(config, Some(now)))
    }

    /// The bursts of packets that were sent together, in Linux's form of the policy `bursts`.
    pub fn bursts(&self, config: &TcpConfig) -> Segmentation {
        Segmentation::new(&self.connection, config)
    }

    /// True if the second one of two packets that are sent together is pushed: all that [`bursts`](Self::bursts) come to
    /// then, whatever the rate.
    pub fn segments_together(&self, first: u64, second: u64) -> bool {
        most_at_once(self.connection.whole_window()) >= 2 && segments_together(first, second)
    }

    /// The next packet in order, of which [`burst`](Self::burst) said that it may go.
    #[inline]
    pub fn transmit_next(&mut self, config: &TcpConfig, now: Instant) -> Segment {
        self.connection.nxt += 1;
        self.transmit(config, now, self.connection.nxt - 1)
    }

    fn next_in_order(&mut self, config: &TcpConfig, now: Instant) -> Option<u64> {
        let burst_begins = self.connection.paces.then_some(now);
        if self.room(config, burst_begins) == 0 {
            if !self.connection.window_limited {
                self.connection.out_of_data(self.connection.flight());
            }
            return None;
        }
        self.connection.nxt += 1;
        Some(self.connection.nxt - 1)
    }

    /// How many packets the window, the receiver and the application let go now; notes which of them sets the end.
    /// `at`: when, if they go together or not at all; `None`: one more of those that do is asked for.
    #[allow(clippy::inline_always)] // as `burst`
    #[inline(always)]
    fn room(&mut self, config: &TcpConfig, at: Option<Instant>) -> u64 {
        let connection = &mut self.connection;
        let (inflation, limited) = self.recovery.extra_window(connection.phase, config);
        // By way of a signed number, which is one instruction.
        let window = (connection.control.window() + inflation).max(0.0) as i64;
        let mut window = window.cast_unsigned() + u64::from(limited);
        if connection.reduced {
            window = self.recovery.reducing_window(connection).unwrap_or(window);
        }
        let in_window = window.saturating_sub(connection.flight());
        let supplied = connection.send_limit(config).saturating_sub(connection.nxt);
        connection.window_limited = in_window <= supplied;
        let room = in_window.min(supplied);
        if config.rules.bursts.is_linux() | config.rules.window_growth.is_linux()
            && (room > 0 || connection.window_limited)
        {
            return self.room_in_bursts(config, at, room);
        }
        room
    }

    /// Of so many packets that may go, those that do not wait for a larger burst; how far the window is used is noted.
    #[inline(never)]
    fn room_in_bursts(&mut self, config: &TcpConfig, at: Option<Instant>, room: u64) -> u64 {
        let connection = &mut self.connection;
        let waiting = at
            .filter(|_| config.rules.bursts.is_linux())
            .map_or(0, |now| segmentation::packets(connection, &self.recovery, config, now, room));
        connection.window_limited |= waiting > 0;
        connection.note_use(room - waiting);
        room - waiting
    }

    #[inline]
    fn transmit(&mut self, config: &TcpConfig, now: Instant, packet: u64) -> Segment {
        let connection = &mut self.connection;
        let retransmission = connection.count_transmission(config, now, packet);
        if connection.deadline == Instant::MAX {
            self.start_timer(config, now);
        }
        if self.connection.noted {
            self.note_transmission(config, now, packet, retransmission);
        }
        let connection = &mut self.connection;
        let cwr = !retransmission && std::mem::take(&mut connection.send_cwr); // RFC 3168 §6.1.2: with new data
        let ecn_capable = connection.ecn && (!retransmission || config.accurate_ecn);
        Segment {
            seq: packet,
            sent: now,
            retransmission,
            syn: false,
            push: packet + 1 == connection.end,
            ecn_capable,
            cwr,
            congestion_experienced: false,
        }
    }

    /// None was outstanding before this packet.
    #[inline(never)]
    fn start_timer(&mut self, config: &TcpConfig, now: Instant) {
        let connection = &mut self.connection;
        connection.arm_timer(config, now);
        connection.control.on_transmission_start(&TransmissionStart {
            now,
            app_limited: connection.sampler.as_ref().is_some_and(|sampler| sampler.is_app_limited()),
            srtt: connection.rtt.srtt(),
            min_rtt: connection.rtt.min(),
        });
    }

    #[inline(never)]
    fn note_transmission(&mut self, config: &TcpConfig, now: Instant, packet: u64, retransmission: bool) {
        let Self { connection, recovery, .. } = self;
        if connection.sampler.is_some() || connection.paces {
            return self.note_rate(config, now, packet, retransmission);
        }
        recovery.on_transmission(connection, config, now, packet);
    }

    /// The same, if its rate is measured or paced.
    #[inline(never)]
    fn note_rate(&mut self, config: &TcpConfig, now: Instant, packet: u64, retransmission: bool) {
        let Self { connection, recovery, .. } = self;
        recovery.on_transmission(connection, config, now, packet);
        if connection.sampler.is_some() {
            let in_network = recovery.in_network(connection);
            if let Some(sampler) = &mut connection.sampler {
                sampler.on_send(now, packet, in_network);
            }
        }
        if connection.paces {
            let (gap, window) = (pacing_gap(connection, config), connection.whole_window());
            // Each buffer waits for its own time (`tcp_pacing_check`): holes are repaired one by one.
            let ends =
                config.rules.bursts.is_linux() && !recovery.is_segmented_with_next(packet, retransmission);
            if let Some(pacing) = &mut connection.pacing {
                pacing.on_transmission(now, gap, connection.rtt.min(), window);
                if ends {
                    pacing.end_burst();
                }
            }
        }
    }
}

/// Time between packets: the control's, or the RTT over the window with room to grow (twice the rate in slow
/// start, a fifth more afterwards, as Linux paces).
pub(super) fn pacing_gap(Connection { control, rtt, .. }: &Connection, config: &TcpConfig) -> Duration {
    if let Some(rate) = control.pacing_rate() {
        return Duration::from_secs_f64(1.0 / rate);
    }
    let window = control.window();
    let gain = if window < config.rules.bursts.fast_below(control.ssthresh()) { 2.0 } else { 1.2 };
    Duration::from_secs_f64(rtt.srtt().as_secs_f64() / (gain * window))
}
