//! The one list of markers. A new one is a file beside this and a line in the call of `markers!`.

use super::{Class, Edge, NoMarkerConfig, PacketMarker, TokenBucket, TokenBucketConfig};
use parshall_units::parameters::{Entry, Reader};
use parshall_units::{ConfigError, Instant};
use serde::Deserialize;

/// Dispatch is a `match`, not a virtual call. `none` is no marker at all, so that nobody asks it.
macro_rules! markers {
    ($($name:literal => $marker:ident($config:ident)),* $(,)?) => {
        /// Which marker, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        pub enum MarkerConfig {
            /// `none`
            #[serde(rename = "none")]
            None(NoMarkerConfig),
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $marker($config),
            )*
        }

        /// A marker of any kind.
        #[derive(Clone, Debug)]
        pub enum Marker {
            $(
                #[doc = concat!("`", $name, "`")]
                $marker($marker),
            )*
        }

        impl MarkerConfig {
            /// Refuses a configuration that contradicts itself, or the edge where it would stand.
            ///
            /// # Errors
            /// [`ConfigError`]: which key, what was found, what is accepted.
            pub fn check(&self, edge: Edge) -> Result<(), ConfigError> {
                match self {
                    Self::None(_) => Ok(()),
                    $(Self::$marker(config) => {
                        config.check_ranges().and_then(|()| $marker::check(config, edge))
                    })*
                }
            }

            /// The marker before its first packet; `None` for none.
            pub fn build(&self) -> Option<Marker> {
                match self {
                    Self::None(_) => None,
                    $(Self::$marker(config) => Some(Marker::$marker($marker::new(config))),)*
                }
            }
        }

        impl Marker {
            /// The class of a packet of `bytes` that passes at `now`.
            #[inline]
            pub fn mark(&mut self, now: Instant, bytes: u32) -> Class {
                match self { $(Self::$marker(marker) => marker.mark(now, bytes),)* }
            }

            /// Tells the values of its inner variables at `now`, if no packet passes until then.
            pub fn read_variables(&self, now: Instant, reader: &mut Reader<'_>) {
                match self { $(Self::$marker(marker) => marker.read_variables(now, reader),)* }
            }
        }

        /// Every marker.
        pub const CATALOG: &[Entry] = &[
            Entry {
                name: "none",
                summary: "no marks; queues that differentiate take every packet as out of profile",
                reference: "",
                parameters: NoMarkerConfig::PARAMETERS,
                defaults: &[],
                variables: &[],
            },
            $(Entry {
                name: $name,
                summary: $marker::SUMMARY,
                reference: $marker::REFERENCE,
                parameters: $config::PARAMETERS,
                defaults: &[],
                variables: $marker::VARIABLES,
            },)*
        ];
    };
}

markers! {
    "token_bucket" => TokenBucket(TokenBucketConfig),
}
