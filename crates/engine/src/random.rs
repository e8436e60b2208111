//! Named random streams.
//!
//! Every entity draws from a stream of its own, derived from the seed, the repetition and the entity's name: adding a
//! link or a group of flows moves nobody else's draws, and two variants of a scenario can be compared on common
//! random numbers.

use parshall_units::Duration;
use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers.
pub type Stream = Xoshiro256PlusPlus;

/// Where streams come from.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    root: u64,
}

impl Streams {
    /// The streams of a repetition.
    pub fn new(seed: u64, repetition: u32) -> Self {
        Self { root: mix(mix(seed) ^ u64::from(repetition)) }
    }

    /// The stream of the `index`-th `entity` (e.g. a group's name), for one `purpose`.
    pub fn stream(self, entity: &str, purpose: &str, index: u64) -> Stream {
        Stream::seed_from_u64(self.seed(entity, purpose, index))
    }

    /// Returns the seed of [`Self::stream`]: equal generators have the same stream.
    pub fn seed(self, entity: &str, purpose: &str, index: u64) -> u64 {
        let name = fnv(fnv(FNV_BASIS, entity.as_bytes()) ^ 0xff, purpose.as_bytes());
        mix(self.root ^ mix(name ^ mix(index)))
    }
}

/// A stream in one word, for a draw with every packet: a linear congruential generator modulo 2^64.
///
/// The word itself is the draw, as a fraction of 2^64 (of which the upper bits are the random ones), and the next one
/// is computed after it is used: a draw is one multiplication away when a packet's time is needed.
///
/// Reference: D. E. Knuth, The Art of Computer Programming 2, §3.3.4 (the multiplier's spectral test).
#[derive(Clone, Copy, Debug)]
pub struct SmallStream(u64);

impl SmallStream {
    /// The stream that begins at the next number of another one.
    pub fn of(random: &mut Stream) -> Self {
        Self(random.next_u64())
    }

    /// Uniform over `[0, range)`.
    #[inline]
    pub fn below(&mut self, range: Duration) -> Duration {
        let drawn = (u128::from(self.0) * u128::from(range.as_ps())) >> 64;
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Duration::from_ps(drawn as u64)
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
pub fn mix(value: u64) -> u64 {
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

    #[test]
    fn small_streams_are_uniform_and_independent_of_their_neighbours() {
        const CELLS: usize = 16;
        const DRAWS: usize = 40_000;
        let range = Duration::from_ps(600_000_000);
        let mut pairs = vec![0u32; CELLS * CELLS];
        let cell = |draw: Duration| draw.as_ps() as usize * CELLS / range.as_ps() as usize;
        for index in 0..4 {
            let mut small = SmallStream::of(&mut Streams::new(1, 0).stream("a", "processing", index));
            let mut before = cell(small.below(range));
            for _ in 0..DRAWS {
                let draw = cell(small.below(range));
                pairs[CELLS * before + draw] += 1;
                before = draw;
            }
        }
        let expected = (4 * DRAWS) as f64 / pairs.len() as f64;
        let chi2: f64 = pairs.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!((155.0..380.0).contains(&chi2), "{chi2}"); // chi-square, 255 degrees of freedom: 1e-6 on either side
        let mut small = SmallStream(0);
        assert_eq!(small.below(Duration::ZERO), Duration::ZERO);
    }
}
