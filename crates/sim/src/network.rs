//! The running network: links, the flows at their ends, and what happens to them in the order of time.
//!
//! Who owns the clock says how far it goes ([`Network::advance`]): to the end at once, as a simulation does, or step by step up to
//! a clock of the real world.

mod bins;
mod forwarding;
mod link_state;

pub(crate) use bins::Bins;
pub(crate) use forwarding::{meet_first_link, Rest};
pub(crate) use link_state::{path_delay, LinkState};

use crate::endpoints::{EndpointKind, Endpoints};
use crate::event::{Entity, MAX_INDEX};
use crate::shared::Core;
use crate::{Monitor, SimError};
use parshall_units::{Duration, Instant};
use std::sync::atomic::Ordering;

/// A running network.
pub(crate) struct Network {
    pub(crate) core: Core,
    pub(crate) links: Vec<LinkState>,
    pub(crate) endpoints: Endpoints,
    /// Width of the bins of the link samples, if there are any.
    pub(crate) bins: Option<Bins>,
    pub(crate) events: u64,
}

/// Events between two looks at the monitor.
const CHECK_EVERY: u64 = 1 << 14;

impl Network {
    /// When the next event is; `None`: nothing happens any more before the end.
    pub(crate) fn next_event(&self) -> Option<(Instant, Entity)> {
        self.core.queue.next_before(self.core.end)
    }

    /// Runs what happens before `until`, and before the end.
    pub(crate) fn advance(&mut self, until: Instant, monitor: &Monitor) -> Result<(), SimError> {
        while let Some((now, entity)) = self.core.queue.next_before(until.min(self.core.end)) {
            self.look_ahead();
            self.handle(now, entity);
            self.events += 1;
            if self.events.is_multiple_of(CHECK_EVERY) {
                self.core.queue.adapt();
                self.check(now, monitor)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn handle(&mut self, now: Instant, entity: Entity) {
        match entity {
            Entity::Transit(kind, flow) => self.on_transit(now, kind, flow),
            Entity::Own(kind, event, index) => {
                self.endpoints.on_event(&mut self.core, now, (kind, event), index);
            }
            Entity::Link(index) => self.on_link(now, index),
            Entity::Transmission(index) => self.on_transmission(now, index),
            Entity::Jittered(number) => self.on_jittered(now, number),
            Entity::Bin => self.on_bin(now),
            Entity::WarmUp => {
                self.core.queue.pop(entity);
                for state in &mut self.links {
                    state.link.restart_counts(now);
                    state.probe.restart();
                }
            }
            Entity::AllDone => {
                self.core.queue.pop(entity);
                self.core.end = self.core.end.min(self.all_delivered(now));
            }
        }
    }

    /// Asks for the memory of flows whose turn is soon, if there are so many that no cache has it.
    #[inline]
    fn look_ahead(&mut self) {
        let Some(calendar) = self.core.queue.calendar() else { return };
        for _ in 0..2 {
            if let Some(entity) = calendar.look_ahead() {
                self.endpoints.prefetch(entity);
            }
        }
        let Some(begun) = self.core.queue.begun() else { return };
        for entity in begun {
            self.endpoints.prefetch_beyond(entity);
        }
    }

    /// Looks at the monitor, and at what may have gone wrong.
    pub(crate) fn check(&mut self, now: Instant, monitor: &Monitor) -> Result<(), SimError> {
        monitor.simulated_ps.store(now.as_ps(), Ordering::Relaxed);
        monitor.packets.store(self.events, Ordering::Relaxed);
        self.core.take_error()?;
        if let Some(fault) = self.endpoints.kinds().iter().find_map(|kind| kind.fault()) {
            return Err(fault);
        }
        self.core.check_files(now)?;
        if self.core.stuck {
            let problem = "transfers of no bytes follow each other without a pause: time would stand still";
            return Err(SimError::invalid("flows.workload", problem));
        }
        // Between two looks come fewer flows than events.
        let most = monitor.most_flows.load(Ordering::Relaxed).min(u64::from(MAX_INDEX) - CHECK_EVERY);
        let flows = self.core.flows;
        if u64::from(flows) > most && self.core.flows_come {
            let at = now.as_secs_f64();
            let problem = format!(
                "{flows} flows are open at {at:.3} s, and memory has room for {most}; let fewer arrive"
            );
            return Err(SimError::invalid("flows.workload", problem));
        }
        self.core.jittered.check()?;
        let enough = monitor.most_events.is_some_and(|most| self.events >= most);
        if enough || monitor.cancel.load(Ordering::Relaxed) {
            return Err(SimError::Interrupted { simulated_s: now.as_secs_f64() });
        }
        Ok(())
    }

    /// By when everything will have reached its end that has passed its last link by `now`.
    ///
    /// Flows run in their own time, ahead of the event queue, but never further than this: a simulation that ends then has
    /// the records of one that was asked to last so long.
    pub(crate) fn all_delivered(&self, now: Instant) -> Instant {
        let links = self.links.iter().map(|state| state.link.delivers_until());
        let delays = self.endpoints.kinds().map(EndpointKind::longest_delays);
        let (propagation, processing) = delays
            .iter()
            .fold((Duration::ZERO, Duration::ZERO), |most, delay| (most.0.max(delay.0), most.1.max(delay.1)));
        let told = now.max(self.core.jittered.latest);
        links.fold(told, Instant::max) + propagation + processing + Duration::from_ps(1)
    }

    /// Brings everything to the end of the simulated time.
    pub(crate) fn end(&mut self) -> Result<(), SimError> {
        self.check_measured()?;
        let end = self.core.end;
        for kind in self.endpoints.kinds_mut() {
            kind.end(&mut self.core)?;
        }
        for state in &mut self.links {
            state.link.advance(end);
        }
        self.end_bins(end);
        for state in &mut self.links {
            state.probe.write_kept(&mut self.core, &state.name);
        }
        self.core.finish_files()?;
        self.core.take_error().map_err(SimError::from)
    }

    /// Something was measured.
    fn check_measured(&self) -> Result<(), SimError> {
        if self.core.end > self.core.warm_up {
            return Ok(());
        }
        let (end, warm_up) = (self.core.end.as_secs_f64(), self.core.warm_up.as_secs_f64());
        let problem = format!(
            "lasts {warm_up} s, and the transfers of ends_with were done before, at {end:.3} s; write a shorter warm_up"
        );
        Err(SimError::invalid("warm_up", problem))
    }
}

#[cfg(test)]
mod tests;
