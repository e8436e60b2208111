//! A sender's counts about itself.

use parshall_units::{Duration, Instant};
use std::mem::offset_of;

/// Counts since [`Statistics::restart`]. What every ACK changes comes first (`Sender` says why).
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub struct Statistics {
    updated: Instant,
    /// Integral of the window over time, packets x ps, and that time, ps.
    window_area: f64,
    window_time: f64,
    rtt_samples: u64,
    /// Sum of the samples, ps.
    rtt_sum: f64,
    /// [`Duration::ZERO`] before the first sample.
    min_rtt: Duration,
    /// Packets sent, retransmissions included.
    pub packets_sent: u64,
    /// Of these, packets sent again.
    pub retransmissions: u64,
    /// Of the packets sent, SYNs: they carry no data.
    pub syns: u64,
    /// Fast recoveries entered (for Tahoe: fast retransmits).
    pub loss_events: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Window reductions answering an ECN echo.
    pub ecn_reductions: u64,
}

impl Statistics {
    /// Bytes from the beginning that every ACK may touch.
    pub(crate) const HOT_BYTES: usize = offset_of!(Self, retransmissions);

    /// Forgets everything; measurement starts at `now`.
    pub fn restart(&mut self, now: Instant) {
        *self = Self { updated: now, ..Self::default() };
    }

    /// The window was `window` packets from the last call to `now`.
    #[inline]
    pub(crate) fn window_until(&mut self, now: Instant, window: f64) {
        let held = now.since(self.updated).as_ps_f64();
        self.window_area += window * held;
        self.window_time += held;
        self.updated = now;
    }

    /// No connection is open until `now`: this time does not count for the mean window.
    pub(crate) fn skip_until(&mut self, now: Instant) {
        self.updated = now;
    }

    #[inline]
    pub(crate) fn rtt_sample(&mut self, rtt: Duration) {
        self.rtt_samples += 1;
        self.rtt_sum += rtt.as_ps_f64();
        if rtt < self.min_rtt || self.min_rtt == Duration::ZERO {
            self.min_rtt = rtt;
        }
    }

    /// Up to when they are.
    pub fn updated(&self) -> Instant {
        self.updated
    }

    /// Mean window over the time that a connection was open, packets.
    pub fn mean_window(&self) -> Option<f64> {
        (self.window_time > 0.0).then(|| self.window_area / self.window_time)
    }

    /// Mean RTT sample, seconds.
    pub fn mean_rtt_s(&self) -> Option<f64> {
        (self.rtt_samples > 0).then(|| self.rtt_sum / self.rtt_samples as f64 / 1e12)
    }

    /// Returns the number of RTT samples, and their sum, ps.
    #[inline]
    pub fn rtt_total(&self) -> (u64, f64) {
        (self.rtt_samples, self.rtt_sum)
    }

    /// The RTT sample since [`rtt_total`](Self::rtt_total) was `before`, if there was one (the mean, if there were
    /// several).
    #[inline]
    pub fn rtt_since(&self, (samples, sum): (u64, f64)) -> Option<Duration> {
        let more = self.rtt_samples - samples;
        (more > 0).then(|| Duration::from_ps(((self.rtt_sum - sum) / more as f64).round() as u64))
    }

    /// Smallest RTT sample.
    pub fn min_rtt(&self) -> Option<Duration> {
        (self.min_rtt > Duration::ZERO).then_some(self.min_rtt)
    }
}
