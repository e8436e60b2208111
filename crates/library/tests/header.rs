//! `parshall_control.h` and its Rust twin are one: sizes and places of the fields, as a C compiler sees them.

#[allow(missing_docs, clippy::pedantic)]
#[path = "../../../python/parshall/scenario/templates/control/rust/src/abi.rs"]
mod abi;

use std::mem::{offset_of, size_of};
use std::process::Command;

macro_rules! places {
    ($($c:literal $rust:ident: $($field:ident),+;)*) => {
        vec![$(
            (concat!("sizeof(struct ", $c, ")").to_owned(), size_of::<abi::$rust>()),
            $((format!("offsetof(struct {}, {})", $c, stringify!($field)), offset_of!(abi::$rust, $field)),)+
        )*]
    };
}

#[test]
fn a_c_compiler_sees_the_same() {
    let places = places! {
        "parshall_start" Start: now_s, cwnd, ssthresh, random, flow;
        "parshall_ack" Ack: now_s, credit, rtt_s, srtt_s, min_rtt_s, acked, in_flight, delivery_rate, delivered,
            prior_delivered, newly_delivered, newly_lost, phase, may_grow, round_ended, ecn_echo, app_limited, one_way_delay_s;
        "parshall_congestion" Congestion: now_s, in_flight, signal;
        "parshall_says" Says: cwnd, ssthresh, pacing_rate, error;
        "parshall_parameter" Parameter: name, value;
        "parshall_control" Table: abi, needs, standard_slow_start, create, destroy, on_ack, on_congestion, on_timeout,
            on_idle_restart, on_recovered, end_slow_start, variables, set_slope, set_ssthresh, on_undo;
    };
    let bits = [
        ("PARSHALL_CONTROL_ABI", abi::ABI),
        ("PARSHALL_NEEDS_RATE_SAMPLES", abi::NEEDS_RATE_SAMPLES),
        ("PARSHALL_NEEDS_PACING", abi::NEEDS_PACING),
        ("PARSHALL_NEEDS_RECOVERY_WINDOW", abi::NEEDS_RECOVERY_WINDOW),
        ("PARSHALL_NEEDS_TIMESTAMPS", abi::NEEDS_TIMESTAMPS),
        ("PARSHALL_NEEDS_ACCURATE_ECN", abi::NEEDS_ACCURATE_ECN),
        ("PARSHALL_NEEDS_GROWTH_IN_CWR", abi::NEEDS_GROWTH_IN_CWR),
        ("PARSHALL_NEEDS_L4S", abi::NEEDS_L4S),
        ("PARSHALL_NEEDS_ONE_WAY_DELAY", abi::NEEDS_ONE_WAY_DELAY),
    ];
    let bits = bits.map(|(name, value)| (name.to_owned(), value as usize));
    let asserted =
        |(what, value): &(String, usize)| format!("_Static_assert({what} == {value}, \"{what}\");");
    let asserted: Vec<_> = places.iter().chain(&bits).map(asserted).collect();
    let source = format!("#include <stddef.h>\n#include \"parshall_control.h\"\n{}\n", asserted.join("\n"));
    let folder = std::env::temp_dir().join(format!("parshall-header-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("header.c");
    std::fs::write(&file, source).unwrap();
    let header = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/parshall/scenario/templates/control");
    let compiler = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", "-I", header])
        .arg(&file)
        .output();
    std::fs::remove_dir_all(&folder).unwrap();
    match compiler {
        Err(error) => eprintln!("skipped: there is no C compiler here: {error}"),
        Ok(found) => assert!(found.status.success(), "{}", String::from_utf8_lossy(&found.stderr)),
    }
}
