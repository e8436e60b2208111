//! Any bytes, read as a scenario, run without a panic, and packets are conserved. `fuzz/` does the same led by coverage.

#[path = "common/from_bytes.rs"]
mod from_bytes;

use parshall_records::Tables;
use parshall_sim::{simulate, Monitor};
use proptest::prelude::*;

/// Inputs that are tried; `PARSHALL_FUZZ=100000` for many.
fn cases() -> u32 {
    std::env::var("PARSHALL_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(500)
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn any_bytes_run_or_are_refused(data in prop::collection::vec(any::<u8>(), 0..600)) {
        from_bytes::fuzz_one(&data);
    }
}

/// The decoding is of use only if most inputs get as far as the event loop.
#[test]
fn many_inputs_are_scenarios_that_run() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut ran = 0;
    for _ in 0..400 {
        let data: Vec<u8> = (0..500).map(|_| random()).collect();
        let scenario = from_bytes::scenario(&data);
        ran += u32::from(
            scenario.is_some_and(|each| simulate(&each, 0, &mut Tables::none(), &Monitor::default()).is_ok()),
        );
    }
    assert!(ran >= 160, "{ran} of 400 ran"); // two in five: of other inputs some 176 run, with a standard deviation of 10
}
