//! What the rows say, of whole simulations.

use super::link_row;
use crate::endpoint_kind::EndpointKind;
use crate::measured::Measured;
use crate::network::Network;
use crate::testing::{datagram_group, drop_tail, exchanges, link, run, tcp_group, MS};
use crate::{testing, Monitor, Scenario};
use parshall_records::{FlowRow, LinkRow, Tables};
use proptest::prelude::*;
use serde_json::{json, Value};

/// One link, one group of TCP flows, one of datagrams.
fn scenario(queue: &Value, loss: f64, warm_up_ms: u64) -> Value {
    let mut lossy = link("link", 1_000_000, queue);
    lossy["loss"] = json!({"name": "bernoulli", "probability": loss});
    let mut transfers = tcp_group("tcp", 3, &json!({"name": "transfer", "sizes": [3000, 50_000, 200_000]}));
    transfers["marker"] = json!({"name": "token_bucket", "rate": 100_000, "burst": 6000});
    transfers["start_ps"] = json!({"linear": {"first": 0, "step": 10 * MS}});
    transfers["tcp"]["handshake"] = json!(true);
    transfers["tcp"]["initial_rto"] = json!(100 * MS);
    let mut datagrams = datagram_group("datagrams", 2, 300_000);
    datagrams["access_bps"] = json!(2_000_000);
    let mut scenario = testing::scenario(&[lossy], &[transfers, datagrams], 2000);
    scenario["warm_up_ps"] = json!(warm_up_ms * MS);
    scenario
}

fn codel(packets: u64) -> Value {
    json!({"name": "codel", "limit": {"packets": packets}, "target": 5 * MS, "interval": 100 * MS, "ecn": false})
}

fn rows(network: &mut Network) -> (Vec<FlowRow>, LinkRow) {
    let (warm_up, end) = (network.core.warm_up, network.core.end);
    let measured = Measured::of(&network.core, &network.links);
    let of_kind = |kind: &&dyn EndpointKind| {
        let places = (0..).take_while(|&place| kind.id(place).is_some());
        places.filter_map(|place| kind.totals(place, &measured)).collect::<Vec<_>>()
    };
    let flows = network.endpoints.kinds().iter().flat_map(of_kind).collect();
    (flows, link_row(&mut network.links[0], warm_up, end))
}

#[test]
fn syns_that_are_lost_were_sent() {
    let mut lossy = scenario(&drop_tail(100), 0.7, 0);
    lossy["flows"][0]["count"] = json!(50);
    let (flows, _) = rows(&mut run(&lossy, 0));
    for flow in &flows {
        assert!(flow.loss_rate.is_some_and(|rate| rate <= 1.0), "{flow:?}");
    }
    // Some connections had no more than SYNs, and all of them were lost.
    assert!(flows.iter().any(|flow| flow.loss_rate == Some(1.0) && flow.packets_sent > Some(1)));
}

#[test]
fn the_delays_are_those_of_the_packets_accepted() {
    for queue in [drop_tail(20), codel(20)] {
        let network = &mut run(&scenario(&queue, 0.0, 500), 0);
        let histogram: u64 = network.links[0].notes.delays.buckets().map(|(_, _, packets)| packets).sum();
        let asked = network.links[0].link.is_busy();
        let held = network.links[0].link.queued();
        let (_, link) = rows(network);
        let accepted = link.arrivals_packets - link.dropped_packets;
        // Where the queue decides at departure, those that wait at the end have no delay yet.
        assert_eq!(histogram, if asked { accepted - (held - 1) } else { accepted });
    }
}

#[test]
fn what_is_lost_on_the_medium_does_not_reach_the_queue() {
    let (_, link) = rows(&mut run(&scenario(&drop_tail(20), 1.0, 0), 0));
    assert!(link.arrivals_packets > 0 && link.medium_losses_packets == link.arrivals_packets);
    assert_eq!(link.mean_queue_at_arrival_packets, None);
}

#[test]
fn each_packet_of_a_class_is_dropped_delivered_or_on_its_way() {
    for queue in [drop_tail(5), codel(5)] {
        let mut marked = scenario(&queue, 0.02, 0);
        marked["duration_ps"] = json!(60_000 * MS);
        marked["flows"][1]["start_ps"] = json!({"constant": 60_000 * MS}); // all transfers come to their end
        let (flows, _) = rows(&mut run(&marked, 0));
        for flow in &flows[..3] {
            let of = |counts: [Option<u64>; 2]| counts.map(Option::unwrap).iter().sum::<u64>();
            let sent = of([flow.sent_in_packets, flow.sent_out_packets]);
            let dropped = of([flow.dropped_in_packets, flow.dropped_out_packets]);
            let delivered = of([flow.delivered_in_packets, flow.delivered_out_packets]);
            assert_eq!((sent, dropped), (flow.packets_sent.unwrap(), flow.packets_dropped.unwrap()));
            assert!(dropped > 0 && delivered == sent - dropped, "{flow:?}");
        }
    }
}

#[test]
fn a_syn_cannot_be_marked() {
    let mut marks_all =
        scenario(&json!({"name": "step", "limit": {"packets": 1000}, "threshold": 0}), 0.0, 0);
    marks_all["flows"][0]["tcp"]["ecn"] = json!(true);
    marks_all["flows"][0]["tcp"]["initial_rto"] = json!(1000 * MS);
    marks_all["flows"][0]["workload"] = json!({"name": "transfer", "sizes": [3000]});
    let (flows, link) = rows(&mut run(&marks_all, 0));
    let data: u64 = flows[..3].iter().map(|flow| flow.packets_sent.unwrap() - 1).sum();
    assert_eq!(link.marked_packets, data);
}

/// One flow over a link of 100 Mbit/s, with these probes; what becomes of it, and the files beside its tables.
fn with_files(duration_ms: u64, pcap: bool, qlog: bool) -> (Result<(), String>, tempfile::TempDir) {
    let mut fast = scenario(&drop_tail(100), 0.0, 0);
    fast["duration_ps"] = json!(duration_ms * MS);
    fast["links"][0]["rate"] = json!({"constant": 100_000_000});
    fast["flows"].as_array_mut().unwrap().truncate(1);
    fast["flows"][0]["workload"] = json!({"name": "bulk"});
    fast["probes"]["pcap"] = if pcap { json!([0]) } else { json!([]) };
    fast["probes"]["qlog"] = json!(qlog);
    fast["probes"]["flows_sampled"] = json!(1);
    let scenario: Scenario = serde_json::from_value(fast).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let mut tables = Tables::create(directory.path(), 0, scenario.probes.tables()).unwrap();
    let result = crate::simulate(&scenario, 0, &mut tables, &Monitor::default());
    (result.map(|_| ()).map_err(|error| error.to_string()), directory)
}

#[test]
fn a_file_that_becomes_too_large_ends_the_run() {
    for (pcap, qlog, expected) in [
        (true, false, "probes.pcap: link.pcap has 1 MiB after "),
        (false, true, "probes.qlog: tcp-0.sqlog has 1 MiB after "),
    ] {
        let (short, directory) = with_files(600, pcap, qlog);
        let (folder, name) = if pcap { ("captures", "link.pcap") } else { ("qlog", "tcp-0.sqlog") };
        assert_eq!(short, Ok(()));
        assert!(directory.path().join(folder).join(name).metadata().unwrap().len() > 10_000);
        let problem = with_files(4000, pcap, qlog).0.unwrap_err();
        assert!(problem.starts_with(expected), "{problem}");
    }
}

#[test]
fn repetitions_of_bbr_differ_and_each_is_itself() {
    let outcome = |name: &str, repetition| {
        let mut alone = scenario(&drop_tail(20), 0.0, 0);
        let control = match name {
            "bbr" => json!({
                "name": "bbr", "cwnd_gain": 2.0, "probe_rtt_interval": 10_000 * MS, "probe_rtt_duration": 200 * MS
            }),
            _ => panic!("{name}"),
        };
        alone["duration_ps"] = json!(20_000 * MS);
        alone["flows"][0]["workload"] = json!({"name": "bulk"});
        alone["flows"][0]["congestion_control"] = control;
        alone["flows"].as_array_mut().unwrap().truncate(1);
        let (flows, link) = rows(&mut run(&alone, repetition));
        let sent: Vec<_> = flows.iter().map(|flow| flow.packets_sent).collect();
        (sent, link.dropped_packets, link.mean_queue_packets.to_bits())
    };
    assert_ne!(outcome("bbr", 0), outcome("bbr", 1));
    assert_eq!(outcome("bbr", 1), outcome("bbr", 1));
}

/// One of some queues that drop at arrival, at departure, or by a rate of their own.
fn any_queue() -> impl Strategy<Value = Value> {
    (0usize..3, 1u64..30).prop_map(|(kind, packets)| match kind {
        0 => drop_tail(packets),
        1 => codel(packets),
        _ => json!({"name": "policer", "limit": {"bytes": 30_000}, "rate": 100_000 * packets, "burst": 1500 * packets}),
    })
}

/// TCP of any rules over these links, on connections that begin and end all the time; some packets are lost in the host.
fn any_group() -> impl Strategy<Value = (Value, Vec<u32>)> {
    let paths = prop::sample::select(vec![vec![0], vec![1], vec![0, 1], vec![1, 0]]);
    let workload = prop::sample::select(vec![
        json!({"name": "transfer", "sizes": [3000, 50_000, 1000, 1000, 1000, 90_000]}),
        json!({"name": "open_loop", "size": {"name": "exponential", "mean": 4000.0}, "size_granularity": 1, "arrivals_per_s": 40.0}),
        exchanges(300, 20_000.0, 0.05),
    ]);
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (paths, workload, switches, 1u64..20).prop_map(
        |(path, workload, (linux, rack, handshake, access, marked), window)| {
            let count = if workload["name"] == "open_loop" { 1 } else { 3 };
            let mut group = tcp_group("tcp", count, &workload);
            group["tcp"]["rules"] =
                json!(if linux { parshall_tcp::Rules::LINUX } else { parshall_tcp::Rules::RFC });
            group["tcp"]["recovery"] = json!(if rack { "rack" } else { "newreno" });
            group["tcp"]["handshake"] = json!(handshake);
            group["tcp"]["initial_window"] = json!(window);
            group["tcp"]["initial_rto"] = json!(150 * MS);
            group["start_ps"] = json!({"uniform": {"low": 0, "high": 500 * MS}});
            if access {
                group["access_bps"] = json!(1_000_000);
                group["access_packets"] = json!(2);
            }
            if marked {
                group["marker"] = json!({"name": "token_bucket", "rate": 100_000, "burst": 6000});
            }
            (group, path)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// A packet's loss counts where its sending was counted: whatever the path, the host, the rules and the warm-up.
    #[test]
    fn no_flow_loses_more_than_it_sent(
        queues in [any_queue(), any_queue()],
        loss in prop_oneof![Just(0.0), 0.0f64..0.9],
        groups in prop::collection::vec(any_group(), 1..3),
        warm_up_ms in 0u64..999,
        seed: u64,
    ) {
        let mut links = [link("first", 2_000_000, &queues[0]), link("second", 1_500_000, &queues[1])];
        links[1]["loss"] = json!({"name": "bernoulli", "probability": loss});
        let groups: Vec<Value> = groups.into_iter().enumerate().map(|(number, (mut group, path))| {
            group["name"] = json!(format!("tcp{number}"));
            group["path"] = json!(path);
            group
        }).collect();
        let mut any = testing::scenario(&links, &groups, 1000);
        any["warm_up_ps"] = json!(warm_up_ms * MS);
        any["seed"] = json!(seed);
        for flow in &rows(&mut run(&any, 0)).0 {
            prop_assert!(flow.packets_dropped <= flow.packets_sent, "{flow:?}");
            prop_assert!(flow.loss_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)), "{flow:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]
    /// No more is lost than was sent, or than arrived, wherever the warm-up ends.
    #[test]
    fn loss_rates_lie_within_0_and_1(
        packets in 1u64..30,
        decides_late: bool,
        loss in prop_oneof![Just(0.0), 0.0f64..0.9],
        warm_up_ms in 0u64..1999,
        rate in 20_000u64..3_000_000,
        seed: u64,
    ) {
        let mut any = scenario(&if decides_late { codel(packets) } else { drop_tail(packets) }, loss, warm_up_ms);
        any["seed"] = json!(seed);
        any["links"][0]["rate"] = json!({"constant": rate});
        let (flows, link) = rows(&mut run(&any, 0));
        for flow in &flows {
            prop_assert!(flow.loss_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)), "{flow:?}");
            prop_assert!(flow.packets_dropped <= flow.packets_sent, "{flow:?}");
            prop_assert!(flow.dropped_in_packets <= flow.sent_in_packets, "{flow:?}");
            prop_assert!(flow.dropped_out_packets <= flow.sent_out_packets, "{flow:?}");
        }
        prop_assert!(link.loss_rate.is_none_or(|rate| (0.0..=1.0).contains(&rate)), "{link:?}");
        prop_assert!(link.dropped_in_packets <= link.arrivals_in_packets, "{link:?}");
        prop_assert!(link.dropped_out_packets <= link.arrivals_out_packets, "{link:?}");
        let lost = link.dropped_packets + link.medium_losses_packets;
        prop_assert!(lost <= link.arrivals_packets, "{link:?}");
    }
}
