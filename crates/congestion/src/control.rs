//! The control of a connection: one of the catalog, and the module that steers it, if one does.
//!
//! A steered control stands where a plain one does, so that an ACK costs the same: what a packet asks of it goes
//! straight to its [`Kind`], and the module ([`MultipleTimeScale`]) lies elsewhere until an interval ends. Between two
//! ends an ACK is counted, of a plain control too, which is cheaper than to ask whether anybody wants to know.

use crate::hooks;
use crate::{AckEvent, CongestionControl, CongestionEvent, Kind, Knowledge, MultipleTimeScale};
use parshall_units::parameters::Reader;
use parshall_units::Instant;

/// A congestion control of a connection.
///
/// The order of the fields is the order of memory: what every ACK needs comes first.
#[derive(Debug)]
#[repr(C)]
pub struct Control {
    pub(crate) kind: Kind,
    /// That of `kind`, which every ACK and packet asks for: what is asked of a kind is jumped to, and lies elsewhere in
    /// memory.
    window: f64,
    /// ACKs before this are only counted and passed on: see [`MultipleTimeScale::plain_until`]; [`Instant::MAX`] if
    /// nothing steers.
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
        self.window = self.kind.window_after(ack);
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

impl hooks::Wrapper for Control {
    type Inner = Kind;

    #[inline]
    fn inner(&self) -> &Kind {
        &self.kind
    }

    #[inline]
    fn inner_mut(&mut self) -> &mut Kind {
        &mut self.kind
    }

    #[inline]
    fn on_changed(&mut self) {
        self.window = self.kind.window();
    }

    #[inline]
    fn window(&self) -> f64 {
        self.window
    }

    #[inline]
    fn on_ack(&mut self, ack: &AckEvent) {
        if ack.now >= self.plain_until {
            return self.on_counted_ack(ack);
        }
        self.delivered += ack.acked;
        self.window = self.kind.window_after(ack);
    }

    fn on_timeout(&mut self, event: &CongestionEvent) {
        let Self { kind, window, steering, .. } = self;
        kind.on_timeout(event);
        if let Some(module) = steering {
            module.on_timeout(*window, kind);
        }
        self.window = self.kind.window();
    }

    /// The slow start of a steered control is its module's.
    fn end_slow_start(&mut self) -> bool {
        let ended = self.steering.is_none() && self.kind.end_slow_start();
        self.window = self.kind.window();
        ended
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if let Some(module) = &self.steering {
            module.read_variables(reader);
        }
        self.kind.read_variables(reader);
    }
}
