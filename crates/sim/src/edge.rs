//! The edge of the network: a flow's marker, and what became of its packets by class.
//!
//! The marker stands behind the flow's own access link, so it sees packets when they enter the network. A
//! flow without one pays a test for a null pointer: what the others do is kept out of its code.

use crate::probe::MarkerProbe;
use crate::shared::Core;
use parshall_engine::Packet;
use parshall_net::markers::{Class, Marker, MarkerConfig};
use parshall_units::Instant;

/// Packets of one class since the warm-up: those sent since, and of these those dropped; and those delivered since.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClassTotals {
    /// That entered the network.
    pub(crate) sent: u64,
    /// That a link dropped or lost.
    pub(crate) dropped: u64,
    /// That reached the receiver.
    pub(crate) delivered: u64,
}

/// The edge of one flow.
#[derive(Debug)]
pub(crate) struct Edge {
    marker: Marker,
    pub(crate) probe: Option<Box<MarkerProbe>>,
    pub(crate) within: ClassTotals,
    pub(crate) beyond: ClassTotals,
}

impl Edge {
    /// The edge of a flow that is marked; `None` for one that is not.
    pub(crate) fn new(config: &MarkerConfig) -> Option<Box<Self>> {
        let (within, beyond) = Default::default();
        config.build().map(|marker| Box::new(Self { marker, probe: None, within, beyond }))
    }

    /// A packet of `bytes` enters the network at `now`.
    #[cold]
    pub(crate) fn enter(&mut self, now: Instant, bytes: u32, measured: bool) -> Class {
        if let Some(probe) = &mut self.probe {
            probe.sample_until(now, &self.marker);
        }
        let class = self.marker.mark(now, bytes);
        self.of(class).sent += u64::from(measured);
        class
    }

    /// A link dropped or lost a packet.
    #[cold]
    pub(crate) fn dropped(&mut self, packet: &Packet, measured: bool) {
        self.of(packet.class()).dropped += u64::from(measured);
    }

    /// A packet reached the receiver.
    #[cold]
    pub(crate) fn delivered(&mut self, core: &mut Core, packet: &Packet, measured: bool) {
        self.of(packet.class()).delivered += u64::from(measured);
        if let Some(probe) = &mut self.probe {
            probe.write(&mut core.sink.recorder, core.end);
        }
    }

    /// The simulation ended.
    pub(crate) fn end(&mut self, core: &mut Core) {
        if let Some(probe) = &mut self.probe {
            probe.end(&mut core.sink.recorder, core.end, &self.marker);
        }
    }

    fn of(&mut self, class: Class) -> &mut ClassTotals {
        match class {
            Class::In => &mut self.within,
            Class::Out => &mut self.beyond,
        }
    }
}
