//! Where Linux's TCP does otherwise than the RFCs: the policies, each of which a scenario can switch alone.
//!
//! A policy is an enum of two forms, `Rfc` and `Linux`, in a file of its own. The file's header names the paragraphs of
//! the RFCs and the functions of the kernel, and the policy declares its differences: from [`POLICIES`], the list of
//! them all, come the table of docs/linux.md and the names that scenarios may use.
//!
//! | policies | asked by |
//! | --- | --- |
//! | `acks`, `sack_compression`, `receive_buffer` | the receiver |
//! | `window_growth`, `rtt_estimate`, `opening`, `idle_restart` | the sender and its connection |
//! | `recovery_rate`, `loss_response`, `loss_detection`, `loss_timers`, `undo` | loss recovery |
//! | `bursts` | the sender and its pacing |
//! | `processing` | whoever drives the endpoints |
//!
//! The kernel's forms were read from net/ipv4/tcp.c, tcp_input.c, tcp_output.c, tcp_recovery.c and tcp_timer.c of Linux
//! 6.18.

mod acks;
mod bursts;
mod idle_restart;
mod loss_detection;
mod loss_response;
mod loss_timers;
mod opening;
mod processing;
mod receive_buffer;
mod recovery_rate;
mod rtt_estimate;
mod sack_compression;
mod undo;
mod window_growth;

pub use acks::Acks;
pub use bursts::Bursts;
pub(crate) use bursts::{most_at_once, packets_together, segments_together, SEGMENTED};
pub(crate) use idle_restart::three_quarters;
pub use idle_restart::IdleRestart;
pub use loss_detection::LossDetection;
pub use loss_response::LossResponse;
pub use loss_timers::LossTimers;
pub(crate) use loss_timers::SLACK;
pub use opening::Opening;
pub use processing::Processing;
pub use receive_buffer::ReceiveBuffer;
pub use recovery_rate::RecoveryRate;
pub use rtt_estimate::RttSampling;
pub use sack_compression::SackCompression;
pub use undo::Undo;
pub use window_growth::WindowGrowth;
pub(crate) use window_growth::WindowUse;

use parshall_units::parameters::{Bounded, Kind, ParameterType};
use serde::{Deserialize, Serialize};

/// A policy, for lists and documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Policy {
    /// Its key in the table `rules` of a scenario.
    pub name: &'static str,
    /// Its subject.
    pub summary: &'static str,
    /// Its form by the RFCs, in one line.
    pub rfc: &'static str,
    /// Its form by Linux, in one line.
    pub linux: &'static str,
    /// The differences, rule by rule.
    pub differences: &'static [Difference],
}

/// A rule of a policy that Linux and the RFCs have in another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The subject of the rule.
    pub what: &'static str,
    /// The RFCs' form.
    pub rfc: &'static str,
    /// Linux's form, with the functions of the kernel.
    pub linux: &'static str,
}

/// Declares the policy of a file: an enum of its two forms, and what documents say of it.
macro_rules! policy {
    (
        $(#[$outer:meta])*
        $type:ident = $name:literal {
            summary: $summary:literal,
            rfc: $rfc:literal,
            linux: $linux:literal,
            differences: [$({ $what:literal, rfc: $by_rfc:literal, linux: $by_linux:literal $(,)? }),+ $(,)?] $(,)?
        }
    ) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize, serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum $type {
            #[doc = $rfc]
            Rfc,
            #[doc = $linux]
            Linux,
        }

        impl $type {
            /// The declaration for documents.
            pub(super) const POLICY: $crate::policies::Policy = $crate::policies::Policy {
                name: $name,
                summary: $summary,
                rfc: $rfc,
                linux: $linux,
                differences: &[$($crate::policies::Difference { what: $what, rfc: $by_rfc, linux: $by_linux }),+],
            };

            /// True if it has Linux's form.
            #[inline]
            pub fn is_linux(self) -> bool {
                self == Self::Linux
            }
        }
    };
}
use policy;

/// Declares [`Rules`] and [`POLICIES`] from the one list of policies.
macro_rules! rules {
    ($($field:ident: $type:ident,)+) => {
        /// The form of each policy.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct Rules {
            $(#[doc = concat!("See [`", stringify!($type), "`].")] pub $field: $type,)+
        }

        impl Rules {
            /// Every policy has the RFCs' form.
            pub const RFC: Self = Self { $($field: $type::Rfc,)+ };
            /// Every policy has Linux's form.
            pub const LINUX: Self = Self { $($field: $type::Linux,)+ };

            /// These, but for the policy of this name, which has the form of `other`. `None`: no policy has the name.
            #[must_use]
            pub fn with(mut self, name: &str, other: &Self) -> Option<Self> {
                match name {
                    $(stringify!($field) => self.$field = other.$field,)+
                    _ => return None,
                }
                Some(self)
            }
        }

        /// Every policy.
        pub const POLICIES: &[Policy] = &[$($type::POLICY),+];
    };
}

rules! {
    acks: Acks,
    sack_compression: SackCompression,
    receive_buffer: ReceiveBuffer,
    window_growth: WindowGrowth,
    bursts: Bursts,
    rtt_estimate: RttSampling,
    recovery_rate: RecoveryRate,
    loss_response: LossResponse,
    loss_detection: LossDetection,
    loss_timers: LossTimers,
    undo: Undo,
    opening: Opening,
    idle_restart: IdleRestart,
    processing: Processing,
}

/// Each form of each policy is accepted.
impl Bounded for Rules {}

impl ParameterType for Rules {
    const KIND: Kind = Kind::Rules;
    const CHOICES: &'static [&'static str] = &["rfc", "linux"];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_all_policies_is_read_and_nothing_else() {
        let text = serde_json::to_string(&Rules::LINUX).unwrap();
        assert_eq!(serde_json::from_str::<Rules>(&text).unwrap(), Rules::LINUX);
        let mixed: Rules = serde_json::from_str(&text.replacen("linux", "rfc", 1)).unwrap();
        assert_eq!(mixed, Rules { acks: Acks::Rfc, ..Rules::LINUX });
        assert!(serde_json::from_str::<Rules>(r#""linux""#).is_err());
        assert!(serde_json::from_str::<Rules>(&text.replace("acks", "answers")).is_err());
    }

    #[test]
    fn each_policy_is_listed_under_the_name_of_its_field() {
        let table = serde_json::to_value(Rules::RFC).unwrap();
        let fields: Vec<&String> = table.as_object().unwrap().keys().collect();
        assert_eq!(fields.len(), POLICIES.len());
        for policy in POLICIES {
            assert_eq!(table[policy.name], "rfc", "{}", policy.name);
            let switched = Rules::RFC.with(policy.name, &Rules::LINUX).unwrap();
            assert_ne!(switched, Rules::RFC);
            assert_eq!(serde_json::to_value(switched).unwrap()[policy.name], "linux");
        }
        let all = |rules: Rules, policy: &Policy| rules.with(policy.name, &Rules::LINUX).unwrap();
        assert_eq!(POLICIES.iter().fold(Rules::RFC, all), Rules::LINUX);
        assert_eq!(Rules::RFC.with("answers", &Rules::LINUX), None);
    }

    #[test]
    fn each_difference_names_a_function_of_the_kernel() {
        for policy in POLICIES {
            for difference in policy.differences {
                let named = difference.linux.contains('`') || policy.name == "processing";
                assert!(named, "{}: {}", policy.name, difference.what);
            }
        }
    }
}
