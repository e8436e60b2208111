//! Named random streams.
//!
//! Every entity draws from a stream of its own, derived from the seed, the repetition and the entity's name: adding a
//! probe, a link or a group of flows moves nobody else's draws, and two variants of a scenario can be compared on common
//! random numbers.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub(crate) type Stream = Xoshiro256PlusPlus;

/// Where streams come from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    root: u64,
}

impl Streams {
    pub(crate) fn new(seed: u64, repetition: u32) -> Self {
        Self { root: mix(mix(seed) ^ u64::from(repetition)) }
    }

    /// The stream of the `index`-th `entity` (e.g. a group's name), for one `purpose`.
    pub(crate) fn stream(self, entity: &str, purpose: &str, index: u64) -> Stream {
        let name = fnv(fnv(FNV_BASIS, entity.as_bytes()) ^ 0xff, purpose.as_bytes());
        Stream::seed_from_u64(mix(self.root ^ mix(name ^ mix(index))))
    }
}

const FNV_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits.
fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

/// The finaliser of `SplitMix64`: a bijection that scatters neighbouring values.
pub(crate) fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::RngCore;
    use std::collections::BTreeSet;

    #[test]
    fn streams_differ_by_everything_that_names_them() {
        let mut firsts = BTreeSet::new();
        for (seed, repetition) in [(1, 0), (1, 1), (2, 0)] {
            for entity in ["a", "b", "ab"] {
                for purpose in ["start", "rtt", "b"] {
                    for index in 0..50 {
                        firsts
                            .insert(Streams::new(seed, repetition).stream(entity, purpose, index).next_u64());
                    }
                }
            }
        }
        assert_eq!(firsts.len(), 3 * 3 * 3 * 50);
    }
}
