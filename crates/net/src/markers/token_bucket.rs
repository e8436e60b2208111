//! A token bucket: a packet that finds enough tokens is marked *in* and takes them; any other is *out* and takes none.
//!
//! | symbol | field | unit |
//! | --- | --- | --- |
//! | r | `rate_bps` | bit/s: tokens that flow in |
//! | sigma, b | `full` | what the bucket holds |
//! | | `tokens` | what it holds now |
//!
//! Tokens are counted in units of 1e-12 bit (bit/s times ps), so that no rounding ever creates or loses one:
//! over any interval of length t, at most r t + b is marked *in*, exactly. The bucket is full at first.
//!
//! References: RFC 2697 (this is the committed bucket of its marker, colour-blind);
//! Malouch & Liu 2002, §2.

use super::{Class, Edge, PacketMarker};
use parshall_units::parameters::{Reader, Variable};
use parshall_units::{Bytes, ConfigError, Instant, Rate};

parshall_units::configuration! {
    /// Parameters of [`TokenBucket`].
    pub struct TokenBucketConfig {
        /// Rate of the profile, headers included.
        rate: Rate, min "1 bit/s", max "1000 Tbit/s";
        /// What may exceed the rate at once: at least a packet, full ones with their headers.
        burst: Bytes => Size, min "1 B", max "1 TB";
    }
}

/// A token bucket.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    tokens: u128,
    full: u128,
    rate_bps: u64,
    updated: Instant,
}

/// Units of tokens in a byte: 8 bit times the picoseconds of a second.
const BYTE: u128 = 8_000_000_000_000;

impl TokenBucket {
    pub(crate) const SUMMARY: &'static str = "in profile up to a rate, with bursts";
    pub(crate) const REFERENCE: &'static str = "RFC 2697";

    /// What it holds at `now`, if no packet passes until then.
    #[inline]
    fn held(&self, now: Instant) -> u128 {
        let elapsed_ps = now.since(self.updated).as_ps();
        self.full.min(self.tokens + u128::from(elapsed_ps) * u128::from(self.rate_bps))
    }

    /// Bytes that it held when it was last asked, less what that packet took.
    pub(crate) fn left(&self) -> f64 {
        self.tokens as f64 / BYTE as f64
    }
}

impl PacketMarker for TokenBucket {
    type Config = TokenBucketConfig;

    fn check(config: &TokenBucketConfig, edge: Edge) -> Result<(), ConfigError> {
        if let Some(access) = edge.access.filter(|&access| config.rate > access) {
            let accepted = format!("the access rate, {access}, or less: no more can arrive");
            return Err(ConfigError::new("rate", config.rate, accepted));
        }
        let packet = Bytes(u64::from(edge.packet_bytes));
        if config.burst < packet {
            let accepted = format!("\"1 packet\" ({packet}) or more: no packet would fit");
            return Err(ConfigError::new("burst", config.burst, accepted));
        }
        Ok(())
    }

    fn new(config: &TokenBucketConfig) -> Self {
        let full = u128::from(config.burst.0) * BYTE;
        Self { tokens: full, full, rate_bps: config.rate.as_bps(), updated: Instant::ZERO }
    }

    const VARIABLES: &'static [Variable] = &[Variable::new("tokens", "bytes", "what the bucket holds")];

    fn read_variables(&self, now: Instant, reader: &mut Reader<'_>) {
        reader("tokens", self.held(now) as f64 / BYTE as f64);
    }

    #[inline]
    fn mark(&mut self, now: Instant, bytes: u32) -> Class {
        self.tokens = self.held(now);
        self.updated = now;
        match self.tokens.checked_sub(u128::from(bytes) * BYTE) {
            Some(left) => {
                self.tokens = left;
                Class::In
            }
            None => Class::Out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parshall_units::Duration;
    use proptest::prelude::*;

    fn config(rate_bps: u64, burst: u64) -> TokenBucketConfig {
        TokenBucketConfig { rate: Rate::from_bps(rate_bps).unwrap(), burst: Bytes(burst) }
    }

    fn bucket(rate: u64, burst: u64) -> TokenBucket {
        TokenBucket::new(&config(rate, burst))
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        // 8 kbit/s is a 1000-byte packet a second.
        let mut bucket = bucket(8000, 3000);
        let classes: Vec<Class> = (0..5).map(|_| bucket.mark(at(0), 1000)).collect();
        assert_eq!(classes, [Class::In, Class::In, Class::In, Class::Out, Class::Out]);
        assert_eq!(bucket.mark(at(999), 1000), Class::Out);
        assert_eq!(bucket.mark(at(1000), 1000), Class::In, "what is out takes no tokens");
        assert_eq!(bucket.mark(at(1999), 1000), Class::Out);
        assert_eq!(bucket.mark(at(2000), 1000), Class::In);
        // It never holds more than the burst.
        let after: u64 = (0..5).map(|_| bucket.mark(at(1_000_000), 1000).is_in()).sum();
        assert_eq!(after, 3);
    }

    #[test]
    fn small_packets_fit_where_a_large_one_does_not() {
        let mut bucket = bucket(8000, 1500);
        assert_eq!(bucket.mark(at(0), 1000), Class::In);
        assert_eq!(bucket.mark(at(0), 1000), Class::Out);
        assert_eq!(bucket.mark(at(0), 500), Class::In);
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let edge = Edge { packet_bytes: 1000, access: Rate::from_bps(1_000_000) };
        let refused = |rate, burst| TokenBucket::check(&config(rate, burst), edge).unwrap_err();
        assert_eq!(
            refused(2_000_000, 5000).to_string(),
            "rate: found 2 Mbit/s; write the access rate, 1 Mbit/s, or less: no more can arrive"
        );
        assert_eq!(
            refused(320_000, 999).to_string(),
            "burst: found 999 B; write \"1 packet\" (1 kB) or more: no packet would fit"
        );
        assert!(TokenBucket::check(&config(1_000_000, 1000), edge).is_ok());
        let unlimited = Edge { access: None, ..edge };
        assert!(TokenBucket::check(&config(2_000_000, 1000), unlimited).is_ok());
    }

    proptest! {
        #[test]
        fn no_interval_gets_more_than_rate_and_burst_and_a_steady_load_gets_it_all(
            arrivals in prop::collection::vec((0u64..3_000_000_000_000, 1u32..3000), 1..80),
            rate in 1u64..10_000_000,
            burst in 1500u64..30_000,
        ) {
            let mut bucket = bucket(rate, burst);
            let mut now = Instant::ZERO;
            let mut marked: Vec<(Instant, u64)> = Vec::new();
            for (gap, bytes) in arrivals {
                now += Duration::from_ps(gap);
                let within = bucket.mark(now, bytes).is_in() * u64::from(bytes);
                marked.push((now, within));
                // From any earlier packet up to this one: r t + b, in integers.
                let mut sum = 0;
                for &(start, within) in marked.iter().rev() {
                    sum += within;
                    let allowed = u128::from(now.since(start).as_ps()) * u128::from(rate) + u128::from(burst) * BYTE;
                    prop_assert!(u128::from(sum) * BYTE <= allowed);
                }
                // What is out did not fit: had it been taken, some interval would have exceeded its share.
                if within == 0 {
                    let exceeded = (0..marked.len()).any(|first| {
                        let taken: u64 = marked[first..].iter().map(|(_, bytes)| bytes).sum();
                        let span = u128::from(now.since(marked[first].0).as_ps());
                        let allowed = span * u128::from(rate) + u128::from(burst) * BYTE;
                        u128::from(taken + u64::from(bytes)) * BYTE > allowed
                    });
                    prop_assert!(exceeded, "a packet that fits is marked in");
                }
            }
        }

        #[test]
        fn a_flow_within_its_rate_is_in_whatever_the_picoseconds(rate in 1u64..10_000_000, bytes in 1u32..3000) {
            // Packets as close as the rate allows, rounded up to a picosecond: never a token too few.
            let bits_ps = u128::from(bytes) * BYTE;
            let gap = u64::try_from(bits_ps.div_ceil(u128::from(rate))).unwrap();
            let mut bucket = bucket(rate, u64::from(bytes));
            for i in 0..50 {
                let now = Instant::ZERO + Duration::from_ps(gap).times(i);
                prop_assert_eq!(bucket.mark(now, bytes), Class::In);
            }
        }
    }
}
