//! The one list of queues. A new one is a file beside this and a line in the call of `queues!`.

use super::{
    Arrival, Backlog, DropTail, DropTailConfig, Pie, PieConfig, QueueDiscipline, Red, RedConfig, Step,
    StepConfig, Verdict,
};
use parshall_units::parameters::Entry;
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
        }

        impl QueueDiscipline for Queue {
            #[inline]
            fn on_arrival<R: RngCore>(
                &mut self,
                arrival: &Arrival,
                backlog: &Backlog,
                random: &mut R,
            ) -> Verdict {
                match self { $(Self::$queue(queue) => queue.on_arrival(arrival, backlog, random),)* }
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
    "pie" => Pie(PieConfig),
    "step" => Step(StepConfig),
}
