//! Makers of controls that note in a page when foreign code is entered and left.

use crate::page::{Page, NO_GROUP};
use parshall_congestion::external::{External, Maker, Makers, Said, Says};
use parshall_congestion::{AckEvent, CongestionEvent, Start};
use parshall_units::parameters::Reader;
use parshall_units::Instant;
use std::sync::Arc;

/// Memory of a packet in flight, bytes: what the sender remembers of it, its place in queues, and room to grow of both.
/// Measured with windows of 10^6 to 9 10^6 packets: 16 to 50; with RACK and many losses 75.
const BYTES_IN_FLIGHT: f64 = 100.0;

/// The largest window, in packets, whose packets in flight fit into so many bytes of memory.
pub fn largest_window(bytes: u64) -> f64 {
    (bytes as f64 / BYTES_IN_FLIGHT).max(1.0).floor()
}

/// Makers whose controls note in `page` when they are called, and which refuse windows above `largest_window`.
///
/// `group`: the number of the group of flows whose controls these are, if it is a simulation.
pub fn watched(makers: &Makers, page: Page, group: Option<u32>, largest_window: f64) -> Makers {
    let group = group.map_or(NO_GROUP, u64::from);
    let watched = |maker: &Arc<dyn Maker>| -> Arc<dyn Maker> {
        Arc::new(Watched { maker: Arc::clone(maker), page, group, largest_window })
    };
    makers.iter().map(|(name, maker)| (name.clone(), watched(maker))).collect()
}

#[derive(Debug)]
struct Watched {
    maker: Arc<dyn Maker>,
    page: Page,
    group: u64,
    largest_window: f64,
}

impl Maker for Watched {
    fn make(&self, parameters: &str, start: Start) -> Result<(Box<dyn External>, Says), String> {
        let at = start.at;
        self.page.enter(at.as_ps(), self.group);
        let made = self.maker.make(parameters, start);
        self.page.leave();
        made.map(|(control, says)| {
            let (page, group) = (self.page, self.group);
            let watched = WatchedControl { control: Some(control), page, group, now: at };
            (Box::new(watched) as Box<dyn External>, says)
        })
    }

    fn largest_window(&self) -> f64 {
        self.largest_window.min(self.maker.largest_window())
    }
}

#[derive(Debug)]
struct WatchedControl {
    /// `None` at its end.
    control: Option<Box<dyn External>>,
    page: Page,
    group: u64,
    /// Of the last event that it heard of.
    now: Instant,
}

impl WatchedControl {
    /// Calls the control, if it has not ended, and notes that.
    #[inline]
    fn note<T>(&mut self, call: impl FnOnce(&mut dyn External) -> T) -> Option<T> {
        let control = self.control.as_mut()?;
        self.page.enter(self.now.as_ps(), self.group);
        let answer = call(&mut **control);
        self.page.leave();
        Some(answer)
    }

    fn call(&mut self, call: impl FnOnce(&mut dyn External) -> Said) -> Said {
        self.note(call).unwrap_or_else(|| Err("it has ended".into()))
    }
}

impl External for WatchedControl {
    fn on_ack(&mut self, ack: &AckEvent) -> Said {
        self.now = ack.now;
        self.call(|control| control.on_ack(ack))
    }

    fn on_congestion(&mut self, event: &CongestionEvent) -> Said {
        self.now = event.now;
        self.call(|control| control.on_congestion(event))
    }

    fn on_timeout(&mut self, event: &CongestionEvent) -> Said {
        self.now = event.now;
        self.call(|control| control.on_timeout(event))
    }

    fn on_idle_restart(&mut self, restart_window: f64) -> Said {
        self.call(|control| control.on_idle_restart(restart_window))
    }

    fn on_recovered(&mut self) -> Said {
        self.call(|control| control.on_recovered())
    }

    fn on_undo(&mut self, window: f64, ssthresh: f64) -> Said {
        self.call(|control| control.on_undo(window, ssthresh))
    }

    fn end_slow_start(&mut self) -> Option<Said> {
        self.note(|control| control.end_slow_start()).flatten()
    }

    fn set_slope(&mut self, slope: f64) -> Said {
        self.call(|control| control.set_slope(slope))
    }

    fn set_ssthresh(&mut self, ssthresh: f64) -> Said {
        self.call(|control| control.set_ssthresh(ssthresh))
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        let Some(control) = &self.control else { return };
        self.page.enter(self.now.as_ps(), self.group);
        control.read_variables(reader);
        self.page.leave();
    }
}

/// What a control does at its end is foreign code as well.
impl Drop for WatchedControl {
    fn drop(&mut self) {
        self.page.enter(self.now.as_ps(), self.group);
        self.control = None;
        self.page.leave();
    }
}
