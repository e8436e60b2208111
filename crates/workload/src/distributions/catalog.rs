//! The one list of distributions.
//!
//! A new distribution is a file of this folder and a line in the call of `distributions!` below; its
//! name, parameters, dispatch, docs and conformance tests follow from that line.

use super::bounded_pareto::{BoundedPareto, BoundedParetoConfig};
use super::constant::{Constant, ConstantConfig};
use super::empirical::{Empirical, EmpiricalConfig};
use super::exponential::{Exponential, ExponentialConfig};
use super::hyperexponential::{Hyperexponential, HyperexponentialConfig};
use super::lognormal::{Lognormal, LognormalConfig};
use super::pareto::{Pareto, ParetoConfig};
use super::uniform::{Uniform, UniformConfig};
use super::weibull::{Weibull, WeibullConfig};
use super::{Distribution, Law, LawConfig};
use crate::error::ConfigError;
use parshall_units::parameters::{Bounded, Entry};
use serde::Deserialize;

/// Dispatch is a `match`, not a virtual call: a draw stays inlined.
macro_rules! distributions {
    ($($name:literal => $law:ident($config:ident)),* $(,)?) => {
        /// Which distribution, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        pub enum DistributionConfig {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $law($config),
            )*
        }

        /// A law of any kind.
        #[derive(Clone, Debug)]
        pub(super) enum Laws {
            $($law($law),)*
        }

        impl DistributionConfig {
            /// The distribution to draw from.
            ///
            /// # Errors
            /// A parameter is out of range, or parameters contradict each other.
            pub fn build(&self) -> Result<Distribution, ConfigError> {
                match self {
                    $(Self::$law(config) => config.check_ranges().and_then(|()| config.build()).map(Laws::$law),)*
                }
                .map(Distribution)
            }

            /// Checks that it can be built.
            ///
            /// # Errors
            /// As [`build`](Self::build).
            pub fn validate(&self) -> Result<(), ConfigError> {
                self.build().map(drop)
            }

            /// The name that scenarios use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$law(_) => $name,)*
                }
            }
        }

        impl Law for Laws {
            #[inline]
            fn draw(&self, u: f64) -> f64 {
                match self { $(Self::$law(law) => law.draw(u),)* }
            }
            fn quantile(&self, u: f64) -> f64 {
                match self { $(Self::$law(law) => law.quantile(u),)* }
            }
            fn mean(&self) -> f64 {
                match self { $(Self::$law(law) => law.mean(),)* }
            }
            fn cv2(&self) -> f64 {
                match self { $(Self::$law(law) => law.cv2(),)* }
            }
        }

        /// Every distribution.
        pub const CATALOG: &[Entry] = &[
            $(Entry {
                name: $name,
                summary: $config::SUMMARY,
                reference: $config::REFERENCE,
                parameters: $config::PARAMETERS,
                defaults: &[],
                variables: &[],
            },)*
        ];
    };
}

impl Bounded for DistributionConfig {}

distributions! {
    "constant" => Constant(ConstantConfig),
    "uniform" => Uniform(UniformConfig),
    "exponential" => Exponential(ExponentialConfig),
    "pareto" => Pareto(ParetoConfig),
    "bounded_pareto" => BoundedPareto(BoundedParetoConfig),
    "lognormal" => Lognormal(LognormalConfig),
    "weibull" => Weibull(WeibullConfig),
    "hyperexponential" => Hyperexponential(HyperexponentialConfig),
    "empirical" => Empirical(EmpiricalConfig),
}
