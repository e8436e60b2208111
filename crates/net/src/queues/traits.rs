//! The properties of a queue that matter to reasoning about its traffic without a simulation.
//!
//! Formulas of throughput assume one queue, in which every packet meets the same loss and waits its turn. Each queue
//! declares here what of that it keeps. Predictions look it up (`parshall.scenario.properties` in Python), and are out of their
//! range where a queue keeps less than they assume. Designs ask how the queue is set on a Linux router.

use serde::Serialize;

/// When a queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Drops {
    /// Only when what comes does not fit: losses come in bursts, and depend on the senders' windows.
    Tail,
    /// Arriving packets at random, before it is full: losses are independent of each other.
    Early,
    /// Packets whose turn has come, when packets have waited for too long.
    Departure,
}

/// Which packets a queue treats differently from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Separates {
    /// None: first in, first out, and every packet may be dropped as any other.
    Nothing,
    /// Those of each flow: they have a queue of their own, and a fair share of the link.
    Flows,
    /// Those within their flow's profile: fewer of them are dropped.
    Profiles,
    /// Those of low latency (L4S): they have a queue of their own.
    LowLatency,
    /// Those of a class of traffic, by the DSCP: they go before others, or behind.
    Classes,
    /// Those of flows that do not react to losses: more of them are dropped.
    Responsiveness,
}

/// The form of a value for `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// As a number of packets.
    Packets,
    /// As a number of bytes.
    Bytes,
    /// As a time.
    Time,
    /// As a rate.
    Rate,
    /// As it is.
    Number,
    /// In sixteenths: the kernel's PIE has its weights so.
    Sixteenths,
    /// In percent.
    Percent,
    /// The option's word alone where it is true, and with `no` before it where it is not.
    Flag,
    /// The value is a word of its own, but for these, which `tc` names otherwise.
    Word(&'static [(&'static str, &'static str)]),
    /// A queue below this one; what fits in it is the option's value, in bytes.
    Queue,
}

/// A parameter of ours in `tc`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct QdiscOption {
    /// The parameter's name here.
    pub parameter: &'static str,
    /// Its word in `tc`.
    pub word: &'static str,
    /// The form of its value.
    pub form: Form,
}

impl QdiscOption {
    /// A parameter, its word in `tc`, and how its value is written.
    pub const fn new(parameter: &'static str, word: &'static str, form: Form) -> Self {
        Self { parameter, word, form }
    }
}

/// A queueing discipline of Linux (`tc qdisc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Qdisc {
    /// Its name, where limits are in packets.
    pub name: &'static str,
    /// Its name where the limit is in bytes, if that is another one.
    pub name_in_bytes: Option<&'static str>,
    /// The parameters that can be set; others have the kernel's fixed values.
    pub options: &'static [QdiscOption],
}

impl Qdisc {
    /// A queueing discipline with one name.
    pub const fn new(name: &'static str, options: &'static [QdiscOption]) -> Self {
        Self { name, name_in_bytes: None, options }
    }
}

/// The queue of the Linux kernel, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Linux {
    /// It does.
    Has(Qdisc),
    /// It does not: what it has instead, or why a line of `tc` does not set it.
    Lacks(&'static str),
}

/// The declaration of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// Its name in text, such as `RED`.
    pub title: &'static str,
    /// When it drops.
    pub drops: Drops,
    /// Which packets it treats differently.
    pub separates: Separates,
    /// True if it can mark packets (CE) instead of dropping them.
    pub marks: bool,
    /// True if it lets pass no more than a rate of its own, which may be less than the link's.
    pub own_rate: bool,
    /// True if it draws random numbers; those of queues that are its parameters are not meant.
    pub random: bool,
    /// Its parameters that are lengths at which it acts: a queue that is full before does not do what they say.
    pub thresholds: &'static [&'static str],
    /// The queue of the Linux kernel, if it has it.
    pub linux: Linux,
}
