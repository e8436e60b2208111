//! The cases. Each is bounded by the length of its plan, a few seconds at most.
//!
//! Bounds of rates and times leave room for a machine that is busy with other things, and stands still for some tenths of a
//! second; what does not depend on time (sizes, numbers of packets, draws) is exact.

use crate::endings::{KILLED, KILLED_WITH_PARENT, SLEEPER};
use crate::forwarder::Wire;
use crate::refusals;
use crate::support::{flow, options, plan, run, run_until_done, source, tcp, Ran, BULK, PACKET_BYTES};
use parshall_hosts::{FlowPlan, HostsError, Sampling, Transport};
use parshall_units::{Duration, Instant, Rate};
use parshall_workload::Source;
use rand_xoshiro::rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::RangeInclusive;
use std::process::Child;

/// What the kernel refused, so that a case could not run.
pub struct Skipped(pub String);

/// What a parent does with the child of a case.
pub type Look = fn(&Case, &mut Child) -> Result<(), Skipped>;

/// A test.
pub struct Case {
    pub name: &'static str,
    /// Not as root, even if the tests run as root.
    pub as_nobody: bool,
    pub run: fn() -> Result<(), HostsError>,
    /// What the parent looks at while the child runs, and why it could not; it kills the child then.
    pub outside: Option<Look>,
    /// Started by another case only.
    pub hidden: bool,
}

pub const fn case(name: &'static str, run: fn() -> Result<(), HostsError>) -> Case {
    Case { name, as_nobody: false, run, outside: None, hidden: false }
}

const fn as_nobody(name: &'static str, run: fn() -> Result<(), HostsError>) -> Case {
    Case { as_nobody: true, ..case(name, run) }
}

pub const CASES: &[Case] = &[
    case("bulk_cubic_moves_data_and_is_recorded", bulk_cubic),
    as_nobody("an_ordinary_user_can", bulk_cubic),
    case("every_control_of_this_kernel_moves_data", every_control),
    case("two_hundred_flows_at_once", two_hundred_flows),
    case("a_thousand_flows_are_set_up_soon", a_thousand_flows),
    case("a_thousand_paced_flows", a_thousand_paced_flows),
    case("connections_end_with_the_run", connections_end_with_the_run),
    case("transfers_have_the_right_sizes_on_one_connection", || transfer_sizes(true)),
    case("transfers_have_the_right_sizes_on_their_own_connections", || transfer_sizes(false)),
    case("five_thousand_connections_one_after_another", many_connections),
    case("on_off_draws_what_its_source_draws", on_off),
    case("on_off_bulk_sends_for_its_times", on_off_bulk),
    case("open_loops_start_transfers_at_their_times", open_loop),
    case("servers_answer_and_clients_think", exchanges),
    case("datagrams_keep_their_rate", cbr),
    case("losses_and_rounds_are_seen", losses),
    case("sysctls_take_effect", sysctls),
    case("pairs_of_hosts_have_sysctls_of_their_own", pairs),
    case("streams_side_by_side_send_as_much_each", streams),
    case("pacing_and_buffers_limit_a_flow", limits),
    case("initial_windows_are_set_by_routes", initial_windows),
    case("flows_keep_their_packet_size", packet_size),
    case("totals_start_after_the_warm_up", warm_up),
    case("a_run_can_be_stopped", refusals::stopped),
    case("a_host_that_fails_ends_the_run", refusals::failing),
    case("silent_hosts_send_nothing", refusals::silence),
    as_nobody("a_user_knows_what_is_permitted", || {
        refusals::abilities();
        Ok(())
    }),
    case("bad_plans_are_refused_with_one_message", || {
        refusals::plans();
        Ok(())
    }),
    case("a_sysctl_that_cannot_be_set_is_named", refusals::sysctl),
    as_nobody("a_second_thread_is_refused", refusals::second_thread),
    as_nobody("buffers_that_a_user_may_not_have_are_refused", refusals::buffer),
    KILLED,
    Case { as_nobody: true, name: "nothing_is_left_of_a_users_hosts_after_sigkill", ..KILLED },
    KILLED_WITH_PARENT,
    SLEEPER,
];

fn bulk_cubic() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows.push(tcp("cubic", BULK));
    let ran = run(plan, Wire::default())?;
    let row = &ran.outcome.flows[0].row;
    let goodput = row.goodput_bps.expect("this kernel counts");
    println!(
        "{:.1} Gbit/s through a plain forwarder; CPU {:.2} s of 2 s (senders), {:.2} s (receivers); mean cwnd {:?}, RTT {:?}",
        goodput / 1e9,
        ran.outcome.senders_cpu_s[0],
        ran.outcome.receivers_cpu_s[0],
        row.mean_cwnd_packets,
        row.mean_rtt_s,
    );
    assert!(goodput > 100e6, "{goodput} bit/s");
    assert!((ran.outcome.received_bytes as f64 * 8.0 / 2.0 / goodput - 1.0).abs() < 0.4);
    assert!((50..=200).contains(&ran.samples.len()), "{} samples", ran.samples.len());
    assert!(ran.samples.windows(2).all(|pair| pair[0].delivered_bytes <= pair[1].delivered_bytes));
    assert_eq!(ran.transfers.len(), 1);
    assert_eq!((ran.transfers[0].size_bytes, ran.transfers[0].completion_s), (None, None));
    assert!(row.mean_cwnd_packets.is_some_and(|window| window >= 10.0));
    let rounds = 2.0 / row.mean_rtt_s.expect("it was measured"); // of the 2 s; the first ones are shorter
    assert!(ran.rounds.len() as f64 > 0.5 * rounds, "{} rounds of {rounds:.0}", ran.rounds.len());
    assert_eq!(ran.outcome.devices_dropped, Some(0));
    Ok(())
}

fn every_control() -> Result<(), HostsError> {
    for control in parshall_hosts::Abilities::of_this_machine().congestion_controls {
        let mut plan = plan(1.0);
        plan.flows.push(tcp(&control, BULK));
        let wire = Wire { delay: std::time::Duration::from_millis(2), lose_one_of: 0 };
        let ran = run(plan, wire)?;
        let row = &ran.outcome.flows[0].row;
        println!("{control}: {:.0} Mbit/s, srtt {:?}", row.goodput_bps.unwrap_or(0.0) / 1e6, row.mean_rtt_s);
        assert_eq!(*row.congestion_control, *control);
        assert!(row.goodput_bps.is_some_and(|goodput| goodput > 10e6), "{row:?}");
        assert!(row.min_rtt_s.is_some_and(|rtt| (0.004..0.010).contains(&rtt)), "{row:?}");
        let paces = control == "bbr";
        assert!(ran.samples.iter().all(|sample| sample.rate_pps.is_some() == paces), "{control}");
    }
    Ok(())
}

/// Exchanges of so many bytes, with 50 ms to think.
fn asking(request: u64, response: u64) -> FlowPlan {
    tcp(
        "cubic",
        &format!(
            r#"{{"name": "request_response", "request": {request}, "size_granularity": 1,
                "response": {{"name": "constant", "value": {response}}},
                "think": {{"name": "constant", "value": 0.05}}}}"#
        ),
    )
}

fn exchanges() -> Result<(), HostsError> {
    let mut plan = plan(3.0);
    plan.flows = vec![asking(300, 100_000), asking(100_000, 300), asking(1, 1)];
    options(&mut plan.flows[1]).receive_buffer = Some(1 << 20);
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(10), lose_one_of: 0 })?;
    for (flow, size) in [(0, 100_000), (1, 300), (2, 1)] {
        let rows: Vec<_> = ran.transfers.iter().filter(|row| row.flow == flow).collect();
        let (last, complete) = rows.split_last().expect("some exchanges");
        println!("flow {flow}: {} exchanges", complete.len());
        assert!(ran.outcome.flows[flow as usize].failure.is_none());
        assert!(
            (15..45).contains(&complete.len()),
            "{}: a round trip of 20 ms and 50 ms to think",
            complete.len()
        );
        assert!(rows
            .iter()
            .zip(0..)
            .all(|(row, number)| row.transfer == number && row.size_bytes == Some(size)));
        assert!(last.completion_s.is_none_or(|at| at <= 3.0));
        // The handshake is part of the first one; the windows of the later ones hold it whole.
        let mut took: Vec<f64> =
            complete.iter().map(|row| row.completion_s.expect("complete") - row.start_s).collect();
        assert!(took.iter().all(|&s| s >= 0.02) && took[0] >= 0.04, "{took:?}");
        took.sort_by(f64::total_cmp);
        assert!(took[took.len() / 2] < 0.05, "{took:?}");
        for pair in rows.windows(2) {
            let thought = pair[1].start_s - pair[0].completion_s.expect("complete");
            assert!((thought - 0.05).abs() < 1e-8, "{thought}");
        }
        let fewest = size.div_ceil(1448);
        assert!(complete.iter().all(|row| row.packets_sent >= fewest), "{complete:?}");
    }
    // Goodput is that of the responses.
    let goodput = ran.outcome.flows[0].row.goodput_bps.expect("this kernel counts");
    let answered = ran.transfers.iter().filter(|row| row.flow == 0 && row.completion_s.is_some()).count();
    assert!((goodput * 3.0 / 8.0 / (answered as f64 * 100_000.0) - 1.0).abs() < 0.1, "{goodput}");
    Ok(())
}

fn two_hundred_flows() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows = vec![tcp("cubic", BULK); 200];
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(5), lose_one_of: 0 })?;
    let flows = &ran.outcome.flows;
    let total: f64 = flows.iter().filter_map(|flow| flow.row.goodput_bps).sum();
    println!("200 flows: {:.2} Gbit/s", total / 1e9);
    assert!(flows
        .iter()
        .enumerate()
        .all(|(number, flow)| flow.row.flow == number as u32 && flow.failure.is_none()));
    assert!(flows.iter().all(|flow| flow.row.goodput_bps.is_some_and(|goodput| goodput > 0.0)));
    let received = ran.outcome.received_bytes as f64 * 8.0 / 2.0;
    assert!((received / total - 1.0).abs() < 0.4, "{received} of {total} bit/s");
    Ok(())
}

fn a_thousand_flows() -> Result<(), HostsError> {
    let mut plan = plan(10.0);
    plan.flows = vec![FlowPlan { samples: None, rounds: false, ..tcp("cubic", ONE_BYTE) }; 1000];
    let begun = std::time::Instant::now();
    let ran = run_until_done(plan, Wire::default())?;
    let last = ran.transfers.iter().filter_map(|row| row.completion_s).fold(0.0, f64::max);
    println!("1000 flows connected and a byte of each acknowledged {last:.3} s after the start");
    assert_eq!(ran.transfers.iter().filter(|row| row.completion_s.is_some()).count(), 1000);
    let all_s = begun.elapsed().as_secs_f64();
    println!("with both hosts' beginning and end: {all_s:.3} s");
    println!("the senders' host was {:.6} s late at most", ran.outcome.senders_latest_s);
    assert!(all_s < 2.0, "{all_s} s");
    Ok(())
}

/// Sockets that no process has any more, and pages of memory, of all TCP of this machine (`/proc/net/sockstat`).
fn left_behind() -> (i64, i64) {
    let text = std::fs::read_to_string("/proc/net/sockstat").expect("the kernel tells");
    let line = text.lines().find(|line| line.starts_with("TCP:")).expect("it has TCP");
    let words: Vec<&str> = line.split_whitespace().collect();
    let after =
        |name| words.windows(2).find(|pair| pair[0] == name).map_or(0, |pair| pair[1].parse().unwrap_or(0));
    (after("orphan"), after("mem"))
}

fn connections_end_with_the_run() -> Result<(), HostsError> {
    let mut plan = plan(1.0);
    plan.flows = vec![FlowPlan { samples: None, rounds: false, ..tcp("cubic", BULK) }; 200];
    let before = left_behind();
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(20), lose_one_of: 0 })?;
    let after = left_behind();
    println!("{before:?} before, {after:?} after (orphans, pages)");
    assert!(ran.outcome.tcp_memory_share.is_some_and(|share| share > 0.0 && share < 1.0));
    assert!(after.0 - before.0 < 100, "of 200 connections with data that was not sent");
    Ok(())
}

fn a_thousand_paced_flows() -> Result<(), HostsError> {
    let mut plan = plan(3.0);
    plan.warm_up = Instant::ZERO + Duration::from_secs_f64(1.0);
    plan.flows = vec![FlowPlan { samples: None, rounds: false, ..tcp("cubic", BULK) }; 1000];
    for flow in &mut plan.flows {
        options(flow).pacing = Rate::from_bps(1_000_000);
    }
    let ran = run(plan, Wire::default())?;
    let total: f64 = ran.outcome.flows.iter().filter_map(|flow| flow.row.goodput_bps).sum();
    let share = |cpu_s: f64| 100.0 * cpu_s / 3.0;
    println!(
        "{:.3} Gbit/s; {} packets sent again, late {:.3} s at most; {:.0} % of a CPU (senders), {:.0} % (receivers)",
        total / 1e9,
        ran.outcome.flows.iter().filter_map(|flow| flow.row.retransmissions).sum::<u64>(),
        ran.outcome.senders_latest_s,
        share(ran.outcome.senders_cpu_s[0]),
        share(ran.outcome.receivers_cpu_s[0])
    );
    assert!((0.1e9..1.5e9).contains(&total), "{total} bit/s");
    assert_eq!(ran.outcome.devices_dropped, Some(0));
    Ok(())
}

const ONE_BYTE: &str = r#"{"name": "transfer", "sizes": [1]}"#;

fn transfer_sizes(persistent: bool) -> Result<(), HostsError> {
    let sizes = [0, 1, 1448, 1449, 1_000_000, 3_000_001, 7];
    let mut plan = plan(3.0);
    plan.flows.push(tcp("cubic", &format!(r#"{{"name": "transfer", "sizes": {sizes:?}}}"#)));
    options(&mut plan.flows[0]).persistent = persistent;
    let ran = run_until_done(plan, Wire { delay: std::time::Duration::from_millis(3), lose_one_of: 0 })?;
    let found: Vec<u64> = ran.transfers.iter().filter_map(|row| row.size_bytes).collect();
    assert_eq!(found, sizes);
    let bytes: u64 = sizes.iter().sum();
    assert_eq!(ran.outcome.received_bytes, bytes);
    assert_eq!(ran.outcome.flows[0].arrived_bytes, Some(bytes));
    for (number, row) in ran.transfers.iter().enumerate() {
        let took = row.completion_s.expect("complete") - row.start_s;
        let round_trips =
            f64::from(u8::from(!persistent || number == 0)) + f64::from(u8::from(sizes[number] > 0));
        assert!((round_trips * 0.006..2.0).contains(&took), "{took} s for {row:?}");
        assert_eq!(row.transfer, number as u32);
        let (least, syn) = (sizes[number].div_ceil(1448), u64::from(!persistent || number == 0));
        assert!((least..=2 * least + syn + 1).contains(&(row.packets_sent - row.retransmissions)), "{row:?}");
    }
    let pairs = ran.transfers.windows(2);
    assert!(pairs.into_iter().all(|pair| pair[0].completion_s.is_some_and(|end| end <= pair[1].start_s)));
    assert_eq!(ran.outcome.flows[0].failure, None);
    Ok(())
}

fn many_connections() -> Result<(), HostsError> {
    let mut plan = plan(6.0);
    plan.flows.push(tcp("cubic", &format!(r#"{{"name": "transfer", "sizes": {:?}}}"#, vec![1; 5000])));
    plan.flows[0].samples = Some(Sampling::EachRoundTrip);
    options(&mut plan.flows[0]).persistent = false;
    let ran = run_until_done(plan, Wire::default())?;
    let complete = ran.transfers.iter().filter_map(|row| row.completion_s).count();
    println!("{complete} connections in {:?} s", ran.transfers.last().and_then(|row| row.completion_s));
    assert_eq!(ran.outcome.flows[0].failure, None);
    assert!(complete > 1000, "{complete}"); // a busy machine may not come to the end
    assert!(complete == 5000 || ran.transfers.len() == complete + 1);
    assert!(ran.transfers.iter().all(|row| row.size_bytes == Some(1)));
    let row = &ran.outcome.flows[0].row;
    assert!(row.packets_sent.is_some_and(|packets| packets >= 2 * complete as u64), "{row:?}");
    assert!(ran.outcome.flows[0]
        .arrived_bytes
        .is_some_and(|bytes| (0..=1).contains(&(bytes - complete as u64))));
    Ok(())
}

fn on_off() -> Result<(), HostsError> {
    for begins in ["on", "off"] {
        let workload = format!(
            r#"{{"name": "on_off", "size": {{"name": "exponential", "mean": 5e4}}, "size_granularity": 1,
            "off": {{"name": "exponential", "mean": 0.02}}, "begins": "{begins}"}}"#
        );
        let mut plan = plan(2.0);
        plan.flows.push(FlowPlan { seed: 42, ..tcp("reno", &workload) });
        let ran = run(plan, Wire { delay: std::time::Duration::from_millis(2), lose_one_of: 0 })?;
        let Source::Transfers(mut source) = source(&workload) else { unreachable!("closed loop") };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
        assert!(ran.transfers.len() > 20, "{} transfers", ran.transfers.len());
        assert_eq!(ran.transfers[0].start_s > 1e-6, begins == "off");
        let mut completed = 0.0;
        for row in &ran.transfers {
            let drawn = source.next(&mut random).expect("there is always one");
            assert_eq!(row.size_bytes, drawn.bytes);
            assert!((row.start_s - completed - drawn.wait.as_secs_f64()).abs() < 1e-6, "{row:?}");
            completed = row.completion_s.unwrap_or(f64::NAN);
        }
    }
    Ok(())
}

fn on_off_bulk() -> Result<(), HostsError> {
    let workload = r#"{"name": "on_off_bulk", "on": {"name": "exponential", "mean": 0.1},
        "off": {"name": "exponential", "mean": 0.05}, "begins": "on"}"#;
    for persistent in [true, false] {
        let mut plan = plan(2.0);
        plan.flows.push(FlowPlan { seed: 42, ..tcp("reno", workload) });
        options(&mut plan.flows[0]).persistent = persistent;
        let ran = run(plan, Wire { delay: std::time::Duration::from_millis(2), lose_one_of: 0 })?;
        assert_eq!(ran.outcome.flows[0].failure, None);
        let Source::Transfers(mut source) = source(workload) else { unreachable!("closed loop") };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
        assert!(ran.transfers.len() > 4, "{} transfers", ran.transfers.len());
        for row in &ran.transfers {
            let drawn = source.next(&mut random).expect("there is always one");
            let lasts = drawn.lasts.expect("a time is drawn").as_secs_f64();
            // Nothing ends before its time; a busy machine may be late with what is left then.
            let took = row.completion_s.unwrap_or(2.0) - row.start_s;
            assert!(row.completion_s.is_none() || (lasts..lasts + 1.0).contains(&took), "{lasts}: {row:?}");
            assert!(row.size_bytes.is_some_and(|bytes| lasts < 0.02 || bytes > 0), "{row:?}");
        }
    }
    Ok(())
}

fn open_loop() -> Result<(), HostsError> {
    let workload = r#"{"name": "open_loop", "size": {"name": "constant", "value": 20000}, "size_granularity": 1,
        "arrivals_per_s": 200}"#;
    for persistent in [true, false] {
        let mut plan = plan(1.5);
        plan.flows = vec![tcp("cubic", BULK), FlowPlan { seed: 7, ..tcp("cubic", workload) }];
        plan.flows[0].start = Instant::ZERO + Duration::from_secs_f64(1.4);
        options(&mut plan.flows[1]).persistent = persistent;
        let ran = run(plan, Wire { delay: std::time::Duration::from_millis(10), lose_one_of: 0 })?;
        let mut rows: Vec<_> = ran.transfers.iter().filter(|row| row.flow > 0).collect();
        rows.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
        let Source::Arrivals(mut source) = source(workload) else { unreachable!("open loop") };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        let mut drawn = 0.0;
        for row in &rows {
            drawn += source.next(&mut random).gap.as_secs_f64();
            assert!((row.start_s - drawn).abs() < 1e-5, "{row:?}, drawn {drawn}");
            assert_eq!(row.size_bytes, Some(20_000));
        }
        let complete = rows.iter().filter(|row| row.completion_s.is_some()).count();
        let connections = ran.outcome.flows.len() - 1;
        println!("{} arrivals, {complete} complete, on {connections} connections at once", rows.len());
        assert!((200..400).contains(&rows.len()), "{} arrivals", rows.len()); // 300, standard deviation 17
        assert!(complete + 100 > rows.len() && connections < complete / 2);
        assert!(ran.outcome.flows.iter().skip(1).all(|flow| flow.plan == 1));
    }
    Ok(())
}

fn cbr() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.warm_up = Instant::ZERO + Duration::from_secs_f64(0.5);
    for rate in [1_000_000_u64, 10_000_000, 100_000_000] {
        plan.flows.push(flow(&format!(r#"{{"name": "cbr", "rate": {rate}}}"#), Transport::Datagrams));
    }
    let ran = run(plan, Wire::default())?;
    for (outcome, rate) in ran.outcome.flows.iter().zip([1e6, 1e7, 1e8]) {
        let row = &outcome.row;
        let expected = rate * 1.5 / (8.0 * f64::from(PACKET_BYTES));
        let sent = row.packets_sent.expect("counted") as f64;
        println!(
            "{rate:.0e} bit/s: {sent} datagrams of {expected:.1}, {:?} bit/s, delay {:?} s, at most {:?}",
            row.throughput_bps, row.mean_one_way_delay_s, row.max_one_way_delay_s
        );
        // What is due and not sent, or sent and not received, when the warm-up or the run ends, by a machine that is busy.
        let latest_s = ran.outcome.senders_latest_s + row.max_one_way_delay_s.expect("measured");
        let late = 2.0 + rate * latest_s / (8.0 * f64::from(PACKET_BYTES));
        assert!((sent - expected).abs() <= late, "{sent} datagrams, {expected}");
        let arrived = row.throughput_bps.expect("counted") * 1.5 / (8.0 * f64::from(PACKET_BYTES));
        assert!((arrived - sent).abs() <= late, "{arrived} of {sent}");
        assert!(row.mean_one_way_delay_s.is_some_and(|delay| delay > 0.0 && delay <= latest_s));
        assert_eq!(outcome.refused, 0);
    }
    assert_eq!(ran.outcome.receivers_dropped, Some(0));
    Ok(())
}

fn losses() -> Result<(), HostsError> {
    let mut plan = plan(4.0);
    plan.flows.push(tcp("reno", BULK));
    plan.mtu = PACKET_BYTES;
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(10), lose_one_of: 200 })?;
    let row = &ran.outcome.flows[0].row;
    println!(
        "{} packets, {} sent again, {:?} recoveries, {:?} timeouts, mean cwnd {:?}, RTT {:?}, {} rounds",
        row.packets_sent.unwrap_or(0),
        row.retransmissions.unwrap_or(0),
        row.loss_events,
        row.timeouts,
        row.mean_cwnd_packets,
        row.mean_rtt_s,
        ran.rounds.len()
    );
    assert!(row.retransmissions.is_some_and(|packets| packets > 0));
    let stalled = ran.outcome.senders_latest_s > 0.05; // a busy machine: recoveries may have passed unseen
    assert!(row.loss_events.map_or(stalled, |events| events > 0));
    assert!(row.min_rtt_s.is_some_and(|rtt| (0.020..0.025).contains(&rtt)), "{row:?}");
    let lost = ran.rounds.iter().filter(|round| round.lost).count();
    assert!(lost > 0 && lost < ran.rounds.len() / 2, "{lost} of {} rounds had losses", ran.rounds.len());
    // Windows are all that was sent, but for the round under way; rounds follow each other and last a round trip.
    let windows: u64 = ran.rounds.iter().map(|round| u64::from(round.window_packets)).sum();
    let sent = row.packets_sent.expect("counted");
    assert!(windows <= sent && windows + 3000 > sent, "{windows} of {sent} packets");
    let span = ran.rounds[ran.rounds.len() - 1].start_s - ran.rounds[0].start_s;
    let mean_round = span / (ran.rounds.len() - 1) as f64;
    let tolerance = if stalled { 0.5 } else { 0.15 };
    assert!(
        (mean_round / row.mean_rtt_s.expect("measured") - 1.0).abs() < tolerance,
        "{mean_round} s, {row:?}"
    );
    assert!(ran.rounds.iter().enumerate().all(|(number, round)| round.round == number as u64));
    Ok(())
}

/// Packets of 1,460,000 bytes in segments of 1,448 or 1,460, and the FIN; where the sender waits for its application, a segment is
/// not full.
const WITH_TIMESTAMPS: RangeInclusive<u64> = 1010..=1018;
const WITHOUT_TIMESTAMPS: RangeInclusive<u64> = 1001..=1009;

fn sysctls() -> Result<(), HostsError> {
    let packets = |values: &[(&str, &str)]| {
        let mut plan = plan(1.0);
        plan.flows.push(tcp("cubic", r#"{"name": "transfer", "sizes": [1460000]}"#));
        plan.pairs[0] = values.iter().map(|&(name, value)| (name.into(), value.into())).collect();
        let ran = run(plan, Wire::default())?;
        Ok::<_, HostsError>(ran.transfers[0].packets_sent - ran.transfers[0].retransmissions)
    };
    // Timestamps take 12 of 1460 bytes.
    let with = packets(&[("net.ipv4.tcp_timestamps", "1")])?;
    let without = packets(&[("net.ipv4.tcp_timestamps", "0"), ("net.ipv4.tcp_sack", "0")])?;
    println!("1460000 bytes: {with} packets with timestamps, {without} without");
    assert!(WITHOUT_TIMESTAMPS.contains(&without), "{without}");
    assert!(WITH_TIMESTAMPS.contains(&with), "{with}");
    packets(&[("net.ipv4.tcp_rmem", "4096 65536 65536"), ("net.ipv4.tcp_wmem", "4096 16384 65536")])?;
    packets(&[("net.ipv4.tcp_ecn", "1"), ("net.ipv4.tcp_slow_start_after_idle", "0")]).map(drop)
}

fn pairs() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows = vec![tcp("cubic", r#"{"name": "transfer", "sizes": [1460000]}"#); 4];
    plan.pairs = ["1", "0"].map(|value| vec![("net.ipv4.tcp_timestamps".into(), value.into())]).into();
    plan.flows[1].pair = 1;
    plan.flows[3].pair = 1;
    let ran = run_until_done(plan, Wire::default())?;
    let packets = |flow| {
        let row = ran.transfers.iter().find(|row| row.flow == flow).expect("it was done");
        row.packets_sent - row.retransmissions
    };
    for flow in 0..4 {
        let expected = if flow % 2 == 0 { WITH_TIMESTAMPS } else { WITHOUT_TIMESTAMPS };
        assert!(expected.contains(&packets(flow)), "flow {flow}: {} packets", packets(flow));
    }
    let rows: Vec<u32> = ran.outcome.flows.iter().map(|flow| flow.row.flow).collect();
    assert_eq!((rows, ran.outcome.senders_cpu_s.len()), (vec![0, 1, 2, 3], 2));
    assert_eq!(ran.outcome.received_bytes, 4 * 1_460_000);
    Ok(())
}

fn streams() -> Result<(), HostsError> {
    let mut plan = plan(3.0);
    plan.flows = vec![tcp("reno", r#"{"name": "transfer", "sizes": [300000, 200000]}"#); 2];
    options(&mut plan.flows[0]).streams = 3;
    let ran = run_until_done(plan, Wire::default())?;
    let mut transfers: Vec<_> =
        ran.transfers.iter().filter(|row| row.flow == 0).map(|row| (row.transfer, row.size_bytes)).collect();
    transfers.sort_unstable();
    let expected: Vec<_> =
        (0..6).map(|number| (number, Some(if number < 3 { 300_000 } else { 200_000 }))).collect();
    assert_eq!(transfers, expected);
    assert_eq!(ran.outcome.flows.iter().filter(|flow| flow.plan == 0).count(), 3);
    assert_eq!(ran.transfers.iter().filter(|row| row.flow == 1).count(), 2);
    assert_eq!(ran.outcome.received_bytes, 4 * 500_000);
    Ok(())
}

fn limits() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows = vec![tcp("cubic", BULK); 3];
    options(&mut plan.flows[0]).pacing = Rate::from_bps(20_000_000);
    options(&mut plan.flows[1]).receive_buffer = Some(64 << 10);
    options(&mut plan.flows[2]).send_buffer = Some(64 << 10);
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(10), lose_one_of: 0 })?;
    let [paced, receive, send] = &ran.outcome.flows[..] else { panic!("three flows") };
    for flow in [paced, receive, send] {
        println!("{:.1} Mbit/s, {:?}", flow.row.goodput_bps.unwrap_or(0.0) / 1e6, flow.limited);
    }
    let goodput = paced.row.goodput_bps.expect("counted");
    assert!((12e6..25e6).contains(&goodput), "{goodput} bit/s");
    let most = f64::from(64 << 10) * 8.0 / 0.020; // a window a round trip
    for flow in [receive, send] {
        assert!(
            flow.row.goodput_bps.is_some_and(|goodput| goodput > 1e6 && goodput < most),
            "{:?}",
            flow.row
        );
    }
    let share = |part: Option<f64>, flow: &parshall_hosts::FlowOutcome| {
        part.expect("this kernel says") / flow.limited.busy_s.expect("this kernel says")
    };
    assert!(share(receive.limited.receive_window_s, receive) > 0.5, "{:?}", receive.limited);
    assert!(share(send.limited.send_buffer_s, send) > 0.5, "{:?}", send.limited);
    assert!(share(send.limited.receive_window_s, send) < 0.1, "{:?}", send.limited);
    Ok(())
}

fn initial_windows() -> Result<(), HostsError> {
    let mut plan = plan(0.5);
    plan.flows = vec![tcp("reno", BULK); 3];
    options(&mut plan.flows[1]).initial_window = Some(2);
    options(&mut plan.flows[2]).initial_window = Some(30);
    let ran = run(plan, Wire { delay: std::time::Duration::from_millis(20), lose_one_of: 0 })?;
    for (flow, packets) in [(0, 10), (1, 2), (2, 30)] {
        let first = ran.rounds.iter().find(|round| round.flow == flow).expect("a round");
        assert_eq!((first.round, first.window_packets), (0, packets));
    }
    Ok(())
}

fn packet_size() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.flows = vec![tcp("cubic", r#"{"name": "transfer", "sizes": [524000]}"#); 2];
    plan.flows[1].packet_bytes = 576; // 524 of them payload, 12 timestamps
    let ran = run_until_done(plan, Wire::default())?;
    let packets = |flow: u32| {
        ran.transfers.iter().find(|row| row.flow == flow).map(|row| row.packets_sent - row.retransmissions)
    };
    assert!(packets(0).is_some_and(|packets| (363..=365).contains(&packets)), "{:?}", packets(0));
    assert!(packets(1).is_some_and(|packets| (1001..=1003).contains(&packets)), "{:?}", packets(1));
    Ok(())
}

fn warm_up() -> Result<(), HostsError> {
    let mut plan = plan(2.0);
    plan.warm_up = Instant::ZERO + Duration::from_secs_f64(1.0);
    plan.flows = vec![tcp("cubic", BULK); 2];
    options(&mut plan.flows[0]).pacing = Rate::from_bps(10_000_000);
    options(&mut plan.flows[1]).pacing = Rate::from_bps(10_000_000);
    plan.flows[1].start = Instant::ZERO + Duration::from_secs_f64(1.5);
    let Ran { outcome, .. } = run(plan, Wire::default())?;
    let goodput = |flow: usize| outcome.flows[flow].row.goodput_bps.expect("counted");
    println!("{:.2} and {:.2} Mbit/s", goodput(0) / 1e6, goodput(1) / 1e6);
    assert!((6e6..13e6).contains(&goodput(0)), "{}", goodput(0));
    assert!((3e6..7e6).contains(&goodput(1)), "{}", goodput(1)); // half of the second
    let sent = outcome.flows[0].row.packets_sent.expect("counted");
    assert!((500..1100).contains(&sent), "{sent} packets"); // 863 a second
    assert!((outcome.flows[1].row.start_s - 1.5).abs() < 1e-9);
    Ok(())
}
