//! What samples say, computed by hand: see `network/tests.rs` for what links and legs take.

use crate::testing::{datagram_group, drop_tail, link, read, scenario, tcp_group, MS};
use crate::{simulate, Monitor};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use arrow_array::{Float64Array, UInt64Array};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parshall_records::Tables;
use serde_json::{json, Value};
use std::fs::File;

/// A table that a scenario writes: it has one batch.
fn table(scenario: &Value, name: &str) -> RecordBatch {
    let directory = tempfile::tempdir().unwrap();
    let scenario = read(scenario);
    let mut tables = Tables::create(directory.path(), 0, scenario.probes.tables()).unwrap();
    simulate(&scenario, 0, &mut tables, &Monitor::default()).unwrap();
    tables.close().unwrap();
    let file = File::open(directory.path().join(name).with_extension("parquet")).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap().next().unwrap().unwrap()
}

fn floats<'a>(batch: &'a RecordBatch, column: &str) -> &'a Float64Array {
    batch[column].as_primitive::<Float64Type>()
}

fn numbers<'a>(batch: &'a RecordBatch, column: &str) -> &'a UInt64Array {
    batch[column].as_primitive::<UInt64Type>()
}

/// Two datagrams of 500 bytes each 4 ms reach a link of 2.5 Mbit/s at 4.5 and 5.5 ms; each takes 1.6 ms, so the second waits for
/// 0.6 ms.
fn pairs() -> Value {
    let mut pairs = datagram_group("pairs", 2, 1_000_000);
    pairs["start_ps"] = json!({"list": [0, MS]});
    let mut scenario = scenario(&[link("link", 2_500_000, &drop_tail(9))], &[pairs], 1050);
    scenario["warm_up_ps"] = json!(250 * MS);
    scenario["probes"]["link_samples"] = json!({"every": 100 * MS});
    scenario
}

#[test]
fn bins_of_a_link_hold_what_came_in_their_time() {
    let bins = table(&pairs(), "link_samples");
    let starts: Vec<f64> = floats(&bins, "time_s").values().to_vec();
    assert_eq!(starts, [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0]);
    // The first pair comes at 4.5 ms; the warm-up ends at 250 ms, and the bin of that moment holds what comes after.
    let arrivals = numbers(&bins, "arrivals_packets").values().to_vec();
    assert_eq!(arrivals, [2 * 24, 50, 2 * 12, 50, 50, 50, 50, 50, 50, 50, 26]);
    // They leave at 6.1 and 7.7 ms, and those that came at 248.5 and 249.5 ms at 250.1 and 251.7 ms.
    let forwarded = numbers(&bins, "forwarded_bytes").values().to_vec();
    assert_eq!(forwarded[1..4], [50 * 500, (2 + 24) * 500, 50 * 500]);
    assert_eq!(floats(&bins, "bin_s").value(10), 0.05);
    for bin in [1, 3, 9] {
        let near = |column, expected: f64| (floats(&bins, column).value(bin) - expected).abs() < 1e-12;
        assert!(near("mean_queue_packets", 25.0 * 0.6 / 100.0));
        assert!(near("mean_queueing_delay_s", 0.3e-3));
        assert_eq!(floats(&bins, "rate_bps").value(bin), 2.5e6);
    }
}

#[test]
fn bins_that_fit_the_run_hold_the_same() {
    let mut fitted = pairs();
    fitted["probes"]["link_samples"] = json!({"fitted": MS});
    let (fixed, fitted) = (table(&pairs(), "link_samples"), table(&fitted, "link_samples"));
    // 1050 bins of 1 ms are more than 1000, so they are written in twos.
    assert_eq!((fitted.num_rows(), floats(&fitted, "bin_s").value(0)), (525, 0.002));
    for column in ["arrivals_packets", "forwarded_bytes", "dropped_packets"] {
        let sum = |batch: &RecordBatch| numbers(batch, column).values().iter().sum::<u64>();
        // (Each warm-up's bin begins anew at 250 ms: both have what was before in bins of its own but for 50 ms of the fixed ones.)
        let since = |batch: &RecordBatch| {
            let times = floats(batch, "time_s");
            let rows = (0..batch.num_rows()).filter(|&row| times.value(row) >= 0.3 - 1e-9);
            rows.map(|row| numbers(batch, column).value(row)).sum::<u64>()
        };
        assert_eq!(since(&fitted), since(&fixed), "{column}");
        assert!(sum(&fitted) >= sum(&fixed), "{column}");
    }
}

#[test]
fn samples_of_a_flow_say_how_it_stands_at_their_time() {
    let one = tcp_group("one", 1, &json!({"name": "transfer", "sizes": [1460]}));
    let mut asked = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[one], 200);
    asked["probes"]["flow_samples"] = json!({"every": 50 * MS});
    asked["probes"]["flows_sampled"] = json!(1);
    let samples = table(&asked, "flow_samples");
    let times: Vec<f64> = floats(&samples, "time_s").values().to_vec();
    assert_eq!(times, [0.0, 0.05, 0.1, 0.15]);
    // The packet is received at 62 ms, and acknowledged at 112 ms.
    let delivered = numbers(&samples, "delivered_bytes").values().to_vec();
    assert_eq!([delivered[0], delivered[2], delivered[3]], [0, 1460, 1460]);
    let in_flight = numbers(&samples, "in_flight_packets").values().to_vec();
    assert_eq!(in_flight[1..], [1, 1, 0]);
    let srtt = floats(&samples, "srtt_s");
    assert!(srtt.is_null(1) && srtt.is_null(2), "nothing is acknowledged yet");
    assert_eq!(srtt.value(3), 0.112);
}

#[test]
fn rounds_hold_what_was_sent_in_a_round_trip() {
    let thirty = tcp_group("thirty", 1, &json!({"name": "transfer", "sizes": [30 * 1460]}));
    let mut rounds = scenario(&[link("link", 1_000_000_000, &drop_tail(99))], &[thirty], 1000);
    rounds["probes"]["rounds_flows"] = json!(1);
    let rounds = table(&rounds, "rounds");
    let windows = rounds["window_packets"].as_primitive::<UInt32Type>().values().to_vec();
    assert_eq!(windows, [10, 20], "slow start doubles the initial window");
    let starts: Vec<f64> = floats(&rounds, "start_s").values().to_vec();
    assert_eq!(starts, [0.0, 0.100_012], "a round ends when its first packet is acknowledged");
}
