//! Packets are handed in and taken out as an emulator does it.

#![allow(clippy::disallowed_methods, reason = "files of the tests' own")]

use super::{Arrival, Delivery, Direction, HostTotals};
use crate::measured::Measured;
use crate::testing::{datagram_group, drop_tail, link, read, scenario, tcp_group, MS};
use crate::{simulate, Monitor, Simulation};
use etherparse::{IpEcn, IpNumber, Ipv4Header};
use parshall_net::ecn::Ecn;
use parshall_records::{FlowRow, Tables};
use parshall_units::{Duration, Instant};
use proptest::prelude::*;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;

fn external(mut group: Value) -> Value {
    group["external"] = json!(true);
    group
}

/// Flows of TCP, and this group of one flow, over a link of 3 Mbit/s and one of 2 Mbit/s.
fn mixed(mut others: Value) -> Value {
    let links = [link("a", 3_000_000, &drop_tail(10)), link("b", 2_000_000, &drop_tail(10))];
    let mut tcp = tcp_group("tcp", 2, &json!({"name": "bulk"}));
    for group in [&mut others, &mut tcp] {
        group["path"] = json!([0, 1]);
    }
    tcp["processing_ps"] = json!(MS); // so that no two packets come at the same moment
    others["access_bps"] = json!(5_000_000);
    scenario(&links, &[tcp, others], 3000)
}

/// Datagrams of 500 bytes each 4 ms.
fn datagrams() -> Value {
    datagram_group("others", 1, 1_000_000)
}

/// One external flow alone over one link of 2 Mbit/s with this queue, and an RTT of 20 ms.
fn alone(queue: &Value) -> Value {
    scenario(&[link("only", 2_000_000, queue)], &[external(datagrams())], 3000)
}

fn begin(scenario: &Value) -> Simulation {
    Simulation::begin(&read(scenario), 0, Tables::none()).unwrap()
}

fn advance(simulation: &mut Simulation, until: Instant) {
    simulation.advance(until, &Monitor::default()).unwrap();
}

fn ms(time: u64) -> Instant {
    Instant::from_ps(time * MS)
}

fn data(slot: u32) -> Arrival {
    Arrival { flow: 0, direction: Direction::Forward, bytes: 500, ecn: Ecn::NotCapable, dscp: 0, slot }
}

fn taken(simulation: &mut Simulation, by: Instant) -> Vec<Delivery> {
    std::iter::from_fn(|| simulation.take_due(by)).collect()
}

fn lost(simulation: &mut Simulation) -> Vec<u32> {
    std::iter::from_fn(|| simulation.take_lost()).collect()
}

fn counts(simulation: &mut Simulation) -> Vec<String> {
    let end = simulation.end();
    let links = simulation.network.links.iter_mut();
    links.map(|state| format!("{:?}", state.link.measured(end).0)).collect()
}

/// The row of the first flow of a kind, by the kind's place in the list.
fn row(simulation: &Simulation, kind: usize) -> FlowRow {
    simulation.network.endpoints.kinds()[kind]
        .totals(0, &Measured::of(&simulation.network.core, &simulation.network.links))
        .unwrap()
}

#[test]
fn packets_handed_in_one_by_one_meet_what_those_of_a_source_meet() {
    let mut source = begin(&mixed(datagrams()));
    let mut outside = begin(&mixed(external(datagrams())));
    advance(&mut source, Instant::MAX);
    let mut arrived = Vec::new();
    for number in 0..750 {
        let now = ms(number * 4);
        // As a clock of the real world has it: what is due, and some steps of nothing in between.
        for step in 1..=4 {
            advance(&mut outside, ms((4 * number + step).saturating_sub(4)));
        }
        arrived.extend(taken(&mut outside, now));
        outside.hand_in(now, &data(number as u32));
    }
    advance(&mut outside, Instant::MAX);
    assert_eq!(counts(&mut outside), counts(&mut source));
    let lost = lost(&mut outside);
    let (mine, other) = (row(&outside, 2), row(&source, 1));
    assert_eq!(mine.packets_dropped, other.packets_dropped);
    assert_eq!(mine.packets_dropped, Some(lost.len() as u64));
    assert_eq!((mine.throughput_bps, mine.packets_sent), (other.throughput_bps, other.packets_sent));
    assert!(lost.len() > 10 && arrived.len() > 500, "{} of 750, {} lost", arrived.len(), lost.len());
    assert!(arrived.is_sorted_by_key(|delivery| (delivery.at, delivery.slot)), "in their order");
    let info = outside.external_flow(0);
    assert_eq!(
        (info.group, info.number, info.packet_bytes),
        ("others", 2, 500),
        "numbered as any other flow"
    );
}

#[test]
fn a_packet_is_due_outside_when_its_path_is_behind_it() {
    let mut quiet = mixed(external(datagrams()));
    quiet["flows"].as_array_mut().unwrap().remove(0);
    let mut simulation = begin(&quiet);
    assert_eq!((simulation.next_deadline(), simulation.external_flows()), (None, 1));
    advance(&mut simulation, ms(7));
    simulation.hand_in(ms(7), &data(5));
    // RTT 20 ms, less 2 * (1 + 1) ms of the links: four segments of 4 ms. 0.8 ms on the access link.
    let first_link = ms(7) + Duration::from_ps(4800 * MS / 1000);
    assert_eq!((simulation.next_deadline(), simulation.next_due()), (Some(first_link), None));
    advance(&mut simulation, ms(500));
    // 4000 bits at 3 and at 2 Mbit/s, 1 ms of each link, and the second propagation segment.
    let transmissions = Duration::from_ps(1_333_333_333) + Duration::from_millis(2);
    let at = first_link + transmissions + Duration::from_millis(1 + 1 + 4);
    assert_eq!(simulation.next_due(), Some(at));
    assert_eq!(simulation.take_due(Instant::from_ps(at.as_ps() - 1)), None);
    let delivery = Delivery { at, flow: 0, direction: Direction::Forward, slot: 5, marked: false };
    assert_eq!((simulation.take_due(at), simulation.take_due(at)), (Some(delivery), None));
}

#[test]
fn the_way_back_is_a_delay_or_links() {
    let back = Arrival { direction: Direction::Reverse, ..data(1) };
    let mut uncontended = begin(&alone(&drop_tail(10)));
    uncontended.hand_in(ms(3), &back);
    assert_eq!(uncontended.next_deadline(), None, "it meets no link");
    assert_eq!(uncontended.take_due(ms(13)).map(|due| due.at), Some(ms(13)), "half of the RTT");
    let mut contended = alone(&drop_tail(10));
    contended["flows"][0]["reverse_path"] = json!([0]);
    let mut contended = begin(&contended);
    contended.hand_in(ms(3), &back);
    advance(&mut contended, ms(100));
    // Two segments of 4.5 ms, the link's 1 ms, and 2 ms of transmission.
    assert_eq!(contended.take_due(ms(100)).map(|due| due.at), Some(ms(15)));
}

#[test]
fn each_packet_says_itself_what_it_says_about_ecn() {
    let mut simulation = begin(&alone(&json!({"name": "step", "limit": {"packets": 100}, "threshold": 0})));
    for (slot, ecn) in Ecn::ALL.into_iter().enumerate() {
        simulation.hand_in(ms(0), &Arrival { ecn, ..data(slot as u32) });
    }
    advance(&mut simulation, ms(100));
    let due = taken(&mut simulation, ms(100));
    let marked: Vec<(u32, bool)> = due.iter().map(|delivery| (delivery.slot, delivery.marked)).collect();
    assert_eq!(marked.iter().map(|&(slot, _)| slot).collect::<Vec<_>>(), [0, 1, 2, 3]);
    assert!(!marked[0].1 && marked[1].1 && marked[2].1, "{marked:?}");
}

#[test]
fn a_queue_reads_the_dscp_of_each_packet() {
    use parshall_engine::TransitQueue;
    let mut simulation = begin(&alone(&drop_tail(10)));
    simulation.hand_in(ms(0), &Arrival { dscp: 46, ecn: Ecn::Ect1, ..data(0) });
    let queue = simulation.network.endpoints.external.packets(0, Direction::Forward);
    let (packet, slot) = queue.first();
    assert_eq!((queue.dscp(&packet), queue.ecn(&packet), slot, packet.bytes()), (46, Ecn::Ect1, 0, 500));
}

#[test]
fn a_host_loses_what_finds_its_own_queue_full() {
    let mut limited = alone(&drop_tail(100));
    limited["flows"][0]["access_bps"] = json!(1_000_000);
    limited["flows"][0]["access_packets"] = json!(3);
    let mut simulation = begin(&limited);
    (0..5).for_each(|slot| simulation.hand_in(ms(0), &data(slot)));
    assert_eq!(lost(&mut simulation), [4, 3]);
    advance(&mut simulation, ms(100));
    assert_eq!(taken(&mut simulation, ms(100)).len(), 3);
    assert_eq!(row(&simulation, 2).packets_dropped, Some(2));
}

#[test]
fn a_time_that_is_past_is_now() {
    let mut simulation = begin(&alone(&drop_tail(10)));
    advance(&mut simulation, ms(50));
    simulation.hand_in(ms(60), &data(0));
    simulation.hand_in(ms(10), &data(1));
    advance(&mut simulation, ms(20));
    assert_eq!(simulation.now(), ms(50));
    advance(&mut simulation, ms(200));
    let due = taken(&mut simulation, ms(200));
    assert_eq!(
        due.iter().map(|delivery| delivery.slot).collect::<Vec<_>>(),
        [0, 1],
        "in one direction, in order"
    );
    assert_eq!(due[0].at, ms(60 + 2 + 10), "transmission, and half of the RTT");
    simulation.stop_at(ms(7));
    // The RTT less the link's delay, both ways, and that link again; all that is under way has arrived by then.
    let end = simulation.end();
    assert!((ms(200)..ms(225)).contains(&end), "{end:?}");
    simulation.stop_at(ms(3000));
    assert_eq!(simulation.end(), end, "never later than it would");
}

#[test]
fn bursts_of_several_flows_that_come_together_stay_whole() {
    let flows = external(datagram_group("others", 2, 1_000_000));
    let mut simulation = begin(&scenario(&[link("only", 2_000_000, &drop_tail(10))], &[flows], 3000));
    for slot in 0..6 {
        simulation.hand_in(ms(5), &Arrival { flow: slot / 3, ..data(slot) });
    }
    advance(&mut simulation, ms(100));
    let due = taken(&mut simulation, ms(100));
    assert_eq!(due.iter().map(|delivery| delivery.slot).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

/// Time in us, length on the link and headers of the packets of a capture.
fn captured(path: &Path) -> Vec<(u64, u32, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let mut rest = &bytes[24..];
    let mut packets = Vec::new();
    while let Some((record, after)) = rest.split_first_chunk::<16>() {
        let word = |at: usize| u32::from_le_bytes(record[at..at + 4].try_into().unwrap());
        let (headers, next) = after.split_at(word(8) as usize);
        packets.push((
            u64::from(word(0)) * 1_000_000 + u64::from(word(4)) / 1000,
            word(12),
            headers.to_vec(),
        ));
        rest = next;
    }
    packets
}

#[test]
fn captures_have_the_headers_that_were_shown() {
    let mut watched = alone(&json!({"name": "step", "limit": {"packets": 100}, "threshold": 0}));
    watched["probes"]["pcap"] = json!([0]);
    let header = |length: u16| {
        let mut ip = Ipv4Header::new(length - 20, 64, IpNumber::UDP, [10, 1, 0, 1], [10, 2, 0, 1]).unwrap();
        ip.ecn = IpEcn::Ect0;
        ip.header_checksum = ip.calc_header_checksum();
        ip.to_bytes().to_vec()
    };
    for background in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let tables = Tables::create(directory.path(), 0, read(&watched).probes.tables()).unwrap();
        let mut simulation = Simulation::begin(&read(&watched), 0, tables).unwrap();
        assert!(simulation.is_captured() && !begin(&alone(&drop_tail(10))).is_captured());
        if background {
            simulation.capture_in_background().unwrap();
        }
        simulation.show(0, &header(500), 500);
        simulation.hand_in(ms(0), &Arrival { ecn: Ecn::Ect0, ..data(0) });
        simulation.show(1, &header(40), 40);
        simulation
            .hand_in(ms(3), &Arrival { direction: Direction::Reverse, bytes: 40, ecn: Ecn::Ect0, ..data(1) });
        advance(&mut simulation, ms(100));
        assert_eq!((taken(&mut simulation, ms(100)).len(), simulation.packets_left_out()), (2, 0));
        simulation.finish(&Monitor::default()).unwrap().1.finish().unwrap();
        let found = captured(&directory.path().join("captures/only.pcap"));
        // It leaves the link after half of the way but the link's delay, and 2 ms of transmission; the answer comes to it at the other end.
        let times: Vec<_> = found.iter().map(|&(at_us, bytes, _)| (at_us, bytes)).collect();
        assert_eq!(times, [(4500 + 2000, 500), (3000 + 4500 + 1000, 40)]);
        let (marked, _) = Ipv4Header::from_slice(&found[0].2).unwrap();
        assert_eq!(marked.ecn, IpEcn::CongestionExperienced);
        assert_eq!(marked.header_checksum, marked.calc_header_checksum());
        assert_eq!(found[1].2, header(40), "no queue has seen it");
    }
}

#[test]
fn what_the_hosts_know_is_in_the_rows() {
    let mut some = alone(&drop_tail(10));
    some["warm_up_ps"] = json!(1000 * MS);
    some["probes"]["latency"] = json!(true);
    some["flows"][0]["workload"] = json!({"name": "transfer", "sizes": [1000]});
    some["ends_with"] = json!([0]);
    let mut simulation = begin(&some);
    simulation.hand_in(ms(0), &data(0));
    advance(&mut simulation, ms(1500));
    simulation.hand_in(ms(1500), &data(1));
    simulation.record_rtt(0, Duration::from_millis(30));
    simulation.report(
        0,
        HostTotals { retransmissions: Some(7), goodput_bps: Some(1000.0), ..HostTotals::default() },
    );
    simulation.finished(0, ms(2000));
    simulation.finished(0, ms(2500));
    advance(&mut simulation, ms(2001));
    let span_s = simulation.end().as_secs_f64() - 1.0;
    assert!((1.0..1.1).contains(&span_s), "{span_s}: the end waits for what is under way");
    let row = row(&simulation, 2);
    assert_eq!((row.retransmissions, row.packets_sent, row.timeouts), (Some(7), Some(1), None));
    assert_eq!((row.goodput_bps, row.throughput_bps), (Some(1000.0), Some(4000.0 / span_s)));
    assert_eq!((row.rtt_p50_s, row.max_one_way_delay_s), (Some(0.03), Some(0.012)));
    simulation.finish(&Monitor::default()).unwrap();
}

#[test]
fn a_simulation_has_no_outside() {
    let refused = simulate(&read(&alone(&drop_tail(10))), 0, &mut Tables::none(), &Monitor::default());
    let problem = refused.unwrap_err().to_string();
    assert!(problem.starts_with("flows.0.external: its packets come from outside"), "{problem}");
}

#[test]
fn hosts_take_their_own_time() {
    let mut slow = alone(&drop_tail(10));
    slow["flows"][0]["processing_ps"] = json!(1);
    let problem = crate::check(&read(&slow)).unwrap_err().to_string();
    assert!(
        problem.starts_with("flows.0.processing_time: packets from outside come when they come"),
        "{problem}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever is handed in, and whenever, comes out once: due or lost, in order of time, and in its own order.
    #[test]
    fn every_packet_comes_out_once(
        packets in prop::collection::vec((0u64..20_000, 0u32..3, any::<bool>(), 20u32..3000), 1..200),
        steps in prop::collection::vec(0u64..3000, 1..50),
        late: bool,
        limit in 1u64..20,
    ) {
        let queue = if late {
            json!({"name": "codel", "limit": {"packets": limit}, "target": MS, "interval": 10 * MS, "ecn": false})
        } else {
            drop_tail(limit)
        };
        let mut group = external(datagram_group("all", 3, 1_000_000));
        group["reverse_path"] = json!([0]);
        group["rtt_ps"] = json!({"linear": {"first": 10 * MS, "step": 7 * MS}});
        let mut simulation = begin(&scenario(&[link("only", 2_000_000, &queue)], &[group], 10_000));
        let mut due = Vec::new();
        let mut now = Instant::ZERO;
        for (slot, &(at_us, flow, forward, bytes)) in packets.iter().enumerate() {
            now += Duration::from_ps(steps[slot % steps.len()] * 1_000_000);
            advance(&mut simulation, now);
            due.extend(taken(&mut simulation, now));
            let direction = if forward { Direction::Forward } else { Direction::Reverse };
            let arrival = Arrival { flow, direction, bytes, ..data(slot as u32) };
            simulation.hand_in(Instant::from_ps(at_us * 1_000_000), &arrival);
        }
        advance(&mut simulation, ms(9_999));
        due.extend(taken(&mut simulation, ms(9_999)));
        prop_assert!(due.is_sorted_by_key(|delivery| delivery.at));
        let mut last = BTreeMap::new();
        for delivery in &due {
            let before = last.insert((delivery.flow, delivery.direction), delivery.slot);
            prop_assert!(before < Some(delivery.slot), "{delivery:?}");
        }
        let mut slots: Vec<u32> = due.iter().map(|delivery| delivery.slot).chain(lost(&mut simulation)).collect();
        slots.sort_unstable();
        prop_assert_eq!(slots, (0..packets.len() as u32).collect::<Vec<_>>());
    }
}
