//! The random numbers that the stacks ask the operating system for: the same ones in each run.
//!
//! BBR of both stacks draws the phase of its cycle from `rand::rng()`, which begins from the system's generator.
//! `getrandom` lets a program put its own in that place (`.cargo/config.toml`), so the stacks stay as they are.

use parshall_engine::random::mix;
use std::sync::atomic::{AtomicU64, Ordering};

static DRAWN: AtomicU64 = AtomicU64::new(0);

/// Fills `len` bytes from `dest` on.
// SAFETY: no other function of the program has this name, and the signature is the one that getrandom declares.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
    // SAFETY: getrandom hands over memory of this length that is its own.
    unsafe { dest.write_bytes(0, len) };
    let bytes = unsafe { std::slice::from_raw_parts_mut(dest, len) };
    for piece in bytes.chunks_mut(8) {
        let word = mix(DRAWN.fetch_add(1, Ordering::Relaxed)).to_le_bytes();
        piece.copy_from_slice(&word[..piece.len()]);
    }
    Ok(())
}
