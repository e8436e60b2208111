//! Jitter: each packet takes a time of its own, beside the delay that all packets have.
//!
//! | symbol | here | unit |
//! | --- | --- | --- |
//! | a_i | when packet i comes, and would leave at once | s |
//! | x_i | its own time | s |
//! | D_i | when it leaves | s |
//!
//! | [`Order`] | D_i |
//! | --- | --- |
//! | kept | max(D_{i-1}, a_i + x_i): a packet waits for its predecessor, so it never overtakes it |
//! | free | a_i + x_i: packets overtake each other |
//!
//! Where order is free, two packets that come d apart, with independent times that are uniform on \[0, J\], change places with
//! probability (1 - d/J)² / 2, for d <= J. `tc netem delay T J` is free order with times uniform on \[0, 2 J\] behind a delay of
//! T - J: its queue is sorted by the time to send (Linux, `net/sched/sch_netem.c`, `tfifo_enqueue`).
//!
//! The times are drawn by whoever drives the element.

use parshall_units::{Duration, Instant};

parshall_units::choice! {
    /// The order of packets: they overtake each other, or not.
    pub enum Order {
        /// None does: a packet waits for the one before.
        Kept = "kept",
        /// They do.
        Free = "free",
    }
}

/// A path that delays each packet by its own time.
#[derive(Clone, Debug)]
pub struct Jitter {
    order: Order,
    /// The latest departure so far.
    latest: Instant,
}

impl Jitter {
    /// No packet has come.
    pub fn new(order: Order) -> Self {
        Self { order, latest: Instant::ZERO }
    }

    /// Returns the order of packets: they overtake each other, or not.
    #[inline]
    pub fn order(&self) -> Order {
        self.order
    }

    /// When a packet leaves that comes `at` and takes `own` time. Packets are told in the order in which they come.
    #[inline]
    pub fn pass(&mut self, at: Instant, own: Duration) -> Instant {
        let leaves = match self.order {
            Order::Kept => self.latest.max(at + own),
            Order::Free => at + own,
        };
        self.latest = self.latest.max(leaves);
        leaves
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit_interval;
    use proptest::prelude::*;
    use rand_core::{RngCore, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    proptest! {
        #[test]
        fn kept_order_is_the_recursion_and_free_order_the_sum(
            packets in prop::collection::vec((0u64..1_000_000, 0u64..5_000_000), 1..200),
        ) {
            let (mut kept, mut free) = (Jitter::new(Order::Kept), Jitter::new(Order::Free));
            let (mut comes, mut before) = (0, 0);
            for (gap, own) in packets {
                comes += gap;
                let (at, own) = (Instant::from_ps(comes), Duration::from_ps(own));
                let leaves = kept.pass(at, own).as_ps();
                prop_assert_eq!(leaves, before.max(comes + own.as_ps()));
                prop_assert!(leaves >= before);
                prop_assert_eq!(free.pass(at, own).as_ps(), comes + own.as_ps());
                before = leaves;
            }
        }
    }

    #[test]
    fn times_without_end_do_not_overflow() {
        let mut free = Jitter::new(Order::Free);
        assert_eq!(free.pass(Instant::from_ps(7), Duration::MAX), Instant::MAX);
    }

    /// Neighbours that come d apart change places with probability (1 - d/J)² / 2 if their times are uniform on [0, J].
    #[test]
    fn neighbours_overtake_each_other_as_the_closed_form_says() {
        const PAIRS: u32 = 200_000;
        const J: u64 = 1_000_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut own = || Duration::from_ps((unit_interval(random.next_u64()) * J as f64) as u64);
        for (apart, order) in
            [(0, Order::Free), (J / 4, Order::Free), (J / 2, Order::Free), (J, Order::Free), (0, Order::Kept)]
        {
            let mut jitter = Jitter::new(order);
            let mut overtaken = 0;
            for pair in 0..u64::from(PAIRS) {
                let first = Instant::from_ps(pair * 4 * J);
                let leaves = jitter.pass(first, own());
                overtaken += u32::from(jitter.pass(first + Duration::from_ps(apart), own()) < leaves);
            }
            let rest = 1.0 - apart as f64 / J as f64;
            let expected = if order == Order::Free { rest * rest / 2.0 } else { 0.0 };
            let found = f64::from(overtaken) / f64::from(PAIRS);
            let standard_error = (expected * (1.0 - expected) / f64::from(PAIRS)).sqrt();
            assert!((found - expected).abs() <= 4.0 * standard_error, "{apart}: {found}, not {expected}");
        }
    }
}
