//! Jitter held against arithmetic: what `tc netem` does to each packet, computed by hand.

use crate::measured::Measured;
use crate::network::Network;
use crate::testing::{
    datagram_group, drop_tail, everything_with_jitter, exchanges, link, read, run, scenario, tcp_group,
    uniform_jitter, MS,
};
use crate::{Arrival, Direction, Monitor, Simulation};
use parshall_net::ecn::Ecn;
use parshall_records::Tables;
use parshall_tcp::Rules;
use parshall_units::{Duration, Instant};
use serde_json::{json, Value};

const PACKETS: u32 = 20_000;
/// D sqrt(n) of Kolmogorov and Smirnov's test that one in a thousand exceeds.
const CRITICAL: f64 = 1.95;

/// When packets that are sent each 100 us arrive, by their numbers, s; over links of 12 Gbit/s, so that each is there
/// 101 ms + 1 us after it is sent, but for jitter.
fn arrivals(scenario: &Value, direction: Direction) -> Vec<f64> {
    let mut simulation = Simulation::begin(&read(scenario), 0, Tables::none()).unwrap();
    let mut arrived = vec![f64::NAN; PACKETS as usize];
    for slot in 0..PACKETS {
        let at = Instant::from_ps(u64::from(slot) * MS / 10);
        simulation.advance(at, &Monitor::default()).unwrap();
        simulation
            .hand_in(at, &Arrival { flow: 0, direction, bytes: 1500, ecn: Ecn::NotCapable, dscp: 0, slot });
    }
    simulation.advance(Instant::MAX, &Monitor::default()).unwrap();
    while let Some(delivery) = simulation.take_due(Instant::MAX) {
        arrived[delivery.slot as usize] = delivery.at.as_secs_f64();
    }
    arrived
}

/// A packet's own time, s, where each would be there after `delay` without.
fn own_times(scenario: &Value, direction: Direction, delay_s: f64) -> Vec<f64> {
    let arrived = arrivals(scenario, direction);
    arrived.iter().enumerate().map(|(number, at)| at - number as f64 * 1e-4 - delay_s).collect()
}

/// One flow from outside, with an RTT of 200 ms over a link of 1 ms.
fn outside() -> Value {
    let mut group = tcp_group("outside", 1, &json!({"name": "bulk"}));
    group["external"] = json!(true);
    group["rtt_ps"] = json!({"constant": 200 * MS});
    scenario(&[link("link", 12_000_000_000, &drop_tail(100))], &[group], 30_000)
}

/// The largest distance between the distribution of values and a distribution function, times the root of their number.
fn distance(values: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let gaps = sorted.iter().enumerate().map(|(i, &x)| {
        let expected = cdf(x);
        (expected - i as f64 / n).abs().max(((i + 1) as f64 / n - expected).abs())
    });
    gaps.fold(0.0, f64::max) * n.sqrt()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt())
}

fn exponential_jitter(order: &str) -> Value {
    json!({"distribution": {"name": "exponential", "mean": 0.005}, "order": order})
}

fn exponential(mean_s: f64) -> impl Fn(f64) -> f64 {
    move |x| if x > 0.0 { 1.0 - libm::exp(-x / mean_s) } else { 0.0 }
}

#[test]
fn the_delays_of_packets_have_the_declared_distribution() {
    let mut of_link = outside();
    of_link["links"][0]["jitter"] = exponential_jitter("free");
    let mut of_group = outside();
    of_group["flows"][0]["jitter"] = exponential_jitter("free");
    let mut back = outside();
    back["flows"][0]["reverse_jitter"] = exponential_jitter("free");
    for (scenario, direction, delay_s) in [
        (of_link, Direction::Forward, 0.1 + 1e-6),
        (of_group, Direction::Forward, 0.1 + 1e-6),
        (back, Direction::Reverse, 0.1),
    ] {
        let times = own_times(&scenario, direction, delay_s);
        let found = distance(&times, exponential(0.005));
        assert!(found < CRITICAL, "{found}");
        let (mean, deviation) = moments(&times);
        let error = 0.005 / f64::from(PACKETS).sqrt(); // of the mean; of the deviation it is sqrt(2) times that
        assert!(
            (mean - 0.005).abs() < 4.0 * error && (deviation - 0.005).abs() < 6.0 * error,
            "{mean} {deviation}"
        );
        let wrong = distance(&times, exponential(0.00525));
        assert!(wrong > CRITICAL, "a mean that is wrong by 5 % would be found: {wrong}");
    }
}

#[test]
fn neighbours_change_places_as_the_closed_form_says() {
    // U(0, J) each, d apart: (1 - d/J)^2 / 2, with J = 1 ms, d = 0.1 ms times the distance of their numbers.
    let mut free = outside();
    free["links"][0]["jitter"] = uniform_jitter(1, "free");
    let arrived = arrivals(&free, Direction::Forward);
    for apart in [1, 4, 9, 10] {
        let pairs = arrived.len() - apart;
        let overtaken = (0..pairs).filter(|&first| arrived[first + apart] < arrived[first]).count();
        let expected = (1.0 - apart as f64 / 10.0).powi(2) / 2.0;
        let found = overtaken as f64 / pairs as f64;
        // Pairs that share a packet are not independent: their number counts for a half at least.
        let error = (expected * (1.0 - expected) / (pairs as f64 / 2.0)).sqrt();
        assert!((found - expected).abs() <= 4.0 * error, "{apart} apart: {found}, not {expected}");
    }
}

#[test]
fn kept_order_is_a_queue_of_waiting_packets() {
    let (mut free, mut kept) = (outside(), outside());
    free["links"][0]["jitter"] = exponential_jitter("free");
    kept["links"][0]["jitter"] = exponential_jitter("kept");
    let (free, kept) = (arrivals(&free, Direction::Forward), arrivals(&kept, Direction::Forward));
    // The same stream: what leaves first without order is what packets wait for with it.
    let mut latest = 0.0;
    for (free, kept) in free.iter().zip(&kept) {
        latest = f64::max(latest, *free);
        assert_eq!(*kept, latest);
    }
    assert!(free != kept);
}

fn events(jitter: Option<(&str, Value)>) -> (u64, u64) {
    let mut one =
        scenario(&[link("link", 10_000_000, &drop_tail(1000))], &[datagram_group("d", 1, 4_000_000)], 2000);
    if let Some((place, jitter)) = jitter {
        if place == "link" {
            one["links"][0]["jitter"] = jitter;
        } else {
            one["flows"][0]["jitter"] = jitter;
        }
    }
    let network = run(&one, 0);
    (network.events, network.endpoints.datagrams.flows[0].received / 500)
}

#[test]
fn free_order_costs_an_event_a_packet_and_kept_order_none() {
    let (plain, _) = events(None);
    for place in ["link", "own"] {
        assert_eq!(events(Some((place, uniform_jitter(3, "kept")))).0, plain);
        let (free, received) = events(Some((place, uniform_jitter(3, "free"))));
        // One each ms, and 4.5 ms to the receiver: some have come to the end of their jitter, and have not arrived, when it ends.
        assert!((plain + received..plain + received + 8).contains(&free), "{free}: {plain} and {received}");
    }
}

/// Goodput of the first flow, and what is left of the packets that were events.
fn carried(network: &Network) -> f64 {
    let kinds = network.endpoints.kinds();
    kinds[0].totals(0, &Measured::of(&network.core, &network.links)).unwrap().goodput_bps.unwrap()
}

#[test]
fn transfers_arrive_whole_whatever_overtakes_what() {
    for (recovery, rules) in [
        ("tahoe", Rules::RFC),
        ("reno", Rules::RFC),
        ("newreno", Rules::RFC),
        ("sack", Rules::RFC),
        ("rack", Rules::RFC),
        ("rack", Rules::LINUX),
    ] {
        for (jitter, reverse) in
            [("free", None), ("kept", Some("free")), ("free", Some("free")), ("free", Some("kept"))]
        {
            let mut group = tcp_group("one", 2, &json!({"name": "transfer", "sizes": [1_460_000, 730_000]}));
            group["tcp"]["recovery"] = json!(recovery);
            group["tcp"]["rules"] = json!(rules);
            group["tcp"]["handshake"] = json!(true);
            group["tcp"]["delayed_ack"] = json!(40 * MS);
            group["jitter"] = uniform_jitter(30, jitter);
            group["reverse_jitter"] = reverse.map_or(Value::Null, |order| uniform_jitter(30, order));
            let mut all = scenario(&[link("link", 5_000_000, &drop_tail(20))], &[group], 600_000);
            all["ends_with"] = json!([0]);
            let network = run(&all, 0);
            assert!(
                network.core.end < Instant::from_ps(500_000 * MS),
                "{recovery} {rules:?} {jitter} {reverse:?}"
            );
            for flow in &network.endpoints.tcp.flows {
                assert_eq!(flow.delivered_measured(), 2_190_000, "{recovery} {rules:?} {jitter} {reverse:?}");
            }
        }
    }
}

#[test]
fn requests_and_responses_take_turns_whatever_overtakes_what() {
    for reverse_path in [json!([]), json!([1])] {
        let mut group = tcp_group("asking", 1, &exchanges(8_000, 20_000.0, 0.0));
        group["reverse_path"] = reverse_path;
        group["jitter"] = uniform_jitter(30, "free");
        group["reverse_jitter"] = uniform_jitter(30, "free");
        let links = [link("forth", 5_000_000, &drop_tail(100)), link("back", 5_000_000, &drop_tail(100))];
        let network = run(&scenario(&links, &[group], 20_000), 0);
        let [server, client] = &network.endpoints.tcp.flows[..] else { panic!() };
        let (asked, answered) = (client.delivered_measured() / 8_000, server.delivered_measured() / 20_000);
        assert!(answered > 30 && (asked == answered || asked == answered + 1), "{asked} {answered}");
    }
}

#[test]
fn what_overtakes_is_no_loss_to_a_controlled_flow_of_datagrams() {
    let mut group = datagram_group("media", 1, 1);
    group["workload"] = json!({"name": "rate_controlled"});
    group["congestion_control"] = json!({"name": "tfrc", "intervals": 8});
    group["jitter"] = uniform_jitter(2, "free");
    let network = run(&scenario(&[link("link", 5_000_000, &drop_tail(500))], &[group], 10_000), 0);
    let flow = &network.endpoints.datagrams.flows[0];
    let (heard, received) = (&flow.feedback().unwrap().heard, flow.received);
    assert!(heard.reports > 300 && received > 0, "{heard:?}");
    assert_eq!(flow.dropped, 0);
}

#[test]
fn the_end_waits_for_packets_that_wait_for_others() {
    let mut group = datagram_group("d", 1, 400_000);
    group["jitter"] = json!({"distribution": {"name": "constant", "value": 3.0}, "order": "kept"});
    let network = run(&scenario(&[link("link", 5_000_000, &drop_tail(500))], &[group], 1_000), 0);
    assert!(network.all_delivered(Instant::from_ps(500 * MS)) > Instant::from_ps(3_900 * MS));
}

#[test]
fn a_packet_that_never_comes_takes_no_memory() {
    let mut group = datagram_group("d", 1, 400_000);
    group["jitter"] = json!({"distribution": {"name": "constant", "value": 1e18}, "order": "free"});
    let network = run(&scenario(&[link("link", 5_000_000, &drop_tail(500))], &[group], 1_000), 0);
    assert_eq!(network.core.jittered.most(), 0);
    assert_eq!(network.endpoints.datagrams.flows[0].received, 0);
}

#[test]
fn all_kinds_of_flows_cross_all_kinds_of_jitter() {
    let network = run(&everything_with_jitter(), 0);
    assert!(carried(&network) > 1e5);
    assert!(network.core.jittered.latest() < network.core.end + Duration::from_millis(1000));
}

// --- recoveries that were needless ---

/// Reno whose window is that of the receiver, 50 packets, over a link whose queue holds them all: nothing is ever lost.
fn unhurt(rules: Rules, timestamps: bool, jitter: &Value) -> Network {
    let mut group = tcp_group("late", 4, &json!({"name": "bulk"}));
    group["tcp"]["recovery"] = json!("rack");
    group["tcp"]["rules"] = json!(rules);
    group["tcp"]["timestamps"] = json!(timestamps);
    group["tcp"]["receive_window"] = json!(50);
    group["jitter"] = jitter.clone();
    run(&scenario(&[link("link", 40_000_000, &drop_tail(1000))], &[group], 60_000), 0)
}

/// Of all flows: retransmissions, timeouts, packets dropped, and how many have a finite ssthresh: of a reduction that was not undone.
fn harm(network: &Network) -> (u64, u64, u64, usize) {
    let (flows, group) = (&network.endpoints.tcp.flows, &network.endpoints.tcp.groups[0]);
    let sum = |count: fn(&parshall_tcp::Statistics) -> u64| {
        flows.iter().map(|flow| count(flow.sender.statistics())).sum()
    };
    let reduced = flows.iter().filter(|flow| flow.sender.info(&group.tcp).ssthresh.is_finite()).count();
    (
        sum(|count| count.retransmissions),
        sum(|count| count.timeouts),
        flows.iter().map(|flow| flow.dropped).sum(),
        reduced,
    )
}

/// One packet in 2,000 is 400 to 500 ms late, and holds up all behind it.
fn spikes() -> Value {
    let points = json!([[0.0, 0.9995], [0.4, 0.9995], [0.5, 1.0]]);
    json!({"distribution": {"name": "empirical", "points": points}, "order": "kept"})
}

#[test]
fn linux_undoes_what_packets_led_to_that_were_only_overtaken() {
    let late = uniform_jitter(80, "free");
    for timestamps in [true, false] {
        let (retransmissions, _, dropped, reduced) = harm(&unhurt(Rules::LINUX, timestamps, &late));
        assert!(retransmissions > 0 && dropped == 0, "{retransmissions}");
        // By Eifel at once; D-SACK comes a round trip after the retransmission, so one may be under way when it ends.
        assert!(reduced <= usize::from(!timestamps), "{reduced} of 4 with timestamps {timestamps}");
    }
    let (retransmissions, _, dropped, reduced) = harm(&unhurt(Rules::RFC, true, &late));
    assert!((retransmissions > 0, dropped, reduced) == (true, 0, 4), "{retransmissions} {dropped} {reduced}");
}

#[test]
fn linux_undoes_timeouts_of_packets_that_were_only_late() {
    for timestamps in [true, false] {
        let (_, timeouts, dropped, reduced) = harm(&unhurt(Rules::LINUX, timestamps, &spikes()));
        assert!(timeouts > 10 && dropped == 0, "{timeouts}");
        assert_eq!(reduced, 0, "by F-RTO, and with timestamps by Eifel: {timestamps}");
    }
    let (_, timeouts, dropped, reduced) = harm(&unhurt(Rules::RFC, true, &spikes()));
    assert!(timeouts > 10 && (dropped, reduced) == (0, 4), "{timeouts} {dropped} {reduced}");
}
