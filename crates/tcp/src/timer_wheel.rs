//! Timers that expire at ticks of a clock, as a kernel's do: `calc_wheel_index` of Linux (kernel/time/timer.c), read
//! for these facts.
//!
//! Such a timer never expires early, and the longer it lasts the later it may be: those of less than 63 ticks by two
//! ticks at most, those of less than 504 by nine, those of less than 4032 by 65, and so on.

use parshall_units::{Duration, Instant};

/// Ticks from which on a timer of the first level, of eight times as many the second, and so on, is kept in coarser
/// steps (`LVL_START`).
const FIRST_LEVEL: u64 = 63;
/// A level's steps are eight times those of the one before (`LVL_CLK_SHIFT`).
const STEP_BITS: u32 = 3;
/// `LVL_DEPTH` with a clock of more than 100 Hz.
const LAST_LEVEL: u32 = 8;

/// When a timer expires that was started at `due - lasts`.
pub(crate) fn expiry(due: Instant, lasts: Duration, tick: Duration) -> Instant {
    let tick = tick.as_ps();
    let ticks = lasts.as_ps().div_ceil(tick);
    let started = due.as_ps().saturating_sub(lasts.as_ps()) / tick;
    let bits = STEP_BITS * level(ticks);
    let steps = ((started + ticks) >> bits) + 1;
    Instant::from_ps((steps << bits).saturating_mul(tick)).max(due)
}

fn level(ticks: u64) -> u32 {
    (0..LAST_LEVEL).find(|level| ticks < FIRST_LEVEL << (STEP_BITS * level)).unwrap_or(LAST_LEVEL)
}

/// True if this is a moment at which timers expire. (One that is due then to the picosecond would wait in a kernel.)
pub(crate) fn is_tick(now: Instant, tick: Duration) -> bool {
    now.as_ps().is_multiple_of(tick.as_ps())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TICK: Duration = Duration::from_millis(4);

    /// Of a timer that is started at `started` ms and lasts so many.
    fn expires_ms(started: u64, lasts: u64) -> u64 {
        let due = Instant::ZERO + Duration::from_millis(started + lasts);
        expiry(due, Duration::from_millis(lasts), TICK).as_ps() / 1_000_000_000
    }

    #[test]
    fn short_timers_expire_at_the_tick_after() {
        assert_eq!(expires_ms(1, 12), 16, "begun within tick 0, three ticks, and one more");
        assert_eq!(expires_ms(1, 10), 16, "whole ticks are counted");
        assert_eq!(expires_ms(3, 200), 204);
    }

    #[test]
    fn longer_ones_expire_in_coarser_steps() {
        assert_eq!(expires_ms(0, 248), 252, "62 ticks");
        assert_eq!(expires_ms(0, 252), 256, "63: in steps of eight ticks");
        assert_eq!(expires_ms(0, 256), 288, "a step that has begun is over at the next one");
        assert_eq!(expires_ms(40, 1000), 1056);
        assert_eq!(expires_ms(0, 4 * 504), 2048, "in steps of 64 ticks, 256 ms");
    }

    proptest! {
        #[test]
        fn none_expires_early_nor_later_than_two_ticks_and_an_eighth(started in 0u64..1 << 45, lasts in 1u64..1 << 45) {
            let lasts = Duration::from_ps(lasts);
            let due = Instant::from_ps(started) + lasts;
            let at = expiry(due, lasts, TICK);
            prop_assert!(at >= due && is_tick(at, TICK));
            prop_assert!(at.since(due).as_ps() <= 2 * TICK.as_ps() + lasts.as_ps() / 7);
        }
    }
}
