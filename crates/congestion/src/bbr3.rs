//! BBR, version 3 (draft-ietf-ccwg-bbr-06).
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | BBR.max_bw | `max_bw` | packets/s, largest delivery rate of this and the last cycle of probing |
//! | BBR.bw_shortterm, BBR.inflight_shortterm | `bw_lo`, `inflight_lo` | packets/s, packets: what the last losses suggest |
//! | BBR.inflight_longterm | `inflight_hi` | packets: what was in flight when probing lost too much |
//! | BBR.min_rtt, BBR.probe_rtt_min_delay | `min_rtt`, `probe_rtt_min` | smallest RTT of 10 s, and of 5 s |
//! | BBR.LossThresh | `loss_threshold` | share of losses above which probing is too much: 2 % |
//! | BBR.Beta | `beta` | factor kept at a loss |
//! | BBR.Headroom | `HEADROOM` | share of `inflight_hi` left to others |
//!
//! Against version 1: a round trip that loses lowers the bandwidth and the packets in flight for a while; probing for
//! more comes every 2 to 3 s, or as often as a Reno flow of the same window would lose, whichever is sooner, begins by
//! refilling the pipe and ends when the bandwidth grows no more or more than 2 % are lost; ProbeRTT keeps half a BDP
//! and comes every 5 s. The states are Startup, Drain, the four of ProbeBW (down, cruise, refill, up) and ProbeRTT. A
//! probing after one that lost too much stops where that one did, and goes on at once if nothing is lost there
//! (§5.3.3.6); Drain ends after three round trips at the latest (§5.3.2); what a loss changed that was none is taken
//! back (§5.5.11, by senders that find out: `tcp = "linux"`).
//!
//! ECN is not used, as in the draft.
//!
//! Sections are those of the draft's revision 06 of July 2026, the newest when this was written.

use crate::bounded_bbr::{BoundedBbr, Limits, Rules, UpEnds, Version, SHARED_VARIABLES};
use parshall_units::parameters::Variable;
use parshall_units::Duration;

parshall_units::configuration! {
    /// Parameters of [`Bbr3`].
    pub struct Bbr3Config {
        /// Share of lost packets above which probing is too much.
        loss_threshold: f64, default "0.02", min 0.0, max 1.0;
        /// Factor of bandwidth and packets in flight that a round trip with losses keeps.
        beta: f64, default "0.7", min 0.01, max 0.999;
        /// Time without a new smallest RTT after which the queue is drained to measure it.
        probe_rtt_interval: Duration, default "5 s", min "1 ms";
        /// Time for which the queue is drained.
        probe_rtt_duration: Duration, default "200 ms", min "0 s";
    }
}

/// Version 3.
#[derive(Clone, Debug)]
pub struct Version3;

/// Bandwidth probing that answers to losses.
pub type Bbr3 = BoundedBbr<Version3>;

/// 4 ln 2: the smallest pacing gain that doubles the rate each round trip with a window of two BDP.
pub(crate) const STARTUP_GAIN: f64 = 4.0 * std::f64::consts::LN_2;

impl Version for Version3 {
    type Config = Bbr3Config;
    type Ecn = ();

    const SUMMARY: &'static str = "BBR that answers to losses above 2 % and leaves headroom";
    const REFERENCE: &'static str = "draft-ietf-ccwg-bbr-06";
    const VARIABLES: &'static [Variable] = &SHARED_VARIABLES;
    const RULES: Rules = Rules {
        startup: (STARTUP_GAIN, 2.0),
        drain: (0.5, 2.0),
        drain_rounds: 3,
        down: 0.9,
        up: 2.25,
        startup_losses: 6,
        up_ends: UpEnds::AtPlateau,
    };

    fn limits(config: &Bbr3Config) -> Limits {
        Limits {
            loss_threshold: config.loss_threshold,
            beta: config.beta,
            probe_rtt_interval: config.probe_rtt_interval,
            probe_rtt_duration: config.probe_rtt_duration,
        }
    }

    fn ecn(_: &Bbr3Config) {}
}

#[cfg(test)]
pub(crate) mod tests;
