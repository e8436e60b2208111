//! Losses on the medium, independent of the queue.

use crate::unit_interval;
use parshall_units::parameters::Entry;
use parshall_units::{ConfigError, Packets};
use rand_core::RngCore;
use serde::{Deserialize, Serialize};

parshall_units::configuration! {
    /// No loss.
    pub struct NoLossConfig {}
}

parshall_units::configuration! {
    /// Independent losses.
    pub struct BernoulliConfig {
        /// Probability that a packet is lost.
        probability: f64, min 0.0, max 1.0;
    }
}

parshall_units::configuration! {
    /// Losses at equal distances.
    pub struct PeriodicConfig {
        /// Every packet of this number is lost.
        every: Packets, min "1 packet";
    }
}

parshall_units::configuration! {
    /// Losses in bursts: a good and a bad state (Gilbert 1960, Elliott 1963).
    pub struct GilbertElliottConfig {
        /// Probability, at each packet, of going from the good to the bad state.
        good_to_bad: f64, min 0.0, max 1.0;
        /// Probability, at each packet, of going from the bad to the good state.
        bad_to_good: f64, min 0.0, max 1.0;
        /// Probability that a packet is lost in the good state.
        loss_good: f64, default "0", min 0.0, max 1.0;
        /// Probability that a packet is lost in the bad state.
        loss_bad: f64, default "1", min 0.0, max 1.0;
    }
}

/// Which losses, and their parameters.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum LossConfig {
    /// `none`
    None(NoLossConfig),
    /// `bernoulli`
    Bernoulli(BernoulliConfig),
    /// `periodic`
    Periodic(PeriodicConfig),
    /// `gilbert_elliott`
    GilbertElliott(GilbertElliottConfig),
}

/// The pattern of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossPattern {
    /// There are none.
    None,
    /// Whatever was lost before.
    Independent,
    /// At equal distances.
    Periodic,
    /// In bursts.
    Bursts,
}

/// The properties of losses that formulas need.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LossTraits {
    /// The share of packets that is lost in the long run.
    pub mean: f64,
    /// Their pattern.
    pub pattern: LossPattern,
}

impl GilbertElliottConfig {
    /// The share of packets that is lost in the long run.
    fn mean(&self) -> f64 {
        // Without turns it stays in the state that it begins in, the good one.
        let turns = self.good_to_bad + self.bad_to_good;
        let bad = if self.good_to_bad > 0.0 { self.good_to_bad / turns } else { 0.0 };
        (1.0 - bad) * self.loss_good + bad * self.loss_bad
    }
}

/// Every loss model.
pub const CATALOG: &[Entry] = &[
    Entry {
        name: "none",
        summary: "no losses but the queue's",
        reference: "",
        parameters: NoLossConfig::PARAMETERS,
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "bernoulli",
        summary: "every packet is lost independently",
        reference: "",
        parameters: BernoulliConfig::PARAMETERS,
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "periodic",
        summary: "every n-th packet is lost: what the textbook response functions assume",
        reference: "",
        parameters: PeriodicConfig::PARAMETERS,
        defaults: &[],
        variables: &[],
    },
    Entry {
        name: "gilbert_elliott",
        summary: "losses in bursts: a Markov chain of a good and a bad state",
        reference: "Elliott, Bell System Technical Journal 42(5), 1963",
        parameters: GilbertElliottConfig::PARAMETERS,
        defaults: &[],
        variables: &[],
    },
];

/// The state of a medium.
#[derive(Clone, Debug)]
pub enum Loss {
    /// Loses independently: the packets until the next loss are drawn at once (geometric), so that rare losses
    /// cost nothing in between.
    Bernoulli {
        /// ln(1 - p)
        log_survival: f64,
        /// Packets that pass before the next loss; `None` before the first draw.
        passing: Option<u64>,
    },
    /// Loses every n-th.
    Periodic {
        /// n
        every: u64,
        /// Packets since the last loss.
        passed: u64,
    },
    /// Loses in bursts.
    GilbertElliott {
        /// Its parameters.
        config: GilbertElliottConfig,
        /// True if it is in the bad state.
        bad: bool,
    },
}

impl LossConfig {
    /// Refuses values outside the declared ranges.
    ///
    /// # Errors
    /// [`ConfigError`]: which key, what was found, what is accepted.
    pub fn check(&self) -> Result<(), ConfigError> {
        match self {
            Self::None(config) => config.check_ranges(),
            Self::Bernoulli(config) => config.check_ranges(),
            Self::Periodic(config) => config.check_ranges(),
            Self::GilbertElliott(config) => config.check_ranges(),
        }
    }

    /// Returns the properties that formulas need.
    pub fn traits(&self) -> LossTraits {
        let (mean, pattern) = match self {
            Self::None(_) => (0.0, LossPattern::None),
            Self::Bernoulli(config) => (config.probability, LossPattern::Independent),
            Self::Periodic(config) => (1.0 / config.every.0 as f64, LossPattern::Periodic),
            Self::GilbertElliott(config) => (config.mean(), LossPattern::Bursts),
        };
        LossTraits { mean, pattern }
    }

    /// The medium in its first state: good. `None` if it never loses anything.
    pub fn build(&self) -> Option<Loss> {
        match self {
            Self::None(_) => None,
            Self::Bernoulli(config) => (config.probability > 0.0)
                .then(|| Loss::Bernoulli { log_survival: libm::log1p(-config.probability), passing: None }),
            Self::Periodic(config) => Some(Loss::Periodic { every: config.every.0, passed: 0 }),
            Self::GilbertElliott(config) => Some(Loss::GilbertElliott { config: config.clone(), bad: false }),
        }
    }
}

impl Loss {
    /// True if the next packet is lost.
    pub fn next<R: RngCore>(&mut self, random: &mut R) -> bool {
        match self {
            Self::Bernoulli { log_survival, passing } => {
                let left = passing.unwrap_or_else(|| geometric(*log_survival, random));
                let lost = left == 0;
                *passing = if lost { None } else { Some(left - 1) };
                lost
            }
            Self::Periodic { every, passed } => {
                *passed += 1;
                let lost = *passed >= *every;
                if lost {
                    *passed = 0;
                }
                lost
            }
            Self::GilbertElliott { config, bad } => {
                let turn = if *bad { config.bad_to_good } else { config.good_to_bad };
                *bad ^= unit_interval(random.next_u64()) < turn;
                let probability = if *bad { config.loss_bad } else { config.loss_good };
                unit_interval(random.next_u64()) < probability
            }
        }
    }
}

/// Packets before the first loss: P(k) = p (1-p)^k.
fn geometric<R: RngCore>(log_survival: f64, random: &mut R) -> u64 {
    let u = 1.0 - unit_interval(random.next_u64());
    (libm::log(u) / log_survival) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::testing::any_object;
    use proptest::prelude::*;
    use rand_core::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn share(config: &LossConfig, packets: u32) -> f64 {
        let Some(mut loss) = config.build() else { return 0.0 };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let hits = (0..packets).filter(|_| loss.next(&mut random)).count();
        hits as f64 / f64::from(packets)
    }

    #[test]
    fn bernoulli_loses_its_share_independently() {
        for p in [0.0, 0.001, 0.3, 1.0] {
            let config = LossConfig::Bernoulli(BernoulliConfig { probability: p });
            let observed = share(&config, 1_000_000);
            let sd = (p * (1.0 - p) / 1e6_f64).sqrt();
            assert!((observed - p).abs() <= 4.0 * sd, "{p}: {observed}");
        }
        // Independence: a loss follows a loss with the same probability.
        let mut loss = LossConfig::Bernoulli(BernoulliConfig { probability: 0.3 }).build().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws: Vec<bool> = (0..300_000).map(|_| loss.next(&mut random)).collect();
        let after: Vec<bool> = draws.windows(2).filter(|w| w[0]).map(|w| w[1]).collect();
        let conditional = after.iter().filter(|&&l| l).count() as f64 / after.len() as f64;
        assert!((conditional - 0.3).abs() < 0.006, "{conditional}");
    }

    /// Every model, from all that its parameters accept.
    fn any_models() -> Vec<impl Strategy<Value = LossConfig>> {
        let any =
            |entry| any_object(entry, |_| None).prop_map(|object| serde_json::from_value(object).unwrap());
        CATALOG.iter().map(any).collect()
    }

    proptest! {
        #[test]
        fn losses_follow_from_the_random_numbers_alone(configs in any_models(), seed: u64) {
            for config in configs {
                prop_assert_eq!(config.check(), Ok(()));
                let hits = || {
                    let mut loss = config.build();
                    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
                    (0..200).map(|_| loss.as_mut().is_some_and(|loss| loss.next(&mut random))).collect::<Vec<_>>()
                };
                prop_assert_eq!(hits(), hits(), "{:?}", config);
                match &config {
                    LossConfig::None(_) => prop_assert!(!hits().contains(&true)),
                    LossConfig::Periodic(PeriodicConfig { every: Packets(1) }) => prop_assert!(!hits().contains(&false)),
                    LossConfig::Bernoulli(BernoulliConfig { probability }) if *probability == 1.0 => {
                        prop_assert!(!hits().contains(&false));
                    }
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn periodic_loses_every_nth() {
        let mut loss = LossConfig::Periodic(PeriodicConfig { every: Packets(3) }).build().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws: Vec<bool> = (0..7).map(|_| loss.next(&mut random)).collect();
        assert_eq!(draws, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn the_mean_is_the_share_of_a_long_run() {
        let bursts = |good_to_bad, bad_to_good, loss_good| {
            LossConfig::GilbertElliott(GilbertElliottConfig {
                good_to_bad,
                bad_to_good,
                loss_good,
                loss_bad: 0.8,
            })
        };
        for config in [
            LossConfig::None(NoLossConfig {}),
            LossConfig::Bernoulli(BernoulliConfig { probability: 0.02 }),
            LossConfig::Periodic(PeriodicConfig { every: parshall_units::Packets(40) }),
            bursts(0.01, 0.1, 0.001),
            bursts(0.0, 0.5, 0.05),
            bursts(0.02, 0.0, 0.1), // the bad state, once it comes, stays
        ] {
            let (mean, observed) = (config.traits().mean, share(&config, 2_000_000));
            assert!((observed - mean).abs() <= 0.02 * mean, "{config:?}: {mean} and {observed}");
        }
    }

    #[test]
    fn gilbert_elliott_has_its_stationary_share_and_bursts() {
        let config = LossConfig::GilbertElliott(GilbertElliottConfig {
            good_to_bad: 0.01,
            bad_to_good: 0.25,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
        let expected = 0.01 / 0.26;
        let observed = share(&config, 2_000_000);
        assert!((observed - expected).abs() < 0.03 * expected, "{observed}");
        let mut loss = config.build().unwrap();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let draws: Vec<bool> = (0..1_000_000).map(|_| loss.next(&mut random)).collect();
        let hits = draws.iter().filter(|&&l| l).count();
        let bursts = draws.windows(2).filter(|w| !w[0] && w[1]).count();
        let mean_burst = hits as f64 / bursts as f64;
        assert!((mean_burst - 4.0).abs() < 0.1, "{mean_burst}");
    }
}
