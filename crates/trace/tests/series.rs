//! Series of the sender's kernel.

mod common;

use common::{observe_file, try_observe, OPTIONS};
use parshall_trace::Options;
use std::fmt::Write;

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
