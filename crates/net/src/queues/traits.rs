//! What of a queue matters to who reasons about its traffic without simulating it.
//!
//! Formulas of throughput assume one queue, in which every packet meets the same loss and waits its turn. Each queue says here
//! what of that it keeps. Predictions ask (`parshall.properties` in Python), and are out of their range where a queue keeps less
//! than they assume.

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

/// What a queue declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Traits {
    /// Its name in text, such as `RED`.
    pub title: &'static str,
    /// When it drops.
    pub drops: Drops,
    /// Which packets it treats differently.
    pub separates: Separates,
    /// Whether it can mark packets (CE) instead of dropping them.
    pub marks: bool,
    /// Whether it lets pass no more than a rate of its own, which may be less than the link's.
    pub own_rate: bool,
}
