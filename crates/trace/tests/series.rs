//! Series of the sender's kernel.

mod common;

use common::{observe_file, try_observe, OPTIONS};
use flate2::write::GzEncoder;
use flate2::Compression;
use parshall_trace::Options;
use std::fmt::Write;
use std::io::Write as _;

/// Reno: one packet a round trip of 50 ms, halved at 40; the reduction takes several rows, as in Linux.
fn reno() -> (String, u64) {
    let mut text = String::from("t_s,cwnd_pkts\n");
    let (mut time, mut window, mut reductions) = (12.0, 20u32, 0);
    for _ in 0..2000 {
        writeln!(text, "{time:.6},{window}").unwrap();
        if window == 40 {
            reductions += 1;
            for step in (20..40).rev() {
                time += 0.001;
                writeln!(text, "{time:.6},{step}").unwrap();
            }
            window = 20;
        }
        time += 0.050;
        window += 1;
    }
    (text, reductions)
}

#[test]
fn windows_of_a_reno_flow_need_no_round_trip_time() {
    let (text, reductions) = reno();
    let observed = observe_file(text.as_bytes());
    assert_eq!(observed.summary.format, "cwnd");
    let rtt = observed.first("flows", "mean_rtt_s");
    assert!((rtt / 0.050 - 1.0).abs() < 0.02, "{rtt}");
    assert_eq!(observed.first("flows", "loss_events"), reductions as f64);
    let lost = observed.column("rounds", "lost").iter().filter(|lost| **lost > 0.0).count() as u64;
    assert!(lost + 1 >= reductions && lost <= reductions, "{lost} of {reductions}");
    let windows = observed.column("rounds", "window_packets");
    assert!((windows.len() as f64 / 2030.0 - 1.0).abs() < 0.02, "{}", windows.len());
    assert!(windows.iter().all(|window| (20.0..=40.0).contains(window)));
    assert!(observed.first("flows", "packets_sent").is_nan(), "a series does not say");
}

#[test]
fn other_windows_do() {
    let mut text = String::from("t_s,cwnd_pkts\n");
    // CUBIC: slow around the window of the last loss, fast before and after.
    for period in 0..5 {
        for window in 70..=130 {
            let time = f64::from(period) * 4.0 + 2.0 + 2.0 * (f64::from(window - 100) / 30.0).cbrt();
            writeln!(text, "{time},{window}").unwrap();
        }
    }
    let observed = observe_file(text.as_bytes());
    assert!(observed.column("rounds", "round").is_empty());
    assert!(
        observed.summary.remarks[0].contains("give the round-trip time"),
        "{:?}",
        observed.summary.remarks
    );
    let options = Options { rtt_s: Some(0.1), ..OPTIONS };
    let observed = try_observe(&[text.as_bytes()], &options).unwrap();
    assert_eq!(observed.column("rounds", "round").len(), 199);
}

#[test]
fn a_time_that_is_damaged_does_not_make_rows_without_end() {
    for time in ["1e300", "1e11"] {
        let (mut text, _) = reno();
        text.push_str(time);
        text.push_str(",21\n");
        let rounds = observe_file(text.as_bytes()).column("rounds", "round").len();
        assert!(rounds < 3000, "{rounds}");
    }
}

const SAMPLES: [(u32, u32, u32); 3] = [(100_000, 10, 20_000), (350_000, 40, 25_000), (600_000, 80, 30_000)];

#[test]
fn tcp_info_as_csv_and_as_json() {
    let mut csv = String::from("ElapsedTime,SndCwnd,RTT,MinRTT,BytesAcked,TotalRetrans\n");
    let mut lines = String::new();
    let mut array = Vec::new();
    for (i, (elapsed, window, rtt)) in SAMPLES.into_iter().enumerate() {
        writeln!(csv, "{elapsed},{window},{rtt},19000,{},{i}", i * 50_000).unwrap();
        let info = format!(
            r#"{{"TCPInfo":{{"ElapsedTime":{elapsed},"SndCwnd":{window},"RTT":{rtt},"MinRTT":19000,"BytesAcked":{},"TotalRetrans":{i}}}}}"#,
            i * 50_000
        );
        writeln!(lines, "{info}").unwrap();
        array.push(info);
    }
    let document = format!(r#"{{"Download":{{"ServerMeasurements":[{}]}}}}"#, array.join(","));
    for text in [csv, lines, document] {
        let observed = observe_file(text.as_bytes());
        assert_eq!(observed.summary.format, "tcp_info");
        assert_eq!(observed.column("flow_samples", "cwnd_packets"), [10.0, 40.0, 80.0]);
        let rtts = observed.column("flow_samples", "srtt_s");
        assert!(rtts.iter().zip([0.020, 0.025, 0.030]).all(|(found, given)| (found - given).abs() < 1e-9));
        assert!((observed.first("flows", "mean_rtt_s") - 0.025).abs() < 1e-9);
        assert!((observed.first("flows", "min_rtt_s") - 0.019).abs() < 1e-9);
        assert!((observed.first("flows", "goodput_bps") - 1.6e6).abs() < 1.0);
        assert!((observed.first("flows", "mean_cwnd_packets") - 25.0).abs() < 1e-9);
        assert_eq!(observed.first("flows", "retransmissions"), 2.0);
    }
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// TCP_INFO as CSV, as JSON a line, and as one JSON value; with what each row ends.
fn tcp_info(rows: u32) -> [(String, &'static str); 3] {
    let mut csv = String::from("ElapsedTime,SndCwnd,RTT\n");
    let mut lines = String::new();
    let mut document = String::from(r#"{"Server":["#);
    for i in 0..rows {
        let (elapsed, window, rtt) =
            (250_000 * (i + 1), 10 + i.wrapping_mul(2_654_435_761) % 977, 20_000 + i % 7919);
        writeln!(csv, "{elapsed},{window},{rtt}").unwrap();
        let sample = format!(r#"{{"ElapsedTime":{elapsed},"SndCwnd":{window},"RTT":{rtt}}}"#);
        writeln!(lines, "{sample}").unwrap();
        write!(document, "{}{sample}", if i > 0 { "," } else { "" }).unwrap();
    }
    document.push_str("]}");
    [(csv, "\n"), (lines, "}"), (document, "}")]
}

#[test]
fn a_series_that_breaks_off_says_at_which_byte() {
    let (cwnd, _) = reno();
    let [csv, lines, document] = tcp_info(3000);
    for (format, (text, end)) in
        [("cwnd", (cwnd, "\n")), ("tcp_info", csv), ("tcp_info", lines), ("tcp_info", document)]
    {
        let mut bytes = gzipped(text.as_bytes());
        bytes.truncate(bytes.len() / 2);
        let whole = observe_file(text.as_bytes());
        let observed = observe_file(&bytes);
        assert!(whole.summary.stopped.is_empty(), "{:?}", whole.summary.stopped);
        assert_eq!((observed.summary.format, observed.summary.stopped.len()), (format, 1));
        let stopped = &observed.summary.stopped[0];
        assert!(stopped.reason.contains("incomplete"), "{}", stopped.reason);
        let byte = stopped.byte as usize;
        assert!((text.len() / 4..3 * text.len() / 4).contains(&byte), "{byte} of {}", text.len());
        // As many rows as are complete up to there: a number of which the end is missing is another number.
        let rows = text[..byte].matches(end).count() - usize::from(end == "\n");
        assert_eq!(observed.summary.frames as usize, rows, "{format}, {end}");
        assert!(rows > 200, "{rows}");
        if end == "\n" {
            assert!(text[..byte].ends_with(end), "{byte}");
        }
        let windows = observed.column("flow_samples", "cwnd_packets");
        assert_eq!(windows, whole.column("flow_samples", "cwnd_packets")[..windows.len()]);
    }
}

#[test]
fn json_that_is_damaged_is_used_up_to_there() {
    let [_, (lines, _), (document, _)] = tcp_info(20);
    for text in [lines, document] {
        let at = text.match_indices("SndCwnd").nth(12).unwrap().0 - 1;
        let damaged = format!("{}?{}", &text[..at], &text[at + 1..]);
        let observed = observe_file(damaged.as_bytes());
        assert_eq!((observed.summary.frames, observed.summary.stopped[0].byte as usize), (12, at));
    }
    let damaged = r#"{"ElapsedTime":1,"SndCwnd":2,"RTT":?"#;
    let error = try_observe(&[damaged.as_bytes()], &OPTIONS).map(|_| ()).unwrap_err().to_string();
    assert!(
        error.contains("byte 35: found JSON that cannot be read") && error.contains("no TCP_INFO sample"),
        "{error}"
    );
}

#[test]
fn a_file_that_turns_into_something_else_says_where() {
    let (mut text, _) = reno();
    let whole = text.len();
    text.extend(std::iter::repeat_n("no,number\n", 2000));
    let observed = observe_file(text.as_bytes());
    let stopped = &observed.summary.stopped[0];
    assert_eq!(stopped.byte as usize, whole + 1000 * "no,number\n".len());
    assert!(stopped.reason.contains("1000 rows"), "{}", stopped.reason);
}

#[test]
fn a_line_without_end_stops_the_reading() {
    for quote in ["", "\""] {
        // Four megabytes without the end of a line; within quotes an end is none.
        let mut text = String::from("t_s,cwnd_pkts\n0,10\n1,11\n2,12\n");
        let used = text.len() as u64;
        text.push_str(quote);
        text.push_str(&if quote.is_empty() { "7".repeat(1 << 22) } else { "7,\n".repeat(1 << 20) });
        let observed = try_observe(&[text.as_bytes()], &Options { rtt_s: Some(0.1), ..OPTIONS }).unwrap();
        let stopped = &observed.summary.stopped[0];
        assert_eq!((observed.summary.frames, stopped.byte), (3, used));
        assert!(stopped.reason.contains("a line of more than 1048576 bytes"), "{}", stopped.reason);
        // Nothing but such a line.
        let alone = format!("t_s,cwnd_pkts\n{}", &text[used as usize..]);
        assert!(try_observe(&[alone.as_bytes()], &OPTIONS).is_err());
    }
    // Many lines are no long one.
    let text = format!("t_s,cwnd_pkts\n{}", "1,10\n".repeat(500_000));
    assert!(try_observe(&[text.as_bytes()], &Options { rtt_s: Some(0.1), ..OPTIONS })
        .unwrap()
        .summary
        .stopped
        .is_empty());
}
