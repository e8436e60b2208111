//! The control of a connection: one of the catalog, and the module that steers it, if one does.
//!
//! A steered control stands where a plain one does, so that an ACK costs the same: what a packet asks of it goes straight to its
//! [`Kind`], and the module ([`MultipleTimeScale`]) lies elsewhere until an interval ends. Between two ends an ACK is counted, of a plain
//! control too, which is cheaper than to ask whether anybody wants to know.

use crate::{
    AckEvent, CongestionControl, CongestionEvent, Kind, Knowledge, MultipleTimeScale, Needs,
    TransmissionStart,
};
use parshall_units::parameters::Reader;
use parshall_units::Instant;

/// A congestion control of a connection.
///
/// The order of the fields is the order of memory: what every ACK needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Control {
    pub(crate) kind: Kind,
    /// That of `kind`, which every ACK and packet asks for: what is asked of a kind is jumped to, and lies elsewhere in memory.
    window: f64,
    /// ACKs before this are only counted and passed on: see [`MultipleTimeScale::plain_until`]; [`Instant::MAX`] if nothing steers.
    plain_until: Instant,
    /// Packets delivered since the interval began.
    delivered: u64,
    steering: Option<Box<MultipleTimeScale>>,
}

/// A flow may cost 2000 bytes in all.
const _: () = assert!(size_of::<Control>() <= size_of::<Kind>() + 32);

impl Control {
    /// One that nothing steers.
    pub(crate) fn plain(kind: Kind) -> Self {
        Self { window: kind.window(), kind, plain_until: Instant::MAX, delivered: 0, steering: None }
    }

    /// One that a module steers.
    pub(crate) fn steered(kind: Kind, module: MultipleTimeScale) -> Self {
        let plain_until = module.plain_until();
        Self { window: kind.window(), kind, plain_until, delivered: 0, steering: Some(Box::new(module)) }
    }

    /// Something changes the kind, and perhaps its window.
    #[inline]
    fn change<T>(&mut self, change: impl FnOnce(&mut Kind) -> T) -> T {
        let answer = change(&mut self.kind);
        self.window = self.kind.window();
        answer
    }

    /// The connection is one of those that know `knowledge` together: see
    /// [`ControlConfig::knowledge`](crate::ControlConfig::knowledge).
    pub fn share(&mut self, knowledge: &Knowledge) {
        if let Some(module) = &mut self.steering {
            module.share(knowledge);
        }
    }

    /// The connection before had the same ends: takes over what was learnt for all of them, if the control keeps such.
    pub fn inherit(&mut self, earlier: &mut Self) {
        let (Some(module), Some(before)) = (&mut self.steering, &mut earlier.steering) else { return };
        if module.inherit(before, &mut self.kind) {
            self.delivered = earlier.delivered;
            self.plain_until = module.plain_until();
        }
        self.window = self.kind.window();
    }

    /// An ACK that ends an interval, or one of a control of which each ACK counts by its sample.
    #[cold]
    fn on_counted_ack(&mut self, ack: &AckEvent) {
        if let Some(module) = &mut self.steering {
            if module.is_due(ack.now) {
                module.end_interval(ack.now, std::mem::take(&mut self.delivered), &mut self.kind);
                self.plain_until = module.plain_until();
            }
        }
        self.delivered += ack.sample.map_or(ack.acked, |sample| sample.newly_delivered);
        self.change(|kind| kind.on_ack(ack));
    }

    #[cfg(test)]
    pub(crate) fn module(&self) -> Option<&MultipleTimeScale> {
        self.steering.as_deref()
    }

    #[cfg(test)]
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }
}

impl CongestionControl for Control {
    fn needs(&self) -> Needs {
        self.kind.needs()
    }

    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    #[inline]
    fn ssthresh(&self) -> f64 {
        self.kind.ssthresh()
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.now >= self.plain_until {
            return self.on_counted_ack(ack);
        }
        self.delivered += ack.acked;
        self.window = self.kind.window_after(ack);
    }

    fn on_arrival(&mut self, sent: Instant, arrived: Instant) {
        self.change(|kind| kind.on_arrival(sent, arrived));
    }

    fn on_congestion(&mut self, event: &CongestionEvent) {
        self.change(|kind| kind.on_congestion(event));
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        let Self { kind, window, steering, .. } = self;
        kind.on_timeout(event);
        if let Some(module) = steering {
            module.on_timeout(*window, kind);
        }
        *window = kind.window();
    }

    fn on_idle_restart(&mut self, restart_window: f64) {
        self.change(|kind| kind.on_idle_restart(restart_window));
    }

    fn on_transmission_start(&mut self, start: &TransmissionStart) {
        self.change(|kind| kind.on_transmission_start(start));
    }

    fn on_recovered(&mut self) {
        self.change(Kind::on_recovered);
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) {
        self.change(|kind| kind.on_undo(window, ssthresh));
    }

    /// The slow start of a steered control is its module's.
    fn end_slow_start(&mut self) -> bool {
        self.steering.is_none() && self.change(Kind::end_slow_start)
    }

    #[inline]
    fn pacing_rate(&self) -> Option<f64> {
        self.kind.pacing_rate()
    }

    fn set_slope(&mut self, slope: f64) {
        self.change(|kind| kind.set_slope(slope));
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.change(|kind| kind.set_ssthresh(ssthresh));
    }

    fn set_window(&mut self, window: f64) {
        self.change(|kind| kind.set_window(window));
    }

    fn set_phase(&mut self, phase: usize) {
        self.change(|kind| kind.set_phase(phase));
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(module) = &self.steering {
            module.read_variables(reader);
        }
        self.kind.read_variables(reader);
    }
}
