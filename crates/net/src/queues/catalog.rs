//! The one list of queues. A new one is a file beside this and a line in the call of `queues!`: before the semicolon if
//! it decides at arrival, behind it if it decides at departure.

use super::traits::Traits;
use super::{
    AdaptiveRed, AdaptiveRedConfig, Arrival, Backlog, Cake, CakeConfig, Codel, CodelConfig,
    DepartureDiscipline, DropTail, DropTailConfig, Drr, DrrConfig, DualPi2, DualPi2Config, FqCodel,
    FqCodelConfig, FqPie, FqPieConfig, Held, Limit, Pie, PieConfig, Policer, PolicerConfig, Priority,
    PriorityConfig, QueueDiscipline, Red, RedConfig, Rio, RioConfig, Sfb, SfbConfig, Shaper, ShaperConfig,
    Step, StepConfig, Turn, Verdict,
};
use parshall_units::parameters::{Entry, Reader};
use parshall_units::{ConfigError, Instant};
use rand_core::RngCore;
use serde::Deserialize;
use std::collections::VecDeque;

/// Dispatch is a `match`, not a virtual call.
macro_rules! queues {
    (
        $($name:literal => $queue:ident($config:ident)),*;
        $($late_name:literal => $late:ident($late_config:ident)),* $(,)?
    ) => {
        /// Which queue, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        pub enum QueueConfig {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $queue($config),
            )*
            $(
                #[doc = concat!("`", $late_name, "`")]
                #[serde(rename = $late_name)]
                $late($late_config),
            )*
        }

        /// A queue of any kind.
        #[derive(Clone, Debug)]
        pub enum Discipline {
            /// It decides at arrival.
            AtArrival(Queue),
            /// It decides at departure.
            AtDeparture(DepartureQueue),
        }

        /// A queue that decides at arrival.
        #[derive(Clone, Debug)]
        pub enum Queue {
            $(
                #[doc = concat!("`", $name, "`")]
                $queue($queue),
            )*
        }

        /// A queue that decides at departure.
        #[derive(Clone, Debug)]
        pub enum DepartureQueue {
            $(
                #[doc = concat!("`", $late_name, "`")]
                $late($late),
            )*
        }

        impl QueueConfig {
            /// An empty queue.
            pub fn build(&self) -> Discipline {
                match self {
                    $(Self::$queue(config) => Discipline::AtArrival(Queue::$queue($queue::new(config))),)*
                    $(Self::$late(config) => {
                        Discipline::AtDeparture(DepartureQueue::$late($late::new(config)))
                    })*
                }
            }

            /// The name that scenarios use.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$queue(_) => $name,)*
                    $(Self::$late(_) => $late_name,)*
                }
            }

            /// True if it decides at a packet's departure.
            pub fn decides_at_departure(&self) -> bool {
                match self {
                    $(Self::$queue(_) => false,)*
                    $(Self::$late(_) => true,)*
                }
            }

            /// Refuses a configuration with values outside the declared ranges, or that contradicts itself.
            ///
            /// # Errors
            /// [`ConfigError`]: which key, what was found, what is accepted.
            pub fn check(&self) -> Result<(), ConfigError> {
                match self {
                    $(Self::$queue(config) => config.check_ranges(),)*
                    $(Self::$late(config) => config.check_ranges(),)*
                }?;
                match self.build() {
                    Discipline::AtArrival(queue) => queue.check(),
                    Discipline::AtDeparture(queue) => queue.check(),
                }
            }
        }

        impl QueueDiscipline for Queue {
            fn on_arrival<R: RngCore>(
                &mut self,
                arrival: &Arrival,
                backlog: &Backlog,
                random: &mut R,
            ) -> Verdict {
                match self { $(Self::$queue(queue) => queue.on_arrival(arrival, backlog, random),)* }
            }

            fn check(&self) -> Result<(), ConfigError> {
                match self { $(Self::$queue(queue) => queue.check(),)* }
            }

            fn differentiates(&self) -> bool {
                match self { $(Self::$queue(queue) => queue.differentiates(),)* }
            }

            fn read_variables(&self, reader: &mut Reader<'_>) {
                match self { $(Self::$queue(queue) => queue.read_variables(reader),)* }
            }

            fn tail(&self) -> Option<Limit> {
                match self { $(Self::$queue(queue) => queue.tail(),)* }
            }
        }

        impl DepartureDiscipline for DepartureQueue {
            fn enqueue<R: RngCore>(
                &mut self,
                packet: Held,
                beside: (u64, u64),
                random: &mut R,
                lost: &mut VecDeque<Held>,
            ) {
                match self { $(Self::$late(queue) => queue.enqueue(packet, beside, random, lost),)* }
            }

            fn dequeue<R: RngCore>(
                &mut self,
                now: Instant,
                random: &mut R,
                lost: &mut VecDeque<Held>,
            ) -> Option<Turn> {
                match self { $(Self::$late(queue) => queue.dequeue(now, random, lost),)* }
            }

            fn packets(&self) -> u64 {
                match self { $(Self::$late(queue) => queue.packets(),)* }
            }

            fn resumes(&self) -> Option<Instant> {
                match self { $(Self::$late(queue) => queue.resumes(),)* }
            }

            fn read_variables(&self, reader: &mut Reader<'_>) {
                match self { $(Self::$late(queue) => queue.read_variables(reader),)* }
            }

            fn check(&self) -> Result<(), ConfigError> {
                match self { $(Self::$late(queue) => queue.check(),)* }
            }
        }

        /// Every queue.
        pub const CATALOG: &[Entry] = &[
            $(Entry {
                name: $name,
                summary: $queue::SUMMARY,
                reference: $queue::REFERENCE,
                parameters: $config::PARAMETERS,
                defaults: &[],
                variables: <$queue as QueueDiscipline>::VARIABLES,
            },)*
            $(Entry {
                name: $late_name,
                summary: $late::SUMMARY,
                reference: $late::REFERENCE,
                parameters: $late_config::PARAMETERS,
                defaults: &[],
                variables: <$late as DepartureDiscipline>::VARIABLES,
            },)*
        ];

        /// The declaration of every queue about itself, by its name.
        pub const TRAITS: &[(&str, Traits)] =
            &[$(($name, $queue::TRAITS),)* $(($late_name, $late::TRAITS),)*];
    };
}

queues! {
    "drop_tail" => DropTail(DropTailConfig),
    "red" => Red(RedConfig),
    "ared" => AdaptiveRed(AdaptiveRedConfig),
    "rio" => Rio(RioConfig),
    "pie" => Pie(PieConfig),
    "step" => Step(StepConfig),
    "policer" => Policer(PolicerConfig);
    "codel" => Codel(CodelConfig),
    "fq_codel" => FqCodel(FqCodelConfig),
    "fq_pie" => FqPie(FqPieConfig),
    "cake" => Cake(CakeConfig),
    "sfb" => Sfb(SfbConfig),
    "drr" => Drr(DrrConfig),
    "dualpi2" => DualPi2(DualPi2Config),
    "priority" => Priority(PriorityConfig),
    "shaper" => Shaper(ShaperConfig),
}
