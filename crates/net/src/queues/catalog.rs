//! The one list of queues. A new one is a file beside this and a line in the call of `queues!`.

use super::{
    Arrival, Backlog, DropTail, DropTailConfig, Limit, Pie, PieConfig, QueueDiscipline, Red, RedConfig, Rio,
    RioConfig, Step, StepConfig, Verdict,
};
use parshall_units::parameters::Entry;
use parshall_units::ConfigError;
use rand_core::RngCore;
use serde::Deserialize;

/// Dispatch is a `match`, not a virtual call.
macro_rules! queues {
    ($($name:literal => $queue:ident($config:ident)),* $(,)?) => {
        /// Which queue, and its parameters.
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(tag = "name")]
        pub enum QueueConfig {
            $(
                #[doc = concat!("`", $name, "`")]
                #[serde(rename = $name)]
                $queue($config),
            )*
        }

        /// A queue of any kind.
        #[derive(Clone, Debug)]
        pub enum Queue {
            $(
                #[doc = concat!("`", $name, "`")]
                $queue($queue),
            )*
        }

        impl QueueConfig {
            /// An empty queue.
            pub fn build(&self) -> Queue {
                match self { $(Self::$queue(config) => Queue::$queue($queue::new(config)),)* }
            }

            /// Refuses a configuration that contradicts itself.
            ///
            /// # Errors
            /// [`ConfigError`]: which key, what was found, what is accepted.
            pub fn check(&self) -> Result<(), ConfigError> {
                self.build().check()
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

            fn tail(&self) -> Option<Limit> {
                match self { $(Self::$queue(queue) => queue.tail(),)* }
            }
        }

        /// Every queue.
        pub const CATALOG: &[Entry] = &[
            $(Entry {
                name: $name,
                summary: $queue::SUMMARY,
                reference: $queue::REFERENCE,
                parameters: $config::PARAMETERS,
            },)*
        ];
    };
}

queues! {
    "drop_tail" => DropTail(DropTailConfig),
    "red" => Red(RedConfig),
    "rio" => Rio(RioConfig),
    "pie" => Pie(PieConfig),
    "step" => Step(StepConfig),
}
