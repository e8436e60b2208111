//! What is pushed is what a Parquet reader finds, and what cannot be written is an error.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt32Type, UInt64Type};
use arrow_array::RecordBatch;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parshall_records::{
    schema_catalog, FlowSampleRow, LinkSampleRow, RecordsError, RoundRow, TableSelection, Tables, TransferRow,
};
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

fn round(i: u64) -> RoundRow {
    RoundRow { flow: 3, round: i, start_s: i as f64 * 0.1, window_packets: i as u32 % 50, lost: i % 7 == 1 }
}

fn transfer(transfer: u32, completion_s: Option<f64>) -> TransferRow {
    TransferRow {
        group: "web".into(),
        flow: 9,
        transfer,
        start_s: 1.5,
        completion_s,
        size_bytes: completion_s.map(|_| u64::MAX),
        packets_sent: 7,
        retransmissions: 1,
        timeouts: 0,
    }
}

fn reader(directory: &Path, table: &str) -> ParquetRecordBatchReaderBuilder<File> {
    let file = File::open(directory.join(table).with_extension("parquet")).unwrap();
    ParquetRecordBatchReaderBuilder::try_new(file).unwrap()
}

fn read(directory: &Path, table: &str) -> Vec<RecordBatch> {
    reader(directory, table).build().unwrap().map(Result::unwrap).collect()
}

#[test]
fn rows_come_back_through_many_batches_and_row_groups() {
    const ROWS: u64 = 300_001;
    let directory = tempfile::tempdir().unwrap();
    let mut tables = Tables::create(directory.path(), 4, TableSelection::ALL).unwrap();
    for i in 0..ROWS {
        tables.rounds.push(round(i)).unwrap();
    }
    let written = fs::metadata(directory.path().join("rounds.parquet")).unwrap().len();
    assert!(written > 100_000, "full row groups are not held back: {written} bytes");
    tables.finish().unwrap();
    assert_eq!(reader(directory.path(), "rounds").metadata().num_row_groups(), 3);
    let size = fs::metadata(directory.path().join("rounds.parquet")).unwrap().len();
    assert!(size < 3 * ROWS, "series are encoded as such, {size} bytes");
    let mut i = 0;
    for batch in read(directory.path(), "rounds") {
        for row in 0..batch.num_rows() {
            let expected = round(i);
            assert_eq!(batch["repetition"].as_primitive::<UInt32Type>().value(row), 4);
            assert_eq!(batch["flow"].as_primitive::<UInt32Type>().value(row), expected.flow);
            assert_eq!(batch["round"].as_primitive::<UInt64Type>().value(row), expected.round);
            assert_eq!(batch["start_s"].as_primitive::<Float64Type>().value(row), expected.start_s);
            assert_eq!(
                batch["window_packets"].as_primitive::<UInt32Type>().value(row),
                expected.window_packets
            );
            assert_eq!(batch["lost"].as_boolean().value(row), expected.lost);
            i += 1;
        }
    }
    assert_eq!(i, ROWS);
}

#[test]
fn names_and_nulls_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let mut tables = Tables::create(directory.path(), 0, TableSelection::ALL).unwrap();
    tables.transfers.push(transfer(0, Some(2.5))).unwrap();
    tables.transfers.push(transfer(1, None)).unwrap();
    tables.finish().unwrap();
    let batches = read(directory.path(), "transfers");
    let [batch] = batches.as_slice() else { panic!("one batch") };
    assert_eq!(batch["group"].as_string::<i32>().iter().collect::<Vec<_>>(), [Some("web"); 2]);
    assert_eq!(
        batch["completion_s"].as_primitive::<Float64Type>().iter().collect::<Vec<_>>(),
        [Some(2.5), None]
    );
    assert_eq!(
        batch["size_bytes"].as_primitive::<UInt64Type>().iter().collect::<Vec<_>>(),
        [Some(u64::MAX), None]
    );
}

#[test]
fn an_empty_table_has_its_columns_with_their_descriptions() {
    let directory = tempfile::tempdir().unwrap();
    Tables::create(directory.path(), 0, TableSelection::ALL).unwrap().finish().unwrap();
    for table in schema_catalog() {
        let reader = reader(directory.path(), table.name);
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
        let schema = reader.schema();
        assert_eq!(schema.metadata()["description"], table.description);
        assert_eq!(schema.fields().len(), table.columns.len());
        for (field, column) in schema.fields().iter().zip(&table.columns) {
            assert_eq!((field.name().as_str(), field.is_nullable()), (column.name, column.nullable));
            assert_eq!(field.metadata()["description"], column.description);
            assert_eq!(field.metadata()["unit"], column.unit);
        }
    }
}

#[test]
fn the_schema_says_everything_a_reader_asks() {
    for table in schema_catalog() {
        assert!(table.description.ends_with('.'), "{}", table.name);
        for column in &table.columns {
            let place = format!("{}.{}", table.name, column.name);
            assert!(column.description.ends_with('.'), "{place}: {}", column.description);
            let unit = match column.name.rsplit('_').next().unwrap() {
                "s" => "s",
                "bps" => "bit/s",
                "packets" => "packets",
                "bytes" => "bytes",
                _ => continue,
            };
            assert_eq!(column.unit, unit, "{place}");
        }
    }
    let json = serde_json::to_value(schema_catalog()).unwrap();
    assert_eq!(json[0]["name"], "flows");
    assert_eq!(json[0]["columns"][0]["name"], "repetition");
    assert_eq!(json[0]["columns"][0]["type"], "uint32");
}

#[test]
fn the_same_rows_make_the_same_bytes() {
    let write = |directory: &Path| {
        let mut tables = Tables::create(directory, 0, TableSelection::ALL).unwrap();
        for i in 0..20_000 {
            tables.rounds.push(round(i)).unwrap();
        }
        tables.transfers.push(transfer(0, None)).unwrap();
        tables.finish().unwrap();
    };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write(first.path());
    write(second.path());
    for table in schema_catalog() {
        let bytes =
            |directory: &Path| fs::read(directory.join(table.name).with_extension("parquet")).unwrap();
        assert!(bytes(first.path()) == bytes(second.path()), "{}", table.name);
    }
}

#[test]
fn only_selected_tables_have_a_file_and_older_ones_go() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("repetitions/.0000.partial");
    Tables::create(&inner, 0, TableSelection::ALL).unwrap().finish().unwrap();
    fs::write(inner.join("flows.parquet"), vec![7; 100_000]).unwrap();
    let mut tables = Tables::create(&inner, 0, TableSelection::default()).unwrap();
    assert!(tables.flows.is_active() && !tables.rounds.is_active());
    tables.rounds.push(round(0)).unwrap();
    tables.finish().unwrap();
    let mut names: Vec<_> = fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["delay_histogram.parquet", "flows.parquet", "links.parquet"]);
    assert!(read(&inner, "flows").is_empty());
}

#[test]
fn no_tables_take_rows_and_do_nothing() {
    let mut tables = Tables::none();
    assert!(!tables.rounds.is_active());
    for i in 0..100_000 {
        tables.rounds.push(round(i)).unwrap();
    }
    tables.finish().unwrap();
}

#[test]
fn a_number_that_is_not_finite_is_refused_and_nothing_of_its_row_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut tables = Tables::create(directory.path(), 0, TableSelection::ALL).unwrap();
    let sample = |mean_queue_packets, mean_queueing_delay_s| LinkSampleRow {
        link: "bottleneck".into(),
        time_s: 0.0,
        bin_s: 0.1,
        arrivals_packets: 0,
        dropped_packets: 0,
        forwarded_bytes: 0,
        rate_bps: 1e6,
        mean_queue_packets,
        mean_queueing_delay_s,
        arrivals_in_packets: None,
        arrivals_out_packets: None,
        dropped_in_packets: None,
        dropped_out_packets: None,
    };
    let error = tables.link_samples.push(sample(f64::NAN, None)).unwrap_err();
    assert!(error.to_string().starts_with("link_samples.mean_queue_packets: found NaN"), "{error}");
    let error = tables.link_samples.push(sample(0.0, Some(f64::INFINITY))).unwrap_err();
    assert!(error.to_string().starts_with("link_samples.mean_queueing_delay_s: found inf"), "{error}");
    tables.link_samples.push(sample(1.0, None)).unwrap();
    tables.finish().unwrap();
    let batches = read(directory.path(), "link_samples");
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = Tables::create(&file.join("0000"), 0, TableSelection::ALL).unwrap_err();
    assert!(error.to_string().contains("file/0000"), "{error}");
}

/// Pushes rows until one is refused; after that every one must be, and finishing too.
fn fill(mut tables: Tables) -> RecordsError {
    let row = |i: u64| FlowSampleRow {
        flow: i as u32,
        time_s: (i as f64).sin(),
        cwnd_packets: Some((i as f64).cos()),
        rate_pps: None,
        ssthresh_packets: None,
        in_flight_packets: Some(i.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        srtt_s: Some((i as f64).sqrt()),
        delivered_bytes: Some(i),
        retransmissions: Some(i),
        largest_slope: None,
    };
    let refused = (0..2_000_000).find_map(|i| tables.flow_samples.push(row(i)).err());
    let Some(refused) = refused else { panic!("nothing was refused") };
    assert!(!tables.flow_samples.is_active());
    assert!(tables.flow_samples.push(row(0)).is_err());
    assert!(tables.finish().is_err());
    refused
}

fn assert_full(error: &RecordsError) {
    let RecordsError::Write { path, source } = error else { panic!("{error}") };
    assert_eq!(source.kind(), ErrorKind::StorageFull, "{error}");
    assert!(path.ends_with("flow_samples.parquet"), "{error}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_device_that_is_full_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("flow_samples.parquet");
    std::os::unix::fs::symlink("/dev/full", file).unwrap();
    let tables = Tables::create(directory.path(), 0, TableSelection::ALL).unwrap();
    assert_full(&fill(tables));
    // With few rows the first write is the last.
    let mut tables = Tables::create(directory.path(), 0, TableSelection::ALL).unwrap();
    let row = LinkSampleRow {
        link: "bottleneck".into(),
        time_s: 0.0,
        bin_s: 0.1,
        arrivals_packets: 0,
        dropped_packets: 0,
        forwarded_bytes: 0,
        rate_bps: 1e6,
        mean_queue_packets: 0.0,
        mean_queueing_delay_s: None,
        arrivals_in_packets: None,
        arrivals_out_packets: None,
        dropped_in_packets: None,
        dropped_out_packets: None,
    };
    tables.link_samples.push(row).unwrap();
    assert_full(&tables.finish().unwrap_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_is_an_error() {
    use std::process::Command;
    let directory = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=1m", "none"])
        .arg(directory.path())
        .output()
        .is_ok_and(|output| output.status.success());
    if !mounted {
        eprintln!("skipped: a file system can be mounted by root only");
        return;
    }
    let tables = Tables::create(&directory.path().join("0000"), 0, TableSelection::ALL);
    let error = tables.map(fill);
    assert!(Command::new("umount").arg(directory.path()).status().unwrap().success());
    assert_full(&error.unwrap());
}
