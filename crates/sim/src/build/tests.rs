//! What is refused, and what flows are made from.

use super::{check, network, GroupPlan};
use crate::endpoint_kind::EndpointKind;
use crate::testing::{datagram_group, drop_tail, everything, link, read, scenario, tcp_group, MS};
use crate::Scenario;
use parshall_units::Duration;
use proptest::prelude::*;
use serde_json::{json, Value};

/// Three links, of 1, 2 and 4 ms; TCP over two of them and back over the third; datagrams.
fn sound() -> Value {
    let mut links = ["a", "b", "c"].map(|name| link(name, 1_000_000, &drop_tail(10)));
    links[1]["delay_ps"] = json!(2 * MS);
    links[2]["delay_ps"] = json!(4 * MS);
    let mut tcp = tcp_group("tcp", 2, &json!({"name": "transfer", "sizes": [1000]}));
    tcp["path"] = json!([0, 1]);
    tcp["reverse_path"] = json!([2]);
    scenario(&links, &[tcp, datagram_group("datagrams", 3, 1000)], 1000)
}

/// What becomes of a scenario that is changed at one place.
fn refusal(change: impl FnOnce(&mut Value)) -> String {
    let mut changed = sound();
    change(&mut changed);
    let scenario: Scenario = read(&changed);
    let checked = check(&scenario).unwrap_err().to_string();
    let built = network(&scenario, 0).err().expect("it cannot be built either").to_string();
    assert_eq!(checked, built, "what is checked and what is built are refused alike");
    checked
}

#[test]
fn what_cannot_be_simulated_is_refused_before_it_is_built() {
    assert!(check(&read(&sound())).is_ok() && network(&read(&sound()), 0).is_ok());
    let set = |pointer: &'static str, value: Value| {
        move |scenario: &mut Value| *scenario.pointer_mut(pointer).unwrap() = value
    };
    for (pointer, value, expected) in [
        ("/warm_up_ps", json!(1000 * MS), "warm_up: must end before"),
        ("/ends_with", json!([1]), "ends_with.0: its workload has no last transfer"),
        ("/ends_with", json!([2]), "ends_with.0: there is no group 2"),
        ("/probes/pcap", json!([3]), "probes.pcap.0: there is no link 3"),
        ("/links/2/rate", json!({"constant": 0}), "links.2.rate: must be above 0"),
        ("/flows/0/count", json!(0), "flows.0.count: must be at least 1"),
        ("/flows/1/count", json!(1 << 24), "flows.1.count: no more than 16777215 flows"),
        ("/flows/0/path", json!([]), "flows.0.path: must name at least one link"),
        ("/flows/0/path", json!([3]), "flows.0.path: link 3 does not exist; there are 3"),
        ("/flows/0/reverse_path", json!([9]), "flows.0.reverse_path: link 9 does not exist"),
        ("/flows/0/header_bytes", json!(1500), "flows.0.packet_size: must be above header_size"),
        ("/flows/0/rtt_ps", json!({"constant": 6 * MS}), "flows.0.rtt: "),
        ("/flows/0/start_ps", json!({"list": [0]}), "flows.0.start: lists 1 values for 2 flows"),
        ("/flows/0/tcp", json!(null), "flows.0.workload: needs TCP"),
        ("/flows/0/congestion_control", json!(null), "flows.0.workload: needs TCP"),
        ("/flows/0/workload", json!({"name": "cbr", "rate": 1000}), "flows.0.workload: sends datagrams"),
        ("/flows/1/tcp", crate::testing::tcp(), "flows.1.workload: sends datagrams"),
        ("/flows/1/workload", json!({"name": "rate_controlled"}), "flows.1.congestion_control: must set"),
        ("/flows/1/access_bps", json!(0), "flows.1.access_rate: must be above 0"),
    ] {
        let found = refusal(set(pointer, value.clone()));
        assert!(found.starts_with(expected), "{pointer} = {value}: {found}");
    }
}

#[test]
fn flows_are_numbered_in_the_order_of_the_scenario_whatever_their_kind() {
    let network = network(&read(&everything()), 0).unwrap();
    let ids = network
        .endpoints
        .kinds()
        .map(|kind: &dyn EndpointKind| (0..).map_while(|place| kind.id(place)).collect::<Vec<u32>>());
    assert_eq!(
        ids[..2],
        [vec![0, 1, 2, 7, 8, 9, 9, 10, 10], vec![3, 4, 5, 6]],
        "a client has its server's number"
    );
    assert_eq!(network.core.sink.flows, 11);
    assert!(network.core.sink.flows_come, "there is an open loop");
}

#[test]
fn links_count_classes_where_marked_flows_cross_them() {
    let network = network(&read(&everything()), 0).unwrap();
    let classed: Vec<bool> = network.links.iter().map(|state| state.notes.classed).collect();
    assert_eq!(classed, [true, true, false]);
}

#[test]
fn the_memory_is_estimated_by_flow() {
    let estimate = |count| {
        let mut some = sound();
        some["flows"][0]["count"] = json!(count);
        check(&read(&some)).unwrap()
    };
    let (few, many) = (estimate(2), estimate(1002));
    assert_eq!((few.flows, many.flows), (5, 1005));
    assert_eq!(many.bytes - few.bytes, 1000 * many.bytes_each);
    assert!((1000..4000).contains(&many.bytes_each), "{}", many.bytes_each);
}

/// Longest RTT of a group of three flows with these RTTs, and the refusal, if it is refused.
fn longest(rtts: Value) -> (Duration, Option<String>) {
    let mut some = sound();
    some["flows"][0]["count"] = json!(3);
    some["flows"][0]["rtt_ps"] = rtts;
    let scenario = read(&some);
    let sound = network(&read(&sound()), 0).unwrap();
    let longest = GroupPlan::new(&scenario, 0, 0, &sound.links).longest_rtt().unwrap();
    (longest, check(&scenario).err().map(|error| error.to_string()))
}

#[test]
fn the_longest_and_the_shortest_rtt_of_a_group_bound_it() {
    // The links of its path take 7 ms.
    let (short, fits) = (6 * MS, 8 * MS);
    let ms = Duration::from_millis;
    for first in [short, fits] {
        let (longest, refused) = longest(json!({"linear": {"first": first, "step": 10 * MS}}));
        assert_eq!(longest, Duration::from_ps(first) + ms(20));
        assert_eq!(refused.is_some(), first == short, "{refused:?}");
    }
    assert_eq!(longest(json!({"list": [fits, 50 * MS, 30 * MS]})), (ms(50), None));
    assert!(longest(json!({"list": [fits, short, 30 * MS]})).1.is_some());
    assert_eq!(longest(json!({"uniform": {"low": fits, "high": 40 * MS}})), (ms(40), None));
}

#[test]
fn values_that_are_drawn_lie_within_their_bounds() {
    let rtts = |spread: Value| {
        let mut some = sound();
        some["flows"][0]["rtt_ps"] = spread;
        let scenario = read(&some);
        let network = network(&read(&sound()), 0).unwrap();
        let group = GroupPlan::new(&scenario, 0, 0, &network.links);
        let drawn: Vec<Duration> = (0..2).map(|index| group.rtt(index).unwrap()).collect();
        (drawn, group.longest_rtt().unwrap())
    };
    let (low, high) = (Duration::from_millis(80), Duration::from_millis(90));
    let (drawn, _) = rtts(json!({"uniform": {"low": low.as_ps(), "high": high.as_ps()}}));
    assert!(drawn.iter().all(|rtt| (low..high).contains(rtt)) && drawn[0] != drawn[1], "{drawn:?}");
    let uniform = json!({"name": "uniform", "low": 0.02, "high": 0.2});
    let (drawn, longest) = rtts(json!({"distribution": {"of": uniform, "min_ps": 10 * MS}}));
    assert!(drawn[0] != drawn[1] && drawn.iter().max() == Some(&longest), "{drawn:?}, {longest}");
    let small = json!({"name": "constant", "value": 0.001});
    let (drawn, _) = rtts(json!({"distribution": {"of": small, "min_ps": 10 * MS}}));
    assert_eq!(drawn, [Duration::from_millis(10); 2]);
}

proptest! {
    #[test]
    fn the_legs_and_the_links_make_up_the_rtt(private in 0u64..1 << 40, contended: bool) {
        let mut some = sound();
        if !contended {
            some["flows"][0]["reverse_path"] = json!([]);
        }
        let there = Duration::from_millis(3);
        let back = Duration::from_millis(if contended { 4 } else { 3 });
        let rtt = there + back + Duration::from_ps(private);
        let scenario = read(&some);
        let network = network(&scenario, 0).unwrap();
        let group = GroupPlan::new(&scenario, 0, 0, &network.links);
        let propagation = group.propagation(rtt).unwrap();
        // On an uncontended way back the links are part of the segment.
        let links = if contended { there + back } else { there };
        prop_assert_eq!(propagation.total() + links, rtt);
        let quarter = Duration::from_ps(private / 4);
        prop_assert_eq!((propagation.to_first_link, propagation.to_receiver), (quarter, quarter));
        prop_assert!(group.propagation(there + back - Duration::from_ps(1)).is_err());
    }
}
