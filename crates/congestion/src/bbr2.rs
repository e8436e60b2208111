//! BBR, version 2 (draft-cardwell-iccrg-bbr-congestion-control-02; the alpha release for Linux).
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | bw_lo, inflight_lo | the same in [`BoundedBbr`] | packets/s, packets: what the last losses and marks suggest |
//! | inflight_hi | the same | packets: what was in flight when probing lost too much |
//! | loss_thresh, beta | `loss_threshold`, 1 - `beta` | |
//! | ecn_alpha | `alpha` | share of packets marked, averaged over round trips with a weight of 1/16 |
//! | ecn_factor, ecn_thresh, ecn_max_rtt | `ecn_factor`, `ecn_threshold`, `ecn_max_rtt` | |
//!
//! The model, its states and its bounds are those of version 3 ([`bounded_bbr`](crate::bounded_bbr)). What differs:
//! - Startup paces at 2/ln 2 times the bandwidth and ends after 8 ACKs with losses in a round trip (6); Drain paces at
//!   ln 2/2.
//! - Down paces at 0.75 of the bandwidth (0.9), the window of Up is 2 BDP (2.25).
//! - Up ends when 1.25 BDP are in flight an RTT after it began (version 3 goes on until the bandwidth grows no more);
//!   Drain lasts until it is done.
//! - Marks, if `ecn` is true and the smallest RTT is `ecn_max_rtt` at most: a round trip with marks leaves 1 -
//!   ecn_factor ecn_alpha of bw_lo and inflight_lo; half of a round trip's packets marked are too many for probing, and
//!   end Startup if it happens twice in a row. That is an answer to queues that mark early, as for DCTCP; it is off by
//!   default, as in Linux.
//!
//! As in version 3, the losses that end Startup also bound inflight_hi by what was delivered, and the pipe counts as
//! full by the sample that begins a round. Left out: probing again when marks cease, which is off by default.
//!
//! Read: Linux' net/ipv4/tcp_bbr2.c of the alpha release (google/bbr, v2alpha), for rules and constants. Of the draft
//! the abstract only.

use crate::bounded_bbr::{BoundedBbr, EcnResponse, Limits, Rules, UpEnds, Version, SHARED_VARIABLES};
use crate::{AckEvent, RateSample};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Bbr2`].
    pub struct Bbr2Config {
        /// Share of lost packets above which probing is too much.
        loss_threshold: f64, default "0.02", min 0.0, max 1.0;
        /// Factor of bandwidth and packets in flight that a round trip with losses keeps.
        beta: f64, default "0.7", min 0.01, max 0.999;
        /// Time without a new smallest RTT after which the queue is drained to measure it.
        probe_rtt_interval: Duration, default "5 s", min "1 ms";
        /// Time for which the queue is drained.
        probe_rtt_duration: Duration, default "200 ms", min "0 s";
        /// Whether marks are answered, as those of a queue that marks early.
        ecn: bool, default "false";
        /// Part of the average share of marked packets by which a round trip with marks reduces.
        ecn_factor: f64, default "0.333", min 0.0, max 1.0;
        /// Share of a round trip's packets marked from which on probing is too much.
        ecn_threshold: f64, default "0.5", min 0.01, max 1.0;
        /// Largest smallest RTT at which marks are answered.
        ecn_max_rtt: Duration, default "5 ms", min "0 s", max "10 s";
    }
}

/// Version 2.
#[derive(Clone, Debug)]
pub struct Version2;

/// Bandwidth probing that answers losses and, by a parameter, marks.
pub type Bbr2 = BoundedBbr<Version2>;

/// 2/ln 2: the smallest gain that doubles the rate each round trip.
const STARTUP_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// Weight of the newest round trip in `alpha`.
const ALPHA_GAIN: f64 = 1.0 / 16.0;
/// Round trips in a row with too many marks that end Startup.
const STARTUP_ROUNDS: u32 = 2;

const VARIABLES: [Variable; SHARED_VARIABLES.len() + 1] = {
    let mut all =
        [Variable::new("ecn_alpha", "", "average share of packets marked"); SHARED_VARIABLES.len() + 1];
    let mut i = 0;
    while i < SHARED_VARIABLES.len() {
        all[i] = SHARED_VARIABLES[i];
        i += 1;
    }
    all
};

impl Version for Version2 {
    type Config = Bbr2Config;
    type Ecn = Marks;

    const SUMMARY: &'static str = "BBR with bounds by losses above 2 % and, if told so, by marks";
    const REFERENCE: &'static str = "draft-cardwell-iccrg-bbr-congestion-control-02";
    const VARIABLES: &'static [Variable] = &VARIABLES;
    const RULES: Rules = Rules {
        startup: (STARTUP_GAIN, STARTUP_GAIN),
        drain: (1.0 / STARTUP_GAIN, STARTUP_GAIN),
        drain_rounds: u64::MAX,
        down: 0.75,
        up: 2.0,
        startup_losses: 8,
        up_ends: UpEnds::AtQueue,
    };

    fn limits(config: &Bbr2Config) -> Limits {
        Limits {
            loss_threshold: config.loss_threshold,
            beta: config.beta,
            probe_rtt_interval: config.probe_rtt_interval,
            probe_rtt_duration: config.probe_rtt_duration,
        }
    }

    fn ecn(config: &Bbr2Config) -> Marks {
        Marks {
            on: config.ecn,
            factor: config.ecn_factor,
            threshold: config.ecn_threshold,
            max_rtt: config.ecn_max_rtt,
            eligible: false,
            alpha: 1.0,
            delivered: 0.0,
            marked: 0.0,
            in_round: false,
            too_many: false,
            rounds_in_a_row: 0,
        }
    }
}

/// The answer to marks.
#[derive(Clone, Debug)]
pub struct Marks {
    on: bool,
    factor: f64,
    threshold: f64,
    max_rtt: Duration,
    /// True if the smallest RTT was short enough once.
    eligible: bool,
    alpha: f64,
    /// Packets of the round trip under way.
    delivered: f64,
    marked: f64,
    /// True if there were marks since the last answer to some.
    in_round: bool,
    /// True if the ACK at hand ends a round trip with too many.
    too_many: bool,
    rounds_in_a_row: u32,
}

impl EcnResponse for Marks {
    fn is_on(&self) -> bool {
        self.on
    }

    fn on_ack(&mut self, ack: &AckEvent, sample: &RateSample, round: bool, min_rtt: Duration) {
        self.too_many = false;
        if !self.on {
            return;
        }
        let delivered = sample.newly_delivered as f64;
        self.delivered += delivered;
        if ack.ecn_echo {
            self.marked += delivered;
            self.in_round = true;
        }
        if round && self.delivered > 0.0 {
            self.eligible |= min_rtt <= self.max_rtt;
            let share = self.marked / self.delivered;
            self.alpha += ALPHA_GAIN * (share - self.alpha);
            self.too_many = self.eligible && share >= self.threshold;
            self.rounds_in_a_row = if self.too_many { self.rounds_in_a_row + 1 } else { 0 };
            (self.delivered, self.marked) = (0.0, 0.0);
        }
    }

    fn kept(&self) -> Option<f64> {
        (self.in_round && self.eligible).then_some(1.0 - self.factor * self.alpha)
    }

    fn too_many(&self) -> bool {
        self.too_many
    }

    fn fills(&self) -> bool {
        self.rounds_in_a_row >= STARTUP_ROUNDS
    }

    fn restart(&mut self) {
        self.in_round = false;
    }

    fn read_variables(&self, reader: &mut Reader<'_>) {
        if self.on {
            reader("ecn_alpha", self.alpha);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
