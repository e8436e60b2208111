//! Times and counts of whole networks, computed by hand.
//!
//! Unless something else is said: links propagate for 1 ms, RTTs are 100 ms, so a flow has four propagation segments of
//! its own, of (100 - 1 - 1) / 4 = 24.5 ms; a packet of 1500 bytes takes 12 ms at 1 Mbit/s; hosts take no time.

mod departure;

use crate::measured::Measured;
use crate::network::Network;
use crate::results::link_row;
use crate::shared::{awaited_is_done, Core, Shared};
use crate::testing::{
    datagram_group, drop_tail, everything, link, network, read, run, scenario, tcp_group, MS,
};
use crate::{build, Monitor};
use parshall_engine::random::Streams;
use parshall_engine::Entity;
use parshall_net::link::{Label, Link, Offered, Outcome};
use parshall_net::queues::QueueConfig;
use parshall_net::rate::Transmitter;
use parshall_records::LinkRow;
use parshall_tcp::Rules;
use parshall_units::{Duration, Instant, Rate};
use serde_json::{json, Value};

const MBIT: u64 = 1_000_000;

/// So many tenths of a millisecond after the beginning.
fn at(tenths: u64) -> Instant {
    Instant::from_ps(tenths * MS / 10)
}

fn transfer(bytes: &[u64]) -> Value {
    json!({"name": "transfer", "sizes": bytes})
}

/// When the last transfer of each TCP flow was complete.
fn completed(network: &Network) -> Vec<Instant> {
    network.endpoints.tcp.flows.iter().map(|flow| flow.application.begun).collect()
}

fn advance(network: &mut Network, until: Instant) {
    network.advance(until, &Monitor::default()).unwrap();
}

fn one_link(flows: &[Value], duration_ms: u64) -> Value {
    scenario(&[link("link", MBIT, &drop_tail(100))], flows, duration_ms)
}

#[test]
fn the_times_of_one_packet() {
    let mut group = tcp_group("one", 1, &transfer(&[1460]));
    group["access_bps"] = json!(10 * MBIT);
    let mut alone = one_link(&[group], 1000);
    alone["probes"]["latency"] = json!(true);
    let mut network = network(&alone, 0);
    assert_eq!(network.next_event().unwrap().0, at(0), "the transfer begins");
    advance(&mut network, at(1));
    let (reaches_link, entity) = network.next_event().unwrap();
    assert_eq!(reaches_link, at(12 + 245), "1.2 ms on the access link, and the first propagation segment");
    assert!(matches!(entity, Entity::Transit(_, 0)));
    advance(&mut network, reaches_link);
    assert_eq!(
        network.next_event().unwrap().0,
        reaches_link,
        "what happens before that moment has happened, no more"
    );
    advance(&mut network, at(12 + 245 + 120));
    network.links[0].link.advance(at(257 + 120));
    assert_eq!(network.links[0].link.queued(), 1, "its last bit leaves now");
    network.links[0].link.advance(at(257 + 120) + Duration::from_ps(1));
    assert_eq!(network.links[0].link.queued(), 0);
    advance(&mut network, Instant::MAX);
    // 12 ms of transmission, 1 ms of propagation, the second propagation segment; back: two segments, and the 1 ms of the way there.
    let (one_way, back) = (12 + 245 + 120 + 10 + 245, 245 + 10 + 245);
    assert_eq!(completed(&network), [at(one_way + back)]);
    assert_eq!(network.core.sink.latency.as_ref().unwrap().of(0).mean_s(), Some(one_way as f64 / 1e4));
    let rtt = network.endpoints.tcp.flows[0].sender.statistics().min_rtt();
    assert_eq!(rtt, Some(Duration::from_ps((one_way + back) * MS / 10)));
}

#[test]
fn the_host_takes_its_time_and_keeps_the_order() {
    let mut group = tcp_group("ten", 1, &transfer(&[10 * 1460]));
    group["processing_ps"] = json!(5 * MS);
    let mut ten = scenario(&[link("link", 1000 * MBIT, &drop_tail(100))], &[group], 1000);
    ten["flows"][0]["access_bps"] = json!(null);
    let mut network = network(&ten, 0);
    let mut arrivals = |until| {
        advance(&mut network, until);
        network.links[0].link.measured(until).0.arrivals
    };
    // Ten draws from 0 to 5 ms; the largest so far, as none overtakes another.
    assert_eq!(arrivals(at(245)), 0);
    let early = arrivals(at(245 + 10));
    assert!(early < 10, "{early}");
    assert_eq!(arrivals(at(245 + 50)), 10);
    advance(&mut network, Instant::MAX);
    let statistics = network.endpoints.tcp.flows[0].sender.statistics();
    assert_eq!((statistics.packets_sent, statistics.loss_events), (10, 0), "no ACK told of a gap");
}

/// One draw for ten packets that Linux sends at once, and each later packet has its own.
#[test]
fn what_linux_sends_at_once_leaves_the_host_at_once() {
    let mut group = tcp_group("twenty", 1, &transfer(&[20 * 1460]));
    group["processing_ps"] = json!(5 * MS);
    group["tcp"]["rules"] = json!(Rules::LINUX);
    let mut network = network(&scenario(&[link("link", 1000 * MBIT, &drop_tail(100))], &[group], 1000), 0);
    let arrivals: Vec<u64> = (245..=295)
        .map(|until| {
            advance(&mut network, at(until));
            network.links[0].link.measured(at(until)).0.arrivals
        })
        .collect();
    assert_eq!((arrivals[0], arrivals[50]), (0, 10));
    assert!(arrivals.iter().all(|&packets| packets == 0 || packets == 10), "{arrivals:?}");
    advance(&mut network, Instant::MAX);
    assert_eq!(network.endpoints.tcp.flows[0].sender.statistics().packets_sent, 20);
}

/// Forty transfers of a packet each: its host and that of its ACK take up to 5 ms each.
#[test]
fn a_host_of_linux_takes_its_time_with_acks_too() {
    let first_and_last = |rules: Rules| {
        let mut group = tcp_group("forty", 40, &transfer(&[1460]));
        group["processing_ps"] = json!(5 * MS);
        group["tcp"]["rules"] = json!(rules);
        let mut network =
            network(&scenario(&[link("link", 1000 * MBIT, &drop_tail(100))], &[group], 1000), 0);
        advance(&mut network, Instant::MAX);
        let done = completed(&network);
        assert_eq!(done.len(), 40);
        let first = *done.iter().min().unwrap();
        (first, *done.iter().max().unwrap())
    };
    let (data, both) = (first_and_last(Rules::RFC), first_and_last(Rules::LINUX));
    let ms = |(first, last): (Instant, Instant)| last.since(first).as_secs_f64() * 1e3;
    assert!((4.0..5.1).contains(&ms(data)), "{data:?}");
    assert!((6.5..10.1).contains(&ms(both)), "{both:?}");
}

#[test]
fn two_flows_wait_in_the_order_in_which_they_come() {
    for (starts, order) in [([0, 2], [0, 1]), ([2, 0], [1, 0])] {
        let mut group = tcp_group("two", 2, &transfer(&[1460]));
        group["start_ps"] = json!({"list": starts.map(|start| start * MS)});
        let mut network = network(&one_link(&[group], 1000), 0);
        advance(&mut network, at(300));
        network.links[0].link.advance(at(300));
        assert_eq!(network.links[0].link.queued(), 2);
        advance(&mut network, Instant::MAX);
        // The first leaves at 24.5 + 12 ms; the second came 2 ms after it and waits for 10 ms.
        let after = 10 + 245 + 500;
        let expected = [at(365 + after), at(365 + 120 + after)];
        assert_eq!(order.map(|flow: usize| completed(&network)[flow]), expected);
        let delays = &network.links[0].notes.delays;
        assert_eq!(
            (delays.count(), delays.max(), delays.mean_s()),
            (2, Some(Duration::from_millis(10)), Some(0.005))
        );
    }
}

#[test]
fn a_full_queue_drops_the_one_that_comes_later() {
    let mut group = tcp_group("two", 2, &transfer(&[1460]));
    group["start_ps"] = json!({"list": [0, 2 * MS]});
    let mut full = one_link(&[group], 500);
    full["links"][0]["queue"] = drop_tail(1);
    let network = run(&full, 0);
    let dropped: Vec<u64> = network.endpoints.tcp.flows.iter().map(|flow| flow.dropped).collect();
    assert_eq!(dropped, [0, 1]);
}

#[test]
fn acks_wait_in_the_queue_of_their_own_way() {
    let mut group = tcp_group("two packets", 1, &transfer(&[2 * 1460]));
    group["reverse_path"] = json!([1]);
    // An ACK of 40 bytes takes 16 ms at 20 kbit/s.
    let links = [link("forth", MBIT, &drop_tail(10)), link("back", 20_000, &drop_tail(10))];
    let mut network = run(&scenario(&links, &[group], 1000), 0);
    // Data leaves at 36.5 and 48.5 ms, is received 25.5 ms later, and acknowledged on the way back another 24.5 ms later.
    let acks = [365 + 255 + 245, 485 + 255 + 245];
    let left = [acks[0] + 160, acks[0] + 2 * 160]; // the second comes 4 ms too soon
    assert_eq!(completed(&network), [at(left[1] + 10 + 245)]);
    let statistics = network.endpoints.tcp.flows[0].sender.statistics();
    assert_eq!(statistics.min_rtt(), Some(Duration::from_ps((left[0] + 10 + 245) * MS / 10)));
    let row = network.endpoints.kinds()[0].totals(0, &Measured::of(&network.core, &network.links)).unwrap();
    assert_eq!(row.rtt_base_s, Some(0.1), "the links of both ways are part of it");
    let back = link_row(&mut network.links[1], Instant::ZERO, at(10_000));
    assert_eq!((back.arrivals_packets, back.forwarded_bytes), (2, 80));
    assert_eq!(network.links[1].notes.delays.max(), Some(Duration::from_millis(4)));
}

#[test]
fn acks_that_a_queue_drops_are_made_up_for_by_the_next() {
    let mut group = tcp_group("ten packets", 1, &transfer(&[10 * 1460]));
    group["reverse_path"] = json!([1]);
    let links = [link("forth", MBIT, &drop_tail(10)), link("back", 20_000, &drop_tail(1))];
    let network = run(&scenario(&links, &[group], 1000), 0);
    // ACKs come each 12 ms and take 16 ms: every second one finds the link busy, and the tenth is dropped. So the last
    // packet is sent again by the timer.
    let (flow, back) = (&network.endpoints.tcp.flows[0], &network.links[1].link);
    let statistics = flow.sender.statistics();
    assert_eq!((statistics.packets_sent, statistics.retransmissions, statistics.timeouts), (11, 1, 1));
    assert_eq!(flow.dropped, 0, "no data is lost");
    let mut back = back.clone();
    let (counts, _) = back.measured(at(10_000));
    assert_eq!((counts.arrivals, counts.dropped), (11, 5));
}

#[test]
fn a_flow_that_starts_late() {
    let mut late = tcp_group("late", 1, &transfer(&[1460]));
    late["start_ps"] = json!({"constant": 1234 * MS});
    let mut network = network(&one_link(&[late], 2000), 0);
    assert_eq!(network.next_event().unwrap().0, at(12_340));
    advance(&mut network, Instant::MAX);
    assert_eq!(completed(&network), [at(12_340 + 1120)]);
    network.end().unwrap();
    let row = network.endpoints.kinds()[0].totals(0, &Measured::of(&network.core, &network.links)).unwrap();
    assert_eq!((row.start_s, row.packets_sent), (1.234, Some(1)));
}

#[test]
fn a_flow_that_starts_after_the_end_sends_nothing() {
    for start in [2000, 3000] {
        let mut never = tcp_group("never", 1, &transfer(&[1460]));
        never["start_ps"] = json!({"constant": start * MS});
        let mut network = network(&one_link(&[never], 2000), 0);
        assert!(network.next_event().is_none());
        network.end().unwrap();
        assert_eq!(network.links[0].link.measured(at(20_000)).0.arrivals, 0);
        let row =
            network.endpoints.kinds()[0].totals(0, &Measured::of(&network.core, &network.links)).unwrap();
        assert_eq!(row.start_s, 2.0, "it had not come by the end");
    }
}

#[test]
fn what_arrives_at_the_end_is_not_counted() {
    // The packet is received at 62 ms, and acknowledged at 112 ms.
    for (end_ps, delivered, acknowledged) in
        [(62 * MS, 0, 0), (62 * MS + 1, 1460, 0), (112 * MS, 1460, 0), (112 * MS + 1, 1460, 1)]
    {
        let mut short = one_link(&[tcp_group("one", 1, &transfer(&[1460]))], 1000);
        short["duration_ps"] = json!(end_ps);
        let network = run(&short, 0);
        let flow = &network.endpoints.tcp.flows[0];
        assert_eq!(
            (flow.delivered_measured(), flow.application.index),
            (delivered, acknowledged),
            "{end_ps}"
        );
    }
}

#[test]
fn acks_do_not_overtake_each_other_in_their_host() {
    let mut group = tcp_group("ten", 1, &transfer(&[10 * 1460]));
    group["reverse_path"] = json!([1]);
    group["processing_ps"] = json!(5 * MS);
    let links = [link("forth", 1000 * MBIT, &drop_tail(100)), link("back", MBIT, &drop_tail(100))];
    let mut network = network(&scenario(&links, &[group], 1000), 0);
    advance(&mut network, at(300));
    let acks = &network.endpoints.tcp.flows[0].acks;
    assert_eq!(acks.len(), 10);
    assert!(acks.iter().map(|(ack, _)| ack.at).is_sorted());
}

#[test]
fn the_end_waits_for_the_flow_that_is_done_last_whoever_says_so_first() {
    let mut core = Core::new(at(0), at(10_000), Shared::new(0));
    core.sink.wait_for(2);
    awaited_is_done(&mut core, at(50));
    awaited_is_done(&mut core, at(30));
    assert_eq!(core.queue.peek().map(|(when, _)| when), Some(at(50)));
}

#[test]
fn a_host_may_hold_packets_when_the_last_link_is_idle() {
    let reserve = |processing_ps| {
        let mut group = tcp_group("group", 1, &transfer(&[1460]));
        group["processing_ps"] = json!(processing_ps);
        network(&one_link(&[group], 1000), 0).all_delivered(at(7))
    };
    assert_eq!(reserve(5 * MS), reserve(0) + Duration::from_millis(5));
}

#[test]
fn the_end_comes_when_all_is_delivered_that_was_under_way() {
    let awaited = tcp_group("awaited", 1, &transfer(&[1460]));
    let mut datagrams = datagram_group("others", 1, 40_000); // each 100 ms
    datagrams["rtt_ps"] = json!({"constant": 42 * MS});
    let mut ends = one_link(&[awaited, datagrams], 5000);
    ends["ends_with"] = json!([0]);
    let mut network = network(&ends, 0);
    advance(&mut network, Instant::MAX);
    let done = completed(&network)[0];
    // The datagram of 0 ms was before it in the queue until 10 + 4 ms; that of 100 ms has left at 114 ms and is at the link's end
    // a millisecond later: after the transfer, which is done at 112 ms. The longest segments are the 99 ms of the transfer.
    assert_eq!(done, at(1120));
    assert_eq!(network.core.end, at(1150 + 990) + Duration::from_ps(1));
}

#[test]
fn a_run_that_ends_with_its_transfers_is_one_that_was_asked_to_last_so_long() {
    let mut ends = everything();
    ends["ends_with"] = json!([4]);
    let ended = run(&ends, 0);
    assert!(ended.core.end < Instant::from_ps(4000 * MS), "before its duration is over");
    let mut lasts = everything();
    lasts["duration_ps"] = json!(ended.core.end.as_ps());
    assert_eq!(totals(&mut run(&lasts, 0)), totals(&mut { ended }));
}

/// Each number of each row, as text.
fn totals(network: &mut Network) -> Vec<String> {
    let measured = Measured::of(&network.core, &network.links);
    let mut rows = Vec::new();
    for kind in network.endpoints.kinds() {
        let places = (0..).take_while(|&place| kind.id(place).is_some());
        rows.extend(places.map(|place| format!("{:?}", kind.totals(place, &measured))));
    }
    let (warm_up, end) = (network.core.warm_up, network.core.end);
    rows.extend(network.links.iter_mut().map(|state| format!("{:?}", link_row(state, warm_up, end))));
    rows
}

// --- the warm-up ---

/// Counts of all flows and links since the warm-up.
fn counted(warm_up_ms: u64, duration_ms: u64) -> Vec<u64> {
    let mut part = everything();
    (part["warm_up_ps"], part["duration_ps"]) = (json!(warm_up_ms * MS), json!(duration_ms * MS));
    let mut network = run(&part, 0);
    let span = (duration_ms - warm_up_ms) as f64 / 8e3;
    let measured = Measured::of(&network.core, &network.links);
    let mut counts = Vec::new();
    for kind in network.endpoints.kinds() {
        // (An open loop adds flows; those of the groups before it are in all three runs.)
        for place in (0..9).take_while(|&place| kind.id(place).is_some()) {
            let Some(row) = kind.totals(place, &measured) else { continue };
            let bytes =
                [row.goodput_bps, row.throughput_bps].map(|rate| (rate.unwrap() * span).round() as u64);
            counts.extend(bytes);
            if !row.congestion_control.is_empty() {
                // Datagrams are drawn one by one: of those sent when it ends, some are not, so their sums differ.
                counts.extend([row.packets_sent, row.retransmissions, row.timeouts].map(Option::unwrap));
            }
        }
    }
    let end = network.core.end;
    for state in &mut network.links {
        let row: LinkRow = link_row(state, Instant::from_ps(warm_up_ms * MS), end);
        counts.extend([row.arrivals_packets, row.arrivals_bytes, row.forwarded_packets, row.forwarded_bytes]);
        counts.extend([row.arrivals_in_packets, row.forwarded_in_packets].map(Option::unwrap_or_default));
    }
    counts
}

#[test]
fn a_run_is_the_sum_of_its_warm_up_and_the_rest() {
    for warm_up_ms in [1, 700, 1999] {
        let (all, before, after) = (counted(0, 2000), counted(0, warm_up_ms), counted(warm_up_ms, 2000));
        assert_eq!((before.len(), after.len()), (all.len(), all.len()));
        let sum: Vec<u64> = before.iter().zip(&after).map(|(before, after)| before + after).collect();
        assert_eq!(sum, all, "warm-up of {warm_up_ms} ms");
    }
}

#[test]
fn the_warm_up_ends_before_the_packets_of_that_moment() {
    // A datagram each 4 ms, which reaches the link 4.5 ms later and the receiver another 2 + 1 + 4.5 ms later.
    let mut regular =
        scenario(&[link("link", 2 * MBIT, &drop_tail(9))], &[datagram_group("d", 1, MBIT)], 3000);
    for (warm_up, sent, arrivals, delivered) in [
        (10_000, 500, 500, 500), // sent from 1000, arriving from 1000.5, delivered from 1000 ms on
        (10_001, 499, 500, 499),
        (10_005, 499, 500, 499),
        (10_006, 499, 499, 499),
    ] {
        regular["warm_up_ps"] = json!(warm_up * MS / 10);
        let mut network = run(&regular, 0);
        let counted = network.links[0].link.measured(at(30_000)).0.arrivals;
        let flow = &network.endpoints.datagrams.flows[0];
        assert_eq!((flow.sent, counted, flow.delivered), (sent, arrivals, delivered * 472), "{warm_up}");
        assert_eq!(network.links[0].notes.delays.count(), arrivals, "{warm_up}");
    }
    // A packet of TCP is received at 62 ms, and acknowledged at 112 ms.
    for (warm_up_ps, received, rtt) in [
        (62 * MS, 1500, Some(0.112)),
        (62 * MS + 1, 0, Some(0.112)),
        (112 * MS, 0, Some(0.112)),
        (112 * MS + 1, 0, None),
    ] {
        let mut one = one_link(&[tcp_group("one", 1, &transfer(&[1460]))], 1000);
        one["warm_up_ps"] = json!(warm_up_ps);
        let network = run(&one, 0);
        let flow = &network.endpoints.tcp.flows[0];
        assert_eq!((flow.received, flow.sender.statistics().mean_rtt_s()), (received, rtt), "{warm_up_ps}");
    }
}

// --- queues ---

/// Where packets go that are offered to a link that stands alone.
struct Alone {
    link: Link,
    random: parshall_engine::random::Stream,
    /// When it is asked for its next packet.
    busy_until: Option<Instant>,
}

impl Alone {
    fn transmit(&mut self, now: Instant) {
        let next = self.link.transmit(now, &mut self.random);
        self.busy_until = next.map_or_else(|| self.link.resumes(), |next| Some(next.departure));
        while self.link.take_dropped().is_some() {}
    }

    fn offer(&mut self, now: Instant, ticket: u32) {
        while let Some(free) = self.busy_until.filter(|&free| free < now) {
            self.transmit(free);
        }
        if self.link.offer(now, Offered::plain(500), &mut self.random) == Outcome::Waits {
            let label = Label { flow: 0, dscp: 0, ticket };
            self.link.hold(now, Offered::plain(500), label, &mut self.random);
            if self.link.is_busy() {
                while self.link.take_dropped().is_some() {}
            } else {
                self.transmit(now);
            }
        }
    }
}

#[test]
fn a_queue_does_in_the_network_what_it_does_alone() {
    let red = json!({
        "name": "red", "limit": {"packets": 40}, "min_threshold": 5, "max_threshold": 15, "max_probability": 0.1,
        "weight": 0.01, "gentle": true, "count_spacing": true, "ecn": false, "rule": "paper"
    });
    let pie = json!({
        "name": "pie", "limit": {"packets": 100}, "target": 15 * MS, "update_interval": 15 * MS, "alpha": 0.125, "beta": 1.25,
        "max_burst": 0, "derandomized": true, "ecn": false
    });
    let codel = json!({
        "name": "codel", "limit": {"packets": 100}, "target": 5 * MS, "interval": 100 * MS, "ecn": false
    });
    let fq_pie = json!({
        "name": "fq_pie", "limit": {"packets": 100}, "memory_limit": 1_000_000, "queues": 16, "quantum": 1500,
        "target": 15 * MS, "update_interval": 15 * MS, "alpha": 0.125, "beta": 1.25, "max_burst": 0, "ecn": false,
        "mark_up_to": 0.1
    });
    let shaper = json!({
        "name": "shaper", "rate": 650_000, "burst": 1000, "peak_rate": null,
        "queue": {"name": "drop_tail", "limit": {"packets": 40}}
    });
    for queue in [red, pie, codel, fq_pie, shaper] {
        // Datagrams of 500 bytes each 3.076923 ms reach the link 4.5 ms later; it needs 5.714286 ms for each.
        let name = queue["name"].clone();
        let regular = scenario(&[link("q", 700_000, &queue)], &[datagram_group("d", 1, 1_300_000)], 4000);
        let mut network = network(&regular, 0);
        let config: QueueConfig = serde_json::from_value(queue).unwrap();
        let loss = serde_json::from_value(json!({"name": "none"})).unwrap();
        let transmitter = Transmitter::constant(Rate::from_bps(700_000).unwrap());
        let mut alone = Alone {
            link: Link::new(transmitter, Duration::from_millis(1), &config, &loss),
            random: Streams::new(1, 0).stream("q", "link", 0),
            busy_until: None,
        };
        let mut packets = 0;
        while let Some((now, Entity::Transit(..))) = {
            // What is not an arrival is a departure, before the next arrival.
            while let Some((now, Entity::Transmission(_))) = network.next_event() {
                advance(&mut network, now + Duration::from_ps(1));
            }
            network.next_event()
        } {
            alone.offer(now, packets);
            advance(&mut network, now + Duration::from_ps(1));
            packets += 1;
            let mut state = network.links[0].link.clone();
            let (counts, expected) = (state.measured(now).0.clone(), alone.link.measured(now).0.clone());
            assert_eq!(format!("{counts:?}"), format!("{expected:?}"), "{name} at {now}");
        }
        let network = &mut network.engine;
        let counts = network.links[0].link.measured(network.core.end).0;
        assert_eq!(counts.arrivals, u64::from(packets));
        assert!(counts.dropped > 20 && counts.forwarded > 600, "{name}: {counts:?}");
        assert_eq!(
            network.endpoints.datagrams.flows[0].dropped, counts.dropped,
            "the flow hears of each drop"
        );
    }
}

#[test]
fn packets_are_conserved_at_any_moment() {
    let mut all = everything();
    all["warm_up_ps"] = json!(0);
    all["links"][0]["loss"] = json!({"name": "bernoulli", "probability": 0.02});
    let mut network = build::network(&read(&all), 0).unwrap();
    let mut seen = [0; 3];
    for step in 1..4000 {
        let now = Instant::from_ps(step * MS);
        advance(&mut network, now);
        for (state, seen) in network.links.iter_mut().zip(&mut seen) {
            let counts = state.link.measured(now).0.clone();
            let queued = state.link.queued();
            let gone = counts.forwarded + counts.dropped + counts.medium_losses;
            assert_eq!(counts.arrivals, gone + queued, "{} at {now}: {counts:?}", state.notes.name);
            *seen = counts.dropped;
        }
    }
    assert!(seen.iter().all(|&drops| drops > 0), "each queue has dropped something: {seen:?}");
}
