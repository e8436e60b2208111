//! Multiple time scale TCP: a module that steers the slope of any window control by what it predicts of the next
//! seconds (Park & Tuan, ACM TOMACS 10(2), 2000).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | T_L | `interval` | the large time scale |
//! | X | `delivered` | packets delivered in an interval |
//! | h | `levels` | levels of contention, 1 (none) to h |
//! | L_1, L_2 | [`quantiser`] | levels of two consecutive intervals |
//! | E\[L_2 given L_1\] | [`predictor`] | level, a real number |
//! | epsilon | [`schedule`] | slope at a predicted level |
//! | a | 1 | slope of the steered control, the unit of the slopes |
//! | A | `aggressiveness` | largest slope |
//! | nu | `adjustment` | what the metacontrol adds to A or takes, an interval |
//!
//! The module stands beside the control that it steers ([`Control`]), which is as it would be alone; between two
//! congestion events, each ACK counts for epsilon ACKs ([`coupling`]), which is the source's cwnd + epsilon / cwnd.
//! With A = a it is the plain control, bit by bit.
//!
//! Readings, where the source leaves a choice:
//! - *Level.* The source's L is a level of contention, and its X grows where contention is low (§3.3): level h + 1 - l
//!   of the quantised throughput. The source has no range of the quantiser: [`quantiser`].
//! - *Bits transmitted* are packets delivered, as far as a control can know: those that ACKs bring outside loss
//!   recovery, and at a recovery's end the flight at its beginning.
//! - *Silence* of more than one interval says nothing of the network (the application may have paused): the chain of
//!   levels begins anew, with the steered control's own slope.
//! - *dA/dt* is by interval, not by second: [`metacontrol`].
//!
//! Selective *level* control (§3.1) leaves the slope alone and moves the rate of a control that sets one ([`level`]).
//!
//! Beyond the source: slopes below a (`conservativeness`), a table known beforehand (`prior`, Case I of Table II), and
//! what §5.5 holds out for short connections (`shared`): one table for all connections of a group ([`Knowledge`]), or
//! one module for those of a flow, one after another. There counts, levels and the interval under way go on, as if the
//! flow had paused; a pause within an interval looks like contention. An [`oracle`] says what knowing the contention
//! would gain. What is steered is an increase; BBR has none, it sends at the bandwidth that it measured, and cannot be
//! steered. FAST's is a part of the way to the window that it computes: a slope makes that part larger, up to all of
//! it, and leaves where it goes.

mod coupling;
mod knowledge;
mod large_time_scale;
mod level;
mod metacontrol;
mod oracle;
mod predictor;
mod quantiser;
mod schedule;
#[cfg(test)]
mod tests;

use crate::catalog::{PACED, STEERABLE};
use crate::{CongestionControl, Control, ControlConfig, Kind, Start, MIN_SSTHRESH};
use coupling::Coupling;
pub use coupling::CouplingKind;
pub use knowledge::{Knowledge, Sharing};
use large_time_scale::LargeTimeScale;
pub use level::Level;
pub use metacontrol::Block;
use oracle::Oracle;
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{ConfigError, Duration, Instant};
pub use quantiser::QuantiserKind;
pub use schedule::ScheduleKind;

parshall_units::configuration! {
    /// Parameters of [`MultipleTimeScale`].
    pub struct MultipleTimeScaleConfig {
        /// The control that is steered.
        control: Box<ControlConfig> => Control(in STEERABLE), default "reno";
        /// The large time scale T_L: how long a slope stays; not below the RTT.
        interval: Duration, default "2 s", min "1 ms", max "1_000_000 s";
        /// Levels of contention, h.
        levels: u64, default "8", min 2, max 64;
        /// How throughput becomes a level: by its rank among the last ones, by its place between the extremes so far, or between 0 and `peak`.
        quantiser: QuantiserKind, default "quantile";
        /// Throughput in packets/s at the upper end of a fixed range.
        peak: f64, default "0", min 0.0, max 1e12;
        /// Intervals among which a quantile is taken.
        memory: u64, default "256", min 2, max 65536;
        /// Slope at a predicted level: linear from A to a, A up to a threshold, h/level, or the listed slopes.
        schedule: ScheduleKind, default "inverse_linear";
        /// Largest slope A, in slopes of the steered control.
        aggressiveness: f64, default "6", min 1.0, max 1000.0;
        /// Slope at the highest contention; below 1 the steered control is held back there.
        conservativeness: f64, default "1", min 0.01, max 1.0;
        /// Highest predicted level at which the threshold schedule is aggressive.
        threshold: f64, default "4", min 1.0, max 64.0;
        /// Slopes of the generalised schedule at the levels 1 to h, none larger than the one before; none listed: the metacontrol finds them.
        slopes: Vec<f64>, default "[]";
        /// What is steered: the slope of congestion avoidance, the window at which slow start ends after a timeout, or both; or the level of the rate.
        coupling: CouplingKind, default "congestion_avoidance";
        /// Packets/s that selective level control adds to the rate at the lowest predicted contention, and takes at the highest.
        shift: f64, default "0", min 0.0, max 1e9;
        /// Whether A is found while running, from 1, rather than fixed.
        metacontrol: bool, default "false";
        /// What the metacontrol adds to A or takes from it, each interval.
        adjustment: f64, default "0.05", min 1e-6, max 100.0;
        /// Which intervals the metacontrol compares at a level: those that followed one of this level, or those that are themselves of this level.
        block: Block, default "following";
        /// How long is only observed before anything is steered.
        learning: Duration, default "0 s", max "1_000_000 s";
        /// Counts of pairs of levels known beforehand, h rows of h, row by row; needs a fixed range.
        prior: Vec<f64>, default "[]";
        /// Who shares what was learnt: nobody; the connections of a flow, each the next one's heir in everything; or all connections of the group, as to one destination, levels and counts.
        shared: Sharing, default "none";
        /// An oracle's contention, 1 to h, of each interval of the simulated time, used instead of a prediction; the last one stays. None listed: contention is predicted.
        oracle: Vec<f64>, default "[]";
    }
}

impl MultipleTimeScaleConfig {
    /// The control that is steered.
    pub(crate) fn steered(&self) -> &ControlConfig {
        &self.control
    }

    pub(crate) fn steered_mut(&mut self) -> &mut ControlConfig {
        &mut self.control
    }

    /// Refuses values within their ranges that contradict each other, and an interval below the RTT of the path.
    pub(crate) fn check(&self, rtt: Duration) -> Result<(), ConfigError> {
        self.check_steered()?;
        if self.interval < rtt {
            let accepted = format!("the longest RTT, {rtt}, or more");
            return Err(ConfigError::new("interval", self.interval, accepted));
        }
        if self.quantiser == QuantiserKind::FixedRange && self.peak <= 0.0 {
            let accepted = "the packets/s of the highest level, e.g. 1250: the quantiser has a fixed range";
            return Err(ConfigError::new("peak", self.peak, accepted));
        }
        let levels = self.levels as usize;
        if self.schedule == ScheduleKind::Threshold && self.threshold > levels as f64 {
            let accepted = format!("{levels}, the number of levels, or less");
            return Err(ConfigError::new("threshold", self.threshold, accepted));
        }
        if self.schedule == ScheduleKind::Inverse && self.metacontrol {
            let accepted = "false: the schedule \"inverse\" has no A to find";
            return Err(ConfigError::new("metacontrol", true, accepted));
        }
        self.check_level()?;
        self.check_slopes(levels)?;
        self.check_oracle()?;
        self.check_prior(levels)
    }

    fn check_steered(&self) -> Result<(), ConfigError> {
        let found = |what: String| Err(ConfigError::new("control", self.control.name(), what));
        if let ControlConfig::External(_) = &*self.control {
            let steering = self.control.steering();
            let asked = [
                ("set_slope", self.coupling.steers_avoidance() && !steering.slope),
                ("set_ssthresh", self.coupling.steers_slow_start() && !steering.ssthresh),
            ];
            return match asked.into_iter().find(|&(_, lacks)| lacks) {
                Some((call, _)) => found(format!(
                    "a control with {call}, by which the coupling \"{}\" steers: {} has none",
                    self.coupling,
                    self.control.name()
                )),
                None => Ok(()),
            };
        }
        if !STEERABLE.contains(&self.control.name()) {
            return found(format!(
                "one of {}: what is steered is an increase, and {} has none",
                STEERABLE.join(", "),
                self.control.name()
            ));
        }
        Ok(())
    }

    fn check_level(&self) -> Result<(), ConfigError> {
        if self.coupling != CouplingKind::Level {
            if self.shift > 0.0 {
                let accepted = "0, or coupling = \"level\": nothing else shifts the rate";
                return Err(ConfigError::new("shift", self.shift, accepted));
            }
            return Ok(());
        }
        if self.shift <= 0.0 {
            let accepted = "the packets/s by which the rate is shifted, e.g. 50: the coupling is \"level\"";
            return Err(ConfigError::new("shift", self.shift, accepted));
        }
        if !self.control.needs().pacing {
            let accepted =
                format!("{}: the coupling \"level\" needs a control that sets a rate", PACED.join(" or "));
            return Err(ConfigError::new("control", self.control.name(), accepted));
        }
        if self.metacontrol {
            let accepted = "false: the coupling \"level\" has no A to find";
            return Err(ConfigError::new("metacontrol", true, accepted));
        }
        Ok(())
    }

    fn check_slopes(&self, levels: usize) -> Result<(), ConfigError> {
        let generalised = self.schedule == ScheduleKind::Generalised;
        let found =
            |what: &str| Err(ConfigError::new("slopes", format!("{:?}", self.slopes), what.to_owned()));
        if !generalised && !self.slopes.is_empty() {
            return found("nothing: they belong to the schedule \"generalised\"");
        }
        if generalised && self.slopes.is_empty() && !self.metacontrol {
            return found("the slopes of all levels, or metacontrol = true, which finds them");
        }
        if !self.slopes.is_empty() && self.slopes.len() != levels {
            return found(&format!("one slope for each of the {levels} levels"));
        }
        if self.slopes.iter().any(|slope| !(0.01..=1000.0).contains(slope)) {
            return found("slopes from 0.01 to 1000");
        }
        if self.slopes.windows(2).any(|pair| pair[1] > pair[0]) {
            return found("slopes that do not grow with contention");
        }
        Ok(())
    }

    fn check_oracle(&self) -> Result<(), ConfigError> {
        if self.oracle.is_empty() {
            return Ok(());
        }
        let found =
            |what: String| Err(ConfigError::new("oracle", format!("{} numbers", self.oracle.len()), what));
        if self.metacontrol || self.coupling.steers_slow_start() {
            return found(
                "nothing: the metacontrol and slow start need levels that the connection observes".into(),
            );
        }
        if self.oracle.iter().any(|level| !(1.0..=self.levels as f64).contains(level)) {
            return found(format!("levels of contention from 1 to {}", self.levels));
        }
        Ok(())
    }

    fn check_prior(&self, levels: usize) -> Result<(), ConfigError> {
        if self.prior.is_empty() {
            return Ok(());
        }
        let found =
            |what: String| Err(ConfigError::new("prior", format!("{} numbers", self.prior.len()), what));
        if self.quantiser != QuantiserKind::FixedRange {
            return found(
                "it with quantiser = \"fixed_range\": levels mean something else in each connection".into(),
            );
        }
        if self.prior.len() != levels * levels {
            return found(format!("{levels} times {levels} counts"));
        }
        if self.prior.iter().any(|count| !(0.0..=1e15).contains(count)) {
            return found("counts of 0 or more".into());
        }
        Ok(())
    }
}

/// The module that steers a control: its slope follows the predicted contention.
#[derive(Debug)]
pub struct MultipleTimeScale {
    /// When the interval ends; zero before the first ACK.
    end: Instant,
    interval: Duration,
    /// True if packets delivered are those of each ACK's sample: of controls that set a rate.
    every_ack: bool,
    /// True if the flow's next connection inherits all that is here.
    shared: bool,
    /// The level of contention that the control is steered by.
    expected: Option<f64>,
    /// Slope now, in slopes of the control that is steered.
    slope: f64,
    oracle: Option<Oracle>,
    coupling: Coupling,
    module: LargeTimeScale,
}

impl MultipleTimeScale {
    pub(crate) const SUMMARY: &'static str =
        "steers the slope of another control by the contention it predicts";
    pub(crate) const REFERENCE: &'static str = "Park & Tuan, ACM TOMACS 10(2), 2000";
    pub(crate) const VARIABLES: &'static [Variable] = &[
        Variable::new("largest_slope", "", "largest slope A, in slopes of the control that is steered"),
        Variable::new("slope", "", "slope now, in slopes of the control that is steered"),
        Variable::new("level", "", "level of contention of the last interval, from 1"),
        Variable::new("predicted", "", "level of contention that is predicted for this interval"),
    ];

    /// A control that is steered, at the start of a connection.
    pub(crate) fn control(config: &MultipleTimeScaleConfig, start: Start) -> Control {
        let steered = config.control.build(start).kind;
        let kind = match config.coupling {
            CouplingKind::Level => Kind::Level(Box::new(Level::new(config, steered))),
            _ => steered,
        };
        let module = Self::new(config, kind.needs().pacing);
        Control::steered(kind, module)
    }

    fn new(config: &MultipleTimeScaleConfig, every_ack: bool) -> Self {
        Self {
            end: Instant::ZERO,
            interval: config.interval,
            every_ack,
            shared: config.shared == Sharing::Flow,
            expected: None,
            slope: 1.0,
            oracle: Oracle::new(config),
            coupling: Coupling::new(config),
            module: LargeTimeScale::new(config),
        }
    }

    /// Returns the common knowledge of a group's connections, if they share it.
    pub(crate) fn knowledge(config: &MultipleTimeScaleConfig) -> Option<Knowledge> {
        (config.shared == Sharing::Group).then(|| Knowledge::new(config))
    }

    /// This is one of the connections that know it.
    pub(crate) fn share(&mut self, knowledge: &Knowledge) {
        self.module.share(knowledge.clone());
    }

    /// The connection before this one was between the same ends: the module goes on where it was, if it is shared so.
    pub(crate) fn inherit(&mut self, earlier: &mut Self, control: &mut Kind) -> bool {
        if self.shared {
            std::mem::swap(&mut self.module, &mut earlier.module);
            std::mem::swap(&mut self.coupling, &mut earlier.coupling);
            self.end = earlier.end;
            self.steer(earlier.expected, control);
        }
        self.shared
    }

    /// Of ACKs before this it wants to know no more than how many packets they acknowledge.
    pub(crate) fn plain_until(&self) -> Instant {
        if self.every_ack {
            Instant::ZERO
        } else {
            self.end
        }
    }

    /// True if the interval has ended.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        now >= self.end
    }

    /// The interval has ended, and brought so many packets: steers the control by what it expects of the next one.
    pub(crate) fn end_interval(&mut self, now: Instant, delivered: u64, control: &mut Kind) {
        let first = self.end == Instant::ZERO;
        let silent = now.since(self.end) >= self.interval;
        let expected = if let Some(oracle) = &self.oracle {
            let (level, end) = oracle.at(now);
            self.end = end;
            Some(level)
        } else if first || silent {
            self.end = now + self.interval;
            self.module.forget();
            None
        } else {
            self.end += self.interval;
            self.module.on_interval(now, delivered as f64)
        };
        self.steer(expected, control);
    }

    fn steer(&mut self, expected: Option<f64>, control: &mut Kind) {
        self.expected = expected;
        self.slope =
            expected.filter(|_| self.coupling.avoidance).map_or(1.0, |level| self.module.slope(level));
        control.set_slope(self.slope);
        if let Kind::Level(level) = control {
            level.set(expected);
        }
    }

    /// The control had a timeout at this window.
    pub(crate) fn on_timeout(&mut self, window: f64, control: &mut Kind) {
        let found = self.coupling.on_timeout(window, self.module.level(), self.module.predicted());
        if let Some(ssthresh) = found {
            control.set_ssthresh(ssthresh.max(MIN_SSTHRESH));
        }
    }

    /// [`CongestionControl::read_variables`]
    pub(crate) fn read_variables(&self, reader: &mut Reader<'_>) {
        reader("largest_slope", self.module.largest_slope());
        reader("slope", self.slope);
        if let Some(level) = self.module.level() {
            reader("level", level as f64);
        }
        if let Some(predicted) = self.module.predicted() {
            reader("predicted", predicted);
        }
    }
}
