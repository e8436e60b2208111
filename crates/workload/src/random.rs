//! From random bits to a uniform number.

/// A number in `[0, 1)` from 64 random bits: the upper 53 of them, times 2^-53.
///
/// The half-open interval is the right one for inverting a distribution function: `quantile(0)` is the
/// smallest value and always finite, `quantile(1)` would be infinite for an unbounded law. One minus
/// the result is exact, so the upper tail is reached down to 2^-53.
///
/// ```
/// assert_eq!(parshall_workload::unit_interval(0), 0.0);
/// assert!(parshall_workload::unit_interval(u64::MAX) < 1.0);
/// ```
pub fn unit_interval(bits: u64) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 53) as f64;
    (bits >> 11) as f64 * STEP
}
