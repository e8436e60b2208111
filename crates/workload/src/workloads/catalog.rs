//! The one list of workloads.
//!
//! A new workload is a file of this folder and a line in the call of `workloads!` below; its name,
//! parameters, dispatch, docs and conformance tests follow from that line.

use super::traits::Traits;
use super::{
    Application, BulkConfig, CbrConfig, OnOffCbrConfig, OnOffConfig, OpenLoopConfig, PoissonConfig,
    RateControlledConfig, RequestResponseConfig, TransferConfig,
};
use crate::error::ConfigError;
use crate::sources::Source;
use parshall_units::parameters::Entry;
use serde::Deserialize;
use std::num::NonZeroU32;

macro_rules! workloads {
    ($($name:literal => $workload:ident($config:ident)),* $(,)?) => {
        /// An application, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        pub enum WorkloadConfig {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $workload($config),
            )*
        }

        impl WorkloadConfig {
            /// Returns the source of a flow whose full packets have `packet_bytes` on the wire. Flows of
            /// a group clone it.
            ///
            /// # Errors
            /// A parameter is out of range, or parameters contradict each other.
            pub fn source(&self, packet_bytes: NonZeroU32) -> Result<Source, ConfigError> {
                match self {
                    $(Self::$workload(config) => config.check_ranges().and_then(|()| config.source(packet_bytes)),)*
                }
            }

            /// True if it sends datagrams, without TCP.
            pub fn is_datagram(&self) -> bool {
                match self {
                    $(Self::$workload(_) => $config::DATAGRAMS,)*
                }
            }

            /// True if it sends datagrams at the rate that a congestion control sets.
            pub fn is_controlled(&self) -> bool {
                match self {
                    $(Self::$workload(_) => $config::CONTROLLED,)*
                }
            }

            /// True if the times at which it sends are random already, packet by packet.
            pub fn has_random_times(&self) -> bool {
                match self {
                    $(Self::$workload(_) => $config::RANDOM_TIMES,)*
                }
            }

            /// The name that scenarios use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$workload(_) => $name,)*
                }
            }
        }

        /// Every workload.
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

        /// The declaration of every workload about itself, by its name.
        pub const TRAITS: &[(&str, Traits)] = &[
            $(($name, Traits {
                title: $config::TITLE,
                datagrams: $config::DATAGRAMS,
                demand: $config::DEMAND,
                random: $config::RANDOM,
            })),*
        ];
    };
}

workloads! {
    "bulk" => Bulk(BulkConfig),
    "transfer" => Transfer(TransferConfig),
    "on_off" => OnOff(OnOffConfig),
    "request_response" => RequestResponse(RequestResponseConfig),
    "open_loop" => OpenLoop(OpenLoopConfig),
    "cbr" => Cbr(CbrConfig),
    "on_off_cbr" => OnOffCbr(OnOffCbrConfig),
    "poisson" => Poisson(PoissonConfig),
    "rate_controlled" => RateControlled(RateControlledConfig),
}
