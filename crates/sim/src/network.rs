//! The network of a simulation: the engine's, with all kinds of endpoints, the limits of a run, and bins.

mod bins;

pub(crate) use bins::Bins;

use crate::endpoint_kind::EndpointKind;
use crate::endpoints::Endpoints;
use crate::shared::{BIN, WARM_UP};
use crate::{Monitor, SimError};
use parshall_engine::{Entity, Pause, MAX_INDEX};
use parshall_units::{Duration, Instant};
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering;

/// A network that records.
pub(crate) struct Network {
    pub(crate) engine: parshall_engine::Network<Endpoints>,
    /// Width of the bins of the link samples, if there are any.
    pub(crate) bins: Option<Bins>,
}

impl Deref for Network {
    type Target = parshall_engine::Network<Endpoints>;

    fn deref(&self) -> &Self::Target {
        &self.engine
    }
}

impl DerefMut for Network {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.engine
    }
}

/// Events between two looks at the monitor.
const CHECK_EVERY: u64 = 1 << 14;

impl Network {
    /// Runs what happens before `until`, and before the end.
    pub(crate) fn advance(&mut self, until: Instant, monitor: &Monitor) -> Result<(), SimError> {
        loop {
            let most = CHECK_EVERY - self.events % CHECK_EVERY;
            let now = match self.engine.run(until, most) {
                Pause::Idle => return Ok(()),
                Pause::Due(now, entity) => {
                    self.on_due(now, entity);
                    now
                }
                Pause::Enough(now) => now,
            };
            if self.events.is_multiple_of(CHECK_EVERY) {
                self.core.queue.adapt();
                self.check(now, monitor)?;
            }
        }
    }

    /// An event that is neither of links nor of flows.
    fn on_due(&mut self, now: Instant, entity: Entity) {
        match entity {
            WARM_UP => {
                for state in &mut self.links {
                    state.link.restart_counts(now);
                    state.notes.restart();
                }
            }
            BIN => self.on_bin(now),
            _ => self.core.end = self.core.end.min(self.all_delivered(now)), // all that the end waited for is done
        }
    }

    /// Looks at the monitor, and at what may have gone wrong.
    pub(crate) fn check(&mut self, now: Instant, monitor: &Monitor) -> Result<(), SimError> {
        monitor.simulated_ps.store(now.as_ps(), Ordering::Relaxed);
        monitor.packets.store(self.events, Ordering::Relaxed);
        self.core.sink.recorder.take_error()?;
        if let Some(fault) = self.endpoints.kinds().iter().find_map(|kind| kind.fault()) {
            return Err(fault);
        }
        self.core.sink.check_files(now)?;
        if self.core.sink.stuck {
            let problem = "transfers of no bytes follow each other without a pause: time would stand still";
            return Err(SimError::invalid("flows.workload", problem));
        }
        // Between two looks come fewer flows than events.
        let most = monitor.most_flows.load(Ordering::Relaxed).min(u64::from(MAX_INDEX) - CHECK_EVERY);
        let flows = self.core.sink.flows;
        if u64::from(flows) > most && self.core.sink.flows_come {
            let at = now.as_secs_f64();
            let problem = format!(
                "{flows} flows are open at {at:.3} s, and memory has room for {most}; let fewer arrive"
            );
            return Err(SimError::invalid("flows.workload", problem));
        }
        if self.core.jittered.too_many() {
            let problem = format!(
                "more than {MAX_INDEX} packets are on their way at a time; write shorter times, or order = \"kept\""
            );
            return Err(SimError::invalid("jitter", problem));
        }
        let enough = monitor.most_events.is_some_and(|most| self.events >= most);
        if enough || monitor.cancel.load(Ordering::Relaxed) {
            return Err(SimError::Interrupted { simulated_s: now.as_secs_f64() });
        }
        Ok(())
    }

    /// By when everything will have reached its end that has passed its last link by `now`.
    ///
    /// Flows run in their own time, ahead of the event queue, but never further than this: a simulation that ends then
    /// has the records of one that was asked to last so long.
    pub(crate) fn all_delivered(&self, now: Instant) -> Instant {
        let links = self.links.iter().map(|state| state.link.delivers_until());
        let delays = self.endpoints.kinds().map(EndpointKind::longest_delays);
        let (propagation, processing) = delays
            .iter()
            .fold((Duration::ZERO, Duration::ZERO), |most, delay| (most.0.max(delay.0), most.1.max(delay.1)));
        let told = now.max(self.core.jittered.latest());
        links.fold(told, Instant::max) + propagation + processing + Duration::from_ps(1)
    }

    /// Brings everything to the end of the simulated time.
    pub(crate) fn end(&mut self) -> Result<(), SimError> {
        self.check_measured()?;
        let end = self.core.end;
        let parshall_engine::Network { core, links, endpoints, .. } = &mut self.engine;
        for kind in endpoints.kinds_mut() {
            kind.end(core)?;
        }
        for state in links {
            state.link.advance(end);
        }
        self.end_bins(end);
        let parshall_engine::Network { core, links, .. } = &mut self.engine;
        for state in links {
            state.notes.write_kept(&mut core.sink.recorder);
        }
        core.sink.finish_files(end)?;
        core.sink.recorder.take_error().map_err(SimError::from)
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
