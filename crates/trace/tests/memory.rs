//! Small files that would take much memory: each takes what its reader says, and is refused or used as far as it goes.
//!
//! The allocator of this test counts what Rust code takes. Windows of zstd are not counted: they are bounded in `parshall_reading::input`.

mod common;

use common::{try_observe, OPTIONS};
use parshall_reading::Reader;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

#[allow(unsafe_code)] // an allocator that hands everything on
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        MOST.fetch_max(NOW.fetch_add(layout.size(), Relaxed) + layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One file at a time is measured.
static TURN: Mutex<()> = Mutex::new(());

/// A compressed file with `before`, so many `pieces` of `piece`, and `after`.
fn bomb(before: &str, piece: &str, bytes: usize, after: &str) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.write_all(before.as_bytes()).unwrap();
    let many = piece.repeat((1 << 20) / piece.len());
    for _ in 0..bytes / many.len() {
        encoder.write_all(many.as_bytes()).unwrap();
    }
    encoder.write_all(after.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

/// The memory that observing takes at most, in bytes, and the message of a refusal.
fn observed(file: &[u8]) -> (u64, Option<String>) {
    let before = NOW.load(Relaxed);
    MOST.store(before, Relaxed);
    let refusal = try_observe(&[file], &OPTIONS).err().map(|error| error.to_string());
    ((MOST.load(Relaxed) - before) as u64, refusal)
}

fn hold(reader: Reader, name: &str, file: &[u8]) -> Option<String> {
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(file.len() < 1 << 20, "{name}: {} bytes are no small file", file.len());
    let (most, refusal) = observed(file);
    drop(turn);
    println!("{}: {name}: {} kB take {} MiB: {refusal:?}", reader.name(), file.len() >> 10, most >> 20);
    assert!(most <= reader.limits().memory, "{name}: {} MiB", most >> 20);
    assert!(refusal.as_ref().is_none_or(|said| said.lines().count() == 1 && said.len() < 500), "{refusal:?}");
    refusal
}

const JSON: usize = (64 << 20) - (1 << 20);

#[test]
fn json_in_one_piece_is_refused_where_it_takes_too_much() {
    for piece in [r#"{"":0},"#, "[0],"] {
        let said = hold(Reader::JsonLogs, piece, &bomb(r#"{"a":["#, piece, JSON, "0]}")).unwrap();
        assert!(said.contains("JSON that takes more than 1 GiB of memory"), "{said}");
    }
    let said = hold(Reader::JsonLogs, "long", &bomb(r#"{"a":["#, "0 ,", 65 << 20, "0]}")).unwrap();
    assert!(
        said.contains("found JSON of more than 64 MiB; accepted: 64 MiB or less, or a value a line"),
        "{said}"
    );
}

#[test]
fn points_of_a_flent_file_are_bounded() {
    let numbers = |key: &str, after: &str| (format!(r#""{key}":[0"#), ",0".repeat(4 << 20), after.to_owned());
    let (one, many, end) = numbers("x_values", "],");
    let (two, again, last) = numbers("TCP upload::1", "]}}");
    let text = format!("{{{one}{many}{end}\"results\":{{{two}{again}{last}");
    hold(Reader::JsonLogs, "flent", &zstd::encode_all(text.as_bytes(), 1).unwrap());
}

#[test]
fn many_events_in_one_piece_are_read() {
    let event = r#"{"time":1.5,"name":"recovery:metrics_updated","data":{"congestion_window":12000,"smoothed_rtt":20.5}},"#;
    let file = bomb(r#"{"qlog_version":"0.3","traces":[{"title":"a","events":["#, event, JSON, "{}]}]}");
    assert_eq!(hold(Reader::JsonLogs, "qlog", &file), None);
}

#[test]
fn what_a_log_names_is_bounded() {
    let fields = format!("{{\"qlog_version\":\"0.3\",\"event_fields\":[{}\"\"]}}\n", "\"\",".repeat(300_000));
    let event = "{\"time\":0,\"name\":\"recovery:metrics_updated\",\"data\":{\"congestion_window\":1}}\n";
    let begins = format!("{{\"qlog_version\":\"0.3\"}}\n{event}");
    assert_eq!(hold(Reader::QlogLines, "fields", &bomb(&begins, &fields, 200 << 20, event)), None);
    let dump =
        |name: &str| format!("1700000000.5\nESTAB 0 0 {name} b:1\n cubic rtt:20/2 cwnd:10 Recv-Q Send-Q\n");
    let mut log = zstd::Encoder::new(Vec::new(), 1).unwrap();
    log.write_all(dump("a:1").as_bytes()).unwrap();
    for number in 0..300 {
        log.write_all(dump(&format!("{}:{number}", "a".repeat(1_000_000))).as_bytes()).unwrap();
    }
    assert_eq!(hold(Reader::Series, "names of sockets", &log.finish().unwrap()), None);
}

#[test]
fn lines_that_never_end_take_a_line() {
    for (reader, before) in [
        (Reader::Series, "t_s,cwnd_pkts\n0,1\n"),
        (Reader::Series, "1700000000.5\nESTAB 0 0 a:1 b:1\n cubic rtt:20/2 cwnd:10 Recv-Q Send-Q\n"),
        (Reader::QlogLines, "{\"qlog_version\":\"0.3\"}\n"),
    ] {
        hold(reader, before, &bomb(before, "a", 512 << 20, ""));
    }
}
