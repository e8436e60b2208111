//! Times of TCP flows, computed by hand: see `network/tests.rs` for what links and propagation take.

use super::TcpFlow;
use crate::network::Network;
use crate::testing::{drop_tail, exchanges, link, run, scenario, tcp_group, MS};
use parshall_units::{Duration, Instant};
use serde_json::{json, Value};

/// One flow over a link of this rate.
fn alone(rate_bps: u64, group: Value, duration_ms: u64) -> Network {
    run(&scenario(&[link("link", rate_bps, &drop_tail(100))], &[group], duration_ms), 0)
}

fn flow(network: &Network) -> &TcpFlow {
    &network.endpoints.tcp.flows[0]
}

fn sends(packets: &[u64]) -> Value {
    let sizes: Vec<u64> = packets.iter().map(|packets| packets * 1460).collect();
    tcp_group("flow", 1, &json!({"name": "transfer", "sizes": sizes}))
}

fn us(time: u64) -> Instant {
    Instant::from_ps(time * MS / 1000)
}

#[test]
fn slow_start_sends_two_packets_for_each_ack() {
    // At 1 Gbit/s a packet takes 12 us. The ACKs of the first 10 packets come from 100.012 ms on, each 12 us; each lets two
    // packets go, which take 24 us: so from 24.5 ms later the link is busy for 20 * 12 us. The last ACK is 75.5 ms later.
    let network = alone(1_000_000_000, sends(&[30]), 1000);
    assert_eq!(flow(&network).application.begun, us(100_012 + 24_500 + 20 * 12 + 75_500));
    // The last packet came 9 * 12 us after the first of these, and 19 are before it.
    assert_eq!(network.links[0].notes.delays.max(), Some(Duration::from_ps((19 - 9) * 12_000_000)));
}

#[test]
fn a_delayed_ack_waits_for_the_second_packet_or_for_its_timer() {
    for (packets, delay_us) in [(1, 40_000), (2, 12_000), (3, 24_000 + 40_000)] {
        let mut group = sends(&[packets]);
        group["tcp"]["delayed_ack"] = json!(40 * MS);
        // The first packet would be acknowledged at 112 ms.
        let network = alone(1_000_000, group, 1000);
        assert_eq!(flow(&network).application.begun, us(112_000 + delay_us), "{packets}");
    }
}

#[test]
fn a_handshake_takes_a_round_trip() {
    let mut group = sends(&[1]);
    group["tcp"]["handshake"] = json!(true);
    // The SYN has 40 bytes, so it takes 0.32 ms.
    let network = alone(1_000_000, group, 1000);
    assert_eq!(flow(&network).application.begun, us(100_320 + 112_000));
    assert_eq!(flow(&network).sender.statistics().syns, 1);
}

/// `tcp_rcv_synsent_state_process`: the ACK of the SYN-ACK is a packet of its own, ahead of the first data.
#[test]
fn the_ack_that_ends_a_handshake_of_linux_takes_its_place_in_the_queue() {
    let mut group = sends(&[1]);
    group["tcp"]["handshake"] = json!(true);
    group["tcp"]["rules"] = json!(parshall_tcp::Rules::LINUX);
    let mut network = alone(1_000_000, group.clone(), 1000);
    assert_eq!(flow(&network).application.begun, us(100_320 + 320 + 112_000), "40 bytes, as the SYN");
    assert_eq!(network.links[0].link.measured(us(1_000_000)).0.forwarded, 3);
    assert_eq!(flow(&network).sender.statistics().packets_sent, 2, "the SYN and one of data");
    assert_eq!(flow(&network).delivered_measured(), 1460);
}

/// `tcp_try_undo_spurious_syn`: with timestamps a transfer takes as long as if the timer of the SYN had waited for the answer.
#[test]
fn timeouts_of_syns_that_are_only_late_cost_linux_nothing() {
    for (timestamps, equal) in [(true, true), (false, false)] {
        let [hasty, patient] = [1, 30].map(|seconds| {
            let mut group = sends(&[100]);
            group["rtt_ps"] = json!({"constant": 2500 * MS});
            group["tcp"]["handshake"] = json!(true);
            group["tcp"]["rules"] = json!(parshall_tcp::Rules::LINUX);
            group["tcp"]["timestamps"] = json!(timestamps);
            group["tcp"]["initial_rto"] = json!(seconds * 1000 * MS);
            let network = alone(1_000_000_000, group, 60_000);
            let statistics = flow(&network).sender.statistics();
            assert_eq!(statistics.timeouts, if seconds == 1 { 2 } else { 0 });
            flow(&network).application.begun
        });
        assert!(hasty >= patient && (hasty == patient) == equal, "{timestamps}: {hasty:?}, {patient:?}");
    }
}

#[test]
fn a_transfer_follows_another_when_that_is_acknowledged() {
    let network = alone(1_000_000, sends(&[1, 1, 2]), 1000);
    let flow = flow(&network);
    assert_eq!((flow.application.index, flow.application.begun), (3, us(112_000 + 112_000 + 124_000)));
    assert_eq!(flow.delivered_measured(), 4 * 1460);
}

#[test]
fn the_last_packet_of_a_transfer_is_as_long_as_what_is_left() {
    let group = tcp_group("flow", 1, &json!({"name": "transfer", "sizes": [1460 + 100]}));
    let mut network = alone(1_000_000, group, 1000);
    assert_eq!(flow(&network).application.begun, us(112_000 + 140 * 8));
    assert_eq!(network.links[0].link.measured(us(1_000_000)).0.forwarded_bytes, 1500 + 140);
}

#[test]
fn timeouts_are_twice_as_long_each_time() {
    let mut lost = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[sends(&[1])], 8000);
    lost["links"][0]["loss"] = json!({"name": "bernoulli", "probability": 1.0});
    // The first after 1 s, then 2 s and 4 s later; the next one would be at 15 s.
    for (duration_ms, timeouts) in
        [(1000, 0), (1001, 1), (3000, 1), (3001, 2), (7000, 2), (7001, 3), (15_000, 3)]
    {
        lost["duration_ps"] = json!(duration_ms * MS);
        let network = run(&lost, 0);
        let statistics = flow(&network).sender.statistics();
        assert_eq!(
            (statistics.timeouts, statistics.packets_sent),
            (timeouts, 1 + timeouts),
            "{duration_ms} ms"
        );
    }
}

#[test]
fn the_queue_of_the_access_link_drops_within_the_host() {
    let mut group = sends(&[10]);
    group["access_bps"] = json!(1_000_000);
    group["access_packets"] = json!(4);
    let mut network = alone(10_000_000, group, 200);
    assert_eq!(flow(&network).dropped, 6);
    assert_eq!(network.links[0].link.measured(us(100_000)).0.arrivals, 4);
}

#[test]
fn each_arrival_of_an_open_loop_takes_an_idle_connection_or_a_new_one() {
    let sizes = json!({"name": "constant", "value": 1460.0});
    let mut group = tcp_group(
        "open",
        1,
        &json!(
            {"name": "open_loop", "size": sizes, "size_granularity": 1, "arrivals_per_s": 20.0}
        ),
    );
    let busy = alone(100_000_000, group.clone(), 5000);
    group["rtt_ps"] = json!({"constant": 3 * MS});
    let idle = alone(100_000_000, group, 5000);
    let transfers = |network: &Network| -> u32 {
        network.endpoints.tcp.flows.iter().map(|flow| flow.application.index).sum()
    };
    // The same arrivals; they overlap if they take 100 ms each, and rarely if they take 3 ms.
    assert!((80..120).contains(&transfers(&busy)), "{}", transfers(&busy));
    assert!(transfers(&idle) - transfers(&busy) <= 5);
    let connections = [&busy, &idle].map(|network| network.endpoints.tcp.flows.len());
    assert!(connections[0] >= 5 && connections[1] <= 3, "{connections:?}");
    assert_eq!(busy.core.sink.flows as usize, connections[0]);
}

/// How many exchanges are over, and when the last one began, after so many milliseconds.
fn exchanged(group: &Value, rate_bps: u64, duration_ms: u64) -> (u32, Instant) {
    let links = [link("forth", rate_bps, &drop_tail(100)), link("back", 1_000_000, &drop_tail(100))];
    let network = run(&scenario(&links, std::slice::from_ref(group), duration_ms), 0);
    let exchange = flow(&network).exchange.as_ref().unwrap();
    (exchange.number, exchange.begun)
}

#[test]
fn an_exchange_takes_a_round_trip_and_what_links_take_with_request_and_response() {
    // The request takes 50 ms, the ACK of it 0.32 ms of the link that the response then takes 12 + 50 ms for; then the
    // client thinks for 10 ms.
    let mut group = tcp_group("asking", 1, &exchanges(292, 1460.0, 0.01));
    let exchange = 50_000 + 320 + 12_000 + 50_000;
    assert_eq!(exchanged(&group, 1_000_000, 1000), (8, us(8 * (exchange + 10_000))));
    // An ACK that is delayed goes with the response, too.
    group["tcp"]["delayed_ack"] = json!(40 * MS);
    assert_eq!(exchanged(&group, 1_000_000, 1000), (8, us(8 * (exchange + 10_000))));
    // 332 bytes of the request take 2.656 ms of the way back, behind 0.32 ms of the ACK of the response before, which goes with it.
    group["reverse_path"] = json!([1]);
    let (first, later) = (exchange + 2656 + 10_000, exchange + 2656 + 320 + 10_000);
    assert_eq!(exchanged(&group, 1_000_000, 1000), (8, us(first + 6 * later)));
    // A handshake of 40 bytes takes 0.32 ms each way, the first time.
    group["tcp"]["handshake"] = json!(true);
    let opening = 320 + 320 + 100_000;
    assert_eq!(exchanged(&group, 1_000_000, 1000), (7, us(opening + first + 6 * later)));
}

#[test]
fn a_host_of_linux_takes_its_time_once_with_the_acks_of_requests() {
    let mut group = tcp_group("asking", 1, &exchanges(292, 1460.0, 0.01));
    group["processing_ps"] = json!(5 * MS);
    group["tcp"]["rules"] = json!(parshall_tcp::Rules::LINUX);
    let answer_times = |network: &Network| -> Vec<Duration> {
        network.endpoints.tcp.groups.iter().map(|group| group.answer_time).collect()
    };
    // ACKs of responses cross no link; those of requests do, and take the time before it.
    assert_eq!(
        answer_times(&alone(1_000_000, group.clone(), 100)),
        [Duration::from_millis(5), Duration::ZERO]
    );
    group["reverse_path"] = json!([0]);
    assert_eq!(answer_times(&alone(1_000_000, group, 100)), [Duration::ZERO; 2]);
}

#[test]
fn requests_and_responses_have_windows_that_live_on() {
    // At 1 Gbit/s a packet takes 12 us, an ACK 0.32 us. As of a transfer of 30 packets, 10 and 20 of them take 100.012 + 24.5 +
    // 20 * 0.012 + 25.5 ms to the client. The first ACK of the 20 still found the window used, so the next time 21 go at once, and nine
    // with the ACKs of the first five of these.
    let mut group = tcp_group("asking", 1, &exchanges(292, 30.0 * 1460.0, 0.01));
    let first = us(50_000 + 100_012 + 24_500 + 240 + 25_500 + 10_000) + Duration::from_ps(320_000);
    assert_eq!(exchanged(&group, 1_000_000_000, 250), (1, first));
    let second = Duration::from_ps((50_000 + 100_012 + 24_500 + 108 + 25_500 + 10_000) * 1_000_000 + 320_000);
    assert_eq!(exchanged(&group, 1_000_000_000, 500), (2, first + second));
    group["tcp"]["initial_window"] = json!(40);
    let at_once = us(50_000 + 24_500 + 360 + 25_500 + 10_000) + Duration::from_ps(320_000);
    assert_eq!(exchanged(&group, 1_000_000_000, 200), (1, at_once));
    // The same of requests, whose path has no links; their ACKs take 0.32 us each of the forward link.
    for (window, took) in [(10, 0.2), (40, 0.1)] {
        let mut group = tcp_group("asking", 1, &exchanges(30 * 1460, 1.0, 0.01));
        group["tcp"]["initial_window"] = json!(window);
        let (number, begun) = exchanged(&group, 1_000_000_000, 500);
        let each = begun.since(us(0)).as_secs_f64() / f64::from(number);
        assert!((each - took - 0.01).abs() < 0.000_05, "{each}");
    }
}

#[test]
fn exchanges_go_on_whatever_is_lost() {
    let mut group = tcp_group("asking", 4, &exchanges(3000, 20_000.0, 0.05));
    group["reverse_path"] = json!([1]);
    group["rtt_ps"] = json!({"constant": 20 * MS});
    group["tcp"]["delayed_ack"] = json!(40 * MS);
    group["tcp"]["handshake"] = json!(true);
    let links = [link("forth", 10_000_000, &drop_tail(20)), link("back", 1_000_000, &drop_tail(20))];
    let mut lossy = scenario(&links, &[group], 60_000);
    for link in [0, 1] {
        lossy["links"][link]["loss"] = json!({"name": "bernoulli", "probability": 0.05});
    }
    let network = run(&lossy, 0);
    let servers: Vec<&TcpFlow> =
        network.endpoints.tcp.flows.iter().filter(|flow| flow.exchange.is_some()).collect();
    assert_eq!((servers.len(), network.core.sink.flows), (4, 4), "clients have no numbers of their own");
    for server in servers {
        let number = server.exchange.as_ref().unwrap().number;
        assert!(number > 60, "{number}");
        let delivered = server.delivered_measured();
        assert!((u64::from(number)..=u64::from(number) + 1).contains(&(delivered / 20_000)), "{delivered}");
    }
}

#[test]
fn what_is_left_of_an_earlier_connection_is_not_received() {
    let mut group = sends(&[1, 1]);
    group["tcp"]["initial_rto"] = json!(100 * MS);
    // Each packet is sent again 100 ms after it, too early, and acknowledged at 112 ms. So the first one sent again arrives when the
    // next connection is there; the second one is one of its own connection.
    let network = alone(1_000_000, group, 1000);
    assert_eq!(flow(&network).sender.statistics().packets_sent, 4);
    assert_eq!(flow(&network).received, 3 * 1500);
}

#[test]
fn an_ack_that_waits_goes_first_when_the_mark_changes() {
    for (threshold, acks) in [(100, 1), (1, 2)] {
        let mut group = sends(&[2]);
        for key in ["ecn", "accurate_ecn"] {
            group["tcp"][key] = json!(true);
        }
        group["tcp"]["delayed_ack"] = json!(40 * MS);
        group["congestion_control"] = json!({"name": "dctcp", "gain": 0.0625, "initial_alpha": 1.0});
        group["reverse_path"] = json!([1]);
        // The second packet finds the first one. If that marks it, each has an ACK of its own (RFC 8257 §3.2).
        let step = json!({"name": "step", "limit": {"packets": 9}, "threshold": threshold});
        let links = [link("forth", 1_000_000, &step), link("back", 1_000_000, &drop_tail(9))];
        let mut network = run(&scenario(&links, &[group], 1000), 0);
        assert_eq!(network.links[1].link.measured(us(1_000_000)).0.arrivals, acks, "{threshold}");
    }
}

#[test]
fn a_lost_syn_costs_the_initial_window() {
    // The packet of a flow that began 2 ms before is in transmission when the SYN comes.
    let mut connects = sends(&[10]);
    connects["tcp"]["handshake"] = json!(true);
    connects["start_ps"] = json!({"constant": 2 * MS});
    let lost = scenario(&[link("link", 1_000_000, &drop_tail(1))], &[sends(&[1]), connects], 1200);
    let network = run(&lost, 0);
    // The second SYN goes a second later, and is answered 100.32 ms after that: then one packet goes (RFC 5681 §3.1).
    let statistics = network.endpoints.tcp.flows[1].sender.statistics();
    assert_eq!((statistics.syns, statistics.packets_sent), (2, 2 + 1));
}

#[test]
fn delays_are_those_of_data() {
    let mut group = sends(&[1]);
    group["tcp"]["handshake"] = json!(true);
    let mut measured = scenario(&[link("link", 1_000_000, &drop_tail(9))], &[group], 1000);
    measured["probes"]["latency"] = json!(true);
    // 24.5 + 12 + 1 + 24.5 ms
    assert_eq!(run(&measured, 0).engine.core.sink.latency.unwrap().of(0).mean_s(), Some(0.062));
}

#[test]
fn a_mark_is_echoed_and_a_syn_answered_on_a_contended_way_back() {
    let mut group = sends(&[20]);
    group["reverse_path"] = json!([1]);
    group["tcp"]["handshake"] = json!(true);
    group["tcp"]["ecn"] = json!(true);
    let step = json!({"name": "step", "limit": {"packets": 99}, "threshold": 1});
    let links = [link("forth", 1_000_000, &step), link("back", 1_000_000, &drop_tail(99))];
    let network = run(&scenario(&links, &[group], 3000), 0);
    let statistics = flow(&network).sender.statistics();
    assert_eq!((flow(&network).application.index, statistics.timeouts, statistics.syns), (1, 0, 1));
    assert!(statistics.ecn_reductions > 0);
}

/// Transfers of 30 packets with pauses of 5 s between them.
fn with_pauses(persistent: bool) -> Network {
    let size = json!({"name": "constant", "value": 30.0 * 1460.0});
    let off = json!({"name": "constant", "value": 5.0});
    let mut group = tcp_group(
        "pauses",
        1,
        &json!({"name": "on_off", "size": size, "size_granularity": 1, "off": off, "begins": "on"}),
    );
    group["tcp"]["persistent"] = json!(persistent);
    alone(1_000_000_000, group, 9000)
}

#[test]
fn a_pause_takes_the_window_to_the_restart_window() {
    for persistent in [true, false] {
        let network = with_pauses(persistent);
        let flow = flow(&network);
        // One transfer ended; the next began 5 s later, and ended after the same two round trips: RFC 5681 §4.1.
        assert_eq!(flow.application.index, 2);
        let once = Duration::from_ps((100_012 + 24_500 + 20 * 12 + 75_500) * MS / 1000);
        assert_eq!(flow.application.begun, us(0) + once + Duration::from_secs(5) + once, "{persistent}");
    }
}

#[test]
fn an_ssthresh_that_is_kept_is_where_the_next_connection_starts_from() {
    // In slow start the queue drops the last packets of the second round trip; from an ssthresh, it drops nothing.
    for (cached, losses) in [("off", 2), ("last", 1)] {
        let mut group = sends(&[60, 60]);
        group["tcp"]["receive_window"] = json!(20);
        group["tcp"]["ssthresh_cached"] = json!(cached);
        let network = run(&scenario(&[link("link", 1_000_000_000, &drop_tail(10))], &[group], 3000), 0);
        let flow = flow(&network);
        assert_eq!((flow.application.index, flow.sender.statistics().loss_events), (2, losses), "{cached}");
    }
}
