//! Any mixture of policies is a TCP: each transfer ends.

mod path;

use parshall_tcp::{Recovery, Rules, TcpConfig, POLICIES};
use parshall_units::Duration;
use path::{config, Path};
use proptest::prelude::*;

/// Rules in which the policies at these places have Linux's form.
fn mixed(places: &[bool]) -> Rules {
    let switched = POLICIES.iter().zip(places).filter(|(_, &linux)| linux);
    switched.fold(Rules::RFC, |rules, (policy, _)| rules.with(policy.name, &Rules::LINUX).expect("a policy"))
}

fn any_rules() -> impl Strategy<Value = Rules> {
    prop::collection::vec(any::<bool>(), POLICIES.len()).prop_map(|places| mixed(&places))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_transfer_ends_under_any_mixture(
        rules in any_rules(),
        recovery in prop::sample::select(vec![Recovery::NewReno, Recovery::Sack, Recovery::Rack]),
        (handshake, pacing, timestamps, ecn, prr) in any::<(bool, bool, bool, bool, bool)>(),
        delayed_ms in prop::option::of(1u64..200),
        tick_ms in prop::option::of(1u64..10),
        packets in 1u64..300,
        losses in prop::collection::vec(0u64..400, 0..40),
        lost_acks in prop::collection::vec(0u64..300, 0..20),
    ) {
        let delayed_ack = delayed_ms.map(Duration::from_millis);
        let timer_tick = tick_ms.map(Duration::from_millis);
        let config = TcpConfig {
            rules, handshake, pacing, timestamps, ecn, prr, delayed_ack, timer_tick, ..config(recovery)
        };
        let mut path = Path::new(config, packets).losing(&losses);
        path.lost_acks = lost_acks.into_iter().collect();
        path.run();
        prop_assert_eq!(path.fresh, packets, "each packet arrives");
        prop_assert_eq!(path.receiver.next(), packets + 1);
    }
}
