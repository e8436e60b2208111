//! What samples say, computed by hand: see `network/tests.rs` for what links and propagation take.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

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
    // In the bin in which the warm-up ends: twelve pairs of after it, and 0.1 ms of the one before.
    assert!((floats(&bins, "mean_queue_packets").value(2) - (12.0 * 0.6 + 0.1) / 100.0).abs() < 1e-12);
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

/// A transfer of 60 packets and one more, of which the queue drops the last three packets of the second round trip; all is over by 1.4 s.
/// (The k-th pair of that round finds k packets, the one that is about to leave included.) Another flow begins at 1.5 s.
fn one_loss(warm_up_ms: u64) -> Value {
    let mut sixty = tcp_group("sixty", 2, &json!({"name": "transfer", "sizes": [60 * 1460, 1460]}));
    sixty["start_ps"] = json!({"list": [0, 1500 * MS]});
    sixty["tcp"]["persistent"] = json!(true);
    sixty["tcp"]["receive_window"] = json!(20);
    let mut scenario = scenario(&[link("link", 1_000_000_000, &drop_tail(10))], &[sixty], 1900);
    scenario["warm_up_ps"] = json!(warm_up_ms * MS);
    scenario["probes"]["rounds_flows"] = json!(1);
    scenario["probes"]["flow_samples"] = json!({"every": 100 * MS});
    scenario["probes"]["flows_sampled"] = json!(1);
    scenario["probes"]["transfers"] = json!(true);
    scenario
}

#[test]
fn a_loss_belongs_to_the_round_in_which_the_packet_was_sent() {
    for warm_up_ms in [0, 50] {
        let rounds = table(&one_loss(warm_up_ms), "rounds");
        let windows = rounds["window_packets"].as_primitive::<UInt32Type>().values().to_vec();
        assert_eq!(windows[..2], [10, 20], "the warm-up changes no round");
        let lost: Vec<bool> = rounds["lost"].as_boolean().iter().map(Option::unwrap).collect();
        assert_eq!(lost.iter().position(|&lost| lost), Some(1));
        assert_eq!(lost.iter().filter(|&&lost| lost).count(), 1);
        let flows = rounds["flow"].as_primitive::<UInt32Type>().values();
        assert!(flows.iter().all(|&flow| flow == 0), "of one flow, as asked");
    }
}

#[test]
fn samples_and_transfers_keep_counting_when_the_warm_up_ends() {
    for warm_up_ms in [0, 150, 350, 450, 550, 1400] {
        let scenario = one_loss(warm_up_ms);
        let samples = table(&scenario, "flow_samples");
        let retransmissions = numbers(&samples, "retransmissions");
        assert_eq!((samples.num_rows(), retransmissions.value(15)), (19, 3), "of one flow, as asked");
        let transfers = table(&scenario, "transfers");
        let of = |row, column| numbers(&transfers, column).value(row);
        // The second one of a connection does not count what the first one did.
        let first = ["packets_sent", "retransmissions"].map(|column| of(0, column));
        let second = ["packets_sent", "retransmissions"].map(|column| of(1, column));
        assert_eq!((first, second), ([63, 3], [1, 0]), "warm-up of {warm_up_ms} ms");
        // The other flow has not ended its first transfer.
        let completed = floats(&transfers, "completion_s");
        let last = transfers.num_rows() - 1;
        assert_eq!((last, completed.is_null(last), completed.is_null(0)), (2, true, false));
    }
}

#[test]
fn a_bin_has_the_waits_of_its_own_packets() {
    let mut pairs = tcp_group("pairs", 4, &json!({"name": "transfer", "sizes": [1460]}));
    pairs["start_ps"] = json!({"list": [0, 2 * MS, 200 * MS, 208 * MS]});
    let mut asked = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[pairs], 400);
    asked["probes"]["link_samples"] = json!({"every": 100 * MS});
    let bins = table(&asked, "link_samples");
    // A packet takes 12 ms. Of each pair, the first one does not wait.
    let waits: Vec<Option<f64>> = floats(&bins, "mean_queueing_delay_s").iter().collect();
    assert_eq!(waits, [Some(0.005), None, Some(0.002), None]);
}

#[test]
fn bins_are_joined_whenever_there_are_many() {
    let mut long = pairs();
    long["duration_ps"] = json!(2500 * MS);
    long["warm_up_ps"] = json!(0);
    long["probes"]["link_samples"] = json!({"fitted": MS});
    let bins = table(&long, "link_samples");
    // 2000 bins of 1 ms become 1000 of 2 ms; 250 more come, and all are written in twos.
    assert_eq!(bins.num_rows(), 625);
    assert!(floats(&bins, "bin_s").values().iter().all(|width| (width - 0.004).abs() < 1e-12));
    // Pairs come from 4.5 and 5.5 ms on, each 4 ms, before 2500 ms.
    assert_eq!(numbers(&bins, "arrivals_packets").values().iter().sum::<u64>(), 2 * 624);
}

#[test]
fn losses_of_the_medium_are_losses_of_a_class() {
    let mut marked = tcp_group("marked", 3, &json!({"name": "bulk"}));
    marked["marker"] = json!({"name": "token_bucket", "rate": 100_000, "burst": 6000});
    let mut lossy = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[marked], 2000);
    lossy["links"][0]["loss"] = json!({"name": "bernoulli", "probability": 0.1});
    lossy["probes"]["link_samples"] = json!({"every": 100 * MS});
    let bins = table(&lossy, "link_samples");
    let of = |column| numbers(&bins, column).values();
    assert!(of("dropped_packets").iter().sum::<u64>() > 5);
    for bin in 0..bins.num_rows() {
        let classes = of("dropped_in_packets")[bin] + of("dropped_out_packets")[bin];
        assert_eq!(classes, of("dropped_packets")[bin], "bin {bin}");
    }
}

#[test]
fn a_marker_is_sampled_after_the_packets_of_that_moment_until_the_end() {
    // Packets leave a slow access link each 12 ms, the first one at 12 ms; the fifth one at 60 ms is on its way when it ends.
    let mut marked = tcp_group("marked", 1, &json!({"name": "transfer", "sizes": [10 * 1460]}));
    marked["rtt_ps"] = json!({"constant": 3 * MS});
    marked["access_bps"] = json!(1_000_000);
    marked["marker"] = json!({"name": "token_bucket", "rate": 8000, "burst": 9000});
    let mut asked = scenario(&[link("link", 100_000_000, &drop_tail(9))], &[marked], 58);
    asked["probes"]["flow_samples"] = json!({"every": MS});
    asked["probes"]["flows_sampled"] = json!(1);
    asked["probes"]["internals"] = json!(true);
    let internals = table(&asked, "internals");
    let names = internals["variable"].as_string::<i32>();
    let rows: Vec<usize> = (0..internals.num_rows()).filter(|&row| names.value(row) == "tokens").collect();
    let of = |column, row| floats(&internals, column).value(row);
    let times: Vec<u64> = rows.iter().map(|&row| (of("time_s", row) * 1e3).round() as u64).collect();
    assert_eq!(times, (0..58).collect::<Vec<u64>>());
    // A bucket of 9000 bytes, full at the beginning, gains a byte a millisecond.
    assert_eq!([11, 12].map(|at| of("value", rows[at])), [9000.0, 9000.0 - 1500.0]);
}

#[test]
fn inner_variables_are_those_of_the_control() {
    let mut controlled = datagram_group("controlled", 1, 1);
    controlled["workload"] = json!({"name": "rate_controlled"});
    controlled["congestion_control"] = json!({"name": "tfrc", "intervals": 8});
    let mut asked = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[controlled], 1000);
    asked["probes"]["flow_samples"] = json!({"every": 100 * MS});
    asked["probes"]["flows_sampled"] = json!(1);
    asked["probes"]["internals"] = json!(true);
    let internals = table(&asked, "internals");
    let names: Vec<&str> = internals["variable"].as_string::<i32>().iter().map(Option::unwrap).collect();
    assert_eq!(names.iter().filter(|&&name| name == "event_rate").count(), 10);
}

#[test]
fn bins_of_a_group_hold_what_left_the_last_link_in_their_time() {
    let bins = table(&pairs(), "group_samples");
    // A pair is at the link's end at 7.1 and 8.7 ms, and 4.5 ms later at its receivers; so it goes on each 4 ms. Of 500 bytes
    // 472 are payload. The last bin has what arrives before the end: of the 49 there were, the first 23.
    let bytes = numbers(&bins, "delivered_bytes").values().to_vec();
    let packets = [24 + 23, 50, 50, 50, 50, 50, 50, 50, 50, 50, 11 + 12];
    assert_eq!(bytes, packets.map(|packets| packets * 472));
    assert_eq!(floats(&bins, "bin_s").value(10), 0.05);
    let flows = table(&pairs(), "flows");
    let goodput: f64 = floats(&flows, "goodput_bps").values().iter().sum();
    // From 250 ms on the first of a pair arrives at 251.6 ms: its last byte left the link before the warm-up ended.
    let measured = 2 * 260 - (60 + 60);
    assert_eq!(goodput, f64::from(measured * 472 * 8) / 0.8);
}
