//! Links whose queue decides at departure: times by hand, and what the queue is told of a packet.

use super::{advance, at, completed, one_link, transfer, MBIT};
use crate::testing::{drop_tail, link, network, run, scenario, tcp_group, MS};
use serde_json::{json, Value};

fn codel(packets: u64) -> Value {
    json!({"name": "codel", "limit": {"packets": packets}, "target": 5 * MS, "interval": 100 * MS, "ecn": false})
}

/// Transfers of so many packets over a link with this queue, from so many milliseconds on, with a code point.
fn through(queue: &Value, flows: &[(u64, u64, u8)]) -> Vec<parshall_units::Instant> {
    let group = |&(packets, start, dscp): &(u64, u64, u8)| {
        let mut group = tcp_group("group", 1, &transfer(&[packets * 1460]));
        group["start_ps"] = json!({"constant": start * MS});
        group["dscp"] = json!(dscp);
        group
    };
    let groups: Vec<Value> = flows.iter().map(group).collect();
    completed(&run(&scenario(&[link("link", MBIT, queue)], &groups, 1000), 0))
}

#[test]
fn a_packet_alone_takes_as_long_as_through_any_queue() {
    // 24.5 + 12 + 1 + 24.5 ms there, 50 ms back.
    assert_eq!(through(&codel(100), &[(1, 0, 0)]), [at(365 + 10 + 245 + 500)]);
}

#[test]
fn a_full_queue_drops_while_the_link_is_busy() {
    let mut group = tcp_group("two", 2, &transfer(&[1460]));
    group["start_ps"] = json!({"list": [0, 2 * MS]});
    let mut full = one_link(&[group], 500);
    full["links"][0]["queue"] = codel(1);
    let mut network = network(&full, 0);
    advance(&mut network, at(300));
    let dropped: Vec<u64> = network.endpoints.tcp.flows.iter().map(|flow| flow.dropped).collect();
    assert_eq!(dropped, [0, 1], "while the first one is in transmission");
}

#[test]
fn a_queue_is_told_the_code_point() {
    let bands = [drop_tail(100), drop_tail(100)];
    let priority = json!({"name": "priority", "bands": bands, "band_of": [1, 1, 1, 1, 1, 0, 0, 0]});
    let back = 10 + 245 + 500;
    // The packet of 2 ms passes the second one of the other flow, which left first.
    let (first, second) = (365 + 120, 365 + 240);
    assert_eq!(through(&priority, &[(2, 0, 0), (1, 2, 46)]), [at(second + back), at(first + back)]);
    assert_eq!(through(&priority, &[(2, 0, 0), (1, 2, 0)]), [at(first + back), at(second + back)]);
}

#[test]
fn a_queue_is_told_the_flow() {
    let drr = json!({"name": "drr", "limit": {"packets": 100}, "queues": 1024, "quantum": 1500});
    // Ten packets come at 24.5 ms and one of another flow at 26.5 ms. Its turn is the second one: that of the third packet.
    let done = through(&drr, &[(10, 0, 0), (1, 2, 0)]);
    assert_eq!(done[1], at(365 + 2 * 120 + 10 + 245 + 500));
    assert_eq!(done[0], at(365 + 10 * 120 + 10 + 245 + 500));
}
