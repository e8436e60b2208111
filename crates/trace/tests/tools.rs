//! What tools write of a sender: ss, iperf3, flent, qlog, and any CSV. All examples are made here.

mod common;

use common::{observe_file, try_observe, Observed, OPTIONS};
use parshall_trace::Options;
use proptest::prelude::*;
use std::fmt::Write;

/// A dump of `ss -tin` each 0.1 s: two sockets, and one that listens.
fn ss_log(time: impl Fn(u32) -> String) -> String {
    let mut text = String::new();
    for i in 0..40 {
        writeln!(text, "{}", time(i)).unwrap();
        text.push_str("State  Recv-Q Send-Q  Local Address:Port   Peer Address:Port  Process\n");
        text.push_str("LISTEN 0      128     0.0.0.0:22  0.0.0.0:*\n\t cubic rto:1000 mss:536 cwnd:10\n");
        writeln!(text, "ESTAB  0      9000    10.0.0.1:40000 10.0.0.2:5201").unwrap();
        writeln!(
            text,
            "\t cubic wscale:7,7 rto:204 rtt:{}/0.5 mss:1448 cwnd:{} ssthresh:20 bytes_acked:{} segs_out:{} \
             data_segs_out:{} send 115.8Mbps unacked:{} retrans:1/{} rcv_space:14480 minrtt:119",
            120.0 + f64::from(i % 2),
            10 + i,
            i * 12_500,
            2 * i,
            i,
            5 + i,
            i / 10
        )
        .unwrap();
        text.push_str("ESTAB  0  0  [fe80::1]:22  [fe80::2]:50000\n\t cubic rtt:1.5/1 cwnd:10\n");
    }
    text
}

#[test]
fn logs_of_ss_with_times_as_people_write_them() {
    let clock = |i: u32| format!("{:02}:{:02}:{:04.1}", 23, 59, 58.0 + f64::from(i) * 0.1);
    let over_midnight = move |i: u32| {
        if i < 20 {
            clock(i)
        } else {
            format!("00:00:{:04.1}", f64::from(i - 20) * 0.1)
        }
    };
    let logs = [
        ss_log(|i| format!("{:.9}", 1.7e9 + f64::from(i) * 0.1)),
        ss_log(|i| format!("{}", 1_700_000_000_000_000_000u64 + u64::from(i) * 100_000_000)),
        ss_log(|i| format!("# {}.{}", 1_700_000_000 + i / 10, i % 10)),
        ss_log(|i| format!("2023-11-14T22:13:{:04.1}+00:00", 20.0 + f64::from(i) * 0.1)),
        ss_log(over_midnight),
        ss_log(|i| format!("time: {:.3}", 1.7e9 + f64::from(i) * 0.1)).replace('\n', "\r\n"),
    ];
    for log in logs {
        let observed = observe_file(log.as_bytes());
        assert_eq!((observed.summary.format, observed.summary.flows), ("ss", 2), "{}", &log[..60]);
        let names = observed.text("flows", "group");
        assert_eq!(names, ["10.0.0.1:40000 > 10.0.0.2:5201", "[fe80::1]:22 > [fe80::2]:50000"]);
        assert!((observed.summary.duration_s - 3.9).abs() < 1e-3, "{}", observed.summary.duration_s);
        assert!((observed.first("flows", "mean_rtt_s") - 0.1205).abs() < 1e-9);
        assert!((observed.first("flows", "min_rtt_s") - 0.119).abs() < 1e-9);
        assert!((observed.first("flows", "goodput_bps") - 1e6).abs() < 1e3);
        assert_eq!(observed.first("flows", "retransmissions"), 3.0);
        assert_eq!(observed.first("flows", "packets_sent"), 39.0);
        assert_eq!(observed.column("flow_samples", "cwnd_packets").len(), 80);
        // Dumps are closer than the first flow's round trips, and not the second's.
        let flows = observed.column("rounds", "flow");
        assert!(flows.len() > 25 && flows.iter().all(|flow| *flow == 0.0), "{}", flows.len());
        let said = observed.summary.remarks.join("; ");
        assert!(said.contains("samples of 1 of 2 flows are further apart than its round trips"), "{said}");
    }
}

#[test]
fn a_log_of_ss_without_times_says_what_is_missing() {
    let error = refused(&ss_log(|_| String::new()));
    assert!(error.contains("no time before them") && error.contains("date +%s.%N"), "{error}");
    let error = refused("State Recv-Q Send-Q Local Address:Port Peer Address:Port\n");
    assert!(error.contains("without a socket's cwnd"), "{error}");
}

fn refused(text: &str) -> String {
    try_observe(&[text.as_bytes()], &OPTIONS).map(|_| ()).unwrap_err().to_string()
}

/// Two streams of three intervals, of which the first is omitted.
const IPERF3: &str = r#"{"start":{"connected":[
 {"socket":5,"local_host":"10.0.0.1","local_port":40000,"remote_host":"10.0.0.2","remote_port":5201},
 {"socket":7,"local_host":"10.0.0.1","local_port":40002,"remote_host":"10.0.0.2","remote_port":5201}],
 "tcp_mss_default":1000},
 "intervals":[
 {"streams":[{"socket":5,"start":0,"end":1,"bytes":9,"retransmits":9,"snd_cwnd":9000,"rtt":9,"omitted":true}]},
 {"streams":[{"socket":5,"start":0,"end":1,"bytes":125000,"retransmits":2,"snd_cwnd":20000,"rtt":30000,"omitted":false},
             {"socket":7,"start":0,"end":1,"bytes":250000,"retransmits":0,"snd_cwnd":10000,"rtt":10000,"omitted":false}]},
 {"streams":[{"socket":5,"start":1,"end":2,"bytes":125000,"retransmits":3,"snd_cwnd":40000,"rtt":50000,"omitted":false},
             {"socket":7,"start":1,"end":2,"bytes":250000,"retransmits":0,"snd_cwnd":10000,"rtt":10000,"omitted":false}]}],
 "end":{}}"#;

#[test]
fn iperf3_with_several_streams() {
    let events = r#"{"event":"start","data":START}
{"event":"interval","data":{"streams":[{"socket":5,"start":0,"end":1,"bytes":125000,"retransmits":5,"snd_cwnd":20000,"rtt":40000}]}}
{"event":"end","data":{}}"#;
    let start = &IPERF3[IPERF3.find("{\"connected").unwrap()..IPERF3.find(",\n \"intervals").unwrap()];
    let lines = events.replace("START", &start.replace('\n', ""));
    for (text, flows) in [(IPERF3, 2), (&*lines, 1)] {
        let observed = observe_file(text.as_bytes());
        assert_eq!((observed.summary.format, observed.summary.flows), ("iperf3", flows));
        assert_eq!(observed.text("flows", "group")[0], "10.0.0.1:40000 > 10.0.0.2:5201");
        assert!((observed.first("flows", "goodput_bps") - 1e6).abs() < 1.0);
        assert!((observed.first("flows", "mean_rtt_s") - 0.040).abs() < 1e-9);
        assert_eq!(observed.first("flows", "retransmissions"), 5.0);
        assert_eq!(observed.column("flow_samples", "cwnd_packets")[1], 20.0);
    }
    let said = observe_file(IPERF3.as_bytes()).summary.remarks.join("; ");
    assert!(said.contains("1 intervals are of the test's omitted beginning"), "{said}");
}

/// An interval of a stream that sends.
fn interval(start: u32, counters: &str) -> String {
    format!(
        r#"{{"streams":[{{"socket":5,"start":{start},"end":{},"seconds":1,"bytes":125000,{counters},"omitted":false,"sender":true}}],"sum":{{"start":{start},"end":{},"bytes":125000}}}}"#,
        start + 1,
        start + 1
    )
}

/// A test of these intervals, with what comes behind them.
fn iperf3(intervals: &[String], behind: &str) -> String {
    let start = r#""start":{"connected":[{"socket":5,"local_host":"10.0.0.1","local_port":40000,"remote_host":"10.0.0.2","remote_port":5201}],"tcp_mss_default":1000}"#;
    format!("{{\n{start},\n\"intervals\":[{}],\n{behind}}}\n", intervals.join(",\n"))
}

const USUAL: &str = r#""retransmits":1,"snd_cwnd":20000,"rtt":30000"#;

#[test]
fn counters_that_no_kernel_has_are_passed_over() {
    let intervals = [
        interval(0, USUAL),
        interval(1, r#""retransmits":4294967294,"snd_cwnd":20000,"rtt":30000"#), // -2, unsigned
        interval(2, r#""retransmits":0,"snd_cwnd":0,"rtt":4320356"#),
        interval(3, r#""retransmits":-1,"snd_cwnd":2500000000,"rtt":30000"#),
        interval(4, r#""retransmits":0,"snd_cwnd":0,"rtt":0"#), // where the system says nothing
    ];
    let observed = observe_file(iperf3(&intervals, r#""end":{}"#).as_bytes());
    assert_eq!(observed.first("flows", "retransmissions"), 1.0);
    assert!((observed.first("flows", "mean_rtt_s") - 0.030).abs() < 1e-9);
    assert_eq!(observed.column("flow_samples", "cwnd_packets")[1..3], [20.0, 20.0]);
    let said = observed.summary.remarks.join("; ");
    assert!(said.contains("5 counters are none that a kernel has"), "{said}");
    let usual = observe_file(
        iperf3(&[interval(0, USUAL), interval(4, r#""retransmits":0"#)], r#""end":{}"#).as_bytes(),
    );
    assert!(!usual.summary.remarks.iter().any(|said| said.contains("kernel")), "{:?}", usual.summary.remarks);
}

#[test]
fn a_result_of_iperf3_that_breaks_off_has_its_whole_intervals() {
    let whole = iperf3(&(0..30).map(|i| interval(i, USUAL)).collect::<Vec<_>>(), r#""end":{}"#);
    let cut = &whole[..whole.find(r#""start":15"#).unwrap() + 40];
    let observed = observe_file(cut.as_bytes());
    assert_eq!((observed.summary.format, observed.summary.flows), ("iperf3", 1));
    assert!((observed.summary.duration_s - 15.0).abs() < 1e-9, "{}", observed.summary.duration_s);
    assert_eq!(observed.first("flows", "retransmissions"), 15.0);
    assert_eq!(observed.text("flows", "group"), ["10.0.0.1:40000 > 10.0.0.2:5201"]);
    assert_eq!(observed.summary.stopped[0].byte as usize, cut.len());
}

#[test]
fn numbers_that_are_none_and_lines_before_the_json() {
    let intervals: Vec<String> = (0..3).map(|i| interval(i, USUAL)).collect();
    let behind = r#""end":{"sum":{"jitter_ms":-nan,"lost_percent":nan}}"#;
    let text = format!("warning: this system does not seem to support IPv6\n{}", iperf3(&intervals, behind));
    let observed = observe_file(text.as_bytes());
    assert_eq!((observed.summary.format, observed.summary.flows), ("iperf3", 1));
    assert_eq!(observed.first("flows", "retransmissions"), 3.0);
    assert!(observed.summary.stopped.is_empty(), "{:?}", observed.summary.stopped);
    let said = observed.summary.remarks.join("; ");
    assert!(said.contains("2 numbers are none (nan, inf)"), "{said}");
    assert!(said.contains("passed over: \"warning: this system does not seem"), "{said}");
}

#[test]
fn what_iperf3_says_itself() {
    let intervals: Vec<String> = (0..3).map(|i| interval(i, USUAL)).collect();
    let behind = r#""end":{"streams":[{"sender":{"socket":5,"min_rtt":21000,"max_rtt":31000,"mean_rtt":29000},"receiver":{"socket":5}}]},"error":"interrupt - the client has terminated""#;
    let observed = observe_file(iperf3(&intervals, behind).as_bytes());
    assert!((observed.first("flows", "min_rtt_s") - 0.021).abs() < 1e-9);
    assert!((observed.first("flows", "mean_rtt_s") - 0.030).abs() < 1e-9, "that of the intervals");
    let said = observed.summary.remarks.join("; ");
    assert!(said.contains("iperf3 says: \"interrupt - the client has terminated\""), "{said}");
    let message = refused(
        r#"{"start":{"connected":[]},"intervals":[],"end":{},"error":"unable to connect to server: Connection refused"}"#,
    );
    assert!(message.contains("no interval of a TCP stream: iperf3 says: \"unable to connect"), "{message}");
}

/// Base64 of some bytes (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let letter = |bits: u32, at: u32| LETTERS[(bits >> (18 - 6 * at) & 63) as usize] as char;
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let bits = (0..3).fold(0, |bits, i| bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
            (0..4).map(move |i| if i <= chunk.len() as u32 { letter(bits, i) } else { '=' })
        })
        .collect()
}

#[test]
fn archives_of_tcp_info() {
    // IPv4, 192.168.14.134:33769 and 192.168.14.129:62464; a cookie.
    let mut message = vec![2, 1, 0, 0];
    message.extend(33_769u16.to_be_bytes());
    message.extend(62_464u16.to_be_bytes());
    for address in [[192, 168, 14, 134], [192, 168, 14, 129]] {
        message.extend(address);
        message.extend([0; 12]);
    }
    message.extend([0; 4]);
    message.extend([7; 8]);
    message.extend([0; 20]);
    let mut text =
        String::from(r#"{"Metadata":{"UUID":"x","Sequence":1,"StartTime":"2019-04-01T07:42:37.371Z"}}"#);
    text.push('\n');
    for i in 0..50u32 {
        let mut info = [0u8; 224];
        for (at, value) in
            [(24, 9), (68, 40_000), (76, 20), (80, 10 + i), (100, i / 10), (148, 39_000), (156, 30 * i)]
        {
            info[at..at + 4].copy_from_slice(&value.to_le_bytes());
        }
        info[120..128].copy_from_slice(&(u64::from(i) * 50_000).to_le_bytes());
        let (time, length) = (37.5 + f64::from(i) * 0.04, if i == 49 { 104 } else { 224 }); // an old kernel's is shorter
        writeln!(
            text,
            r#"{{"Timestamp":"2019-04-02T14:32:{time:.3}Z","RawIDM":"{}","Attributes":[null,"AAAA","{}",null,"Y3ViaWMA"]}}"#,
            base64(&message),
            base64(&info[..length])
        )
        .unwrap();
    }
    text.push_str(r#"{"Timestamp":"0001-01-01T00:00:00Z","RawIDM":"AAAA","Attributes":[null,null,"AAAA"]}"#);
    let observed = observe_file(&zstd::encode_all(text.as_bytes(), 1).unwrap());
    assert_eq!((observed.summary.format, observed.summary.flows), ("tcp_info", 1));
    assert_eq!(observed.text("flows", "group"), ["192.168.14.134:33769 > 192.168.14.129:62464"]);
    let row = |name: &str| observed.first("flows", name);
    assert!((row("mean_rtt_s") - 0.040).abs() < 1e-9 && (row("min_rtt_s") - 0.039).abs() < 1e-9);
    assert_eq!((row("packets_sent"), row("retransmissions")), (1440.0, 4.0));
    assert!((row("goodput_bps") - 48.0 * 50_000.0 * 8.0 / 1.96).abs() < 1e3, "{}", row("goodput_bps"));
    assert!((observed.summary.duration_s - 1.96).abs() < 1e-3);
    assert!(observed.column("rounds", "round").len() > 40, "samples are as close as round trips");
    let said = observed.summary.remarks.join("; ");
    assert!(said.contains("1 sample has no time"), "{said}");
}

#[test]
fn flent_with_raw_values_and_without() {
    let raw = r#"{"metadata":{},"x_values":[0,1,2],"results":{"Ping (ms) ICMP":[1,2,3],"TCP upload avg":[1,1,1]},
      "raw_values":{"Ping (ms) ICMP":[{"t":100.0,"val":20}],
      "TCP upload::10":[{"t":101.0,"tcp_cwnd":10,"tcp_rtt":20.0},{"t":101.5,"val":8,"dur":0.5},
                       {"t":102.0,"tcp_cwnd":30,"tcp_rtt":40.0},{"t":102.5,"val":8,"dur":1.0}],
      "TCP upload::2":[{"t":101.0,"val":1,"dur":1.0},{"t":102.0,"val":1,"dur":1.0}]},"version":4}"#;
    let observed = observe_file(raw.as_bytes());
    assert_eq!((observed.summary.format, observed.summary.flows), ("flent", 2));
    assert_eq!(observed.text("flows", "group"), ["TCP upload::2", "TCP upload::10"]);
    assert!((observed.column("flows", "mean_rtt_s")[1] - 0.030).abs() < 1e-9);
    // 1 s at 8 Mbit/s after the first point, in the 1.5 s of the flow.
    assert!((observed.column("flows", "goodput_bps")[1] - 8e6 / 1.5).abs() < 1.0);
    assert!(observed.summary.remarks.iter().any(|said| said.contains("2 series are no TCP flows")));
    let table = r#"{"x_values":[0,0.5,1],"results":{"TCP upload":[null,8,8],"TCP upload::tcp_cwnd":[10,20,30],
      "TCP upload::tcp_rtt":[10,20,30],"Ping (ms) ICMP":[1,1,1]},"metadata":{},"version":3}"#;
    let observed = observe_file(table.as_bytes());
    assert_eq!((observed.summary.format, observed.summary.flows), ("flent", 1));
    assert_eq!(observed.column("flow_samples", "cwnd_packets"), [10.0, 20.0, 30.0]);
    assert!((observed.first("flows", "goodput_bps") - 4e6).abs() < 1.0);
}

/// Reno over QUIC: 50 ms, one datagram of 1000 bytes a round trip, halved at 40; updates say only what changed.
fn qlog_events(since_last: bool) -> Vec<String> {
    let mut events =
        vec![r#"{"time":0,"name":"recovery:parameters_set","data":{"max_datagram_size":1000}}"#.to_owned()];
    let mut window = 20;
    for i in 0..400 {
        let time = if since_last { 50 } else { 50 * (i + 1) };
        let rtt = if i == 0 { r#","smoothed_rtt":50,"min_rtt":48"# } else { "" };
        let lost = window == 40;
        window = if lost { 20 } else { window + 1 };
        events.push(format!(
            r#"{{"time":{time},"name":"recovery:metrics_updated","data":{{"congestion_window":{}{rtt}}}}}"#,
            window * 1000
        ));
        if lost {
            let at = if since_last { 0 } else { time };
            events.push(format!(r#"{{"time":{at},"name":"recovery:packet_lost","data":{{}}}}"#));
        }
    }
    events
}

fn is_the_quic_flow(observed: &Observed) {
    assert_eq!((observed.summary.format, observed.summary.flows), ("qlog", 1));
    assert_eq!(observed.first("flows", "packets_dropped"), 19.0);
    assert_eq!(observed.first("flows", "loss_events"), 19.0);
    assert!((observed.first("flows", "min_rtt_s") - 0.048).abs() < 1e-9);
    let windows = observed.column("rounds", "window_packets");
    assert!(windows.len() >= 397, "{}", windows.len());
    assert!(windows.iter().all(|window| (20.0..=40.0).contains(window)));
    let lost = observed.column("rounds", "lost").iter().sum::<f64>();
    assert_eq!(lost, 19.0);
}

#[test]
fn qlog_as_a_document_as_lines_and_as_a_sequence() {
    let events = qlog_events(false);
    let document = format!(
        r#"{{"qlog_version":"0.3","traces":[{{"common_fields":{{"time_format":"relative"}},"events":[{}]}}]}}"#,
        events.join(",")
    );
    is_the_quic_flow(&observe_file(document.as_bytes()));
    let header =
        r#"{"qlog_version":"0.3","qlog_format":"NDJSON","trace":{"common_fields":{"time_format":"delta"}}}"#;
    let deltas = qlog_events(true);
    is_the_quic_flow(&observe_file(format!("{header}\n{}\n", deltas.join("\n")).as_bytes()));
    is_the_quic_flow(&observe_file(format!("\x1e{header}\n\x1e{}\n", deltas.join("\n\x1e")).as_bytes()));
    let arrays: Vec<String> = (0..200)
        .map(|i| {
            format!(
                r#"[{},"recovery","metrics_updated",{{"congestion_window":12000,"smoothed_rtt":50}}]"#,
                50_000 * i
            )
        })
        .collect();
    let draft = format!(
        r#"{{"qlog_version":"draft-01","traces":[{{"configuration":{{"time_units":"us"}},
            "event_fields":["relative_time","CATEGORY","EVENT_TYPE","DATA"],"events":[{}]}}]}}"#,
        arrays.join(",")
    );
    let observed = observe_file(draft.as_bytes());
    assert!((observed.summary.duration_s - 9.95).abs() < 1e-9);
    assert_eq!(observed.first("flows", "mean_cwnd_packets").round(), 10.0, "packets of 1200 bytes");
    assert!(observed.summary.remarks.iter().any(|said| said.contains("max_datagram_size")));
}

#[test]
fn any_csv_by_the_names_of_its_columns() {
    let rows = |separator: &str| {
        (0..200).fold(format!("when{separator}w_bytes{separator}note{separator}r\n"), |text, i| {
            let values =
                [(10 * i).to_string(), (1448 * (10 + i % 20)).to_string(), "x".into(), "20000".into()];
            text + &values.join(separator) + "\n"
        })
    };
    for separator in [",", ";", "\t"] {
        let columns = Some("time=when:ms,cwnd=w_bytes,rtt=r:us,mss=1448".to_owned());
        let options = Options { columns, ..OPTIONS };
        let observed = try_observe(&[rows(separator).as_bytes()], &options).unwrap();
        assert_eq!((observed.summary.format, observed.summary.frames), ("columns", 200));
        assert!((observed.summary.duration_s - 1.99).abs() < 1e-9);
        assert!((observed.first("flows", "mean_cwnd_packets") - 19.4).abs() < 0.2);
        assert!((observed.column("rounds", "round").len() as f64 - 99.0).abs() <= 1.0);
    }
    let lines: Vec<String> = (0..50).map(|i| format!("{} {}\n", 0.01 * f64::from(i), 10 + i)).collect();
    let text = lines.concat();
    let options = Options { columns: Some("time=1,cwnd=2".into()), rtt_s: Some(0.02), ..OPTIONS };
    let observed = try_observe(&[text.as_bytes()], &options).unwrap();
    assert_eq!(observed.summary.frames, 50, "the first row of numbers is a row");
    let options = Options { columns: Some("time=t,cwnd=when".into()), ..OPTIONS };
    let error = try_observe(&[rows(",").as_bytes()], &options).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("found \"t\", which is no column; there are: when, w_bytes, note, r"), "{error}");
}

/// Reno's windows, 100 ms a round trip, halved at 40 and at once back in every second case, as an undo is.
#[test]
fn a_reduction_that_the_sender_takes_back_is_no_loss() {
    let mut text = String::from("t_s,cwnd_pkts\n");
    let (mut time, mut window, mut undone, mut lasting) = (0.0, 20, 0, 0);
    for _ in 0..2000 {
        writeln!(text, "{time:.4},{window}").unwrap();
        if window >= 40 {
            if (undone + lasting) % 2 == 0 {
                lasting += 1;
                writeln!(text, "{:.4},20", time + 0.02).unwrap();
                window = 20;
            } else {
                undone += 1;
                writeln!(text, "{:.4},20", time + 0.02).unwrap();
                writeln!(text, "{:.4},21", time + 0.1).unwrap();
                writeln!(text, "{:.4},{window}", time + 0.15).unwrap();
                // What is reduced two round trips later stays so.
                time += 0.4;
                window = 20;
                writeln!(text, "{time:.4},{window}").unwrap();
                lasting += 1;
            }
        }
        time += 0.1;
        window += 1;
    }
    let options = Options { rtt_s: Some(0.1), ..OPTIONS };
    let observed = try_observe(&[text.as_bytes()], &options).unwrap();
    assert_eq!(observed.summary.undone_reductions, undone);
    let found = observed.first("flows", "loss_events");
    assert!((found - lasting as f64).abs() <= 1.0, "{found} for {lasting}");
    assert!(observed
        .summary
        .remarks
        .iter()
        .any(|said| said.starts_with(&format!("undone reductions: {undone}"))));
}

#[test]
fn small_windows_that_grow_back_were_reduced() {
    // Reno at 4 packets is back in two round trips, by growth alone.
    let mut text = String::from("t_s,cwnd_pkts\n");
    for i in 0..200 {
        writeln!(text, "{:.2},{}", 0.1 * f64::from(i), [2, 3, 4][i as usize % 3]).unwrap();
    }
    let options = Options { rtt_s: Some(0.1), ..OPTIONS };
    let observed = try_observe(&[text.as_bytes()], &options).unwrap();
    assert_eq!((observed.summary.undone_reductions, observed.first("flows", "loss_events")), (0, 66.0));
}

#[test]
fn values_that_no_window_can_have_are_passed_over() {
    let mut text = String::from("t_s,cwnd_pkts\n");
    for i in 0..100 {
        writeln!(text, "{:.3},{}", 0.2 * f64::from(i), 60 + i).unwrap();
        writeln!(text, "{:.3},900\n{:.3},{}", 0.2 * f64::from(i) + 0.05, 0.2 * f64::from(i) + 0.08, 60 + i)
            .unwrap();
    }
    let options = Options { rtt_s: Some(0.2), ..OPTIONS };
    let observed = try_observe(&[text.as_bytes()], &options).unwrap();
    assert_eq!((observed.summary.spikes, observed.first("flows", "loss_events")), (100, 0.0));
    assert!(observed.column("rounds", "window_packets").iter().all(|window| *window < 160.0));
}

#[test]
fn a_line_without_end_takes_no_memory_without_end() {
    let mut text = ss_log(|i| format!("{:.9}", 1.7e9 + f64::from(i) * 0.1));
    let rows = text.matches("cwnd:").count();
    text.push_str(&"x".repeat(3 << 20));
    text.push('\n');
    text.push_str(&ss_log(|i| format!("{:.9}", 1.7e9 + 10.0 + f64::from(i) * 0.1)));
    let observed = observe_file(text.as_bytes());
    assert_eq!(observed.summary.frames as usize, 2 * rows * 2 / 3);
    assert!(observed.summary.remarks.iter().any(|said| said.contains("1 lines are longer than 1 MiB")));
}

fn examples() -> Vec<Vec<u8>> {
    let header = r#"{"qlog_version":"0.3","qlog_format":"NDJSON","trace":{}}"#;
    vec![
        ss_log(|i| format!("{:.9}", 1.7e9 + f64::from(i) * 0.1)).into_bytes(),
        IPERF3.as_bytes().to_vec(),
        br#"{"x_values":[0,0.5,1],"results":{"TCP upload":[null,8,8],"TCP upload::tcp_cwnd":[10,20,30]},"raw_values":{"TCP a":[{"t":1,"val":2,"dur":1,"tcp_cwnd":5}]}}"#.to_vec(),
        format!("{header}\n{}\n", qlog_events(false)[..40].join("\n")).into_bytes(),
        format!(r#"{{"qlog_version":"0.3","traces":[{{"events":[{}]}}]}}"#, qlog_events(false)[..40].join(",")).into_bytes(),
        b"time,cwnd\n0,10\n1,11\n2,5\n3,10\n".to_vec(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Damaged bytes are read or refused; nothing panics, and no row is without a number.
    #[test]
    fn damage_is_no_panic(
        which in 0usize..6,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        cut in any::<prop::sample::Index>(),
        named in any::<bool>(),
    ) {
        let mut bytes = examples().swap_remove(which);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if named {
            bytes.truncate(cut.index(bytes.len()));
        }
        let columns = (which == 5).then(|| "time=1,cwnd=2".to_owned());
        let options = Options { columns, ..OPTIONS };
        if let Ok(observed) = try_observe(&[&bytes], &options) {
            prop_assert!(observed.summary.flows > 0);
            prop_assert!(observed.summary.duration_s.is_finite());
        }
    }

    /// What a user may write for columns.
    #[test]
    fn any_words_for_columns_are_read_or_refused(words in "[a-z=:,0-9_]{0,40}") {
        let options = Options { columns: Some(words), ..OPTIONS };
        let _ = try_observe(&[b"time,cwnd\n0,10\n1,11\n"], &options);
    }
}
